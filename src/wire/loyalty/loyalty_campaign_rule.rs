//! Reads earning rules of v1 loyalty campaigns.
//!
//! docs/spec/endpoints.md section 1, shape S14.

use crate::facts::earning::{Earning, EarningEffect, EarningRule, Points, PointsAmount, Trigger};
use crate::formula::Formula;
use crate::model::scope::GoodsRef;
use crate::points::limits::TriggerLimits;
use crate::points::proportional::PointsPerStep;
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, NameTable, read};
use crate::wire::loyalty::base_kind::BaseKind;
use crate::wire::loyalty::points::{GOODS, read_every};
use crate::wire::rules::read_rule;
use crate::wire::voucher::read_validity;

/// Reads an earning rule of a campaign. Its members have one card each, and the campaign serves as the card definition.
pub fn read_loyalty_campaign_rule(at: &JsonCursor<'_>) -> EarningRule {
    at.object();
    let id = at.need("id", read::name);
    let campaign_id = at.need("source", |at| {
        at.object();
        at.need("object_id", read::name)
    });
    let amount = match at.get("loyalty") {
        Some(points) => read_amount(&points),
        None => {
            at.missing("loyalty");
            PointsAmount::Fixed(0)
        }
    };
    let effect = EarningEffect::Points(Points { card_definition_id: campaign_id, amount, expiration: None });
    EarningRule {
        id: id.clone(),
        is_active: at.option("active", read::flag).unwrap_or(true),
        trigger: read_trigger(at),
        earnings: vec![Earning { id, rule: read_rule(at), tiers: None, effects: vec![effect] }],
        validity: read_validity(at),
        limits: TriggerLimits::default(),
    }
}

fn read_trigger(at: &JsonCursor<'_>) -> Trigger {
    let event = at.need("event", read::text);
    match event.as_str() {
        "order.paid" => Trigger::OrderPaid,
        "customer.segment.entered" => Trigger::SegmentEntered(at.need("segment", |at| {
            at.object();
            at.need("id", read::name)
        })),
        _ => Trigger::CustomEvent(at.need("custom_event", |at| {
            at.object();
            at.need("schema_id", read::name)
        })),
    }
}

const CALCULATIONS: NameTable<Option<BaseKind>> = &[
    ("ORDER_AMOUNT", Some(BaseKind::OrderAmount)),
    ("ORDER_TOTAL_AMOUNT", Some(BaseKind::OrderTotal)),
    ("ORDER_METADATA", Some(BaseKind::OrderData)),
    ("CUSTOMER_METADATA", Some(BaseKind::CustomerData)),
    ("CUSTOM_EVENT_METADATA", Some(BaseKind::EventData)),
    ("ORDER_ITEMS_QUANTITY", Some(BaseKind::LinesQuantity)),
    ("ORDER_ITEMS_AMOUNT", Some(BaseKind::LinesAmount)),
    ("ORDER_ITEMS_SUBTOTAL_AMOUNT", Some(BaseKind::LinesSubtotal)),
];

fn read_amount(at: &JsonCursor<'_>) -> PointsAmount {
    at.object();
    if !at.need("type", |at| at.one_of(&[("FIXED", false), ("PROPORTIONAL", true)])) {
        return with_formula(at, PointsAmount::Fixed(at.need("points", read::whole_number)));
    }
    let Some(kind) = at.need("calculation_type", |at| at.one_of(CALCULATIONS)) else {
        return PointsAmount::Fixed(0);
    };
    let [outer, inner] = kind.path();
    let Some(around) = at.get(outer) else {
        at.missing(outer);
        return PointsAmount::Fixed(0);
    };
    around.object();
    let Some(block) = around.get(inner) else {
        around.missing(inner);
        return PointsAmount::Fixed(0);
    };
    block.object();
    let worth = PointsPerStep::of(block.need("points", read::whole_number));
    let base = kind.base(|| read_property(&block), || read_goods(&block));
    with_formula(&block, PointsAmount::Proportional { base, every: block.need("every", read_every), worth })
}

/// Returns an amount with the formula next to its points, if there is one.
fn with_formula(at: &JsonCursor<'_>, plain: PointsAmount) -> PointsAmount {
    match at.option("points_formula", read_formula).flatten() {
        Some(formula) => PointsAmount::Formula { formula, plain: Box::new(plain) },
        None => plain,
    }
}

fn read_formula(at: &JsonCursor<'_>) -> Option<Formula> {
    match Formula::parse(at.str()) {
        Ok(formula) => Some(formula),
        Err(wrong) => {
            at.problem(&wrong.text());
            None
        }
    }
}

fn read_property(at: &JsonCursor<'_>) -> Text {
    at.need("property", read::name)
}

/// Reads the goods of a block: the one that it names, and those that it lists.
fn read_goods(at: &JsonCursor<'_>) -> Vec<GoodsRef> {
    let listed = at.get("applicable_to").map(|all| all.items().map(|at| read_one(&at)).collect());
    let mut goods: Vec<GoodsRef> = listed.unwrap_or_default();
    if at.get("object").is_some() {
        goods.push(read_one(at));
    }
    if goods.is_empty() {
        at.missing("applicable_to");
    }
    goods
}

fn read_one(at: &JsonCursor<'_>) -> GoodsRef {
    at.object();
    GoodsRef::new(at.need("object", |at| at.one_of(GOODS)), at.need("id", read::name), None)
}
