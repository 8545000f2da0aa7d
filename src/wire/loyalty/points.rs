//! Reads amounts of points, which several documents of loyalty programs share.
//!
//! docs/spec/loyalty.md sections 4 and 4.1.

use crate::facts::earning::{Points, PointsAmount};
use crate::json::Node;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::points::POINTS_MAX;
use crate::points::proportional::PointsPerStep;
use crate::text::{Decimal, Text};
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::base_kind::BaseKind;
use crate::wire::loyalty::expiration::read_expiration;

/// Reads a fixed number of points on a card.
pub fn read_points(at: &JsonCursor<'_>) -> Points {
    at.object();
    Points {
        card_definition_id: at.need("card_definition_id", read::name),
        amount: PointsAmount::Fixed(at.need("value", read::whole_number)),
        expiration: at.option("points_expiration", read_expiration),
    }
}

/// The names of requests.
const CALCULATIONS: NameTable<BaseKind> = &[
    ("PRE_DISCOUNT_ORDER_AMOUNT", BaseKind::OrderAmount),
    ("POST_DISCOUNT_ORDER_AMOUNT", BaseKind::OrderTotal),
    ("ORDER_METADATA_VALUE", BaseKind::OrderData),
    ("CUSTOMER_METADATA_VALUE", BaseKind::CustomerData),
    ("CUSTOM_EVENT_METADATA_VALUE", BaseKind::EventData),
    ("PRE_DISCOUNT_ORDER_ITEMS_AMOUNT", BaseKind::LinesAmount),
    ("POST_DISCOUNT_ORDER_ITEMS_AMOUNT", BaseKind::LinesSubtotal),
    ("ORDER_ITEMS_QUANTITY", BaseKind::LinesQuantity),
];

/// Reads a number of points in proportion to a base.
pub fn read_proportional(at: &JsonCursor<'_>) -> Points {
    at.object();
    let calculation = at.need("calculation_type", |at| at.one_of(CALCULATIONS));
    let [outer, inner] = calculation.path();
    let block = |at: &JsonCursor<'_>| {
        at.object();
        let base = calculation.base(|| at.need("property", read::name), || read_all_goods(at));
        PointsAmount::Proportional { base, every: at.need("every", read_every), worth: at.need("value", read_worth) }
    };
    let amount = match at.get(outer) {
        None => {
            at.missing(outer);
            None
        }
        Some(around) => {
            around.object();
            let found = around.get(inner).map(|at| block(&at));
            if found.is_none() {
                around.missing(inner);
            }
            found
        }
    };
    Points {
        card_definition_id: at.need("card_definition_id", read::name),
        amount: amount.unwrap_or(PointsAmount::Fixed(0)),
        expiration: at.option("points_expiration", read_expiration),
    }
}

pub(super) fn read_every(at: &JsonCursor<'_>) -> u64 {
    at.or_wrong(at.number().filter(|every| *every > 0), "must be an integer from 1 to 9007199254740991")
}

fn read_worth(at: &JsonCursor<'_>) -> PointsPerStep {
    let worth = match at.node {
        Node::Fraction(digits) => Decimal::read(digits).as_ref().and_then(PointsPerStep::read),
        Node::Integer(_) => at.number().filter(|points| *points <= POINTS_MAX).map(PointsPerStep::of),
        Node::Null | Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Object(_) => None,
    };
    at.or_wrong(worth, "must be a number from 0 to 9007199254740991 with at most 9 decimals")
}

pub(super) const GOODS: NameTable<GoodsObject> =
    &[("product", GoodsObject::Product), ("sku", GoodsObject::Sku), ("products_collection", GoodsObject::Collection)];

/// Reads the goods of a block, at least one.
fn read_all_goods(at: &JsonCursor<'_>) -> Vec<GoodsRef> {
    let all = at.need("applicable_to", |at| at.all(read_goods));
    if all.is_empty() {
        at.need("applicable_to", |at| at.wrong("must NOT have fewer than 1 items"));
    }
    all
}

fn read_goods(at: &JsonCursor<'_>) -> GoodsRef {
    at.object();
    let object = at.need("type", |at| at.one_of(GOODS));
    let id: Text = at.need(object.name(), |at| {
        at.object();
        at.need("id", read::name)
    });
    GoodsRef::new(object, id, None)
}

/// Reads a number, at least 1.
pub fn read_count(at: &JsonCursor<'_>) -> u32 {
    at.or_wrong(small(at).filter(|count| *count > 0), "must be an integer from 1 to 4294967295")
}

fn small(at: &JsonCursor<'_>) -> Option<u32> {
    at.number().and_then(|number| u32::try_from(number).ok())
}
