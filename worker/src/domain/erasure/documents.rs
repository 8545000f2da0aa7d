//! Erasure of a customer from documents and records.

use crate::domain::erasure::redaction::CustomerIdentity;
use crate::jobs::bulk_items;
use crate::store::Store;
use crate::store::index::blind_index;
use crate::store::jobs::erasure::{self as stored, NamedDocument, RowRange, SearchTexts};
use crate::store::jobs::remnants::{self, PagedTable, touch};
use crate::store::jobs::{self, BULK_SLICE};
use crate::store::record_tables::RECORD_TABLES;
use crate::store::sql::Fault;
use scrip::count::Countable;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::ops::RangeInclusive;

/// Kinds of documents that describe only an action of the customer: they are deleted.
const EVENTS: &[&str] = &["event"];

/// The largest number of a row: integers are doubles on the platform.
const NUMBER_MAX: i64 = 9_007_199_254_740_991;

/// The largest number of a record that was a document; those of other records are larger from the year 1987 on.
const EARLIER_MAX: i64 = 1 << 50;

/// Progress of an erasure in the tables of records.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct RecordErasure {
    /// Place of the table that is searched, among all.
    table: usize,
    /// Number after which the search continues.
    after: i64,
    /// Ranges of changed records, with the place of their table.
    ranges: Vec<(usize, Vec<(i64, i64)>)>,
}

impl RecordErasure {
    /// Processes the next records, and adds to `pages` the numbers of those that were documents: earlier versions of them are in the
    /// pages of documents. Returns false at the end. A document that becomes a record meanwhile has been processed as a document.
    pub fn continue_slice(
        &mut self,
        store: &mut Store<'_>,
        identity: &CustomerIdentity,
        rows: i64,
        pages: &mut Vec<(i64, i64)>,
    ) -> Result<bool, Fault> {
        while let Some(table) = RECORD_TABLES.get(self.table) {
            if self.ranges.last().is_none_or(|(place, _)| *place != self.table) {
                self.ranges.push((self.table, Vec::new()));
            }
            let Some((_, ranges)) = self.ranges.last_mut() else { return Ok(false) };
            let numbers = self.after..=NUMBER_MAX;
            let last = erase_documents(store, identity, remnants::records(table), numbers, rows, ranges)?;
            let earlier = ranges.iter().filter(|(from, to)| *from <= EARLIER_MAX && *to > self.after);
            pages.extend(earlier.map(|(from, to)| (*from, (*to).min(EARLIER_MAX))));
            if let Some(last) = last {
                self.after = last;
                return Ok(true);
            }
            (self.table, self.after) = (self.table.plus_one(), 0);
        }
        Ok(false)
    }

    /// Overwrites pages of changed records. Returns false where there are none left.
    pub fn overwrite_next(&mut self, store: &mut Store<'_>, rows: u64) -> Result<bool, Fault> {
        self.ranges.retain(|(_, ranges)| !ranges.is_empty());
        let Some((place, ranges)) = self.ranges.last_mut() else { return Ok(false) };
        if let Some(table) = RECORD_TABLES.get(*place) {
            remnants::overwrite_next(store, remnants::records(table), ranges, rows)?;
        }
        Ok(true)
    }
}

/// Processes the next documents of a table, after the first position up to the last; returns the last position, or `None` at the end.
pub fn erase_documents(
    store: &mut Store<'_>,
    identity: &CustomerIdentity,
    table: PagedTable,
    positions: RangeInclusive<i64>,
    limit: i64,
    pages: &mut Vec<(i64, i64)>,
) -> Result<Option<i64>, Fault> {
    let (after, until) = positions.into_inner();
    let found = stored::find_documents(store, table, after, until, limit)?;
    let Some(RowRange { last, count }) = found else { return Ok(None) };
    let (in_json, in_files) = (identity.texts_in_json(), identity.texts_in_files());
    let texts_in_json = SearchTexts { in_json: &in_json, in_files: &in_files };
    for document in stored::list_documents_naming(store, table, &identity.id, texts_in_json, after, last)? {
        touch(pages, document.seq);
        erase_from(store, identity, table, document)?;
    }
    Ok((count >= limit).then_some(last))
}

/// Takes the customer out of a document.
fn erase_from(
    store: &mut Store<'_>,
    identity: &CustomerIdentity,
    table: PagedTable,
    document: NamedDocument,
) -> Result<(), Fault> {
    let NamedDocument { seq, kind, id, key, parent, holder, body } = document;
    if kind == BULK_SLICE {
        let Some(job) = jobs::find(store, parent.as_deref().unwrap_or_default())? else { return Ok(()) };
        // Queued items of the customer are not written. Goods are, without the customer's addresses.
        let text = match bulk_items::is_of_goods(&job.kind) {
            true => revise(&body, &mut |body| identity.erase_addresses(body)),
            false => bulk_items::without_items(&job, &body, &|item| identity.is_item(item))?
                .map(|text| pad(&text, body.len())),
        };
        if let Some(body) = text {
            stored::update_document(store, table, NamedDocument { seq, kind, id, key, parent, holder, body });
        }
        return Ok(());
    }
    let (kind, holder) = (kind.as_str(), holder.as_deref());
    if kind == "secret" || kind == "customer" && id == identity.id {
        return Ok(());
    }
    if EVENTS.contains(&kind) && holder == Some(&identity.id) {
        stored::delete_document(store, table, seq, pad("{}", body.len()));
        return Ok(());
    }
    let owner =
        if kind == "customer" { Some(id.as_str()) } else { holder.filter(|holder| holder.starts_with("cust_")) };
    let owner = match owner {
        // A deleted profile may have been the same person's: its records are judged by the names that they contain.
        Some(owner) if owner != identity.id && store.document("customer", owner)?.is_none() => None,
        owner => owner,
    };
    let text = revise(&body, &mut |body| match kind {
        // Lists no longer contain the customer.
        "segment" => identity.remove_from_list(body, "customers"),
        "async_action" => identity.erase_named(body),
        _ => identity.erase(body, owner),
    });
    let renamed = |text: &str| text.replace(&identity.id, &identity.alias);
    let body = text.unwrap_or(body);
    let key = match kind {
        "customer" => blind_index::key_of_text(&body)?,
        _ => key.map(|key| match identity.is_in(&key) && owner == Some(&identity.id) {
            // An order's source_id may identify its customer. The suffix keeps two such orders apart.
            true => format!("{}.{seq}", identity.alias),
            false => renamed(&key),
        }),
    };
    let (parent, holder) = (parent.as_deref().map(renamed), holder.map(renamed));
    stored::update_document(store, table, NamedDocument { seq, kind: kind.to_owned(), id, key, parent, holder, body });
    Ok(())
}

/// Returns changed JSON padded to its old length; `None` without a change or for other texts.
pub fn revise(text: &str, change: &mut dyn FnMut(&mut Json) -> bool) -> Option<String> {
    let mut body: Json = serde_json::from_str(text).ok()?;
    change(&mut body).then(|| pad(&body.to_string(), text.len()))
}

/// Pads a text of JSON with empty lines to at least `length` bytes; they are removed when the page is overwritten.
/// A longer text stays as it is.
pub fn pad(text: &str, length: usize) -> String {
    // A longer text gets no padding.
    format!("{text}{}", "\n".repeat(length.saturating_sub(text.len())))
}
