//! The bounds of reports of loyalty programs.

use scrip::time::TimeZone;
use scrip_worker::documents::clause::Clause;
use scrip_worker::documents::report_period;
use scrip_worker::domain::loyalty_programs::statistics::{Statistic, StatisticKind, list_by_period};
use scrip_worker::http::query::Query;
use scrip_worker::http::reply::CallError;
use scrip_worker::store::Store;
use scrip_worker::store::sql::Sql;
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
