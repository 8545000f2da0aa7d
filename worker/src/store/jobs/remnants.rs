//! Overwrites remnants of earlier rows in the database file.
//!
//! SQLite keeps the bytes of freed space, and the platform refuses `PRAGMA secure_delete` and `VACUUM`. So a row is
//! overwritten in its own length before it is deleted, which SQLite does in place.
//! Earlier versions may be in the unused space of its page or of an adjacent one: [`PagedTable::overwrite`] makes each row there
//! fill a page, and shortens it again. Free pages and the log are overwritten by [`fill`].
//! The platform does not report their number, so the largest size of the database is recorded: it is the size of its file. Sizes in bytes
//! and places saturate: they are estimates.

use crate::store::Store;
use crate::store::record_tables::RecordTable;
use crate::store::sql::{self, Fault};
use std::ops::RangeInclusive;

/// Returns an SQL expression for filler text of the same length.
pub fn blank(text: &str) -> String {
    format!("substr(hex(zeroblob(octet_length({text}))), 1, octet_length({text}))")
}

/// Table with one row for each `seq`, whose `body` can be lengthened.
#[derive(Debug, Clone, Copy)]
pub struct PagedTable {
    name: &'static str,
    /// Other text columns.
    texts: &'static [&'static str],
    /// Integer columns, without `seq`.
    numbers: &'static [&'static str],
}

/// The documents.
pub const DOCUMENTS: PagedTable = PagedTable {
    name: "document",
    texts: &["kind", "id", "key", "parent", "holder", "marks", "label"],
    numbers: &["created_at", "updated_at", "used_up"],
};

/// Returns the records of a kind that has a table of its own.
pub fn records(table: &'static RecordTable) -> PagedTable {
    PagedTable {
        name: table.name,
        texts: &["id", "key", "parent", "holder"],
        numbers: &["is_named", "created_at", "updated_at"],
    }
}

/// The stored responses of idempotent requests.
pub const RESPONSES: PagedTable = PagedTable {
    name: "answer",
    texts: &["name", "caller", "request", "key", "body_hash", "headers"],
    numbers: &["status", "created_at", "bytes"],
};
/// The webhook deliveries.
pub const DELIVERIES: PagedTable = PagedTable {
    name: "outbox",
    texts: &["id", "webhook", "entity", "type", "customer", "failure", "cause"],
    numbers: &["created_at", "at", "first_at", "attempts", "dead_at"],
};

/// The inputs of redemptions.
pub const INPUTS: PagedTable =
    PagedTable { name: "redemption_input", texts: &["redemption"], numbers: &["created_at", "bytes"] };

/// Number of rows on either side whose pages may contain an earlier version of a row.
const NEIGHBOURS: i64 = 12;
/// Maximum number of bytes of a row in its leaf, for pages of 4,096 (SQLite's file format, section 1.6). A longer row
/// continues in overflow pages; rows whose lengths differ by a multiple of `OVERFLOW` have equal parts in the leaf.
const LEAF: i64 = 4_061;
/// Number of bytes in an overflow page.
const OVERFLOW: i64 = 4_092;

impl PagedTable {
    /// Returns the name of the table.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Overwrites the pages of a range of rows, and adjacent ones, with the current rows.
    pub fn overwrite(self, store: &mut Store<'_>, rows: RangeInclusive<i64>) {
        let PagedTable { name, .. } = self;
        let (from, to) = rows.into_inner();
        let rows = format!(
            "seq >= COALESCE((SELECT seq FROM {name} WHERE seq <= +?1 ORDER BY seq DESC LIMIT 1 OFFSET {NEIGHBOURS}), 0)
             AND seq <= COALESCE((SELECT seq FROM {name} WHERE seq >= +?2 ORDER BY seq LIMIT 1 OFFSET {NEIGHBOURS}), 9007199254740991)"
        );
        // Filler of empty lines: JSON may end with them, and no stored text does.
        let longer = format!(
            "UPDATE {name} SET body = body || replace(printf('%*s', {}, ''), ' ', char(10)) WHERE {rows}",
            self.missing()
        );
        let shorter = format!("UPDATE {name} SET body = rtrim(body, char(10)) WHERE {rows}");
        store.write(longer, vec![from.into(), to.into()]);
        store.write(shorter, vec![from.into(), to.into()]);
    }

