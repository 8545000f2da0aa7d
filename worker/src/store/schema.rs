//! Tables of the database, as a list of steps that only grows.

mod version;

use super::index::blind_index;
use super::index::response_name::response_name;
use super::sql::{self, Fault, Sql};
use scrip::text::fold;
use serde_json::{Value as Json, json};

/// Moves data in the same transaction as a migration.
type DataMove = fn(&dyn Sql) -> Result<(), Fault>;

/// A step of the schema: the statements of a file, and the Rust code that moves rows after them.
struct Migration {
    name: &'static str,
    text: &'static str,
    then: Option<DataMove>,
}

/// Declares a migration by its name. A macro, because `include_str!` takes only a literal.
macro_rules! migration {
    ($name:literal) => {
        Migration { name: $name, text: include_str!(concat!("migrations/", $name, ".sql")), then: None }
    };
    ($name:literal, $then:path) => {
        Migration { then: Some($then), ..migration!($name) }
    };
}

/// The migrations so far. One that has run somewhere is never changed; the next one is added below it.
const MIGRATIONS: &[Migration] = &[
    migration!("0001_base"),
    migration!("0002_transfer_times"),
    migration!("0003_retention"),
    migration!("0004_hold_owners"),
    migration!("0005_publication_limits"),
    migration!("0006_category_members"),
    migration!("0007_referral_holders"),
    migration!("0008_earning_triggers"),
    migration!("0009_program_revision"),
    migration!("0010_incentives_and_lots"),
    migration!("0011_fired_rules"),
    migration!("0012_statistics"),
    migration!("0013_program_revision_by_case"),
    migration!("0014_scratch"),
    migration!("0015_export_lines"),
    migration!("0016_outbox"),
    migration!("0017_list_indexes", digest_customers),
    migration!("0018_key_digests", digest_customer_keys),
    migration!("0019_idempotent_responses", move_responses),
    migration!("0020_name_trigrams"),
    migration!("0021_event_types"),
    migration!("0022_published_vouchers"),
    migration!("0023_counted_orders"),
    migration!("0024_redemption_campaigns"),
    migration!("0025_bundle_revision"),
    migration!("0026_folded_codes", fold_names),
    migration!("0027_transfer_parts"),
    migration!("0028_fired_flag"),
    migration!("0029_folded_emails", fold_emails),
    migration!("0030_organisation_users"),
    migration!("0031_token_keys"),
    migration!("0032_due_owners"),
    migration!("0033_outbox_causes"),
    migration!("0034_file_size"),
    migration!("0035_bundle_keys"),
    migration!("0036_bundle_heads"),
    migration!("0037_bundle_metadata_schemas"),
    migration!("0038_bundle_job"),
    migration!("0039_voucher_visibility"),
    migration!("0040_bundle_offers"),
    migration!("0041_bundle_goods"),
    migration!("0042_campaigns_with_offers"),
    migration!("0043_code_keys"),
    migration!("0044_used_codes"),
    migration!("0045_goods_sets"),
    migration!("0046_bundle_copying"),
    migration!("0047_redemption_inputs"),
    migration!("0048_bundle_drafts"),
    migration!("0049_replay_setting"),
    migration!("0050_count_mark"),
    migration!("0051_transfer_chains", end_empty_move),
    migration!("0052_kept_counts"),
    migration!("0053_records", end_empty_move_of_records),
    migration!("0054_list_indexes", drop_list_indexes_of_nothing),
    migration!("0055_waiting_statistics"),
    migration!("0056_unlimited_vouchers"),
    migration!("0057_document_numbers"),
    migration!("0058_listener_revision"),
];

/// The number of the newest migration.
pub const KNOWN: usize = MIGRATIONS.len();

/// Returns the statements of a file, each of which runs on its own. Empty lines separate them, and a comment may precede one.
fn statements(text: &'static str) -> impl Iterator<Item = &'static str> {
    let statement = |paragraph: &'static str| {
        let comment: usize =
            paragraph.split_inclusive('\n').take_while(|line| line.starts_with("--")).map(str::len).sum();
        paragraph.get(comment..).unwrap_or_default().trim().trim_end_matches(';')
    };
    text.split("\n\n").map(statement).filter(|statement| !statement.is_empty())
}

