//! Counts of documents: triggers maintain those of the documents up to a mark, and a count adds those above it, of which there are
//! fewer than 128 (`migrations/0050_count_mark.sql`).

use crate::store::Store;
use crate::store::record_tables::source;
use crate::store::sql::{self, Fault, SqlValue};

/// Counted kinds, with the columns by whose values they are counted, and the names of these columns in the counts.
const COUNTED_KINDS: &[(&str, &[(&str, &str)])] = &[
    (
        "voucher",
        &[
            ("parent", "parent"),
            ("json_extract(body, '$.type')", "type"),
            ("json_extract(body, '$.category')", "category"),
            ("json_extract(body, '$.category_id')", "category_id"),
        ],
    ),
    ("customer", &[]),
    ("order", &[]),
    ("redemption", &[("json_extract(body, '$.result')", "result")]),
    ("publication", &[("parent", "parent")]),
];

/// Kinds counted by creation time.
const DATED: &[&str] = &["voucher", "customer", "redemption"];

/// Returns the view of what is not counted yet of a kind.
fn uncounted(kind: &str) -> &'static str {
    match kind {
        "order" => "(SELECT * FROM uncounted_order UNION ALL SELECT * FROM uncounted)",
        "redemption" => "(SELECT * FROM uncounted_redemption UNION ALL SELECT * FROM uncounted)",
        _ => "uncounted",
    }
}

const SECOND_MS: i64 = 1_000;
const HOUR_S: i64 = 3_600;

