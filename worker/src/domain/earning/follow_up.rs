//! Reacts to domain events in the commit of their cause: grants points and incentives, and revokes those of canceled orders.
//!
//! Queued writes are flushed before, so that all cards and stocks are current. A failure undoes the whole transaction.

use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::decisions::facts;
use crate::domain::earning::domain_events::{DomainEvent, EarningTargets};
use crate::domain::earning::fired_rules;
use crate::domain::earning::fired_rules::FiredRule;
use crate::domain::earning::grants::{EffectResult, EventGrants};
use crate::domain::earning::program_facts::{EarningQuery, Memberships, Rules, StoredEarnings};
use crate::domain::earning::reaction::Reaction;
use crate::domain::earning::{campaign_revocation, campaign_rules, program_revocation};
use crate::domain::loyalty_members::card::{load, load_all};
use crate::domain::loyalty_members::card_changes::{apply_event, settle_tiers};
use crate::domain::loyalty_members::card_view::TransactionDetails;
use crate::domain::loyalty_members::current_tiers;
use crate::domain::loyalty_programs::statistics;
use crate::domain::point_spending::moved_points::{ChangedOrder, MovedPoints, OrderAfterChange};
use crate::domain::point_spending::order_payments;
use crate::http::route::Call;
use crate::store::document::{read_loaded, read_stored, readable};
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, EarningRequest, Earnings, FiredEarning, earn};
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::earning::{EarningEffect, EarningKey, EarningRule};
use scrip::model::order::{Metadata, Order};
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::order::read_order;

/// Refunds the points that paid an order which is canceled, or the share of its removed goods.
pub fn refund_payment(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    let moved = match event {
        DomainEvent::OrderCanceled { order_id } => order_payments::refund_order(call, order_id, None)?,
        DomainEvent::OrderChanged { order_id } => match find_order(call, order_id)? {
            Some(order) => order_payments::refund_order(call, order_id, Some(&OrderSnapshot::of(&order)))?,
            None => MovedPoints::default(),
        },
        _ => MovedPoints::default(),
    };
    Ok(moved.into())
}

/// Revokes the points of loyalty programs that an order earned and would not earn now, and adds those that it would earn in addition.
pub fn correct_program_points(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match changed_order(call, event)? {
        Some(order) => program_revocation::correct_order(call, order),
        None => Ok(Reaction::default()),
    }
}

/// Revokes and adds points of loyalty campaigns in the same way.
pub fn correct_campaign_points(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match changed_order(call, event)? {
        Some(order) => campaign_revocation::correct_order(call, order),
        None => Ok(Reaction::default()),
    }
}

