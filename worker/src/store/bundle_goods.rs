//! The goods buckets of a project's bundle: which products and SKUs are in which, and the tree of their hashes. Also the documents that
//! were written while a build of its core was kept (`store/migrations/0048_bundle_drafts.sql`).

use crate::store::Store;
use crate::store::bundle_heads::BundlePart;
use crate::store::sql::{self, Fault, SqlRow};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of written documents that a build reads again; beyond it all are read again. It is also the number of rows of the record
/// that a slice deletes.
const WRITTEN_MAX: i64 = 20_000;

/// State of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GoodsTree {
    /// Number of buckets; 0 before the first build.
    pub buckets: u32,
    /// Number of names of goods.
    pub names: i64,
    /// Its root; `None` while it is being built.
    pub root: Option<String>,
    /// Hash of the contents of the buckets that are not from documents.
    pub content_hash: String,
    /// Conditions of the sets of the buckets, by number, as JSON.
    pub sets: BTreeMap<u64, String>,
}

/// Name of a product or SKU in the tree: the first bits of its hash, and the position of its document.
pub type NamePlace = (u32, i64);

/// Product or SKU that has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedGoods {
    /// Position of its document.
    pub seq: i64,
    /// Its present names; none if it is deleted.
    pub names: Vec<String>,
    /// First bits of the names that the tree has of it.
    pub prefixes: BTreeSet<u32>,
}

fn count_of(row: &SqlRow, column: usize) -> Result<u32, Fault> {
    u32::try_from(sql::int(row, column)?).map_err(|_| Fault::new("a number of the goods is out of bounds"))
}

/// Returns the state of the tree; `None` before the first build.
pub fn find_tree(store: &Store<'_>) -> Result<Option<GoodsTree>, Fault> {
    let row = store.row("SELECT buckets, names, root, shown, sets FROM goods_tree", &[])?;
    row.map(|row| {
        Ok(GoodsTree {
            buckets: count_of(&row, 0)?,
            names: sql::int(&row, 1)?,
            root: sql::text_or_null(&row, 2)?.map(str::to_owned),
            content_hash: sql::text(&row, 3)?.to_owned(),
            sets: serde_json::from_str(sql::text(&row, 4)?)
                .map_err(|error| Fault(format!("the sets of goods do not parse: {error}")))?,
        })
    })
    .transpose()
}

/// Replaces the state of the tree, at the flush.
pub fn update_tree(store: &mut Store<'_>, tree: &GoodsTree) {
    let buckets = i64::from(tree.buckets);
    let (root, content_hash) = (tree.root.as_deref().unwrap_or_default(), tree.content_hash.as_str());
    store.write(
        "INSERT OR REPLACE INTO goods_tree (id, buckets, names, root, shown, sets)
         VALUES (1, ?1, ?2, NULLIF(?3, ''), ?4, ?5)",
        vec![buckets.into(), tree.names.into(), root.into(), content_hash.into(), text_of_sets(&tree.sets).into()],
    );
}

/// Requests that all buckets are built again with these sets, at the flush.
pub fn request_sets(store: &mut Store<'_>, sets: &BTreeMap<u64, String>) {
    store.write("UPDATE goods_tree SET root = NULL, sets = ?1", vec![text_of_sets(sets).into()]);
}

fn text_of_sets(sets: &BTreeMap<u64, String>) -> String {
    sets.iter().map(|(number, condition)| (number.to_string(), condition.as_str())).collect::<Json>().to_string()
}

/// Returns true if goods have changed whose buckets are not built.
pub fn is_marked(store: &Store<'_>) -> Result<bool, Fault> {
    let row = store.row(
        "SELECT EXISTS (SELECT 1 FROM goods_mark) OR EXISTS (SELECT 1 FROM goods_node WHERE is_marked = 1)",
        &[],
    )?;
    row.map_or(Ok(false), |row| Ok(sql::int(&row, 0)? != 0))
}

/// Lists the next changed goods, up to a number.
pub fn list_marked(store: &Store<'_>, most: i64) -> Result<Vec<MarkedGoods>, Fault> {
    let rows = store.rows(
        "SELECT goods_mark.seq, document.id, document.key,
           (SELECT json_group_array(prefix) FROM goods_name WHERE goods_name.seq = goods_mark.seq)
         FROM goods_mark LEFT JOIN document ON document.seq = goods_mark.seq AND document.kind IN ('product', 'sku')
         ORDER BY goods_mark.seq LIMIT +?1",
        &[most.into()],
    )?;
    let read = |row: SqlRow| {
        let names = [sql::text_or_null(&row, 1)?, sql::text_or_null(&row, 2)?];
        Ok(MarkedGoods {
            seq: sql::int(&row, 0)?,
            names: names.into_iter().flatten().map(str::to_owned).collect(),
            prefixes: serde_json::from_str(sql::text(&row, 3)?)
                .map_err(|error| Fault(format!("the names of goods do not parse: {error}")))?,
        })
    };
    rows.into_iter().map(read).collect()
}

