//! Tests points that buy rewards and pay orders: only available, permitted and requested points are spent.

use std::cell::Cell;

use proptest::prelude::*;
use scrip::Context;
use scrip::bundle::facts::RuleSetFacts;
use scrip::decide::payment::{Payment, PaymentBlocker, PaymentRequest, pay};
use scrip::decide::purchase::{PurchaseBlocker, PurchaseRefusal, price, purchase};
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::purchase::{LoyaltyReward, PayingCard, PurchasingMember};
use scrip::formula::Formula;
use scrip::model::customer::Customer;
use scrip::model::order::{Metadata, Order};
use scrip::money::Money;
use scrip::points::CurrentPeriod;
use scrip::points::limits::{
    Cooldown, ExceededLimit, FireCount, GlobalLimit, LimitRefusal, SpendingLimitKind, SpendingLimits, SpentTotals,
    TriggerLimits,
};
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_document;
use scrip::wire::loyalty::reward::read_loyalty_reward;
use scrip::wire::rule_set::RuleSet;
use serde_json::{Value, json};

use crate::properties::holds;

/// The price, the paying card, the card that receives points, and the obstacle if there is one.
type PurchaseAnswer = Result<(u64, usize, Option<usize>, Option<PurchaseBlocker>), PurchaseRefusal>;

fn card(definition: &str, balance: i64, limits: SpendingLimits) -> PayingCard {
    let so_far = SpentTotals { balance, ..SpentTotals::default() };
    PayingCard { card_definition_id: definition.into(), limits, so_far }
}

fn reward(more: Value) -> LoyaltyReward {
    let mut document = json!({
        "id": "lrew_1", "status": "ACTIVE", "type": "MATERIAL", "material": { "type": "PRODUCT", "product": { "id": "prod_1" } },
        "costs": [
            { "id": "lrcst_1", "rules": { "1": { "name": "customer.metadata", "property": "level", "conditions": { "$is": ["gold"] } }, "logic": "1" },
              "spending": [{ "id": "lrspn_1", "points": 5, "card_definition_id": "points" }] },
            { "id": "lrcst_2", "rules": { "1": { "name": "member.metadata", "property": "tier", "conditions": { "$is": ["low"] } }, "logic": "1" },
              "spending": [{ "id": "lrspn_2", "points": 10, "card_definition_id": "points" }] },
        ],
    });
    document.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    read_document(&document.to_string(), read_loyalty_reward).unwrap()
}

/// Returns the result of a purchase and its price.
fn buy(reward: &LoyaltyReward, left: Option<u64>, cards: &[PayingCard], bought: FireCount) -> PurchaseAnswer {
    buy_as("none", "low", reward, left, cards, bought)
}

fn buy_as(
    level: &str,
    tier: &str,
    reward: &LoyaltyReward,
    left: Option<u64>,
    cards: &[PayingCard],
    bought: FireCount,
) -> PurchaseAnswer {
    let facts = RuleSetFacts::new(RuleSet::read(b"{}").unwrap());
    let customer = json!({ "id": "cust_1", "metadata": { "level": level } });
    let customer: Customer = read_document(&customer.to_string(), read_customer).unwrap();
    let member = json!({ "metadata": { "tier": tier } });
    let member: Metadata = read_document(&member.to_string(), |at| at.need("metadata", read::metadata)).unwrap();
    let buying = PurchasingMember { customer: &customer, member: &member, cards, bought };
    let context = Context { now: at("2026-03-20T12:00:00Z"), seed: [0; 32], first_number: None };
    let known = price(reward, left, &buying, &facts, &context);
    let verdict = purchase(reward, left, &buying, &facts, &context);
    if let Ok(bought) = &verdict {
        assert_eq!(known.unwrap().cost, bought.cost);
    }
    verdict.map(|bought| (bought.cost.points, bought.card, bought.target, bought.blocker))
}

fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

