//! Identifies the goods of a line: 2.2 and D14. All names of a line are looked up in the catalogue.

use crate::shops::shop::Book;
use serde_json::Value as Json;

/// The found goods, or else the sent ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedGoods {
    pub product: Option<String>,
    pub sku: Option<String>,
    /// The documents of the catalogue.
    pub product_known: Option<Json>,
    pub sku_known: Option<Json>,
    /// Sent data of goods that are in no catalogue.
    pub said: Option<Json>,
}

/// A name is an id or a source_id.
fn look<'a>(list: &'a [Json], name: &str) -> Option<&'a Json> {
    Book::of(list, "id", name).or_else(|| Book::of(list, "source_id", name))
}

fn names<'a>(item: &'a Json, kind: &str) -> Vec<&'a str> {
    let mut names = vec![&item[format!("{kind}_id")], &item[kind]["id"], &item[kind]["source_id"]];
    if item["related_object"] == kind {
        names.push(&item["source_id"]);
    }
    names.into_iter().filter_map(Json::as_str).collect()
}

pub fn find(book: &Book, item: &Json) -> ResolvedGoods {
    let (products, skus) = (names(item, "product"), names(item, "sku"));
    let sku = skus.iter().find_map(|name| look(&book.skus, name));
    let product = match sku {
        Some(sku) => Book::of(&book.products, "id", sku["product_id"].as_str().unwrap()),
        None => products.iter().find_map(|name| look(&book.products, name)),
    };
    let id = |known: Option<&Json>, said: &[&str]| {
        known.map(|known| known["id"].as_str().unwrap()).or(said.first().copied()).map(str::to_owned)
    };
    ResolvedGoods {
        product: id(product, &products),
        sku: id(sku, &skus),
        product_known: product.cloned(),
        sku_known: sku.cloned(),
        said: Some(&item["product"]).filter(|said| said.is_object() && product.is_none() && sku.is_none()).cloned(),
    }
}

/// Finds a product or a SKU of the catalogue by the reference of a UNIT discount.
pub fn of_unit(book: &Book, name: &str) -> ResolvedGoods {
    let sku = look(&book.skus, name);
    let field = if sku.is_some() { "sku_id" } else { "product_id" };
    find(book, &serde_json::json!({ field: name }))
}

/// The catalogue's price: the SKU's before the product's.
pub fn price(found: &ResolvedGoods) -> Option<i128> {
    let of = |known: &Option<Json>| known.as_ref().and_then(|known| known["price"].as_i64()).map(i128::from);
    of(&found.sku_known).or_else(|| of(&found.product_known))
}

/// Returns the match of a line with an entry of a rule or a scope, with its specificity.
pub fn matches(book: &Book, found: &ResolvedGoods, entry: &Json) -> Option<u8> {
    let named = |id: &Option<String>, known: &Option<Json>| {
        let said = [&entry["id"], &entry["source_id"]];
        let is = |name: &str| said.iter().any(|said| said.as_str() == Some(name));
        id.as_deref().is_some_and(is) || known.as_ref().and_then(|known| known["source_id"].as_str()).is_some_and(is)
    };
    match entry["object"].as_str() {
        Some("sku") => named(&found.sku, &found.sku_known).then_some(0),
        Some("products_collection") => in_collection(book, found, entry["id"].as_str()?).then_some(2),
        _ => named(&found.product, &found.product_known).then_some(1),
    }
}

pub fn in_collection(book: &Book, found: &ResolvedGoods, id: &str) -> bool {
    if id == "pc_a11pr0dUc75" {
        return true;
    }
    let Some(collection) = Book::of(&book.collections, "id", id) else { return false };
    if collection["type"] == "STATIC" {
        let listed = collection["products"].as_array().unwrap();
        return listed.iter().any(|one| {
            let id = if one["object"] == "sku" { &found.sku } else { &found.product };
            id.as_deref() == one["id"].as_str()
        });
    }
    // "A dynamic collection tests product and SKU separately": either one selects the line.
    let goods = [&found.sku_known, &found.product_known, &found.said];
    goods.into_iter().flatten().any(|goods| super::filter::holds(&collection["filter"], goods))
}
