//! The shapes of tier structures and of their tiers. Responses have the form of the older revision of the API; both are accepted.

use crate::documents::common_fields::KEY;
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::points::{DATES, LONG_UNITS, NAME};
use scrip::shape::{Field, FieldType, may, must, object};
use scrip::{fields_of, shape};

/// Maximum length of a period, in any unit.
const LONGEST: i64 = 10_000;
const LENGTH: Field = must("value", FieldType::Int(1, LONGEST)).description("Number of units in the period.");
/// A period in days, months or years.
const PERIOD: FieldType =
    FieldType::Object(&[LENGTH, must("unit", LONG_UNITS).description("Calendar unit of the period.")]);
const TRACKING_PERIOD: FieldType = FieldType::Object(&[
    LENGTH,
    must("unit", FieldType::OneOf(&["HOUR", "DAY", "WEEK", "MONTH", "YEAR"])).description(
        "Unit of the period. Periods follow the calendar in the project's time zone; a week starts on Monday.",
    ),
]);
const FIXED_PERIOD: FieldType = FieldType::Object(&[must("period", PERIOD)
    .description("Period from the day of entry to the last day before the tier is evaluated again.")]);
const CHANGES: FieldType = FieldType::OneOf(&["IMMEDIATELY", "NEXT_TRACKING_PERIOD"]);
/// Measure of points that a tier depends on.
pub const MEASURES: FieldType = FieldType::OneOf(&["POINT_BALANCE", "POINT_EARNED"]);
const STATUSES: FieldType = FieldType::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]);
const CALENDAR: FieldType = FieldType::Object(&[must("calendar_dates", DATES)
    .description("Days of every year at whose end tiers are evaluated again, in the project's time zone.")]);
const EVENTS: FieldType = FieldType::List(&KEY, 0, 10);

/// Activities that keep a tier, in the order of responses.
const ACTIVITIES: [Field; 4] = [
    may("earning_activity", FieldType::Bool).description("`true` if earning points restarts the period."),
    may("spending_activity", FieldType::Bool).description("`true` if spending points restarts the period."),
    may("custom_activity", FieldType::Bool).description("`true` if custom events restart the period."),
    may("custom_activity_types", EVENTS).description(
        "IDs of the event schemas whose events restart the period. Required with `custom_activity`, empty otherwise.",
    ),
];
const SLIDING: FieldType = FieldType::Object(&[
    ACTIVITIES[0],
    ACTIVITIES[1],
    ACTIVITIES[2],
    ACTIVITIES[3],
    must("period", PERIOD)
        .description("Period from the last activity to the last day before the tier is evaluated again."),
]);
const SHOWN_SLIDING: FieldType = FieldType::Object(&[
    ACTIVITIES[0].always(),
    ACTIVITIES[1].always(),
    ACTIVITIES[2].always(),
    ACTIVITIES[3].always(),
    must("period", PERIOD)
        .description("Period from the last activity to the last day before the tier is evaluated again."),
]);
const ROLLING: Field = may("rolling_expiration", FIXED_PERIOD)
    .description("Settings of `ROLLING_EXPIRATION`: a tier is kept for a fixed period after entry.");
const CALENDAR_DATES: Field = may("calendar_expiration", CALENDAR)
    .description("Settings of `CALENDAR_EXPIRATION`: a tier is kept until a fixed day of the year.");
const WITHOUT_ACTIVITY: &str = "Settings of `SLIDING_EXPIRATION`: a tier is kept for a period after the last activity.";

/// Expiration of a tier, as it is sent.
const EXPIRATION: FieldType = FieldType::Object(&[
    must(
        "type",
        FieldType::OneOf(&[
            "NO_EXPIRATION",
            "SLIDING_EXPIRATION",
            "ROLLING_EXPIRATION",
            "CALENDAR_EXPIRATION",
            "NO_RETENTION",
            "FIXED_DURATION",
        ]),
    )
    .description("Type of the expiration. `NO_EXPIRATION`, also named `NO_RETENTION`, evaluates a tier whenever points or segments change. `FIXED_DURATION` means `ROLLING_EXPIRATION`."),
    ROLLING,
    may("fixed_duration", FIXED_PERIOD).description("Settings of `FIXED_DURATION`, the later name of `ROLLING_EXPIRATION`."),
    CALENDAR_DATES,
    may("sliding_expiration", SLIDING).description(WITHOUT_ACTIVITY),
]);

