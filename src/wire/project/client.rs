//! Reads the client policy: from a project's setup, under `client`, and from a bundle.

use std::sync::Arc;

use serde_json::Value;

use crate::json::Node;
use crate::model::client::{ClientPolicy, CustomerTrust, PublicMetadata};
use crate::model::customer::SENT_FIELDS;
use crate::shape::{FieldType, TEXTS, may};
use crate::shape::{one_of, shape};
use crate::text::Text;
use crate::wire::cursor::{Fields, JsonCursor, NameTable, read_node};
use crate::wire::order::{STATUS, STATUSES};
use crate::wire::problem::Problem;

const CUSTOMER_TRUSTS: NameTable<CustomerTrust> =
    &[("named", CustomerTrust::Named), ("proven", CustomerTrust::Proven), ("open", CustomerTrust::Open)];

/// The maximum duration of a client's lock, in seconds, that a project may allow: the default duration of a server's
/// lock.
const SESSION_SECONDS_MAX: u64 = 7 * 86_400;

/// The names of the settings, in the setup and in a bundle.
pub const NAMES: &[&str] =
    &["customers", "customer_fields", "own_fields", "order_statuses", "reasons", "session_seconds", "metadata"];

const FIELDS: Fields<ClientPolicy> = &[
    ("customers", |terms, at| terms.customers = at.one_of(CUSTOMER_TRUSTS)),
    ("customer_fields", |terms, at| terms.customer_fields = at.texts()),
    ("own_fields", |terms, at| terms.own_fields = Some(at.all(read_own_field))),
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

/// Reads the name of a field of the own profile: `metadata`, one of its keys, or a field that a caller sends.
fn read_own_field(at: &JsonCursor<'_>) -> Text {
    let field = at.text();
    let is_field = field == "metadata" || field.starts_with("metadata.") || SENT_FIELDS.contains(&field.as_str());
    if !is_field || field == "source_id" {
        at.wrong("must be metadata, metadata.KEY, name, description, email, phone, birthday, birthdate or address");
    }
    field
}

const METADATA: Fields<PublicMetadata> = &[
    ("voucher", |metadata, at| metadata.voucher = at.texts()),
    ("campaign", |metadata, at| metadata.campaign = at.texts()),
    ("product", |metadata, at| metadata.product = at.texts()),
];

/// The client policy in a bundle.
pub const TERMS: FieldType = shape!(
    "ClientPolicy",
    "Client policy of a project: permissions of browser pages and apps with a public key.",
    &[
        may("customers", one_of!(CUSTOMER_TRUSTS))
            .description("Customer trust: `named` uses the name for limits only, `proven` requires a customer token, `open` accepts the claim. Default `named`."),
        may("customer_fields", TEXTS)
            .description("Names of customer fields that validation rules accept from a client without a token. Default none."),
        may("own_fields", TEXTS)
            .description("Fields of the own profile that a customer with a token may send: `metadata`, `metadata.KEY`, `name`, `description`, `email`, `phone`, `birthday`, `birthdate` or `address`. Other fields are neither read by validation rules nor stored. Absent means all."),
        may("order_statuses", FieldType::List(&STATUS, 1, 4))
            .description("Order statuses that a client may send. Default `CREATED` and `PAID`."),
        may("reasons", FieldType::Bool)
            .description("`true` if a client gets the reason why a code is not applied. Default `false`: such a code reads as unknown."),
        may("session_seconds", FieldType::Int(1, 604_800))
            .description("Longest lifetime of a client's lock, in seconds. Default 3600."),
        may(
            "metadata",
            FieldType::Object(&[
                may("voucher", TEXTS).description("Public metadata keys of vouchers."),
                may("campaign", TEXTS).description("Public metadata keys of campaigns and promotion tiers."),
                may("product", TEXTS).description("Public metadata keys of products and SKUs.")
            ])
        )
        .description("Keys of metadata that are public, by type of object. Default none."),
    ]
);

/// Reads a client policy; `true` stands for the default.
pub fn read_terms(at: &JsonCursor<'_>) -> Arc<ClientPolicy> {
    let mut terms = ClientPolicy::default();
    if at.node.as_bool() != Some(true) {
        at.fields(&mut terms, FIELDS);
        if terms.order_statuses.is_empty() {
            at.problem("should have at least one of the `order_statuses` CREATED, PAID, CANCELED, FULFILLED");
        }
    }
    Arc::new(terms)
}

/// Reads a client policy from a project's settings.
pub fn client_policy_of(value: &Value) -> Result<Arc<ClientPolicy>, Problem> {
    read_node(&Node::of(value, usize::MAX)?, read_terms)
}
