//! Reads tiers of v1 loyalty campaigns, and the points that decide them.
//!
//! docs/spec/endpoints.md, loyalties; docs/spec/objects.md#5.

use crate::json::Node;
use crate::points::campaign_tiers::{CampaignTier, Mapping, TierPointsBase};
use crate::text::{Decimal, Text};
use crate::wire::cursor::{JsonCursor, NameTable, read};

/// Reads a tier.
pub fn read_campaign_tier(at: &JsonCursor<'_>) -> CampaignTier {
    at.object();
    let mut tier = CampaignTier { id: at.need("id", read::name), ..CampaignTier::default() };
    tier.name = at.need("name", read::text);
    (tier.from, tier.to) = at.need("points", read_range);
    tier.earning_rules = at.option("earning_rules", read_mappings).unwrap_or_default();
    tier.rewards = at.option("rewards", read_mappings).unwrap_or_default();
    tier
}

fn read_range(at: &JsonCursor<'_>) -> (u64, Option<u64>) {
    at.object();
    // A tier without a lower bound begins at no points.
    let (from, to) = (at.option("from", read::whole_number).unwrap_or(0), at.option("to", read::whole_number));
    if to.is_some_and(|to| to < from) {
        at.problem("must have a to that is not below its from");
    }
    (from, to)
}

fn read_mappings(at: &JsonCursor<'_>) -> Vec<(Text, Mapping)> {
    at.object();
    at.members().map(|(name, at)| (Text::from(name), read_mapping(&at))).collect()
}

fn read_mapping(at: &JsonCursor<'_>) -> Mapping {
    at.object();
    if at.need("type", |kind| kind.one_of(&[("MULTIPLY", false), ("CUSTOM", true)])) {
        Mapping::Custom(at.need("points", read::whole_number))
    } else {
        Mapping::Multiply(at.need("multiplier", read_millionths))
    }
}

/// Reads a number with at most 6 decimals, in millionths.
fn read_millionths(at: &JsonCursor<'_>) -> u64 {
    let read = match at.node {
        Node::Integer(number) => u64::try_from(*number).ok().and_then(|number| number.checked_mul(1_000_000)),
        Node::Fraction(text) => Decimal::read(text)
            .filter(|read| !read.negative && read.decimals() <= 6)
            .and_then(|read| u64::try_from(read.times_ten_to(6)?).ok()),
        _ => None,
    };
    at.or_wrong(
        read.filter(|read| *read <= MILLIONTHS_MAX),
        "must be a number from 0 to 1000000 with at most 6 decimals",
    )
}

/// A million, in millionths.
const MILLIONTHS_MAX: u64 = 1_000_000_000_000;

const PERIODS: NameTable<u32> = &[("MONTH", 1), ("QUARTER", 3), ("HALF_YEAR", 6), ("YEAR", 12)];
const STARTS: NameTable<bool> = &[("IMMEDIATE", false), ("NEXT_PERIOD", true)];

/// The end of a tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    BalanceDrop,
    Period,
    NextPeriod,
    Custom,
}

const ENDS: NameTable<End> = &[
    ("END_OF_PERIOD", End::Period),
    ("END_OF_NEXT_PERIOD", End::NextPeriod),
    ("BALANCE_DROP", End::BalanceDrop),
    ("CUSTOM", End::Custom),
];

/// Reads the points that decide the tiers of a campaign: its `loyalty_tiers_expiration`. Reports a problem for settings
/// that need more stored state than points.
pub fn read_counted(at: &JsonCursor<'_>) -> TierPointsBase {
    at.object();
    let in_period =
        at.need("qualification_type", |kind| kind.one_of(&[("BALANCE", false), ("POINTS_IN_PERIOD", true)]));
    let starts_next = at.option("start_date", |start| {
        start.object();
        start.need("type", |kind| kind.one_of(STARTS))
    });
    let starts_next = starts_next.unwrap_or_default();
    let end = at.option("expiration_date", read_end);
    if !in_period {
        if starts_next {
            report(at, "start_date", "must have the type IMMEDIATE where qualification_type is BALANCE");
        }
        if end.is_some_and(|end| end != End::BalanceDrop) {
            report(at, "expiration_date", "must have the type BALANCE_DROP where qualification_type is BALANCE");
        }
        return TierPointsBase::Balance;
    }
    let months = at.need("qualification_period", |period| period.one_of(PERIODS));
    let end = end.unwrap_or(End::Period);
    if matches!(end, End::BalanceDrop | End::Custom) {
        let message =
            "must have the type END_OF_PERIOD or END_OF_NEXT_PERIOD where qualification_type is POINTS_IN_PERIOD";
        report(at, "expiration_date", message);
    }
    TierPointsBase::InPeriod { months, starts_next, lasts_next: end == End::NextPeriod }
}

fn report(at: &JsonCursor<'_>, name: &str, message: &str) {
    if let Some(block) = at.get(name) {
        block.problem(message);
    }
}

fn read_end(at: &JsonCursor<'_>) -> End {
    at.object();
    // No extension is supported: an empty text or `P0D` is the published form of none.
    let extend = at.option("extend", read::text).filter(|text| !["", "P0D"].contains(&text.as_str()));
    if extend.is_some() {
        at.option("extend", |extend| extend.wrong("must be P0D"));
    }
    if at.get("rounding").is_some_and(|rounding| !rounding.is_null()) {
        at.option("rounding", |rounding| rounding.problem("must NOT be present"));
    }
    at.need("type", |kind| kind.one_of(ENDS))
}
