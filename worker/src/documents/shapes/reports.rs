//! The shapes of reports about loyalty programs.

use crate::documents::common_fields::KEY;
use scrip::shape::{COUNT, Field, FieldType, must, object};
use scrip::{fields_of, shape};

/// Returns the field of a report with its entries, of this type.
const fn entries(entry: &'static FieldType) -> Field {
    must("data", FieldType::List(entry, 0, usize::MAX))
        .description("Entries of the report. Subjects and periods without activity are omitted.")
}

/// Type of the object of a report.
const REPORT: Field = object(&["report"]);

/// Entries of a report and of its summary, with equal members for a period and for all time. A macro, because `fields_of!` needs constants.
macro_rules! both {
    ($daily:literal, $summary:literal, $details:literal, $fields:expr, $daily_object:literal, $summary_object:literal) => {
        (
            shape!($daily, $details, fields_of!(&[DATE], $fields, &[object(&[$daily_object])])),
            shape!($summary, $details, fields_of!(&[ID], $fields, &[object(&[$summary_object])])),
        )
    };
}

const DATE: Field = must("date", FieldType::Date)
    .description("First day of the period, in the project's time zone. Can lie before the requested span.");
const ID: Field = must("id", KEY).description("ID of the entry, the same in every report.");

const CARD_ENTRY: FieldType = shape!(
    "CardDailyReportEntry",
    "Increase of each lifetime total of a card in one period.",
    &[
        DATE,
        must("points_total", COUNT)
            .description("Number of points earned, added or purchased. Refunds are not included."),
        must("points_earned", COUNT).description("Number of points earned by rules that became available."),
        must("points_added", COUNT).description("Number of points added manually."),
        must("points_purchased", COUNT).description("Number of points bought as a reward."),
        must("points_purchased_reversed", COUNT)
            .description("Number of purchased points that refunds of rewards removed."),
        must("points_subtracted", COUNT).description("Number of points subtracted manually."),
        must("points_expired", COUNT).description("Number of points expired."),
        must("points_spent", COUNT).description("Number of points spent on rewards and orders."),
        must("points_refunded", COUNT).description("Number of spent points that were refunded."),
        must("points_returned", COUNT).description("Number of earned points revoked because an order was returned."),
        must("points_locked", COUNT).description("Always 0. Sessions do not lock points of member cards."),
        must("points_unlocked", COUNT).description("Always 0. Sessions do not lock points of member cards."),
        must("pending_points_total", COUNT).description("Number of points that became pending."),
        must("pending_points_activated", COUNT).description("Number of pending points that became available."),
        must("pending_points_canceled", COUNT).description("Number of pending points that were cancelled."),
        object(&["card_daily_report"]),
    ]
);

/// The points of a card.
pub const CARD: FieldType = shape!("CardDailyReport", "Points of a card by period.", &[entries(&CARD_ENTRY), REPORT]);

const MEMBER_RULE_ENTRY: FieldType = shape!(
    "EarningRuleDailyReportEntry",
    "Use of an earning rule by a member in one period.",
    &[
        DATE,
        must("count", COUNT).description("Number of times that the rule granted something."),
        object(&["earning_rule_daily_report"])
    ]
);

/// An earning rule and a member.
pub const MEMBER_RULE: FieldType = shape!(
    "EarningRuleDailyReport",
    "Use of an earning rule by a member, by period.",
    &[entries(&MEMBER_RULE_ENTRY), REPORT]
);

const RULE_FIELDS: &[Field] = &[
    must("earning_rule_id", KEY).description("ID of the earning rule."),
    must("success_count", COUNT).description("Number of times that the rule granted something."),
    must("failures_count", COUNT).description("Number of times that a limit of the rule prevented a grant."),
    must(
        "failures_breakdown",
        FieldType::Object(&[
            must("cooldown", COUNT).description("Number of times that the pause of the rule prevented a grant."),
            must("frequency", COUNT).description("Number of times that the limit per period prevented a grant."),
        ]),
    )
    .description("Prevented grants by limit."),
];

const RULES: (FieldType, FieldType) = both!(
    "EarningRulesReportDailyEntry",
    "EarningRulesReportSummaryEntry",
    "Use of one earning rule by the members of a program.",
    RULE_FIELDS,
    "program_earning_rules_daily_report",
    "program_earning_rules_summary_report"
);

