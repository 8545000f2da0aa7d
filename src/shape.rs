//! Decides how the shape of a JSON object is declared: its fields with their types, bounds and meanings, as plain data. It must not
//! know any shape, nor how one is read.
//!
//! A shape stands once, beside its reader or its writer. What the service takes, the description of its interface and the types
//! of the package are made from it; a test walks it against the reader.

mod meanings;

use crate::money::LARGEST;

/// The largest whole number that JSON readers agree on: 2^53-1.
pub const INT_MAX: i64 = LARGEST;

/// Whether there is what only descriptions say. They are made natively, so that a binary in WebAssembly is smaller without it.
const IS_DESCRIBED: bool = cfg!(not(target_arch = "wasm32"));

/// A text that only descriptions say.
pub const fn description(text: &'static str) -> &'static str {
    if IS_DESCRIBED { text } else { "" }
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name on the wire.
    pub name: &'static str,
    /// What it may hold.
    pub kind: Kind,
    /// Whether it must be there.
    pub required: bool,
    /// Whether it is there as null where there is nothing to tell.
    pub null: bool,
    own: &'static str,
}

/// A shape with a name.
#[derive(Debug)]
pub struct Shape {
    /// What types and schemas call it.
    pub name: &'static str,
    /// What it is, in a few words.
    pub meaning: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a field may hold.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text of at most [`LONGEST_TEXT`](crate::text::LONGEST_TEXT) characters.
    Text,
    /// Text of 1 to so many characters: a name, a code, an id.
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
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// An object of known fields; unknown ones are dropped.
    Object(&'static [Field]),
    /// An object whose fields are the caller's.
    Map,
    /// An object with names of the caller's, whose values are alike.
    MapOf(&'static Kind),
    /// An object of known fields beside others with names of the caller's, whose values are alike. It passes as it is sent, since
    /// its reader says what is wrong with it.
    Open(&'static [Field], &'static Kind),
    /// A list of something, at least and at most so long.
    List(&'static Kind, usize, usize),
    /// A shape that has a name.
    Named(&'static Shape),
    /// Any of some kinds.
    Either(&'static [Kind]),
    /// Anything.
    Any,
}

/// A field that may be left out.
pub const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, required: false, null: false, own: "" }
}

/// A field that must be there.
pub const fn must(name: &'static str, kind: Kind) -> Field {
    Field { required: true, ..may(name, kind) }
}

/// The object of a kind of document: its word for itself.
pub const fn object(word: &'static [&'static str]) -> Field {
    must("object", Kind::OneOf(word))
}

impl Field {
    /// Means something of its own under a name that others have as well.
    pub const fn says(self, meaning: &'static str) -> Field {
        Field { own: description(meaning), ..self }
    }

    /// Is always there, where others may leave it out.
    pub const fn always(self) -> Field {
        Field { required: true, ..self }
    }

    /// Is there as null where there is nothing to tell.
    pub const fn or_null(self) -> Field {
        Field { null: true, ..self }
    }

    /// What it means: what it says itself, else what its name means wherever it stands.
    pub fn meaning(&self) -> &'static str {
        if self.own.is_empty() { meanings::of(self.name).unwrap_or_default() } else { self.own }
    }
}

impl Shape {
    /// Its fields; none where it is no object.
    pub const fn fields(&self) -> &'static [Field] {
        match self.kind {
            Kind::Object(fields) => fields,
            _ => &[],
        }
    }
}

impl Kind {
    /// The kind of what nothing reads, so that only descriptions say it.
    pub const fn described(self) -> Kind {
        if IS_DESCRIBED { self } else { Kind::Any }
    }

    /// The kind that a name stands for.
    pub const fn meant(&self) -> &Kind {
        match self {
            Kind::Named(shape) => &shape.kind,
            kind => kind,
        }
    }

    /// The fields of an object, named or not.
    pub const fn fields(&self) -> &'static [Field] {
        match self.meant() {
            Kind::Object(fields) => fields,
            _ => &[],
        }
    }
}

/// An amount of minor units.
pub const AMOUNT: Kind = Kind::Int(0, INT_MAX);
/// A count.
pub const COUNT: Kind = Kind::Int(0, INT_MAX);
/// An amount or a count that may be taken away.
pub const CHANGE: Kind = Kind::Int(-INT_MAX, INT_MAX);
/// A name or another key: long enough for any caller, short enough for an index.
pub const KEY: Kind = Kind::Name(crate::text::LONGEST_NAME);
/// A list of names.
pub const KEYS: Kind = Kind::List(&KEY, 0, usize::MAX);
/// A list of texts.
pub const TEXTS: Kind = Kind::List(&Kind::Text, 0, usize::MAX);
/// An answer that says nothing.
pub const EMPTY: Kind = Kind::Object(&[]);
/// Custom data.
pub const METADATA: Field = may("metadata", Kind::Map);

/// Several lists of fields as one.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
pub const fn joined<const N: usize>(lists: &[&[Field]]) -> [Field; N] {
    let mut all = [may("", Kind::Any); N];
    let (mut list, mut at) = (0, 0);
    while list < lists.len() {
        let mut place = 0;
        while place < lists[list].len() {
            all[at] = lists[list][place];
            place += 1;
            at += 1;
        }
        list += 1;
    }
    all
}

/// The words of a reader's table, as a shape lists them.
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "runs while the program is compiled")]
pub const fn words<T, const N: usize>(table: &[(&'static str, T)]) -> [&'static str; N] {
    let mut all = [""; N];
    let mut place = 0;
    while place < N {
        all[place] = table[place].0;
        place += 1;
    }
    all
}

/// The kind of a reader's table of words.
#[macro_export]
macro_rules! one_of {
    ($table:expr) => {{
        const WORDS: [&str; $table.len()] = $crate::shape::words($table);
        $crate::shape::Kind::OneOf(&WORDS)
    }};
}

/// Several lists of fields as one.
#[macro_export]
macro_rules! fields_of {
    ($($list:expr),+ $(,)?) => {{
        const ALL: [$crate::shape::Field; 0 $(+ $list.len())+] = $crate::shape::joined(&[$($list),+]);
        &ALL
    }};
}

/// A shape with a name, as a kind.
#[macro_export]
macro_rules! shape {
    ($name:literal, $meaning:literal, $fields:expr) => {
        $crate::shape::Kind::Named(&$crate::shape::Shape {
            name: $name,
            meaning: $crate::shape::description($meaning),
            kind: $crate::shape::Kind::Object($fields),
        })
    };
}

pub use {fields_of, one_of, shape};
