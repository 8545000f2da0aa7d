//! The shapes of customers and segments. It must not know who is one.

use crate::document::fields::{ADDRESS, KEY};
use scrip::shape;
use scrip::shape::{AMOUNT, COUNT, Kind, may, must, object};

/// A list with nothing in it.
const NONE: &[shape::Field] = &[
    must("object", Kind::OneOf(&["list"])),
    must("data_ref", Kind::OneOf(&["data"])),
    must("data", Kind::List(&shape::EMPTY, 0, 0)).says("Nothing"),
    must("total", COUNT),
];

/// Consents, of which there are none.
pub const CONSENTS: Kind = Kind::Object(&[
    must("object", Kind::OneOf(&["list"])),
    must("data_ref", Kind::OneOf(&["data"])),
    must("data", Kind::List(&shape::EMPTY, 0, 0)).says("Nothing"),
    must("total", COUNT),
    must("groups", Kind::Object(NONE)).says("Groups of consents, of which there are none"),
    must("consents", Kind::Object(NONE)).says("The same list under the name that some clients read"),
]);

/// What was redeemed by a customer, and what is left.
const SUMMARY: Kind = Kind::Object(&[
    must(
        "redemptions",
        Kind::Object(&[
            must("total_redeemed", COUNT).says("Redemptions that stand"),
            must("total_failed", COUNT).says("Redemptions that failed"),
            must("total_succeeded", COUNT).says("Redemptions that were done"),
            must("total_rolled_back", COUNT).says("Redemptions that were undone"),
            must("total_rollback_failed", COUNT).says("Rollbacks that failed"),
            must("total_rollback_succeeded", COUNT).says("Rollbacks that were done"),
            must(
                "gift",
                Kind::Object(&[
                    must("redeemed_amount", AMOUNT),
                    must("amount_to_go", AMOUNT).says("Minor units that are left"),
                ]),
            ),
            must(
                "loyalty_card",
                Kind::Object(&[
                    must("redeemed_points", COUNT),
                    must("points_to_go", COUNT).says("Points that are left"),
                ]),
            ),
        ]),
    )
    .says("What was redeemed"),
    must(
        "orders",
        Kind::Object(&[
            must("total_amount", AMOUNT).says("What was paid altogether"),
            must("total_count", COUNT).says("How many orders were paid"),
            must("average_amount", AMOUNT).says("What was paid on average"),
            must("last_order_amount", AMOUNT)
                .says("What the order comes to that was made last, of those that were paid"),
            must("last_order_date", Kind::DateTime).or_null().says("When it was made"),
        ]),
    )
    .says("What was paid"),
]);

/// A customer.
pub const CUSTOMER: Kind = shape!(
    "Customer",
    "A customer",
    &[
        must("id", KEY),
        must("source_id", KEY).or_null(),
        may("name", Kind::Text).or_null(),
        may("description", Kind::Text).or_null(),
        may("email", Kind::Text).or_null().says("The e-mail address; it names nobody"),
        may("phone", Kind::Text).or_null().says("The telephone number"),
        may("birthday", Kind::Date).or_null().says("The day of birth"),
        may("birthdate", Kind::Date).or_null().says("The day of birth"),
        may("address", ADDRESS).or_null().says("Where they live"),
        may("metadata", Kind::Map),
        may("system_metadata", Kind::Map).says("Nothing; existing clients look for it"),
        must("summary", SUMMARY).says("What they redeemed and paid"),
        must(
            "loyalty",
            Kind::Object(&[
                may("points", COUNT).says("On all cards"),
                must("referred_customers", COUNT).says("How many they referred"),
                must("campaigns", Kind::Map).says("By program"),
            ]),
        )
        .says("Their loyalty cards"),
        may(
            "referrals",
            Kind::Object(&[
                must(
                    "campaigns",
                    Kind::List(
                        &Kind::Object(&[
                            must("campaign_id", KEY),
                            must("referrer_id", KEY),
                            must("related_object_id", KEY),
                            must("related_object_type", Kind::Text),
                            must("date", Kind::DateTime),
                        ]),
                        0,
                        usize::MAX
                    ),
                )
                .says("By campaign"),
                must("total", COUNT),
            ]),
        )
        .says("Who referred them"),
        may("created_at", Kind::DateTime),
        may("updated_at", Kind::DateTime).or_null(),
        may("object", Kind::OneOf(&["customer"])),
    ]
);