#[test]
fn a_reward_costs_the_first_matching_price_and_refusals_have_an_order() {
    let plenty = [card("points", 100, SpendingLimits::default())];
    let never = FireCount::default();
    let plain = reward(json!({}));
    assert_eq!(buy(&plain, None, &plenty, never), Ok((10, 0, None, None)));
    assert_eq!(buy_as("gold", "low", &plain, Some(1), &plenty, never), Ok((5, 0, None, None)));
    assert_eq!(buy_as("none", "high", &plain, None, &plenty, never), Err(PurchaseRefusal::NoCost));
    assert_eq!(buy(&reward(json!({ "status": "INACTIVE" })), Some(0), &plenty, never), Err(PurchaseRefusal::Inactive));
    let over = reward(json!({ "end_date": "2026-03-20T11:59:59Z" }));
    assert_eq!(buy(&over, Some(0), &plenty, never), Err(PurchaseRefusal::OutOfTime));
    assert_eq!(buy(&plain, Some(0), &plenty, never), Err(PurchaseRefusal::OutOfStock));
    let no_card = PurchaseRefusal::NoCard { card_definition_id: "points".into() };
    assert_eq!(buy(&plain, None, &[card("stars", 100, SpendingLimits::default())], never), Err(no_card));
    for (balance, available) in [(9, 9), (0, 0), (-5, 0)] {
        let short = PurchaseRefusal::Short { required: 10, available };
        assert_eq!(buy(&plain, None, &[card("points", balance, SpendingLimits::default())], never), Err(short));
    }
    let points = json!({ "type": "DIGITAL", "digital": { "type": "LOYALTY_CARD_POINTS", "loyalty_card_points": { "points": 3, "card_definition_id": "stars" } } });
    let no_target = PurchaseRefusal::NoTarget { card_definition_id: "stars".into() };
    assert_eq!(buy(&reward(points.clone()), None, &plenty, never), Err(no_target));
    let both = [card("stars", 0, SpendingLimits::default()), card("points", 10, SpendingLimits::default())];
    assert_eq!(buy(&reward(points), None, &both, never), Ok((10, 1, Some(0), None)));
}

#[test]
fn a_temporary_refusal_includes_the_price() {
    let limits = SpendingLimits { global: GlobalLimit::Total(9), most: None };
    let exceeded = ExceededLimit { limit: SpendingLimitKind::Total, most: 9, spent: 0 };
    let never = FireCount::default();
    let limited = buy(&reward(json!({})), None, &[card("points", 100, limits)], never);
    assert_eq!(limited, Ok((10, 0, None, Some(PurchaseBlocker::Limited(exceeded)))));
    let twice = json!({ "purchase_limits": {
        "cooldown": { "type": "FIXED_COOLDOWN", "fixed_cooldown": { "period": { "value": 1, "unit": "HOUR" } } },
        "frequency": { "type": "LIMITED", "limits": [{ "type": "TIME_BASED", "triggers": { "max": 2 },
            "period": { "type": "CURRENT_PERIOD", "current_period": { "unit": "DAY" } } }] } } });
    let twice = reward(twice);
    let known = TriggerLimits { cooldown: Some(Cooldown::Hours(1)), frequency: Some((CurrentPeriod::Day, 2)) };
    assert_eq!(twice.limits, known);
    let plenty = [card("points", 100, SpendingLimits::default())];
    let fired = |last: &str, in_period| FireCount { last: Some(at(last)), in_period };
    let of = |fired| buy(&twice, None, &plenty, fired).unwrap().3;
    assert_eq!(of(fired("2026-03-20T11:00:00Z", 1)), None);
    let rests = PurchaseBlocker::LimitRefusal(LimitRefusal::Until(at("2026-03-20T12:00:01Z")));
    assert_eq!(of(fired("2026-03-20T11:00:01Z", 1)), Some(rests));
    assert_eq!(of(fired("2026-03-20T10:00:00Z", 2)), Some(PurchaseBlocker::LimitRefusal(LimitRefusal::Exhausted)));
}

