//! Decides what a request is about where something is stored under what it sent: the customer and the order. It must not
//! know redeemables.

use std::sync::Arc;

use crate::facts::{Fact, Facts, Known};
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::model::request::Redeemables;
use crate::refusal::Refusal;
use crate::text::{Text, joined};

/// The customer of a request.
#[derive(Debug, Clone, Default)]
pub struct Buyer<'a> {
    /// The stored profile under what the request sent; `None` without any customer.
    pub customer: Option<Fact<'a, Customer>>,
    /// Whether there is a stored profile.
    pub stored: bool,
    /// The name of the profile that only the server has.
    pub unknown: Option<Text>,
    /// Whom a page means by a name that nobody proves: they are counted, and nothing else of them is looked at. What rules see is
    /// `customer`, of whom nothing is stored.
    pub named: Option<Box<Buyer<'a>>>,
}

impl<'a> Buyer<'a> {
    /// Whether it can be said who this is: a stored profile, or one that is going to be stored under its `source_id`. An
    /// e-mail address names nobody (endpoints.md, S1), and an id that nothing has is given to nobody.
    pub fn is_identified(&self) -> bool {
        self.counted().unknown.is_some() || self.counted_as().is_some()
    }

    /// What counts the customer: the id, or the `source_id` of one who is new, for whom there can only be locks.
    pub fn counted_as(&self) -> Option<&Text> {
        let Buyer { customer, stored, unknown, .. } = self.counted();
        let customer = customer.as_ref()?;
        let source_id = customer.source_id.as_ref().filter(|source_id| !source_id.is_empty());
        customer.id.as_ref().filter(|_| *stored || unknown.is_some()).or(source_id)
    }

    /// Who is counted.
    pub fn counted(&self) -> &Buyer<'a> {
        self.named.as_deref().unwrap_or(self)
    }
}

/// What a request names its customer by: the id, else the `source_id`, else what pages are told of it.
pub fn customer_key(request: &Redeemables) -> Option<&str> {
    let named = request.customer.as_ref();
    let named = named.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    named.or(request.tracking_id.as_deref())
}

/// The stored customer under what the request sent; what is sent wins for this evaluation (endpoints.md, S1).
pub(super) fn find_buyer<'a>(
    facts: &dyn Facts,
    request: &'a Redeemables,
    unreadable: &mut Option<Refusal>,
) -> Result<Buyer<'a>, Refusal> {
    let page = request.channel.page.as_ref();
    if page.is_some_and(|page| !page.is_believed()) {
        return Ok(find_named(facts, request, unreadable));
    }
    let sent = request.customer.as_ref();
    let key = customer_key(request);
    let mut found = key.map_or(Known::Absent, |key| facts.customer(key));
    // A page that says two names is not told which of them somebody has: the first that somebody has counts.
    if let (Some(_), Known::Absent, Some(other)) = (page, &found, sent.and_then(|sent| sent.source_id.as_deref())) {
        found = facts.customer(other);
    }
    let mut unknown = None;
    match (&found, key) {
        (Known::Unknown, Some(key)) => unknown = Some(joined(&["customer/", key])),
        (Known::Unreadable, Some(key)) => *unreadable = Some(Refusal::unreadable("customer", key)),
        (Known::Is(_) | Known::Absent, _) | (_, None) => {}
    }
    let Some(stored) = found.found() else {
        if let Some(Customer { id: Some(_), source_id: Some(source_id), .. }) = sent
            && let Known::Is(other) = facts.customer(source_id)
            && other.source_id.as_ref() == Some(source_id)
        {
            return Err(Refusal::taken("customer", source_id));
        }
        return Ok(Buyer { customer: sent.map(Fact::Lent), unknown, ..Buyer::default() });
    };
    let mut customer = stored.into_owned();
    if let Some(sent) = sent {
        let overlaid = |name: &str| name != "id" && name != "metadata";
        let document = sent.document.iter().filter(|(name, value)| overlaid(name) && !value.is_null());
        customer.document.overlay(document);
        customer.metadata.overlay(sent.metadata.iter());
    }
    Ok(Buyer { customer: Some(Fact::Own(Arc::new(customer))), stored: true, unknown, named: None })
}

/// Whom a page names, without a proof: the first of the names that somebody has, and otherwise somebody new. Whether there is
/// anybody of the name, nothing but counts tells.
fn find_named<'a>(facts: &dyn Facts, request: &'a Redeemables, unreadable: &mut Option<Refusal>) -> Buyer<'a> {
    let sent = request.customer.as_ref();
    let seen = match sent {
        Some(sent) => Customer { id: None, source_id: None, ..sent.clone() },
        None if request.tracking_id.is_some() => Customer::default(),
        None => return Buyer::default(),
    };
    let own = [sent.and_then(|sent| sent.id.as_ref()), sent.and_then(|sent| sent.source_id.as_ref())];
    let tracked = request.tracking_id.as_ref().filter(|_| own.iter().all(Option::is_none));
    let names = || own.into_iter().flatten().chain(tracked).filter(|name| !name.is_empty());
    // Whoever is new is known by their own identifier afterwards.
    let new = Customer {
        source_id: own[1].filter(|name| !name.is_empty()).or(names().next()).cloned(),
        ..Customer::default()
    };
    let mut named = Buyer { customer: Some(Fact::Own(Arc::new(new))), ..Buyer::default() };
    for name in names() {
        match facts.customer(name) {
            Known::Is(stored) => {
                named.customer = Some(Fact::Own(Arc::new(stored.into_owned())));
                named.stored = true;
                break;
            }
            Known::Unknown => named.unknown = Some(joined(&["customer/", name])),
            Known::Unreadable => *unreadable = Some(Refusal::unreadable("customer", name)),
            Known::Absent => {}
        }
    }
    Buyer { customer: Some(Fact::Own(Arc::new(seen))), named: Some(Box::new(named)), ..Buyer::default() }
}

/// Whether an order of this `source_id` is stored, so that another one cannot be stored under it.
pub(super) fn is_taken(facts: &dyn Facts, source_id: &Text) -> bool {
    facts.order(source_id).found().is_some_and(|other| other.source_id.as_ref() == Some(source_id))
}

/// A stored order under what was sent. The amounts that it was stored with are for nobody's page to change (calculation.md
/// section 19, D13).
pub(super) fn overlaid(stored: Order, sent: &Order, client: bool) -> Order {
    if sent.id.is_none() {
        return Order { status: sent.status.or(stored.status), ..stored };
    }
    let mut order = stored;
    let has_lines = !sent.items.is_empty();
    let keeps = client && !has_lines && order.amount.is_some();
    if !keeps && (has_lines || sent.amount.is_some()) {
        order.amount = sent.amount;
        order.initial_amount = sent.initial_amount;
    }
    if has_lines {
        order.items = sent.items.clone();
    }
    if !keeps {
        order.discount_amount = sent.discount_amount.or(order.discount_amount);
    }
    order.status = sent.status.or(order.status);
    order.metadata.overlay(sent.metadata.iter());
    order
}
