//! Reads and writes the stored inputs to recompute the points of an earning rule for an order.

use crate::facts::earning::{PointsAmount, PointsBase, PointsBasis};
use crate::formula::Formula;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::points::limits::{EarningLimits, GlobalLimit};
use crate::points::proportional::PointsPerStep;
use crate::text::{Decimal, Text};
use crate::wire::cursor::{JsonCursor, NameTable, name_of, read};
use crate::wire::loyalty::base_kind::BaseKind;
use crate::wire::loyalty::points::{GOODS, read_every};
use serde_json::{Value, json};

/// The names of stored inputs.
const BASES: NameTable<BaseKind> = &[
    ("ORDER_AMOUNT", BaseKind::OrderAmount),
    ("ORDER_TOTAL_AMOUNT", BaseKind::OrderTotal),
    ("ORDER_METADATA", BaseKind::OrderData),
    ("CUSTOMER_METADATA", BaseKind::CustomerData),
    ("CUSTOM_EVENT_METADATA", BaseKind::EventData),
    ("ORDER_ITEMS_AMOUNT", BaseKind::LinesAmount),
    ("ORDER_ITEMS_SUBTOTAL_AMOUNT", BaseKind::LinesSubtotal),
    ("ORDER_ITEMS_QUANTITY", BaseKind::LinesQuantity),
];

/// Writes a basis.
pub fn write_points_basis(basis: &PointsBasis) -> Value {
    let mut written = json!({ "amount": write_amount(&basis.amount) });
    let capacity = match basis.limits.global {
        GlobalLimit::Total(capacity) => Some(capacity),
        GlobalLimit::None | GlobalLimit::Current(..) => None,
    };
    let limits = [("room", capacity), ("most", basis.limits.most), ("min_amount", basis.limits.min_amount)];
    if let Some(written) = written.as_object_mut() {
        written.extend(limits.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?.into()))));
    }
    written
}

fn write_amount(amount: &PointsAmount) -> Value {
    match amount {
        PointsAmount::Fixed(points) => json!({ "points": points }),
        PointsAmount::Formula { formula, plain } => {
            json!({ "formula": formula.to_string(), "plain": write_amount(plain) })
        }
        PointsAmount::Proportional { base, every, worth } => {
            let (kind, property, goods) = parts_of(base);
            let goods = goods.iter().map(|goods| json!({ "object": goods.object.name(), "id": goods.id.as_str() }));
            json!({
                "base": name_of(BASES, kind), "property": property.map(Text::as_str), "goods": goods.collect::<Vec<_>>(),
                "every": every, "worth": worth.to_string(),
            })
        }
    }
}

fn parts_of(base: &PointsBase) -> (BaseKind, Option<&Text>, &[GoodsRef]) {
    match base {
        PointsBase::OrderAmount => (BaseKind::OrderAmount, None, &[]),
        PointsBase::OrderTotal => (BaseKind::OrderTotal, None, &[]),
        PointsBase::OrderData(property) => (BaseKind::OrderData, Some(property), &[]),
        PointsBase::CustomerData(property) => (BaseKind::CustomerData, Some(property), &[]),
        PointsBase::EventData(property) => (BaseKind::EventData, Some(property), &[]),
        PointsBase::LinesAmount(goods) => (BaseKind::LinesAmount, None, goods),
        PointsBase::LinesSubtotal(goods) => (BaseKind::LinesSubtotal, None, goods),
        PointsBase::LinesQuantity(goods) => (BaseKind::LinesQuantity, None, goods),
    }
}

/// Reads a basis.
pub fn read_points_basis(at: &JsonCursor<'_>) -> PointsBasis {
    at.object();
    let capacity = at.option("room", read::whole_number);
    let limits = EarningLimits {
        global: capacity.map_or(GlobalLimit::None, GlobalLimit::Total),
        most: at.option("most", read::whole_number),
        min_amount: at.option("min_amount", read::whole_number),
    };
    let amount = at.need("amount", |at| Some(read_amount(at))).unwrap_or(PointsAmount::Fixed(0));
    PointsBasis { amount, limits }
}

fn read_amount(at: &JsonCursor<'_>) -> PointsAmount {
    at.object();
    if at.get("points").is_some() {
        return PointsAmount::Fixed(at.need("points", read::whole_number));
    }
    if let Some(formula) = at.get("formula") {
        let plain = at.need("plain", |at| Some(read_amount(at))).unwrap_or(PointsAmount::Fixed(0));
        return match Formula::parse(formula.str()) {
            Ok(formula) => PointsAmount::Formula { formula, plain: Box::new(plain) },
            Err(wrong) => {
                formula.problem(&wrong.text());
                plain
            }
        };
    }
    let property = || at.need("property", read::name);
    let goods = || at.list("goods", read_goods);
    let base = at.need("base", |at| at.one_of(BASES)).base(property, goods);
    let worth = at.need("worth", |at| {
        let worth = Decimal::read(at.str()).as_ref().and_then(PointsPerStep::read);
        at.or_wrong(worth, "must be a number from 0 to 9007199254740991 with at most 9 decimals")
    });
    PointsAmount::Proportional { base, every: at.need("every", read_every), worth }
}

fn read_goods(at: &JsonCursor<'_>) -> GoodsRef {
    at.object();
    let object: GoodsObject = at.need("object", |at| at.one_of(GOODS));
    GoodsRef::new(object, at.need("id", read::name), None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;
    use crate::wire::document::read_document;

    #[test]
    fn every_written_basis_is_read_back() {
        let goods = || {
            vec![
                GoodsRef::new(GoodsObject::Product, "tea".into(), None),
                GoodsRef::new(GoodsObject::Sku, "tea-2".into(), None),
                GoodsRef::new(GoodsObject::Collection, "hot".into(), None),
            ]
        };
        let bases = [
            PointsBase::OrderAmount,
            PointsBase::OrderTotal,
            PointsBase::OrderData("eligible".into()),
            PointsBase::CustomerData("years".into()),
            PointsBase::EventData("steps".into()),
            PointsBase::LinesAmount(goods()),
            PointsBase::LinesSubtotal(goods()),
            PointsBase::LinesQuantity(goods()),
        ];
        let worth = PointsPerStep::read(&Decimal::read("1.000000005").unwrap()).unwrap();
        let plain = bases.map(|base| PointsAmount::Proportional { base, every: 7, worth });
        let formula = |plain: &PointsAmount| PointsAmount::Formula {
            formula: Formula::parse("ORDER_AMOUNT * 2 + 1").unwrap(),
            plain: Box::new(plain.clone()),
        };
        let mut amounts: Vec<PointsAmount> = plain.iter().map(formula).chain(plain.clone()).collect();
        amounts.extend([PointsAmount::Fixed(12), formula(&PointsAmount::Fixed(3))]);
        let limits = EarningLimits { global: GlobalLimit::Total(9), most: Some(8), min_amount: Some(100) };
        for (amount, limits) in amounts.into_iter().zip([limits, EarningLimits::default()].into_iter().cycle()) {
            let basis = PointsBasis { amount, limits };
            let read = read_document(&write_points_basis(&basis).to_string(), read_points_basis);
            assert_eq!(read.unwrap(), basis);
        }
    }
}
