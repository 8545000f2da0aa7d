//! The shapes of tier structures and of their tiers. Answers are in the form of the older revision of the interface, and both are taken.
//! It must not know who is in a tier.

use crate::document::fields::KEY;
use crate::document::shapes::activities::activity;
use crate::document::shapes::points::{DATES, LONG_UNITS, NAME};
use scrip::shape::{Field, Kind, may, must, object};
use scrip::{fields_of, shape};

/// The longest period, in any unit.
const LONGEST: i64 = 10_000;
const LENGTH: Field = must("value", Kind::Int(1, LONGEST)).says("How many units");
/// A period in days, months or years.
const PERIOD: Kind = Kind::Object(&[LENGTH, must("unit", LONG_UNITS).says("What it is counted in")]);
const TRACKING_PERIOD: Kind = Kind::Object(&[
    LENGTH,
    must("unit", Kind::OneOf(&["HOUR", "DAY", "WEEK", "MONTH", "YEAR"])).says("What it is counted in"),
]);
const OVER: Kind = Kind::Object(&[must("period", PERIOD).says("How long")]);
const CHANGES: Kind = Kind::OneOf(&["IMMEDIATELY", "NEXT_TRACKING_PERIOD"]);
/// What a tier is reached by.
pub const MEASURES: Kind = Kind::OneOf(&["POINT_BALANCE", "POINT_EARNED"]);
const STATUSES: Kind = Kind::OneOf(&["DRAFT", "ACTIVE", "INACTIVE", "DELETED"]);
const CALENDAR: Kind = Kind::Object(&[must("calendar_dates", DATES).says("Days of every year")]);
const EVENTS: Kind = Kind::List(&KEY, 0, 10);

/// What keeps a tier, in the order in which it is told.
const ACTIVITIES: [Field; 4] = [
    may("earning_activity", Kind::Bool).says("Whether earning points counts"),
    may("spending_activity", Kind::Bool).says("Whether spending points counts"),
    may("custom_activity", Kind::Bool).says("Whether events of the shop's own count"),
    may("custom_activity_types", EVENTS).says("Which events count"),
];
const SLIDING: Kind = Kind::Object(&[
    ACTIVITIES[0],
    ACTIVITIES[1],
    ACTIVITIES[2],
    ACTIVITIES[3],
    must("period", PERIOD).says("How long without any"),
]);
const SHOWN_SLIDING: Kind = Kind::Object(&[
    ACTIVITIES[0].always(),
    ACTIVITIES[1].always(),
    ACTIVITIES[2].always(),
    ACTIVITIES[3].always(),
    must("period", PERIOD).says("How long without any"),
]);
const ROLLING: Field = may("rolling_expiration", OVER).says("So long after it was entered");
const CALENDAR_DATES: Field = may("calendar_expiration", CALENDAR).says("On dates of every year");
const WITHOUT_ACTIVITY: &str = "So long after the last activity";

/// When a tier is looked at again, as it is sent.
const EXPIRATION: Kind = Kind::Object(&[
    must(
        "type",
        Kind::OneOf(&[
            "NO_EXPIRATION",
            "SLIDING_EXPIRATION",
            "ROLLING_EXPIRATION",
            "CALENDAR_EXPIRATION",
            "NO_RETENTION",
            "FIXED_DURATION",
        ]),
    ),
    ROLLING,
    may("fixed_duration", OVER).says("The same under its later name"),
    CALENDAR_DATES,
    may("sliding_expiration", SLIDING).says(WITHOUT_ACTIVITY),
]);

const DOWNGRADES: Kind = Kind::OneOf(&["NO_DOWNGRADE", "SINGLE_LEVEL", "MULTI_LEVEL"]);
const UNIT: Field = must("unit", LONG_UNITS).says("What it is counted in");
const ROUND_UP: Field = may("round_up", Kind::Bool).says("Whether it lasts until its unit ends");
const GRACE: Field =
    may("grace_period", Kind::Object(&[LENGTH, UNIT, ROUND_UP])).says("How long a member stays all the same");
const DOWNGRADE: Kind = Kind::Object(&[must("type", DOWNGRADES), GRACE]);

const CARD: Field = may("card_definition_id", KEY).says("The card whose points count");
const EARNED: Kind = Kind::Object(&[
    CARD,
    must("period", TRACKING_PERIOD).says("How long points are counted together"),
    must("type", CHANGES).says("When a tier changes"),
]);

