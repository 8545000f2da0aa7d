//! What happens by what a call writes that somebody may earn by: an order is paid or called off, an event is told of, a customer enters
//! a segment. It must not know who earns what, nor which route wrote it.
//!
//! What is about to be written is held against what is stored, so that no way to pay an order can be forgotten. Nobody enters a
//! segment of listed customers: when it is made nothing waits for it yet, and the list never changes. Whoever comes into a segment by
//! time alone enters it with the next write of theirs: what they were is asked of the moment of the last one.

use crate::http::route::Call;
use crate::shop::lives::{EARNING_RULE, MEMBER, TIER, TIER_STRUCTURE};
use crate::shop::membership::{Present, segment_of};
use crate::shop::{customers, decision, zone};
use crate::store::document::{self, Document};
use crate::store::sql::{self, Fault};
use scrip::decide::earn::Turn;
use scrip::decide::returned::may_come_back;
use scrip::facts::cards::paid_account;
use scrip::facts::earning::Occasion;
use scrip::model::order::OrderStatus;
use scrip::time::Instant;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// In which ways somebody may earn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Earners {
    /// As a member of programs.
    pub members: bool,
    /// By earning rules of campaigns.
    pub campaigns: bool,
}

impl Earners {
    /// Nothing is known that speaks against either.
    pub const ANY: Earners = Earners { members: true, campaigns: true };
}

/// Something that happened to a customer or an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occurrence {
    /// An order is paid.
    Paid {
        /// The order.
        order_id: String,
        /// Whose it is.
        customer_id: String,
        /// What it says.
        text: String,
        /// Who may earn by it.
        earners: Earners,
    },
    /// An order that was paid, with points or so that it earned, is written anew, and less may be left of it.
    Changed {
        /// The order.
        order_id: String,
    },
    /// An order is called off.
    CalledOff {
        /// The order.
        order_id: String,
    },
    /// A custom event was told of.
    Told {
        /// The event.
        event_id: String,
        /// Of whom.
        customer_id: String,
    },
    /// A customer is written whose tiers ask for segments: they may be in others now.
    Regrouped {
        /// Who.
        customer_id: String,
    },
    /// A customer has come to pass the filter of a segment.
    Entered {
        /// The segment.
        segment_id: String,
        /// Who.
        customer_id: String,
    },
}

/// The members of an order that are looked at.
#[derive(Deserialize)]
struct Standing {
    #[serde(default)]
    status: Option<String>,
}

/// What happens by what the call has written so far, none of which is in the store yet.
pub fn noticed(call: &Call<'_, '_>) -> Result<Vec<Occurrence>, Fault> {
    // A document that is written twice is what it was written as last.
    let (mut orders, mut told) = (BTreeMap::new(), Vec::new());
    for written in call.store.written() {
        match written.kind {
            "order" => drop(orders.insert(written.id, (written.holder, written.text))),
            "event" => told.extend(written.holder.map(|customer| (written.id, customer))),
            _ => {}
        }
    }
    let mut noticed = Vec::new();
    for (order_id, (customer_id, text)) in orders {
        noticed.extend(turned(call, order_id, customer_id, text)?);
    }
    for (event_id, customer_id) in told {
        let (event_id, customer_id) = (event_id.to_owned(), customer_id.to_owned());
        noticed.push(Occurrence::Told { event_id, customer_id });
    }
    noticed.extend(brought(call)?);
    Ok(noticed)
}

/// What happens by how customers are written and what is told of them, as far as nothing of it is in the store yet.
pub fn brought(call: &Call<'_, '_>) -> Result<Vec<Occurrence>, Fault> {
    let mut customers: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for written in call.store.written() {
        match (written.kind, written.holder) {
            (kind, _) if kind == customers::CUSTOMER.object => drop(customers.insert(written.id, Some(written.text))),
            ("event", Some(customer)) => drop(customers.entry(customer).or_default()),
            _ => {}
        }
    }
    let mut brought = Vec::new();
    for (customer_id, text) in customers {
        brought.extend(turned_into(call, customer_id, text)?);
    }
    Ok(brought)
}

fn status_of(word: Option<&str>) -> Option<OrderStatus> {
    let all = [OrderStatus::Created, OrderStatus::Paid, OrderStatus::Canceled, OrderStatus::Fulfilled];
    all.into_iter().find(|status| word == Some(status.name()))
}

/// What it means that an order is written so.
fn turned(
    call: &Call<'_, '_>,
    order_id: &str,
    customer_id: Option<&str>,
    text: &str,
) -> Result<Vec<Occurrence>, Fault> {
    let standing: Standing =
        serde_json::from_str(text).map_err(|error| Fault(format!("an order does not parse: {error}")))?;
    let Some(is) = status_of(standing.status.as_deref()) else { return Ok(Vec::new()) };
    // Nothing comes to whom a page only names.
    let earns = customer_id.filter(|_| decision::is_believed(call));
    let may_change = earns.is_some() && may_come_back(is);
    match Turn::of(None, is) {
        None if !may_change => return Ok(Vec::new()),
        // What it was is asked for when it matters alone.
        Some(Turn::Paid) if earns.is_none() => return Ok(Vec::new()),
        None | Some(Turn::Paid | Turn::CalledOff) => {}
    }
    // Most orders are of somebody who is in no program, in a project whose campaigns have no earning rules.
    let Some(row) = call.store.row(
        "SELECT (SELECT json_extract(body, '$.status') FROM document WHERE kind = 'order' AND id = +?1),
           EXISTS (SELECT 1 FROM document WHERE kind = +?2 AND holder = +?3), EXISTS (SELECT 1 FROM document WHERE kind = 'earning_rule'),
           EXISTS (SELECT 1 FROM earning_occasion WHERE id = +?4) OR EXISTS (SELECT 1 FROM transfer WHERE credit = +?5)",
        &[
            order_id.into(),
            MEMBER.stored.into(),
            earns.unwrap_or_default().into(),
            Occasion::order(order_id).as_str().into(),
            paid_account(order_id).to_string().into(),
        ],
    )?
    else {
        return Ok(Vec::new());
    };
    let was = sql::text_or_null(&row, 0)?;
    let earners = Earners { members: sql::int(&row, 1)? == 1, campaigns: sql::int(&row, 2)? == 1 };
    let may_change = may_change && sql::int(&row, 3)? == 1;
    let order_id = order_id.to_owned();
    let changed = may_change.then(|| Occurrence::Changed { order_id: order_id.clone() });
    let turned = match (Turn::of(status_of(was), is), earns) {
        (Some(Turn::Paid), Some(customer_id)) if earners.members || earners.campaigns => {
            let (customer_id, text) = (customer_id.to_owned(), text.to_owned());
            Some(Occurrence::Paid { order_id, customer_id, text, earners })
        }
        (Some(Turn::CalledOff), _) => Some(Occurrence::CalledOff { order_id }),
        (Some(Turn::Paid) | None, _) => None,
    };
    Ok(turned.into_iter().chain(changed).collect())
}

