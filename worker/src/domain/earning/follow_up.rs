//! Reacts to domain events in the commit of their cause: grants points and incentives, and takes back those of canceled orders.
//!
//! Queued writes are flushed before, so that all cards and stocks are current. A failure undoes the whole transaction.

use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::decisions::facts;
use crate::domain::earning::domain_events::{DomainEvent, Earners};
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
use crate::domain::point_spending::moved_points::{ChangedOrder, MovedPoints, OrderNow};
use crate::domain::point_spending::order_payments;
use crate::http::route::Call;
use crate::store::document::{read_loaded, read_stored, readable};
use crate::store::sql::Fault;
use scrip::decide::earn::{EarningEvent, Earnings, Event, FiredEarning, earn};
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::earning::{EarningKey, EarningRule, Effect};
use scrip::model::order::{Metadata, Order};
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use scrip::wire::order::read_order;

/// Refunds the points that paid an order which is canceled, or the share of what is left out of it.
pub fn refund_payment(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    let moved = match event {
        DomainEvent::CalledOff { order_id } => order_payments::give_back(call, order_id, None)?,
        DomainEvent::Changed { order_id } => match order(call, order_id)? {
            Some(order) => order_payments::give_back(call, order_id, Some(&OrderSnapshot::of(&order)))?,
            None => MovedPoints::default(),
        },
        _ => MovedPoints::default(),
    };
    Ok(moved.into())
}

/// Revokes the points of loyalty programs that an order earned and would not earn now, and adds those that it would earn in addition.
pub fn revoke_of_programs(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match changed_order(call, event)? {
        Some(order) => program_revocation::take_back(call, order),
        None => Ok(Reaction::default()),
    }
}

/// Revokes and adds points of loyalty campaigns in the same way.
pub fn revoke_of_campaigns(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match changed_order(call, event)? {
        Some(order) => campaign_revocation::take_back(call, order),
        None => Ok(Reaction::default()),
    }
}

