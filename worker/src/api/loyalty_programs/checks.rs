//! Rules between fields that several documents of a loyalty program share: existing days, windows that do not end before they
//! begin, hours in the older and the later form, formulas.

use crate::domain::vouchers::definition::normalise_times;
use crate::http::shape::below;
use crate::store::records::{RuleTestRecord, ValidityRecord};
use crate::timestamp;
use scrip::formula::{Formula, FormulaOperand, FormulaValue, Lookup, evaluate};
use scrip::time::{DayBound, TimeZone};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};
use std::cell::Cell;

/// Maximum number of days of each month.
const DAYS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Refuses a day that exists in no year.
pub fn check_dates(dates: Option<&Json>, path: &str) -> Result<(), Problem> {
    for (index, date) in dates.and_then(Json::as_array).into_iter().flatten().enumerate() {
        let number = |name: &str| date.get(name).and_then(Json::as_i64).unwrap_or(0);
        // A month is a number from 1 to 12.
        let days = usize::try_from(number("month").saturating_sub(1)).ok().and_then(|month| DAYS.get(month));
        if days.is_none_or(|days| number("day") > *days) {
            let message = format!("must be a day that the month has (actual value is `{}`)", number("day"));
            return Err(Problem::at(format!("{path}[{index}].day"), message));
        }
    }
    Ok(())
}

/// Refuses an impossible expiration: a day that exists in no year, or a sliding one without activities.
pub fn check_expiration(expiration: Option<&Json>, path: &str) -> Result<(), Problem> {
    let Some(expiration) = expiration else { return Ok(()) };
    check_dates(
        expiration.pointer("/calendar_expiration/expiration_dates"),
        &below(path, "calendar_expiration.expiration_dates"),
    )?;
    let Some(sliding) = expiration.get("sliding_expiration") else { return Ok(()) };
    let counts = |name: &str| sliding.get(name).and_then(Json::as_bool) == Some(true);
    if ["earning_activity", "spending_activity", "custom_activity"].into_iter().any(counts) {
        return Ok(());
    }
    let message = "must have one of earning_activity, spending_activity, custom_activity that is true";
    Err(Problem::at(below(path, "sliding_expiration"), message))
}

/// Converts the dates of a window to instants, and refuses one that ends before it starts. A date without a time is a bound
/// of that day in `zone`.
pub fn normalise_window(body: &mut Map<String, Json>, zone: &TimeZone) -> Result<(), Problem> {
    normalise_times(body, zone, &[("start_date", DayBound::Start), ("end_date", DayBound::End)]);
    let read = |name: &str| body.get(name).and_then(Json::as_str).and_then(timestamp::parse);
    match (read("start_date"), read("end_date")) {
        (Some(start), Some(end)) if end <= start => {
            let message = format!("must be later than start_date (actual value is `{}`)", timestamp::text(end));
            Err(Problem::at("end_date", message))
        }
        _ => Ok(()),
    }
}

/// Converts checked hours to the older form, which has no type and is null for any time.
pub fn normalise_hours(body: &mut Map<String, Json>) {
    let daily = ValidityRecord::of(body).daily_hours().cloned();
    let hours = daily.map_or(Json::Null, |daily| serde_json::json!({ "daily": daily }));
    body.insert("validity_hours".into(), hours);
}

/// Returns the facts that the rules of a document read, nested rules included: the path of each, and its name.
pub fn list_fact_names<'r>(rules: &'r Map<String, Json>, path: &str) -> Vec<(String, &'r str)> {
    let mut found = Vec::new();
    for (key, test) in rules.iter().filter(|(key, _)| *key != "logic") {
        let test = RuleTestRecord::of_value(test);
        let name = test.name();
        found.push((format!("{path}.{key}.name"), name));
        if let Some(inner) = test.rules() {
            found.extend(list_fact_names(inner, &format!("{path}.{key}.rules")));
        }
    }
    found
}

/// Checks that a text is a formula, and that one without operands evaluates to a number.
pub fn check_formula(path: &str, text: &str) -> Result<(), Problem> {
    let read = Formula::parse(text).map_err(|error| Problem::at(path, error.text()))?;
    let no_operands = NoOperands { is_requested: Cell::new(false), zone: TimeZone::default() };
    match evaluate(&read, &no_operands).is_none() && !no_operands.is_requested.get() {
        true => Err(Problem::bound(path, "must come to a number", text)),
        false => Ok(()),
    }
}

/// Provides no operand, and records if one was requested: a formula without operands must evaluate to a number.
struct NoOperands {
    is_requested: Cell<bool>,
    zone: TimeZone,
}

impl Lookup for NoOperands {
    fn find(&self, _: &FormulaOperand) -> Option<FormulaValue> {
        self.is_requested.set(true);
        None
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }
}
