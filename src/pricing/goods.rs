//! Finds the catalogue's goods of a line. Every line is looked up, regardless of its names, price or amount, and found
//! goods come before the sent ones.
//!
//! docs/spec/calculation.md sections 2.2 and 19, D14.

use crate::facts::{Fact, Facts, Known};
use crate::model::discount::UnitOff;
use crate::model::order::{Goods, Item, RelatedObject};
use crate::model::scope::GoodsObject;
use crate::money::Money;
use crate::rules::ResolvedLine;
use crate::text::{Text, joined};

/// The catalogue's goods of a line.
#[derive(Debug, Clone, Default)]
pub struct LineGoods<'a> {
    /// The SKU of the line.
    pub sku: Option<Fact<'a, Goods>>,
    /// The product of the line, or of its SKU.
    pub product: Option<Fact<'a, Goods>>,
}

impl LineGoods<'_> {
    /// Returns the unit price of the catalogue: a SKU's own price comes first.
    pub fn price(&self) -> Option<Money> {
        let price = |goods: &Option<Fact<'_, Goods>>| goods.as_ref().and_then(|goods| goods.price);
        price(&self.sku).or_else(|| price(&self.product))
    }

    /// Returns whether any of them cannot be read.
    pub fn is_unreadable(&self) -> bool {
        [&self.sku, &self.product].into_iter().flatten().any(|goods| goods.unreadable)
    }

    /// Removes from a line all fields of goods that the catalogue has, except their names. If only the product is
    /// known, the fields of the SKU are removed too: they would take precedence.
    pub fn override_sent_fields(&self, item: &mut Item) {
        if self.sku.is_none() && self.product.is_none() {
            return;
        }
        for goods in [&mut item.sku, &mut item.product].into_iter().flatten() {
            let Goods { id, source_id, product_id, .. } = std::mem::take(&mut **goods);
            **goods = Goods { id, source_id, product_id, ..Goods::default() };
        }
    }

    /// Returns the resolved line, for rules and scopes.
    pub fn line<'t>(&'t self, item: &'t Item) -> ResolvedLine<'t> {
        let parent = self.sku.as_ref().and_then(|sku| sku.product_id.as_ref());
        let product = match (self.product.as_deref(), parent) {
            (None, Some(parent)) => [Some(parent), None],
            (found, _) => names(item, RelatedObject::Product, found),
        };
        ResolvedLine::new(product, names(item, RelatedObject::Sku, self.sku.as_deref())).of(item)
    }
}

/// Returns id and `source_id` of the found goods or, if there are none, as they were sent.
fn names<'t>(item: &'t Item, kind: RelatedObject, found: Option<&'t Goods>) -> [Option<&'t Text>; 2] {
    if let Some(found) = found {
        return [found.id.as_ref(), found.source_id.as_ref()];
    }
    let inline = item.goods(kind);
    let id = match kind {
        RelatedObject::Product => &item.product_id,
        RelatedObject::Sku => &item.sku_id,
    };
    let by_source = item.source_id.as_ref().filter(|_| item.related_object == Some(kind));
    [id.as_ref().or_else(|| inline?.id.as_ref()), by_source.or_else(|| inline?.source_id.as_ref())]
}

/// Finds the goods of a line. Its SKU determines its product; without one, the first name that the catalogue knows
/// does. `missing` receives the names that only the server knows.
pub fn find_goods<'a>(item: &Item, facts: &'a dyn Facts, missing: &mut dyn FnMut(Text)) -> LineGoods<'a> {
    let sku = item.names(RelatedObject::Sku).find_map(|name| known("sku", name, facts.sku(name), missing));
    let product = match sku.as_ref().and_then(|sku| sku.product_id.as_ref()) {
        Some(parent) => known("product", parent, facts.product(parent), missing),
        None => {
            let mut names = item.names(RelatedObject::Product);
            names.find_map(|name| known("product", name, facts.product(name), missing))
        }
    };
    LineGoods { sku, product }
}

/// Returns the goods of a name, if they exist.
fn known<'a>(
    kind: &str,
    name: &str,
    found: Known<Fact<'a, Goods>>,
    missing: &mut dyn FnMut(Text),
) -> Option<Fact<'a, Goods>> {
    if matches!(found, Known::Unknown) {
        missing(joined(&[kind, "/", name]));
    }
    found.found()
}

/// Returns the type of free goods, if the discount has it.
pub fn kind_of(unit: &UnitOff) -> Option<GoodsObject> {
    match (&unit.sku, &unit.product) {
        (Some(_), _) => Some(GoodsObject::Sku),
        (None, Some(_)) => Some(GoodsObject::Product),
        (None, None) => None,
    }
}

/// Finds the goods that a redeemable names: of the given type or, without one, a SKU of this name and else a product.
pub fn find_named<'a>(
    name: &str,
    kind: Option<GoodsObject>,
    facts: &'a dyn Facts,
    missing: &mut dyn FnMut(Text),
) -> LineGoods<'a> {
    let sku = match kind {
        Some(GoodsObject::Product) => None,
        _ => known("sku", name, facts.sku(name), missing),
    };
    let product = match (&sku, kind) {
        (Some(sku), _) => {
            sku.product_id.as_ref().and_then(|parent| known("product", parent, facts.product(parent), missing))
        }
        (None, Some(GoodsObject::Sku)) => None,
        (None, _) => known("product", name, facts.product(name), missing),
    };
    LineGoods { sku, product }
}
