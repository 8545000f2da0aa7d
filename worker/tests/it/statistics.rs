//! The bounds of reports of loyalty programs, and the sums that they read.

use scrip::time::TimeZone;
use scrip_worker::documents::clause::Clause;
use scrip_worker::documents::report_period;
use scrip_worker::domain::loyalty_programs::statistics::{Statistic, StatisticKind, list_by_period};
use scrip_worker::http::query::Query;
use scrip_worker::http::reply::CallError;
use scrip_worker::store::Store;
use scrip_worker::store::loyalty::statistics::{CountedEvent, add_waiting, insert_events};
use scrip_worker::store::sql::{Sql, SqlRow, int};
use scrip_worker::store::sqlite::Sqlite;
use std::collections::BTreeMap;

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

fn query_report(sql: &Sqlite, query: &str) -> Result<BTreeMap<usize, Vec<Statistic>>, String> {
    let (store, zone) = (Store::new(sql), TimeZone::default());
    let mut clause = Clause::of_kinds(&[StatisticKind::Fired.name()]);
    clause.and("program = {}", "p");
    let periods = report_period::periods(&Query::read(query), &zone).unwrap();
    list_by_period(&store, &clause, &periods).map_err(|error| match error {
        CallError::Refused(why) => why.details.clone().unwrap_or_default(),
        CallError::Fault(fault) => fault.0,
    })
}

#[test]
fn a_report_has_bounds() {
    let sql = shop(28, 96);
    let year = query_report(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=day").unwrap_err();
    assert!(year.contains("more than 10000 sums") && year.contains("is `10220`"), "{year}");
    let weeks = query_report(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=week").unwrap();
    assert_eq!(weeks.keys().collect::<Vec<_>>(), [&0]);
    assert_eq!(weeks[&0].iter().map(|one| one.of(StatisticKind::Fired).count).collect::<Vec<_>>(), [96; 28]);

    let sql = shop(10, 30_001);
    let year = query_report(&sql, "start_date=2026-01-01&end_date=2026-12-31&resolution=month").unwrap_err();
    assert!(year.contains("more than 300000 quarters of an hour"), "{year}");
    let half = query_report(&sql, "start_date=2026-01-01&end_date=2026-06-30&resolution=day").unwrap();
    assert_eq!(half.len(), 181);
    assert!(half.values().flatten().all(|one| one.of(StatisticKind::Fired).count == 96));
}

#[test]
fn events_that_wait_are_added_in_the_order_in_which_they_happened() {
    let sql = Sqlite::memory().unwrap();
    drop(Store::open(&sql, 0).unwrap());
    let rules: Vec<String> = (0..40).map(|rule| format!("r{}", rule * 7 % 40)).collect();
    let mut expected: Vec<(String, i64, i64)> = Vec::new();
    let mut quarters: BTreeMap<(String, i64), i64> = BTreeMap::new();
    for call in 0..300_i64 {
        let mut store = Store::new(&sql);
        let at = call * 40_000;
        let mut events = Vec::new();
        for (place, points) in [(call % 40, 1), (call % 13, 20), (call % 13, 3)] {
            let rule = rules[usize::try_from(place).unwrap()].as_str();
            let points = u64::try_from(points * call).unwrap();
            events.push(CountedEvent {
                program: "p",
                kind: "EARNED",
                rule,
                earning: "e",
                card_definition: "c",
                points,
            });
            let points = i64::try_from(points).unwrap();
            match expected.iter_mut().find(|(known, ..)| known == rule) {
                Some((_, count, sum)) => (*count, *sum) = (*count + 1, *sum + points),
                None => expected.push((rule.to_owned(), 1, points)),
            }
            *quarters.entry((rule.to_owned(), at / 900_000)).or_default() += points;
        }
        insert_events(&mut store, &events, at);
        store.flush().unwrap();
        let waiting = sql.run("SELECT COUNT(*) FROM statistic_waiting", &[]).unwrap();
        assert!(int(&waiting[0], 0).unwrap() < 128);
    }
    add_waiting(&Store::new(&sql)).unwrap();
    let rows = sql.run("SELECT earning_rule, count, points FROM statistic ORDER BY id", &[]).unwrap();
    let expected: Vec<SqlRow> = expected
        .into_iter()
        .map(|(rule, count, points)| vec![rule.as_str().into(), count.into(), points.into()])
        .collect();
    assert_eq!(rows, expected);
    let rows = sql
        .run("SELECT earning_rule, quarter, statistic_quarter.points FROM statistic_quarter JOIN statistic ON statistic.id = statistic ORDER BY 1, 2", &[])
        .unwrap();
    let quarters: Vec<SqlRow> = quarters
        .into_iter()
        .map(|((rule, quarter), points)| vec![rule.as_str().into(), quarter.into(), points.into()])
        .collect();
    assert_eq!(rows, quarters);
}
