//! The stored head of a project's bundle, and the bytes that heads name by their hashes, with a mark for those that KV has. Also the data of
//! the present core that a supplement needs, and the keys of its sealed boxes.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Head of a bundle, with what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHead {
    /// The head itself, a compact JWS.
    pub jws: String,
    /// Key that signed it.
    pub kid: String,
    /// Its epoch.
    pub epoch: i64,
    /// Its revision, which clients compare.
    pub rev: i64,
    /// SHA-256 of its core.
    pub core: String,
    /// Time of its signature.
    pub issued_ms: i64,
    /// Begin of its horizon.
    pub from_ms: i64,
    /// End of its horizon.
    pub to_ms: i64,
    /// Revision of the documents of its core.
    pub revision: String,
    /// Hash of the settings of its core.
    pub settings: String,
}

/// State of a bundle: its present revision, and the previous head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleState {
    /// Revision of the documents that a bundle contains (`store/migrations/0025_bundle_revision.sql`).
    pub revision: String,
    /// Epoch of the project.
    pub epoch: i64,
    /// The head that was made last.
    pub head: Option<StoredHead>,
}

/// Bytes with their SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundlePart {
    /// SHA-256 in hexadecimal digits.
    pub hash: String,
    /// The bytes, which are text.
    pub body: String,
}

/// Returns the state of the bundle, with one statement.
pub fn find_state(store: &Store<'_>) -> Result<BundleState, Fault> {
    let row = store.row(
        "SELECT drawn, (SELECT epoch FROM bundle_epoch), jws, kid, bundle_head.epoch, rev, core, issued_ms, from_ms, to_ms, revision, settings
         FROM edition LEFT JOIN bundle_head ON bundle_head.id = 1 WHERE subject = 'bundle'",
        &[],
    )?;
    let row = row.ok_or_else(|| Fault::new("the bundle has no revision"))?;
    let head = if sql::text_or_null(&row, 2)?.is_some() { Some(read_head(&row)?) } else { None };
    Ok(BundleState { revision: sql::text(&row, 0)?.to_owned(), epoch: sql::int(&row, 1)?, head })
}

fn read_head(row: &SqlRow) -> Result<StoredHead, Fault> {
    let own = |column: usize| sql::text(row, column).map(str::to_owned);
    Ok(StoredHead {
        jws: own(2)?,
        kid: own(3)?,
        epoch: sql::int(row, 4)?,
        rev: sql::int(row, 5)?,
        core: own(6)?,
        issued_ms: sql::int(row, 7)?,
        from_ms: sql::int(row, 8)?,
        to_ms: sql::int(row, 9)?,
        revision: own(10)?,
        settings: own(11)?,
    })
}

/// Replaces the head. Its core is stored before.
pub fn update(store: &mut Store<'_>, head: &StoredHead) {
    store.write(
        "INSERT OR REPLACE INTO bundle_head (id, jws, kid, epoch, rev, core, issued_ms, from_ms, to_ms, revision, settings)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        vec![
            head.jws.as_str().into(),
            head.kid.as_str().into(),
            head.epoch.into(),
            head.rev.into(),
            head.core.as_str().into(),
            head.issued_ms.into(),
            head.from_ms.into(),
            head.to_ms.into(),
            head.revision.as_str().into(),
            head.settings.as_str().into(),
        ],
    );
}

/// Stores parts of a core before a head names them, at the flush. Without such a head they are removed as former ones are.
pub fn insert_unnamed_parts(store: &mut Store<'_>, parts: &[BundlePart], now_ms: i64) {
    for part in parts {
        store.write(
            "INSERT INTO bundle_part (hash, body, unnamed_since) VALUES (?1, ?2, ?3) ON CONFLICT (hash) DO NOTHING",
            vec![part.hash.as_str().into(), part.body.as_str().into(), now_ms.into()],
        );
    }
}

/// Stores the parts that the next head names. Those that it does not name any more are unnamed from now on.
pub fn insert_parts(store: &mut Store<'_>, parts: &[BundlePart], now_ms: i64) -> Result<(), Fault> {
    let named: Vec<&str> = parts.iter().map(|part| part.hash.as_str()).collect();
    let named = Json::from(named).to_string();
    let rows = store.rows(
        "SELECT hash FROM bundle_part WHERE hash IN (SELECT value FROM json_each(?1))",
        &[named.as_str().into()],
    )?;
    let stored = rows.iter().map(|row| sql::text(row, 0)).collect::<Result<BTreeSet<&str>, Fault>>()?;
    // One that is queued in this transaction is there at the flush.
    for part in parts.iter().filter(|part| !stored.contains(part.hash.as_str())) {
        store.write(
            "INSERT INTO bundle_part (hash, body) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING",
            vec![part.hash.as_str().into(), part.body.as_str().into()],
        );
    }
    store.write(
        "UPDATE bundle_part SET unnamed_since = NULL WHERE unnamed_since IS NOT NULL AND hash IN (SELECT value FROM json_each(?1))",
        vec![named.as_str().into()],
    );
    store.write(
        "UPDATE bundle_part SET unnamed_since = ?2 WHERE is_goods = 0 AND unnamed_since IS NULL AND hash NOT IN (SELECT value FROM json_each(?1))",
        vec![named.into(), now_ms.into()],
    );
    Ok(())
}

