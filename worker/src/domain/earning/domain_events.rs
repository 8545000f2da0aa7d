//! Detects domain events in the queued writes of a call: an order is paid, changed or canceled, a custom event arrives, a
//! customer enters a segment.
//!
//! Queued documents are compared with the stored ones, so that every route that pays an order is covered.
//! Segments with listed customers raise no events: no rule can refer to them before they are created, and their list never changes.
//! A customer who enters a segment by time alone enters it with the next write of the customer. The state before is evaluated
//! at the instant of the previous write.

use crate::domain::balances::kinds;
use crate::domain::caller;
use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::segments::is_in_segment;
use crate::domain::segments::read_stored_segment;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::documents::orders::OrderHistoryQuery;
use crate::store::queued::QueuedDocument;
use crate::store::sql::Fault;
use scrip::decide::earn::OrderTransition;
use scrip::decide::returns::is_returnable;
use scrip::facts::cards::paid_account;
use scrip::facts::earning::EarningKey;
use scrip::model::order::OrderStatus;
use scrip::time::Instant;
use serde::Deserialize;
use serde_json::Map;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of earning that are possible for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarningTargets {
    /// Earning as a member of loyalty programs (v2).
    pub members: bool,
    /// Earning by rules of loyalty campaigns (v1).
    pub campaigns: bool,
    /// True when the event stores the customer for the first time.
    pub is_new: bool,
}

impl EarningTargets {
    /// Both kinds are possible.
    pub const ANY: EarningTargets = EarningTargets { members: true, campaigns: true, is_new: false };
}

/// Event of a customer or an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DomainEvent {
    /// An order is paid.
    OrderPaid {
        /// The order.
        order_id: String,
        /// Id of the customer.
        customer_id: String,
        /// JSON text of the order.
        text: String,
        /// Kinds of earning that are possible.
        targets: EarningTargets,
    },
    /// A paid order that earned or spent points is written again, possibly with other amounts.
    OrderChanged {
        /// The order.
        order_id: String,
    },
    /// A paid order that earned or spent points is not paid any more; it may be paid again.
    OrderUnpaid {
        /// The order.
        order_id: String,
    },
    /// An order is canceled.
    OrderCanceled {
        /// The order.
        order_id: String,
    },
    /// A custom event arrived.
    CustomEventReceived {
        /// The event.
        event_id: String,
        /// Id of the customer.
        customer_id: String,
    },
    /// A customer is written whose tiers depend on segments, which may have changed.
    SegmentsChanged {
        /// Id of the customer.
        customer_id: String,
    },
    /// A customer starts to match the filter of a segment.
    SegmentEntered {
        /// The segment.
        segment_id: String,
        /// Id of the customer.
        customer_id: String,
    },
}

/// Members of an order that event detection reads.
#[derive(Deserialize)]
struct OrderStatusOnly {
    #[serde(default)]
    status: Option<String>,
}

/// Returns the order and custom events of the queued writes of a call.
pub fn detect_events(call: &Call<'_, '_>) -> Result<Vec<DomainEvent>, Fault> {
    // The last write of a document counts.
    let (mut orders, mut custom_events) = (BTreeMap::new(), Vec::new());
    for written in call.store.queued_documents() {
        match written.kind {
            "order" => drop(orders.insert(written.id, (written.holder, written.text))),
            "event" => custom_events.extend(written.holder.map(|customer| (written.id, customer))),
            _ => {}
        }
    }
    let mut events = Vec::new();
    for (order_id, (customer_id, text)) in orders {
        events.extend(detect_order_events(call, order_id, customer_id, text)?);
    }
    for (event_id, customer_id) in custom_events {
        let (event_id, customer_id) = (event_id.to_owned(), customer_id.to_owned());
        events.push(DomainEvent::CustomEventReceived { event_id, customer_id });
    }
    events.extend(detect_segment_events(call)?);
    Ok(events)
}

/// Queued change of a customer, of which segments may depend.
enum QueuedChange<'q> {
    /// The profile is written.
    Profile(QueuedDocument<'q>),
    /// A custom event of the customer is written.
    CustomEvent,
    /// The balance of a card changes.
    Balance,
}

/// Returns the segment events of the queued customers, custom events and balances of a call.
pub fn detect_segment_events(call: &Call<'_, '_>) -> Result<Vec<DomainEvent>, Fault> {
    let mut customers: BTreeMap<String, QueuedChange<'_>> = BTreeMap::new();
    for written in call.store.queued_documents() {
        match (written.kind, written.holder) {
            (kind, _) if kind == customer::CUSTOMER.object => {
                customers.insert(written.id.to_owned(), QueuedChange::Profile(written));
            }
            ("event", Some(customer)) => {
                customers.entry(customer.to_owned()).or_insert(QueuedChange::CustomEvent);
            }
            _ => {}
        }
    }
    for holder in list_holders_of_changed_cards(call)? {
        customers.entry(holder).or_insert(QueuedChange::Balance);
    }
    let mut events = Vec::new();
    for (customer_id, change) in customers {
        events.extend(detect_entered_segments(call, &customer_id, change)?);
    }
    Ok(events)
}

/// Returns the holders of the cards that are queued, or whose balance a queued transfer changes.
fn list_holders_of_changed_cards(call: &Call<'_, '_>) -> Result<BTreeSet<String>, Fault> {
    let (mut holders, mut known_cards) = (BTreeSet::new(), BTreeSet::new());
    for written in call.store.queued_documents().filter(|written| written.kind == VOUCHER.object) {
        known_cards.insert(written.id);
        if let Some(holder) = written.holder
            && kinds::of_card(&Document::read_queued(&written, call.now_ms())?).is_some()
        {
            holders.insert(holder.to_owned());
        }
    }
    for card in call.store.queued_transfers().filter_map(kinds::card_of_transfer) {
        if known_cards.insert(card) {
            holders.extend(call.store.document(VOUCHER.object, card)?.and_then(|card| card.holder));
        }
    }
    Ok(holders)
}