/// Returns the order of an event that may change its earnings; `None` when it cannot be read.
fn changed_order(call: &Call<'_, '_>, event: &DomainEvent) -> Result<Option<ChangedOrder>, Fault> {
    let (order_id, now) = match event {
        DomainEvent::OrderCanceled { order_id } => (order_id, OrderAfterChange::Canceled),
        DomainEvent::OrderUnpaid { order_id } => (order_id, OrderAfterChange::Unpaid),
        DomainEvent::OrderChanged { order_id } => match find_order(call, order_id)? {
            Some(order) => (order_id, OrderAfterChange::Paid(Box::new(order))),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(ChangedOrder { id: order_id.clone(), now }))
}

/// Activates the points on a customer's cards that are pending until a custom event, and extends the expiration of points by
/// activity. Points that the same event earns wait for the next one.
pub fn activate_pending(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    if let DomainEvent::CustomEventReceived { event_id, customer_id } = event
        && let Some(document) = call.store.document("event", event_id)?
    {
        activate_by_event(call, customer_id, document.parent.as_deref().unwrap_or_default())?;
    }
    Ok(Reaction::default())
}

/// Grants the points and incentives that an event earns: first those of loyalty campaigns, then those of loyalty programs.
pub fn grant_earnings(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match event {
        DomainEvent::OrderPaid { order_id, customer_id, text, targets } => {
            let order = read_stored("order", order_id, text, read_order);
            let Some(order) = readable(call.store, order)? else { return Ok(Reaction::default()) };
            let cause = EarningCause {
                event: EarningEvent::OrderPaid(&order),
                trigger: "customer.order.paid",
                earning_key: &EarningKey::order(order_id),
                order_id: Some(order_id),
            };
            grant_for_event(call, customer_id, *targets, &cause)?;
        }
        DomainEvent::CustomEventReceived { event_id, customer_id } => {
            let Some(document) = call.store.document("event", event_id)? else { return Ok(Reaction::default()) };
            let schema_id = document.parent.as_deref().unwrap_or_default();
            let data =
                readable(call.store, read_loaded("event", &document, |at| at.option("metadata", read::metadata)))?;
            let metadata: Metadata = data.flatten().unwrap_or_default();
            let event = EarningEvent::CustomEvent { schema_id: Some(schema_id), metadata: &metadata };
            let earning_key = EarningKey::custom_event(event_id);
            let trigger = "customer.custom_event";
            let cause = EarningCause { event, trigger, earning_key: &earning_key, order_id: None };
            grant_for_event(call, customer_id, EarningTargets::ANY, &cause)?;
        }
        DomainEvent::SegmentEntered { segment_id, customer_id } => {
            let event = EarningEvent::SegmentEntered(Some(segment_id));
            let earning_key = EarningKey::segment(segment_id, customer_id, call.context.now);
            let trigger = "customer.segment.entered";
            let cause = EarningCause { event, trigger, earning_key: &earning_key, order_id: None };
            grant_for_event(call, customer_id, EarningTargets::ANY, &cause)?;
        }
        DomainEvent::OrderChanged { .. }
        | DomainEvent::OrderUnpaid { .. }
        | DomainEvent::OrderCanceled { .. }
        | DomainEvent::SegmentsChanged { .. } => {}
    }
    Ok(Reaction::default())
}

/// Updates the tiers of a customer whose segments may have changed.
pub fn update_tiers(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    if let DomainEvent::SegmentsChanged { customer_id } = event {
        settle_tiers(call.store, &LocalTime::of(call)?, customer_id)?;
    }
    Ok(Reaction::default())
}

/// Returns a stored order; `None` when it is missing or cannot be read.
fn find_order(call: &Call<'_, '_>, order_id: &str) -> Result<Option<Order>, Fault> {
    let Some(document) = call.store.document("order", order_id)? else { return Ok(None) };
    readable(call.store, read_loaded("order", &document, read_order))
}

/// Event by which a customer may earn.
struct EarningCause<'a> {
    event: EarningEvent<'a>,
    /// Name of the event in the triggers of loyalty programs.
    trigger: &'a str,
    /// Key under which the event earns only once.
    earning_key: &'a EarningKey,
    /// Order that the event is about, for the transactions of cards.
    order_id: Option<&'a str>,
}

/// Grants the points and incentives that a customer earns in loyalty programs by an event.
fn grant_for_event(
    call: &mut Call<'_, '_>,
    customer_id: &str,
    targets: EarningTargets,
    cause: &EarningCause<'_>,
) -> Result<(), Fault> {
    let EarningCause { event, trigger, earning_key, order_id } = *cause;
    if targets.campaigns {
        campaign_rules::grant_points(call, customer_id, targets, event, earning_key)?;
    }
    if !targets.members {
        return Ok(());
    }
    let present = LocalTime::of(call)?;
    let query = EarningQuery { customer_id, event: trigger, only: None, metadata: None };
    let mut memberships = Memberships::load(call.store, &query)?;
    if memberships.has_no_rules() {
        return Ok(());
    }
    load_tiers(call, &present, &mut memberships)?;
    let Some(document) = call.store.document("customer", customer_id)? else { return Ok(()) };
    let profile = customer::without_orders(&document, targets.is_new);
    let Some(customer) = readable(call.store, read_loaded("customer", &profile, read_customer))? else { return Ok(()) };
    let earnings = {
        let facts = facts::facts(call)?;
        let stored = StoredEarnings::new(call.store, &facts, &present, &memberships);
        let earning = EarningRequest { customer: &customer, event, key: Some(earning_key) };
        let earnings = earn(&facts, &stored, earning, call.context);
        stored.finish()?;
        facts.end()?;
        earnings
    };
    if let Some(reason) = &earnings.not_earned {
        call.store.warn(format!("nothing is earned by `{}`: {}", earning_key.as_str(), reason.name()));
    }
    let Memberships { rules, definitions, .. } = memberships;
    let cards = load_all(call.store, &earnings.cards())?;
    let grants = EventGrants::new(document, &present, definitions, cards, order_id);
    let snapshot = match event {
        EarningEvent::OrderPaid(order) => Some(OrderSnapshot::of(order)),
        EarningEvent::CustomEvent { .. } | EarningEvent::SegmentEntered(_) => None,
    };
    write_grants(call, &earnings, &rules, grants, earning_key, snapshot.as_ref())
}