/// Deletes parts that have been unnamed since `until_ms` or earlier. Of those unnamed since `surplus_until_ms` or earlier, it also deletes
/// the oldest beyond `most`: the first number is for parts of cores, the second for parts of goods.
pub fn delete_unnamed(store: &mut Store<'_>, until_ms: i64, most: [i64; 2], surplus_until_ms: i64) {
    store.write("DELETE FROM bundle_part WHERE unnamed_since <= +?1", vec![until_ms.into()]);
    for (is_goods, most) in (0_i64..).zip(most) {
        store.write(
            "DELETE FROM bundle_part WHERE seq IN
               (SELECT seq FROM bundle_part WHERE unnamed_since IS NOT NULL AND is_goods = +?3 ORDER BY unnamed_since DESC, seq DESC LIMIT -1 OFFSET +?1)
             AND unnamed_since <= +?2",
            vec![most.into(), surplus_until_ms.into(), is_goods.into()],
        );
    }
}

/// Returns the bytes of a hash.
pub fn find_part(store: &Store<'_>, hash: &str) -> Result<Option<String>, Fault> {
    let row = store.row("SELECT body FROM bundle_part WHERE hash = +?1", &[hash.into()])?;
    row.map(|row| sql::text(&row, 0).map(str::to_owned)).transpose()
}

/// Project whose bundle the job builds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProject {
    /// Id of the project.
    pub id: String,
    /// Its settings, as JSON.
    pub settings: String,
}

/// Returns the project and the settings with which the bundle is built; `None` until a client requests it.
pub fn find_project(store: &Store<'_>) -> Result<Option<StoredProject>, Fault> {
    let row = store.row("SELECT project, settings FROM bundle_project", &[])?;
    let read = |row: SqlRow| {
        Ok(StoredProject { id: sql::text(&row, 0)?.to_owned(), settings: sql::text(&row, 1)?.to_owned() })
    };
    row.map(read).transpose()
}

/// Stores the project and its settings, at the flush.
pub fn update_project(store: &mut Store<'_>, project: &StoredProject) {
    store.write(
        "INSERT INTO bundle_project (id, project, settings) VALUES (1, ?1, ?2)
         ON CONFLICT (id) DO UPDATE SET project = excluded.project, settings = excluded.settings",
        vec![project.id.as_str().into(), project.settings.as_str().into()],
    );
}

/// Contents of KV for the bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyState {
    /// True if KV has the head that was made last, with its parts.
    pub has_head: bool,
    /// True if KV has all parts that it names.
    pub has_parts: bool,
    /// True if KV may have parts that are deleted here.
    pub has_removed: bool,
}

/// Returns what KV has of the bundle; `None` for a project that no client has requested, or that has no head yet.
pub fn find_copy_state(store: &Store<'_>) -> Result<Option<CopyState>, Fault> {
    let row = store.row(
        "SELECT is_copied, NOT EXISTS (SELECT 1 FROM bundle_part WHERE is_copied = 0 AND unnamed_since IS NULL), EXISTS (SELECT 1 FROM bundle_removal WHERE is_settled = 0)
         FROM bundle_head WHERE EXISTS (SELECT 1 FROM bundle_project)",
        &[],
    )?;
    let read = |row: SqlRow| {
        let is = |column: usize| sql::int(&row, column).map(|value| value != 0);
        Ok(CopyState { has_head: is(0)?, has_parts: is(1)?, has_removed: is(2)? })
    };
    row.map(read).transpose()
}

/// Lists the next named parts that KV does not have, up to a number: those of the goods, or those of the core.
pub fn list_uncopied(store: &Store<'_>, is_goods: bool, most: i64) -> Result<Vec<BundlePart>, Fault> {
    let rows = store.rows(
        "SELECT hash, body FROM bundle_part WHERE is_copied = 0 AND unnamed_since IS NULL AND is_goods = +?2 ORDER BY seq LIMIT +?1",
        &[most.into(), i64::from(is_goods).into()],
    )?;
    let read =
        |row: SqlRow| Ok(BundlePart { hash: sql::text(&row, 0)?.to_owned(), body: sql::text(&row, 1)?.to_owned() });
    rows.into_iter().map(read).collect()
}

