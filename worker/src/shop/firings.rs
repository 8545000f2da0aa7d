//! What fired for whom, as it is remembered: a row for each occasion, which earns once, and one for each rule that fired by it. It must
//! not know why a rule fires.
//!
//! They are no documents: nobody is shown them, and a table of their own is one index where documents have five. A firing is found by its
//! member, its rule and its moment, so that the last of a rule and those of a period are a range of the table, however many there are.

use crate::document::span::{self, Period};
use crate::shop::cards::PENDING;
use crate::shop::statistics::{self, ByRule, Counted};
use crate::store::Store;
use crate::store::sql::{self, Fault, Row};
use scrip::decide::earn::GrantedPoints;
use scrip::decide::returned::Bought;
use scrip::facts::earning::{Occasion, PastEarning, Standing};
use scrip::points::limits::Fired;
use scrip::points::{Cause, Earned, Outcome};
use scrip::text::Text;
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A rule that fired.
pub struct Fires<'a> {
    /// The member, and the program.
    pub member: [&'a str; 2],
    /// The rule, and the earning that matched.
    pub rule: [&'a str; 2],
    /// The points that it brought, as [`brought`] tells them.
    pub points: Vec<Json>,
}

impl Fires<'_> {
    /// What is counted of it: that the rule fired, and the points that it brought to cards of each definition.
    fn counted(&self) -> BTreeMap<ByRule<'_>, u64> {
        let ([_, program], [rule, earning]) = (self.member, self.rule);
        let fired = ByRule { program, kind: Counted::Fired, rule, earning: "", card_definition: "" };
        let mut counted = BTreeMap::from([(fired, 0)]);
        for entry in &self.points {
            let kind = if entry.get("pending").is_none_or(Json::is_null) { Counted::Earned } else { Counted::Waiting };
            let of = ByRule { program, kind, rule, earning, card_definition: text(entry, "card_definition_id") };
            let points = entry.get("points").and_then(Json::as_u64).unwrap_or(0);
            let sum: &mut u64 = counted.entry(of).or_default();
            *sum = sum.saturating_add(points);
        }
        counted
    }
}

/// What became of an occasion.
pub fn standing(store: &Store<'_>, occasion: &Occasion) -> Result<Option<Standing>, Fault> {
    let row = store.row("SELECT standing FROM earning_occasion WHERE id = +?1", &[occasion.as_str().into()])?;
    let Some(row) = row else { return Ok(None) };
    match sql::text(&row, 0)? {
        "EARNED" => Ok(Some(Standing::Earned)),
        "GIVEN_BACK" => Ok(Some(Standing::GivenBack)),
        other => Err(Fault(format!("the occasion `{}` stands as `{other}`", occasion.as_str()))),
    }
}

/// Writes down at the commit what fired by an occasion, for a customer, and how much was bought where that is an order, and counts it.
/// A second time fails, whatever was decided.
pub fn put(
    store: &mut Store<'_>,
    (occasion, bought): (&Occasion, Option<&Bought>),
    customer_id: &str,
    fired: &[Fires<'_>],
    now_ms: i64,
) {
    let bought = bought.and_then(|bought| i64::try_from(bought.amount).ok());
    store.write(
        "INSERT INTO earning_occasion (id, customer, standing, bought, created_at) VALUES (?1, ?2, 'EARNED', ?3, ?4)",
        vec![occasion.as_str().into(), customer_id.into(), bought.into(), now_ms.into()],
    );
    let row = |(place, one): (usize, &Fires<'_>)| {
        let ([member, program], [rule, earning]) = (one.member, one.rule);
        json!([member, rule, place, program, earning, Json::from(one.points.clone()).to_string()])
    };
    let rows: Vec<Json> = fired.iter().enumerate().map(row).collect();
    store.write(
        "INSERT INTO earning_firing (member, rule, at, occasion, place, program, earning, points)
         SELECT value ->> 0, value ->> 1, ?2, ?3, value ->> 2, value ->> 3, value ->> 4, value ->> 5 FROM json_each(?1)",
        vec![Json::from(rows).to_string().into(), now_ms.into(), occasion.as_str().into()],
    );
    statistics::count(store, &fired.iter().flat_map(Fires::counted).collect::<Vec<_>>(), now_ms);
}

/// What was bought with the order that is an occasion, when it earned; nothing of what is no order, or earned before that was kept.
pub fn bought(store: &Store<'_>, occasion: &Occasion) -> Result<Option<Bought>, Fault> {
    let row = store.row("SELECT bought FROM earning_occasion WHERE id = +?1", &[occasion.as_str().into()])?;
    let amount = row.map_or(Ok(None), |row| sql::int_or_null(&row, 0))?.and_then(|amount| u64::try_from(amount).ok());
    Ok(amount.map(|amount| Bought { amount, goods: Vec::new() }))
}

/// Writes down at the commit how many of the points have been given back, in all, that an occasion brought at a place.
pub fn note_back(store: &mut Store<'_>, occasion: &Occasion, place: usize, points: u64) -> Result<(), Fault> {
    let mut first: usize = 0;
    for (of, mut entries) in fired_by(store, occasion)? {
        let count = entries.len();
        let entry = place.checked_sub(first).and_then(|place| entries.get_mut(place)?.as_object_mut());
        if let Some(entry) = entry {
            entry.insert("back".into(), points.into());
            store.write(
                "UPDATE earning_firing SET points = ?3 WHERE occasion = +?1 AND place = +?2",
                vec![occasion.as_str().into(), of.into(), Json::from(entries).to_string().into()],
            );
            return Ok(());
        }
        first = first.saturating_add(count);
    }
    Ok(())
}

/// Writes down at the commit that what an occasion brought was given back.
pub fn end(store: &mut Store<'_>, occasion: &Occasion, now_ms: i64) {
    store.write(
        "UPDATE earning_occasion SET standing = 'GIVEN_BACK', updated_at = ?2 WHERE id = +?1",
        vec![occasion.as_str().into(), now_ms.into()],
    );
}

/// How often a rule fired for a member: when last, and how many times since a moment.
pub fn fired(store: &Store<'_>, (member_id, rule_id): (&str, &str), since: Option<Instant>) -> Result<Fired, Fault> {
    let since = since.map_or(i64::MAX, Instant::millis).min(LATEST);
    let row = store.row(
        "SELECT (SELECT MAX(at) FROM earning_firing WHERE member = +?1 AND rule = +?2),
           (SELECT COUNT(*) FROM earning_firing WHERE member = +?1 AND rule = +?2 AND at >= +?3)",
        &[member_id.into(), rule_id.into(), since.into()],
    )?;
    let Some(row) = row else { return Ok(Fired::default()) };
    let last = sql::int_or_null(&row, 0)?.and_then(Instant::from_millis);
    Ok(Fired { last, in_period: u64::try_from(sql::int(&row, 1)?).unwrap_or(0) })
}

/// No moment is later: the largest whole number that the platform keeps.
const LATEST: i64 = 9_007_199_254_740_991;

/// How often a rule fired for a member in each of some periods.
pub fn fired_in(store: &Store<'_>, (member_id, rule_id): (&str, &str), periods: &[Period]) -> Result<Vec<i64>, Fault> {
    let rows = store.rows(
        "SELECT (SELECT COUNT(*) FROM earning_firing
           WHERE member = +?1 AND rule = +?2 AND at >= span.value ->> 0 AND at < span.value ->> 1)
         FROM json_each(?3) AS span ORDER BY span.key",
        &[member_id.into(), rule_id.into(), span::as_parameter(periods, Instant::millis).into()],
    )?;
    rows.iter().map(|row| sql::int(row, 0)).collect()
}

