//! Reads members of a JSON object by type.

use crate::store::sql::Fault;
use serde_json::{Map, Value as Json};

/// The members of an object. An absent object has none.
#[derive(Debug, Clone, Copy)]
pub struct Members<'a>(Option<&'a Map<String, Json>>);

impl<'a> Members<'a> {
    /// Reads an object.
    pub fn of(body: &'a Map<String, Json>) -> Members<'a> {
        Members(Some(body))
    }

    /// Reads a value, which is an object or counts as absent.
    pub fn of_value(value: Option<&'a Json>) -> Members<'a> {
        Members(value.and_then(Json::as_object))
    }

    /// Returns a member, which may be `null`.
    pub fn value(self, name: &str) -> Option<&'a Json> {
        self.0?.get(name)
    }

    /// Returns a copy of a member; `null` if absent.
    pub fn copy(self, name: &str) -> Json {
        self.value(name).cloned().unwrap_or_default()
    }

    /// Returns a text.
    pub fn text(self, name: &str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    /// Returns a flag.
    pub fn flag(self, name: &str) -> Option<bool> {
        self.value(name)?.as_bool()
    }

    /// Returns a whole number of at least 0.
    pub fn count(self, name: &str) -> Option<u64> {
        self.value(name)?.as_u64()
    }

    /// Returns a stored amount of at least 0; `None` if absent or `null`. Any other value is corrupt, so it is a fault and not zero.
    pub fn amount(self, name: &str) -> Result<Option<u64>, Fault> {
        match self.value(name) {
            None | Some(Json::Null) => Ok(None),
            Some(value) => value.as_u64().map(Some).ok_or_else(|| Fault(format!("`{name}` is no amount: {value}"))),
        }
    }

    /// Returns a stored amount of at least 0 that every row has. Fails if it is absent.
    pub fn required_amount(self, name: &str) -> Result<u64, Fault> {
        self.amount(name)?.ok_or_else(|| Fault(format!("the amount `{name}` is absent")))
    }

    /// Returns a whole number.
    pub fn number(self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    /// Returns the items of a list.
    pub fn list(self, name: &str) -> &'a [Json] {
        self.value(name).and_then(Json::as_array).map_or(&[], Vec::as_slice)
    }

    /// Returns the members of an inner object.
    pub fn object(self, name: &str) -> Members<'a> {
        Members::of_value(self.value(name))
    }

    /// Returns the object itself, if present.
    pub fn map(self) -> Option<&'a Map<String, Json>> {
        self.0
    }
}

/// Declares a view of an object, and the method of a document that returns the view if the object is a document's body.
macro_rules! record {
    ($text:literal, $name:ident $(, $method:ident)? $(,)?) => {
        #[doc = $text]
        #[derive(Debug, Clone, Copy)]
        pub struct $name<'a>($crate::store::records::Members<'a>);

        impl<'a> $name<'a> {
            /// Reads a body.
            pub fn of(body: &'a serde_json::Map<String, serde_json::Value>) -> $name<'a> {
                $name($crate::store::records::Members::of(body))
            }

            /// Reads a value; one that is no object has no members.
            pub fn of_value(value: &'a serde_json::Value) -> $name<'a> {
                $name($crate::store::records::Members::of_value(Some(value)))
            }
        }

        $(impl $crate::store::document::Document {
            #[doc = concat!("Reads the document as a [`", stringify!($name), "`].")]
            pub fn $method(&self) -> $name<'_> {
                $name::of(&self.body)
            }
        })?
    };
}

pub(super) use record;

#[cfg(test)]
mod tests {
    use super::Members;
    use serde_json::json;

    #[test]
    fn an_unreadable_amount_is_a_fault_and_an_absent_one_is_not() {
        let body = json!({ "points": 5, "none": null, "text": "5", "below": -1, "half": 0.5 });
        let members = Members::of_value(Some(&body));
        assert_eq!((members.amount("points"), members.required_amount("points")), (Ok(Some(5)), Ok(5)));
        assert_eq!((members.amount("none"), members.amount("absent")), (Ok(None), Ok(None)));
        assert!(["text", "below", "half"].iter().all(|name| members.amount(name).is_err()));
        assert!(["none", "absent", "text"].iter().all(|name| members.required_amount(name).is_err()));
    }
}
