//! The state of the rules that decide client calls: its revision, which answers name and which the entry compares with that of its copies.

use crate::store::Store;
use crate::store::sql::{self, Fault};

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
