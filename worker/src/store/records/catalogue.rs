//! Categories, collections and references to other objects.

use super::members::record;
use serde_json::Value as Json;

record!("A category, stored or as a request sends one.", CategoryRecord, as_category);
record!("A product collection.", CollectionRecord, as_collection);
record!("An object by its ID and type.", ObjectReference);

impl<'a> CategoryRecord<'a> {
    /// Returns the name.
    pub fn name(self) -> Option<&'a str> {
        self.0.text("name")
    }

    /// Returns the rank.
    pub fn hierarchy(self) -> Option<i64> {
        self.0.number("hierarchy")
    }
}

impl<'a> CollectionRecord<'a> {
    /// Returns true if a filter selects the products.
    pub fn is_automatic(self) -> bool {
        self.0.text("type") == Some("AUTO_UPDATE")
    }

    /// Returns the listed products and SKUs.
    pub fn products(self) -> Option<&'a Json> {
        self.0.value("products")
    }
}

impl<'a> ObjectReference<'a> {
    /// Returns the ID.
    pub fn id(self) -> Option<&'a str> {
        self.0.text("id")
    }

    /// Returns the type of object.
    pub fn object(self) -> Option<&'a str> {
        self.0.text("object")
    }
}
