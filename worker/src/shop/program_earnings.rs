//! Points that customers earn in loyalty campaigns by the rules of the older interface, on their card of each campaign, written in the
//! commit of what follows from a call. It must not know routes, nor what a rule asks.
//!
//! What an order brought stays when it is called off: the older interface has no policy that takes it back.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::balances::{move_balance, note_with};
use crate::shop::cards::Present;
use crate::shop::pending_points::{Waits, wait as wait_on};
use crate::shop::program_earning_facts::{Joined, ProgramEarnings, joined};
use crate::shop::publications::{Receiver, Wanted, choose, hand_over};
use crate::shop::purses::CARD;
use crate::shop::vouchers::VOUCHER;
use crate::shop::{card_lots, customers, decision, program_tiers, referral_counts, zone};
use crate::store::document::{Document, legible, read_held};
use crate::store::sql::Fault;
use scrip::decide::earn::{Event, Gift, What, earn};
use scrip::facts::earning::{Occasion, Standing};
use scrip::points::Expiration;
use scrip::wire::customer::read_customer;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The kind of the rows of occasions that brought points, whose id is the occasion.
const OCCASION: &str = "program_occasion";

/// Points that a rule brings to a card of a campaign, by its place among the campaigns.
struct Gain {
    place: usize,
    rule_id: String,
    points: i64,
}

/// What a customer earns by something in loyalty campaigns, written at the commit.
pub fn happen(call: &mut Call<'_, '_>, customer_id: &str, what: What<'_>, occasion: &Occasion) -> Result<(), Fault> {
    let zone = zone::of(call)?;
    let found = {
        let facts = decision::facts(call)?;
        let found = joined(call.store, &facts, (customer_id, what), (call.context.now, &zone))?;
        facts.end()?;
        found
    };
    if found.is_empty() {
        return Ok(());
    }
    let Some(customer) = call.store.document(customers::CUSTOMER.object, customer_id)? else { return Ok(()) };
    let Some(read) = legible(call.store, read_held("customer", &customer, read_customer))? else { return Ok(()) };
    let known = call.store.document(OCCASION, occasion.as_str())?;
    let standing = if known.is_some() { Standing::Earned } else { Standing::New };
    let gains = {
        let facts = decision::facts(call)?;
        let stored = ProgramEarnings { joined: &found, standing };
        let earnings = earn(&facts, &stored, Event { customer: &read, what, occasion: Some(occasion) }, call.context);
        facts.end()?;
        let mut gains = Vec::new();
        for (member, rule, firing) in earnings.firings() {
            let place = found.iter().position(|joined| joined.campaign.id == member.member_id.as_str());
            for granted in firing.effects.iter().flatten() {
                let (Gift::Points(points), Some(place)) = (&granted.gift, place) else { continue };
                let points = i64::try_from(points.points).unwrap_or(0);
                gains.push(Gain { place, rule_id: rule.rule_id.to_string(), points });
            }
        }
        gains
    };
    put(call, customer, (found, gains), (what, occasion))
}

/// Writes down at the commit what was earned, as far as there is a card for it.
fn put(
    call: &mut Call<'_, '_>,
    mut customer: Document,
    (mut found, gains): (Vec<Joined>, Vec<Gain>),
    (what, occasion): (What<'_>, &Occasion),
) -> Result<(), Fault> {
    let (mut brought, mut tiers) = (Vec::new(), HashMap::new());
    let present = Present::of(call)?;
    for mut gain in gains {
        let Some(joined) = found.get_mut(gain.place) else { continue };
        if joined.card.is_none() {
            joined.card = join(call, &joined.campaign, &customer)?;
        }
        let Some(mut card) = joined.card.take() else { continue };
        let rule = joined.rule(&gain.rule_id);
        let mut about = rule.map(|rule| about(rule, what)).unwrap_or_default();
        // The tier is that of the moment before anything of this is earned.
        let tier = match tiers.entry(gain.place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                place.insert(program_tiers::of_card(call.store, &present, (&joined.campaign, &card))?)
            }
        };
        if let Some(tier) = tier {
            let points = tier.earned(&gain.rule_id, gain.points.unsigned_abs());
            gain.points = i64::try_from(points).unwrap_or(i64::MAX);
            let told = json!({ "id": tier.id.as_str(), "name": tier.name.as_str() });
            about.insert("holder_loyalty_tier".into(), told);
        }
        if gain.points > 0 && bring(call, &mut card, (gain.points, rule, &joined.campaign), about)? {
            let name = joined.campaign.body.get("name").and_then(Json::as_str).unwrap_or_default();
            referral_counts::earn(&mut customer.body, name, gain.points)?;
            brought.push(json!({ "voucher_id": card.id, "earning_rule_id": gain.rule_id, "points": gain.points }));
        }
        joined.card = Some(card);
    }
    if brought.is_empty() {
        return Ok(());
    }
    call.touch(&mut customer);
    call.store.update(customers::CUSTOMER.object, &customer);
    let body = json!({ "points": brought, "created_at": crate::moment::text(call.now_ms()) });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(occasion.as_str().to_owned(), None, call.now_ms(), body);
    row.holder = Some(customer.id);
    // A second one fails, whatever was decided.
    call.store.insert(OCCASION, &row);
    Ok(())
}

