//! Counts of documents that triggers maintain (`migrations/0017_list_indexes.sql`).

use crate::store::Store;
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
        let row = self.row(
            "SELECT COALESCE((SELECT SUM(count) FROM tally WHERE kind = +?1 AND name = 'hour' AND value < +?2), 0)
               + COALESCE((SELECT SUM(count) FROM tally WHERE kind = +?1 AND name = 'second' AND value >= +?3 AND value < +?4), 0)
               + (SELECT COUNT(*) FROM document WHERE kind = +?1 AND created_at >= +?5 AND created_at < +?6)",
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

    fn stored_count(&self, kind: &str, name: &str, value: &str) -> Result<i64, Fault> {
        let params: [SqlValue; 3] = [kind.into(), name.into(), value.into()];
        let row = self.row("SELECT count FROM tally WHERE kind = +?1 AND name = +?2 AND value = +?3", &params)?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }
}
