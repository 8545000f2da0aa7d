//! Decides what the result of a unit discount tells of the goods that it gives: the product and the SKU, in short. It must
//! not know how many of them come, or what they cost.
//!
//! calculation.md section 4.

use crate::facts::Facts;
use crate::model::discount::{Discount, UnitOff};
use crate::model::order::Goods;
use crate::model::scope::GoodsObject;
use crate::pricing::goods::find_named;
use crate::text::Text;

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
    if unit.sku.as_ref().or(unit.product.as_ref()).is_some_and(is_whole) {
        return;
    }
    let kind = match (&unit.sku, &unit.product) {
        (Some(_), _) => Some(GoodsObject::Sku),
        (None, Some(_)) => Some(GoodsObject::Product),
        (None, None) => None,
    };
    let found = find_named(&unit.unit_type, kind, facts, lack);
    for (told, found) in [(&mut unit.sku, found.sku), (&mut unit.product, found.product)] {
        let Some(found) = found else { continue };
        let told = told.get_or_insert_default();
        told.id = told.id.take().or_else(|| found.id.clone());
        told.source_id = told.source_id.take().or_else(|| found.source_id.clone());
        told.name = told.name.take().or_else(|| found.name.clone());
    }
}
