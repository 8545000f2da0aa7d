//! Statements of tests only: replace the data of a project, and make much of it. Exists only under the feature `test-hooks`.

use super::Store;
use super::record_tables::record_table;
use super::sql::{self, Fault};
use scrip::facts::RuleCount;
use serde_json::Value as Json;

/// Kinds of what a customer may have that is copied.
const COPIED: &str = "('customer', 'member', 'loyalty_card', 'card_points_bucket', 'card_transaction')";

/// Everything that a project has, but for what it began with.
const EMPTIED: &[&str] = &[
    "DELETE FROM document WHERE kind NOT IN ('secret', 'stacking_rules')",
    "DELETE FROM event WHERE seq >= 0",
    "DELETE FROM orders WHERE seq >= 0",
    "DELETE FROM redemption WHERE seq >= 0",
    "DELETE FROM voucher_transaction WHERE seq >= 0",
    "DELETE FROM export_line",
    "DELETE FROM redemption_input",
    "DELETE FROM earning_occasion",
    "DELETE FROM earning_firing",
    "DELETE FROM statistic",
    "DELETE FROM statistic_quarter",
    "DELETE FROM statistic_waiting",
    "DELETE FROM account",
    "DELETE FROM transfer",
    "DELETE FROM kept_count",
    "DELETE FROM hold",
    "DELETE FROM answer WHERE status <> 0",
    "DELETE FROM answer_slice",
    "DELETE FROM allowance",
    "DELETE FROM generator",
    "DELETE FROM due",
    "UPDATE list_index SET used_day = 0",
    "DELETE FROM turn WHERE owner <> ''",
    "DELETE FROM outbox",
    "DELETE FROM bundle_key",
    "UPDATE bundle_epoch SET epoch = 0",
];

/// Deletes all data of a project when the call commits, except its initial data.
pub fn delete_all(store: &mut Store<'_>) {
    for statement in EMPTIED {
        store.write(*statement, Vec::new());
    }
}

/// Keeps all counts from now on, when the call commits: given rules are written past the route that keeps what they ask for.
pub fn keep_all_counts(store: &mut Store<'_>) {
    let names: Vec<&str> = RuleCount::ALL.iter().map(|count| count.name()).collect();
    store.write(
        "INSERT INTO kept_count (name, chain, id, is_complete) SELECT value, '', '', 1 FROM json_each(?1)",
        vec![Json::from(names).to_string().into()],
    );
}

/// Returns true if the data of a project were given at a time of the test: then no job and no delivery is due by the real clock.
pub fn has_own_clock(store: &Store<'_>) -> Result<bool, Fault> {
    Ok(store.row("SELECT 1 FROM document WHERE kind = 'given' AND id = 'own_clock'", &[])?.is_some())
}

/// Fails while a test has stored a document of the kind `failing_build`.
pub fn check_build(store: &Store<'_>) -> Result<(), Fault> {
    let stored = store.row("SELECT 1 FROM document WHERE kind = 'failing_build' LIMIT 1", &[])?;
    stored.map_or(Ok(()), |_| Err(Fault::new("injected: the build of the bundle fails")))
}

/// Counts the deliveries that wait for a later time.
pub fn count_waiting_deliveries(store: &Store<'_>, now_ms: i64) -> Result<usize, Fault> {
    Ok(store.rows("SELECT seq FROM outbox WHERE at > ?1", &[now_ms.into()])?.len())
}

/// Makes them due when the call commits.
pub fn update_deliveries_due(store: &mut Store<'_>, now_ms: i64) {
    store.write("UPDATE outbox SET at = ?1 WHERE at > ?1", vec![now_ms.into()]);
    store.schedule_deliveries_at(now_ms);
}

/// Documents that differ by their number alone.
pub struct NumberedDocuments {
    /// Number of documents.
    pub count: i64,
    /// Their kind.
    pub kind: String,
    /// The document that they belong to.
    pub parent: Option<String>,
    /// Their body, as JSON.
    pub body: String,
    /// The time of the first, in milliseconds since 1970; each next one is a millisecond later.
    pub created_at: i64,
}

