//! Decides how the package holds short texts: as a place and a length. Its memory is given back by regions (`wasm::arena`), so
//! that a text stays where it was put, and a copy of it is another look at the same bytes. It must not know regions.

use std::borrow::{Borrow, Cow};
use std::fmt::{Debug, Display, Formatter, Result};
use std::ops::Deref;

/// A short text. It is not `Copy`, because natively it is not.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text(&'static str);

impl Text {
    /// The text.
    pub fn as_str(&self) -> &str {
        self.0
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.0
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(text.leak())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::from(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Text {
        Text::from(text.into_owned())
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl PartialEq<Text> for &str {
    fn eq(&self, other: &Text) -> bool {
        *self == other.0
    }
}

impl PartialEq<Text> for str {
    fn eq(&self, other: &Text) -> bool {
        self == other.0
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.0
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.0
    }
}

impl Display for Text {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        to.write_str(self.0)
    }
}

impl Debug for Text {
    fn fmt(&self, to: &mut Formatter<'_>) -> Result {
        Debug::fmt(self.0, to)
    }
}

/// As text; what only the service writes is written so.
impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl From<Text> for String {
    fn from(text: Text) -> String {
        text.0.to_owned()
    }
}
