//! Filters that name days, count them, or name a month, as spans of time (docs/spec/validation-rules.md sections 3 and 9).
//! Days are those of the project's calendar, as in rules.

use super::clause::{Clause, Statement};
use crate::store::sql::SqlValue;
use scrip::time::{Day, Instant, TimeZone};
use serde_json::{Value as Json, json};

/// Range of days; either end may be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    first: Option<Day>,
    /// Day after the last.
    end: Option<Day>,
}

/// Maximum number of days in a filter, about three human lives.
pub const DAYS_MAX: i64 = 100_000;

/// Operators that count days.
const COUNTED: &[&str] = &[
    "$more_than_ago",
    "$less_than_ago",
    "$is_days_ago",
    "$more_than_future",
    "$less_than_future",
    "$is_days_in_future",
];

/// Operators that name a month.
const MONTHS: &[&str] = &["$previous_month", "$this_month", "$next_month"];

/// Fields that are days.
const BIRTHS: &[&str] = &["birthday", "birthdate"];

/// Fields that are instants; a date in their filter means its day.
const INSTANTS: &[&str] =
    &["created_at", "updated_at", "created_date", "start_date", "expiration_date", "publications.created_at"];

/// Ranges that contain, or do not contain, the instant of a field.
#[derive(Debug)]
pub struct DayOperator {
    /// Ranges, at least one; one of them must match.
    pub days: Vec<Days>,
    /// Further values that are no days; one of them may match instead.
    pub others: Vec<String>,
    /// True if the instant must be outside of all ranges.
    pub is_outside: bool,
}

/// Returns true if a field is an instant, for every form of its column.
pub fn is_instant(field: &str) -> bool {
    INSTANTS.contains(&field)
}

/// Returns the days that an instant field must be in, or outside of; `None` if no day is named.
pub fn parse_operator(field: &str, operator: &str, values: &[String]) -> Option<DayOperator> {
    let is_outside = match operator {
        "$is" | "$in" => false,
        "$is_not" | "$not_in" => true,
        _ => return None,
    };
    let day = |value: &str| {
        let first = Day::parse(value)?;
        Some(Days { first: Some(first), end: Some(first.plus(1)?) })
    };
    let mut named = DayOperator { days: Vec::new(), others: Vec::new(), is_outside };
    for value in values {
        match day(value) {
            Some(day) => named.days.push(day),
            None => named.others.push(value.clone()),
        }
    }
    Some(named).filter(|named| is_instant(field) && !named.days.is_empty())
}

/// Returns the operator that counts days or names a month, if the field is compared by one; otherwise `None`.
pub fn meant<'o>(field: &str, operator: &'o str, value: &str) -> Option<&'o str> {
    // For an instant, "more than 3" is "more than 3 days ago".
    let is_count = (is_instant(field) || BIRTHS.contains(&field)) && value.parse::<u32>().is_ok();
    match operator {
        "$more_than" if is_count => Some("$more_than_ago"),
        "$less_than" if is_count => Some("$less_than_ago"),
        other if COUNTED.contains(&other) || MONTHS.contains(&other) => Some(other),
        _ => None,
    }
}

/// Returns true if an operator takes a number of days; else it takes `true`.
pub fn counts(operator: &str) -> bool {
    COUNTED.contains(&operator)
}

impl Days {
    /// Returns the days that match an operator with its number; `None` beyond the range of the calendar.
    pub fn of(operator: &str, count: i64, clause: &Clause) -> Option<Days> {
        let today = clause.zone().day(Instant::from_millis(clause.now_ms())?)?;
        let day = |days: i64| today.plus(days);
        let this_month = today.first_of_month()?;
        let span = |first: Option<Day>, end: Option<Day>| Some(Days { first: Some(first?), end: Some(end?) });
        let (ago, next) = (count.checked_neg()?, count.checked_add(1)?);
        match operator {
            "$more_than_ago" => Some(Days { first: None, end: Some(day(ago)?) }),
            "$less_than_ago" => span(day(ago.checked_add(1)?), day(1)),
            "$is_days_ago" => span(day(ago), day(ago.checked_add(1)?)),
            "$more_than_future" => Some(Days { first: Some(day(next)?), end: None }),
            "$less_than_future" => span(day(0), day(count)),
            "$is_days_in_future" => span(day(count), day(next)),
            "$this_month" => span(Some(this_month), this_month.plus_months(1)),
            "$next_month" => span(this_month.plus_months(1), this_month.plus_months(2)),
            _ => span(this_month.plus(-1)?.first_of_month(), Some(this_month)),
        }
    }

    /// Returns the span from the first of several to the last; `None` of none.
    pub fn span_of(several: &[Days]) -> Option<Days> {
        let first = several.iter().map(|days| days.first).min()?;
        // A range with an open end has no last day.
        let is_open = several.iter().any(|days| days.end.is_none());
        let end = several.iter().filter_map(|days| days.end).max().filter(|_| !is_open);
        Some(Days { first, end })
    }

    /// Returns the instants of their start and end, in milliseconds since 1970.
    pub fn bounds(self, zone: &TimeZone) -> [(&'static str, Option<i64>); 2] {
        let starts = |day: Option<Day>| day.and_then(|day| zone.start_of(day)).map(Instant::millis);
        [(">=", starts(self.first)), ("<", starts(self.end))]
    }

    /// Returns the statement that a column lies within one of several spans, with one parameter for any number of spans.
    pub fn any_of(several: &[Days], column: &str, zone: &TimeZone) -> Statement {
        let bounds = |days: &Days| days.bounds(zone).map(|(_, at)| at);
        let (column, days, ends) = match column.strip_prefix("moment ") {
            Some(column) => {
                let days: Vec<Json> = several.iter().map(|days| json!(bounds(days))).collect();
                (column, days, ["0", "1"].map(|place| format!("json_extract(day.value, '$[{place}]')")))
            }
            None => {
                let text = |at: Option<i64>| at.and_then(Instant::from_millis).map(Instant::text);
                let day = |day: Option<Day>| day.map(Day::text);
                let texts = |days: &Days| json!([[day(days.first), day(days.end)], bounds(days).map(text)]);
                let end = |place: &str| {
                    let of = format!("CASE length({column}) WHEN 10 THEN 0 ELSE 1 END");
                    format!("json_extract(day.value, '$[' || {of} || '][{place}]')")
                };
                (column, several.iter().map(texts).collect(), ["0", "1"].map(end))
            }
        };
        let [first, end] = ends;
        let text =
            format!("EXISTS (SELECT 1 FROM json_each({{}}) AS day WHERE {column} >= {first} AND {column} < {end})");
        (text, vec![SqlValue::Text(Json::from(days).to_string())])
    }

    /// Returns the statement that a text lies within them; the text is an instant in UTC or a day without a zone.
    pub fn of_text(self, column: &str, zone: &TimeZone) -> Statement {
        let mut parts = vec![format!("typeof({column}) = 'text'")];
        let mut params = Vec::new();
        for (sign, day) in [(">=", self.first), ("<", self.end)] {
            let Some(day) = day else { continue };
            let instant = zone.start_of(day).map_or_else(|| day.text(), Instant::text);
            parts.push(format!("{column} {sign} CASE length({column}) WHEN 10 THEN {{}} ELSE {{}} END"));
            params.extend([SqlValue::Text(day.text()), SqlValue::Text(instant)]);
        }
        (format!("({})", parts.join(" AND ")), params)
    }
}