const DOWNGRADES: FieldType = FieldType::OneOf(&["NO_DOWNGRADE", "SINGLE_LEVEL", "MULTI_LEVEL"]);
const UNIT: Field = must("unit", LONG_UNITS).description("Calendar unit of the period.");
const ROUND_UP: Field = may("round_up", FieldType::Bool)
    .description("`true` if the grace period is extended to the end of its last day, month or year. Default `false`.");
const GRACE: Field = may("grace_period", FieldType::Object(&[LENGTH, UNIT, ROUND_UP]))
    .description("Time that a member keeps a tier after no longer matching the tier. `null` or absent means none. Not allowed with `NO_DOWNGRADE`.");
const DOWNGRADE_TEXT: &str =
    "Type of the downgrade: none, to the next lower tier, or to the tier that the member matches.";
const DOWNGRADE: FieldType = FieldType::Object(&[must("type", DOWNGRADES).description(DOWNGRADE_TEXT), GRACE]);

const CARD: Field = may("card_definition_id", KEY)
    .description("ID of the card definition. The points of the member's card of this definition are measured.");
const EARNED: FieldType = FieldType::Object(&[
    CARD,
    must("period", TRACKING_PERIOD)
        .description("Tracking period: calendar period in which earned points are counted together."),
    must("type", CHANGES).description(
        "Moment of an upgrade: as soon as enough points are earned, or at the start of the next tracking period.",
    ),
]);

/// Fields of a new or changed tier structure.
const STRUCTURE_FIELDS: &[Field] = &[
    CARD,
    may("point_balance", FieldType::Object(&[CARD.always()]))
        .description("Later form of `card_definition_id` for `POINT_BALANCE`. Accepted in requests only."),
    may("point_earned", EARNED)
        .description("Settings of `POINT_EARNED`: tiers follow from the points earned in a tracking period."),
    may("expiration", EXPIRATION).description("Rule for when a tier is evaluated again. By default at every change."),
    may("downgrade", DOWNGRADE)
        .description("Rule for members who no longer match their tier. By default members keep the tier."),
    may("metadata", FieldType::Map),
];
/// Fields of a change of a tier structure.
pub const CHANGED: &[Field] = fields_of!(
    &[
        may("name", NAME).description("Name of the tier structure."),
        may("type", MEASURES).description(
            "Points that determine the tier: the balance of the card, or the points earned in a tracking period."
        )
    ],
    STRUCTURE_FIELDS
);
/// Fields of a new tier structure.
pub const CREATED: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the tier structure."),
        must("type", MEASURES).description(
            "Points that determine the tier: the balance of the card, or the points earned in a tracking period."
        ),
        may("status", FieldType::OneOf(&["DRAFT", "ACTIVE"]))
            .description("Initial status. Default `DRAFT`. A new structure has no tiers and cannot be `ACTIVE` yet.")
    ],
    STRUCTURE_FIELDS
);

/// A tier structure.
pub const TIER_STRUCTURE: FieldType = shape!(
    "TierStructure",
    "Rules by which members of loyalty programs enter, keep and leave tiers.",
    &[
        must("id", KEY),
        must("name", NAME).description("Name of the tier structure."),
        must("type", MEASURES).description("Points that determine the tier: the balance of the card, or the points earned in a tracking period."),
        CARD.always(),
        may(
            "point_earned",
            FieldType::Object(&[
                must("period", TRACKING_PERIOD).description("Tracking period: calendar period in which earned points are counted together."),
                must("type", CHANGES).description("Moment of an upgrade: as soon as enough points are earned, or at the start of the next tracking period."),
            ]),
        )
        .description("Settings of `POINT_EARNED`: tiers follow from the points earned in a tracking period."),
        must(
            "expiration",
            FieldType::Object(&[
                must(
                    "type",
                    FieldType::OneOf(&[
                        "NO_EXPIRATION",
                        "SLIDING_EXPIRATION",
                        "ROLLING_EXPIRATION",
                        "CALENDAR_EXPIRATION"
                    ]),
                )
                .description("Type of the expiration. Determines which block is present. `NO_EXPIRATION` evaluates a tier whenever points or segments change."),
                ROLLING,
                CALENDAR_DATES,
                may("sliding_expiration", SHOWN_SLIDING).description(WITHOUT_ACTIVITY),
            ]),
        )
        .description("Rule for when a tier is evaluated again. By default at every change."),
        must(
            "downgrade",
            FieldType::Object(&[
                must("type", DOWNGRADES).description(DOWNGRADE_TEXT),
                must("grace_period", FieldType::Object(&[LENGTH, UNIT, ROUND_UP.always()]))
                    .description("Time that a member keeps a tier after no longer matching the tier. `null` means none.")
                    .or_null(),
            ]),
        )
        .description("Rule for members who no longer match their tier. By default members keep the tier."),
        must("metadata", FieldType::Map),
        must("status", STATUSES).description("Status of the tier structure. Members move between tiers of active structures."),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["tier_structure"]),
    ]
);

