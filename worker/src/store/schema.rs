//! Tables of the database, as a list of steps that only grows.

mod version;

use super::idempotent_responses;
use super::index::blind_index;
use super::sql::{self, Fault, Sql};

/// Moves data in the same transaction as a migration.
type DataMove = fn(&dyn Sql) -> Result<(), Fault>;

/// A step of the schema: the statements of a file, and the Rust code that moves rows after them.
struct Migration {
    name: &'static str,
    text: &'static str,
    then: Option<DataMove>,
}

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
    migration!("0017_list_indexes", blind_index::mark_all),
    migration!("0018_key_digests", blind_index::mark_keys),
    migration!("0019_idempotent_responses", idempotent_responses::move_all),
    migration!("0020_name_trigrams"),
    migration!("0021_event_types"),
    migration!("0022_published_vouchers"),
    migration!("0023_counted_orders"),
    migration!("0024_redemption_campaigns"),
    migration!("0025_bundle_revision"),
    migration!("0026_folded_codes", blind_index::fold_labels),
    migration!("0027_transfer_parts"),
    migration!("0028_fired_flag"),
    migration!("0029_folded_emails", blind_index::fold_emails),
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
    migration!("0044_goods_sets"),
];

/// The number of the newest migration.
pub const KNOWN: usize = MIGRATIONS.len();

impl Migration {
    /// The statements, each of which runs on its own. Empty lines separate them, and a comment may stand above one.
    fn statements(&self) -> impl Iterator<Item = &'static str> {
        let statement = |paragraph: &'static str| {
            let comment: usize =
                paragraph.split_inclusive('\n').take_while(|line| line.starts_with("--")).map(str::len).sum();
            paragraph.get(comment..).unwrap_or_default().trim().trim_end_matches(';')
        };
        self.text.split("\n\n").map(statement).filter(|statement| !statement.is_empty())
    }

    /// Runs the statements, then the code that belongs to them, and records the number.
    fn run(&self, sql: &dyn Sql, version: i64, now_ms: i64) -> Result<(), Fault> {
        let mut outcome = self.statements().try_for_each(|statement| sql.run(statement, &[]).map(drop));
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

/// Fills the first pages of the table of documents. SQLite keeps the first content of a table's first page forever, so it
/// must contain no personal data.
const FILLED: &str = "INSERT INTO document (kind, id, created_at, body)
     SELECT 'filler', value, 0, json_object('nothing', hex(zeroblob(1900))) FROM json_each('[\"1\", \"2\", \"3\"]')";

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
