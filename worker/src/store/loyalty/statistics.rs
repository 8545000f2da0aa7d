//! The sums of what happened in loyalty programs, in all and in quarters of an hour. Does not depend on the kinds of what happened, nor on
//! reports.

use crate::store::Store;
use crate::store::sql::{self, Fault, RowCondition, SqlRow};
use serde_json::{Value as Json, json};

/// An event of an earning rule that is counted.
#[derive(Debug, Clone, Copy)]
pub struct CountedEvent<'e> {
    /// The program.
    pub program: &'e str,
    /// The kind of the event.
    pub kind: &'e str,
    /// The earning rule.
    pub rule: &'e str,
    /// The earning of it; empty where there is none.
    pub earning: &'e str,
    /// The card definition; empty where there is none.
    pub card_definition: &'e str,
    /// The points that the event is about.
    pub points: u64,
}

/// The sums of one row of the statistics, in all or in a period.
#[derive(Debug)]
pub struct StatisticRow {
    /// The place of the period; 0 in all.
    pub period: i64,
    /// The number of the row.
    pub number: i64,
    /// The kind of what happened.
    pub kind: String,
    /// The earning rule.
    pub earning_rule: String,
    /// The earning of it.
    pub earning: String,
    /// The card definition.
    pub card_definition: String,
    /// The tier structure.
    pub tier_structure: String,
    /// The tier of it.
    pub tier: String,
    /// Number, points and amount; nothing where nothing happened in the period.
    pub sums: Option<[i64; 3]>,
}

/// The number of rows that a report would add up.
#[derive(Debug, Clone, Copy)]
pub struct ReportSize {
    /// Rows of the statistics.
    pub subjects: i64,
    /// Quarters of an hour of them.
    pub quarters: i64,
}

/// Quarters of an hour since 1970, from one to before another.
#[derive(Debug, Clone, Copy)]
pub struct QuarterRange {
    /// The first quarter.
    pub from: i64,
    /// The quarter after the last one.
    pub to: i64,
}

impl StatisticRow {
    fn read(row: &SqlRow) -> Result<StatisticRow, Fault> {
        let parse = |sums| serde_json::from_str(sums).map_err(|error| Fault(format!("sums do not parse: {error}")));
        let text = |column| sql::text(row, column).map(str::to_owned);
        Ok(StatisticRow {
            period: sql::int(row, 0)?,
            number: sql::int(row, 1)?,
            kind: text(2)?,
            earning_rule: text(3)?,
            earning: text(4)?,
            card_definition: text(5)?,
            tier_structure: text(6)?,
            tier: text(7)?,
            sums: sql::text_or_null(row, 8)?.map(parse).transpose()?,
        })
    }
}

/// Counts events, at the flush, in this order: they wait in one row.
pub fn insert_events(store: &mut Store<'_>, events: &[CountedEvent<'_>], now_ms: i64) {
    let row = |event: &CountedEvent<'_>| {
        let CountedEvent { program, kind, rule, earning, card_definition, points } = *event;
        json!([program, kind, rule, earning, card_definition, "", "", 1, points, 0])
    };
    let rows: Vec<Json> = events.iter().map(row).collect();
    store.write(
        "INSERT INTO statistic_waiting (at, events) VALUES (?1, ?2)",
        vec![now_ms.into(), Json::from(rows).to_string().into()],
    );
}

/// Adds the events that wait to the sums, at once. Each reader of the sums calls it first.
pub fn add_waiting(store: &Store<'_>) -> Result<(), Fault> {
    store.write_now("INSERT INTO statistic_addition VALUES (0)", &[])
}

/// Lists the sums in all of the rows that meet a condition.
pub fn list_totals(store: &Store<'_>, condition: RowCondition<'_>) -> Result<Vec<StatisticRow>, Fault> {
    let RowCondition { text, params } = condition;
    let rows = store.rows(
        &format!(
            "SELECT 0, id, kind, earning_rule, earning, card_definition, tier_structure, tier, json_array(count, points, amount)
             FROM statistic WHERE {text}"
        ),
        params,
    )?;
    rows.iter().map(StatisticRow::read).collect()
}

/// Lists the sums in periods of the rows that meet a condition. The periods are JSON: an array of first quarter and quarter after the last one.
pub fn list_by_period(
    store: &Store<'_>,
    condition: RowCondition<'_>,
    periods: String,
) -> Result<Vec<StatisticRow>, Fault> {
    let RowCondition { text, params } = condition;
    let mut params = params.to_vec();
    params.push(periods.into());
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
    rows.iter().map(StatisticRow::read).collect()
}

/// Counts the rows that meet a condition, and their quarters within a span; of quarters no more than `most` and one are counted.
pub fn count_rows(
    store: &Store<'_>,
    condition: RowCondition<'_>,
    range: QuarterRange,
    most: i64,
) -> Result<Option<ReportSize>, Fault> {
    let RowCondition { text, params } = condition;
    let mut params = params.to_vec();
    params.extend([range.from.into(), range.to.into()]);
    // The two times are the last parameters.
    let (from, to) = (params.len().saturating_sub(1), params.len());
    let row = store.row(
        &format!(
            "SELECT (SELECT COUNT(*) FROM statistic WHERE {text}),
               (SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT id FROM statistic WHERE {text}) AS statistic CROSS JOIN statistic_quarter
                WHERE statistic = statistic.id AND quarter >= +?{from} AND quarter < +?{to} LIMIT {}))",
            // One row more than the limit: it exists if the limit is exceeded.
            most.saturating_add(1)
        ),
        &params,
    )?;
    row.map(|row| Ok(ReportSize { subjects: sql::int(&row, 0)?, quarters: sql::int(&row, 1)? })).transpose()
}
