//! Decides how tiers of loyalty campaigns of the older interface are read, and which points lead to them. It must not know who is in one.
//!
//! endpoints.md, loyalties; objects.md section 5.

use crate::json::Node;
use crate::points::tiered::{CampaignTier, Counted, Mapping};
use crate::text::{Decimal, Text};
use crate::wire::cursor::{Cursor, Words, read};

/// Reads a tier.
pub fn read_campaign_tier(at: &Cursor<'_>) -> CampaignTier {
    at.object();
    let mut tier = CampaignTier { id: at.need("id", read::name), ..CampaignTier::default() };
    tier.name = at.need("name", read::text);
    (tier.from, tier.to) = at.need("points", read_range);
    tier.earning_rules = at.option("earning_rules", read_mappings).unwrap_or_default();
    tier.rewards = at.option("rewards", read_mappings).unwrap_or_default();
    tier
}

fn read_range(at: &Cursor<'_>) -> (u64, Option<u64>) {
    at.object();
    let (from, to) = (at.option("from", read::whole_number).unwrap_or(0), at.option("to", read::whole_number));
    if to.is_some_and(|to| to < from) {
        at.problem("must have a to that is not below its from");
    }
    (from, to)
}

fn read_mappings(at: &Cursor<'_>) -> Vec<(Text, Mapping)> {
    at.object();
    at.members().map(|(name, at)| (Text::from(name), read_mapping(&at))).collect()
}

fn read_mapping(at: &Cursor<'_>) -> Mapping {
    at.object();
    if at.need("type", |kind| kind.one_of(&[("MULTIPLY", false), ("CUSTOM", true)])) {
        Mapping::Custom(at.need("points", read::whole_number))
    } else {
        Mapping::Multiply(at.need("multiplier", read_millionths))
    }
}

/// A number with at most 6 decimals.
fn read_millionths(at: &Cursor<'_>) -> u64 {
    let read = match at.node {
        Node::Whole(number) => u64::try_from(*number).ok().and_then(|number| number.checked_mul(1_000_000)),
        Node::Fraction(text) => Decimal::read(text)
            .filter(|read| !read.negative && read.decimals() <= 6)
            .and_then(|read| u64::try_from(read.times_ten_to(6)?).ok()),
        _ => None,
    };
    at.or_wrong(read.filter(|read| *read <= MOST), "must be a number from 0 to 1000000 with at most 6 decimals")
}

/// A million, in millionths.
const MOST: u64 = 1_000_000_000_000;

const PERIODS: Words<u32> = &[("MONTH", 1), ("QUARTER", 3), ("HALF_YEAR", 6), ("YEAR", 12)];
const STARTS: Words<bool> = &[("IMMEDIATE", false), ("NEXT_PERIOD", true)];

/// When a tier is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum End {
    #[default]
    BalanceDrop,
    Period,
    NextPeriod,
    Custom,
}

const ENDS: Words<End> = &[
    ("END_OF_PERIOD", End::Period),
    ("END_OF_NEXT_PERIOD", End::NextPeriod),
    ("BALANCE_DROP", End::BalanceDrop),
    ("CUSTOM", End::Custom),
];

/// Reads which points lead to the tiers of a campaign: its `loyalty_tiers_expiration`. What would need more to be remembered than points is
/// a problem.
pub fn read_counted(at: &Cursor<'_>) -> Counted {
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
            tell(at, "start_date", "must have the type IMMEDIATE where qualification_type is BALANCE");
        }
        if end.is_some_and(|end| end != End::BalanceDrop) {
            tell(at, "expiration_date", "must have the type BALANCE_DROP where qualification_type is BALANCE");
        }
        return Counted::Balance;
    }
    let months = at.need("qualification_period", |period| period.one_of(PERIODS));
    let end = end.unwrap_or(End::Period);
    if matches!(end, End::BalanceDrop | End::Custom) {
        let told =
            "must have the type END_OF_PERIOD or END_OF_NEXT_PERIOD where qualification_type is POINTS_IN_PERIOD";
        tell(at, "expiration_date", told);
    }
    Counted::InPeriod { months, starts_next, lasts_next: end == End::NextPeriod }
}

fn tell(at: &Cursor<'_>, name: &str, told: &str) {
    if let Some(block) = at.get(name) {
        block.problem(told);
    }
}

fn read_end(at: &Cursor<'_>) -> End {
    at.object();
    // Nothing is put off: no time at all is what the published shape wants where there is none.
    let extend = at.option("extend", read::text).filter(|text| !["", "P0D"].contains(&text.as_str()));
    if extend.is_some() {
        at.option("extend", |extend| extend.wrong("must be P0D"));
    }
    if at.get("rounding").is_some_and(|rounding| !rounding.is_null()) {
        at.option("rounding", |rounding| rounding.problem("must NOT be present"));
    }
    at.need("type", |kind| kind.one_of(ENDS))
}
