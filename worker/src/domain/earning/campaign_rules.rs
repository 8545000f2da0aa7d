//! Grants the points that customers earn by earning rules of loyalty campaigns (v1), on their card of each campaign.
//!
//! The row of an order's earnings contains their calculation basis, so that a change of the order can compute them again
//! (`campaign_revocation`).

use crate::domain::balances::adjustments::{move_balance, record_transaction};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::points;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_facts::{CampaignEarnings, JoinedCampaign, find_joined_campaigns};
use crate::domain::earning::domain_events::EarningTargets;
use crate::domain::loyalty_campaigns::pending_points::{NewPendingPoints, add as add_pending};
use crate::domain::loyalty_campaigns::points_origin::{OriginTier, PointsOrigin};
use crate::domain::loyalty_campaigns::tiers;
use crate::domain::publications::{PublicationReceiver, PublicationRequest, publish_vouchers, select_vouchers};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::amount;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::records::EarnedPointsEntry;
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, EarningRequest, GrantedContent, GrantedPoints, RuleOutcome, earn};
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
pub const EARNING_ROW: &str = "program_occasion";

/// Points that a rule grants to a card; `campaign_index` is the index of the campaign.
struct EarnedByRule {
    campaign_index: usize,
    rule_id: String,
    points: i64,
    basis: Option<PointsBasis>,
}

/// Grants the points that a customer earns in loyalty campaigns by an event.
pub fn grant_points(
    call: &mut Call<'_, '_>,
    customer_id: &str,
    targets: EarningTargets,
    event: EarningEvent<'_>,
    earning_key: &EarningKey,
) -> Result<(), Fault> {
    let present = LocalTime::of(call)?;
    let found = {
        let facts = facts::facts(call)?;
        let found = find_joined_campaigns(call.store, &facts, customer_id, event, &present)?;
        facts.end()?;
        found
    };
    if found.is_empty() {
        return Ok(());
    }
    let Some(customer) = call.store.document(customer::CUSTOMER.object, customer_id)? else { return Ok(()) };
    let profile = customer::without_orders(&customer, targets.is_new);
    let Some(read) = readable(call.store, read_loaded("customer", &profile, read_customer))? else { return Ok(()) };
    let stored_row = call.store.document(EARNING_ROW, earning_key.as_str())?;
    let status = if stored_row.is_some() { EarningStatus::Earned } else { EarningStatus::New };
    let earned = {
        let facts = facts::facts(call)?;
        let stored = CampaignEarnings { joined: &found, status };
        let earnings =
            earn(&facts, &stored, EarningRequest { customer: &read, event, key: Some(earning_key) }, call.context);
        facts.end()?;
        let mut earned = Vec::new();
        for member in &earnings.memberships {
            let campaign_index = found.iter().position(|joined| joined.campaign.id == member.member_id.as_str());
            let Some(campaign_index) = campaign_index else { continue };
            for rule in &member.rules {
                earned.extend(earned_by_rule(rule, campaign_index)?);
            }
        }
        earned
    };
    write_earned_points(call, customer, found, earned, event, earning_key)
}