/// Computes a payment of this amount, where a minor unit costs `top / bottom` points.
fn paid(price: [u64; 2], due: u64, card: &PayingCard, most: [Option<u64>; 2]) -> Result<Payment, PaymentBlocker> {
    let [top, bottom] = price;
    let formula = Formula::parse(&format!("{top} / {bottom}")).unwrap();
    let (order, customer, zone) = (Order::default(), Customer::default(), TimeZone::default());
    let [most_points, most_amount] = most;
    pay(&PaymentRequest {
        formula: &formula,
        card,
        due: Money::of(due).unwrap(),
        most_points,
        most_amount,
        order: &order,
        customer: &customer,
        now: at("2026-03-20T12:00:00Z"),
        zone: &zone,
    })
}

#[test]
fn a_payment_is_maximal_and_costs_the_fewest_points() {
    let numbers = (1..50_u64, 1..50_u64, 1..5_000_u64, 0..3_000_i64);
    let limits =
        (proptest::option::of(1..2_000_u64), proptest::option::of(1..2_000_u64), proptest::option::of(1..2_000_u64));
    let (made, few) = (Cell::new(0_u32), Cell::new(0_u32));
    holds(4_000, (numbers, limits), |((top, bottom, due, balance), (once, most_points, most_amount))| {
        let limits = SpendingLimits { global: GlobalLimit::None, most: once };
        let there = u64::try_from(balance).unwrap().min(once.unwrap_or(u64::MAX)).min(most_points.unwrap_or(u64::MAX));
        let limit = due.min(most_amount.unwrap_or(u64::MAX));
        // The largest amount whose rounded price is available: found by trying.
        let cost = |amount: u64| (amount * top).div_ceil(bottom);
        let best = (1..=limit).rev().find(|amount| cost(*amount) <= there);
        match paid([top, bottom], due, &card("points", balance, limits), [most_points, most_amount]) {
            Ok(payment) => {
                made.set(made.get() + 1);
                prop_assert_eq!(Some(payment.amount), best);
                prop_assert_eq!(payment.points, cost(payment.amount));
            }
            Err(why) => {
                few.set(few.get() + 1);
                prop_assert_eq!(best, None);
                prop_assert_eq!(why, if balance == 0 { PaymentBlocker::NoPoints } else { PaymentBlocker::TooFew });
            }
        }
        Ok(())
    });
    assert!(made.get() > 1_000 && few.get() > 5, "{made:?} payments, {few:?} too small");
}

#[test]
fn a_formula_without_a_result_pays_nothing() {
    let rich = card("points", 1_000, SpendingLimits::default());
    assert_eq!(paid([1, 0], 100, &rich, [None; 2]), Err(PaymentBlocker::NoRatio));
    assert_eq!(paid([0, 1], 100, &rich, [None; 2]), Err(PaymentBlocker::NoRatio));
    assert_eq!(paid([1, 1], 0, &rich, [None; 2]), Err(PaymentBlocker::NothingDue));
    let spent = SpendingLimits { global: GlobalLimit::Total(0), most: None };
    let exceeded = ExceededLimit { limit: SpendingLimitKind::Total, most: 0, spent: 0 };
    assert_eq!(paid([1, 1], 100, &card("points", 9, spent), [None; 2]), Err(PaymentBlocker::Limited(exceeded)));
}

#[test]
fn a_refund_grows_with_the_returned_units_to_the_whole_payment() {
    holds(2_000, (0..10_000_u64, 1..10_000_u64, 0..10_000_u64, 0..10_000_u64), |(points, whole, one, other)| {
        let bought = |amount: u64| OrderSnapshot { amount, goods: Vec::new() };
        let of =
            |returned: u64| bought(whole).returned_amount_share(&bought(whole.saturating_sub(returned))).of(points);
        let (less, more) = (one.min(other), one.max(other));
        prop_assert!(of(less) <= of(more) && of(more) <= points);
        prop_assert_eq!(of(whole), points);
        prop_assert_eq!(of(0), 0);
        Ok(())
    });
}
