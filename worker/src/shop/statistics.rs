//! How often something happened in a loyalty program, and how many points it was about: sums that are kept with each write, so that
//! nothing is read again for them. It must not know routes, nor what a report is called.
//!
//! What is counted by itself stands with the tables (`store/schema/statistics`). What becomes of rules is counted here, all of an event at
//! once.

use crate::document::clause::Clause;
use crate::document::span::{self, Period};
use crate::http::reply::{CallError, error};
use crate::store::Store;
use crate::store::sql::{self, Fault, Row};
use scrip::decide::earn::{Earnings, Idle};
use scrip::points::limits::Resting;
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Sums in one report, at most: of each thing, for each period.
const SUMS_MAX: i64 = 10_000;
/// Quarters of an hour that are added up for one report, at most. Natively it is some 90 ms of work.
const QUARTERS_MAX: i64 = 300_000;
/// Milliseconds of a quarter of an hour.
const QUARTER_MS: i64 = 900_000;

/// A kind of what is counted, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Counted {
    /// A rule fired.
    Fired,
    /// A rule rested, because it had fired a short time before.
    Cooldown,
    /// A rule rested, because it had fired often enough.
    Frequency,
    /// A rule brought points that could be spent at once.
    Earned,
    /// A rule brought points that had to wait.
    Waiting,
    /// Points were spent on a reward.
    Reward,
    /// Points were spent on an order.
    Order,
    /// A member came to a tier from none.
    Joined,
    /// A member came to a tier from a lower one.
    Upgraded,
    /// A member came to a tier from a higher one.
    Downgraded,
    /// A member left a tier for none.
    Left,
    /// A member kept a tier when it was looked at again.
    Prolonged,
}

impl Counted {
    /// The word that rows have for it.
    pub fn word(self) -> &'static str {
        match self {
            Counted::Fired => "FIRED",
            Counted::Cooldown => "COOLDOWN",
            Counted::Frequency => "FREQUENCY",
            Counted::Earned => "EARNED",
            Counted::Waiting => "WAITING",
            Counted::Reward => "REWARD",
            Counted::Order => "ORDER",
            Counted::Joined => "JOINED",
            Counted::Upgraded => "UPGRADED",
            Counted::Downgraded => "DOWNGRADED",
            Counted::Left => "LEFT",
            Counted::Prolonged => "PROLONGED",
        }
    }
}

/// What something came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sums {
    /// How often it happened.
    pub count: i64,
    /// How many points it was about.
    pub points: i64,
    /// What it was worth, in minor units.
    pub amount: i64,
}

/// What is counted, by its names; what it is not about is empty.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// An earning rule.
    pub earning_rule: String,
    /// The earning of it.
    pub earning: String,
    /// A card definition.
    pub card_definition: String,
    /// A tier structure.
    pub tier_structure: String,
    /// A tier of it.
    pub tier: String,
}

/// What was counted of one subject, in all or in a period.
#[derive(Debug, Clone)]
pub struct Statistic {
    /// The number under which it was counted first: it is never another's.
    pub number: i64,
    /// The subject.
    pub subject: Subject,
    sums: Vec<(String, Sums)>,
}

impl Statistic {
    /// What one kind came to.
    pub fn of(&self, kind: Counted) -> Sums {
        self.sums.iter().find(|(known, _)| known == kind.word()).map(|(_, sums)| *sums).unwrap_or_default()
    }
}

/// What happened by an earning rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByRule<'a> {
    /// The program.
    pub program: &'a str,
    /// What.
    pub kind: Counted,
    /// The rule.
    pub rule: &'a str,
    /// The earning of it; empty where it is about none.
    pub earning: &'a str,
    /// The card definition; empty where it is about none.
    pub card_definition: &'a str,
}

/// Counts at the commit what happened by rules, each with the points that it was about; it is told in this order.
pub fn count(store: &mut Store<'_>, happened: &[(ByRule<'_>, u64)], now_ms: i64) {
    if happened.is_empty() {
        return;
    }
    let row = |(of, points): &(ByRule<'_>, u64)| {
        json!([of.program, of.kind.word(), of.rule, of.earning, of.card_definition, points])
    };
    let rows: Vec<Json> = happened.iter().map(row).collect();
    store.write(
        "INSERT INTO statistic_event
         SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, '', '', CAST(?2 AS INTEGER), 1, value ->> 5, 0 FROM json_each(?1)",
        vec![Json::from(rows).to_string().into(), now_ms.into()],
    );
}

