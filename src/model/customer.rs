//! Defines the customer of a decision.

use std::sync::LazyLock;

use crate::json::{Bounds, Node, read};
use crate::model::order::Metadata;
use crate::text::Text;
use crate::time::Instant;

/// A customer: the stored profile with the sent fields over it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Customer {
    /// Assigned by the service; absent for one that is only in the request.
    pub id: Option<Text>,
    /// The caller's own identifier.
    pub source_id: Option<Text>,
    /// Metadata.
    pub metadata: Metadata,
    /// `true` if the profile has metadata, even empty; a customer that never got any has no such member.
    pub has_metadata: bool,
    /// The rest of the profile as stored or sent, for conditions on it and answers with the customer.
    pub document: Metadata,
}

/// The fields of a profile that a caller sends in addition to names and metadata. All others belong to the service.
pub const SENT_FIELDS: &[&str] =
    &["name", "description", "email", "phone", "birthday", "birthdate", "address", "source_id"];

/// A part of a profile that a request may send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfilePart {
    /// Metadata.
    Metadata,
    /// The [`SENT_FIELDS`].
    Fields,
}

/// The fields of a profile that the service maintains, for a customer without orders, redemptions and points.
pub const NEW_PROFILE: &str = r#"{
    "system_metadata": {},
    "summary": {
        "redemptions": {
            "total_redeemed": 0, "total_failed": 0, "total_succeeded": 0, "total_rolled_back": 0, "total_rollback_failed": 0,
            "total_rollback_succeeded": 0,
            "gift": { "redeemed_amount": 0, "amount_to_go": 0 },
            "loyalty_card": { "redeemed_points": 0, "points_to_go": 0 }
        },
        "orders": { "total_amount": 0, "total_count": 0, "average_amount": 0, "last_order_amount": 0, "last_order_date": null }
    },
    "loyalty": { "points": 0, "referred_customers": 0, "campaigns": {} },
    "referrals": { "total": 0, "campaigns": [] },
    "object": "customer"
}"#;

static NEW: LazyLock<Metadata> = LazyLock::new(|| match read(NEW_PROFILE.as_bytes(), Bounds::NONE) {
    Ok(Node::Object(members)) => Metadata::of_constant(members),
    Ok(_) | Err(_) => Metadata::default(),
});

impl Customer {
    /// Returns this customer as it would be stored for the first time, without the fields that the service maintains.
    /// It has no id yet.
    #[must_use]
    pub fn new_profile(&self) -> Customer {
        let mut document = Metadata::default();
        document.overlay(self.sent_profile());
        // Sent metadata is stored if it is not empty.
        let has_metadata = !self.metadata.is_empty();
        Customer {
            id: None,
            source_id: self.source_id.clone(),
            metadata: self.metadata.clone(),
            has_metadata,
            document,
        }
    }

    /// Returns the fields of this new profile with those that the service maintains, as stored at `now`. Only segments
    /// read these, so that most decisions need no copy of them.
    #[must_use]
    pub fn stored_document(&self, now: Instant) -> Metadata {
        let mut document = NEW.clone();
        document.insert("created_at", Node::Text(now.text().into()));
        document.overlay(self.document.iter());
        document
    }

    /// Returns the e-mail address if the customer has no other name: neither an id nor a `source_id`.
    #[must_use]
    pub fn email_name(&self) -> Option<&str> {
        let mut names = [&self.id, &self.source_id].into_iter().flatten();
        if names.any(|name| !name.is_empty()) { None } else { self.email() }
    }

    /// Returns the e-mail address.
    #[must_use]
    pub fn email(&self) -> Option<&str> {
        self.document.get("email")?.as_str().filter(|email| !email.is_empty())
    }

    /// Returns the fields of the profile that the caller sent and that are stored. A nested field may be under its
    /// dotted path.
    pub fn sent_profile(&self) -> impl Iterator<Item = (&str, &Node<'static>)> {
        self.document.iter().filter(move |(path, value)| is_sent_field(path) && !value.is_null())
    }

    /// Returns whether the caller sent a part of the profile.
    pub fn has_sent(&self, part: ProfilePart) -> bool {
        match part {
            ProfilePart::Metadata => !self.metadata.is_empty(),
            ProfilePart::Fields => self.sent_profile().next().is_some(),
        }
    }
}

/// Returns whether a path in the document of a profile belongs to a field that a caller may send.
pub fn is_sent_field(path: &str) -> bool {
    SENT_FIELDS.contains(&path.split_once('.').map_or(path, |(field, _)| field))
}