/// Hands a card of a campaign to a customer who earns in it and has none. Where none can be had, nothing of the attempt is left.
fn join(call: &mut Call<'_, '_>, campaign: &Document, customer: &Document) -> Result<Option<Document>, Fault> {
    let (mark, drawn, ids) = (call.store.mark(), call.store.drawn.clone(), call.ids.clone());
    let wanted = Wanted::given(campaign);
    let handed = choose(call, campaign, 1, &[])
        .and_then(|chosen| hand_over(call, &wanted, &Receiver::of(customer.clone()), Some(campaign), chosen));
    match handed {
        Ok((_, handed)) => Ok(handed.into_iter().next()),
        Err(CallError::Refused(why)) => {
            call.store.forget_since(mark);
            (call.store.drawn, call.ids) = (drawn, ids);
            call.store.note(format!("nobody joins the campaign `{}`: {:?}", campaign.id, why.details));
            Ok(None)
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

/// Brings points to a card at the commit, at once or, where the rule says so, to wait; says whether it has room for them.
fn bring(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    (points, rule, campaign): (i64, Option<&Document>, &Document),
    about: Map<String, Json>,
) -> Result<bool, Fault> {
    let rules = rule.and_then(|rule| rule.body.get("expiration_rules")).or_else(|| card_lots::rules_said(campaign));
    let wait = rule.and_then(|rule| rule.body.get("pending_points")?.get("period_value")?.as_u64());
    let Some(days) = wait.and_then(|days| u32::try_from(days).ok()) else {
        let expiration = rules.and_then(card_lots::expiration_of).unwrap_or_default();
        return accrue(call, card, (points, &expiration), about);
    };
    let mut details = about;
    let event = json!({
        "type": "customer.order.paid", "entity_id": card.holder, "created_at": crate::moment::text(call.now_ms()),
        "category": "ACTION",
    });
    details.insert("event".into(), event);
    let has_room = wait_on(call, card, Waits { points, days, rules, details })?;
    if has_room {
        call.touch(card);
        call.store.update(VOUCHER.object, card);
    }
    Ok(has_room)
}

/// Puts points onto a card at the commit; says whether it has room for them.
fn accrue(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    (points, expiration): (i64, &Expiration),
    about: Map<String, Json>,
) -> Result<bool, Fault> {
    let (total, balance) = match move_balance(call, card, &CARD, points, ("points", expiration)) {
        Ok(moved) => moved,
        Err(CallError::Refused(why)) => {
            call.store.note(format!("the card `{}` takes no more points: {:?}", card.id, why.details));
            return Ok(false);
        }
        Err(CallError::Fault(fault)) => return Err(fault),
    };
    call.touch(card);
    call.store.update(VOUCHER.object, card);
    let mut details = about;
    let told = json!({
        "points": points, "total": total, "balance": balance, "type": CARD.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    details.insert("balance".into(), told);
    note_with(call, card, "POINTS_ACCRUAL".into(), [Json::Null, Json::Null], &Json::Object(details));
    Ok(true)
}

/// What a transaction tells of what was earned: by which rule, and by what.
fn about(rule: &Document, what: What<'_>) -> Map<String, Json> {
    let banner = rule.body.get("source").and_then(|source| source.get("banner"));
    let source = banner.map_or(json!({}), |banner| json!({ "banner": banner }));
    let (name, by) = match what {
        What::OrderPaid(order) => {
            ("order", json!({ "id": order.id.as_deref(), "source_id": order.source_id.as_deref() }))
        }
        What::CustomEvent { schema_id, .. } => {
            ("event_schema", json!({ "id": schema_id, "name": rule.body.get("event") }))
        }
        What::SegmentEntered(id) => ("segment", json!({ "id": id })),
    };
    let told = json!({ "earning_rule": { "id": rule.id, "source": source }, name: by });
    told.as_object().cloned().unwrap_or_default()
}
