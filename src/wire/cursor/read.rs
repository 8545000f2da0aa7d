//! Defines the readers of a cursor as functions, for [`JsonCursor::option`], [`JsonCursor::need`] and
//! [`JsonCursor::list`].

use super::{Instant, JsonCursor, Metadata, Text};
use crate::money::{Money, Percent};

macro_rules! readers {
    ($($name:ident: $kind:ty,)*) => {$(
        #[doc = concat!("[`JsonCursor::", stringify!($name), "`].")]
        pub fn $name(at: &JsonCursor<'_>) -> $kind {
            at.$name()
        }
    )*};
}

readers! {
    text: Text,
    name: Text,
    texts: Vec<Text>,
    string: String,
    flag: bool,
    whole_number: u64,
    money: Money,
    percent: Percent,
    instant: Instant,
    start: Instant,
    end: Instant,
    metadata: Metadata,
}