/// Deletes the marks of goods, at the flush.
pub fn delete_marks(store: &mut Store<'_>, seqs: &[i64]) {
    let seqs = Json::from(seqs.to_vec()).to_string();
    store.write("DELETE FROM goods_mark WHERE seq IN (SELECT value FROM json_each(?1))", vec![seqs.into()]);
}

/// Adds and removes names, at the flush.
pub fn update_names(store: &mut Store<'_>, added: &[NamePlace], removed: &[NamePlace]) {
    let listed = |names: &[NamePlace]| {
        let pairs = names.iter().map(|(prefix, seq)| Json::from(vec![i64::from(*prefix), *seq]));
        pairs.collect::<Json>().to_string()
    };
    if !removed.is_empty() {
        store.write(
            "DELETE FROM goods_name WHERE (prefix, seq) IN
               (SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?1))",
            vec![listed(removed).into()],
        );
    }
    if !added.is_empty() {
        store.write(
            "INSERT INTO goods_name (prefix, seq)
             SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(?1) WHERE TRUE
             ON CONFLICT (prefix, seq) DO NOTHING",
            vec![listed(added).into()],
        );
    }
}

/// Lists the positions of the goods with a name from one prefix up to another.
pub fn list_named(store: &Store<'_>, from: u32, to: u32) -> Result<BTreeSet<i64>, Fault> {
    let rows = store.rows(
        "SELECT seq FROM goods_name WHERE prefix BETWEEN ?1 AND ?2",
        &[i64::from(from).into(), i64::from(to).into()],
    )?;
    rows.iter().map(|row| sql::int(row, 0)).collect()
}

/// Lists all names of goods at these positions.
pub fn list_names_of(store: &Store<'_>, seqs: &[i64]) -> Result<Vec<NamePlace>, Fault> {
    let rows = store.rows(
        "SELECT prefix, seq FROM goods_name WHERE seq IN (SELECT value FROM json_each(?1))",
        &[Json::from(seqs.to_vec()).to_string().into()],
    )?;
    rows.iter().map(|row| Ok((count_of(row, 0)?, sql::int(row, 1)?))).collect()
}

/// Returns true if the catalogue has goods of a kind for each of these names.
pub fn has_names(store: &Store<'_>, kind: &str, names: &BTreeSet<&str>) -> Result<bool, Fault> {
    let names: Json = names.iter().copied().collect();
    let row = store.row(
        "SELECT NOT EXISTS (SELECT 1 FROM json_each(?2) AS name
           WHERE NOT EXISTS (SELECT 1 FROM document WHERE kind = +?1 AND id = name.value)
             AND NOT EXISTS (SELECT 1 FROM document WHERE kind = +?1 AND key = name.value))",
        &[kind.into(), names.to_string().into()],
    )?;
    row.map_or(Ok(false), |row| Ok(sql::int(&row, 0)? != 0))
}

/// Begins a tree of a number of buckets, which are all marked, at the flush. The parts of the one before are unnamed from now on.
pub fn restart(store: &mut Store<'_>, buckets: u32, now_ms: i64) {
    store.write(
        "UPDATE bundle_part SET unnamed_since = ?1 WHERE is_goods = 1 AND unnamed_since IS NULL",
        vec![now_ms.into()],
    );
    store.write("DELETE FROM goods_node", Vec::new());
    store.write(
        "INSERT INTO goods_node (level, place, hash, is_marked)
         WITH RECURSIVE numbers (place) AS (SELECT 0 UNION ALL SELECT place + 1 FROM numbers WHERE place + 1 < ?1)
         SELECT 0, place, '', 1 FROM numbers",
        vec![i64::from(buckets).into()],
    );
}

/// Lists the first marked places of a level, up to a number.
pub fn list_marked_places(store: &Store<'_>, level: u32, most: i64) -> Result<BTreeSet<u32>, Fault> {
    let rows = store.rows(
        "SELECT place FROM goods_node INDEXED BY goods_node_marked WHERE is_marked = 1 AND level = +?1 ORDER BY place LIMIT +?2",
        &[i64::from(level).into(), most.into()],
    )?;
    rows.iter().map(|row| count_of(row, 0)).collect()
}

