//! Decides how the terms of pages are read: from a project's setup, where they stand under `client`, and from a bundle. It must
//! not know what they lead to.

use std::sync::Arc;

use serde_json::Value;

use crate::json::Node;
use crate::model::page::{Belief, PublicMetadata, Terms};
use crate::shape::{Kind, TEXTS, may};
use crate::shape::{one_of, shape};
use crate::wire::cursor::{Cursor, Fields, Words, read_node};
use crate::wire::order::{STATUS, STATUSES};
use crate::wire::problem::Problem;

const BELIEFS: Words<Belief> = &[("named", Belief::Named), ("proven", Belief::Proven), ("open", Belief::Open)];

/// The longest life of a page's lock that a project may allow: as long as one without a life has from a server.
const SESSION_SECONDS_MAX: u64 = 7 * 86_400;

/// The names of the terms, as the setup and a bundle have them.
pub const NAMES: &[&str] =
    &["customers", "customer_fields", "order_statuses", "reasons", "session_seconds", "metadata"];

const FIELDS: Fields<Terms> = &[
    ("customers", |terms, at| terms.customers = at.one_of(BELIEFS)),
    ("customer_fields", |terms, at| terms.customer_fields = at.texts()),
    ("order_statuses", |terms, at| terms.order_statuses = at.all(|status| status.one_of(STATUSES))),
    ("reasons", |terms, at| terms.reasons = at.flag()),
    ("session_seconds", |terms, at| {
        terms.session_seconds = at.whole_number();
        if !(1..=SESSION_SECONDS_MAX).contains(&terms.session_seconds) {
            at.wrong("must be >= 1 and <= 604800");
        }
    }),
    ("metadata", |terms, at| at.fields(&mut terms.metadata, METADATA)),
];

const METADATA: Fields<PublicMetadata> = &[
    ("voucher", |metadata, at| metadata.voucher = at.texts()),
    ("campaign", |metadata, at| metadata.campaign = at.texts()),
    ("product", |metadata, at| metadata.product = at.texts()),
];

/// The terms, as a bundle has them.
pub const TERMS: Kind = shape!(
    "PageTerms",
    "The terms on which a project serves pages",
    &[
        may("customers", one_of!(BELIEFS)).says("How far a page is believed who its customer is"),
        may("customer_fields", TEXTS).says("The fields of a customer that a page may say"),
        may("order_statuses", Kind::List(&STATUS, 1, 4)).says("The statuses that a page may give an order"),
        may("reasons", Kind::Bool).says("Whether a page is told why a code does not apply"),
        may("session_seconds", Kind::Int(1, 604_800)).says("How long a page's lock lasts at most"),
        may("metadata", Kind::Object(&[may("voucher", TEXTS), may("campaign", TEXTS), may("product", TEXTS)]))
            .says("The keys of custom data that are public, by whose it is"),
    ]
);

/// Reads terms; `true` stands for those that hold where nothing is said.
pub fn read_terms(at: &Cursor<'_>) -> Arc<Terms> {
    let mut terms = Terms::default();
    if at.node.as_bool() != Some(true) {
        at.fields(&mut terms, FIELDS);
        if terms.order_statuses.is_empty() {
            at.problem("should have at least one of the `order_statuses` CREATED, PAID, CANCELED, FULFILLED");
        }
    }
    Arc::new(terms)
}

/// Reads the terms as a project's settings hold them.
pub fn terms_of(said: &Value) -> Result<Arc<Terms>, Problem> {
    read_node(&Node::of(said, usize::MAX)?, read_terms)
}
