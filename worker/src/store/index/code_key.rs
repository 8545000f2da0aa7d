//! Key under which a code is stored, and the migration of older keys.

use crate::store::sql::{self, Fault, Sql};
use scrip::text::fold;
use serde_json::{Value as Json, json};

/// Returns the key under which a code is stored and found.
pub fn code_key(code: &str, case_sensitive: bool) -> String {
    if case_sensitive { code.to_owned() } else { fold(code).into_owned() }
}

/// Folds keys that an earlier version wrote in lower case, once, if the project ignores case. When codes become equal, the
/// first keeps the key and the others are found by id.
pub(in crate::store) fn settle_keys(sql: &dyn Sql, case_sensitive: bool) -> Result<(), Fault> {
    if sql.run("SELECT 1 FROM document WHERE kind = 'secret' AND id = 'unfolded_codes'", &[])?.is_empty() {
        return Ok(());
    }
    if !case_sensitive {
        fold_keys(sql, "voucher")?;
        fold_keys(sql, "bin_entry")?;
    }
    sql.run("DELETE FROM document WHERE kind = 'secret' AND id = 'unfolded_codes'", &[]).map(drop)
}

fn fold_keys(sql: &dyn Sql, kind: &str) -> Result<(), Fault> {
    /// Number of rows changed by one statement.
    const SLICE: i64 = 500;
    let mut after = String::new();
    loop {
        let rows = sql.run(
            "SELECT seq, key FROM document WHERE kind = +?1 AND key > ?2 AND key GLOB '*[^ -~]*' ORDER BY key LIMIT +?3",
            &[kind.into(), after.as_str().into(), SLICE.into()],
        )?;
        let Some(last) = rows.last() else { return Ok(()) };
        sql::text(last, 1)?.clone_into(&mut after);
        let mut pairs: Vec<Json> = Vec::new();
        for row in &rows {
            let (seq, key) = (sql::int(row, 0)?, sql::text(row, 1)?);
            // The trash bin also has names of other kinds, which are case-sensitive.
            if kind == "voucher" || key.starts_with("voucher/") {
                pairs.push(json!([seq, fold(key)]));
            }
        }
        sql.run(
            "UPDATE OR IGNORE document SET key = json_extract(value, '$[1]') FROM json_each(?1) WHERE seq = json_extract(value, '$[0]')",
            &[Json::from(pairs).to_string().into()],
        )?;
    }
}
