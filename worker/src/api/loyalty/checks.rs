//! Rules between fields that several documents of a loyalty program share: days that there are, windows that do not end before they
//! begin, hours in the older and the later form, formulas. It must not know any document.

use crate::http::shape::below;
use crate::moment;
use scrip::formula::{Formula, Lookup, Operand, Value, evaluate};
use scrip::time::TimeZone;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};
use std::cell::Cell;

/// How many days each month has at most.
const DAYS: [i64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// Refuses a day of the year that no year has.
pub fn check_dates(dates: Option<&Json>, path: &str) -> Result<(), Problem> {
    for (place, date) in dates.and_then(Json::as_array).into_iter().flatten().enumerate() {
        let number = |name: &str| date.get(name).and_then(Json::as_i64).unwrap_or(0);
        let most = usize::try_from(number("month").saturating_sub(1)).ok().and_then(|month| DAYS.get(month));
        if most.is_none_or(|most| number("day") > *most) {
            let told = format!("must be a day that the month has (actual value is `{}`)", number("day"));
            return Err(Problem::at(format!("{path}[{place}].day"), told));
        }
    }
    Ok(())
}

/// Refuses a way of lapsing that could never be: a day that no year has, or a slide that nothing puts off.
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
    let told = "must have one of earning_activity, spending_activity, custom_activity that is true";
    Err(Problem::at(below(path, "sliding_expiration"), told))
}

/// Writes the dates of a window as moments, and refuses one that ends before it begins.
pub fn settle_window(body: &mut Map<String, Json>) -> Result<(), Problem> {
    let mut read = |name: &str| {
        let at = body.get(name).and_then(Json::as_str).and_then(moment::parse);
        if let Some(at) = at {
            body.insert(name.into(), moment::text(at).into());
        }
        at
    };
    match (read("start_date"), read("end_date")) {
        (Some(start), Some(end)) if end <= start => {
            let told = format!("must be later than start_date (actual value is `{}`)", moment::text(end));
            Err(Problem::at("end_date", told))
        }
        _ => Ok(()),
    }
}

/// Puts hours that have been held against their choice into the older form, which has no type and is null for any time.
pub fn settle_older_hours(body: &mut Map<String, Json>) {
    let daily = body.get("validity_hours").and_then(|hours| hours.get("daily")).cloned();
    let hours = daily.map_or(Json::Null, |daily| serde_json::json!({ "daily": daily }));
    body.insert("validity_hours".into(), hours);
}

/// What the rules of a document look at, those within others too: where each says so, and the name.
pub fn names<'r>(rules: &'r Map<String, Json>, path: &str) -> Vec<(String, &'r str)> {
    let mut found = Vec::new();
    for (key, test) in rules.iter().filter(|(key, _)| *key != "logic") {
        let name = test.get("name").and_then(Json::as_str).unwrap_or_default();
        found.push((format!("{path}.{key}.name"), name));
        if let Some(inner) = test.get("rules").and_then(Json::as_object) {
            found.extend(names(inner, &format!("{path}.{key}.rules")));
        }
    }
    found
}

/// Checks that a text is a formula, and that one which asks for nothing comes to a number.
pub fn check_formula(path: &str, text: &str) -> Result<(), Problem> {
    let read = Formula::parse(text).map_err(|error| Problem::at(path, error.text()))?;
    let nothing = Nothing { asked: Cell::new(false), zone: TimeZone::default() };
    match evaluate(&read, &nothing).is_none() && !nothing.asked.get() {
        true => Err(Problem::bound(path, "must come to a number", text)),
        false => Ok(()),
    }
}

/// Knows no operand, and whether one was asked for: a formula that asks for none and comes to nothing never will.
struct Nothing {
    asked: Cell<bool>,
    zone: TimeZone,
}

impl Lookup for Nothing {
    fn find(&self, _: &Operand) -> Option<Value> {
        self.asked.set(true);
        None
    }

    fn zone(&self) -> &TimeZone {
        &self.zone
    }
}
