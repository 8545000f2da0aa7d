//! Products and SKUs that an order brings with `override`: they are written to the catalogue (docs/spec/calculation.md#2.2).

use crate::documents::resource::NameLookup;
use crate::domain::catalogue::products;
use crate::domain::catalogue::products::PRODUCT;
use crate::domain::catalogue::skus;
use crate::domain::catalogue::skus::SKU;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::http::shape::{self, Field, Nulls};
use crate::store::document::Document;
use scrip::model::order::{Goods, Item, Order, RelatedObject};
use scrip::text::Text;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

/// Documents that this order has written already: two lines may bring the same product.
#[derive(Default)]
struct OverrideLog {
    products: Vec<Document>,
    skus: Vec<Document>,
}

/// Tests if an order brings goods with `override`.
pub fn has_overrides(order: &Order) -> bool {
    let overrides = |goods: &Option<Box<Goods>>| goods.as_deref().is_some_and(|goods| goods.overrides == Some(true));
    order.items.iter().any(|item| overrides(&item.product) || overrides(&item.sku))
}

/// Names the goods that an order brings by their stored ids or by the ids of new documents. A decision contains these ids on its
/// lines, and [`write`] writes under the same ids.
pub fn assign_ids(call: &mut Call<'_, '_>, order: &mut Order) -> Result<(), CallError> {
    let mut overrides = OverrideLog::default();
    for item in &mut order.items {
        for (kind, resource, prefix) in
            [(RelatedObject::Product, &PRODUCT, "prod_"), (RelatedObject::Sku, &SKU, "sku_")]
        {
            let Some(mut sent) = override_body(item, kind) else { continue };
            let list = if kind == RelatedObject::Product { &mut overrides.products } else { &mut overrides.skus };
            let goods = find_goods(call, resource, &sent, list)?.unwrap_or_else(|| {
                let names = NameLookup::take(&mut sent);
                let id = names.id.unwrap_or_else(|| call.ids.hex18(prefix).to_string());
                Document::new(id, names.source_id, call.now_ms(), Map::new())
            });
            write_names(item, kind, &goods);
            record(list, goods);
        }
    }
    Ok(())
}

/// Writes the ids of goods to their line, as id and as object.
fn write_names(item: &mut Item, kind: RelatedObject, document: &Document) {
    let (own_id, goods) = match kind {
        RelatedObject::Product => (&mut item.product_id, &mut item.product),
        RelatedObject::Sku => (&mut item.sku_id, &mut item.sku),
    };
    *own_id = Some(Text::from(document.id.as_str()));
    if let Some(goods) = goods.as_deref_mut() {
        goods.id.clone_from(own_id);
        goods.source_id = document.key.as_deref().map(Text::from);
    }
}

/// Queues the writes of the goods that an order brings, and names them on the lines by id. `path` is the position of the
/// order in the request. Goods without a name stay in this order only.
pub fn write(call: &mut Call<'_, '_>, order: &mut Order, path: &str) -> Result<(), CallError> {
    let mut overrides = OverrideLog::default();
    for (position, item) in order.items.iter_mut().enumerate() {
        if let Some(sent) = override_body(item, RelatedObject::Product) {
            let sent = check_fields(products::FIELDS, sent, &format!("{path}items[{position}].product"))?;
            let product = match find_goods(call, &PRODUCT, &sent, &overrides.products)? {
                Some(mut product) => {
                    products::merge_and_update(call, &PRODUCT, &mut product, remove_names(sent))?;
                    product
                }
                None => products::upsert(call, sent)?,
            };
            write_names(item, RelatedObject::Product, &product);
            record(&mut overrides.products, product);
        }
        if let Some(sent) = override_body(item, RelatedObject::Sku) {
            let sent = check_fields(skus::FIELDS, sent, &format!("{path}items[{position}].sku"))?;
            let sku = match find_goods(call, &SKU, &sent, &overrides.skus)? {
                Some(mut sku) => {
                    products::merge_and_update(call, &SKU, &mut sku, remove_names(sent))?;
                    sku
                }
                None => {
                    let parent = find_parent(call, item, &overrides.products, &format!("{path}items[{position}]"))?;
                    skus::upsert(call, &parent, sent)?
                }
            };
            write_names(item, RelatedObject::Sku, &sku);
            record(&mut overrides.skus, sku);
        }
    }
    Ok(())
}

/// Returns the body of the goods that a line brings; `None` without `override` or without a name.
fn override_body(item: &Item, kind: RelatedObject) -> Option<Map<String, Json>> {
    let (own_id, goods, title) = match kind {
        RelatedObject::Product => (&item.product_id, item.product.as_deref()?, "name"),
        RelatedObject::Sku => (&item.sku_id, item.sku.as_deref()?, "sku"),
    };
    if goods.overrides != Some(true) {
        return None;
    }
    let of_line = item.source_id.as_ref().filter(|_| item.related_object == Some(kind));
    let id = goods.id.as_ref().or(own_id.as_ref());
    let source_id = goods.source_id.as_ref().or(of_line);
    if id.is_none() && source_id.is_none() {
        return None;
    }
    let mut body = Map::new();
    for (name, value) in [("id", id), ("source_id", source_id), (title, goods.name.as_ref())] {
        if let Some(value) = value {
            body.insert(name.into(), value.as_str().into());
        }
    }
    if let Some(price) = goods.price {
        body.insert("price".into(), price.minor().into());
    }
    if !goods.metadata.is_empty() {
        body.insert("metadata".into(), Json::Object(goods.metadata.to_fields()));
    }
    Some(body)
}

/// Checks goods of an order by the field rules of the catalogue API.
fn check_fields(fields: &[Field], sent: Map<String, Json>, path: &str) -> Result<Map<String, Json>, Problem> {
    shape::read(fields, sent, Nulls::Kept).map_err(|problem| problem.within(path))
}

/// Finds the goods that a body names: first among those of this order, then in the store. Either name may be in either field.
fn find_goods(
    call: &Call<'_, '_>,
    resource: &Resource,
    sent: &Map<String, Json>,
    overrides: &[Document],
) -> Result<Option<Document>, CallError> {
    let names = NameLookup::take(&mut sent.clone());
    let means = |document: &&Document| {
        let by_source = names.source_id.is_some() && document.key == names.source_id;
        names.id.as_ref() == Some(&document.id) || names.id.is_some() && document.key == names.id || by_source
    };
    if let Some(found) = overrides.iter().find(means) {
        return Ok(Some(found.clone()));
    }
    let by_either = match &names.id {
        Some(id) => call.store.document_by_name(resource.object, id, id)?,
        None => None,
    };
    match by_either {
        Some(found) => Ok(Some(found)),
        None => names.find(call, resource),
    }
}

fn remove_names(mut sent: Map<String, Json>) -> Map<String, Json> {
    NameLookup::take(&mut sent);
    sent
}

fn record(overrides: &mut Vec<Document>, document: Document) {
    overrides.retain(|find_goods| find_goods.id != document.id);
    overrides.push(document);
}

/// Finds the product of a new SKU.
fn find_parent(call: &Call<'_, '_>, item: &Item, overrides: &[Document], path: &str) -> Result<String, CallError> {
    let key = item.names(RelatedObject::Product).next();
    let key = key.ok_or_else(|| Problem::missing(path, "product_id"))?.as_str();
    if let Some(product) = overrides.iter().find(|product| product.id == key || product.key.as_deref() == Some(key)) {
        return Ok(product.id.clone());
    }
    let product = call.store.document_by_name(PRODUCT.object, key, key)?;
    Ok(product.ok_or_else(|| not_found(PRODUCT.object, key))?.id)
}
