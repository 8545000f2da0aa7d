//! Reads and writes the expiration of points.
//!
//! docs/spec/loyalty.md#8.

use serde_json::{Value, json};

use crate::points::{CustomActivity, DateOfYear, Expiration, Expiry, Period, Rounding, SlidingExpiry, Unit};
use crate::wire::cursor::{JsonCursor, NameTable, name_of, read};

/// The types of expiration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ExpirationType {
    /// No expiration.
    #[default]
    Never,
    /// A period after the credit.
    Rolling,
    /// On a yearly date.
    Calendar,
    /// A period after the last activity.
    Sliding,
}

/// The names of the types.
pub const EXPIRATION_TYPES: NameTable<ExpirationType> = &[
    ("NO_EXPIRATION", ExpirationType::Never),
    ("ROLLING_EXPIRATION", ExpirationType::Rolling),
    ("CALENDAR_EXPIRATION", ExpirationType::Calendar),
    ("SLIDING_EXPIRATION", ExpirationType::Sliding),
];

/// Returns the name of a lot's type of expiration.
pub fn expiration_type(expiry: &Expiry) -> &'static str {
    let kind = match expiry {
        Expiry::Never => ExpirationType::Never,
        Expiry::Rolling(_) => ExpirationType::Rolling,
        Expiry::Calendar(_) => ExpirationType::Calendar,
        Expiry::Sliding(..) => ExpirationType::Sliding,
    };
    name_of(EXPIRATION_TYPES, kind).unwrap_or_default()
}

const UNITS: &[(&str, Option<Unit>)] =
    &[("DAY", Some(Unit::Day)), ("MONTH", Some(Unit::Month)), ("YEAR", Some(Unit::Year))];

/// Reads a number of calendar units.
pub(super) fn read_count(at: &JsonCursor<'_>) -> u32 {
    at.or_wrong(at.number().and_then(|number| u32::try_from(number).ok()), "must be an integer from 0 to 4294967295")
}

/// Reads a period of days, months or years.
pub fn read_period(at: &JsonCursor<'_>) -> Period {
    at.object();
    let value = at.need("value", read_count);
    if value == 0 {
        at.option("value", |value| value.wrong("must be >= 1"));
    }
    Period { value, unit: at.need("unit", |unit| unit.one_of(UNITS)).unwrap_or(Unit::Day) }
}

/// Reads yearly dates.
pub fn read_dates(at: &JsonCursor<'_>) -> Vec<DateOfYear> {
    at.all(read_date).into_iter().flatten().collect()
}

fn read_date(at: &JsonCursor<'_>) -> Option<DateOfYear> {
    at.object();
    let date = DateOfYear::new(at.need("day", read_count), at.need("month", read_count));
    if date.is_none() {
        at.problem("must be a day from 1 to 31 of a month from 1 to 12");
    }
    date
}

/// Reads an expiration of points.
pub fn read_expiration(at: &JsonCursor<'_>) -> Expiration {
    match at.need("type", |kind| kind.one_of(EXPIRATION_TYPES)) {
        ExpirationType::Never => Expiration::Never,
        ExpirationType::Rolling => at.need("rolling_expiration", |rolling| {
            rolling.object();
            let rounding = rolling.option("rounding", read_rounding);
            Expiration::Rolling { period: rolling.need("period", read_period), rounding }
        }),
        ExpirationType::Calendar => {
            at.need("calendar_expiration", |dates| Expiration::Calendar(dates.need("expiration_dates", read_dates)))
        }
        ExpirationType::Sliding => Expiration::Sliding(at.need("sliding_expiration", read_sliding)),
    }
}

const ROUNDINGS: &[(&str, Option<Rounding>)] = &[
    ("END_OF_MONTH", Some(Rounding::Month)),
    ("END_OF_QUARTER", Some(Rounding::Quarter)),
    ("END_OF_HALF_YEAR", Some(Rounding::HalfYear)),
    ("END_OF_YEAR", Some(Rounding::Year)),
    ("END_OF_PARTICULAR_MONTH", None),
];

fn read_rounding(at: &JsonCursor<'_>) -> Rounding {
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

/// Reads the activities that postpone a sliding expiration.
pub fn read_sliding(at: &JsonCursor<'_>) -> SlidingExpiry {
    at.object();
    let flag = |name| at.option(name, read::flag).unwrap_or(false);
    let types = at.option("custom_activity_types", read::texts).unwrap_or_default();
    let custom = match (flag("custom_activity"), types.is_empty()) {
        (false, _) => CustomActivity::No,
        (true, true) => CustomActivity::Any,
        (true, false) => CustomActivity::Of(types),
    };
    let (earning, spending) = (flag("earning_activity"), flag("spending_activity"));
    SlidingExpiry { earning, spending, custom, period: at.need("period", read_period) }
}

/// Writes an expiration of points, in the format that is read.
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
    let unit = UNITS.iter().find(|(_, unit)| *unit == Some(period.unit)).map(|(name, _)| *name);
    json!({ "value": period.value, "unit": unit })
}

fn write_rounding(rounding: Rounding) -> Value {
    if let Rounding::ParticularMonth(month) = rounding {
        return json!({ "type": "END_OF_PARTICULAR_MONTH", "value": month });
    }
    let name = ROUNDINGS.iter().find(|(_, known)| *known == Some(rounding)).map(|(name, _)| *name);
    json!({ "type": name })
}

/// Writes the activities that postpone a sliding expiration, in the format that is read.
pub fn write_sliding(sliding: &SlidingExpiry) -> Value {
    let types: Vec<&str> = match &sliding.custom {
        CustomActivity::No | CustomActivity::Any => Vec::new(),
        CustomActivity::Of(types) => types.iter().map(|kind| kind.as_str()).collect(),
    };
    json!({
        "earning_activity": sliding.earning, "spending_activity": sliding.spending,
        "custom_activity": sliding.custom != CustomActivity::No, "custom_activity_types": types,
        "period": write_period(sliding.period),
    })
}
