//! Decides how far a page is believed: what of its request counts, which stored orders are there for it, and which codes. A page's
//! key is public, so that what it says is anybody's word. It must not know what a request leads to.

use crate::decide::case::Case;
use crate::facts::Known;
use crate::model::customer::Customer;
use crate::model::incentive::{CampaignType, Incentive};
use crate::model::order::{Metadata, Order};
use crate::model::page::{Belief, Terms};
use crate::model::request::{Channel, Redeemables};
use crate::refusal::{Reason, Refusal};
use crate::text::{Text, joined};

/// Takes a request as it came through a channel: of a page's, what counts of it is left.
pub fn receive(request: &mut Redeemables, channel: Channel) -> Result<(), Refusal> {
    request.channel = channel;
    let Redeemables { channel: Channel { page: Some(page), .. }, customer, order, tracking_id, .. } = request else {
        return Ok(());
    };
    if let Some(order) = order {
        check_status(order, &page.terms)?;
        take_part(order, page.is_believed());
    }
    match (&page.proven, page.terms.customers) {
        (Some(proven), _) => {
            *customer = Some(proved(customer.take().unwrap_or_default(), proven));
            *tracking_id = None;
        }
        (None, Belief::Open) => {}
        (None, Belief::Named) => *customer = customer.take().map(|sent| only(&sent, &page.terms.customer_fields)),
        (None, Belief::Proven) => (*customer, *tracking_id) = (None, None),
    }
    Ok(())
}

fn check_status(order: &Order, terms: &Terms) -> Result<(), Refusal> {
    match order.status.filter(|status| !terms.order_statuses.contains(status)) {
        Some(status) => Err(forbidden_status(status.name(), terms)),
        None => Ok(()),
    }
}

#[cold]
fn forbidden_status(status: &str, terms: &Terms) -> Refusal {
    let mut bound = String::new();
    for allowed in &terms.order_statuses {
        bound.push_str(if bound.is_empty() { "" } else { ", " });
        bound.push_str(allowed.name());
    }
    let parts = ["Property .order.status must be one of ", &bound, " (actual value is `", status, "`)"];
    Refusal::new(Reason::InvalidPayload, joined(&parts))
}

/// Leaves of an order what a page may say of it: it writes nothing to the catalogue, and has no past.
fn take_part(order: &mut Order, believed: bool) {
    for item in &mut order.items {
        for goods in [&mut item.product, &mut item.sku].into_iter().flatten() {
            goods.overrides = None;
        }
    }
    order.redemptions = Metadata::default();
    order.customer_id = None;
    if !believed {
        order.referrer_id = None;
    }
}

/// What was sent of a customer whom a token proves, under the name that it proves.
fn proved(sent: Customer, name: &Text) -> Customer {
    let mut document = Metadata::default();
    document.overlay(sent.document.iter().filter(|(name, _)| *name != "id" && *name != "source_id"));
    Customer { id: None, source_id: Some(name.clone()), document, metadata: sent.metadata }
}

/// The names of a customer, and those fields that the project lets a page say.
fn only(sent: &Customer, fields: &[Text]) -> Customer {
    let mut seen = Customer { id: sent.id.clone(), source_id: sent.source_id.clone(), ..Customer::default() };
    for field in fields {
        // A field inside of others stands under its whole name, by which it is found as well.
        match field.strip_prefix("metadata.") {
            Some(name) => keep(&sent.metadata, name, &mut seen.metadata),
            None if field == "metadata" => seen.metadata.clone_from(&sent.metadata),
            None => keep(&sent.document, field, &mut seen.document),
        }
    }
    seen
}

fn keep(from: &Metadata, name: &str, into: &mut Metadata) {
    if let Some(value) = from.find_dotted(name) {
        into.insert(name, value.clone());
    }
}

impl Case<'_> {
    /// Whether every stored order is there for whoever asks.
    pub(super) fn sees_orders(&self) -> bool {
        self.request.channel.page.as_ref().is_none_or(|page| page.is_open())
    }

    /// Whether a stored order is there for whoever asks: for a page the proven customer's.
    pub(super) fn may_touch(&self, stored: &Order) -> bool {
        let customer = || self.buyer.customer.as_ref().filter(|_| self.buyer.stored)?.id.as_ref();
        let is_proven = || self.request.channel.page.as_ref().is_some_and(|page| page.proven.is_some());
        self.sees_orders() || is_proven() && stored.customer_id.is_some() && stored.customer_id.as_ref() == customer()
    }

    /// Whether a code is, for whoever asks, as one that does not exist: from a page nobody uses what somebody holds, but the proven
    /// holder, and a proven customer to whom somebody passed a code on.
    pub(super) fn hides(&self, incentive: &Incentive) -> bool {
        let (Some(page), Some(holder)) = (&self.request.channel.page, &incentive.holder_id) else { return false };
        if page.proven.is_none() {
            return !page.is_open();
        }
        let is_holder = || self.buyer.customer.as_ref().is_some_and(|customer| customer.id.as_ref() == Some(holder));
        !page.is_open() && !is_holder() && !self.is_passed_on(incentive)
    }

    fn is_passed_on(&self, incentive: &Incentive) -> bool {
        let of_program = |id: &Text| match self.facts.campaign(id) {
            Known::Is(campaign) => campaign.campaign_type == CampaignType::ReferralProgram,
            Known::Absent | Known::Unknown | Known::Unreadable => false,
        };
        incentive.referrer_id.is_some() || incentive.campaign_id.as_ref().is_some_and(of_program)
    }
}
