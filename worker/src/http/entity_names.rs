//! Names of the entities that have a lifecycle, as data: on the wire, in ids, cursors and refusals.

use scrip::lifecycle::Entity;

/// Names of a kind of document with states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityNames {
    /// Entity in the tables of states.
    pub kind: Entity,
    /// Kind of its rows.
    pub stored: &'static str,
    /// Value of `object` in JSON, and part of the types of its activities.
    pub object: &'static str,
    /// Prefix of its ids.
    pub id: &'static str,
    /// Prefix of the cursors of its list.
    pub cursor: &'static str,
    /// Prefix of the ids of its activities.
    pub activity: &'static str,
    /// Prefix of the cursors of the list of its activities.
    pub activities: &'static str,
    /// Kind of the rows that assign it to a program; `None` if it cannot be assigned.
    pub assigned: Option<&'static str>,
    /// Kinds of rows that belong to it and are deleted with it.
    pub owned: &'static [&'static str],
    /// Parent entity and the path parameter that names it; `None` if the id is enough.
    pub within: Option<(&'static EntityNames, &'static str)>,
}

impl EntityNames {
    /// Returns its name in refusals.
    pub fn resource_type(&self) -> String {
        format!("vl_{}", self.object)
    }
}
