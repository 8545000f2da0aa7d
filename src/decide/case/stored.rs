//! Finds the stored customer and the stored order of a request, and merges the sent fields into them.

use std::sync::Arc;

use crate::decide::client_order::copy_computed_amounts;
use crate::facts::{Fact, Facts, Known};
use crate::json::Node;
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::model::request::Redeemables;
use crate::refusal::Refusal;
use crate::text::{Text, fold, joined};

/// The ways to identify a customer, as refusals name them: see [`RequestCustomer::is_identified`].
pub(in crate::decide) const IDENTIFIED: &str =
    "A customer with a source_id, with an e-mail address, or with the id of a stored one, is";

/// The customer of a request.
#[derive(Debug, Clone, Default)]
pub struct RequestCustomer<'a> {
    /// The stored profile with the sent fields over it; `None` without any customer. A new profile does not have the fields that
    /// the service maintains: [`Customer::stored_document`] adds them.
    pub customer: Option<Fact<'a, Customer>>,
    /// `true` if a profile is stored.
    pub stored: bool,
    /// The fact that names the profile, if only the server has it.
    pub unknown: Option<Text>,
    /// The e-mail address with folded case, if the request identifies the customer by nothing else.
    pub email: Option<Text>,
    /// The customer that a client names without proof. They are counted, and no other data of them is read. Rules see
    /// `customer`, which has no stored data.
    pub named: Option<Box<RequestCustomer<'a>>>,
}

/// The meaning of absent data about a customer for a condition that needs it (docs/spec/calculation.md#19, D21).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The customer has no such data.
    Known,
    /// The customer has no such data if they are new; only the server knows whether they are.
    IfNew,
    /// A client named a stored customer without proof: the profile is not read, and the condition fails.
    Withheld,
}

impl<'a> RequestCustomer<'a> {
    /// Returns whether the customer can be distinguished from others: a stored profile, or one that will be stored
    /// under its `source_id` or e-mail address. An id without a stored profile identifies no customer.
    pub fn is_identified(&self) -> bool {
        self.counted().unknown.is_some() || self.counted_name().is_some()
    }

    /// Returns the name that the customer is counted by. It is the id, or the `source_id` or e-mail address of a new
    /// customer, who can only have locks.
    pub fn counted_name(&self) -> Option<&Text> {
        let RequestCustomer { customer, stored, unknown, email, .. } = self.counted();
        let customer = customer.as_ref()?;
        let source_id = customer.source_id.as_ref().filter(|source_id| !source_id.is_empty());
        customer.id.as_ref().filter(|_| *stored || unknown.is_some()).or(source_id).or(email.as_ref())
    }

    /// Takes over the profile that is found under a name, or records that only the server has it.
    fn find(&mut self, name: &str, found: Known<Fact<'_, Customer>>, unreadable: &mut Option<Refusal>) {
        match found {
            Known::Is(stored) => {
                self.customer = Some(Fact::own(stored.into_owned()));
                self.stored = true;
            }
            Known::Unknown => self.unknown = Some(joined(&["customer/", name])),
            Known::Unreadable => *unreadable = Some(Refusal::unreadable("customer", name)),
            Known::Absent => {}
        }
    }

    /// Returns the meaning of absent data about the customer.
    pub fn absence(&self) -> Absence {
        match self.named.as_deref() {
            Some(named) if named.stored => Absence::Withheld,
            Some(named) if named.unknown.is_some() => Absence::IfNew,
            Some(_) | None => Absence::Known,
        }
    }

    /// Returns whether the request names the customer for the first time.
    pub fn is_new(&self) -> bool {
        self.customer.is_some() && !self.stored && self.unknown.is_none()
    }

    /// Returns the customer who is counted.
    pub fn counted(&self) -> &RequestCustomer<'a> {
        self.named.as_deref().unwrap_or(self)
    }
}

/// Returns the e-mail address with folded case, if a request identifies its customer by nothing else but a tracking id.
pub fn customer_email(request: &Redeemables) -> Option<Text> {
    let by_client = request.channel.client.as_ref().and_then(|client| client.email.as_deref());
    let email = by_client.or_else(|| request.customer.as_ref().and_then(Customer::email_name));
    email.map(|email| Text::from(fold(email)))
}

/// Returns the name of the customer in a request: the id, else the `source_id`, else the tracking id.
pub fn customer_key(request: &Redeemables) -> Option<&str> {
    let named = request.customer.as_ref();
    let named = named.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    named.or(request.tracking_id.as_deref())
}

