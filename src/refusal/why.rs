//! Decides what can be told of a test that failed: what it wanted, what it found, and what would pass. It must not know
//! how tests are made or who may read about them.

use crate::text::Text;

/// Why a rule does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The rule.
    pub rule: Text,
    /// The key of the test; of a nested one the keys around it as well, joined with dots.
    pub test: String,
    /// Its name, such as `order.amount`.
    pub name: &'static str,
    /// The property of custom data that it is about.
    pub property: Option<Text>,
    /// The operator that decided, such as `$more_than`.
    pub operator: &'static str,
    /// What was wanted.
    pub wanted: Vec<String>,
    /// What was found; `None` for nothing.
    pub found: Option<String>,
    /// The smallest change that would pass, where there is one.
    pub change: Option<Change>,
}

/// A change that would make a test pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// What is to be done.
    pub act: Act,
    /// By how much, in minor units or units.
    pub by: Option<u64>,
    /// Whether that is an amount of money.
    pub is_money: bool,
    /// Of which goods, or to which value or moment.
    pub of: Option<String>,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// More of it.
    More,
    /// Less of it.
    Less,
    /// A thing is to be added.
    Add,
    /// A thing is to be removed.
    Remove,
    /// Another value.
    Set,
    /// Later.
    After,
    /// Earlier.
    Before,
}

impl Act {
    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Act::More => "more",
            Act::Less => "less",
            Act::Add => "add",
            Act::Remove => "remove",
            Act::Set => "set",
            Act::After => "after",
            Act::Before => "before",
        }
    }
}

impl Change {
    /// For people, such as `8.20 more`, `1 more of SKU-1`, `after 2026-12-01`.
    pub fn text(&self) -> String {
        let by = self.by.map(|by| match self.is_money {
            true => format!("{}.{:02}", by / 100, by % 100),
            false => by.to_string(),
        });
        let (blank, of) = match (&by, &self.of) {
            (None, _) => ("", " "),
            (Some(_), Some(_)) => (" ", " of "),
            (Some(_), None) => (" ", ""),
        };
        let by = by.unwrap_or_default();
        [&by, blank, self.act.name(), of, self.of.as_deref().unwrap_or_default()].concat()
    }
}
