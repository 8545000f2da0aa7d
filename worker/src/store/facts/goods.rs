//! Products and SKUs of a decision: those of all order lines are read in one statement, by either name.

use super::cache::{GoodsByName, StoreFacts};
use crate::store::document::{StoredDocument, read_stored, readable};
use crate::store::slices;
use crate::store::sql::{self, Fault};
use scrip::model::order::{Goods, Order, RelatedObject};
use scrip::text::Text;
use scrip::wire::order::read_goods;
use serde_json::Value as Json;
use std::sync::Arc;

/// Reads products and SKUs by names, and the products of those SKUs. Rows may repeat.
const NAMED: &str = "
    WITH sku AS (
      SELECT sku.id, sku.key, sku.parent, sku.body FROM json_each(?1) AS name
        CROSS JOIN document AS sku ON sku.kind = 'sku' AND sku.id = name.value
      UNION ALL SELECT sku.id, sku.key, sku.parent, sku.body FROM json_each(?1) AS name
        CROSS JOIN document AS sku ON sku.kind = 'sku' AND sku.key = name.value)
    SELECT 'sku', id, key, body FROM sku
    UNION ALL SELECT 'product', product.id, product.key, product.body FROM json_each(?2) AS name
      CROSS JOIN document AS product ON product.kind = 'product' AND product.id = name.value
    UNION ALL SELECT 'product', product.id, product.key, product.body FROM json_each(?2) AS name
      CROSS JOIN document AS product ON product.kind = 'product' AND product.key = name.value
    UNION ALL SELECT 'product', id, key, body FROM document WHERE kind = 'product' AND id IN (SELECT parent FROM sku)";

/// Reads products only, which most lines name.
const PRODUCTS: &str = "
    SELECT 'product', product.id, product.key, product.body FROM json_each(?1) AS name
      CROSS JOIN document AS product ON product.kind = 'product' AND product.id = name.value
    UNION ALL SELECT 'product', product.id, product.key, product.body FROM json_each(?1) AS name
      CROSS JOIN document AS product ON product.kind = 'product' AND product.key = name.value";

impl StoreFacts<'_, '_> {
    /// Finds goods by either name.
    pub(super) fn find_goods(&self, kind: &'static str, name: &str) -> Result<Option<Arc<Goods>>, Fault> {
        let key = (kind, name.to_owned());
        if let Some(known) = self.catalogue.0.borrow().get(&key) {
            return Ok(known.clone());
        }
        let stored = self.store.stored_by_name(kind, name, name)?;
        let read = |stored: StoredDocument| self.read_goods(kind, &stored.id, stored.key.as_deref(), &stored.text);
        let found = stored.map(read).transpose()?;
        self.catalogue.0.borrow_mut().insert(key, found.clone());
        Ok(found)
    }

    /// Tests if the project has products or SKUs. Many have none, and their orders name goods all the same.
    fn has_goods(&self) -> Result<bool, Fault> {
        let statement = "SELECT EXISTS (SELECT 1 FROM document WHERE kind = 'product') OR EXISTS (SELECT 1 FROM document WHERE kind = 'sku')";
        let rows = self.store.configuration_rows(statement, &[])?;
        Ok(rows.first().map(|row| sql::int(row, 0)).transpose()? == Some(1))
    }

    /// Parses goods. Those that cannot be read keep their names and are marked as unreadable.
    fn read_goods(&self, kind: &str, id: &str, key: Option<&str>, text: &str) -> Result<Arc<Goods>, Fault> {
        let goods = readable(self.store, read_stored(kind, id, text, read_goods))?;
        Ok(Arc::new(goods.unwrap_or_else(|| {
            let (id, source_id) = (Some(id.into()), key.map(Text::from));
            Goods { id, source_id, unreadable: true, ..Goods::default() }
        })))
    }

    /// Reads the goods of all lines at once.
    pub(super) fn find_goods_of(&self, order: &Order) -> Result<(), Fault> {
        let named = |kind: RelatedObject, object: &'static str| {
            let known = self.catalogue.0.borrow();
            let all = order.items.iter().flat_map(|item| item.names(kind)).map(|name| name.as_str());
            let mut names: Vec<&str> = all.filter(|name| !known.contains_key(&(object, (*name).to_owned()))).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let skus = named(RelatedObject::Sku, "sku");
        let products = named(RelatedObject::Product, "product");
        if skus.is_empty() && products.is_empty() {
            return Ok(());
        }
        let listed = |names: &[&str]| Json::from(names.to_vec()).to_string().into();
        let mut rows = Vec::new();
        let (sku_names, product_names) = (slices(&skus), slices(&products));
        let runs = if self.has_goods()? { sku_names.len().max(product_names.len()) } else { 0 };
        for place in 0..runs {
            let part = |names: &[&[&str]]| listed(names.get(place).copied().unwrap_or_default());
            let found = match sku_names.get(place) {
                Some(_) => self.store.rows(NAMED, &[part(&sku_names), part(&product_names)]),
                None => self.store.rows(PRODUCTS, &[part(&product_names)]),
            };
            rows.extend(found?);
        }
        let (mut by_id, mut by_source) = (GoodsByName::new(), GoodsByName::new());
        for row in &rows {
            let kind = if sql::text(row, 0)? == "sku" { "sku" } else { "product" };
            let id = sql::text(row, 1)?;
            let key = sql::text_or_null(row, 2)?;
            let goods = self.read_goods(kind, id, key, sql::text(row, 3)?)?;
            if let Some(source_id) = key {
                by_source.insert((kind, source_id.to_owned()), Some(Arc::clone(&goods)));
            }
            by_id.insert((kind, id.to_owned()), Some(goods));
        }
        let mut known = self.catalogue.0.borrow_mut();
        for (kind, names) in [("sku", skus), ("product", products)] {
            for name in names {
                let key = (kind, name.to_owned());
                let found = by_id.get(&key).or_else(|| by_source.get(&key)).cloned().flatten();
                known.insert(key, found);
            }
        }
        // Goods are cached by id too, including the products of SKUs, which no line named.
        known.extend(by_id);
        Ok(())
    }
}
