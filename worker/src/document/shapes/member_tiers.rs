//! The shapes of a member's way through the tiers. It must not know who is in one.

use crate::document::fields::KEY;
use crate::document::shapes::members::{MEMBER, MEMBER_CARD_FIELDS, PROGRAM};
use scrip::shape::{COUNT, INT_MAX, Kind, may, must, object};
use scrip::{fields_of, shape};

/// Points that are measured: a card may owe some.
const MEASURED: Kind = Kind::Int(-INT_MAX, INT_MAX);

/// What happened to a tier.
pub const TRANSACTION: Kind = shape!(
    "TierTransaction",
    "That a member came to a tier, or left one",
    &[
        must("id", KEY),
        must("card_id", KEY).says("The card whose points were measured"),
        must("program_id", KEY),
        must("member_id", KEY).says("The member"),
        must("card_definition_id", KEY),
        must("tier_structure_id", KEY),
        must("tier_id", KEY).or_null().says("The tier from then on"),
        must("type", Kind::OneOf(&["UPGRADED", "DOWNGRADED", "JOINED", "LEFT", "PROLONGED"])),
        must(
            "details",
            Kind::Object(&[
                must("points", MEASURED).says("The points that were measured"),
                must("tier_from", KEY).or_null().says("The tier before"),
                must("tier_to", KEY).or_null().says("The tier afterwards"),
                must(
                    "origin",
                    Kind::Object(&[
                        must(
                            "type",
                            Kind::OneOf(&[
                                "card_operations",
                                "daily_task_operations",
                                "member_card_created",
                                "member_card_deleted",
                            ])
                        ),
                        must("card_transaction_ids", Kind::List(&KEY, 0, usize::MAX))
                            .says("What happened to the card at that moment"),
                    ])
                )
                .says("What made it change"),
                must("rejection", Kind::Map).or_null().says("Always nothing: what is told of has happened"),
                must("start_at", Kind::DateTime).or_null().says("Since when the tier is held"),
                must("expires_at", Kind::DateTime).or_null().says("When it is looked at again"),
            ])
        ),
        must("status", Kind::OneOf(&["PENDING", "APPROVED", "REJECTED"])),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["tier_transaction"]),
    ]
);

const TIER: Kind = shape!(
    "MemberTierProgressTier",
    "A tier, by its name",
    &[must("id", KEY).says("The tier"), must("name", Kind::Text)]
);

const PROGRESS: Kind = shape!(
    "MemberTierProgress",
    "The way of a card through the tiers, if nothing is earned or spent any more",
    &[
        must(
            "current",
            Kind::Object(&[
                must("tier", TIER).says("The tier"),
                must("start_at", Kind::DateTime).says("Since when it is held"),
                must("expires_at", Kind::DateTime)
                    .or_null()
                    .says("When it is looked at again, or the grace period ends"),
                must(
                    "points",
                    Kind::Object(&[
                        must("current", MEASURED).says("The points that are being collected"),
                        must("min", COUNT).says("The least that fit the tier"),
                        may("max", COUNT).says("The most that do"),
                    ])
                ),
            ])
        )
        .or_null()
        .says("Where the member is; nothing outside of all tiers"),
        must("tier_structure", Kind::Object(&[must("id", KEY), object(&["tier_structure"])]))
            .or_null()
            .says("The structure; nothing where the points of the card lead through none"),
        must(
            "deferred",
            Kind::List(
                &Kind::Object(&[
                    must("tier", TIER).says("The tier"),
                    must("start_at", Kind::DateTime).says("From when on"),
                    must("expires_at", Kind::DateTime).or_null().says("When it will be looked at again"),
                ]),
                0,
                usize::MAX
            )
        )
        .says("What is reached, and comes with the next tracking period"),
        must(
            "risks",
            Kind::List(
                &Kind::Object(&[
                    must("type", Kind::OneOf(&["TIER_DOWNGRADE", "TIER_LEFT"])),
                    must("date", Kind::DateTime).says("When"),
                    must("tier", TIER).or_null().says("The tier that comes instead"),
                ]),
                0,
                usize::MAX
            )
        )
        .says("What is lost next"),
        must(
            "opportunities",
            Kind::List(
                &Kind::Object(&[
                    must("valid_until", Kind::DateTime)
                        .or_null()
                        .says("When the points that are being collected begin anew"),
                    must("tier", TIER).says("The tier"),
                    must("points", COUNT).says("How many points lack"),
                ]),
                0,
                usize::MAX
            )
        )
        .says("What may be reached"),
        object(&["member_tier_progress"]),
    ]
);

const CARD: Kind = shape!(
    "MembershipCard",
    "A card that a member has, with the way through the tiers",
    fields_of!(MEMBER_CARD_FIELDS, &[must("tier_progress", PROGRESS).says("The way through the tiers")])
);

/// A membership of a customer in one program.
pub const MEMBERSHIP: Kind = shape!(
    "Membership",
    "That a customer is a member of a program, with the cards and tiers",
    &[
        must("member", MEMBER).says("The member"),
        must("program", PROGRAM).says("The program"),
        must("cards", Kind::List(&CARD, 0, usize::MAX)).says("The cards of the member"),
        object(&["membership"]),
    ]
);
