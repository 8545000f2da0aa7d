//! Finds the goods that offers themselves name: those of free units. They are in the core, so that a client need not fetch them.

use crate::domain::bundle::disclosed_documents::disclose;
use crate::domain::bundle::goods_buckets::GOODS;
use crate::domain::bundle::goods_sets::write_sets;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use scrip::bundle::GoodsSorter;
use scrip::model::client::ClientContext;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Member of an offer with the name of goods.
const UNIT_TYPE: &str = "unit_type";

/// Goods that offers name, as a core or a box has them.
#[derive(Debug)]
pub struct PrintedGoods {
    /// Names of which all products and SKUs are here.
    pub names: Json,
    /// Texts of the products.
    pub products: Vec<String>,
    /// Texts of the SKUs.
    pub skus: Vec<String>,
}

/// Goods that offers name.
#[derive(Debug, Default)]
pub struct NamedGoods {
    /// Names of which all products and SKUs are here.
    pub names: BTreeSet<String>,
    /// Products, in the order in which they were stored.
    pub products: Vec<Document>,
    /// SKUs, in the order in which they were stored.
    pub skus: Vec<Document>,
}

impl NamedGoods {
    /// Finds the goods that some offers name, and the products of these SKUs.
    pub fn find<'d>(store: &Store<'_>, offers: impl Iterator<Item = &'d Document>) -> Result<NamedGoods, Fault> {
        let mut names = BTreeSet::new();
        offers.flat_map(|offer| offer.body.values()).for_each(|value| collect(value, &mut names));
        if names.is_empty() {
            return Ok(NamedGoods::default());
        }
        let [product, sku] = GOODS;
        let skus = list_with_names(store, sku, &names)?;
        names.extend(skus.iter().filter_map(|sku| sku.parent.clone()));
        // A product's id may be a name of further SKUs.
        let skus = list_with_names(store, sku, &names)?;
        let products = list_with_names(store, product, &names)?;
        Ok(NamedGoods { names, products, skus })
    }

    /// Prints what clients may know of them, with their sets.
    pub fn print(mut self, sorter: Option<&GoodsSorter>, client: &ClientContext) -> PrintedGoods {
        write_sets(sorter, &mut self.products, &mut self.skus);
        let print =
            |list: &str, goods: Vec<Document>| disclose(client, list, goods).iter().map(Json::to_string).collect();
        PrintedGoods {
            names: self.names.into_iter().collect(),
            products: print("products", self.products),
            skus: print("skus", self.skus),
        }
    }

    /// Adds the goods that further offers name.
    pub fn join(&mut self, further: NamedGoods) {
        self.names.extend(further.names);
        for (goods, further) in [(&mut self.products, further.products), (&mut self.skus, further.skus)] {
            if !further.is_empty() {
                goods.extend(further);
                goods.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
                goods.dedup_by(|one, other| one.id == other.id);
            }
        }
    }
}

fn list_with_names(store: &Store<'_>, kind: &str, names: &BTreeSet<String>) -> Result<Vec<Document>, Fault> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut found = BTreeMap::new();
    let named = any_kind::list_with_ids(store, kind, &names)?.into_iter();
    for document in named.chain(any_kind::list_with_keys(store, kind, &names)?) {
        found.insert((document.created_at, document.id.clone()), document);
    }
    Ok(found.into_values().collect())
}

fn collect(value: &Json, names: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Json::Object(members) => members.iter().for_each(|(member, value)| match value {
            Json::String(name) if member == UNIT_TYPE => _ = names.insert(name.clone()),
            _ => collect(value, names),
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
    }
}