/// Marks places of a level, at the flush.
pub fn mark_places(store: &mut Store<'_>, level: u32, places: &BTreeSet<u32>) {
    if places.is_empty() {
        return;
    }
    let places: Json = places.iter().copied().collect();
    store.write(
        "INSERT INTO goods_node (level, place, hash, is_marked) SELECT ?1, value, '', 1 FROM json_each(?2) WHERE TRUE
         ON CONFLICT (level, place) DO UPDATE SET is_marked = 1",
        vec![i64::from(level).into(), places.to_string().into()],
    );
}

/// Replaces the hashes of places, which are not marked any more, at the flush.
pub fn update_hashes(store: &mut Store<'_>, level: u32, hashes: &BTreeMap<u32, String>) {
    if hashes.is_empty() {
        return;
    }
    let hashes: Json = hashes.iter().map(|(place, hash)| (place.to_string(), hash.as_str())).collect();
    store.write(
        "INSERT INTO goods_node (level, place, hash, is_marked)
         SELECT ?1, CAST(key AS INTEGER), value, 0 FROM json_each(?2) WHERE TRUE
         ON CONFLICT (level, place) DO UPDATE SET hash = excluded.hash, is_marked = 0",
        vec![i64::from(level).into(), hashes.to_string().into()],
    );
}

/// Returns the hashes of these places of a level.
pub fn find_hashes(store: &Store<'_>, level: u32, places: &BTreeSet<u32>) -> Result<BTreeMap<u32, String>, Fault> {
    let places: Json = places.iter().copied().collect();
    let rows = store.rows(
        "SELECT place, hash FROM goods_node WHERE level = +?1 AND place IN (SELECT value FROM json_each(?2))",
        &[i64::from(level).into(), places.to_string().into()],
    )?;
    rows.iter().map(|row| Ok((count_of(row, 0)?, sql::text(row, 1)?.to_owned()))).collect()
}

/// Stores buckets and pages that the tree has now, and unnames those that it has no more.
pub fn replace_parts(store: &mut Store<'_>, parts: &[BundlePart], former: &[String], now_ms: i64) {
    if !former.is_empty() {
        store.write(
            "UPDATE bundle_part SET unnamed_since = ?2 WHERE unnamed_since IS NULL AND hash IN (SELECT value FROM json_each(?1))",
            vec![Json::from(former.to_vec()).to_string().into(), now_ms.into()],
        );
    }
    for part in parts {
        store.write(
            "INSERT INTO bundle_part (hash, body, is_goods) VALUES (?1, ?2, 1)
             ON CONFLICT (hash) DO UPDATE SET unnamed_since = NULL WHERE unnamed_since IS NOT NULL",
            vec![part.hash.as_str().into(), part.body.as_str().into()],
        );
    }
}

/// Names of written documents by kind.
pub type WrittenNames = BTreeMap<String, BTreeSet<String>>;

/// Lists the documents that were written since a build was kept at a revision. `None` if that is not known, because another process has
/// kept its own build since, or because they are too many.
pub fn list_written(store: &Store<'_>, revision: &str) -> Result<Option<WrittenNames>, Fault> {
    if store.row("SELECT 1 FROM bundle_draft WHERE revision = +?1", &[revision.into()])?.is_none() {
        return Ok(None);
    }
    // One row more than the limit: it exists if the limit is exceeded.
    let limit = WRITTEN_MAX.saturating_add(1);
    let rows = store.rows("SELECT kind, name FROM bundle_written LIMIT +?1", &[limit.into()])?;
    if i64::try_from(rows.len()).is_ok_and(|count| count == limit) {
        return Ok(None);
    }
    let mut written = WrittenNames::new();
    for row in &rows {
        written.entry(sql::text(row, 0)?.to_owned()).or_default().insert(sql::text(row, 1)?.to_owned());
    }
    Ok(Some(written))
}

/// Records from the flush on which documents are written, for a build that is kept at a revision.
pub fn record_written_from(store: &mut Store<'_>, revision: &str) {
    delete_written(store);
    store.write("INSERT OR REPLACE INTO bundle_draft (id, revision) VALUES (1, ?1)", vec![revision.into()]);
}

/// Ends the record, at the flush.
pub fn end_record_of_written(store: &mut Store<'_>) {
    store.write("DELETE FROM bundle_draft", Vec::new());
    delete_written(store);
}

/// Deletes the names, as many as a slice may. Where more were written, the next slices delete the rest: a name too many is only read again.
fn delete_written(store: &mut Store<'_>) {
    store.write(
        "DELETE FROM bundle_written WHERE (kind, name) IN (SELECT kind, name FROM bundle_written LIMIT +?1)",
        vec![WRITTEN_MAX.into()],
    );
}
