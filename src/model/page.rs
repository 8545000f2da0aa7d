//! What a project lets a page do. A page's key is public: whoever opens the shop has it, so that a page is believed only as far
//! as its project says. This must not know JSON, tokens or routes.

use std::sync::Arc;

use crate::model::incentive::IncentiveObject;
use crate::model::order::OrderStatus;
use crate::text::{Text, joined};

/// How far a page's word for who its customer is goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Belief {
    /// The name counts for limits and attribution. Nothing that is stored of the customer is looked at, shown, spent or written.
    #[default]
    Named,
    /// Only a customer whom a token proves is anybody.
    Proven,
    /// Whoever the page names is who the page says: for moving over from a service that does so.
    Open,
}

/// What is of goods and offers in their metadata and may be known to a page, by the keys of the metadata. A key with dots in it
/// goes by what is before the first of them, so that a property inside of nested data is public with all that it could mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PublicMetadata {
    /// Of vouchers and of what vouchers are made from.
    pub voucher: Vec<Text>,
    /// Of campaigns and their tiers.
    pub campaign: Vec<Text>,
    /// Of products and SKUs.
    pub product: Vec<Text>,
}

impl PublicMetadata {
    /// The keys of vouchers, or of the tiers of campaigns.
    pub fn of(&self, object: IncentiveObject) -> &[Text] {
        match object {
            IncentiveObject::Voucher => &self.voucher,
            IncentiveObject::PromotionTier => &self.campaign,
        }
    }
}

/// Whether a property of metadata, a key or names joined with dots, is among those that are public.
pub fn is_public(keys: &[Text], property: &str) -> bool {
    let first = property.split_once('.').map_or(property, |(first, _)| first);
    keys.iter().any(|key| key == first)
}

/// The terms on which a project serves pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    /// How far a page is believed about its customer.
    pub customers: Belief,
    /// What rules see of what an unproven page sends of its customer: `metadata.size`, `address.country`.
    pub customer_fields: Vec<Text>,
    /// The statuses in which a redemption from a page may leave its order.
    pub order_statuses: Vec<OrderStatus>,
    /// Whether a page is told why a code that is not public cannot be used.
    pub reasons: bool,
    /// How long a lock from a page may last, in seconds.
    pub session_seconds: u64,
    /// The metadata that is public.
    pub metadata: PublicMetadata,
}

impl Terms {
    /// The status in which a redemption leaves an order of which nothing is said.
    pub fn usual_status(&self) -> OrderStatus {
        let allowed = &self.order_statuses;
        let first = || allowed.first().copied();
        allowed.iter().copied().find(|status| *status == OrderStatus::Paid).or_else(first).unwrap_or_default()
    }
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            customers: Belief::Named,
            customer_fields: Vec::new(),
            order_statuses: vec![OrderStatus::Created, OrderStatus::Paid],
            reasons: false,
            session_seconds: 3_600,
            metadata: PublicMetadata::default(),
        }
    }
}

/// A page that asks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Page {
    /// What its project lets it do.
    pub terms: Arc<Terms>,
    /// The customer whom a token proves, by id or `source_id`.
    pub proven: Option<Text>,
}

impl Page {
    /// By whom the locks of this page are set: by a customer, or by a page whose customer nobody has proven.
    pub fn owner(&self) -> Text {
        match &self.proven {
            Some(customer) => joined(&["customer/", customer]),
            None => Text::from("client"),
        }
    }

    /// The customer by whom a lock was set; nothing where it was not one whom a token proved.
    pub fn customer_of(owner: &str) -> Option<&str> {
        owner.strip_prefix("customer/")
    }

    /// Whether the customer of this page is somebody for more than a name: proven, or believed without a proof.
    pub fn is_believed(&self) -> bool {
        self.proven.is_some() || self.is_open()
    }

    /// Whether the project believes whatever a page says of its customer.
    pub fn is_open(&self) -> bool {
        self.terms.customers == Belief::Open
    }
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn a_property_is_public_with_what_is_before_its_first_dot() {
        let keys = ["size".into(), "a.b".into()];
        let cases = [("size", true), ("size.eu", true), ("sizes", false), ("siz", false), ("a", false), ("a.b", false)];
        for (property, wanted) in cases {
            assert_eq!(is_public(&keys, property), wanted, "{property}");
        }
    }
}