/// Inserts documents `fill0`, `fill1` and so on when the call commits.
pub fn insert_numbered(store: &mut Store<'_>, numbered: NumberedDocuments) {
    let NumberedDocuments { count, kind, parent, body, created_at } = numbered;
    let (into, columns, values) = match record_table(&kind) {
        Some(table) => (table.name, "seq, is_named", "(?4 + n) * 2048 + (?2 IS NULL), 1"),
        None => ("document", "kind", "?2"),
    };
    store.write(
        format!(
            "WITH RECURSIVE turn(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < ?1)
             INSERT INTO {into} ({columns}, id, key, parent, created_at, body)
             SELECT {values}, 'fill' || n, 'fill' || n, ?3, ?4 + n, json_set(?5, '$.id', 'fill' || n, '$.code', 'fill' || n) FROM turn"
        ),
        vec![count.into(), kind.into(), parent.into(), created_at.into(), body.into()],
    );
}

/// Inserts copies of a customer and of all that the customer holds, now: with their transfers, balances and what is due on them.
pub fn insert_copies(store: &Store<'_>, customer_id: &str, first: i64, count: i64) -> Result<(), Fault> {
    let held = |column: &str, of: &str| format!("SELECT {column} FROM document WHERE kind IN {COPIED} AND {of} = ?1");
    let named = ["id", "key"].map(|column| format!("{} UNION ALL {}", held(column, "id"), held(column, "holder")));
    let held = format!("SELECT id FROM ({}) WHERE id IS NOT NULL", named.join(" UNION ALL "));
    let rows = store.rows(&held, &[customer_id.into()])?;
    let names = rows.iter().map(|row| Ok(sql::text(row, 0)?.to_owned()));
    let names = names.collect::<Result<Vec<String>, Fault>>()?;
    // Ids come first, so that a key which is made of ids has been replaced when it comes itself.
    let mut params = vec![first.into(), count.into(), Json::from(names.clone()).to_string().into()];
    params.extend(names.iter().map(|name| name.as_str().into()));
    let renamed = |column: &str| {
        // Memory bounds the list.
        (4..params.len().saturating_add(1)).fold(column.to_owned(), |text, place| {
            let (head, tail) = (format!("instr(?{place}, '_')"), format!("instr(?{place}, '_') + 7"));
            format!("replace({text}, ?{place}, substr(?{place}, 1, {head}) || digits || substr(?{place}, {tail}))")
        })
    };
    let of_copied = format!("kind IN {COPIED} AND id IN names");
    for (table, named, others, whose) in [
        ("document", "id key parent holder body", "kind, created_at, updated_at", of_copied.as_str()),
        (
            "account",
            "id",
            "balance",
            "id IN (SELECT debit FROM transfer WHERE chain IN names UNION SELECT credit FROM transfer WHERE chain IN names)",
        ),
        ("transfer", "id chain debit credit", "amount, at, by_debit, by_credit", "chain IN names"),
        ("due", "id", "at, kind, cursor, attempts", "id IN names"),
    ] {
        let columns = named.replace(' ', ", ");
        let renamed = named.split(' ').map(renamed).collect::<Vec<_>>().join(", ");
        store.write_now(
            &format!(
                "WITH RECURSIVE turn(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < ?1 + ?2),
                   scattered AS (SELECT printf('%06x', n * 10368889 % 16777216) AS digits FROM turn),
                   names AS (SELECT value AS name FROM json_each(?3)),
                   own AS MATERIALIZED (SELECT * FROM {table} WHERE {whose})
                 INSERT INTO {table} ({columns}, {others})
                 SELECT {renamed}, {others} FROM scattered, own"
            ),
            &params,
        )?;
    }
    Ok(())
}

/// Counts the rows of the tables that a refused request must not change.
pub fn count_rows(store: &Store<'_>) -> Result<Vec<(&'static str, i64)>, Fault> {
    let count = |table: &'static str| {
        let row = store.row(&format!("SELECT COUNT(*) FROM {table}"), &[])?;
        Ok((table, row.map_or(Ok(0), |row| sql::int(&row, 0))?))
    };
    ["document", "transfer", "hold", "due", "generator", "account", "redemption_input"].into_iter().map(count).collect()
}
