//! The span of days of a report query, in periods of the calendar: `start_date`, `end_date`, `resolution`. Days are those of a zone.

use crate::http::query::Query;
use crate::http::reply::{ErrorBody, invalid_query};
use crate::http::shape::{Field, FieldType, must};
use scrip::time::{Day, Instant, TimeZone};
use serde_json::{Value as Json, json};
use std::ops::Range;

/// Maximum number of periods in one report.
pub const PERIODS_MAX: usize = 366;

/// Accepted lengths of a period.
const RESOLUTIONS: &[&str] = &["day", "week", "month", "quarter"];

/// Parameters of a report query.
pub const PERIOD_PARAMETERS: &[Field] = &[
    must("start_date", FieldType::Date).description("First day of the report, in the time zone of the project."),
    must("end_date", FieldType::Date).description("Last day of the report, included, in the time zone of the project."),
    must("resolution", FieldType::OneOf(RESOLUTIONS)).description("Length of one period of the report."),
];

/// Period, limited to the span of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportPeriod {
    /// First day, which may be before the span.
    pub first: Day,
    /// First instant within the span.
    pub begin: Instant,
    /// First instant after the period.
    pub end: Instant,
}

/// Returns the periods of the span that a query names, in their order.
pub fn periods(query: &Query, zone: &TimeZone) -> Result<Vec<ReportPeriod>, ErrorBody> {
    let (first, last) = (read_day(query, "start_date")?, read_day(query, "end_date")?);
    let message = query.parameter("end_date").unwrap_or_default();
    if last < first {
        let earliest = first.text();
        let message =
            format!("Property .end_date must NOT be before .start_date `{earliest}` (actual value is `{message}`)");
        return Err(invalid_query(message));
    }
    let resolution = needed(query, "resolution")?;
    if !RESOLUTIONS.contains(&resolution) {
        let known = RESOLUTIONS.join(", ");
        let message = format!("Property .resolution must be one of {known} (actual value is `{resolution}`)");
        return Err(invalid_query(message));
    }
    let beyond = || {
        invalid_query(format!(
            "Property .end_date must NOT be more than {PERIODS_MAX} periods of a `{resolution}` after .start_date \
             (actual value is `{message}`)"
        ))
    };
    // No period is shorter than a day, nor longer than 92.
    let longest = i64::try_from(PERIODS_MAX).unwrap_or(0).saturating_mul(92);
    if last.days_since(first) > longest {
        return Err(beyond());
    }
    split(first, last, resolution, zone).filter(|periods| periods.len() <= PERIODS_MAX).ok_or_else(beyond)
}

/// Splits days into periods, of days that the calendar has.
fn split(first: Day, last: Day, resolution: &str, zone: &TimeZone) -> Option<Vec<ReportPeriod>> {
    let (opens, closes) = (zone.start_of(first)?, zone.start_of(last.plus(1)?)?);
    let mut day = match resolution {
        "week" => first.first_of_week()?,
        "month" => first.first_of_month()?,
        "quarter" => first_of_quarter(first)?,
        _ => first,
    };
    let mut periods = Vec::new();
    while day <= last {
        let next = match resolution {
            "week" => day.plus(7)?,
            "month" => day.plus_months(1)?,
            "quarter" => day.plus_months(3)?,
            _ => day.plus(1)?,
        };
        let (begin, end) = (zone.start_of(day)?.max(opens), zone.start_of(next)?.min(closes));
        periods.push(ReportPeriod { first: day, begin, end });
        day = next;
    }
    Some(periods)
}

fn first_of_quarter(day: Day) -> Option<Day> {
    let (year, month, _) = day.date();
    let before = month.checked_sub(1)?.checked_rem(3)?;
    Day::of(year, month.checked_sub(before)?, 1)
}

fn needed<'q>(query: &'q Query, name: &str) -> Result<&'q str, ErrorBody> {
    query.parameter(name).ok_or_else(|| invalid_query(format!("Query should have required property '{name}'")))
}

