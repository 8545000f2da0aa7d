//! Options for listing documents, as data: filters, columns and order.

use crate::http::shape::{Field, FieldType, may, must};

/// Members of a cursor-based list in addition to its items.
pub const CURSOR: &[Field] = &[must(
    "cursor",
    FieldType::Object(&[
        must("next", FieldType::Text).description("Value to send as the parameter `cursor` for the next page."),
        must("expires_at", FieldType::DateTime)
            .description("Moment until which the cursor is valid, in UTC: 24 hours after the response."),
    ]),
)
.or_null()
.description("Cursor of the next page. `null` on the last page.")];

/// Parameter with the cursor of a page.
pub const CURSOR_PARAMETER: Field = may("cursor", FieldType::Text)
    .description("Cursor from `cursor.next` of the former page. Absent means the first page.");

/// Returns the parameter for one or more of these orders.
pub const fn order_parameter(words: &'static FieldType) -> Field {
    may("order", FieldType::List(words, 0, usize::MAX)).description("Sort order, by one or more properties in turn; a leading `-` means descending. By default the newest come first.")
}

/// Order parameter of a list that is ordered by age only.
pub const BY_AGE_PARAMETER: Field = order_parameter(&FieldType::OneOf(&["created_at", "-created_at"]));

/// Name of a column in a list, and its path in documents.
pub type ListColumn = (&'static str, &'static str);

/// Columns that many lists have.
pub mod column {
    use super::ListColumn;
    use crate::store::document_list::column::member;

    /// The id, as a condition.
    pub const ID: ListColumn = ("id", "id");
    /// The name, as an order or a condition.
    pub const NAME: ListColumn = ("name", member!("name"));
    /// The type, as an order or a condition.
    pub const TYPE: ListColumn = ("type", member!("type"));
    /// The status, as an order or a condition.
    pub const STATUS: ListColumn = ("status", member!("status"));
    /// The age, as an order.
    pub const AGE: ListColumn = ("created_at", "created_at");
    /// Creation time, as a condition: conditions compare texts, and the age column is a number.
    pub const CREATED_AT: ListColumn = ("created_at", member!("created_at"));
    /// The time of the last change, as a condition.
    pub const UPDATED_AT: ListColumn = ("updated_at", member!("updated_at"));
}

/// List options of one kind of document.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The name of the array in the envelope.
    pub data_ref: &'static str,
    /// Last page that can be requested.
    pub page_max: i64,
    /// Columns that can order it: the name on the wire, and the column. Without any, the list is ordered by age.
    pub orders: &'static [ListColumn],
    /// Filter parameters.
    pub filters: &'static [ListFilter],
    /// The fields of `filters[...]`: the name on the wire, and the column.
    pub conditions: &'static [ListColumn],
}

impl List {
    /// Returns the options of a cursor-based list.
    pub const fn by_cursor(orders: &'static [ListColumn], conditions: &'static [ListColumn]) -> List {
        List { data_ref: "data", page_max: 0, orders, filters: &[], conditions }
    }
}

/// Filter parameter.
#[derive(Debug, Clone, Copy)]
pub enum ListFilter {
    /// The column equals the value.
    Is(&'static str, &'static str),
    /// The name of the document (`store/index/blind_index.rs`) contains the value, ignoring case.
    Part(&'static str),
    /// The column lies before or after the value: `name[before]`, `name[after]`.
    Instant(&'static str, &'static str),
    /// The column equals the value, which is one of these values.
    OneOf(&'static str, &'static str, &'static [&'static str]),
    /// The column, 1 or 0, equals the flag.
    Flag(&'static str, &'static str),
    /// The column contains the digest of the value, under this name.
    Digest(&'static str, &'static str),
    /// The value is the key of a document of this kind; the column has the id of that document.
    Name(&'static str, &'static str, &'static str),
}
