//! Finds the goods that offers themselves name: those of free units. They are in the core, so that a client need not fetch them.

use crate::domain::bundle::goods_buckets::GOODS;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Member of an offer with the name of goods.
const UNIT_TYPE: &str = "unit_type";

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
