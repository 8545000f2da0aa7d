//! Where answers stand that are kept under Idempotency-Keys, and by what they are found. It must not know what is answered.
//!
//! They are rows in the order in which they came, found by a digest of their names: what an index has, and what stands before or behind
//! other rows in a tree, is moved from page to page and left in the gaps, and nothing of whoever is forgotten may be left.

use super::sql::{self, Fault, Sql};
use crate::digest::sha256_hex;
use serde_json::{Value as Json, json};

/// By what an answer is found: who asked, method and path, and the key.
pub fn name(caller: &str, request: &str, key: &str) -> String {
    sha256_hex([caller, request, key].join("\0").as_bytes())
}

/// The tables, whose first pages are filled with nothing of anybody (as those of documents are), before [`move_all`].
pub(super) const STEP: &[&str] = &[
    "CREATE TABLE answer (
        seq INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, caller TEXT NOT NULL, request TEXT NOT NULL, key TEXT NOT NULL,
        body_hash TEXT NOT NULL, status INTEGER NOT NULL, headers TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL,
        bytes INTEGER NOT NULL)",
    "CREATE INDEX answer_age ON answer (created_at, bytes) WHERE status > 0",
    "CREATE TABLE answer_slice (answer INTEGER NOT NULL, place INTEGER NOT NULL, body TEXT NOT NULL, UNIQUE (answer, place))",
    // What has no status is no answer, and never leaves.
    "INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
     SELECT 'filler ' || value, '', '', '', '', 0, '', hex(zeroblob(1900)), 0, 0 FROM json_each('[1, 2, 3]')",
];

/// Moves the answers that were kept before, some at a time.
pub(super) fn move_all(sql: &dyn Sql) -> Result<(), Fault> {
    /// Answers that are moved with one statement.
    const SLICE: i64 = 500;
    loop {
        let rows =
            sql.run("SELECT caller, request, key FROM idempotency ORDER BY created_at LIMIT +?1", &[SLICE.into()])?;
        if rows.is_empty() {
            break;
        }
        let named = rows.iter().map(|row| {
            let [caller, request, key] = [sql::text(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?];
            Ok(json!([caller, request, key, name(caller, request, key)]))
        });
        let named = Json::from(named.collect::<Result<Vec<Json>, Fault>>()?).to_string();
        for statement in MOVED {
            sql.run(statement, &[named.as_str().into()])?;
        }
    }
    ["DROP TABLE idempotency", "DROP TABLE idempotency_slice"]
        .iter()
        .try_for_each(|drop| sql.run(drop, &[]).map(|_| ()))
}

/// What moves answers with their slices.
const MOVED: [&str; 4] = [
    "INSERT INTO answer (name, caller, request, key, body_hash, status, headers, body, created_at, bytes)
     SELECT json_extract(value, '$[3]'), caller, request, idempotency.key, body_hash, status, headers, body, created_at, bytes
     FROM json_each(?1) CROSS JOIN idempotency ON caller = json_extract(value, '$[0]') AND request = json_extract(value, '$[1]')
       AND idempotency.key = json_extract(value, '$[2]')",
    "INSERT INTO answer_slice (answer, place, body)
     SELECT answer.seq, place, slice.body FROM json_each(?1) AS named CROSS JOIN answer ON answer.name = json_extract(named.value, '$[3]')
       CROSS JOIN idempotency_slice AS slice ON slice.caller = answer.caller AND slice.request = answer.request AND slice.key = answer.key",
    "DELETE FROM idempotency_slice WHERE (caller, request, key) IN
       (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?1))",
    "DELETE FROM idempotency WHERE (caller, request, key) IN
       (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]') FROM json_each(?1))",
];
