//! How documents are listed, as data: what by, and in which order. It must not know how a list is read from the store.

use crate::http::shape::{Field, Kind, may, must};

/// What a list says that is gone through by cursors, beside what it lists.
pub const CURSOR: &[Field] = &[must(
    "cursor",
    Kind::Object(&[
        must("next", Kind::Text).says("What the next page is asked for with"),
        must("expires_at", Kind::DateTime).says("Until when it can be asked for so"),
    ]),
)
.or_null()
.says("The way to the next page, where there is one")];

/// The parameter that asks for the page of a cursor.
pub const CURSOR_ASKED: Field = may("cursor", Kind::Text).says("Goes on where a page ended");

/// The parameter that asks for one or more orders, which are of these words.
pub const fn orders_asked(words: &'static Kind) -> Field {
    may("order", Kind::List(words, 0, usize::MAX))
}

/// The parameter of a list that has no order but the age.
pub const BY_AGE_ASKED: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at"]));

/// What a list names, and where documents have it.
pub type Column = (&'static str, &'static str);

/// Columns that many lists have.
pub mod column {
    use super::Column;

    /// The id, as a condition.
    pub const ID: Column = ("id", "id");
    /// The name, as an order or a condition.
    pub const NAME: Column = ("name", "json_extract(body, '$.name')");
    /// The type, as an order or a condition.
    pub const TYPE: Column = ("type", "json_extract(body, '$.type')");
    /// The status, as an order or a condition.
    pub const STATUS: Column = ("status", "json_extract(body, '$.status')");
    /// The age, as an order.
    pub const AGE: Column = ("created_at", "created_at");
    /// The moment of creation, as a condition: conditions hold texts against texts, and the column of the age is a number.
    pub const CREATED_AT: Column = ("created_at", "json_extract(body, '$.created_at')");
    /// The moment of the last change, as a condition.
    pub const UPDATED_AT: Column = ("updated_at", "json_extract(body, '$.updated_at')");
}

/// How a kind of document is listed.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The name of the array in the envelope.
    pub data_ref: &'static str,
    /// The last page that can be asked for.
    pub page_max: i64,
    /// What it can be ordered by: the name on the wire, and the column; without any, by age.
    pub orders: &'static [Column],
    /// Plain parameters that select.
    pub filters: &'static [Filter],
    /// The fields of `filters[...]`: the name on the wire, and the column.
    pub conditions: &'static [Column],
}

impl List {
    /// A list that is gone through by cursors.
    pub const fn by_cursor(orders: &'static [Column], conditions: &'static [Column]) -> List {
        List { data_ref: "data", page_max: 0, orders, filters: &[], conditions }
    }
}

/// A plain parameter that selects.
#[derive(Debug, Clone, Copy)]
pub enum Filter {
    /// The column is the value.
    Is(&'static str, &'static str),
    /// The name of the document (`store/marks`) contains the value, whatever its case.
    Part(&'static str),
    /// The column lies before or after the value: `name[before]`, `name[after]`.
    Moment(&'static str, &'static str),
    /// The column is the value, which is one of some words.
    Word(&'static str, &'static str, &'static [&'static str]),
    /// The column, 1 or 0, is the value.
    Flag(&'static str, &'static str),
    /// The mark of the value, which has this name, is in the column.
    Mark(&'static str, &'static str),
    /// The value is a second name of a document of this kind; the column is that document's id.
    Name(&'static str, &'static str, &'static str),
}
