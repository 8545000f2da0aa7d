//! The shapes of a project's own resources: async actions, schemas, tokens, its bundle.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, Field, FieldType, INT_MAX, may, must, object};

/// Result of an async action.
const RESULT: FieldType = FieldType::Object(&[
    may("message", FieldType::Text)
        .description("Summary of the work for people, or the reason of a failure. Absent on bulk updates."),
    may("done_count", COUNT).description("Number of items that were written."),
    may("failed_count", COUNT).description("Number of items that were refused."),
    may(
        "errors",
        FieldType::List(
            &FieldType::Object(&[
                must("key", FieldType::Text).description("Error key of the refusal."),
                must("message", FieldType::Text).description("Short text of the refusal, for people."),
                must("details", FieldType::Text).description("Longer text of the refusal, for people."),
                may("code", KEY).description("Code of the refused voucher, as sent."),
                may("source_id", KEY).description("`source_id` of the refused object, as sent."),
            ]),
            0,
            usize::MAX,
        ),
    )
    .description("Refusals of a bulk update, at most 1,000. `failed_count` counts all."),
    may(
        "failed",
        FieldType::List(
            &FieldType::Object(&[
                must("row", COUNT).description("Number of the refused item in the request or file, counted from 1."),
                must("reason", FieldType::Text).description("Text of the refusal, for people."),
                may("code", KEY).description("Code of the refused voucher, as sent."),
                may("source_id", KEY)
                    .or_null()
                    .description("`source_id` of the refused object, as sent. `null` when the item has none."),
            ]),
            0,
            usize::MAX,
        ),
    )
    .description("Refused items of an import, at most 1,000. `failed_count` counts all."),
    may("reports", FieldType::List(&FieldType::Any, 0, usize::MAX)).description("Links to reports. Always empty."),
    may("reports_available_till", FieldType::DateTime)
        .or_null()
        .description("Moment until which reports are available. Always `null`."),
]);

/// An async action.
pub const ASYNC_ACTION: FieldType = shape!(
    "AsyncAction",
    "Record of deferred work, with its progress and result.",
    &[
        must("id", KEY),
        must("type", FieldType::Text)
            .description("Type of the work, in capitals: an import, an update, a generation or a deletion."),
        must("status", FieldType::Text).description(
            "Status of the work: `IN_PROGRESS`, `DONE` or `FAILED`. Work is `DONE` also when single items were refused."
        ),
        must("operation_status", FieldType::Text)
            .description("Outcome of the work: `UNKNOWN` while in progress, then `SUCCESS` or `FAILED`."),
        must("progress", FieldType::Int(0, 100)).description("Progress of the work in percent."),
        must("processing_time", COUNT).description("Time from the creation to the last progress, in milliseconds."),
        must("request_id", FieldType::Text).description("ID of the request that started the work."),
        may("result", RESULT).description("Result of finished work. Absent before, and in lists."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime),
        object(&["async_action"]),
    ]
);

/// An export.
pub const EXPORT: FieldType = shape!(
    "Export",
    "Export of objects to a CSV file.",
    &[
        must("id", KEY),
        must("created_at", FieldType::DateTime),
        must("status", FieldType::OneOf(&["SCHEDULED", "IN_PROGRESS", "DONE", "ERROR"])).description("Status of the export. Only an export that is `DONE` has a CSV file."),
        must("channel", FieldType::Text).description("Channel of the request that created the export. Always `API`."),
        must("exported_object", FieldType::Text).description("Type of the exported objects."),
        must(
            "parameters",
            FieldType::Object(&[
                may("order", FieldType::Text).description("Property by which the rows are sorted; a leading `-` means descending. Absent means the default of the type."),
                may("fields", FieldType::List(&FieldType::Text, 0, usize::MAX)).description("Columns of the CSV file, in this order. Absent or empty means the default columns of the type."),
                may("filters", FieldType::Map).description("Conditions by property of the exported objects. Absent means all objects."),
                may("campaign_id", KEY).description("ID or name of the campaign whose objects are exported, as sent."),
            ])
        )
        .description("Selection, columns and sort order, as sent."),
        must(
            "result",
            FieldType::Object(&[must("url", FieldType::Text).description("Address of the CSV file, valid for one hour from this response and without other credentials.")])
        )
        .or_null()
        .description("Link to the CSV file. `null` before the export is `DONE`, and for callers whose role does not permit the download."),
        must("user_id", KEY).or_null().description("Login of the user whose key created the export. `null` when the key belongs to no user."),
        object(&["export"]),
    ]
);