/// Finds the stored customer of the request; the sent fields win for this evaluation (docs/spec/endpoints.md, S1). A
/// customer who is not stored has the profile that the request would create.
pub(in crate::decide) fn find_request_customer<'a>(
    facts: &dyn Facts,
    request: &'a Redeemables,
    unreadable: &mut Option<Refusal>,
) -> Result<RequestCustomer<'a>, Refusal> {
    let client = request.channel.client.as_ref();
    if client.is_some_and(|client| !client.trusts_customer()) {
        return Ok(find_named(facts, request, unreadable));
    }
    let sent = request.customer.as_ref();
    let mut key = customer_key(request);
    let mut found = key.map_or(Known::Absent, |key| facts.customer(key));
    // A client that sends two names must not learn which of them exists: the first that exists counts.
    if let (Some(_), Known::Absent, Some(other)) = (client, &found, sent.and_then(|sent| sent.source_id.as_deref())) {
        found = facts.customer(other);
    }
    let email = customer_email(request).filter(|_| matches!(found, Known::Absent));
    if let Some(email) = email.as_deref() {
        found = facts.customer_by_email(email);
        key = Some(email);
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
            return Err(Refusal::duplicate("customer", source_id));
        }
        let customer = match unknown {
            Some(_) => sent.map(Fact::Borrowed),
            None => sent.map(|sent| Fact::own(sent.new_profile())),
        };
        return Ok(RequestCustomer { customer, unknown, email, ..RequestCustomer::default() });
    };
    let mut customer = stored.into_owned();
    if let Some(sent) = sent {
        customer.document.overlay(sent.sent_profile());
        customer.has_metadata |= !sent.metadata.is_empty();
        customer.metadata.overlay(sent.metadata.iter());
    }
    Ok(RequestCustomer { customer: Some(Fact::Shared(Arc::new(customer))), stored: true, unknown, email, named: None })
}

/// Returns the customer that a client names without a proof: the first of the names that exists, and otherwise a new
/// one. Rules see a new customer with the fields that the client may send. [`RequestCustomer::absence`] defines their
/// meaning if a profile is stored.
fn find_named<'a>(
    facts: &dyn Facts,
    request: &'a Redeemables,
    unreadable: &mut Option<Refusal>,
) -> RequestCustomer<'a> {
    let sent = request.customer.as_ref();
    let customer = match sent {
        Some(sent) => Customer { source_id: None, ..sent.new_profile() },
        None if request.tracking_id.is_some() => Customer::default().new_profile(),
        None => return RequestCustomer::default(),
    };
    let own = [sent.and_then(|sent| sent.id.as_ref()), sent.and_then(|sent| sent.source_id.as_ref())];
    let tracked = request.tracking_id.as_ref().filter(|_| own.iter().all(Option::is_none));
    let names = || own.into_iter().flatten().chain(tracked).filter(|name| !name.is_empty());
    // A new customer is known by their own identifier afterwards.
    let new = Customer {
        source_id: own[1].filter(|name| !name.is_empty()).or(names().next()).cloned(),
        ..Customer::default()
    };
    let mut named = RequestCustomer { customer: Some(Fact::own(new)), ..RequestCustomer::default() };
    for name in names() {
        named.find(name, facts.customer(name), unreadable);
        if named.stored {
            break;
        }
    }
    let email = customer_email(request).filter(|_| !named.stored && named.unknown.is_none());
    if let Some(email) = email {
        // Only the names of a new customer are stored: the address is one.
        let sent = request.channel.client.as_ref().and_then(|client| client.email.clone());
        let mut new = named.customer.take().map(Fact::into_owned).unwrap_or_default();
        new.document.insert("email", sent.map_or(Node::Null, |email| Node::Text(email.to_string().into())));
        named.customer = Some(Fact::own(new));
        named.find(&email, facts.customer_by_email(&email), unreadable);
        named.email = Some(email);
    }
    RequestCustomer {
        customer: Some(Fact::Shared(Arc::new(customer))),
        named: Some(Box::new(named)),
        ..RequestCustomer::default()
    }
}

/// Returns whether an order with this `source_id` is stored, so that no other can be stored under it.
pub(in crate::decide) fn is_taken(facts: &dyn Facts, source_id: &Text) -> bool {
    facts.order(source_id).found().is_some_and(|other| other.source_id.as_ref() == Some(source_id))
}

/// Returns a stored order with the sent fields over it. A client cannot change the stored amounts
/// (docs/spec/calculation.md section 19, D13).
pub(in crate::decide) fn merge_stored_order(stored: Order, sent: &Order, client: bool) -> Order {
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
        let stored = std::mem::replace(&mut order.items, sent.items.clone());
        if client {
            copy_computed_amounts(&stored, &mut order.items);
        }
    }
    if !keeps {
        order.discount_amount = sent.discount_amount.or(order.discount_amount);
    }
    order.status = sent.status.or(order.status);
    order.metadata.overlay(sent.metadata.iter());
    order
}