/// Lists the next hashes of deleted parts that KV may have, up to a number.
pub fn list_removals(store: &Store<'_>, most: i64) -> Result<Vec<String>, Fault> {
    let rows =
        store.rows("SELECT hash FROM bundle_removal WHERE is_settled = 0 ORDER BY hash LIMIT +?1", &[most.into()])?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Records that KV is asked to remove these parts, at the flush.
pub fn mark_removals_sent(store: &mut Store<'_>, hashes: &[String]) {
    let hashes = Json::from(hashes.to_vec()).to_string();
    store.write(
        "UPDATE bundle_removal SET is_sent = 1 WHERE hash IN (SELECT value FROM json_each(?1))",
        vec![hashes.into()],
    );
}

/// Records that KV has these parts, at the flush.
pub fn mark_parts_copied(store: &mut Store<'_>, hashes: &[String]) {
    let hashes = Json::from(hashes.to_vec()).to_string();
    store.write(
        "UPDATE bundle_part SET is_copied = 1 WHERE hash IN (SELECT value FROM json_each(?1))",
        vec![hashes.into()],
    );
}

/// Records that KV has the head of a revision, at the flush.
pub fn mark_head_copied(store: &mut Store<'_>, rev: i64) {
    store.write("UPDATE bundle_head SET is_copied = 1 WHERE rev = +?1", vec![rev.into()]);
}

/// Records that KV has none of these parts any more, at the flush.
pub fn settle_removals(store: &mut Store<'_>, hashes: &[String]) {
    let hashes = Json::from(hashes.to_vec()).to_string();
    store.write(
        "UPDATE bundle_removal SET is_settled = 1 WHERE hash IN (SELECT value FROM json_each(?1))",
        vec![hashes.into()],
    );
}

/// Records that KV has lost the head, and perhaps the parts that it names, at the flush.
pub fn mark_lost(store: &mut Store<'_>) {
    store.write("UPDATE bundle_head SET is_copied = 0", Vec::new());
    store.write("UPDATE bundle_part SET is_copied = 0 WHERE unnamed_since IS NULL", Vec::new());
}

/// Passes of copying: whether one is under way, and when the copies are to be written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyPass {
    /// True from before the first call of KV until all calls of the pass are acknowledged.
    pub is_open: bool,
    /// Time of the next repetition; `None` if no call is uncertain.
    pub repeat_ms: Option<i64>,
    /// Wait before that repetition.
    pub wait_ms: i64,
}

/// Returns the state of the passes.
pub fn find_pass(store: &Store<'_>) -> Result<CopyPass, Fault> {
    let row = store.row("SELECT is_open, repeat_at, wait_ms FROM bundle_copying", &[])?;
    let row = row.ok_or_else(|| Fault::new("the bundle has no state of its copies"))?;
    let repeat_ms = sql::int_or_null(&row, 1)?;
    Ok(CopyPass { is_open: sql::int(&row, 0)? != 0, repeat_ms, wait_ms: sql::int(&row, 2)? })
}

/// Replaces the state of the passes, at the flush. If no call is uncertain any more, removals that are done are forgotten.
pub fn update_pass(store: &mut Store<'_>, pass: CopyPass) {
    let is_certain = !pass.is_open && pass.repeat_ms.is_none();
    store.write(
        "UPDATE bundle_copying SET is_open = ?1, repeat_at = ?2, wait_ms = ?3",
        vec![i64::from(pass.is_open).into(), pass.repeat_ms.into(), pass.wait_ms.into()],
    );
    if is_certain {
        store.write("DELETE FROM bundle_removal WHERE is_settled = 1", Vec::new());
    }
}

/// Records that KV is to get the head again, and the named parts that it was asked to remove before, at the flush.
pub fn mark_uncertain(store: &mut Store<'_>) {
    store.write("UPDATE bundle_head SET is_copied = 0", Vec::new());
    store.write(
        "UPDATE bundle_part SET is_copied = 0 WHERE unnamed_since IS NULL AND hash IN (SELECT hash FROM bundle_removal WHERE is_sent = 1)",
        Vec::new(),
    );
}

/// Offers and conditions of a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleOffers {
    /// SHA-256 of the core.
    pub core: String,
    /// Ids of its campaigns, vouchers and tiers.
    pub offers: Vec<String>,
    /// Its conditions about the customer by number, as JSON.
    pub conditions: BTreeMap<u64, String>,
}