impl Migration {
    /// Runs the statements, then the code that belongs to them, and records the number.
    fn run(&self, sql: &dyn Sql, version: i64, now_ms: i64) -> Result<(), Fault> {
        let mut outcome = statements(self.text).try_for_each(|statement| sql.run(statement, &[]).map(drop));
        if let Some(then) = self.then {
            outcome = outcome.and_then(|()| then(sql));
        }
        outcome.map_err(|Fault(why)| Fault(format!("the migration {} fails: {why}", self.name)))?;
        sql.run("INSERT INTO migration (version, applied_at) VALUES (?1, ?2)", &[version.into(), now_ms.into()])
            .map(drop)
    }
}

/// Runs the migrations that have not run yet; a database of a later version is refused. Returns true when the database was empty before.
pub fn migrate(sql: &dyn Sql, now_ms: i64) -> Result<bool, Fault> {
    sql.run("CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)", &[])?;
    let rows = sql.run("SELECT COALESCE(MAX(version), 0) FROM migration", &[])?;
    let done = rows.first().map_or(Ok(0), |row| sql::int(row, 0))?;
    version::refuse_later(done, KNOWN)?;
    for (migration, version) in MIGRATIONS.iter().zip(1_i64..).filter(|(_, version)| *version > done) {
        migration.run(sql, version, now_ms)?;
    }
    if done == 0 {
        sql.run(FILLED, &[])?;
    }
    Ok(done == 0)
}

/// Makes the tables of the version before the migration of a name, in an empty database.
#[cfg(feature = "test-hooks")]
pub fn migrate_before(sql: &dyn Sql, name: &str) -> Result<(), Fault> {
    sql.run("CREATE TABLE migration (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL)", &[])?;
    let earlier = MIGRATIONS.iter().take_while(|migration| migration.name != name);
    earlier.zip(1_i64..).try_for_each(|(migration, version)| migration.run(sql, version, 0))
}

