//! Decides how it is read and written when points lapse. It must not know which points.
//!
//! loyalty-v2.md section 8.

use serde_json::{Value, json};

use crate::points::{Custom, DateOfYear, Expiration, Expiry, Period, Rounding, Sliding, Unit};
use crate::wire::cursor::{Cursor, Words, read, word};

/// The ways of lapsing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lapse {
    /// They do not.
    #[default]
    Never,
    /// So long after they arrived.
    Rolling,
    /// With a date of the year.
    Calendar,
    /// So long after the last activity.
    Sliding,
}

/// Their words.
pub const LAPSES: Words<Lapse> = &[
    ("NO_EXPIRATION", Lapse::Never),
    ("ROLLING_EXPIRATION", Lapse::Rolling),
    ("CALENDAR_EXPIRATION", Lapse::Calendar),
    ("SLIDING_EXPIRATION", Lapse::Sliding),
];

/// The word for how a lot lapses.
pub fn expiration_type(expiry: &Expiry) -> &'static str {
    let lapse = match expiry {
        Expiry::Never => Lapse::Never,
        Expiry::Rolling(_) => Lapse::Rolling,
        Expiry::Calendar(_) => Lapse::Calendar,
        Expiry::Sliding(..) => Lapse::Sliding,
    };
    word(LAPSES, lapse).unwrap_or_default()
}

const UNITS: &[(&str, Option<Unit>)] =
    &[("DAY", Some(Unit::Day)), ("MONTH", Some(Unit::Month)), ("YEAR", Some(Unit::Year))];

/// Reads a whole number of a calendar.
pub(super) fn read_count(at: &Cursor<'_>) -> u32 {
    at.or_wrong(at.number().and_then(|number| u32::try_from(number).ok()), "must be an integer from 0 to 4294967295")
}

/// Reads a length of days, months or years.
pub fn read_period(at: &Cursor<'_>) -> Period {
    at.object();
    let value = at.need("value", read_count);
    if value == 0 {
        at.option("value", |value| value.wrong("must be >= 1"));
    }
    Period { value, unit: at.need("unit", |unit| unit.one_of(UNITS)).unwrap_or(Unit::Day) }
}

/// Reads days of every year.
pub fn read_dates(at: &Cursor<'_>) -> Vec<DateOfYear> {
    at.all(read_date).into_iter().flatten().collect()
}

fn read_date(at: &Cursor<'_>) -> Option<DateOfYear> {
    at.object();
    let date = DateOfYear::new(at.need("day", read_count), at.need("month", read_count));
    if date.is_none() {
        at.problem("must be a day from 1 to 31 of a month from 1 to 12");
    }
    date
}

/// Reads how points lapse.
pub fn read_expiration(at: &Cursor<'_>) -> Expiration {
    match at.need("type", |lapse| lapse.one_of(LAPSES)) {
        Lapse::Never => Expiration::Never,
        Lapse::Rolling => at.need("rolling_expiration", |rolling| {
            rolling.object();
            let rounding = rolling.option("rounding", read_rounding);
            Expiration::Rolling { period: rolling.need("period", read_period), rounding }
        }),
        Lapse::Calendar => {
            at.need("calendar_expiration", |dates| Expiration::Calendar(dates.need("expiration_dates", read_dates)))
        }
        Lapse::Sliding => Expiration::Sliding(at.need("sliding_expiration", read_sliding)),
    }
}

const ROUNDINGS: &[(&str, Option<Rounding>)] = &[
    ("END_OF_MONTH", Some(Rounding::Month)),
    ("END_OF_QUARTER", Some(Rounding::Quarter)),
    ("END_OF_HALF_YEAR", Some(Rounding::HalfYear)),
    ("END_OF_YEAR", Some(Rounding::Year)),
    ("END_OF_PARTICULAR_MONTH", None),
];

fn read_rounding(at: &Cursor<'_>) -> Rounding {
    at.object();
    let plain = at.need("type", |kind| kind.one_of(ROUNDINGS));
    plain.unwrap_or_else(|| {
        let month = at.need("value", read_count);
        if !(1..=12).contains(&month) {
            at.option("value", |value| value.wrong("must be a month from 1 to 12"));
        }
        Rounding::ParticularMonth(month)
    })
}

/// Reads what puts off the end of points that lapse when nothing happens.
pub fn read_sliding(at: &Cursor<'_>) -> Sliding {
    at.object();
    let flag = |name| at.option(name, read::flag).unwrap_or(false);
    let types = at.option("custom_activity_types", read::texts).unwrap_or_default();
    let custom = match (flag("custom_activity"), types.is_empty()) {
        (false, _) => Custom::No,
        (true, true) => Custom::Any,
        (true, false) => Custom::Of(types),
    };
    let (earning, spending) = (flag("earning_activity"), flag("spending_activity"));
    Sliding { earning, spending, custom, period: at.need("period", read_period) }
}

/// Writes how points lapse, as it is read.
pub fn write_expiration(expiration: &Expiration) -> Value {
    match expiration {
        Expiration::Never => json!({ "type": "NO_EXPIRATION" }),
        Expiration::Rolling { period, rounding } => {
            let rounding = rounding.map(write_rounding);
            let rolling = json!({ "period": write_period(*period), "rounding": rounding });
            json!({ "type": "ROLLING_EXPIRATION", "rolling_expiration": rolling })
        }
        Expiration::Calendar(dates) => {
            let dates: Vec<Value> =
                dates.iter().map(|date| json!({ "day": date.day(), "month": date.month() })).collect();
            json!({ "type": "CALENDAR_EXPIRATION", "calendar_expiration": { "expiration_dates": dates } })
        }
        Expiration::Sliding(sliding) => {
            json!({ "type": "SLIDING_EXPIRATION", "sliding_expiration": write_sliding(sliding) })
        }
    }
}

fn write_period(period: Period) -> Value {
    let unit = UNITS.iter().find(|(_, unit)| *unit == Some(period.unit)).map(|(word, _)| *word);
    json!({ "value": period.value, "unit": unit })
}

fn write_rounding(rounding: Rounding) -> Value {
    if let Rounding::ParticularMonth(month) = rounding {
        return json!({ "type": "END_OF_PARTICULAR_MONTH", "value": month });
    }
    let word = ROUNDINGS.iter().find(|(_, known)| *known == Some(rounding)).map(|(word, _)| *word);
    json!({ "type": word })
}

/// Writes what puts off the end of points, as it is read.
pub fn write_sliding(sliding: &Sliding) -> Value {
    let types: Vec<&str> = match &sliding.custom {
        Custom::No | Custom::Any => Vec::new(),
        Custom::Of(types) => types.iter().map(|kind| kind.as_str()).collect(),
    };
    json!({
        "earning_activity": sliding.earning, "spending_activity": sliding.spending,
        "custom_activity": sliding.custom != Custom::No, "custom_activity_types": types,
        "period": write_period(sliding.period),
    })
}