/// Returns the order of an event that may change what it earned; `None` when it cannot be read.
fn changed_order(call: &Call<'_, '_>, event: &DomainEvent) -> Result<Option<ChangedOrder>, Fault> {
    let (order_id, now) = match event {
        DomainEvent::CalledOff { order_id } => (order_id, OrderNow::CalledOff),
        DomainEvent::Unpaid { order_id } => (order_id, OrderNow::Unpaid),
        DomainEvent::Changed { order_id } => match order(call, order_id)? {
            Some(order) => (order_id, OrderNow::Paid(Box::new(order))),
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    Ok(Some(ChangedOrder { id: order_id.clone(), now }))
}

/// Activates the points on a customer's cards that are pending until a custom event. Points that the same event earns wait for
/// the next one.
pub fn activate_pending(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    if let DomainEvent::CustomEventReceived { event_id, customer_id } = event
        && let Some(document) = call.store.document("event", event_id)?
    {
        wake(call, customer_id, document.parent.as_deref().unwrap_or_default())?;
    }
    Ok(Reaction::default())
}

/// Grants the points and incentives that an event earns: first those of loyalty campaigns, then those of loyalty programs.
pub fn earn_by(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    match event {
        DomainEvent::Paid { order_id, customer_id, text, earners } => {
            let order = read_stored("order", order_id, text, read_order);
            let Some(order) = readable(call.store, order)? else { return Ok(Reaction::default()) };
            let cause = EarningCause {
                what: EarningEvent::OrderPaid(&order),
                event: "customer.order.paid",
                occasion: &EarningKey::order(order_id),
                order_id: Some(order_id),
            };
            happen(call, customer_id, *earners, &cause)?;
        }
        DomainEvent::CustomEventReceived { event_id, customer_id } => {
            let Some(document) = call.store.document("event", event_id)? else { return Ok(Reaction::default()) };
            let schema_id = document.parent.as_deref().unwrap_or_default();
            let data =
                readable(call.store, read_loaded("event", &document, |at| at.option("metadata", read::metadata)))?;
            let metadata: Metadata = data.flatten().unwrap_or_default();
            let what = EarningEvent::CustomEvent { schema_id: Some(schema_id), metadata: &metadata };
            let occasion = EarningKey::custom_event(event_id);
            let event = "customer.custom_event";
            let cause = EarningCause { what, event, occasion: &occasion, order_id: None };
            happen(call, customer_id, Earners::ANY, &cause)?;
        }
        DomainEvent::Entered { segment_id, customer_id } => {
            let what = EarningEvent::SegmentEntered(Some(segment_id));
            let occasion = EarningKey::segment(segment_id, customer_id, call.context.now);
            let event = "customer.segment.entered";
            let cause = EarningCause { what, event, occasion: &occasion, order_id: None };
            happen(call, customer_id, Earners::ANY, &cause)?;
        }
        DomainEvent::Changed { .. }
        | DomainEvent::Unpaid { .. }
        | DomainEvent::CalledOff { .. }
        | DomainEvent::Regrouped { .. } => {}
    }
    Ok(Reaction::default())
}

/// Updates the tiers of a customer whose segments may have changed.
pub fn update_tiers(call: &mut Call<'_, '_>, event: &DomainEvent) -> Result<Reaction, Fault> {
    if let DomainEvent::Regrouped { customer_id } = event {
        settle_tiers(call.store, &LocalTime::of(call)?, customer_id)?;
    }
    Ok(Reaction::default())
}

/// Returns a stored order; `None` when it is missing or cannot be read.
fn order(call: &Call<'_, '_>, order_id: &str) -> Result<Option<Order>, Fault> {
    let Some(document) = call.store.document("order", order_id)? else { return Ok(None) };
    readable(call.store, read_loaded("order", &document, read_order))
}

/// Event by which a customer may earn.
struct EarningCause<'a> {
    what: EarningEvent<'a>,
    /// Name of the event in the triggers of loyalty programs.
    event: &'a str,
    /// Key under which the event earns only once.
    occasion: &'a EarningKey,
    /// Order that the event is about, for the transactions of cards.
    order_id: Option<&'a str>,
}

/// Grants the points and incentives that a customer earns in loyalty programs by an event.
fn happen(call: &mut Call<'_, '_>, customer_id: &str, earners: Earners, cause: &EarningCause<'_>) -> Result<(), Fault> {
    let EarningCause { what, event, occasion, order_id } = *cause;
    if earners.campaigns {
        campaign_rules::happen(call, customer_id, earners, what, occasion)?;
    }
    if !earners.members {
        return Ok(());
    }
    let present = LocalTime::of(call)?;
    let asked = EarningQuery { customer_id, event, only: None, metadata: None };
    let mut memberships = Memberships::read(call.store, &asked)?;
    if memberships.is_idle() {
        return Ok(());
    }
    find_tiers(call, &present, &mut memberships)?;
    let Some(document) = call.store.document("customer", customer_id)? else { return Ok(()) };
    let seen = customer::before_orders(&document, earners.is_new);
    let Some(customer) = readable(call.store, read_loaded("customer", &seen, read_customer))? else { return Ok(()) };
    let earnings = {
        let facts = facts::facts(call)?;
        let stored = StoredEarnings::new(call.store, &facts, &present, &memberships);
        let event = Event { customer: &customer, what, occasion: Some(occasion) };
        let earnings = earn(&facts, &stored, event, call.context);
        stored.end()?;
        facts.end()?;
        earnings
    };
    if let Some(idle) = &earnings.idle {
        call.store.warn(format!("nothing is earned by `{}`: {}", occasion.as_str(), idle.word()));
    }
    let Memberships { rules, definitions, .. } = memberships;
    let cards = load_all(call.store, &earnings.cards())?;
    let handing = EventGrants::to(document, &present, definitions, cards, order_id);
    let bought = match what {
        EarningEvent::OrderPaid(order) => Some(OrderSnapshot::of(order)),
        EarningEvent::CustomEvent { .. } | EarningEvent::SegmentEntered(_) => None,
    };
    put(call, &earnings, &rules, handing, occasion, bought.as_ref())
}

/// Loads the current tiers of members whose rules depend on them; nothing is written.
pub fn find_tiers(call: &Call<'_, '_>, present: &LocalTime, memberships: &mut Memberships) -> Result<(), Fault> {
    for member_id in memberships.asking_tiers() {
        for tier in current_tiers::of_member(call.store, present, &member_id)? {
            memberships.put_tier(&member_id, tier);
        }
    }
    Ok(())
}

/// Queues the writes of all grants that can be fulfilled.
fn put(
    call: &mut Call<'_, '_>,
    earnings: &Earnings,
    rules: &Rules,
    mut handing: EventGrants<'_>,
    occasion: &EarningKey,
    bought: Option<&OrderSnapshot>,
) -> Result<(), Fault> {
    let now_ms = call.now_ms();
    statistics::count(call.store, &statistics::resting(earnings), now_ms);
    let mut fired: Vec<FiredRule<'_>> = Vec::new();
    for member in &earnings.memberships {
        for rule in &member.rules {
            let Ok(firing) = &rule.outcome else { continue };
            let owner = [member.member_id.as_str(), member.program_id.as_str()];
            let effects = effects_of(rules.get(rule.rule_id.as_str()).and_then(Option::as_deref), firing);
            let (mut counts, mut points) = (false, Vec::new());
            for (granted, effect) in firing.effects.iter().zip(effects) {
                match handing.hand(call, granted.as_ref(), effect, owner, &rule.rule_id)? {
                    EffectResult::Nothing => {}
                    EffectResult::Thing => counts = true,
                    EffectResult::Points(entry) => {
                        counts = true;
                        points.push(entry);
                    }
                }
            }
            points.extend(firing.absent.iter().map(fired_rules::absent));
            if counts || !points.is_empty() {
                let rule = [rule.rule_id.as_str(), firing.earning_id.as_str()];
                fired.push(FiredRule { member: owner, rule, points, gave: counts });
            }
        }
    }
    if !fired.is_empty() {
        fired_rules::put(call.store, occasion, bought, handing.customer_id(), &fired, now_ms)?;
    }
    Ok(())
}

/// Returns the effects of the earning that fired.
fn effects_of<'r>(rule: Option<&'r EarningRule>, firing: &FiredEarning) -> &'r [Effect] {
    let earnings = rule.map_or(&[][..], |rule| &rule.earnings);
    let earning = earnings.iter().find(|earning| earning.id == firing.earning_id);
    earning.map_or(&[], |earning| &earning.effects)
}

/// Activates points on a customer's cards that are pending until the custom event, and extends the expiration of points by activity.
fn wake(call: &mut Call<'_, '_>, customer_id: &str, schema_id: &str) -> Result<(), Fault> {
    let rows = call.store.list_active_cards(customer_id)?;
    if rows.is_empty() {
        return Ok(());
    }
    let present = LocalTime::of(call)?;
    let details = TransactionDetails::default();
    for row in rows {
        let mut held = load(call.store, row, &[])?;
        apply_event(call.store, &present, &mut held, schema_id, (&details, &mut call.ids))?;
    }
    Ok(())
}