/// Loads the current tiers of members whose rules depend on them; nothing is written.
pub fn load_tiers(call: &Call<'_, '_>, present: &LocalTime, memberships: &mut Memberships) -> Result<(), Fault> {
    for member_id in memberships.members_with_tier_rules() {
        for tier in current_tiers::list_of_member(call.store, present, &member_id)? {
            memberships.add_tier(&member_id, tier);
        }
    }
    Ok(())
}

/// Queues the writes of all grants that can be fulfilled.
fn write_grants(
    call: &mut Call<'_, '_>,
    earnings: &Earnings,
    rules: &Rules,
    mut grants: EventGrants<'_>,
    earning_key: &EarningKey,
    snapshot: Option<&OrderSnapshot>,
) -> Result<(), Fault> {
    let now_ms = call.now_ms();
    statistics::insert_counts(call.store, &statistics::limited_rules(earnings), now_ms);
    let mut rows: Vec<FiredRule<'_>> = Vec::new();
    for member in &earnings.memberships {
        for rule in &member.rules {
            let Ok(fired) = &rule.outcome else { continue };
            let owner = [member.member_id.as_str(), member.program_id.as_str()];
            let effects = effects_of(rules.get(rule.rule_id.as_str()).and_then(Option::as_deref), fired);
            let (mut has_granted, mut points) = (false, Vec::new());
            for (granted, effect) in fired.effects.iter().zip(effects) {
                match grants.grant(call, granted.as_ref(), effect, owner, &rule.rule_id)? {
                    EffectResult::NotGranted => {}
                    EffectResult::Item => has_granted = true,
                    EffectResult::Points(entry) => {
                        has_granted = true;
                        points.push(entry);
                    }
                }
            }
            points.extend(fired.absent.iter().map(fired_rules::absent_entry));
            if has_granted || !points.is_empty() {
                let rule = [rule.rule_id.as_str(), fired.earning_id.as_str()];
                rows.push(FiredRule { member: owner, rule, points, has_granted });
            }
        }
    }
    if !rows.is_empty() {
        fired_rules::insert(call.store, earning_key, snapshot, grants.customer_id(), &rows, now_ms)?;
    }
    Ok(())
}

/// Returns the effects of the earning that fired.
fn effects_of<'r>(rule: Option<&'r EarningRule>, fired: &FiredEarning) -> &'r [EarningEffect] {
    let earnings = rule.map_or(&[][..], |rule| &rule.earnings);
    let earning = earnings.iter().find(|earning| earning.id == fired.earning_id);
    earning.map_or(&[], |earning| &earning.effects)
}

/// Activates points on a customer's cards that are pending until the custom event, and extends the expiration of points by activity.
fn activate_by_event(call: &mut Call<'_, '_>, customer_id: &str, schema_id: &str) -> Result<(), Fault> {
    let rows = call.store.list_active_cards(customer_id)?;
    if rows.is_empty() {
        return Ok(());
    }
    let present = LocalTime::of(call)?;
    let details = TransactionDetails::default();
    for row in rows {
        let mut card = load(call.store, row, &[])?;
        apply_event(call.store, &present, &mut card, schema_id, &details, &mut call.ids)?;
    }
    Ok(())
}
