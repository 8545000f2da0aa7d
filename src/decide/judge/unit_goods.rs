//! Decides the short description of the goods in a unit discount: the product and the SKU.
//!
//! docs/spec/calculation.md#4.

use crate::facts::Facts;
use crate::model::discount::{Discount, UnitOff};
use crate::model::order::Goods;
use crate::pricing::goods::{find_named, kind_of};
use crate::text::Text;

/// Returns the discount with the names of its goods, if the catalogue adds to the discount's own; `missing` receives facts
/// that only the server has.
pub(in crate::decide) fn with_goods(
    discount: &Discount,
    facts: &dyn Facts,
    missing: &mut dyn FnMut(Text),
) -> Option<Discount> {
    let mut details = match discount {
        Discount::Unit(_) | Discount::Units(_) => discount.clone(),
        Discount::Percent { .. } | Discount::Amount { .. } | Discount::Fixed { .. } => return None,
    };
    match &mut details {
        Discount::Unit(unit) => complete(unit, facts, missing),
        Discount::Units(units) => units.iter_mut().for_each(|unit| complete(unit, facts, missing)),
        Discount::Percent { .. } | Discount::Amount { .. } | Discount::Fixed { .. } => {}
    }
    (details != *discount).then_some(details)
}

fn complete(unit: &mut UnitOff, facts: &dyn Facts, missing: &mut dyn FnMut(Text)) {
    let is_complete = |goods: &Goods| goods.id.is_some() && goods.source_id.is_some() && goods.name.is_some();
    if unit.sku.as_ref().or(unit.product.as_ref()).is_some_and(is_complete) {
        return;
    }
    let found = find_named(&unit.unit_type, kind_of(unit), facts, missing);
    for (details, found) in [(&mut unit.sku, found.sku), (&mut unit.product, found.product)] {
        let Some(found) = found else { continue };
        let details = details.get_or_insert_default();
        details.id = details.id.take().or_else(|| found.id.clone());
        details.source_id = details.source_id.take().or_else(|| found.source_id.clone());
        details.name = details.name.take().or_else(|| found.name.clone());
    }
}
