//! Decides which segments and which loyalty tiers the customer of a case is in.
//!
//! docs/spec/validation-rules.md#12.

use std::borrow::Cow;

use crate::decide::case::Case;
use crate::decide::case::stored::Absence;
use crate::facts::Known;
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::order::Metadata;
use crate::refusal::Refusal;
use crate::rules::{Clock, Segment};
use crate::text::{Text, joined};

/// The membership of a customer in a group, or the reason why it is unknown.
pub enum GroupMembership {
    /// It is known.
    Is(bool),
    /// The result if the customer is new, which only the server knows.
    IfNew(bool),
    /// The profile that decides it is not read.
    Withheld,
    /// This fact is missing.
    Missing(Text),
    /// The stored data cannot be read.
    Unreadable(Option<Refusal>),
}

/// Returns whether the customer of a case is in a segment.
pub fn is_in_segment(case: &Case<'_>, id: &str) -> GroupMembership {
    let Some(customer) = case.request_customer.customer.as_deref() else { return GroupMembership::Is(false) };
    let segment = match case.facts.segment(id) {
        Known::Is(segment) => segment,
        Known::Absent => return GroupMembership::Is(false),
        Known::Unknown => return GroupMembership::Missing(joined(&["segment/", id])),
        Known::Unreadable => return GroupMembership::Unreadable(Some(Refusal::unreadable("segment", id))),
    };
    let absence = case.request_customer.absence();
    let is_sent = || case.request.customer.as_ref().is_some_and(|sent| segment.is_answered_by(sent));
    match absence {
        Absence::Withheld if !is_sent() => GroupMembership::Withheld,
        Absence::IfNew if !is_sent() => match is_member(case, customer, &segment) {
            GroupMembership::Is(is) => GroupMembership::IfNew(is),
            other => other,
        },
        Absence::Known | Absence::IfNew | Absence::Withheld => is_member(case, customer, &segment),
    }
}

fn is_member(case: &Case<'_>, customer: &Customer, segment: &Segment) -> GroupMembership {
    if !case.budget.spend(segment.size()) {
        return GroupMembership::Is(false);
    }
    let customer_id = customer.id.as_deref().unwrap_or_default();
    let with_document = |document: Metadata| Cow::Owned(Customer { document, ..customer.clone() });
    let customer = match case.request_customer.stored && segment.uses_balances() {
        false if case.request_customer.is_new() && segment.uses_profile() => {
            with_document(customer.stored_document(case.context.now))
        }
        false => Cow::Borrowed(customer),
        true => match case.facts.card_balances(customer_id) {
            Known::Is(balances) => {
                let mut document = customer.document.clone();
                let members = if let Node::Object(members) = &*balances { members.as_slice() } else { &[] };
                document.overlay(members.iter().map(|(name, value)| (name.as_ref(), value)));
                with_document(document)
            }
            Known::Absent => Cow::Borrowed(customer),
            Known::Unknown => return GroupMembership::Missing(joined(&["loyalty/", customer_id])),
            Known::Unreadable => return GroupMembership::Unreadable(None),
        },
    };
    // A new customer sent no event yet.
    let named = segment.events().filter(|_| !case.request_customer.is_new());
    let mut events: Vec<(&Text, u64)> = Vec::new();
    for name in named {
        match case.facts.event_count(customer_id, name) {
            Known::Is(count) => events.push((name, count)),
            Known::Absent => {}
            Known::Unknown => return GroupMembership::Missing(joined(&["event/", name])),
            Known::Unreadable => return GroupMembership::Unreadable(None),
        }
    }
    let count = |name: &str| events.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
    let clock =
        Clock { now: case.context.now, zone: &case.zone, zone_use: Some(&case.zone_use), budget: Some(&case.budget) };
    GroupMembership::Is(segment.has(&customer, &count, &clock))
}

/// Returns whether the customer of a case is in a loyalty tier; a new one is in none.
pub fn is_in_tier(case: &Case<'_>, id: &str) -> GroupMembership {
    if case.request_customer.is_new() {
        return match case.request_customer.absence() {
            Absence::Known => GroupMembership::Is(false),
            Absence::IfNew => GroupMembership::IfNew(false),
            Absence::Withheld => GroupMembership::Withheld,
        };
    }
    let customer = case.request_customer.customer.as_deref().and_then(|customer| customer.id.as_ref());
    let Some(customer) = customer else { return GroupMembership::Unreadable(None) };
    match case.facts.tiers(customer) {
        Known::Is(tiers) => GroupMembership::Is(tiers.iter().any(|tier| tier == id)),
        Known::Absent => GroupMembership::Is(false),
        Known::Unknown => GroupMembership::Missing(joined(&["loyalty_tier/", id])),
        Known::Unreadable => GroupMembership::Unreadable(None),
    }
}