/// A webhook.
pub const WEBHOOK: FieldType = shape!(
    "Webhook",
    "Subscription of an address to events of the project.",
    &[
        must("id", KEY),
        must("target_url", FieldType::Text).description("Address that deliveries are sent to."),
        must("events", FieldType::List(&FieldType::Text, 1, usize::MAX))
            .description("Names of the events that are sent."),
        must("active", FieldType::Bool).description(
            "`true` when events are sent. The service sets `false` after a delivery has failed for one day."
        ),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["webhook"]),
    ]
);

/// Dead letter of a webhook.
pub const DEAD_DELIVERY: FieldType = shape!(
    "DeadLetter",
    "Dead letter: a delivery that was given up, kept for 30 days.",
    &[
        must("id", KEY),
        must("type", FieldType::Text).description("Name of the event."),
        must("entity_id", KEY).description("ID of the object that the event is about."),
        must("created_at", FieldType::DateTime),
        must("dead_at", FieldType::DateTime).description("Moment at which the delivery was given up, in UTC."),
        must("attempts", COUNT).description("Number of attempts to deliver."),
        must("failure", FieldType::Text)
            .or_null()
            .description("Reason of the last failed attempt, at most 200 characters. `null` when no attempt was made."),
        must("body", FieldType::Map).description("Body of the delivery."),
        object(&["dead_letter"]),
    ]
);

/// Number of dead letters that are sent again.
pub const RESENT: FieldType = shape!(
    "DeadLetterResendResult",
    "Number of dead letters that are sent again.",
    &[must("count", COUNT).description("Number of dead letters that are scheduled for delivery.")]
);

/// The start of an async action.
pub const ASYNC_ACTION_STARTED: FieldType = shape!(
    "AsyncActionReference",
    "Start of deferred work.",
    &[must("async_action_id", KEY).description("ID of the async action that records progress and result.")]
);

/// A metadata schema.
pub const METADATA_SCHEMA: FieldType = shape!(
    "MetadataSchema",
    "Metadata schema: the declared metadata of one type of resource.",
    &[
        must("id", KEY),
        must("related_object", KEY)
            .description("Type of the resource whose metadata is checked, or the name of a schema for nested objects."),
        must("properties", FieldType::Map).description(
            "Definitions by metadata key: type, presence, lengths, bounds, and allowed or forbidden values."
        ),
        must("allow_defined_only", FieldType::Bool)
            .description("`true` when metadata keys without a definition are refused."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["metadata_schema"]),
    ]
);

/// A schema of custom events.
pub const CUSTOM_EVENT_SCHEMA: FieldType = shape!(
    "CustomEventSchema",
    "Schema of custom events: the name of an event and its declared properties.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the custom event, unique in the project."),
        must(
            "schema",
            FieldType::Object(&[
                must("properties", FieldType::Map).description("Definitions by property key: type and presence.")
            ])
        )
        .description("Declared properties of the event."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["custom-event-schema"]),
    ]
);