/// The segments with a filter that something of a customer's waits for: whether tiers ask for them, whether earning rules do, and since
/// when. There are few rules that wait for an entry, and a customer has few memberships: from the former, the latter is one look-up each.
const AWAITED: &str = "WITH awaited (id, by_tier, since) AS (
      SELECT json_extract(rule.body, '$.trigger.segment.id'), 0,
        MAX(COALESCE(rule.updated_at, rule.created_at), assigned.created_at, COALESCE(member.updated_at, member.created_at))
      FROM document AS rule
      CROSS JOIN document AS assigned ON assigned.kind = +?3 AND assigned.holder = rule.id
      CROSS JOIN document AS member ON member.kind = +?1 AND member.key = assigned.parent || '/' || ?2
      WHERE rule.kind = +?4 AND rule.parent = 'customer.segment.entered' AND json_extract(rule.body, '$.status') = 'ACTIVE'
      UNION ALL SELECT json_extract(body, '$.segment.id'), 0, COALESCE(updated_at, created_at) FROM document
      WHERE kind = 'earning_rule' AND json_extract(body, '$.active')
      UNION ALL SELECT json_extract(tier.body, '$.qualification_rules.segment.id'), 1, 0 FROM document AS member
      CROSS JOIN document AS assigned ON assigned.kind = +?5 AND assigned.parent = member.parent
      CROSS JOIN document AS tier ON tier.kind = +?6 AND tier.parent = assigned.holder
      WHERE member.kind = +?1 AND member.holder = +?2)
    SELECT segment.id, segment.key, segment.parent, segment.holder, segment.created_at, segment.updated_at, segment.body,
      MAX(awaited.by_tier), MIN(awaited.by_tier), MAX(awaited.since) FROM awaited
    CROSS JOIN document AS segment ON segment.kind = 'segment' AND segment.id = awaited.id
    WHERE json_extract(segment.body, '$.type') <> 'static' GROUP BY segment.seq ORDER BY segment.seq";

/// What it means that a customer is written so, or that something is told of one who stays as it is.
fn turned_into(call: &Call<'_, '_>, customer_id: &str, text: Option<&str>) -> Result<Vec<Occurrence>, Fault> {
    let awaited = call.store.rows(
        AWAITED,
        &[
            MEMBER.stored.into(),
            customer_id.into(),
            EARNING_RULE.assigned.unwrap_or_default().into(),
            EARNING_RULE.stored.into(),
            TIER_STRUCTURE.assigned.unwrap_or_default().into(),
            TIER.into(),
        ],
    )?;
    if awaited.is_empty() {
        return Ok(Vec::new());
    }
    let before = call.store.document(customers::CUSTOMER.object, customer_id)?;
    let after: Map<String, Json> = match text {
        Some(text) => {
            serde_json::from_str(text).map_err(|error| Fault(format!("a customer does not parse: {error}")))?
        }
        None => before.as_ref().map(|before| before.body.clone()).unwrap_or_default(),
    };
    let (now, zone) = (call.context.now, zone::of(call)?);
    let (mut by_tier, mut entered) = (false, Vec::new());
    for row in &awaited {
        by_tier |= sql::int(row, 7)? == 1;
        if sql::int(row, 8)? == 1 {
            continue;
        }
        let document = document::read(row)?;
        let Some(segment) = segment_of(call, &document)? else { continue };
        let since = sql::int(row, 9)?;
        let was_in = |before: &Document| {
            let count = |who: &str, event: &str| call.store.event_count(who, event);
            // Who came in by time before anybody waited for that has not entered now.
            let last = before.updated_at.unwrap_or(before.created_at).max(since);
            let last = Instant::from_millis(last).map_or(now, |last| last.min(now));
            Present::at(last, Arc::clone(&zone)).is_in_segment(&segment, &before.body, &count)
        };
        let count = |who: &str, event: &str| call.store.event_count_ahead(who, event);
        let is_in = Present::at(now, Arc::clone(&zone)).is_in_segment(&segment, &after, &count)?;
        if is_in && !before.as_ref().map_or(Ok(false), was_in)? {
            entered.push(Occurrence::Entered { segment_id: document.id, customer_id: customer_id.to_owned() });
        }
    }
    let changed = by_tier.then(|| Occurrence::Regrouped { customer_id: customer_id.to_owned() });
    Ok(changed.into_iter().chain(entered).collect())
}