fn parse_status(name: Option<&str>) -> Option<OrderStatus> {
    let all = [OrderStatus::Created, OrderStatus::Paid, OrderStatus::Canceled, OrderStatus::Fulfilled];
    all.into_iter().find(|status| name == Some(status.name()))
}

/// Returns the events that the write of an order causes.
fn detect_order_events(
    call: &Call<'_, '_>,
    order_id: &str,
    customer_id: Option<&str>,
    text: &str,
) -> Result<Vec<DomainEvent>, Fault> {
    let order: OrderStatusOnly =
        serde_json::from_str(text).map_err(|error| Fault(format!("an order does not parse: {error}")))?;
    let Some(status) = parse_status(order.status.as_deref()) else { return Ok(Vec::new()) };
    if status == OrderStatus::Created {
        let unpaid = || DomainEvent::OrderUnpaid { order_id: order_id.to_owned() };
        let has_earned = call.store.has_earning_key(EarningKey::order(order_id).as_str())?;
        return Ok(has_earned.then(unpaid).into_iter().collect());
    }
    // A customer that an untrusted client names earns nothing.
    let earning_customer = customer_id.filter(|_| caller::trusts_customer(call));
    let may_change = earning_customer.is_some() && is_returnable(status);
    match OrderTransition::of(None, status) {
        None if !may_change => return Ok(Vec::new()),
        // The stored state is read only when it matters.
        Some(OrderTransition::Paid) if earning_customer.is_none() => return Ok(Vec::new()),
        None | Some(OrderTransition::Paid | OrderTransition::Canceled) => {}
    }
    // Most orders belong to no member, in projects without earning rules.
    let Some(history) = call.store.find_order_history(&OrderHistoryQuery {
        order_id,
        customer_id: earning_customer.unwrap_or_default(),
        earning_key: EarningKey::order(order_id).as_str(),
        payments: paid_account(order_id).as_str(),
    })?
    else {
        return Ok(Vec::new());
    };
    let stored_status = history.status.as_deref();
    let targets = EarningTargets {
        members: history.is_member,
        campaigns: history.has_campaign_rules,
        is_new: history.is_new_customer,
    };
    let may_change = may_change && history.has_points;
    let order_id = order_id.to_owned();
    let changed = may_change.then(|| DomainEvent::OrderChanged { order_id: order_id.clone() });
    let event = match (OrderTransition::of(parse_status(stored_status), status), earning_customer) {
        (Some(OrderTransition::Paid), Some(customer_id)) if targets.members || targets.campaigns => {
            let (customer_id, text) = (customer_id.to_owned(), text.to_owned());
            Some(DomainEvent::OrderPaid { order_id, customer_id, text, targets })
        }
        (Some(OrderTransition::Canceled), _) => Some(DomainEvent::OrderCanceled { order_id }),
        (Some(OrderTransition::Paid) | None, _) => None,
    };
    Ok(event.into_iter().chain(changed).collect())
}

/// Returns the segment events that the change of a customer causes.
fn detect_entered_segments(
    call: &Call<'_, '_>,
    customer_id: &str,
    change: QueuedChange<'_>,
) -> Result<Vec<DomainEvent>, Fault> {
    let awaited = call.store.list_awaited_segments(customer_id)?;
    if awaited.is_empty() {
        return Ok(Vec::new());
    }
    let before = call.store.document(customer::CUSTOMER.object, customer_id)?;
    let after = match (&change, &before) {
        (QueuedChange::Profile(written), _) => Document::read_queued(written, call.now_ms())?.body,
        (QueuedChange::CustomEvent | QueuedChange::Balance, Some(before)) => before.body.clone(),
        (QueuedChange::CustomEvent, None) => Map::new(),
        // The holder of a card may be a publication without a customer.
        (QueuedChange::Balance, None) => return Ok(Vec::new()),
    };
    let present = LocalTime::of(call)?;
    let now = present.now().at;
    // A balance changes without a write of the customer: changes by time alone are found by the next write.
    let is_written = !matches!(change, QueuedChange::Balance);
    let (mut by_tier, mut entered) = (false, Vec::new());
    for awaited_segment in awaited {
        by_tier |= awaited_segment.is_for_tiers;
        let Some(document) = awaited_segment.segment else { continue };
        let Some(segment) = read_stored_segment(call, &document)? else { continue };
        let was_in = |before: &Document| {
            let count = |customer: &str, event: &str| call.store.event_count(customer, event);
            // A customer who entered by time before a rule waited for it has not entered now.
            let last = before.updated_at.unwrap_or(before.created_at).max(awaited_segment.since_ms);
            let last = Instant::from_millis(last).filter(|_| is_written).map_or(now, |last| last.min(now));
            let balances =
                || Ok(kinds::find_balances(call.store, last, &[customer_id])?.remove(customer_id).unwrap_or_default());
            is_in_segment(&present.as_of(last), &segment, &before.body, &count, &balances)
        };
        let count = |customer: &str, event: &str| call.store.event_count_ahead(customer, event);
        let balances = || kinds::find_balances_with_queued(call.store, now, customer_id);
        let is_in = is_in_segment(&present, &segment, &after, &count, &balances)?;
        if is_in && !before.as_ref().map_or(Ok(false), was_in)? {
            entered.push(DomainEvent::SegmentEntered { segment_id: document.id, customer_id: customer_id.to_owned() });
        }
    }
    let changed = by_tier.then(|| DomainEvent::SegmentsChanged { customer_id: customer_id.to_owned() });
    Ok(changed.into_iter().chain(entered).collect())
}