/// A token that proves a customer.
pub const CUSTOMER_TOKEN: FieldType = shape!(
    "CustomerToken",
    "Customer token: proof of the customer for which a client acts.",
    &[
        must("token", FieldType::Text)
            .description("Token, a JSON Web Token that clients send in the header `X-Customer-Token`."),
        must("expires_at", FieldType::DateTime).description("Moment at which the token expires, in UTC."),
        must(
            "customer",
            FieldType::Object(&[
                must("id", KEY)
                    .or_null()
                    .description("ID of the customer. `null` when the customer is not stored yet."),
                must("source_id", KEY)
                    .or_null()
                    .description("`source_id` of the customer. `null` when the customer has none.")
            ])
        )
        .description("Customer that the token proves."),
        object(&["customer_token"]),
    ]
);

const OF_KEY: &[Field] = &[
    must("id", KEY),
    must("secret", FieldType::Text)
        .description("Secret that signs tokens. The secret must not leave the merchant's server."),
    must("algorithm", FieldType::Text).description("Algorithm of the signature. Always `HS256`."),
    object(&["customer_token_key"]),
];

/// The key that signs customer tokens.
pub const CUSTOMER_TOKEN_KEY: FieldType =
    shape!("CustomerTokenKey", "Key that signs customer tokens, with its secret.", OF_KEY);

/// A new key.
pub const CUSTOMER_TOKEN_KEY_ROTATION: FieldType = shape!(
    "CustomerTokenKeyRotation",
    "New key that signs customer tokens, with its secret.",
    scrip::fields_of!(
        OF_KEY,
        &[must("former_until", FieldType::DateTime)
            .description("Moment until which tokens of the former key are accepted, in UTC.")]
    )
);

/// An OAuth token.
pub const OAUTH_TOKEN: FieldType = shape!(
    "OAuthToken",
    "OAuth token with its scopes and expiration.",
    &[
        must("access_token", FieldType::Text)
            .description("Token, sent as `Authorization: Bearer`. The token is returned only once."),
        must("token_type", FieldType::Text).description("Type of the token. Always `Bearer`."),
        must("scope", FieldType::Text).description("Scopes of the token, separated by spaces."),
        must("client_id", FieldType::Text).description("Public ID of the server key that created the token."),
        must("expires_in", FieldType::Int(0, INT_MAX)).description("Remaining validity in seconds."),
        must("expires_at", FieldType::Int(0, INT_MAX))
            .description("Expiration of the token, in seconds since 1970-01-01 UTC."),
    ]
);

/// Validity of a token, and its contents while it is valid.
pub const OAUTH_INTROSPECTION: FieldType = shape!(
    "OAuthIntrospection",
    "State of an OAuth token. The other properties are absent when the token is not active.",
    &[
        must("active", FieldType::Bool).description("`true` when the token is valid in this project."),
        may("access_token", FieldType::Text).description("Token, as sent."),
        may("token_type", FieldType::Text).description("Type of the token. Always `Bearer`."),
        may("scope", FieldType::Text).description("Scopes of the token, separated by spaces."),
        may("client_id", FieldType::Text).description("Public ID of the server key that created the token."),
        may("expires_in", FieldType::Int(0, INT_MAX)).description("Remaining validity in seconds."),
        may("expires_at", FieldType::Int(0, INT_MAX))
            .description("Expiration of the token, in seconds since 1970-01-01 UTC."),
    ]
);

/// Health of the service.
pub const HEALTH: FieldType = shape!(
    "Health",
    "Health of the service.",
    &[must("status", FieldType::Text).description("Status of the service. Always `ok`.")]
);

/// The OpenAPI description.
pub const OPENAPI: FieldType = FieldType::Map;