/// Returns the offers and conditions of the present core.
pub fn find_offers(store: &Store<'_>) -> Result<Option<BundleOffers>, Fault> {
    let row = store.row("SELECT core, offers, conditions FROM bundle_offers", &[])?;
    row.map(|row| {
        Ok(BundleOffers {
            core: sql::text(&row, 0)?.to_owned(),
            offers: read_json(sql::text(&row, 1)?)?,
            conditions: read_json(sql::text(&row, 2)?)?,
        })
    })
    .transpose()
}

fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault(format!("the offers of the bundle do not parse: {error}")))
}

/// Replaces the offers and conditions.
pub fn update_offers(store: &mut Store<'_>, offers: &BundleOffers) {
    let conditions: Json = offers.conditions.iter().map(|(number, text)| (number.to_string(), text.as_str())).collect();
    store.write(
        "INSERT OR REPLACE INTO bundle_offers (id, core, offers, conditions) VALUES (1, ?1, ?2, ?3)",
        vec![
            offers.core.as_str().into(),
            Json::from(offers.offers.clone()).to_string().into(),
            conditions.to_string().into(),
        ],
    );
}

/// Returns the salt of the keys of sealed boxes, in hexadecimal digits.
pub fn find_box_salt(store: &Store<'_>) -> Result<String, Fault> {
    let row = store.row("SELECT salt FROM box_salt", &[])?;
    sql::text(&row.ok_or_else(|| Fault::new("the project has no salt of its boxes"))?, 0).map(str::to_owned)
}

/// Returns the derived keys of boxes by the normal forms of their codes, in hexadecimal digits; `None` where one is awaited.
pub fn list_box_keys(store: &Store<'_>) -> Result<BTreeMap<String, Option<String>>, Fault> {
    let rows = store.rows("SELECT code, derived FROM box_key", &[])?;
    let read = |row: SqlRow| Ok((sql::text(&row, 0)?.to_owned(), sql::text_or_null(&row, 1)?.map(str::to_owned)));
    rows.into_iter().map(read).collect()
}

/// Stores which codes have boxes, at the flush: further ones await their keys, and the keys of others are deleted.
pub fn update_boxed_codes(store: &mut Store<'_>, codes: &[&str], has_too_many: bool) {
    let listed = Json::from(codes).to_string();
    store
        .write("DELETE FROM box_key WHERE code NOT IN (SELECT value FROM json_each(?1))", vec![listed.as_str().into()]);
    store.write(
        "INSERT INTO box_key (code) SELECT value FROM json_each(?1) WHERE true ON CONFLICT (code) DO NOTHING",
        vec![listed.into()],
    );
    let flag = i64::from(has_too_many);
    store.write("UPDATE box_salt SET has_too_many = ?1 WHERE has_too_many <> ?1", vec![flag.into()]);
}

/// Lists the next codes that await their keys, up to a number.
pub fn list_awaited_codes(store: &Store<'_>, most: i64) -> Result<Vec<String>, Fault> {
    let rows = store.rows("SELECT code FROM box_key WHERE derived IS NULL ORDER BY code LIMIT +?1", &[most.into()])?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Stores the derived key of a code, unless it is not awaited any more, at the flush.
pub fn update_box_key(store: &mut Store<'_>, code: &str, derived: &str) {
    store.write(
        "UPDATE box_key SET derived = ?2 WHERE code = +?1 AND derived IS NULL",
        vec![code.into(), derived.into()],
    );
}

/// Returns true if the last build found more codes that are sealed by default than a bundle takes.
pub fn has_too_many_codes(store: &Store<'_>) -> Result<bool, Fault> {
    store.row("SELECT has_too_many FROM box_salt", &[])?.map_or(Ok(false), |row| Ok(sql::int(&row, 0)? != 0))
}

/// Returns the revision of the present rules: of the documents of a bundle's core, and of its goods where these are complete.
pub fn find_rules_revision(store: &Store<'_>) -> Result<String, Fault> {
    let row = store.row(
        "SELECT drawn, (SELECT root FROM goods_tree WHERE NOT EXISTS (SELECT 1 FROM goods_mark)) FROM edition WHERE subject = 'bundle'",
        &[],
    )?;
    let row = row.ok_or_else(|| Fault::new("the bundle has no revision"))?;
    Ok(rules_revision(sql::text(&row, 0)?, sql::text_or_null(&row, 1)?))
}

/// Returns the revision of rules with a revision of their documents, and the root of their goods. Without a root, changes of goods are not
/// in it.
pub fn rules_revision(documents: &str, root: Option<&str>) -> String {
    match root {
        Some(root) => format!("{documents}.{root}"),
        None => documents.to_owned(),
    }
}

/// Records that KV is to get the head and the part of the entry again, at the flush.
pub fn mark_part_lost(store: &mut Store<'_>) {
    store.write("UPDATE bundle_head SET is_copied = 0", Vec::new());
}
