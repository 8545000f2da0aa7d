//! Defines the policy of a project for clients. The key of a client is public, so its claims count only as far as the
//! policy allows.

use std::sync::Arc;

use crate::model::order::OrderStatus;
use crate::model::redeemable::IncentiveObject;
use crate::text::{Text, joined};

/// The trust in a client's claim about its customer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CustomerTrust {
    /// The name counts for limits and attribution. No stored data of the customer is read, returned, spent or written.
    #[default]
    Named,
    /// Only a customer with a customer token counts.
    Proven,
    /// The claim is accepted: for migrations from a service that does so.
    Open,
}

/// The keys of public metadata of goods and offers. A dotted property is public if the part before its first dot is
/// listed, with all nested data.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublicMetadata {
    /// Metadata of vouchers and of their campaigns' voucher definitions.
    pub voucher: Vec<Text>,
    /// Metadata of campaigns and their tiers.
    pub campaign: Vec<Text>,
    /// Metadata of products and SKUs.
    pub product: Vec<Text>,
}

impl PublicMetadata {
    /// Returns the keys of vouchers, or of the tiers of campaigns.
    pub fn of(&self, object: IncentiveObject) -> &[Text] {
        match object {
            IncentiveObject::Voucher => &self.voucher,
            IncentiveObject::PromotionTier => &self.campaign,
        }
    }
}

/// Returns whether a property of metadata, a key or names joined with dots, is public.
pub fn is_public(keys: &[Text], property: &str) -> bool {
    let first = property.split_once('.').map_or(property, |(first, _)| first);
    keys.iter().any(|key| key == first)
}

/// The policy of a project for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientPolicy {
    /// The trust in a client's claim about its customer.
    pub customers: CustomerTrust,
    /// The fields of an unproven client's customer that rules see: `metadata.size`, `address.country`.
    pub customer_fields: Vec<Text>,
    /// The fields of the own profile that a proven customer may send, `metadata.size` or `phone`; `None` for all. Others are
    /// neither seen by rules nor stored.
    pub own_fields: Option<Vec<Text>>,
    /// The order statuses that a redemption of a client may set.
    pub order_statuses: Vec<OrderStatus>,
    /// `true` if a client sees why a code that is not public cannot be used.
    pub reasons: bool,
    /// The maximum duration of a client's lock, in seconds.
    pub session_seconds: u64,
    /// The public metadata.
    pub metadata: PublicMetadata,
}

impl ClientPolicy {
    /// Returns the order status that a redemption sets if the request has none.
    pub fn usual_status(&self) -> OrderStatus {
        let allowed = &self.order_statuses;
        let first = || allowed.first().copied();
        allowed.iter().copied().find(|status| *status == OrderStatus::Paid).or_else(first).unwrap_or_default()
    }
}

impl Default for ClientPolicy {
    fn default() -> ClientPolicy {
        ClientPolicy {
            customers: CustomerTrust::Named,
            customer_fields: Vec::new(),
            own_fields: None,
            order_statuses: vec![OrderStatus::Created, OrderStatus::Paid],
            reasons: false,
            session_seconds: 3_600,
            metadata: PublicMetadata::default(),
        }
    }
}

/// The client of a request.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientContext {
    /// The policy of its project.
    pub policy: Arc<ClientPolicy>,
    /// The customer proven by a token, by id or `source_id`.
    pub proven: Option<Text>,
    /// The named customer, if only a token could prove them and the facts do not have them. The same request may reach
    /// the server with that token.
    pub claimed: Option<Text>,
    /// The e-mail address, as sent, by which a request of an unproven client names its customer. Rules do not see it.
    pub email: Option<Text>,
}

impl ClientContext {
    /// Returns the owner of this client's locks: the proven customer, or one shared by all unproven clients.
    pub fn owner(&self) -> Text {
        match &self.proven {
            Some(customer) => joined(&["customer/", customer]),
            None => Text::from("client"),
        }
    }

    /// Returns the customer who owns a lock; `None` if it was set without a proven customer.
    pub fn customer_of(owner: &str) -> Option<&str> {
        owner.strip_prefix("customer/")
    }

    /// Returns whether stored data of the customer may be used: they are proven, or the claim is accepted.
    pub fn trusts_customer(&self) -> bool {
        self.proven.is_some() || self.is_open()
    }

    /// Returns whether the project accepts every claim about the customer.
    pub fn is_open(&self) -> bool {
        self.policy.customers == CustomerTrust::Open
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn a_property_is_public_with_what_is_before_its_first_dot() {
        let keys = ["size".into(), "a.b".into()];
        let cases = [("size", true), ("size.eu", true), ("sizes", false), ("siz", false), ("a", false), ("a.b", false)];
        for (property, expected) in cases {
            assert_eq!(is_public(&keys, property), expected, "{property}");
        }
    }
}