/// What can be said of a tier structure, new or not.
const SAID: &[Field] = &[
    CARD,
    may("point_balance", Kind::Object(&[CARD.always()])).says("By the points that are there"),
    may("point_earned", EARNED).says("By the points that were earned"),
    may("expiration", EXPIRATION).says("When a tier is looked at again"),
    may("downgrade", DOWNGRADE).says("How far a member falls"),
    may("metadata", Kind::Map),
];
/// What can be said of one that is there.
pub const CHANGED: &[Field] = fields_of!(&[may("name", NAME), may("type", MEASURES)], SAID);
/// What is said of a new one.
pub const CREATED: &[Field] =
    fields_of!(&[must("name", NAME), must("type", MEASURES), may("status", Kind::OneOf(&["DRAFT", "ACTIVE"]))], SAID);

/// A tier structure.
pub const TIER_STRUCTURE: Kind = shape!(
    "TierStructure",
    "How members move between tiers",
    &[
        must("id", KEY),
        must("name", NAME),
        must("type", MEASURES),
        CARD.always(),
        may(
            "point_earned",
            Kind::Object(&[
                must("period", TRACKING_PERIOD).says("How long points are counted together"),
                must("type", CHANGES).says("When a tier changes"),
            ]),
        )
        .says("By the points that were earned"),
        must(
            "expiration",
            Kind::Object(&[
                must(
                    "type",
                    Kind::OneOf(&["NO_EXPIRATION", "SLIDING_EXPIRATION", "ROLLING_EXPIRATION", "CALENDAR_EXPIRATION"]),
                ),
                ROLLING,
                CALENDAR_DATES,
                may("sliding_expiration", SHOWN_SLIDING).says(WITHOUT_ACTIVITY),
            ]),
        )
        .says("When a tier is looked at again"),
        must(
            "downgrade",
            Kind::Object(&[
                must("type", DOWNGRADES),
                must("grace_period", Kind::Object(&[LENGTH, UNIT, ROUND_UP.always()]))
                    .says("How long a member stays all the same")
                    .or_null(),
            ]),
        )
        .says("How far a member falls"),
        must("metadata", Kind::Map),
        must("status", STATUSES),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["tier_structure"]),
    ]
);

const POINTS: Kind = Kind::Number(0, 1_000_000_000);
const LEAST: Field = may("min_value", POINTS).says("From so many points on");
const MOST: Field = may("max_value", POINTS).says("Up to so many points");
const SEGMENT: Field =
    may("segment", Kind::Object(&[must("id", KEY)])).says("The segment that a member's customer is in");
const TIER_DOWNGRADE: Kind = Kind::Object(&[must("type", Kind::OneOf(&["INHERIT", "NO_DOWNGRADE"]))]);
const QUALIFICATION: Kind = Kind::Object(&[
    must("type", Kind::OneOf(&["POINTS", "SEGMENT", "POINTS_AND_SEGMENT"])),
    LEAST,
    MOST,
    may("points", Kind::Object(&[LEAST.always(), MOST])).says("The same as the later revision says it"),
    SEGMENT,
]);

/// What can be said of a tier, new or not.
const SAID_OF_TIER: &[Field] =
    &[may("downgrade", TIER_DOWNGRADE).says("Whether a member falls from it"), may("metadata", Kind::Map)];
/// What can be said of one that is there.
pub const TIER_CHANGED: &[Field] =
    fields_of!(&[may("name", NAME), may("qualification_rules", QUALIFICATION).says("Who is in it")], SAID_OF_TIER);
/// What is said of a new one.
pub const TIER_CREATED: &[Field] =
    fields_of!(&[must("name", NAME), must("qualification_rules", QUALIFICATION).says("Who is in it")], SAID_OF_TIER);

/// A tier.
pub const TIER: Kind = shape!(
    "LoyaltyTier",
    "A tier of a structure",
    &[
        must("id", KEY),
        must("tier_structure_id", KEY).says("The id of its structure"),
        must("name", NAME),
        must(
            "qualification_rules",
            Kind::Object(&[
                must("type", Kind::OneOf(&["POINTS", "SEGMENT"])),
                LEAST.always(),
                MOST.always().or_null(),
                SEGMENT.always().or_null(),
            ]),
        )
        .says("Who is in it"),
        must("downgrade", TIER_DOWNGRADE).says("Whether a member falls from it"),
        must("metadata", Kind::Map),
        must("created_at", Kind::DateTime),
        must("updated_at", Kind::DateTime).or_null(),
        object(&["tier"]),
    ]
);

/// What happened to a tier structure and its tiers.
pub const ACTIVITY: Kind = activity!("TierStructureActivity", "tier_structure_id");
