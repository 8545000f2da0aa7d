//! Declares the shape of JSON objects as plain data: their fields with types, bounds and descriptions.
//!
//! A shape is declared once, next to its reader or its writer. The checks of the service, the API description and the
//! types of the package are generated from it; a test compares it with the reader.

mod descriptions;

use crate::money::LARGEST;

/// The largest whole number that JSON readers agree on: 2^53-1.
pub const INT_MAX: i64 = LARGEST;

/// `true` if descriptions are included. They are generated natively, and a WebAssembly binary is smaller without them.
const IS_DESCRIBED: bool = cfg!(not(target_arch = "wasm32"));

/// Returns a text that only descriptions need.
pub const fn description(text: &'static str) -> &'static str {
    if IS_DESCRIBED { text } else { "" }
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// The type of its value.
    pub kind: FieldType,
    /// `true` if it must be present.
    pub required: bool,
    /// `true` if it is present as null when it has no value.
    pub null: bool,
    /// `true` if a sent null is a value on creation too; otherwise it counts as absent there.
    pub null_is_value: bool,
    own: &'static str,
}

/// A shape with a name.
#[derive(Debug)]
pub struct Shape {
    /// Its name in types and schemas.
    pub name: &'static str,
    /// Its description, in a few words.
    pub description: &'static str,
    /// Its type.
    pub kind: FieldType,
}

/// The type of a field.
#[derive(Debug, Clone, Copy)]
pub enum FieldType {
    /// Text of at most [`LONGEST_TEXT`](crate::text::LONGEST_TEXT) characters.
    Text,
    /// Text of 1 to this number of characters: a name, a code, an id.
    Name(usize),
    /// A whole number within bounds.
    Int(i64, i64),
    /// A number within bounds, whole or not.
    Number(i64, i64),
    /// True or false.
    Bool,
    /// A date, `YYYY-MM-DD`.
    Date,
    /// A date or a date-time.
    DateTime,
    /// An ISO 8601 duration in weeks, days, hours, minutes and seconds.
    Duration,
    /// A time of day, `HH:mm`.
    Clock,
    /// An absolute https address.
    HttpsUrl,
    /// One of these constants.
    OneOf(&'static [&'static str]),
    /// An object of known fields; unknown ones are dropped.
    Object(&'static [Field]),
    /// An object with fields of the caller.
    Map,
    /// An object with names of the caller and values of one type.
    MapOf(&'static FieldType),
    /// An object of known fields and others with names of the caller and values of one type. It is stored as sent,
    /// since its reader checks it.
    Open(&'static [Field], &'static FieldType),
    /// A list, with its minimum and maximum length.
    List(&'static FieldType, usize, usize),
    /// A shape that has a name.
    Named(&'static Shape),
    /// Any of these types.
    Either(&'static [FieldType]),
    /// Any value.
    Any,
}

/// Returns an optional field.
pub const fn may(name: &'static str, kind: FieldType) -> Field {
    Field { name, kind, required: false, null: false, null_is_value: false, own: "" }
}

/// Returns a required field.
pub const fn must(name: &'static str, kind: FieldType) -> Field {
    Field { required: true, ..may(name, kind) }
}

/// Returns the `object` field of a kind of document.
pub const fn object(names: &'static [&'static str]) -> Field {
    must("object", FieldType::OneOf(names))
}

impl Field {
    /// Sets a description of its own, for a name that other fields share.
    pub const fn description(self, text: &'static str) -> Field {
        Field { own: description(text), ..self }
    }

    /// Makes the field required.
    pub const fn always(self) -> Field {
        Field { required: true, ..self }
    }

    /// Makes the field null when it has no value.
    pub const fn or_null(self) -> Field {
        Field { null: true, ..self }
    }

    /// Accepts a sent null as a value, on creation as on update.
    pub const fn takes_null(self) -> Field {
        Field { null_is_value: true, ..self.or_null() }
    }

    /// Returns the description: its own, else the shared one of its name.
    pub fn description_text(&self) -> &'static str {
        if self.own.is_empty() { descriptions::of(self.name).unwrap_or_default() } else { self.own }
    }
}

impl Shape {
    /// Returns its fields; empty if it is no object.
    pub const fn fields(&self) -> &'static [Field] {
        match self.kind {
            FieldType::Object(fields) => fields,
            _ => &[],
        }
    }
}

impl FieldType {
    /// Returns the type for data that no code reads, so that only descriptions contain it.
    pub const fn described(self) -> FieldType {
        if IS_DESCRIBED { self } else { FieldType::Any }
    }

    /// Resolves a named type.
    pub const fn resolved(&self) -> &FieldType {
        match self {
            FieldType::Named(shape) => &shape.kind,
            kind => kind,
        }
    }

    /// Returns the fields of an object, named or not.
    pub const fn fields(&self) -> &'static [Field] {
        match self.resolved() {
            FieldType::Object(fields) => fields,
            _ => &[],
        }
    }
}

/// An amount of minor units.
pub const AMOUNT: FieldType = FieldType::Int(0, INT_MAX);
/// A count.
pub const COUNT: FieldType = FieldType::Int(0, INT_MAX);
/// A signed amount or count.
pub const CHANGE: FieldType = FieldType::Int(-INT_MAX, INT_MAX);
/// A name or another key: long enough for any caller, short enough for an index.
pub const KEY: FieldType = FieldType::Name(crate::text::LONGEST_NAME);
/// A list of names.
pub const KEYS: FieldType = FieldType::List(&KEY, 0, usize::MAX);
/// A list of texts.
pub const TEXTS: FieldType = FieldType::List(&FieldType::Text, 0, usize::MAX);
/// An empty answer.
pub const EMPTY: FieldType = FieldType::Object(&[]);
/// Metadata.
pub const METADATA: Field = may("metadata", FieldType::Map);

/// Concatenates lists of fields.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
pub const fn joined<const N: usize>(lists: &[&[Field]]) -> [Field; N] {
    let mut all = [may("", FieldType::Any); N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut position = 0;
        while position < lists[list].len() {
            all[at] = lists[list][position];
            position += 1;
            at += 1;
        }
        list += 1;
    }
    all
}

/// Returns the names of a reader's table, for a shape.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
pub const fn names_of<T, const N: usize>(table: &[(&'static str, T)]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut position = 0;
    while position < N {
        all[position] = table[position].0;
        position += 1;
    }
    all
}

/// Returns the type of a reader's table of names.
#[macro_export]
macro_rules! one_of {
    ($table:expr) => {{
        const NAMES: [&str; $table.len()] = $crate::shape::names_of($table);
        $crate::shape::FieldType::OneOf(&NAMES)
    }};
}

/// Concatenates lists of fields.
#[macro_export]
macro_rules! fields_of {
    ($($list:expr),+ $(,)?) => {{
        const ALL: [$crate::shape::Field; 0 $(+ $list.len())+] = $crate::shape::joined(&[$($list),+]);
        &ALL
    }};
}

/// Returns a named object shape as a type.
#[macro_export]
macro_rules! shape {
    ($name:literal, $description:literal, $fields:expr) => {
        $crate::shape::FieldType::Named(&$crate::shape::Shape {
            name: $name,
            description: $crate::shape::description($description),
            kind: $crate::shape::FieldType::Object($fields),
        })
    };
}

pub use {fields_of, one_of, shape};
