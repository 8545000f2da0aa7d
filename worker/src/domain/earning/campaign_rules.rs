//! Grants the points that customers earn by earning rules of loyalty campaigns (v1), on their card of each campaign.
//!
//! The row of an order's earnings contains their calculation basis, so that a change of the order can compute them again
//! (`campaign_revocation`).

use crate::domain::balances::adjustments::{move_balance, note_with};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::points;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_facts::{JoinedCampaign, ProgramEarnings, joined};
use crate::domain::earning::domain_events::Earners;
use crate::domain::loyalty_campaigns::pending_points::{NewPendingPoints, wait as wait_on};
use crate::domain::loyalty_campaigns::points_origin::{OriginTier, PointsOrigin};
use crate::domain::loyalty_campaigns::tiers;
use crate::domain::publications::{PublicationReceiver, PublicationRequest, choose, hand_over};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::amount;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::records::EarnedPointsEntry;
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, Event, GrantedGift, GrantedPoints, RuleOutcome, earn};
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::earning::{EarningKey, EarningStatus, PointsBasis};
use scrip::points::Expiration;
use scrip::points::campaign_tiers::Mapping;
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::customer::read_customer;
use scrip::wire::loyalty::points_basis::write_points_basis;
use serde_json::{Value as Json, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Kind of the rows of events that earned points; the id of a row is the earning key.
pub const OCCASION: &str = "program_occasion";

/// Points that a rule grants to a card; `place` is the index of the campaign.
struct EarnedByRule {
    place: usize,
    rule_id: String,
    points: i64,
    basis: Option<PointsBasis>,
}

/// Grants the points that a customer earns in loyalty campaigns by an event.
pub fn happen(
    call: &mut Call<'_, '_>,
    customer_id: &str,
    earners: Earners,
    what: EarningEvent<'_>,
    occasion: &EarningKey,
) -> Result<(), Fault> {
    let present = LocalTime::of(call)?;
    let found = {
        let facts = facts::facts(call)?;
        let found = joined(call.store, &facts, customer_id, what, &present)?;
        facts.end()?;
        found
    };
    if found.is_empty() {
        return Ok(());
    }
    let Some(customer) = call.store.document(customer::CUSTOMER.object, customer_id)? else { return Ok(()) };
    let seen = customer::before_orders(&customer, earners.is_new);
    let Some(read) = readable(call.store, read_loaded("customer", &seen, read_customer))? else { return Ok(()) };
    let known = call.store.document(OCCASION, occasion.as_str())?;
    let standing = if known.is_some() { EarningStatus::Earned } else { EarningStatus::New };
    let gains = {
        let facts = facts::facts(call)?;
        let stored = ProgramEarnings { joined: &found, standing };
        let earnings = earn(&facts, &stored, Event { customer: &read, what, occasion: Some(occasion) }, call.context);
        facts.end()?;
        let mut gains = Vec::new();
        for member in &earnings.memberships {
            let place = found.iter().position(|joined| joined.campaign.id == member.member_id.as_str());
            let Some(place) = place else { continue };
            member.rules.iter().for_each(|rule| gains.extend(gains_of(rule, place)));
        }
        gains
    };
    put(call, customer, found, gains, what, occasion)
}

/// Queues the writes of earned points, for campaigns in which the customer has or gets a card.
fn put(
    call: &mut Call<'_, '_>,
    mut customer: Document,
    mut found: Vec<JoinedCampaign>,
    gains: Vec<EarnedByRule>,
    what: EarningEvent<'_>,
    occasion: &EarningKey,
) -> Result<(), Fault> {
    let (mut brought, mut tiers, mut has_points) = (Vec::new(), HashMap::new(), false);
    let present = LocalTime::of(call)?;
    for mut gain in gains {
        let Some(joined) = found.get_mut(gain.place) else { continue };
        if joined.card.is_none() && gain.points > 0 {
            joined.card = join(call, &joined.campaign, &customer)?;
        }
        let Some(mut card) = joined.card.take() else {
            // An order that gives no points gives no card either; it may be changed to one that does.
            if gain.points == 0 && gain.basis.is_some() && matches!(what, EarningEvent::OrderPaid(_)) {
                let place = EntryPlace::Campaign(&joined.campaign.id);
                brought.push(entry(place, &gain, None, &CreditedPoints::default()));
            }
            continue;
        };
        let rule = joined.rule(&gain.rule_id);
        let mut origin = rule.map(|rule| PointsOrigin::of(rule, what)).unwrap_or_default();
        // The tier is the one before any of these points are earned.
        let tier = match tiers.entry(gain.place) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(tiers::of_card(call.store, &present, &joined.campaign, &card)?),
        };
        let mut mapping = None;
        if let Some(tier) = tier {
            mapping = tier.mapping(&gain.rule_id).filter(|_| gain.basis.is_some());
            if gain.points > 0 {
                let points = tier.earned(&gain.rule_id, gain.points.unsigned_abs());
                gain.points = amount::signed(points)?;
            }
            origin.tier = Some(OriginTier { id: tier.id.to_string(), name: tier.name.to_string() });
        }
        let arrived = match gain.points > 0 {
            true => bring(call, &mut card, gain.points, rule, &joined.campaign, origin)?,
            false => gain.basis.is_some().then(CreditedPoints::default),
        };
        if let Some(arrived) = arrived {
            if gain.points > 0 {
                let name = joined.campaign.as_campaign().name().unwrap_or_default();
                referral_summary::earn(&mut customer, name, gain.points)?;
                has_points = true;
            }
            brought.push(entry(EntryPlace::Card(&card.id), &gain, mapping, &arrived));
        }
        joined.card = Some(card);
    }
    if brought.is_empty() {
        return Ok(());
    }
    if has_points {
        call.touch(&mut customer);
        call.store.update(customer::CUSTOMER.object, &customer);
    }
    let bought = match what {
        EarningEvent::OrderPaid(order) => Some(OrderSnapshot::of(order).amount),
        EarningEvent::CustomEvent { .. } | EarningEvent::SegmentEntered(_) => None,
    };
    let body = json!({ "points": brought, "bought": bought, "created_at": crate::timestamp::text(call.now_ms()) });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(occasion.as_str().to_owned(), None, call.now_ms(), body);
    row.holder = Some(customer.id);
    // A second row with the same key fails, so that an event earns once.
    call.store.insert(OCCASION, &row);
    Ok(())
}

