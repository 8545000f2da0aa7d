//! The shapes of customers and segments.

use crate::documents::common_fields::KEY;
use scrip::shape;
use scrip::shape::{COUNT, FieldType, may, must, object};
pub use scrip::wire::customer::CUSTOMER_DOCUMENT as CUSTOMER;
pub use scrip::wire::rules::SEGMENT;

/// Shape of an empty list.
const NONE: &[shape::Field] = &[
    must("object", FieldType::OneOf(&["list"])),
    must("data_ref", FieldType::OneOf(&["data"])),
    must("data", FieldType::List(&shape::EMPTY, 0, 0)).description("Empty list."),
    must("total", COUNT).description("Number of listed objects. Always 0."),
];

/// Consents; the list is always empty.
pub const CONSENTS: FieldType = FieldType::Object(&[
    must("object", FieldType::OneOf(&["list"])),
    must("data_ref", FieldType::OneOf(&["data"])),
    must("data", FieldType::List(&shape::EMPTY, 0, 0)).description("Empty list."),
    must("total", COUNT).description("Number of listed objects. Always 0."),
    must("groups", FieldType::Object(NONE)).description("Empty list of groups of consents."),
    must("consents", FieldType::Object(NONE))
        .description("Empty list of consents, under the name that some clients read."),
]);

/// A custom event.
pub const EVENT: FieldType = shape!(
    "Event",
    "Custom event as recorded.",
    &[
        must("type", FieldType::Text).description("Name of the event, as its schema declares."),
        must(
            "customer",
            FieldType::Object(&[
                must("id", KEY),
                must("source_id", KEY)
                    .or_null()
                    .description("Unique name of the customer in the merchant's system. `null` if none was given."),
                must("name", FieldType::Text).or_null().description("Full name of the customer. `null` if unknown."),
                must("email", FieldType::Text)
                    .or_null()
                    .description("Email address of the customer. `null` if unknown."),
                may("metadata", FieldType::Map),
                object(&["customer"]),
            ])
        )
        .description("Customer of the event. For a client without proof, only the `source_id` that was sent."),
        must("referral", FieldType::Map)
            .or_null()
            .description("Placeholder that is always `null`, kept for existing clients."),
        must("loyalty", FieldType::Map)
            .or_null()
            .description("Placeholder that is always `null`, kept for existing clients."),
        must("metadata", FieldType::Map).description("Properties of the event, as the event schema defines them."),
        object(&["event"]),
    ]
);

/// Result of the erasure of a customer. Its name is spelled as published.
pub const PERMANENT_DELETION: FieldType = shape!(
    "PermanentDeletion",
    "Result of the permanent deletion of a customer.",
    &[
        must("id", KEY),
        must("related_object_id", KEY).description("ID that the deleted customer had."),
        must("related_object", FieldType::OneOf(&["customer"])).description("Type of the deleted object."),
        must("status", FieldType::OneOf(&["DONE", "IN_PROGRESS"]))
            .description("Status of the deletion: `DONE`, or `IN_PROGRESS` while stored records are still searched."),
        must(
            "data_json",
            FieldType::Object(&[
                must("events", COUNT).description("Number of custom events, which are deleted."),
                must("customer_events", COUNT)
                    .description("Number of stored activities. Always 0, because activities are computed."),
                must("daily_events", COUNT).description("Number of daily records. Always 0, because none are stored."),
                must("segments", COUNT).description("Number of static segments that listed the customer."),
                must("orders", COUNT).description("Number of orders, which stay without personal data."),
                must("order_events", COUNT)
                    .description("Number of stored order events. Always 0, because none are stored."),
                must("customer", COUNT).description("Number of customer profiles that are deleted. Always 1."),
            ])
        )
        .description("Numbers of records found for the customer when the deletion began."),
        must("created_at", FieldType::DateTime),
        object(&["pernament_deletion"]),
    ]
);

/// Redeemable of a customer.
pub const CUSTOMER_REDEEMABLE: FieldType = shape!(
    "CustomerRedeemable",
    "Redeemable that a customer holds, passes on or has received.",
    &[
        must("id", KEY),
        must("redeemable_id", KEY).description("ID of the voucher."),
        must("redeemable_object", FieldType::OneOf(&["voucher"]))
            .description("Type of the redeemable. Always `voucher`."),
        must("customer_id", KEY).description("ID of the customer."),
        must("holder_role", FieldType::OneOf(&["OWNER", "REFERRER", "REFEREE"])).description(
            "Role of the customer: `OWNER` of a published voucher, `REFERRER` or `REFEREE` of a referral code."
        ),
        must("campaign_id", KEY)
            .or_null()
            .description("ID of the campaign of the voucher. `null` for a voucher without a campaign."),
        must("campaign_type", FieldType::Text)
            .or_null()
            .description("Type of the campaign of the voucher. `null` for a voucher without a campaign."),
        must("voucher_type", scrip::wire::voucher::VOUCHER_TYPE).description("Type of the voucher."),
        must(
            "redeemable",
            FieldType::Object(&[
                must("type", FieldType::OneOf(&["voucher"])).description("Type of the redeemable. Always `voucher`."),
                must(
                    "status",
                    FieldType::OneOf(&["ACTIVE", "USED", "DISABLED", "NOT_ACTIVE_YET", "EXPIRED", "NO_BALANCE"])
                )
                .description("Status of the voucher now: `ACTIVE`, or the first obstacle to a redemption."),
                must("voucher", scrip::wire::voucher::VOUCHER)
                    .description("Voucher, with the present balance and counts."),
            ])
        )
        .description("Voucher as stored now, with the status."),
        must("created_at", FieldType::DateTime)
            .description("Moment since which the customer holds the voucher, in UTC. The latest publication counts."),
    ]
);

/// Activity of a customer.
pub const ACTIVITY: FieldType = shape!(
    "CustomerActivity",
    "Activity of a customer.",
    &[
        must("id", KEY),
        must("type", FieldType::Text).description("Type of activity."),
        must("created_at", FieldType::DateTime),
        must(
            "data",
            FieldType::Object(&[
                must("data", FieldType::Map)
                    .description("Customer, and the objects that the activity concerns, by type."),
                must(
                    "event_source",
                    FieldType::Object(&[must("channel", FieldType::OneOf(&["API", "INTERNAL"])).description(
                        "Channel of the activity: `API` for a call, `INTERNAL` for points that expired or became spendable."
                    )])
                )
                .description("Source of the activity."),
            ])
        )
        .description("Content and source of the activity."),
    ]
);