/// The rules that would have been asked what an event earns, did they not rest.
pub fn resting(earnings: &Earnings) -> Vec<(ByRule<'_>, u64)> {
    let mut resting = Vec::new();
    for member in &earnings.memberships {
        for rule in &member.rules {
            let kind = match &rule.outcome {
                Err(Idle::Resting(Resting::Until(_))) => Counted::Cooldown,
                Err(Idle::Resting(Resting::Exhausted)) => Counted::Frequency,
                Ok(_) | Err(_) => continue,
            };
            let (program, rule) = (member.program_id.as_str(), rule.rule_id.as_str());
            resting.push((ByRule { program, kind, rule, earning: "", card_definition: "" }, 0));
        }
    }
    resting
}

/// What was counted of each subject of a clause over statistics in all, in the order in which they were counted first.
pub fn in_all(store: &Store<'_>, clause: &Clause) -> Result<Vec<Statistic>, Fault> {
    let (text, params) = clause.parts();
    let rows = store.rows(
        &format!(
            "SELECT 0, id, kind, earning_rule, earning, card_definition, tier_structure, tier, json_array(count, points, amount)
             FROM statistic WHERE {text}"
        ),
        params,
    )?;
    Ok(gather(&rows)?.into_values().next().unwrap_or_default())
}

/// The same in each of some periods: the places of those in which there is something to tell, each with that.
pub fn by_period(
    store: &Store<'_>,
    clause: &Clause,
    periods: &[Period],
) -> Result<BTreeMap<usize, Vec<Statistic>>, CallError> {
    check_length(store, clause, periods)?;
    let (text, params) = clause.parts();
    let mut params = params.to_vec();
    params.push(span::as_parameter(periods, quarter).into());
    let rows = store.rows(
        &format!(
            "SELECT span.key, statistic.id, kind, earning_rule, earning, card_definition, tier_structure, tier,
               (SELECT json_array(SUM(count), SUM(points), SUM(amount)) FROM statistic_quarter
                WHERE statistic = statistic.id AND quarter >= span.value ->> 0 AND quarter < span.value ->> 1 GROUP BY statistic)
             FROM (SELECT * FROM statistic WHERE {text}) AS statistic CROSS JOIN json_each(?{}) AS span",
            params.len()
        ),
        &params,
    )?;
    Ok(gather(&rows)?)
}

/// The quarter of an hour in which a moment lies. In the world's zones a day begins with one since 1972; in a zone that a setup made up
/// otherwise, the quarter in which it begins is all of that day.
fn quarter(at: Instant) -> i64 {
    at.millis().div_euclid(QUARTER_MS)
}

/// Refuses a report that would be too long, before it is made.
fn check_length(store: &Store<'_>, clause: &Clause, periods: &[Period]) -> Result<(), CallError> {
    let (Some(first), Some(last)) = (periods.first(), periods.last()) else { return Ok(()) };
    let (text, params) = clause.parts();
    let mut params = params.to_vec();
    params.extend([quarter(first.begin).into(), quarter(last.end).into()]);
    let (from, to) = (params.len().saturating_sub(1), params.len());
    let row = store.row(
        &format!(
            "SELECT (SELECT COUNT(*) FROM statistic WHERE {text}),
               (SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT id FROM statistic WHERE {text}) AS statistic CROSS JOIN statistic_quarter
                WHERE statistic = statistic.id AND quarter >= +?{from} AND quarter < +?{to} LIMIT {}))",
            QUARTERS_MAX.saturating_add(1)
        ),
        &params,
    )?;
    let Some(row) = row else { return Ok(()) };
    let (subjects, quarters) = (sql::int(&row, 0)?, sql::int(&row, 1)?);
    let sums = subjects.saturating_mul(i64::try_from(periods.len()).unwrap_or(i64::MAX));
    let told = if sums > SUMS_MAX {
        format!(
            "Property .filters must NOT leave more than {SUMS_MAX} sums, one of everything that is counted for each period (actual number is \
             `{sums}`). Ask for fewer of it, for longer periods or for fewer of them"
        )
    } else if quarters > QUARTERS_MAX {
        format!(
            "Property .end_date must NOT leave more than {QUARTERS_MAX} quarters of an hour in which something happened. Ask for an earlier \
             one, or for fewer of what is counted"
        )
    } else {
        return Ok(());
    };
    Err(error(400, "request_too_complex", "Request takes too much work", told).into())
}

