//! Decides which customer and which order a request names: stored ones, under what the request sent of them. It must not
//! know what is redeemed.
//!
//! endpoints.md section 1, shape S1; calculation.md section 2.1.

use std::sync::Arc;

use crate::decide::case::Lacks;
use crate::facts::{Facts, Held, Known};
use crate::model::customer::Customer;
use crate::model::order::Order;
use crate::model::request::Redeemables;
use crate::refusal::Refusal;
use crate::text::{Text, joined};

/// The customer of a request.
#[derive(Debug, Clone, Default)]
pub struct Buyer<'a> {
    /// The stored profile under what the request sent; `None` without any customer.
    pub customer: Option<Held<'a, Customer>>,
    /// Whether there is a stored profile.
    pub stored: bool,
    /// The name of the profile that only the server has.
    pub unknown: Option<Text>,
}

impl Buyer<'_> {
    /// Whether it can be said who this is: a stored profile, or one that is going to be stored under its `source_id`. An
    /// e-mail address names nobody (endpoints.md, S1), and an id that nothing has is given to nobody.
    pub fn is_identified(&self) -> bool {
        self.unknown.is_some() || self.counted_as().is_some()
    }

    /// What counts the customer: the id, or the `source_id` of one who is new, for whom there can only be locks.
    pub fn counted_as(&self) -> Option<&Text> {
        let customer = self.customer.as_ref()?;
        let has_id = self.stored || self.unknown.is_some();
        let source_id = customer.source_id.as_ref().filter(|source_id| !source_id.is_empty());
        customer.id.as_ref().filter(|_| has_id).or(source_id)
    }
}

/// What a request names its customer by: the id, else the `source_id`, else what pages are told of it.
pub fn customer_key(request: &Redeemables) -> Option<&str> {
    let named = request.customer.as_ref();
    let named = named.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    named.or(request.tracking_id.as_deref())
}

/// The stored customer under what the request sent; what is sent wins for this evaluation (endpoints.md, S1).
pub(super) fn find_buyer<'a>(facts: &dyn Facts, request: &'a Redeemables) -> Result<Buyer<'a>, Refusal> {
    let sent = request.customer.as_ref();
    let key = customer_key(request);
    let found = key.map_or(Known::Absent, |key| facts.customer(key));
    let unknown = match (&found, key) {
        (Known::Unknown, Some(key)) => Some(joined(&["customer/", key])),
        _ => None,
    };
    let Some(stored) = found.is() else {
        if let Some(Customer { id: Some(_), source_id: Some(source_id), .. }) = sent
            && let Known::Is(other) = facts.customer(source_id)
            && other.source_id.as_ref() == Some(source_id)
        {
            return Err(Refusal::taken("customer", source_id));
        }
        return Ok(Buyer { customer: sent.map(Held::Lent), stored: false, unknown });
    };
    let mut customer = stored.into_owned();
    if let Some(sent) = sent {
        let overlaid = |name: &str| name != "id" && name != "metadata";
        let document = sent.document.iter().filter(|(name, value)| overlaid(name) && !value.is_null());
        customer.document.overlay(document);
        customer.metadata.overlay(sent.metadata.iter());
    }
    Ok(Buyer { customer: Some(Held::Own(Arc::new(customer))), stored: true, unknown })
}

/// The order of the request (calculation.md section 2.1): of a stored one named by `id`, what is sent wins; of one
/// named by `source_id`, what is stored.
pub(super) fn find_order<'a>(
    facts: &dyn Facts,
    sent: Option<&'a Order>,
    lacks: &mut Lacks,
) -> Result<Option<Held<'a, Order>>, Refusal> {
    let Some(sent) = sent else { return Ok(None) };
    let key = sent.id.as_deref().or(sent.source_id.as_deref());
    let Some(key) = key else { return Ok(Some(Held::Lent(sent))) };
    let stored = match facts.order(key) {
        Known::Is(stored) => stored.into_owned(),
        Known::Absent => {
            if let (Some(_), Some(source_id)) = (&sent.id, &sent.source_id)
                && let Known::Is(other) = facts.order(source_id)
                && other.source_id.as_ref() == Some(source_id)
            {
                return Err(Refusal::taken("order", source_id));
            }
            return Ok(Some(Held::Lent(sent)));
        }
        Known::Unknown => {
            lacks.add(joined(&["order/", key]));
            return Ok(Some(Held::Lent(sent)));
        }
    };
    if sent.id.is_none() {
        return Ok(Some(Held::Own(Arc::new(Order { status: sent.status.or(stored.status), ..stored }))));
    }
    let replaced = !sent.items.is_empty() || sent.amount.is_some();
    let mut order = stored;
    if replaced {
        order.amount = sent.amount;
        order.initial_amount = sent.initial_amount;
    }
    if !sent.items.is_empty() {
        order.items = sent.items.clone();
    }
    order.discount_amount = sent.discount_amount.or(order.discount_amount);
    order.status = sent.status.or(order.status);
    order.metadata.overlay(sent.metadata.iter());
    Ok(Some(Held::Own(Arc::new(order))))
}
