//! What happens by what a call writes that somebody may earn by: an order is paid or called off, an event is told of, a customer enters
//! a segment. It must not know who earns what, nor which route wrote it.
//!
//! What is about to be written is held against what is stored, so that no way to pay an order can be forgotten. Nobody enters a
//! segment of listed customers, as the list never changes; and whoever comes into one by time alone has not entered by a call.

use crate::http::route::Call;
use crate::shop::lives::{EARNING_RULE, MEMBER};
use crate::shop::membership::{Present, segment_of};
use crate::shop::{customers, decision};
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use scrip::decide::earn::Turn;
use scrip::decide::returned::may_come_back;
use scrip::facts::cards::paid_account;
use scrip::facts::earning::Occasion;
use scrip::model::order::OrderStatus;
use serde::Deserialize;
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// Something that happened to a customer or an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Occurrence {
    /// An order is paid.
    Paid {
        /// The order.
        order_id: String,
        /// Whose it is.
        customer_id: String,
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
    let (mut orders, mut told, mut customers) = (BTreeMap::new(), Vec::new(), BTreeMap::new());
    for written in call.store.written() {
        match written.kind {
            "order" => drop(orders.insert(written.id, (written.holder, written.text))),
            "event" => told.extend(written.holder.map(|customer| (written.id, customer))),
            kind if kind == customers::CUSTOMER.object => drop(customers.insert(written.id, written.text)),
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
    for (customer_id, text) in customers {
        for segment_id in entered(call, customer_id, text)? {
            noticed.push(Occurrence::Entered { segment_id, customer_id: customer_id.to_owned() });
        }
    }
    Ok(noticed)
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
        "SELECT (SELECT json_extract(body, '$.status') FROM document WHERE kind = 'order' AND id = ?1),
           EXISTS (SELECT 1 FROM document WHERE kind = ?2 AND holder = ?3) OR EXISTS (SELECT 1 FROM document WHERE kind = 'earning_rule'),
           EXISTS (SELECT 1 FROM document WHERE kind = 'earning_occasion' AND id = ?4) OR EXISTS (SELECT 1 FROM transfer WHERE credit = ?5)",
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
    let (was, is_earned) = (sql::text_or_null(&row, 0)?, sql::int(&row, 1)? == 1);
    let may_change = may_change && sql::int(&row, 2)? == 1;
    let order_id = order_id.to_owned();
    let changed = may_change.then(|| Occurrence::Changed { order_id: order_id.clone() });
    let turned = match (Turn::of(status_of(was), is), earns) {
        (Some(Turn::Paid), Some(customer_id)) if is_earned => {
            Some(Occurrence::Paid { order_id, customer_id: customer_id.to_owned() })
        }
        (Some(Turn::CalledOff), _) => Some(Occurrence::CalledOff { order_id }),
        (Some(Turn::Paid) | None, _) => None,
    };
    Ok(turned.into_iter().chain(changed).collect())
}

/// The segments that an earning rule waits for and that a customer enters by being written so.
fn entered(call: &Call<'_, '_>, customer_id: &str, text: &str) -> Result<Vec<String>, Fault> {
    // There are few rules that wait for an entry, and a customer has few memberships: from the former, the latter is one look-up each.
    let awaited: Vec<Document> = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'segment' AND id IN (
           SELECT json_extract(rule.body, '$.trigger.segment.id') FROM document AS rule
           CROSS JOIN document AS assigned ON assigned.kind = ?3 AND assigned.holder = rule.id
           CROSS JOIN document AS member ON member.kind = ?1 AND member.key = assigned.parent || '/' || ?2
           WHERE rule.kind = ?4 AND rule.parent = 'customer.segment.entered' AND json_extract(rule.body, '$.status') = 'ACTIVE'
           UNION ALL SELECT json_extract(body, '$.segment.id') FROM document
           WHERE kind = 'earning_rule' AND json_extract(body, '$.active'))
         ORDER BY seq",
        &[
            MEMBER.stored.into(),
            customer_id.into(),
            EARNING_RULE.assigned.unwrap_or_default().into(),
            EARNING_RULE.stored.into(),
        ],
    )?;
    let filtered = awaited.into_iter().filter(|segment| segment.body.get("filter").is_some_and(Json::is_object));
    let filtered: Vec<Document> = filtered.collect();
    if filtered.is_empty() {
        return Ok(Vec::new());
    }
    let after: Map<String, Json> =
        serde_json::from_str(text).map_err(|error| Fault(format!("a customer does not parse: {error}")))?;
    let before = call.store.document(customers::CUSTOMER.object, customer_id)?;
    let present = Present::of(call)?;
    let mut entered = Vec::new();
    for document in filtered {
        let Some(segment) = segment_of(call, &document)? else { continue };
        let was_in = before.as_ref().is_some_and(|before| present.is_in_segment(&segment, &before.body));
        if !was_in && present.is_in_segment(&segment, &after) {
            entered.push(document.id);
        }
    }
    Ok(entered)
}