const POINTS: FieldType = FieldType::Number(0, 1_000_000_000);
const LEAST: Field =
    may("min_value", POINTS).description("Minimum number of points of the tier, with at most 6 decimals.");
const MOST: Field = may("max_value", POINTS)
    .description("Maximum number of points of the tier, with at most 6 decimals. `null` or absent means no maximum.");
const SEGMENT: Field = may("segment", FieldType::Object(&[must("id", KEY)]))
    .description("Segment that the customer must be in. `null` or absent means all customers.");
const TIER_DOWNGRADE: FieldType = FieldType::Object(&[must("type", FieldType::OneOf(&["INHERIT", "NO_DOWNGRADE"])).description("`INHERIT` if the downgrade of the tier structure applies, `NO_DOWNGRADE` if members never fall from the tier. Default `INHERIT`.")]);
const QUALIFICATION: FieldType = FieldType::Object(&[
    must("type", FieldType::OneOf(&["POINTS", "SEGMENT", "POINTS_AND_SEGMENT"])).description("Type of the rule. `POINTS` needs points, the others a segment. `POINTS_AND_SEGMENT` needs both and is returned as `SEGMENT`."),
    LEAST,
    MOST,
    may("points", FieldType::Object(&[LEAST.always(), MOST])).description("Later form of `min_value` and `max_value`, which excludes both. Accepted in requests only."),
    SEGMENT,
]);

/// Fields of a new or changed tier.
const TIER_FIELDS: &[Field] = &[
    may("downgrade", TIER_DOWNGRADE).description("Rule for members who no longer match the tier."),
    may("metadata", FieldType::Map),
];
/// Fields of a change of a tier.
pub const TIER_CHANGED: &[Field] = fields_of!(
    &[
        may("name", NAME).description("Name of the tier."),
        may("qualification_rules", QUALIFICATION).description("Points and segment that members of the tier must have.")
    ],
    TIER_FIELDS
);
/// Fields of a new tier.
pub const TIER_CREATED: &[Field] = fields_of!(
    &[
        must("name", NAME).description("Name of the tier."),
        must("qualification_rules", QUALIFICATION)
            .description("Points and segment that members of the tier must have.")
    ],
    TIER_FIELDS
);

/// A tier.
pub const TIER: FieldType = shape!(
    "LoyaltyTier",
    "Tier of a tier structure. A member is in the highest tier that matches.",
    &[
        must("id", KEY),
        must("tier_structure_id", KEY).description("ID of the tier structure."),
        must("name", NAME).description("Name of the tier."),
        must(
            "qualification_rules",
            FieldType::Object(&[
                must("type", FieldType::OneOf(&["POINTS", "SEGMENT"]))
                    .description("Type of the rule. With `SEGMENT`, the customer must be in `segment` as well."),
                LEAST.always(),
                MOST.always().or_null(),
                SEGMENT.always().or_null(),
            ]),
        )
        .description("Points and segment that members of the tier must have."),
        must("downgrade", TIER_DOWNGRADE).description("Rule for members who no longer match the tier."),
        must("metadata", FieldType::Map),
        must("created_at", FieldType::DateTime),
        must("updated_at", FieldType::DateTime).or_null(),
        object(&["tier"]),
    ]
);

/// Activity of a tier structure and its tiers.
pub const ACTIVITY: FieldType = activity!("TierStructureActivity", "tier_structure_id");
