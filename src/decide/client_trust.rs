//! Decides how far a client is trusted: which parts of its request count, and which stored orders and codes it may use.
//! The key of a client is public, so its claims are not proof.

use crate::decide::case::Case;
use crate::decide::client_order::strip;
use crate::model::client::{ClientPolicy, CustomerTrust};
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order};
use crate::model::redeemable::{Grant, RedeemableTerms};
use crate::model::request::{Channel, Redeemables};
use crate::refusal::{Reason, Refusal};
use crate::text::{Text, joined};

/// Assigns a request to its channel, and removes the parts that a client must not send.
pub fn receive(request: &mut Redeemables, channel: Channel) -> Result<(), Refusal> {
    request.channel = channel;
    let Redeemables { channel: Channel { client: Some(client), .. }, customer, order, tracking_id, .. } = request
    else {
        return Ok(());
    };
    if let Some(order) = order {
        check_status(order, &client.policy)?;
        strip(order, order.id.is_some() && client.trusts_customer());
        if !client.trusts_customer() {
            order.referrer_id = None;
        }
    }
    match (&client.proven, client.policy.customers) {
        (Some(proven), _) => {
            let sent = customer.take().unwrap_or_default();
            let own = match &client.policy.own_fields {
                Some(fields) => own_only(&sent, fields),
                None => sent,
            };
            *customer = Some(with_proven_customer(own, proven));
            *tracking_id = None;
        }
        (None, CustomerTrust::Open) => {}
        (None, CustomerTrust::Named) => {
            client.email = customer.as_ref().and_then(|sent| sent.email_name()).map(Text::from);
            *customer = customer.take().map(|sent| only(&sent, &client.policy.customer_fields));
        }
        (None, CustomerTrust::Proven) => (*customer, *tracking_id) = (None, None),
    }
    Ok(())
}

fn check_status(order: &Order, terms: &ClientPolicy) -> Result<(), Refusal> {
    match order.status.filter(|status| !terms.order_statuses.contains(status)) {
        Some(status) => Err(forbidden_status(status.name(), terms)),
        None => Ok(()),
    }
}

#[cold]
fn forbidden_status(status: &str, terms: &ClientPolicy) -> Refusal {
    let allowed: Vec<&str> = terms.order_statuses.iter().map(|status| status.name()).collect();
    let allowed = allowed.join(", ");
    let details = format!("Property .order.status must be one of {allowed} (actual value is `{status}`)");
    Refusal::new(Reason::InvalidPayload, details)
}

/// Returns the sent fields of a customer with a token, under the name that it proves.
pub fn with_proven_customer(sent: Customer, name: &Text) -> Customer {
    let mut document = Metadata::default();
    document.overlay(sent.document.iter().filter(|(name, _)| *name != "id" && *name != "source_id"));
    Customer { id: None, source_id: Some(name.clone()), document, ..sent }
}

/// Returns the names of a customer, and those fields that the project accepts from a client.
fn only(sent: &Customer, fields: &[Text]) -> Customer {
    let mut reduced = Customer { id: sent.id.clone(), source_id: sent.source_id.clone(), ..Customer::default() };
    for field in fields {
        // A nested field is listed under its dotted name, by which it is found as well.
        match field.strip_prefix("metadata.") {
            Some(name) => copy_member(&sent.metadata, name, &mut reduced.metadata),
            None if field == "metadata" => reduced.metadata.clone_from(&sent.metadata),
            None => copy_member(&sent.document, field, &mut reduced.document),
        }
    }
    reduced
}

/// Returns the names of a proven customer, and those fields of the own profile that the project accepts.
fn own_only(sent: &Customer, fields: &[Text]) -> Customer {
    let is_own = |name: &str| fields.iter().any(|field| field == name);
    let mut own = Customer { id: sent.id.clone(), source_id: sent.source_id.clone(), ..Customer::default() };
    own.document.overlay(sent.document.iter().filter(|(name, _)| is_own(name)));
    let is_key = |key: &str| is_own("metadata") || is_own(&joined(&["metadata.", key]));
    own.metadata.overlay(sent.metadata.iter().filter(|(key, _)| is_key(key)));
    own
}

fn copy_member(from: &Metadata, name: &str, into: &mut Metadata) {
    if let Some(value) = from.find_dotted(name) {
        into.insert(name, value.clone());
    }
}

impl Case<'_> {
    /// Returns whether the caller may use every stored order.
    pub(super) fn may_read_orders(&self) -> bool {
        self.request.channel.client.as_ref().is_none_or(|client| client.is_open())
    }

    /// Returns whether the caller may use a stored order: a client only those of the proven customer.
    pub(super) fn may_touch(&self, stored: &Order) -> bool {
        let customer = || self.request_customer.customer.as_ref().filter(|_| self.request_customer.stored)?.id.as_ref();
        let is_proven = || self.request.channel.client.as_ref().is_some_and(|client| client.proven.is_some());
        self.may_read_orders()
            || is_proven() && stored.customer_id.is_some() && stored.customer_id.as_ref() == customer()
    }

    /// Returns whether a voucher does not exist for the caller. A client uses a loyalty card with a holder only as the
    /// proven holder. The exact code of a discount or a gift card is a bearer secret (docs/spec/calculation.md#19,
    /// D25); its id is none.
    pub(super) fn is_hidden(&self, incentive: &RedeemableTerms, name: &Text) -> bool {
        let (Some(client), Some(holder)) = (&self.request.channel.client, &incentive.holder_id) else { return false };
        let is_code =
            !matches!(incentive.grant, Grant::Loyalty(_)) && (*name == incentive.code || *name != incentive.id);
        let is_holder =
            || self.request_customer.customer.as_ref().is_some_and(|customer| customer.id.as_ref() == Some(holder));
        let may_use = is_code || client.is_open() || (client.proven.is_some() && is_holder());
        !may_use
    }
}
