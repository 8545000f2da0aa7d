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

/// An export.
pub const EXPORT: Kind = shape!(
    "Export",
    "Documents that are written as CSV",
    &[
        must("id", KEY),
        must("created_at", Kind::DateTime),
        must("status", Kind::OneOf(&["SCHEDULED", "IN_PROGRESS", "DONE", "ERROR"])),
        must("channel", Kind::Text).says("How it was asked for"),
        must("exported_object", Kind::Text).says("What is exported"),
        must(
            "parameters",
            Kind::Object(&[
                may("order", Kind::Text).says("What it is ordered by"),
                may("fields", Kind::List(&Kind::Text, 0, usize::MAX)).says("Its columns"),
                may("filters", Kind::Map),
                may("campaign_id", KEY),
            ])
        )
        .says("Which of it, and how"),
        must("result", Kind::Object(&[must("url", Kind::Text).says("Where its CSV is, for an hour from now on")]))
            .or_null()
            .says("Where it is, once it is done"),
        must("user_id", KEY).or_null().says("Who asked, where the key is somebody's"),
        object(&["export"]),
    ]
);

/// A webhook.
pub const WEBHOOK: Kind = shape!(
    "Webhook",
    "Who is told of events",
    &[
        must("id", KEY),
        must("target_url", Kind::Text).says("Where it is sent"),
        must("events", Kind::List(&Kind::Text, 1, usize::MAX)).says("What it is told of"),
        must("active", Kind::Bool).says("Whether it is told of anything"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["webhook"]),
    ]
);

/// What could not be delivered to a webhook.
pub const DEAD_LETTER: Kind = shape!(
    "DeadLetter",
    "What could not be delivered to a webhook, kept for 30 days to be sent again",
    &[
        must("id", KEY),
        must("type", Kind::Text).says("The name of the event"),
        must("entity_id", KEY).says("The document that it is about"),
        must("created_at", Kind::DateTime),
        must("dead_at", Kind::DateTime).says("When it was given up"),
        must("attempts", COUNT).says("How often it was tried"),
        must("failure", Kind::Text).or_null().says("What went wrong at last; nothing where it was never tried"),
        must("body", Kind::Map).says("What was sent"),
        object(&["dead_letter"]),
    ]
);

/// How many dead letters are sent again.
pub const RESENT: Kind =
    shape!("DeadLettersResent", "Dead letters that are sent again", &[must("count", COUNT).says("How many")]);

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

/// Whether a token counts, and what it says while it does.
pub const OAUTH_INTROSPECTION: Kind = shape!(
    "OAuthIntrospection",
    "Whether a token counts",
    &[
        must("active", Kind::Bool).says("Whether it counts; nothing else is told of one that does not"),
        may("access_token", Kind::Text).says("The token"),
        may("token_type", Kind::Text).says("How it goes out"),
        may("scope", Kind::Text).says("What it opens"),
        may("client_id", Kind::Text).says("For whom it was made"),
        may("expires_in", Kind::Int(0, INT_MAX)).says("How long it still holds, in seconds"),
        may("expires_at", Kind::Int(0, INT_MAX)).says("When it ends, in seconds since 1970"),
    ]
);

/// Whether the service is well.
pub const HEALTH: Kind = shape!("Health", "Whether the service is well", &[must("status", Kind::Text)]);

/// The description of the interface.
pub const OPENAPI: Kind = Kind::Map;

/// An entry of the bin.
pub const BIN_ENTRY: Kind = shape!(
    "BinEntry",
    "Something that was deleted, and whose name is taken still",
    &[
        must("id", KEY),
        must("deleted_by_user_id", Kind::Text).or_null().says("The login of the user whose key it was"),
        must("resource_id", KEY),
        must("resource_type", Kind::OneOf(BINNED)),
        must("resource_name", Kind::Text).says("What it was called"),
        must("resource_parent_id", KEY).or_null().says("The campaign of a voucher, the product of a SKU"),
        must("created_at", Kind::DateTime).says("When it was deleted"),
        object(BINNED),
    ]
);

const BINNED: &[&str] = &["campaign", "product", "sku", "voucher"];

/// Where a location is.
pub const AREA: Kind = Kind::Object(&[
    must("type", Kind::OneOf(&["circle", "polygon"])),
    must("format", Kind::OneOf(&["distance", "geojson"])).says("How it is said"),
    may(
        "distance",
        Kind::Object(&[
            must("center", Kind::Text).says("Latitude and longitude, with a comma between them"),
            must("radius", Kind::Text).says("A length, as `5km`"),
        ]),
    )
    .says("A place and how far it reaches"),
    may(
        "geojson",
        Kind::Object(&[
            must("type", Kind::OneOf(&["Polygon", "MultiPolygon"])),
            must("coordinates", Kind::List(&Kind::Any, 1, 1_000))
                .says("Rings of places, longitude first; of several polygons a list of them"),
        ]),
    )
    .says("Polygons"),
]);

/// A location.
pub const LOCATION: Kind = shape!(
    "Location",
    "A place on the earth",
    &[
        must("id", KEY),
        must("name", KEY),
        must("shape", AREA).says("Where it is"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["location"]),
    ]
);

/// A template of campaigns.
pub const CAMPAIGN_TEMPLATE: Kind = shape!(
    "CampaignTemplate",
    "What campaigns or tiers are set up by",
    &[
        must("id", KEY),
        must("name", KEY),
        must("description", Kind::Text).or_null(),
        must("campaign_type", Kind::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS"])),
        may("json_template", Kind::Map).says("What it holds, where that is asked for"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["campaign_template"]),
    ]
);

/// What setting something up by a template has made beside it.
const MADE: Kind = Kind::List(&Kind::Object(&[must("id", KEY), object(&["validation_rules"])]), 0, usize::MAX);

/// A campaign that was set up by a template.
pub const CAMPAIGN_SETUP: Kind = shape!(
    "CampaignSetup",
    "A campaign that was set up by a template",
    &[
        must("campaign", crate::document::shapes::promotions::CAMPAIGN),
        must("created_resources", MADE).says("What was made beside it"),
        object(&["campaign_setup"]),
    ]
);

/// A tier that was set up by a template.
pub const TIER_SETUP: Kind = shape!(
    "PromotionTierSetup",
    "A tier that was set up by a template",
    &[
        must("promotion_tier", crate::document::shapes::promotions::TIER),
        must("created_resources", MADE).says("What was made beside it"),
        object(&["promotion_tier_setup"]),
    ]
);
