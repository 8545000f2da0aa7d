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

/// These columns and the number. A view of two tables gives the order of a list without sorting where the columns of the order are selected.
pub const NUMBERED: &str = concat!(columns!(), ", seq");

/// Number of these columns.
pub const WIDTH: usize = 7;

/// Returns these columns qualified with a table name.
pub fn columns_of(table: &str) -> String {
    COLUMNS.split(", ").map(|name| format!("{table}.{name}")).collect::<Vec<_>>().join(", ")
}