impl Store<'_> {
    /// Returns the number of documents of a kind; `None` when it is not counted.
    pub fn document_count(&self, kind: &str) -> Result<Option<i64>, Fault> {
        match COUNTED_KINDS.iter().any(|(known, _)| *known == kind) {
            true => self.stored_count(kind, "", "").map(Some),
            false => Ok(None),
        }
    }

    /// Returns the number of documents with a value in a column; `None` when it is not counted.
    pub fn document_count_of(&self, kind: &str, column: &str, value: &str) -> Result<Option<i64>, Fault> {
        let columns = COUNTED_KINDS.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, columns)| columns);
        let name = columns.iter().find(|(known, _)| *known == column);
        name.map(|(_, name)| self.stored_count(kind, name, value)).transpose()
    }

    /// Returns the number of documents created before `at_ms`; `None` when it is not counted.
    pub fn document_count_before(&self, kind: &str, at_ms: i64) -> Result<Option<i64>, Fault> {
        if !DATED.contains(&kind) {
            return Ok(None);
        }
        // The value is clamped to times that documents can have, from 1970 on, and to exact integers of the platform.
        let at_ms = at_ms.clamp(0, 9_000_000_000_000_000);
        let second = at_ms.div_euclid(SECOND_MS);
        let hour = second.div_euclid(HOUR_S);
        let statement = format!(
            "SELECT COALESCE((SELECT SUM(count) FROM tally WHERE kind = +?1 AND name = 'hour' AND value < +?2), 0)
               + COALESCE((SELECT SUM(count) FROM tally WHERE kind = +?1 AND name = 'second' AND value >= +?3 AND value < +?4), 0)
               + (SELECT COUNT(*) FROM {uncounted} WHERE +kind = ?1 AND name = 'second' AND value < +?4)
               + (SELECT COUNT(*) FROM {} WHERE kind = +?1 AND created_at >= +?5 AND created_at < +?6)",
            source(kind),
            uncounted = uncounted(kind)
        );
        let row = self.row(
            &statement,
            &[
                kind.into(),
                hour.into(),
                // Saturates at the end of time.
                hour.saturating_mul(HOUR_S).into(),
                second.into(),
                // Saturates at the end of time.
                second.saturating_mul(SECOND_MS).into(),
                at_ms.into(),
            ],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0)).map(Some)
    }

    // `+kind` keeps SQLite from reading the bodies of other kinds in the view.
    fn stored_count(&self, kind: &str, name: &str, value: &str) -> Result<i64, Fault> {
        let params: [SqlValue; 3] = [kind.into(), name.into(), value.into()];
        let statement = format!(
            "SELECT COALESCE((SELECT count FROM tally WHERE kind = +?1 AND name = +?2 AND value = +?3), 0)
               + (SELECT COUNT(*) FROM {} WHERE +kind = ?1 AND name = +?2 AND value = +?3)",
            uncounted(kind)
        );
        let row = self.row(&statement, &params)?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail loudly")]
    use super::*;
    use crate::store::sql::Sql;
    use crate::store::sqlite::Sqlite;

    /// Numbers that a seed determines.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, bound: i64) -> i64 {
            for (left, shift) in [(true, 13), (false, 7), (true, 17)] {
                self.0 ^= if left { self.0 << shift } else { self.0 >> shift };
            }
            i64::try_from(self.0 >> 11).unwrap() % bound
        }

        fn of<'a>(&mut self, values: &[&'a str]) -> &'a str {
            values[usize::try_from(self.below(i64::try_from(values.len()).unwrap())).unwrap()]
        }
    }

    const KINDS: &[&str] = &["voucher", "voucher", "customer", "publication", "event", "deleted.voucher"];
    const CHANGES: &[&str] = &[
        "DELETE FROM document WHERE seq = +?1",
        "UPDATE document SET kind = 'deleted.' || kind, key = NULL WHERE seq = +?1 AND kind NOT LIKE 'deleted.%'",
        "UPDATE document SET kind = substr(kind, 9), key = NULL WHERE seq = +?1 AND kind LIKE 'deleted.%'",
        "UPDATE document SET parent = CASE ?2 % 3 WHEN 0 THEN NULL WHEN 1 THEN 'c_1' ELSE 'c_2' END WHERE seq = +?1",
        "UPDATE document SET body = json_set(body, '$.type', CASE ?2 % 2 WHEN 0 THEN 'A' ELSE 'B' END) WHERE seq = +?1",
        "UPDATE document SET body = json_set(body, '$.category', 'x', '$.category_id', 'c') WHERE seq = +?1",
        "UPDATE document SET body = json_remove(body, '$.category', '$.category_id') WHERE seq = +?1",
        "UPDATE document SET body = json_set(body, '$.result', CASE ?2 % 2 WHEN 0 THEN 'SUCCESS' ELSE 'FAILURE' END) WHERE seq = +?1",
        "DELETE FROM document WHERE seq BETWEEN ?1 AND ?1 + ?2 % 40",
        "UPDATE document SET kind = 'deleted.' || kind, key = NULL WHERE seq BETWEEN ?1 AND ?1 + ?2 % 40",
    ];

    /// Inserts documents with one statement; those with a key that exists are left out, so that draws have gaps.
    fn insert(sql: &Sqlite, draws: &mut Draws, count: i64) {
        let rows: Vec<serde_json::Value> = (0..count)
            .map(|_| {
                let (id, kind) = (draws.below(1_000_000_000), draws.of(KINDS));
                let body = serde_json::json!({"type": draws.of(&["A", "B"]), "result": draws.of(&["SUCCESS", "FAILURE"]),
                    "category": (draws.below(2) == 0).then_some("x"), "category_id": (draws.below(4) == 0).then_some("c")});
                serde_json::json!([kind, id.to_string(), draws.below(count * 100), draws.below(7_300_000), body.to_string(), draws.of(&["c_1", "c_2"])])
            })
            .collect();
        sql.run(
            "INSERT OR IGNORE INTO document (kind, id, key, created_at, body, parent) SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),
               json_extract(value, '$[2]'), json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]') FROM json_each(?1)",
            &[serde_json::Value::Array(rows).to_string().into()],
        )
        .unwrap();
    }

    fn number(sql: &Sqlite, statement: &str, params: &[SqlValue]) -> i64 {
        sql::int(&sql.run(statement, params).unwrap()[0], 0).unwrap()
    }

    /// Compares every count with the documents.
    fn check(sql: &Sqlite, draws: &mut Draws) {
        let store = Store::new(sql);
        for (kind, columns) in COUNTED_KINDS {
            let table = source(kind);
            let all = number(sql, &format!("SELECT COUNT(*) FROM {table} WHERE kind = ?1"), &[(*kind).into()]);
            assert_eq!(store.document_count(kind).unwrap(), Some(all), "{kind}");
            for (column, _) in *columns {
                for value in ["c_1", "c_2", "A", "B", "x", "c", "SUCCESS", "FAILURE", "-"] {
                    let statement = format!("SELECT COUNT(*) FROM {table} WHERE kind = ?1 AND {column} = ?2");
                    let of_value = number(sql, &statement, &[(*kind).into(), value.into()]);
                    let counted = store.document_count_of(kind, column, value).unwrap();
                    assert_eq!(counted, Some(of_value), "{kind}, {column}, {value}");
                }
            }
            for at in [0, 3_600_000, 7_200_000, draws.below(7_300_000), 8_000_000] {
                let statement = format!("SELECT COUNT(*) FROM {table} WHERE kind = ?1 AND created_at < ?2");
                let before = number(sql, &statement, &[(*kind).into(), at.into()]);
                let counted = store.document_count_before(kind, at).unwrap();
                assert_eq!(counted, DATED.contains(kind).then_some(before), "{kind} before {at}");
            }
        }
        let above = number(sql, "SELECT COUNT(*) FROM document WHERE seq > (SELECT seq FROM count_mark)", &[]);
        assert!(above < 128, "{above} documents are above the mark");
    }

    #[test]
    fn counts_equal_the_documents_after_random_changes() {
        for seed in 1..=2 {
            let sql = Sqlite::memory().unwrap();
            Store::open(&sql, 0).unwrap();
            let mut draws = Draws(seed ^ 0x9E37_79B9_7F4A_7C15);
            let mut moves = 0;
            for _ in 0..250 {
                let mark = number(&sql, "SELECT seq FROM count_mark", &[]);
                match draws.below(4) {
                    0 => {
                        let count = if draws.below(8) == 0 { 300 } else { 20 };
                        insert(&sql, &mut draws, count);
                    }
                    _ => {
                        let last = number(&sql, "SELECT COALESCE(MAX(seq), 0) FROM document", &[]);
                        // Half of the changes are near the mark, on both of its sides.
                        let near = (mark - 60 + draws.below(150)).max(1);
                        let seq = if draws.below(2) == 0 { near } else { draws.below(last + 1) };
                        let (change, value) = (draws.of(CHANGES), draws.below(1_000));
                        let params: &[SqlValue] = &[seq.into(), value.into()];
                        sql.run(change, &params[..1 + usize::from(change.contains("?2"))]).unwrap();
                    }
                }
                moves += i64::from(number(&sql, "SELECT seq FROM count_mark", &[]) != mark);
                check(&sql, &mut draws);
            }
            assert!(moves > 5, "the mark has moved {moves} times");
        }
    }

    /// Inserts records with one statement: at most times in the order of their numbers, some of them found by their ids.
    fn insert_records(sql: &Sqlite, draws: &mut Draws, table: &str, count: i64, last: i64) {
        let rows: Vec<serde_json::Value> = (0..count)
            .map(|turn| {
                let seq = if draws.below(20) == 0 { draws.below(last + 1) } else { last + 1 + turn };
                let named = (draws.below(60) == 0).then_some(1);
                let id = format!("r_{seq:013x}{:03x}{:02x}", draws.below(4_096), draws.below(256));
                let body = serde_json::json!({ "result": draws.of(&["SUCCESS", "FAILURE"]) });
                serde_json::json!([seq, named, id, draws.below(7_300_000), body.to_string()])
            })
            .collect();
        sql.run(
            &format!(
                "INSERT OR IGNORE INTO {table} (seq, is_named, id, created_at, body) SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'),
                   json_extract(value, '$[2]'), json_extract(value, '$[3]'), json_extract(value, '$[4]') FROM json_each(?1)"
            ),
            &[serde_json::Value::Array(rows).to_string().into()],
        )
        .unwrap();
    }

    #[test]
    fn counts_equal_the_records_after_random_changes() {
        let sql = Sqlite::memory().unwrap();
        Store::open(&sql, 0).unwrap();
        let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
        let mut moves = 0;
        for _ in 0..300 {
            let table = draws.of(&["redemption", "redemption", "orders"]);
            let mark = number(&sql, "SELECT SUM(seq) FROM record_mark", &[]);
            let last = number(&sql, &format!("SELECT MAX(0, COALESCE(MAX(seq), 0)) FROM {table}"), &[]);
            let (seq, change) = (draws.below(last + 1), draws.below(6));
            let of_some = format!("WHERE seq BETWEEN {seq} AND {seq} + {}", draws.below(20));
            match change {
                0 => _ = sql.run(&format!("DELETE FROM {table} {of_some}"), &[]).unwrap(),
                1 => {
                    let result = draws.of(&["SUCCESS", "FAILURE"]);
                    let set = format!("UPDATE {table} SET body = json_set(body, '$.result', ?1) {of_some}");
                    _ = sql.run(&set, &[result.into()]).unwrap();
                }
                2 => _ = sql.run(&format!("UPDATE {table} SET parent = 'c_1', key = NULL {of_some}"), &[]).unwrap(),
                _ => {
                    let count = if draws.below(8) == 0 { 300 } else { 20 };
                    insert_records(&sql, &mut draws, table, count, last);
                }
            }
            moves += i64::from(number(&sql, "SELECT SUM(seq) FROM record_mark", &[]) != mark);
            check(&sql, &mut draws);
        }
        assert!(moves > 20, "the marks have moved {moves} times");
    }

    #[test]
    fn a_transaction_that_is_undone_moves_no_mark() {
        let sql = Sqlite::memory().unwrap();
        Store::open(&sql, 0).unwrap();
        let mut draws = Draws(7);
        insert(&sql, &mut draws, 100);
        let undone = sql.transaction(|sql| {
            insert(sql, &mut Draws(8), 1_000);
            Err::<(), _>(Fault::new("undone"))
        });
        assert!(undone.is_err());
        check(&sql, &mut draws);
        insert(&sql, &mut draws, 100);
        check(&sql, &mut draws);
    }
}