/// An entry of the trash bin.
pub const BIN_ENTRY: FieldType = shape!(
    "TrashBinEntry",
    "Entry of the trash bin: a deleted object whose name stays taken until the entry is purged.",
    &[
        must("id", KEY),
        must("deleted_by_user_id", FieldType::Text).or_null().description("Login of the user whose key deleted the object. `null` when the key belongs to no user."),
        must("resource_id", KEY).description("ID of the deleted object."),
        must("resource_type", FieldType::OneOf(BINNED)).description("Type of the deleted object."),
        must("resource_name", FieldType::Text).description("Name of the deleted object: the code of a voucher, the name of a campaign or product, the `sku` of a SKU, or its ID."),
        must("resource_parent_id", KEY).or_null().description("ID of the campaign of a deleted voucher, or of the product of a deleted SKU. `null` when there is none."),
        must("created_at", FieldType::DateTime).description("Moment of the deletion, in UTC."),
        object(BINNED).description("Type of the deleted object, as in `resource_type`."),
    ]
);

const BINNED: &[&str] = &["campaign", "product", "sku", "voucher"];

/// Area of a location.
pub const AREA: FieldType = FieldType::Object(&[
    must("type", FieldType::OneOf(&["circle", "polygon"])).description("Type of the area."),
    must("format", FieldType::OneOf(&["distance", "geojson"])).description("Format of the area: `distance` for a circle, `geojson` for polygons."),
    may(
        "distance",
        FieldType::Object(&[
            must("center", FieldType::Text).description("Latitude and longitude of the center in degrees, separated by a comma."),
            must("radius", FieldType::Text).description("Radius of the circle: a positive number, usually with a unit of length."),
        ]),
    )
    .description("Circle. Required when `format` is `distance`, refused otherwise."),
    may(
        "geojson",
        FieldType::Object(&[
            must("type", FieldType::OneOf(&["Polygon", "MultiPolygon"])).description("Type of the GeoJSON geometry."),
            must("coordinates", FieldType::List(&FieldType::Any, 1, 1_000))
                .description("Rings of positions, longitude first; of a `MultiPolygon` a list of polygons. A ring ends at its first position. At most 10,000 positions."),
        ]),
    )
    .description("Polygons. Required when `format` is `geojson`, refused otherwise."),
]);

/// A location.
pub const LOCATION: FieldType = shape!(
    "Location",
    "Location: a named area on the map.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the location. The name need not be unique."),
        must("shape", AREA).description("Area of the location."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["location"]),
    ]
);

/// A template of campaigns.
pub const CAMPAIGN_TEMPLATE: FieldType = shape!(
    "CampaignTemplate",
    "Campaign template: a saved configuration from which campaigns or promotion tiers are set up.",
    &[
        must("id", KEY),
        must("name", KEY).description("Name of the template, unique in the project."),
        must("description", FieldType::Text)
            .or_null()
            .description("Description of the template, for people. `null` when there is none."),
        must("campaign_type", FieldType::OneOf(&["DISCOUNT_COUPONS", "GIFT_VOUCHERS"]))
            .description("Type of the campaigns that are set up. Promotion tiers are set up from `DISCOUNT_COUPONS`."),
        may("json_template", FieldType::Map)
            .description("Saved configuration. Present only when `expand` contains `json_template`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["campaign_template"]),
    ]
);

/// Validation rules that were created in addition to the campaign or tier of a template.
const MADE: FieldType =
    FieldType::List(&FieldType::Object(&[must("id", KEY), object(&["validation_rules"])]), 0, usize::MAX);

/// Campaign that a template created.
pub const CAMPAIGN_SETUP: FieldType = shape!(
    "CampaignSetup",
    "Campaign that was set up from a template.",
    &[
        must("campaign", crate::documents::shapes::promotions::CAMPAIGN).description("New campaign."),
        must("created_resources", MADE).description("Validation rules that were created in addition."),
        object(&["campaign_setup"]),
    ]
);

/// Tier that a template created.
pub const TIER_SETUP: FieldType = shape!(
    "PromotionTierSetup",
    "Promotion tier that was set up from a template.",
    &[
        must("promotion_tier", crate::documents::shapes::promotions::TIER).description("New promotion tier."),
        must("created_resources", MADE).description("Validation rules that were created in addition."),
        object(&["promotion_tier_setup"]),
    ]
);