/// Assigns a card of a campaign to a customer who has none. When no card can be assigned, all effects of the attempt are undone.
pub fn join(call: &mut Call<'_, '_>, campaign: &Document, customer: &Document) -> Result<Option<Document>, Fault> {
    let (savepoint, generators, ids) = (call.store.savepoint(), call.store.generators.clone(), call.ids.clone());
    let wanted = PublicationRequest::given(campaign);
    let handed = choose(call, campaign, 1, &[]).and_then(|chosen| {
        hand_over(call, &wanted, &PublicationReceiver::of(customer.clone()), Some(campaign), chosen)
    });
    match handed {
        Ok((_, handed)) => Ok(handed.into_iter().next()),
        Err(CallError::Refused(why)) => {
            call.store.discard_since(savepoint);
            (call.store.generators, call.ids) = (generators, ids);
            call.store.warn(format!("no customer joins the campaign `{}`: {:?}", campaign.id, why.details));
            Ok(None)
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

/// Returns the points that a rule grants, with their calculation basis.
fn gains_of(rule: &RuleOutcome, place: usize) -> Vec<EarnedByRule> {
    let Ok(firing) = &rule.outcome else { return Vec::new() };
    let given = firing.effects.iter().flatten().filter_map(|granted| match &granted.gift {
        GrantedGift::Points(points) => Some(points),
        GrantedGift::Thing(_) => None,
    });
    let gain = |points: &GrantedPoints| EarnedByRule {
        place,
        rule_id: rule.rule_id.to_string(),
        points: i64::try_from(points.points).unwrap_or(0),
        basis: points.basis.clone(),
    };
    given.chain(&firing.absent).map(gain).collect()
}

/// Card of a stored entry of points.
#[derive(Clone, Copy)]
enum EntryPlace<'a> {
    /// A card, by its id.
    Card(&'a str),
    /// The card that the customer may get in a campaign, by the campaign's id.
    Campaign(&'a str),
}

/// Returns the stored entry of points of a rule, with its calculation basis if they depend on the order.
fn entry(place: EntryPlace<'_>, gain: &EarnedByRule, mapping: Option<Mapping>, arrived: &CreditedPoints) -> Json {
    let (card, campaign) = match place {
        EntryPlace::Card(card) => (Some(card), None),
        EntryPlace::Campaign(campaign) => (None, Some(campaign)),
    };
    let mut entry = json!({
        "voucher_id": card, "campaign_id": campaign, "earning_rule_id": gain.rule_id, "points": gain.points, "pending": arrived.pending.as_deref(),
    });
    if let Some(mut own) = EarnedPointsEntry::of_value(&mut entry) {
        if arrived.pending.is_none() && gain.points > 0 {
            own.set_expiration(arrived.lapses_at);
        }
        gain.basis.iter().for_each(|basis| own.set_basis(write_points_basis(basis)));
        mapping.into_iter().for_each(|mapping| own.set_mapping(mapping));
    }
    entry
}

/// State of points after they were credited to a card.
#[derive(Default)]
pub struct CreditedPoints {
    /// Id of the pending points; `None` when they can be spent at once.
    pub pending: Option<Text>,
    /// Expiration; `None` for pending points and for points that never expire.
    pub lapses_at: Option<Instant>,
}

/// Credits points to a card, at once or as pending points if the rule declares it. Returns `None` when the card has no room.
pub fn bring(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    points: i64,
    rule: Option<&Document>,
    campaign: &Document,
    origin: PointsOrigin,
) -> Result<Option<CreditedPoints>, Fault> {
    let rule = rule.map(Document::as_earning_rule);
    let rules = rule.and_then(|rule| rule.expiration_rules()).or_else(|| points::rules_said(campaign));
    let wait = rule.and_then(|rule| rule.pending_days());
    let Some(days) = wait.and_then(|days| u32::try_from(days).ok()) else {
        let expiration = rules.and_then(points::expiration_of).unwrap_or_default();
        let present = LocalTime::of(call)?;
        let lapses_at = expiration.arriving(present.now().at, &present.zone).lapses_at();
        let has_come = accrue(call, card, points, &expiration, &origin)?;
        return Ok(has_come.then_some(CreditedPoints { pending: None, lapses_at }));
    };
    let pending = wait_on(call, card, NewPendingPoints { points, days, rules, origin })?;
    if pending.is_some() {
        call.touch(card);
        call.store.update(VOUCHER.object, card);
    }
    Ok(pending.map(|pending| CreditedPoints { pending: Some(pending), lapses_at: None }))
}

/// Adds spendable points to a card; returns false when it has no room.
pub fn accrue(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    points: i64,
    expiration: &Expiration,
    origin: &PointsOrigin,
) -> Result<bool, Fault> {
    let (total, balance) = match move_balance(call, card, &CARD, points, "points", expiration) {
        Ok(moved) => moved,
        Err(CallError::Refused(why)) => {
            call.store.warn(format!("the card `{}` takes no more points: {:?}", card.id, why.details));
            return Ok(false);
        }
        Err(CallError::Fault(fault)) => return Err(fault),
    };
    call.touch(card);
    call.store.update(VOUCHER.object, card);
    let balance = json!({
        "points": points, "total": total, "balance": balance, "type": CARD.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    note_with(call, card, "POINTS_ACCRUAL".into(), [Json::Null, Json::Null], &origin.details_with("balance", balance));
    Ok(true)
}
