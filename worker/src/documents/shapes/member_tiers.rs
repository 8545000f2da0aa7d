//! The shapes of a member's tier state and tier transactions.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::members::{MEMBER, MEMBER_CARD_FIELDS, PROGRAM};
use scrip::shape::{COUNT, FieldType, INT_MAX, may, must, object};
use scrip::{fields_of, shape};

/// Measured points; a card with debt has negative ones.
const MEASURED: FieldType = FieldType::Int(-INT_MAX, INT_MAX);

/// Transaction of a tier.
pub const TRANSACTION: FieldType = shape!(
    "TierTransaction",
    "Record of a movement of a member: into a tier, out of a tier, or a tier kept after evaluation.",
    &[
        must("id", KEY),
        must("card_id", KEY).description("ID of the card whose points were measured."),
        must("program_id", KEY).description("ID of the loyalty program."),
        must("member_id", KEY).description("ID of the member."),
        must("card_definition_id", KEY).description("ID of the card definition of the card."),
        must("tier_structure_id", KEY).description("ID of the tier structure."),
        must("tier_id", KEY).or_null().description("ID of the tier after the movement. `null` if the member is in none."),
        must("type", FieldType::OneOf(&["UPGRADED", "DOWNGRADED", "JOINED", "LEFT", "PROLONGED"])).description("Type of the movement. `JOINED` comes from no tier, `LEFT` leads to none, `PROLONGED` keeps the tier."),
        must(
            "details",
            FieldType::Object(&[
                must("points", MEASURED).description("Number of points measured at that moment. Negative if the card is overdrawn."),
                must("tier_from", KEY).or_null().description("ID of the tier before the movement. `null` means none."),
                must("tier_to", KEY).or_null().description("ID of the tier after the movement. `null` means none."),
                must(
                    "origin",
                    FieldType::Object(&[
                        must(
                            "type",
                            FieldType::OneOf(&[
                                "card_operations",
                                "daily_task_operations",
                                "member_card_created",
                                "member_card_deleted",
                            ])
                        )
                        .description("Type of the cause: points of the card, time or segments (`daily_task_operations`), or the card issued or deleted."),
                        must("card_transaction_ids", FieldType::List(&KEY, 0, usize::MAX))
                            .description("IDs of the card transactions of that moment."),
                    ])
                )
                .description("Cause of the movement."),
                must("rejection", FieldType::Map).or_null().description("Always `null`. A tier transaction is never rejected."),
                must("start_at", FieldType::DateTime).or_null().description("Moment at which the member entered the tier, in UTC. `null` if the member is in none."),
                must("expires_at", FieldType::DateTime).or_null().description("Moment at which the tier is evaluated again, in UTC. `null` if any change can move the member."),
            ])
        )
        .description("Details of the movement."),
        must("status", FieldType::OneOf(&["PENDING", "APPROVED", "REJECTED"])).description("Status of the transaction. Always `APPROVED`."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["tier_transaction"]),
    ]
);

const TIER: FieldType = shape!(
    "MemberTierProgressTier",
    "Reference to a tier.",
    &[must("id", KEY).description("ID of the tier."), must("name", FieldType::Text).description("Name of the tier.")]
);

const PROGRESS: FieldType = shape!(
    "MemberTierProgress",
    "Progress of a card through the tiers, assuming that no more points are earned or spent.",
    &[
        must(
            "current",
            FieldType::Object(&[
                must("tier", TIER).description("Current tier."),
                must("start_at", FieldType::DateTime).description("Moment at which the member entered the tier, in UTC."),
                must("expires_at", FieldType::DateTime)
                    .or_null()
                    .description("Moment at which the tier is evaluated again or the grace period ends, in UTC. `null` if any change can move the member."),
                must(
                    "points",
                    FieldType::Object(&[
                        must("current", MEASURED).description("Number of points collected: the balance, or the points earned in the current tracking period."),
                        must("min", COUNT).description("Minimum number of points of the tier."),
                        may("max", COUNT).description("Maximum number of points of the tier. Absent means no maximum."),
                    ])
                )
                .description("Points of the card in relation to the tier."),
            ])
        )
        .or_null()
        .description("Current tier. `null` if the member is in none."),
        must("tier_structure", FieldType::Object(&[must("id", KEY), object(&["tier_structure"])]))
            .or_null()
            .description("Tier structure that measures the card. `null` if none does."),
        must(
            "deferred",
            FieldType::List(
                &FieldType::Object(&[
                    must("tier", TIER).description("Tier to be entered."),
                    must("start_at", FieldType::DateTime).description("Moment at which the member enters the tier, in UTC."),
                    must("expires_at", FieldType::DateTime).or_null().description("Moment at which that tier is evaluated again, in UTC. `null` if any change can move the member."),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Tier that is reached and starts later, with the next tracking period. At most one entry."),
        must(
            "risks",
            FieldType::List(
                &FieldType::Object(&[
                    must("type", FieldType::OneOf(&["TIER_DOWNGRADE", "TIER_LEFT"])).description("Type of the loss: a lower tier, or no tier."),
                    must("date", FieldType::DateTime).description("Moment of the loss, in UTC."),
                    must("tier", TIER).or_null().description("Tier after the loss. `null` means none."),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Next loss of the tier unless the member acts. At most one entry."),
        must(
            "opportunities",
            FieldType::List(
                &FieldType::Object(&[
                    must("valid_until", FieldType::DateTime)
                        .or_null()
                        .description("End of the current tracking period, in UTC. `null` if the balance is measured."),
                    must("tier", TIER).description("Tier that can be reached."),
                    must("points", COUNT).description("Number of points missing for the tier."),
                ]),
                0,
                usize::MAX
            )
        )
        .description("Higher tiers that the customer's segments allow, lowest first, with the points missing."),
        object(&["member_tier_progress"]),
    ]
);

const CARD: FieldType = shape!(
    "MembershipCard",
    "Card of a member, with the progress through the tiers.",
    fields_of!(
        MEMBER_CARD_FIELDS,
        &[must("tier_progress", PROGRESS).description("Progress of the card through the tiers.")]
    )
);

/// A membership of a customer in one program.
pub const MEMBERSHIP: FieldType = shape!(
    "Membership",
    "Membership of a customer in a loyalty program, with cards and tiers.",
    &[
        must("member", MEMBER).description("Member of the program."),
        must("program", PROGRAM).description("Loyalty program."),
        must("cards", FieldType::List(&CARD, 0, usize::MAX))
            .description("Cards of the member, with their current balances."),
        object(&["membership"]),
    ]
);