/// Queues the writes of earned points, for campaigns in which the customer has or gets a card.
fn write_earned_points(
    call: &mut Call<'_, '_>,
    mut customer: Document,
    mut found: Vec<JoinedCampaign>,
    earned: Vec<EarnedByRule>,
    event: EarningEvent<'_>,
    earning_key: &EarningKey,
) -> Result<(), Fault> {
    let (mut entries, mut tiers, mut has_points) = (Vec::new(), HashMap::new(), false);
    let present = LocalTime::of(call)?;
    for mut earning in earned {
        let Some(joined) = found.get_mut(earning.campaign_index) else { continue };
        if joined.card.is_none() && earning.points > 0 {
            joined.card = assign_card(call, &joined.campaign, &customer)?;
        }
        let Some(mut card) = joined.card.take() else {
            // An order that earns no points assigns no card. A later change of the order may earn some.
            if earning.points == 0 && earning.basis.is_some() && matches!(event, EarningEvent::OrderPaid(_)) {
                let card = EntryCard::Campaign(&joined.campaign.id);
                entries.push(entry_json(card, &earning, None, &CreditedPoints::default()));
            }
            continue;
        };
        let rule = joined.rule(&earning.rule_id);
        let mut origin = rule.map(|rule| PointsOrigin::of(rule, event)).unwrap_or_default();
        // The tier is the one before any of these points are earned.
        let tier = match tiers.entry(earning.campaign_index) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                vacant.insert(tiers::find_current_tier(call.store, &present, &joined.campaign, &card)?)
            }
        };
        let mut mapping = None;
        if let Some(tier) = tier {
            mapping = tier.mapping(&earning.rule_id).filter(|_| earning.basis.is_some());
            if earning.points > 0 {
                let points = tier.earned(&earning.rule_id, earning.points.unsigned_abs());
                earning.points = amount::signed(points)?;
            }
            origin.tier = Some(OriginTier { id: tier.id.to_string(), name: tier.name.to_string() });
        }
        let credited = match earning.points > 0 {
            true => credit(call, &mut card, earning.points, rule, &joined.campaign, origin)?,
            false => earning.basis.is_some().then(CreditedPoints::default),
        };
        if let Some(credited) = credited {
            if earning.points > 0 {
                let name = joined.campaign.as_campaign().name().unwrap_or_default();
                referral_summary::add_points(&mut customer, name, earning.points)?;
                has_points = true;
            }
            entries.push(entry_json(EntryCard::Card(&card.id), &earning, mapping, &credited));
        }
        joined.card = Some(card);
    }
    if entries.is_empty() {
        return Ok(());
    }
    if has_points {
        call.touch(&mut customer);
        call.store.update(customer::CUSTOMER.object, &customer);
    }
    let bought = match event {
        EarningEvent::OrderPaid(order) => Some(OrderSnapshot::of(order).amount),
        EarningEvent::CustomEvent { .. } | EarningEvent::SegmentEntered(_) => None,
    };
    let body = json!({ "points": entries, "bought": bought, "created_at": crate::timestamp::text(call.now_ms()) });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut row = Document::new(earning_key.as_str().to_owned(), None, call.now_ms(), body);
    row.holder = Some(customer.id);
    // A second row with the same key fails, so that an event earns once.
    call.store.insert(EARNING_ROW, &row);
    Ok(())
}

/// Assigns a card of a campaign to a customer who has none. When no card can be assigned, all effects of the attempt are undone.
pub fn assign_card(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    customer: &Document,
) -> Result<Option<Document>, Fault> {
    let (savepoint, generators, ids) = (call.store.savepoint(), call.store.generators.clone(), call.ids.clone());
    let request = PublicationRequest::for_campaign(campaign);
    let published = select_vouchers(call, campaign, 1, &[]).and_then(|chosen| {
        publish_vouchers(call, &request, &PublicationReceiver::new_holder(customer.clone()), Some(campaign), chosen)
    });
    match published {
        Ok((_, published)) => Ok(published.into_iter().next()),
        Err(CallError::Refused(refusal)) => {
            call.store.discard_since(savepoint);
            (call.store.generators, call.ids) = (generators, ids);
            call.store.warn(format!("no customer joins the campaign `{}`: {:?}", campaign.id, refusal.details));
            Ok(None)
        }
        Err(CallError::Fault(fault)) => Err(fault),
    }
}

