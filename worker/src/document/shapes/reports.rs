//! The shapes of reports about loyalty programs. It must not know how anything is counted.

use crate::document::fields::KEY;
use scrip::shape::{COUNT, Field, Kind, must, object};
use scrip::{fields_of, shape};

/// The shape of a report: a list of entries.
macro_rules! report {
    ($name:literal, $told:literal, $entry:expr) => {
        shape!(
            $name,
            $told,
            &[
                must("data", Kind::List(&$entry, 0, usize::MAX))
                    .says("What was counted; what never happened is not listed"),
                object(&["report"]),
            ]
        )
    };
}

/// The entries of a report and of its sums, which tell the same of a period and of all time.
macro_rules! both {
    ($daily:literal, $summary:literal, $told:literal, $fields:expr, $daily_object:literal, $summary_object:literal) => {
        (
            shape!($daily, $told, fields_of!(&[DATE], $fields, &[object(&[$daily_object])])),
            shape!($summary, $told, fields_of!(&[ID], $fields, &[object(&[$summary_object])])),
        )
    };
}

const DATE: Field = must("date", Kind::Date).says("The first day of the period");
const ID: Field = must("id", KEY).says("The name of the entry, which stays");

const CARD_ENTRY: Kind = shape!(
    "CardDailyReportEntry",
    "How the figures of a card's life rose in a period",
    &[
        DATE,
        must("points_total", COUNT).says("Points that came to be spent, those apart that came back"),
        must("points_earned", COUNT).says("Of these, those that were earned"),
        must("points_added", COUNT).says("Those that were added by hand"),
        must("points_purchased", COUNT).says("Those that were bought"),
        must("points_purchased_reversed", COUNT).says("Points that were bought and taken back"),
        must("points_subtracted", COUNT).says("Points that were taken by hand"),
        must("points_expired", COUNT).says("Points that lapsed"),
        must("points_spent", COUNT).says("Points that were spent"),
        must("points_refunded", COUNT).says("Spent points that came back"),
        must("points_returned", COUNT).says("Earned points that were taken back"),
        must("points_locked", COUNT).says("Always 0: no session locks points of a card"),
        must("points_unlocked", COUNT).says("Always 0"),
        must("pending_points_total", COUNT).says("Points that began to wait"),
        must("pending_points_activated", COUNT).says("Points that waited and came to be spent"),
        must("pending_points_canceled", COUNT).says("Points that waited and were canceled"),
        object(&["card_daily_report"]),
    ]
);

/// The points of a card.
pub const CARD: Kind = report!("CardDailyReport", "What moved on a card, by periods", CARD_ENTRY);

const MEMBER_RULE_ENTRY: Kind = shape!(
    "EarningRuleDailyReportEntry",
    "How often an earning rule fired for a member in a period",
    &[DATE, must("count", COUNT).says("How often it fired"), object(&["earning_rule_daily_report"])]
);

/// An earning rule and a member.
pub const MEMBER_RULE: Kind =
    report!("EarningRuleDailyReport", "How often an earning rule fired for a member, by periods", MEMBER_RULE_ENTRY);

const RULE_FIELDS: &[Field] = &[
    must("earning_rule_id", KEY).says("The earning rule"),
    must("success_count", COUNT).says("How often it fired"),
    must("failures_count", COUNT).says("How often it did not, because of its limits"),
    must(
        "failures_breakdown",
        Kind::Object(&[
            must("cooldown", COUNT).says("It had fired for the member a short time before"),
            must("frequency", COUNT).says("It had fired for the member often enough"),
        ]),
    )
    .says("The same by the limit"),
];

const RULES: (Kind, Kind) = both!(
    "EarningRulesReportDailyEntry",
    "EarningRulesReportSummaryEntry",
    "How often an earning rule fired for the members of a program",
    RULE_FIELDS,
    "program_earning_rules_daily_report",
    "program_earning_rules_summary_report"
);

/// The earning rules of a program, by periods.
pub const RULES_DAILY: Kind = report!("EarningRulesReportDaily", "How often earning rules fired, by periods", RULES.0);
/// The same in all.
pub const RULES_SUMMARY: Kind = report!("EarningRulesReportSummary", "How often earning rules ever fired", RULES.1);

const EARNING_FIELDS: &[Field] = &[
    must("earning_rule_id", KEY).says("The earning rule"),
    must("earning_item_id", KEY).says("The earning of it that matched"),
    must("card_definition_id", KEY).says("On cards of which definition"),
    must("success_count", COUNT).says("How often it brought points"),
    must("points", COUNT).says("Points that could be spent at once"),
    must("pending_points", COUNT).says("Points that had to wait"),
];

const EARNINGS: (Kind, Kind) = both!(
    "PointsEarningsReportDailyEntry",
    "PointsEarningsReportSummaryEntry",
    "How many points an earning brought",
    EARNING_FIELDS,
    "program_points_earnings_daily_report",
    "program_points_earnings_summary_report"
);

/// The points that members of a program earned, by periods.
pub const EARNINGS_DAILY: Kind =
    report!("PointsEarningsReportDaily", "How many points were earned, by periods", EARNINGS.0);
/// The same in all.
pub const EARNINGS_SUMMARY: Kind =
    report!("PointsEarningsReportSummary", "How many points were ever earned", EARNINGS.1);

const SPENDING_FIELDS: &[Field] = &[
    must("card_definition_id", KEY).says("Points of cards of which definition"),
    must("success", COUNT).says("How often something was bought or paid"),
    must("success_on_reward", COUNT).says("How often a reward was bought"),
    must("success_on_order", COUNT).says("How often something of an order was paid"),
    must("points", COUNT).says("Points that were spent"),
    must("points_on_rewards", COUNT).says("Points that were spent on rewards"),
    must("points_on_order", COUNT).says("Points that were spent on orders"),
    must("amount_on_order", COUNT).says("What was paid of orders, in minor units"),
];

const SPENDING: (Kind, Kind) = both!(
    "SpendingReportDailyEntry",
    "SpendingReportSummaryEntry",
    "What points were spent on; what came back later is not taken off",
    SPENDING_FIELDS,
    "spending_daily_report",
    "spending_summary_report"
);

/// The points that members of a program spent, by periods.
pub const SPENDING_DAILY: Kind = report!("SpendingReportDaily", "What points were spent on, by periods", SPENDING.0);
/// The same in all.
pub const SPENDING_SUMMARY: Kind = report!("SpendingReportSummary", "What points were ever spent on", SPENDING.1);

const TIER_FIELDS: &[Field] = &[
    must("tier_structure_id", KEY).says("The tier structure"),
    must("tier_id", KEY).says("The tier"),
    must("joins", COUNT).says("Members who came to it from no tier"),
    must("upgrades", COUNT).says("Members who came to it from a lower one"),
    must("downgrades", COUNT).says("Members who came to it from a higher one"),
    must("lefts", COUNT).says("Members who left it for no tier"),
    must("prolongs", COUNT).says("Members who kept it when it was looked at again"),
];

const TIERS: (Kind, Kind) = both!(
    "TiersReportDailyEntry",
    "TiersReportSummaryEntry",
    "How many members came to a tier, kept it or left it",
    TIER_FIELDS,
    "program_tiers_daily_report",
    "program_tiers_summary_report"
);

/// The ways of the members of a program through its tiers, by periods.
pub const TIERS_DAILY: Kind = report!("TiersReportDaily", "How members moved through tiers, by periods", TIERS.0);
/// The same in all.
pub const TIERS_SUMMARY: Kind = report!("TiersReportSummary", "How members ever moved through tiers", TIERS.1);