/// The earning rules of a program, by periods.
pub const RULES_DAILY: FieldType = shape!(
    "EarningRulesReportDaily",
    "Use of earning rules by the members of a program, by period.",
    &[entries(&RULES.0), REPORT]
);
/// The earning rules of a program, in total.
pub const RULES_SUMMARY: FieldType = shape!(
    "EarningRulesReportSummary",
    "Use of earning rules by the members of a program in total.",
    &[entries(&RULES.1), REPORT]
);

const EARNING_FIELDS: &[Field] = &[
    must("earning_rule_id", KEY).description("ID of the earning rule."),
    must("earning_item_id", KEY).description("ID of the earning in the rule."),
    must("card_definition_id", KEY).description("ID of the card definition of the cards that received the points."),
    must("success_count", COUNT).description("Number of times that the earning granted points."),
    must("points", COUNT).description("Number of points granted that were available at once."),
    must("pending_points", COUNT).description("Number of points granted as pending points."),
];

const EARNINGS: (FieldType, FieldType) = both!(
    "PointsEarningsReportDailyEntry",
    "PointsEarningsReportSummaryEntry",
    "Points that one earning granted to the members of a program.",
    EARNING_FIELDS,
    "program_points_earnings_daily_report",
    "program_points_earnings_summary_report"
);

/// The points that members of a program earned, by periods.
pub const EARNINGS_DAILY: FieldType = shape!(
    "PointsEarningsReportDaily",
    "Points earned by the members of a program, by period.",
    &[entries(&EARNINGS.0), REPORT]
);
/// The points that members of a program earned, in total.
pub const EARNINGS_SUMMARY: FieldType = shape!(
    "PointsEarningsReportSummary",
    "Points earned by the members of a program in total.",
    &[entries(&EARNINGS.1), REPORT]
);

const SPENDING_FIELDS: &[Field] = &[
    must("card_definition_id", KEY).description("ID of the card definition of the cards that paid."),
    must("success", COUNT).description("Number of reward purchases and order payments."),
    must("success_on_reward", COUNT).description("Number of reward purchases."),
    must("success_on_order", COUNT).description("Number of order payments."),
    must("points", COUNT).description("Number of points spent on rewards and orders."),
    must("points_on_rewards", COUNT).description("Number of points spent on rewards."),
    must("points_on_order", COUNT).description("Number of points spent on orders."),
    must("amount_on_order", COUNT).description("Amount of orders paid with points, in minor units."),
];

const SPENDING: (FieldType, FieldType) = both!(
    "SpendingReportDailyEntry",
    "SpendingReportSummaryEntry",
    "Points spent from cards of one card definition. Refunds are not subtracted.",
    SPENDING_FIELDS,
    "spending_daily_report",
    "spending_summary_report"
);

/// The points that members of a program spent, by periods.
pub const SPENDING_DAILY: FieldType = shape!(
    "SpendingReportDaily",
    "Points spent by the members of a program, by period.",
    &[entries(&SPENDING.0), REPORT]
);
/// The points that members of a program spent, in total.
pub const SPENDING_SUMMARY: FieldType = shape!(
    "SpendingReportSummary",
    "Points spent by the members of a program in total.",
    &[entries(&SPENDING.1), REPORT]
);

const TIER_FIELDS: &[Field] = &[
    must("tier_structure_id", KEY).description("ID of the tier structure."),
    must("tier_id", KEY).description("ID of the tier."),
    must("joins", COUNT).description("Number of members who entered the tier from no tier."),
    must("upgrades", COUNT).description("Number of members who entered the tier from a lower one."),
    must("downgrades", COUNT).description("Number of members who entered the tier from a higher one."),
    must("lefts", COUNT).description("Number of members who left the tier for no tier."),
    must("prolongs", COUNT).description("Number of members who kept the tier after evaluation."),
];

const TIERS: (FieldType, FieldType) = both!(
    "TiersReportDailyEntry",
    "TiersReportSummaryEntry",
    "Movements of members into and out of one tier.",
    TIER_FIELDS,
    "program_tiers_daily_report",
    "program_tiers_summary_report"
);

/// Tier changes of the members of a program, by periods.
pub const TIERS_DAILY: FieldType =
    shape!("TiersReportDaily", "Movements of members between tiers, by period.", &[entries(&TIERS.0), REPORT]);
/// Tier changes of the members of a program, in total.
pub const TIERS_SUMMARY: FieldType =
    shape!("TiersReportSummary", "Movements of members between tiers in total.", &[entries(&TIERS.1), REPORT]);