    /// Returns an SQL expression for the bytes that a row lacks to fill its leaf and overflow pages.
    fn missing(self) -> String {
        // The header of a row has the type of each column: one byte, two for texts of more than 57 bytes, three beyond 8,185.
        let text = |column: &str| {
            format!(
                "ifnull(octet_length({column}) + 1 + (octet_length({column}) > 57) + (octet_length({column}) > 8185), 1)"
            )
        };
        let number = |column: &str| {
            format!(
                "CASE WHEN {column} IS NULL OR {column} IN (0, 1) THEN 1 WHEN abs({column}) < 128 THEN 2 WHEN abs({column}) < 32768 THEN 3
                   WHEN abs({column}) < 8388608 THEN 4 WHEN abs({column}) < 2147483648 THEN 5 WHEN abs({column}) < 140737488355328 THEN 7 ELSE 9 END"
            )
        };
        let texts = self.texts.iter().map(|column| text(column));
        let columns: Vec<String> = texts.chain(self.numbers.iter().map(|column| number(column))).collect();
        // In addition: the length of the header, `seq` (not part of the row), and the type of `body`, of up to three
        // bytes. With two, the row is a byte shorter.
        let taken = format!("octet_length(body) + 5 + {}", columns.join(" + "));
        format!("(({LEAF} - ({taken})) % {OVERFLOW} + {OVERFLOW}) % {OVERFLOW}")
    }
}

/// Adds a row to ranges in ascending order. A row close to the last range extends it; so does any row when there are too many
/// ranges, and the rows between are overwritten too.
pub fn touch(ranges: &mut Vec<(i64, i64)>, seq: i64) {
    const RANGES_MAX: usize = 10_000;
    let is_full = ranges.len() >= RANGES_MAX;
    // A place beyond the last row.
    let is_near = |last: i64| is_full || last.saturating_add(NEIGHBOURS) >= seq;
    match ranges.last_mut().filter(|(first, last)| *first <= seq && is_near(*last)) {
        Some((_, last)) => *last = seq.max(*last),
        None => ranges.push((seq, seq)),
    }
}

/// Overwrites the pages of about `rows` rows of the last ranges, and removes them from the ranges. Numbers between the rows may be missing.
pub fn overwrite_next(
    store: &mut Store<'_>,
    table: PagedTable,
    ranges: &mut Vec<(i64, i64)>,
    rows: u64,
) -> Result<(), Fault> {
    // A row is written twice.
    let mut left = i64::try_from(rows / 2).unwrap_or(i64::MAX).max(1);
    let last_rows = format!(
        "SELECT COUNT(*), MIN(seq) FROM (SELECT seq FROM {} WHERE seq >= +?1 AND seq <= +?2 ORDER BY seq DESC LIMIT +?3)",
        table.name
    );
    while left > 0
        && let Some((from, to)) = ranges.pop()
    {
        let row = store.row(&last_rows, &[from.into(), to.into(), left.into()])?.unwrap_or_default();
        let (count, first) = (sql::int(&row, 0)?, sql::int_or_null(&row, 1)?);
        let start = first.filter(|_| count >= left).unwrap_or(from);
        if start > from {
            // A place after `from`.
            ranges.push((from, start.saturating_sub(1)));
        }
        table.overwrite(store, start..=to);
        // Rows are an estimate: those of the range, and its neighbours.
        left = left.saturating_sub(count).saturating_sub(2 * NEIGHBOURS);
    }
    Ok(())
}

/// Tolerance of the recorded file size in bytes, so that not every new page is recorded.
const COARSE: i64 = 1_048_576;

