//! Decides which segments and which loyalty tiers the customer of a case is in. It must not know which rule asks.
//!
//! validation-rules.md section 12.

use crate::decide::case::Case;
use crate::facts::Known;
use crate::model::customer::Customer;
use crate::refusal::Refusal;
use crate::rules::{Clock, Segment};
use crate::text::{Text, joined};

/// Whether a customer is in a group, or why nobody can say.
pub enum Belongs {
    /// It is known.
    Is(bool),
    /// This fact is lacking.
    Lacks(Text),
    /// What is stored does not read.
    Unreadable(Option<Refusal>),
}

/// Whether the customer of a case is in a segment.
pub fn is_in_segment(case: &Case<'_>, id: &str) -> Belongs {
    let Some(customer) = case.buyer.customer.as_deref() else { return Belongs::Is(false) };
    match case.facts.segment(id) {
        Known::Is(segment) => is_among(case, customer, &segment),
        Known::Absent => Belongs::Is(false),
        Known::Unknown => Belongs::Lacks(joined(&["segment/", id])),
        Known::Unreadable => Belongs::Unreadable(Some(Refusal::unreadable("segment", id))),
    }
}

fn is_among(case: &Case<'_>, customer: &Customer, segment: &Segment) -> Belongs {
    if !case.work.takes(segment.size()) {
        return Belongs::Is(false);
    }
    // Of whom nothing is stored nothing was told.
    let who = customer.id.as_deref().unwrap_or_default();
    let mut events: Vec<(&Text, u64)> = Vec::new();
    for name in segment.events() {
        match case.facts.event_count(who, name) {
            Known::Is(count) => events.push((name, count)),
            Known::Absent => {}
            Known::Unknown => return Belongs::Lacks(joined(&["event/", name])),
            Known::Unreadable => return Belongs::Unreadable(None),
        }
    }
    let count = |name: &str| events.iter().find(|(known, _)| *known == name).map_or(0, |(_, count)| *count);
    let clock = Clock { now: case.context.now, zone: &case.zone, work: Some(&case.work) };
    Belongs::Is(segment.has(customer, &count, &clock))
}

/// Whether the customer of a case is in a loyalty tier; one of whom nothing is stored cannot be.
pub fn is_in_tier(case: &Case<'_>, id: &str) -> Belongs {
    let customer = case.buyer.customer.as_deref().and_then(|customer| customer.id.as_ref());
    let Some(customer) = customer else { return Belongs::Unreadable(None) };
    match case.facts.tiers(customer) {
        Known::Is(tiers) => Belongs::Is(tiers.iter().any(|tier| tier == id)),
        Known::Absent => Belongs::Is(false),
        Known::Unknown => Belongs::Lacks(joined(&["loyalty_tier/", id])),
        Known::Unreadable => Belongs::Unreadable(None),
    }
}