/// Fills the first pages of the table of documents. SQLite keeps the first content of a table's first page forever, so it
/// must contain no personal data.
const FILLED: &str = "INSERT INTO document (seq, kind, id, created_at, body)
     SELECT value, 'filler', value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[\"1\", \"2\", \"3\"]')";

/// Number of rows that one statement of a data move changes.
const SLICE: i64 = 500;

/// Adds digests to existing documents.
fn digest_customers(sql: &dyn Sql) -> Result<(), Fault> {
    let marked = |body: Option<&str>| {
        // Each document has a body.
        let (digests, folded_name) = blind_index::of_text(body.unwrap_or_default())?;
        Ok(json!([digests, folded_name]))
    };
    replace_column(
        sql,
        ["body", ""],
        "marks = json_extract(value, '$[1][0]'), label = json_extract(value, '$[1][1]')",
        marked,
    )
}

/// Updates the digests of e-mail addresses in upper case or with characters beyond ASCII.
fn fold_emails(sql: &dyn Sql) -> Result<(), Fault> {
    // Each document has a body.
    let marked = |body: Option<&str>| Ok(blind_index::of_text(body.unwrap_or_default())?.0.into());
    let condition =
        "AND json_extract(marks, '$.email') IS NOT NULL AND json_extract(body, '$.email') GLOB '*[^ -@[-~]*'";
    replace_column(sql, ["body", condition], "marks = json_extract(value, '$[1]')", marked)
}

/// Replaces the keys of existing customers by digests.
fn digest_customer_keys(sql: &dyn Sql) -> Result<(), Fault> {
    let marked = |name: Option<&str>| Ok(name.map(|name| blind_index::key(blind_index::KIND, name)).into());
    replace_column(sql, ["key", ""], "key = json_extract(value, '$[1]')", marked)?;
    sql.run("CREATE UNIQUE INDEX document_key ON document (kind, key) WHERE key IS NOT NULL", &[]).map(drop)
}

/// Folds existing names that were in lower case. ASCII names are identical in both.
fn fold_names(sql: &dyn Sql) -> Result<(), Fault> {
    let folded = |name: Option<&str>| Ok(name.map(blind_index::fold_name).into());
    replace_column(sql, ["label", "AND label GLOB '*[^ -~]*'"], "label = json_extract(value, '$[1]')", folded)
}

/// Sets a column of all customers that match a condition to a function of another column, in slices.
fn replace_column(
    sql: &dyn Sql,
    [column, condition]: [&str; 2],
    set: &str,
    of: fn(Option<&str>) -> Result<Json, Fault>,
) -> Result<(), Fault> {
    let select =
        format!("SELECT seq, {column} FROM document WHERE kind = +?1 AND seq > +?2 {condition} ORDER BY seq LIMIT +?3");
    let update = format!("UPDATE document SET {set} FROM json_each(?1) WHERE seq = json_extract(value, '$[0]')");
    let mut after = 0_i64;
    loop {
        let rows = sql.run(&select, &[blind_index::KIND.into(), after.into(), SLICE.into()])?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = sql::int(last, 0)?;
        let pairs =
            rows.iter().map(|row| Ok(Json::from(vec![sql::int(row, 0)?.into(), of(sql::text_or_null(row, 1)?)?])));
        let pairs = pairs.collect::<Result<Vec<Json>, Fault>>()?;
        sql.run(&update, &[Json::from(pairs).to_string().into()])?;
    }
}

/// Moves responses of the former table, in slices.
fn move_responses(sql: &dyn Sql) -> Result<(), Fault> {
    loop {
        let rows =
            sql.run("SELECT caller, request, key FROM idempotency ORDER BY created_at LIMIT +?1", &[SLICE.into()])?;
        if rows.is_empty() {
            break;
        }
        let named = rows.iter().map(|row| {
            let [caller, request, key] = [sql::text(row, 0)?, sql::text(row, 1)?, sql::text(row, 2)?];
            Ok(json!([caller, request, key, response_name(caller, request, key)]))
        });
        let named = Json::from(named.collect::<Result<Vec<Json>, Fault>>()?).to_string();
        for statement in MOVED_RESPONSES {
            sql.run(statement, &[named.as_str().into()])?;
        }
    }
    ["DROP TABLE idempotency", "DROP TABLE idempotency_slice"]
        .iter()
        .try_for_each(|drop| sql.run(drop, &[]).map(|_| ()))
}

/// Statements that move responses with their slices.
const MOVED_RESPONSES: [&str; 4] = [
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

/// Ends the move of transfers at once where there is none of an earlier version.
fn end_empty_move(sql: &dyn Sql) -> Result<(), Fault> {
    if !sql.run("SELECT 1 FROM former_transfer LIMIT 1", &[])?.is_empty() {
        return Ok(());
    }
    ONE_TABLE_OF_TRANSFERS.iter().try_for_each(|statement| sql.run(statement, &[]).map(drop))
}

/// Statements that end the move of `0051_transfer_chains.sql`: the ledger has one table from then on.
pub(super) const ONE_TABLE_OF_TRANSFERS: &[&str] = &[
    "DROP TRIGGER transfer_stored_once",
    "DROP VIEW every_transfer",
    "DROP VIEW earlier_transfer",
    "DROP TABLE former_transfer",
    "CREATE VIEW earlier_transfer AS
       SELECT chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit FROM transfer WHERE FALSE",
    "CREATE VIEW every_transfer AS
       SELECT chain, id, debit, credit, amount, at, reverses, part_of, by_debit, by_credit FROM transfer",
];

/// Ends the move of records at once where there is none of an earlier version.
fn end_empty_move_of_records(sql: &dyn Sql) -> Result<(), Fault> {
    if !sql.run("SELECT 1 FROM due WHERE id = 'MOVE_RECORDS'", &[])?.is_empty() {
        return Ok(());
    }
    end_of_record_move().try_for_each(|statement| sql.run(statement, &[]).map(drop))
}

/// Drops the indexes on demand at once where there is no document; elsewhere they are dropped one by one.
fn drop_list_indexes_of_nothing(sql: &dyn Sql) -> Result<(), Fault> {
    if !sql.run("SELECT 1 FROM document LIMIT 1", &[])?.is_empty() {
        return Ok(());
    }
    for row in &sql.run("SELECT name FROM list_index", &[])? {
        sql.run(&format!("DROP INDEX {}", sql::text(row, 0)?), &[])?;
    }
    ["DELETE FROM list_index", "DELETE FROM due WHERE id = 'sweep'"]
        .iter()
        .try_for_each(|statement| sql.run(statement, &[]).map(drop))
}

/// Returns the statements that end the move of `0053_records.sql`.
pub(super) fn end_of_record_move() -> impl Iterator<Item = &'static str> {
    statements(include_str!("schema/one_table_of_records.sql"))
}

/// Folds keys that an earlier version wrote in lower case, once, if the project ignores case. When codes become equal, the
/// first keeps the key and the others are found by id.
pub(super) fn fold_voucher_keys(sql: &dyn Sql, case_sensitive: bool) -> Result<(), Fault> {
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

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