/// Returns the points that a rule grants, with their calculation basis.
fn earned_by_rule(rule: &RuleOutcome, campaign_index: usize) -> Result<Vec<EarnedByRule>, Fault> {
    let Ok(fired) = &rule.outcome else { return Ok(Vec::new()) };
    let granted = fired.effects.iter().flatten().filter_map(|granted| match &granted.content {
        GrantedContent::Points(points) => Some(points),
        GrantedContent::Item(_) => None,
    });
    let earned = |points: &GrantedPoints| {
        Ok(EarnedByRule {
            campaign_index,
            rule_id: rule.rule_id.to_string(),
            points: amount::signed(points.points)?,
            basis: points.basis.clone(),
        })
    };
    granted.chain(&fired.absent).map(earned).collect()
}

/// Card of a stored entry of points.
#[derive(Clone, Copy)]
enum EntryCard<'a> {
    /// A card, by its id.
    Card(&'a str),
    /// The card that the customer may get in a campaign, by the campaign's id.
    Campaign(&'a str),
}

/// Returns the stored entry of points of a rule, with its calculation basis if they depend on the order.
fn entry_json(card: EntryCard<'_>, earned: &EarnedByRule, mapping: Option<Mapping>, credited: &CreditedPoints) -> Json {
    let (card, campaign) = match card {
        EntryCard::Card(card) => (Some(card), None),
        EntryCard::Campaign(campaign) => (None, Some(campaign)),
    };
    let mut entry = json!({
        "voucher_id": card, "campaign_id": campaign, "earning_rule_id": earned.rule_id, "points": earned.points, "pending": credited.pending.as_deref(),
    });
    if let Some(mut own) = EarnedPointsEntry::of_value(&mut entry) {
        if credited.pending.is_none() && earned.points > 0 {
            own.set_expiration(credited.expires_at);
        }
        earned.basis.iter().for_each(|basis| own.set_basis(write_points_basis(basis)));
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
    pub expires_at: Option<Instant>,
}

/// Credits points to a card, at once or as pending points if the rule declares it. Returns `None` when the card has no room.
pub fn credit(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    points: i64,
    rule: Option<&Document>,
    campaign: &Document,
    origin: PointsOrigin,
) -> Result<Option<CreditedPoints>, Fault> {
    let own_rules = rule.and_then(|rule| Some((rule.as_earning_rule().expiration_rules()?, rule)));
    let of_campaign = || points::stored_expiration_rules(campaign).map(|rules| (rules, campaign));
    let rules = own_rules.or_else(of_campaign);
    let wait = rule.and_then(|rule| rule.as_earning_rule().pending_days());
    let Some(days) = wait.and_then(|days| u32::try_from(days).ok()) else {
        let expiration =
            rules.map_or(Ok(Expiration::Never), |(rules, owner)| points::parse_expiration(Some(rules), owner))?;
        let present = LocalTime::of(call)?;
        let expires_at = expiration.expiry_at(present.now().at, &present.zone).expires_at();
        let is_credited = credit_spendable(call, card, points, &expiration, &origin)?;
        return Ok(is_credited.then_some(CreditedPoints { pending: None, expires_at }));
    };
    let rules = rules.map(|(rules, _)| rules);
    let pending = add_pending(call, card, NewPendingPoints { points, days, rules, origin })?;
    if pending.is_some() {
        call.touch(card);
        call.store.update(VOUCHER.object, card);
    }
    Ok(pending.map(|pending| CreditedPoints { pending: Some(pending), expires_at: None }))
}

/// Adds spendable points to a card; returns false when it has no room.
pub fn credit_spendable(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    points: i64,
    expiration: &Expiration,
    origin: &PointsOrigin,
) -> Result<bool, Fault> {
    let (total, balance) = match move_balance(call, card, &CARD, points, "points", expiration) {
        Ok(moved) => moved,
        Err(CallError::Refused(refusal)) => {
            call.store.warn(format!("the card `{}` takes no more points: {:?}", card.id, refusal.details));
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
    record_transaction(
        call,
        card,
        "POINTS_ACCRUAL".into(),
        [Json::Null, Json::Null],
        &origin.details_with("balance", balance),
    );
    Ok(true)
}