/// A custom event.
pub const EVENT: Kind = shape!(
    "Event",
    "A custom event that was told of",
    &[
        must("type", Kind::Text).says("The name of its schema"),
        must(
            "customer",
            Kind::Object(&[
                must("id", KEY),
                must("source_id", KEY).or_null(),
                must("name", Kind::Text).or_null(),
                must("email", Kind::Text).or_null().says("The e-mail address; it names nobody"),
                must("metadata", Kind::Map),
                object(&["customer"]),
            ])
        )
        .says("Who did it"),
        must("referral", Kind::Map).or_null().says("Nothing; existing clients look for it"),
        must("loyalty", Kind::Map).or_null().says("Nothing; existing clients look for it"),
        must("metadata", Kind::Map),
        object(&["event"]),
    ]
);

/// A segment.
pub const SEGMENT: Kind = shape!(
    "Segment",
    "Customers that are named together",
    &[
        must("id", KEY),
        must("name", KEY),
        must("type", Kind::OneOf(&["static", "auto-update", "passive"])),
        must("filter", Kind::Named(&scrip::wire::rules::FILTER)).or_null(),
        must("initial_sync_status", Kind::Text).says("Whether it is ready"),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["segment"]),
    ]
);

/// What was done to forget a customer. Its name is spelled as published.
pub const PERMANENT_DELETION: Kind = shape!(
    "PermanentDeletion",
    "What was done to forget a customer",
    &[
        must("id", KEY),
        must("related_object_id", KEY).says("The customer's id, which nothing has any more"),
        must("related_object", Kind::OneOf(&["customer"])).says("What was forgotten"),
        must("status", Kind::OneOf(&["DONE", "IN_PROGRESS"]))
            .says("Whether nothing tells of them any more, or the rest is looked through still"),
        must(
            "data_json",
            Kind::Object(&[
                must("events", COUNT).says("Custom events of theirs, which are gone"),
                must("customer_events", COUNT).says("Entries of their activity"),
                must("daily_events", COUNT).says("None: nothing is kept by days"),
                must("segments", COUNT).says("Static segments that listed them"),
                must("orders", COUNT).says("Orders of theirs, which name nobody now"),
                must("order_events", COUNT).says("None: what happened to orders is kept with them"),
                must("customer", COUNT).says("Themselves"),
            ])
        )
        .says("How much there was of them"),
        must("created_at", Kind::DateTime),
        object(&["pernament_deletion"]),
    ]
);

/// Something that a customer holds.
pub const HELD: Kind = shape!(
    "HeldRedeemable",
    "Something that a customer holds",
    &[
        must("id", KEY),
        must("redeemable_id", KEY).says("The voucher's id"),
        must("redeemable_object", Kind::OneOf(&["voucher"])).says("What it is"),
        must("customer_id", KEY),
        must("holder_role", Kind::OneOf(&["OWNER", "REFERRER", "REFEREE"]))
            .says("Whether it was published to them, they pass it on or got it"),
        must("campaign_id", KEY).or_null(),
        must("campaign_type", Kind::Text).or_null(),
        must("voucher_type", scrip::wire::voucher::VOUCHER_TYPE).says("What kind of voucher it is"),
        must(
            "redeemable",
            Kind::Object(&[
                must("type", Kind::OneOf(&["voucher"])),
                must("status", Kind::OneOf(&["ACTIVE", "USED", "DISABLED", "NOT_ACTIVE_YET", "EXPIRED", "NO_BALANCE"]))
                    .says("Whether it can be redeemed, or why not"),
                must("voucher", scrip::wire::voucher::VOUCHER),
            ])
        )
        .says("What it is, as it stands"),
        must("created_at", Kind::DateTime).says("Since when they hold it"),
    ]
);

/// What happened to a customer.
pub const ACTIVITY: Kind = shape!(
    "CustomerActivity",
    "What happened to a customer",
    &[
        must("id", KEY),
        must("type", Kind::Text).says("What happened"),
        must("created_at", Kind::DateTime),
        must(
            "data",
            Kind::Object(&[
                must("data", Kind::Map).says("Whom and what it is about"),
                must(
                    "event_source",
                    Kind::Object(&[must("channel", Kind::OneOf(&["API", "INTERNAL"])).says("Asked for, or by itself")])
                )
                .says("Where it came from"),
            ])
        )
        .says("What it was"),
    ]
);
