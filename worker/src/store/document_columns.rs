//! The columns of documents that statements select and insert.

/// The columns that a document is read from. A macro, because statements that are constants contain it.
macro_rules! columns {
    () => {
        "id, key, parent, holder, created_at, updated_at, body"
    };
}

pub(super) use columns;

/// The columns that a document is read from, in this order.
pub const COLUMNS: &str = columns!();

/// Number of these columns.
pub const WIDTH: usize = 7;

/// Returns these columns qualified with a table name.
pub fn columns_of(table: &str) -> String {
    COLUMNS.split(", ").map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}