/// Records the size of the database if it exceeds the recorded one.
pub fn record_size(store: &mut Store<'_>) -> Result<(), Fault> {
    let statement = "SELECT (SELECT bytes FROM file_size WHERE id = 1), EXISTS (SELECT 1 FROM scratch)";
    let row = store.row(statement, &[])?.unwrap_or_default();
    let (bytes, noted) = (store.bytes()?, sql::int_or_null(&row, 0)?);
    let is_filled = sql::int(&row, 1)? == 1;
    // A size in bytes is an estimate.
    if noted.is_none_or(|noted| bytes > noted.saturating_add(COARSE) && !is_filled) {
        write_size(store, bytes);
    }
    Ok(())
}

fn write_size(store: &mut Store<'_>, bytes: i64) {
    store.write("INSERT OR REPLACE INTO file_size (id, bytes) VALUES (1, ?1)", vec![bytes.into()]);
}

/// Bytes written by one step: more than the log of 1,000 pages of 4,096 bytes, so that it restarts.
const STEP: i64 = 5_400_000;
/// Number of steps that overwrite the log: it continues through the first one and restarts before the second.
pub const LOG_STEPS: u64 = 2;

/// Overwrites the free pages, by rows that fill them, and the log, one step at a time. `left` is the number of steps for the
/// log. Returns the remaining number, or `None` when all is done and the pages are free again.
pub fn fill(store: &mut Store<'_>, left: u64) -> Result<Option<u64>, Fault> {
    let row = store
        .row("SELECT (SELECT bytes FROM file_size WHERE id = 1), (SELECT SUM(octet_length(body)) FROM scratch)", &[])?;
    let row = row.unwrap_or_default();
    let (noted, taken) = (sql::int_or_null(&row, 0)?.unwrap_or(0), sql::int_or_null(&row, 1)?.unwrap_or(0));
    let bytes = store.bytes()?;
    // Constants.
    let log = STEP.saturating_mul(i64::try_from(LOG_STEPS).unwrap_or(0));
    // Sizes in bytes are estimates.
    let file = noted.saturating_add(COARSE).max(bytes.saturating_sub(taken).saturating_add(log));
    // Sizes in bytes are estimates.
    let missing = file.saturating_sub(bytes);
    if missing <= 0 && left == 0 {
        store.write("DELETE FROM scratch", Vec::new());
        // A size in bytes is an estimate.
        write_size(store, noted.max(bytes.saturating_sub(COARSE)));
        return Ok(None);
    }
    if missing <= 0 {
        // All pages are filled: the same number is freed and filled again, which goes through the log.
        let largest = "SELECT id FROM scratch ORDER BY octet_length(body) DESC LIMIT 3";
        store.write(format!("DELETE FROM scratch WHERE id IN ({largest})"), Vec::new());
        take(store, STEP);
    } else {
        take(store, missing.min(STEP));
    }
    // Steps are few.
    Ok(Some(if missing <= 0 || missing >= STEP { left.saturating_sub(1) } else { left }))
}

/// Writes rows of `bytes` bytes in total.
fn take(store: &mut Store<'_>, bytes: i64) {
    /// Below this size each row takes one page, so that the database does not exceed its file.
    const SMALL: i64 = 262_144;
    /// Size of a row with a minimal part in its leaf and one overflow page; eight of them share a leaf.
    const PAGE_ROW: i64 = 4_570;
    // A row has 2 MB at most. Two hexadecimal digits are a byte.
    let (rows, size) = match bytes > SMALL {
        // A size in bytes is an estimate.
        true => (3, (bytes / 6).saturating_sub(PAGE_ROW)),
        false => ((bytes / PAGE_ROW).max(1), PAGE_ROW / 2),
    };
    let list = "WITH RECURSIVE turn (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM turn WHERE n < +?1)";
    store.write(
        format!("INSERT INTO scratch (body) {list} SELECT hex(zeroblob(?2)) FROM turn"),
        vec![rows.into(), size.into()],
    );
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
