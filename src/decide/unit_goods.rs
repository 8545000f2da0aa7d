//! Decides what the result of a unit discount tells of the goods that it gives: the product and the SKU, in short. It must
//! not know how many of them come, or what they cost.
//!
//! calculation.md section 4.

use std::borrow::Cow;

use crate::facts::{Facts, Known};
use crate::model::discount::{Discount, UnitOff};
use crate::model::order::Goods;
use crate::text::{Text, joined};

/// The discount with the names of its goods, where the catalogue says more than the discount itself; `lack` hears what only
/// the server knows.
pub(super) fn with_goods(discount: &Discount, facts: &dyn Facts, lack: &mut dyn FnMut(Text)) -> Option<Discount> {
    let mut told = match discount {
        Discount::Unit(_) | Discount::Units(_) => discount.clone(),
        Discount::Percent { .. } | Discount::Amount { .. } | Discount::Fixed { .. } => return None,
    };
    match &mut told {
        Discount::Unit(unit) => complete(unit, facts, lack),
        Discount::Units(units) => units.iter_mut().for_each(|unit| complete(unit, facts, lack)),
        Discount::Percent { .. } | Discount::Amount { .. } | Discount::Fixed { .. } => {}
    }
    (told != *discount).then_some(told)
}

fn complete(unit: &mut UnitOff, facts: &dyn Facts, lack: &mut dyn FnMut(Text)) {
    let is_whole = |goods: &Goods| goods.id.is_some() && goods.source_id.is_some() && goods.name.is_some();
    let is_product = unit.product.is_some() && unit.sku.is_none();
    if unit.sku.as_ref().or(unit.product.as_ref()).is_some_and(is_whole) {
        return;
    }
    let mut known = |kind: &str, fact: Known<Cow<'_, Goods>>| {
        if matches!(fact, Known::Unknown) {
            lack(joined(&[kind, "/", &unit.unit_type]));
        }
        fact.is().map(Cow::into_owned)
    };
    let sku = if is_product { None } else { known("sku", facts.sku(&unit.unit_type)) };
    let product = match &sku {
        Some(sku) => sku.product_id.as_deref().and_then(|id| facts.product(id).is()).map(Cow::into_owned),
        None => known("product", facts.product(&unit.unit_type)),
    };
    for (told, found) in [(&mut unit.sku, sku), (&mut unit.product, product)] {
        let Some(found) = found else { continue };
        let told = told.get_or_insert_default();
        told.id = told.id.take().or(found.id);
        told.source_id = told.source_id.take().or(found.source_id);
        told.name = told.name.take().or(found.name);
    }
}