/// How the points that an earning brought are remembered.
pub fn brought(granted: &GrantedPoints, outcome: &Outcome) -> Json {
    let pending = outcome.steps.iter().find_map(|step| match &step.cause {
        Cause::Waits(id) => Some(id.as_str()),
        Cause::Arrived(_)
        | Cause::Activated(_)
        | Cause::Canceled(_)
        | Cause::Lapsed(_)
        | Cause::Expired(_)
        | Cause::Taken(_)
        | Cause::Refunded
        | Cause::Returned => None,
    });
    let lot = outcome.steps.iter().flat_map(|step| step.brought()).next().map(|part| part.lot);
    json!({
        "card_id": granted.card_id.as_str(), "card_definition_id": granted.card_definition_id.as_str(),
        "pending": pending, "lot": lot.as_deref(), "points": granted.points,
    })
}

/// The cards that an occasion brought points to, each once.
pub fn cards(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<String>, Fault> {
    let mut cards: Vec<String> = Vec::new();
    for entry in entries(store, occasion)? {
        let card = text(&entry, "card_id").to_owned();
        if !cards.contains(&card) {
            cards.push(card);
        }
    }
    Ok(cards)
}

/// The points that an occasion brought, as far as they were not lost while they waited. What is due on their cards must be settled.
pub fn past(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<PastEarning>, Fault> {
    let mut past = Vec::new();
    for (place, entry) in entries(store, occasion)?.into_iter().enumerate() {
        let lot = entry.get("lot").and_then(Json::as_str).map(Text::from);
        let points = entry.get("points").and_then(Json::as_u64).unwrap_or(0);
        let earned = match entry.get("pending").and_then(Json::as_str) {
            None => Some(Earned { pending: None, lot, points }),
            Some(pending) => waited(store, pending, points)?,
        };
        past.extend(earned.map(|earned| PastEarning {
            card_id: text(&entry, "card_id").into(),
            card_definition_id: text(&entry, "card_definition_id").into(),
            earned,
            back: entry.get("back").and_then(Json::as_u64).unwrap_or(0),
            place,
        }));
    }
    Ok(past)
}

/// What became of points that had to wait.
fn waited(store: &Store<'_>, pending: &str, points: u64) -> Result<Option<Earned>, Fault> {
    let Some(row) = store.document(PENDING, pending)? else { return Ok(None) };
    Ok(match row.body.get("status").and_then(Json::as_str) {
        Some("PENDING") => Some(Earned { pending: Some(pending.into()), lot: None, points }),
        Some("ACTIVATED") => {
            let lot = row.body.get("kept").and_then(|kept| kept.get("arrived")).and_then(Json::as_str);
            Some(Earned { pending: None, lot: lot.map(Into::into), points })
        }
        _ => None,
    })
}

/// What each rule brought that fired by an occasion, with its place, in the order in which they fired.
fn fired_by(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<(i64, Vec<Json>)>, Fault> {
    let rows = store.rows(
        "SELECT place, points FROM earning_firing WHERE occasion = +?1 ORDER BY place",
        &[occasion.as_str().into()],
    )?;
    let read = |row: &Row| {
        let points = serde_json::from_str(sql::text(row, 1)?);
        let points =
            points.map_err(|error| Fault(format!("what `{}` brought does not parse: {error}", occasion.as_str())))?;
        Ok((sql::int(row, 0)?, points))
    };
    rows.iter().map(read).collect()
}

fn entries(store: &Store<'_>, occasion: &Occasion) -> Result<Vec<Json>, Fault> {
    Ok(fired_by(store, occasion)?.into_iter().flat_map(|(_, points)| points).collect())
}

fn text<'e>(entry: &'e Json, name: &str) -> &'e str {
    entry.get(name).and_then(Json::as_str).unwrap_or_default()
}
