//! Finds the goods that offers themselves name: those of free units. They are in the core, so that a client need not fetch them.

use crate::domain::bundle::disclosed_documents::disclose;
use crate::domain::bundle::goods_buckets::GOODS;
use crate::domain::bundle::goods_sets::write_sets;
use crate::domain::bundle::read_documents::{ReadDocument, ReadDocuments};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::bundle::GoodsSorter;
use scrip::model::client::ClientContext;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Goods that offers name, as a core or a box has them.
#[derive(Debug)]
pub struct PrintedGoods {
    /// Texts of the products.
    pub products: Vec<String>,
    /// Texts of the SKUs.
    pub skus: Vec<String>,
}

/// Goods by the time at which they were stored, and by their ids.
type GoodsByAge = BTreeMap<(i64, String), Rc<ReadDocument>>;

/// Goods that offers name.
#[derive(Debug, Default)]
pub struct NamedGoods {
    /// Names of which all products and SKUs are here.
    pub names: BTreeSet<String>,
    products: GoodsByAge,
    skus: GoodsByAge,
}

impl NamedGoods {
    /// Finds the goods with some names, and the products of these SKUs.
    pub fn find(
        documents: &mut ReadDocuments,
        store: &Store<'_>,
        mut names: BTreeSet<String>,
    ) -> Result<NamedGoods, Fault> {
        if names.is_empty() {
            return Ok(NamedGoods::default());
        }
        let [product, sku] = GOODS;
        let skus = documents.list_goods(store, sku, &names)?;
        names.extend(skus.iter().filter_map(|sku| sku.document.parent.clone()));
        // A product's id may be a name of further SKUs.
        let skus = documents.list_goods(store, sku, &names)?;
        let products = documents.list_goods(store, product, &names)?;
        let by_age = |goods: Vec<Rc<ReadDocument>>| -> GoodsByAge {
            goods.into_iter().map(|one| ((one.document.created_at, one.document.id.clone()), one)).collect()
        };
        Ok(NamedGoods { names, products: by_age(products), skus: by_age(skus) })
    }

    /// Adds the goods that further offers name.
    pub fn join(&mut self, further: NamedGoods) {
        self.names.extend(further.names);
        self.products.extend(further.products);
        self.skus.extend(further.skus);
    }

    /// Returns the number of the goods.
    pub fn count(&self) -> usize {
        self.products.len().saturating_add(self.skus.len()) // They fit memory.
    }

    /// Returns true if all of them can be read.
    pub fn is_readable(&self) -> bool {
        self.products.values().chain(self.skus.values()).all(|one| one.terms.is_some())
    }

    /// Removes the goods that cannot be read, and returns them with their kinds.
    pub fn remove_unreadable(&mut self) -> Vec<(&'static str, Rc<ReadDocument>)> {
        let [product, sku] = GOODS;
        let mut removed = Vec::new();
        for (kind, goods) in [(product, &mut self.products), (sku, &mut self.skus)] {
            let unreadable = goods.extract_if(.., |_, one| one.terms.is_none());
            removed.extend(unreadable.map(|(_, one)| (kind, one)));
        }
        removed
    }

    /// Removes the next goods, at most `count`, and prints what clients may know of them, with their sets.
    pub fn print_next(&mut self, count: usize, sorter: Option<&GoodsSorter>, client: &ClientContext) -> PrintedGoods {
        let next = |goods: &mut GoodsByAge, count: usize| -> Vec<Document> {
            let next = std::iter::from_fn(|| goods.pop_first()).take(count);
            next.map(|(_, one)| one.document.clone()).collect()
        };
        let mut products = next(&mut self.products, count);
        // They are at most `count`.
        let mut skus = next(&mut self.skus, count.saturating_sub(products.len()));
        write_sets(sorter, &mut products, &mut skus);
        let print =
            |list: &str, goods: Vec<Document>| disclose(client, list, goods).iter().map(Json::to_string).collect();
        PrintedGoods { products: print("products", products), skus: print("skus", skus) }
    }
}