fn read_day(query: &Query, name: &str) -> Result<Day, ErrorBody> {
    let text = needed(query, name)?;
    Day::parse(text).ok_or_else(|| {
        invalid_query(format!("Property .{name} must be a date such as `2026-03-31` (actual value is `{text}`)"))
    })
}

/// Converts periods to their spans in milliseconds since 1970.
pub fn millis(periods: &[ReportPeriod]) -> Vec<Range<i64>> {
    periods.iter().map(|period| period.begin.millis()..period.end.millis()).collect()
}

/// Converts periods to a parameter of a statement: the begin and the end of each, in the caller's format.
pub fn as_parameter<T: Into<Json>>(periods: &[ReportPeriod], instant: impl Fn(Instant) -> T) -> String {
    let message = |period: &ReportPeriod| json!([instant(period.begin).into(), instant(period.end).into()]);
    Json::from(periods.iter().map(message).collect::<Vec<_>>()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(query: &str) -> Result<Vec<String>, String> {
        let zone = scrip::zones::named("Europe/Warsaw").unwrap();
        let periods = periods(&Query::read(query), &zone).map_err(|error| error.details.clone().unwrap_or_default())?;
        Ok(periods.iter().map(|one| format!("{} {} {}", one.first.text(), one.begin, one.end)).collect())
    }

    #[test]
    fn periods_are_cut_where_the_span_ends() {
        assert_eq!(
            described("start_date=2026-03-28&end_date=2026-03-30&resolution=day").unwrap(),
            [
                "2026-03-28 2026-03-27T23:00:00.000Z 2026-03-28T23:00:00.000Z",
                "2026-03-29 2026-03-28T23:00:00.000Z 2026-03-29T22:00:00.000Z",
                "2026-03-30 2026-03-29T22:00:00.000Z 2026-03-30T22:00:00.000Z"
            ]
        );
        assert_eq!(
            described("start_date=2026-02-28&end_date=2026-04-01&resolution=month").unwrap(),
            [
                "2026-02-01 2026-02-27T23:00:00.000Z 2026-02-28T23:00:00.000Z",
                "2026-03-01 2026-02-28T23:00:00.000Z 2026-03-31T22:00:00.000Z",
                "2026-04-01 2026-03-31T22:00:00.000Z 2026-04-01T22:00:00.000Z"
            ]
        );
        assert_eq!(
            described("start_date=2025-12-31&end_date=2026-01-01&resolution=quarter").unwrap(),
            [
                "2025-10-01 2025-12-30T23:00:00.000Z 2025-12-31T23:00:00.000Z",
                "2026-01-01 2025-12-31T23:00:00.000Z 2026-01-01T23:00:00.000Z"
            ]
        );
        assert_eq!(
            described("start_date=2026-01-01&end_date=2026-01-01&resolution=week").unwrap(),
            ["2025-12-29 2025-12-31T23:00:00.000Z 2026-01-01T23:00:00.000Z"]
        );
    }

    #[test]
    fn a_span_has_an_end_and_a_bound() {
        assert_eq!(described("start_date=2026-01-01&end_date=2027-01-01&resolution=day").unwrap().len(), 366);
        for wrong in [
            "start_date=2026-01-01&end_date=2027-01-02&resolution=day",
            "start_date=2026-01-01&end_date=9999-12-31&resolution=quarter",
            "start_date=2026-01-02&end_date=2026-01-01&resolution=day",
            "start_date=2026-02-30&end_date=2026-03-01&resolution=day",
            "start_date=2026-03-01&end_date=2026-03-01T00:00:00Z&resolution=day",
            "start_date=2026-03-01&end_date=2026-03-01&resolution=year",
            "start_date=2026-03-01&end_date=2026-03-01",
            "start_date=2026-03-01&resolution=day",
            "",
        ] {
            assert!(described(wrong).is_err(), "{wrong}");
        }
    }
}
