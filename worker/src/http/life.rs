//! What a kind of document that has states is called wherever it is named, as data. It must not know which state leads where.

use scrip::lifecycle::Kind;

/// The names of a kind of document that has states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// Which it is in the tables of states.
    pub kind: Kind,
    /// The kind of its rows.
    pub stored: &'static str,
    /// What it is on the wire, and in the types of its activities.
    pub object: &'static str,
    /// What its ids begin with.
    pub id: &'static str,
    /// What the cursors of its list begin with.
    pub cursor: &'static str,
    /// What the ids of its activities begin with.
    pub activity: &'static str,
    /// What the cursors of the list of its activities begin with.
    pub activities: &'static str,
    /// The kind of the rows by which it is in a program; nothing where it cannot be.
    pub assigned: Option<&'static str>,
    /// The kinds of rows that belong to it and are gone with it.
    pub owned: &'static [&'static str],
    /// What it is found in, and the parameter of the path that names that; nothing where its id is enough.
    pub within: Option<(&'static Life, &'static str)>,
}

impl Life {
    /// What refusals call it.
    pub fn resource_type(&self) -> String {
        format!("vl_{}", self.object)
    }
}
