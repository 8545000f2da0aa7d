//! Tables of the responses that are stored under Idempotency-Keys.
//!
//! Rows are in the order of their creation, and are found by a digest of their names. Index pages and ordered trees keep
//! removed values in their gaps, where erasure could not remove them.

use crate::constant_time::sha256_hex;
use crate::store::sql::{self, Fault, Sql};
use serde_json::{Value as Json, json};

/// Returns the name of a response: a digest of caller, method and path, and key.
pub fn name(caller: &str, request: &str, key: &str) -> String {
    sha256_hex([caller, request, key].join("\0").as_bytes())
}

/// Moves responses of the former table, in slices.
pub(super) fn move_all(sql: &dyn Sql) -> Result<(), Fault> {
    /// Number of responses moved by one statement.
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

/// Statements that move responses with their slices.
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