/// Puts together what is of one place and subject; what came to nothing, because it was taken back, is left out.
fn gather(rows: &[Row]) -> Result<BTreeMap<usize, Vec<Statistic>>, Fault> {
    let mut found: BTreeMap<(usize, Subject), Statistic> = BTreeMap::new();
    for row in rows {
        let Some(sums) = sql::text_or_null(row, 8)? else { continue };
        let [count, points, amount]: [i64; 3] =
            serde_json::from_str(sums).map_err(|error| Fault(format!("sums do not parse: {error}")))?;
        let own = |column: usize| sql::text(row, column).map(str::to_owned);
        let place = usize::try_from(sql::int(row, 0)?).unwrap_or(0);
        let (number, kind) = (sql::int(row, 1)?, own(2)?);
        let subject = Subject {
            earning_rule: own(3)?,
            earning: own(4)?,
            card_definition: own(5)?,
            tier_structure: own(6)?,
            tier: own(7)?,
        };
        let known = found.entry((place, subject.clone())).or_insert(Statistic { number, subject, sums: Vec::new() });
        known.number = known.number.min(number);
        if count != 0 {
            known.sums.push((kind, Sums { count, points, amount }));
        }
    }
    let mut placed: BTreeMap<usize, Vec<Statistic>> = BTreeMap::new();
    for ((place, _), statistic) in found.into_iter().filter(|(_, statistic)| !statistic.sums.is_empty()) {
        placed.entry(place).or_default().push(statistic);
    }
    placed.values_mut().for_each(|statistics| statistics.sort_by_key(|one| one.number));
    Ok(placed)
}

#[cfg(all(test, not(target_arch = "wasm32")))]
#[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
mod tests {
    use super::*;
    use crate::document::span;
    use crate::http::query::Query;
    use crate::store::sql::Sql;
    use crate::store::sqlite::Sqlite;
    use scrip::time::TimeZone;

    /// So many rules that fired once in each of so many quarters of an hour from 1 January 2026 on.
    fn shop(rules: i64, quarters: i64) -> Sqlite {
        let sql = Sqlite::memory().unwrap();
        drop(Store::open(&sql, 0).unwrap());
        let first = 1_767_225_600_000_i64;
        sql.run(
            "WITH RECURSIVE rule (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM rule WHERE n < ?1)
             INSERT INTO statistic SELECT n, 'p', 'FIRED', printf('lern_%04d', n), '', '', '', '', ?2, 0, 0 FROM rule",
            &[rules.into(), quarters.into()],
        )
        .unwrap();
        sql.run(
            "WITH RECURSIVE quarter (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM quarter WHERE n < ?1 - 1)
             INSERT INTO statistic_quarter SELECT id, ?2 / 900000 + n, 1, 0, 0 FROM statistic CROSS JOIN quarter",
            &[quarters.into(), first.into()],
        )
        .unwrap();
        sql
    }

    fn ask(sql: &Sqlite, query: &str) -> Result<BTreeMap<usize, Vec<Statistic>>, String> {
        let (store, zone) = (Store::new(sql), TimeZone::default());
        let mut clause = Clause::of_kinds(&[Counted::Fired.word()]);
        clause.and("program = {}", "p");
        let periods = span::periods(&Query::read(query), &zone).unwrap();
        by_period(&store, &clause, &periods).map_err(|error| match error {
            CallError::Refused(why) => why.details.clone().unwrap_or_default(),
            CallError::Fault(fault) => fault.0,
        })
    }

    #[test]
    fn a_report_has_bounds() {
        let sql = shop(28, 96);
        let year = ask(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=day").unwrap_err();
        assert!(year.contains("more than 10000 sums") && year.contains("is `10220`"), "{year}");
        let weeks = ask(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=week").unwrap();
        assert_eq!(weeks.keys().collect::<Vec<_>>(), [&0]);
        assert_eq!(weeks[&0].iter().map(|one| one.of(Counted::Fired).count).collect::<Vec<_>>(), [96; 28]);

        let sql = shop(10, 30_001);
        let year = ask(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=month").unwrap_err();
        assert!(year.contains("more than 300000 quarters of an hour"), "{year}");
        let half = ask(&sql, "start_date=2026-01-01&end_date=2026-06-30&resolution=day").unwrap();
        assert_eq!(half.len(), 181);
        assert!(half.values().flatten().all(|one| one.of(Counted::Fired).count == 96));
    }
}
