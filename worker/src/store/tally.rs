//! How many documents there are, as it is kept (`schema/listed`). It must not know why somebody asks.

use super::Store;
use super::sql::{self, Fault, Value};

/// Kinds of which it is kept, each with the columns by whose values it is kept as well, under the names that these have there.
const KEPT: &[(&str, &[(&str, &str)])] = &[
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

/// Kinds of which the ages are kept.
const DATED: &[&str] = &["voucher", "customer", "redemption"];

const SECOND_MS: i64 = 1_000;
const HOUR_S: i64 = 3_600;

impl Store<'_> {
    /// How many documents of a kind there are; nothing where it is not kept.
    pub fn tally(&self, kind: &str) -> Result<Option<i64>, Fault> {
        match KEPT.iter().any(|(known, _)| *known == kind) {
            true => self.tallied(kind, "", "").map(Some),
            false => Ok(None),
        }
    }

    /// How many of them have a value in a column; nothing where it is not kept.
    pub fn tally_of(&self, kind: &str, column: &str, value: &str) -> Result<Option<i64>, Fault> {
        let columns = KEPT.iter().find(|(known, _)| *known == kind).map_or(&[][..], |(_, columns)| columns);
        let name = columns.iter().find(|(known, _)| *known == column);
        name.map(|(_, name)| self.tallied(kind, name, value)).transpose()
    }

    /// How many of them were made before a moment; nothing where it is not kept.
    pub fn tally_before(&self, kind: &str, at_ms: i64) -> Result<Option<i64>, Fault> {
        if !DATED.contains(&kind) {
            return Ok(None);
        }
        // No document was made before 1970, nor is one counted in a second that no number of the platform tells.
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
                hour.saturating_mul(HOUR_S).into(),
                second.into(),
                second.saturating_mul(SECOND_MS).into(),
                at_ms.into(),
            ],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0)).map(Some)
    }

    fn tallied(&self, kind: &str, name: &str, value: &str) -> Result<i64, Fault> {
        let params: [Value; 3] = [kind.into(), name.into(), value.into()];
        let row = self.row("SELECT count FROM tally WHERE kind = +?1 AND name = +?2 AND value = +?3", &params)?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }
}
