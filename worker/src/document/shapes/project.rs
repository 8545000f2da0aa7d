//! The shapes of what a project keeps for itself: long work, schemas, tokens, its bundle. It must not know what they are used for.

use crate::document::fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, Field, INT_MAX, Kind, may, must, object};

/// What came of an async action.
const RESULT: Kind = Kind::Object(&[
    may("message", Kind::Text).says("For people"),
    may("done_count", COUNT).says("Items that were done"),
    may("failed_count", COUNT).says("Items that were refused"),
    may(
        "errors",
        Kind::List(
            &Kind::Object(&[
                must("key", Kind::Text).says("For programs: why"),
                must("message", Kind::Text),
                must("details", Kind::Text),
                may("code", KEY),
                may("source_id", KEY),
            ]),
            0,
            usize::MAX,
        ),
    )
    .says("Why items were refused"),
    may(
        "failed",
        Kind::List(
            &Kind::Object(&[
                must("row", COUNT).says("The place of the item"),
                must("reason", Kind::Text).says("Why"),
                may("code", KEY),
                may("source_id", KEY).or_null(),
            ]),
            0,
            usize::MAX,
        ),
    )
    .says("Which items were refused"),
    may("reports", Kind::List(&Kind::Any, 0, usize::MAX)).says("None; existing clients look for it"),
    may("reports_available_till", Kind::DateTime).or_null().says("Never; existing clients look for it"),
]);

/// An async action.
pub const ASYNC_ACTION: Kind = shape!(
    "AsyncAction",
    "Long work, and what came of it",
    &[
        must("id", KEY),
        must("type", Kind::Text),
        must("status", Kind::Text),
        must("operation_status", Kind::Text).says("The same in another word"),
        must("progress", Kind::Int(0, 100)).says("How much is done, in percent"),
        must("processing_time", COUNT).says("How long it took, in milliseconds"),
        must("request_id", Kind::Text),
        may("result", RESULT),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime),
        object(&["async_action"]),
    ]
);

/// The start of an async action.
pub const ASYNC_ACTION_STARTED: Kind =
    shape!("AsyncActionStarted", "Long work that has begun", &[must("async_action_id", KEY)]);

/// A metadata schema.
pub const METADATA_SCHEMA: Kind = shape!(
    "MetadataSchema",
    "What the custom data of a kind of resource may hold",
    &[
        must("id", KEY),
        must("related_object", KEY).says("The kind of resource"),
        must("properties", Kind::Map),
        must("allow_defined_only", Kind::Bool).says("Whether other properties are refused"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["metadata_schema"]),
    ]
);

/// A schema of custom events.
pub const CUSTOM_EVENT_SCHEMA: Kind = shape!(
    "CustomEventSchema",
    "A kind of custom events, and what the custom data of one may hold",
    &[
        must("id", KEY),
        must("name", KEY),
        must("schema", Kind::Object(&[must("properties", Kind::Map)])).says("What is said with each"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["custom-event-schema"]),
    ]
);

/// A token that proves a customer.
pub const CUSTOMER_TOKEN: Kind = shape!(
    "CustomerToken",
    "A token that proves a customer to pages",
    &[
        must("token", Kind::Text).says("Goes out as `X-Customer-Token`"),
        must("expires_at", Kind::DateTime),
        must("customer", Kind::Object(&[must("id", KEY).or_null(), must("source_id", KEY).or_null()])),
        object(&["customer_token"]),
    ]
);

const OF_KEY: &[Field] = &[
    must("id", KEY),
    must("secret", Kind::Text).says("What signs: keep it on a server"),
    must("algorithm", Kind::Text).says("How it signs"),
    object(&["customer_token_key"]),
];

/// The key that signs customer tokens.
pub const CUSTOMER_TOKEN_KEY: Kind = shape!("CustomerTokenKey", "The key that signs customer tokens", OF_KEY);

/// A new key.
pub const CUSTOMER_TOKEN_KEY_ROTATION: Kind = shape!(
    "CustomerTokenKeyRotation",
    "A new key that signs customer tokens",
    scrip::fields_of!(
        OF_KEY,
        &[must("former_until", Kind::DateTime).says("Until when tokens of the former key are taken")]
    )
);

/// A token of the service.
pub const OAUTH_TOKEN: Kind = shape!(
    "OAuthToken",
    "A token that opens some scopes",
    &[
        must("access_token", Kind::Text).says("Goes out as a bearer token"),
        must("token_type", Kind::Text).says("How it goes out"),
        must("scope", Kind::Text).says("What it opens"),
        must("client_id", Kind::Text).says("For whom it was made"),
        must("expires_in", Kind::Int(0, INT_MAX)).says("How long it holds, in seconds"),
        must("expires_at", Kind::Int(0, INT_MAX)).says("When it ends, in seconds since 1970"),
    ]
);

/// Whether the service is well.
pub const HEALTH: Kind = shape!("Health", "Whether the service is well", &[must("status", Kind::Text)]);

/// The description of the interface.
pub const OPENAPI: Kind = Kind::Map;
