//! Decides how an earning rule of a loyalty campaign is read, in the older form of the interface. It must not know what is earned, nor
//! which validation rule is assigned to it.
//!
//! endpoints.md section 1, shape S14.

use crate::facts::earning::{Amount, Base, Earning, EarningRule, Effect, Points, Trigger};
use crate::formula::Formula;
use crate::model::scope::GoodsRef;
use crate::points::limits::TriggerLimits;
use crate::points::proportional::Worth;
use crate::text::Text;
use crate::wire::cursor::{Cursor, Words, read};
use crate::wire::loyalty::points::{GOODS, read_every};
use crate::wire::rules::read_rule;
use crate::wire::voucher::read_validity;

/// Reads an earning rule of a campaign, whose members have one card each: the definition of that is the campaign.
pub fn read_program_rule(at: &Cursor<'_>) -> EarningRule {
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
            Amount::Fixed(0)
        }
    };
    let effect = Effect::Points(Points { card_definition_id: campaign_id, amount, expiration: None });
    EarningRule {
        id: id.clone(),
        is_active: at.option("active", read::flag).unwrap_or(true),
        trigger: read_trigger(at),
        earnings: vec![Earning { id, rule: read_rule(at), tiers: None, effects: vec![effect] }],
        validity: read_validity(at),
        limits: TriggerLimits::default(),
    }
}

fn read_trigger(at: &Cursor<'_>) -> Trigger {
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

/// Where the block of a calculation stands, and what it is about.
type Calculation = ([&'static str; 2], fn(&Cursor<'_>) -> Base);

const CALCULATIONS: Words<Option<Calculation>> = &[
    ("ORDER_AMOUNT", Some((["order", "amount"], |_| Base::OrderAmount))),
    ("ORDER_TOTAL_AMOUNT", Some((["order", "total_amount"], |_| Base::OrderTotal))),
    ("ORDER_METADATA", Some((["order", "metadata"], |at| Base::OrderData(read_property(at))))),
    ("CUSTOMER_METADATA", Some((["customer", "metadata"], |at| Base::CustomerData(read_property(at))))),
    ("CUSTOM_EVENT_METADATA", Some((["custom_event", "metadata"], |at| Base::EventData(read_property(at))))),
    ("ORDER_ITEMS_QUANTITY", Some((["order_items", "quantity"], |at| Base::LinesQuantity(read_goods(at))))),
    ("ORDER_ITEMS_AMOUNT", Some((["order_items", "amount"], |at| Base::LinesAmount(read_goods(at))))),
    (
        "ORDER_ITEMS_SUBTOTAL_AMOUNT",
        Some((["order_items", "subtotal_amount"], |at| Base::LinesSubtotal(read_goods(at)))),
    ),
];

fn read_amount(at: &Cursor<'_>) -> Amount {
    at.object();
    if !at.need("type", |at| at.one_of(&[("FIXED", false), ("PROPORTIONAL", true)])) {
        return with_formula(at, Amount::Fixed(at.need("points", read::whole_number)));
    }
    let Some(([outer, inner], base)) = at.need("calculation_type", |at| at.one_of(CALCULATIONS)) else {
        return Amount::Fixed(0);
    };
    let Some(around) = at.get(outer) else {
        at.missing(outer);
        return Amount::Fixed(0);
    };
    around.object();
    let Some(block) = around.get(inner) else {
        around.missing(inner);
        return Amount::Fixed(0);
    };
    block.object();
    let worth = Worth::of(block.need("points", read::whole_number));
    with_formula(&block, Amount::Proportional { base: base(&block), every: block.need("every", read_every), worth })
}

/// An amount as the formula beside its points says it, if there is one.
fn with_formula(at: &Cursor<'_>, plain: Amount) -> Amount {
    match at.option("points_formula", read_formula).flatten() {
        Some(formula) => Amount::Formula { formula, plain: Box::new(plain) },
        None => plain,
    }
}

fn read_formula(at: &Cursor<'_>) -> Option<Formula> {
    match Formula::parse(at.str()) {
        Ok(formula) => Some(formula),
        Err(wrong) => {
            at.problem(&wrong.text());
            None
        }
    }
}

fn read_property(at: &Cursor<'_>) -> Text {
    at.need("property", read::name)
}

/// The goods of a block: the one that it names, and those that it lists.
fn read_goods(at: &Cursor<'_>) -> Vec<GoodsRef> {
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

fn read_one(at: &Cursor<'_>) -> GoodsRef {
    at.object();
    GoodsRef::new(at.need("object", |at| at.one_of(GOODS)), at.need("id", read::name), None)
}
