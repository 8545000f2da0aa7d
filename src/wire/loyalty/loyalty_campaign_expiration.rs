//! Reads the expiration rules of points of v1 loyalty campaigns.
//!
//! docs/spec/endpoints.md section 1, shape S9.

use crate::points::{DateOfYear, Expiration, Period, Rounding, Unit};
use crate::wire::cursor::JsonCursor;
use crate::wire::loyalty::expiration::read_count;

/// The type of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum PeriodType {
    #[default]
    Month,
    FixedDay,
}

const PERIOD_TYPES: &[(&str, PeriodType)] =
    &[("MONTH", PeriodType::Month), ("FIXED_DAY_OF_YEAR", PeriodType::FixedDay)];

const ROUNDINGS: &[(&str, Option<Rounding>)] = &[
    ("END_OF_MONTH", Some(Rounding::Month)),
    ("END_OF_QUARTER", Some(Rounding::Quarter)),
    ("END_OF_HALF_YEAR", Some(Rounding::HalfYear)),
    ("END_OF_YEAR", Some(Rounding::Year)),
    ("PARTICULAR_MONTH", None),
];

/// Reads the expiration of a campaign's or an earning rule's points. They expire a number of months after the credit,
/// optionally postponed to the end of a unit, or on a yearly date. Zero months mean the end of the day of the credit.
pub fn read_expiration_rules(at: &JsonCursor<'_>) -> Expiration {
    at.object();
    match at.need("period_type", |kind| kind.one_of(PERIOD_TYPES)) {
        PeriodType::Month => {
            let period = Period { value: at.need("period_value", read_count), unit: Unit::Month };
            let sent = at.option("rounding_type", |kind| kind.one_of(ROUNDINGS));
            let rounding = sent.map(|known| known.unwrap_or_else(|| read_month(at)));
            Expiration::Rolling { period, rounding }
        }
        PeriodType::FixedDay => {
            let date = DateOfYear::new(at.need("fixed_day", read_count), at.need("fixed_month", read_count));
            if date.is_none() {
                at.problem("must have a fixed_day from 1 to 31 of a fixed_month from 1 to 12");
            }
            Expiration::Calendar(date.into_iter().collect())
        }
    }
}

fn read_month(at: &JsonCursor<'_>) -> Rounding {
    let month = at.need("rounding_value", read_count);
    if !(1..=12).contains(&month) {
        at.option("rounding_value", |value| value.wrong("must be a month from 1 to 12"));
    }
    Rounding::ParticularMonth(month)
}
