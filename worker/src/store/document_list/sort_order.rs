//! Orders of lists.

use super::index;

/// Order of a list.
#[derive(Debug, Clone, Copy)]
pub struct SortOrder {
    /// The column.
    pub column: &'static str,
    /// True if it is descending.
    pub falls: bool,
}

/// Newest first: the order of a list without a requested order.
pub const NEWEST: SortOrder = SortOrder { column: index::AGE, falls: true };

impl SortOrder {
    /// Tests if it is the order of age.
    pub(super) fn is_by_age(self) -> bool {
        self.column == NEWEST.column
    }

    /// Returns the order for a statement that reads by an index, in which equal documents are ordered by age.
    pub(super) fn text(self, by: Option<&str>) -> String {
        let direction = direction(self.falls);
        let age = format!("created_at {direction}, seq {direction}");
        match (by, self.column) {
            (_, "created_at") => age,
            // Keys are unique.
            (Some(index::KEY), "key") => format!("key {direction}"),
            (_, column) => format!("{column} {direction}, {age}"),
        }
    }
}

/// Returns the SQL keyword of a direction.
pub(super) fn direction(falls: bool) -> &'static str {
    if falls { "DESC" } else { "ASC" }
}
