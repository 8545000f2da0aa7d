//! Defines the explanation of a failed test: its operands, the found value, and the change that would pass.

use crate::text::Text;

/// The explanation of a failed rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleExplanation {
    /// The rule.
    pub rule: Text,
    /// The key of the test; for a nested one with the keys of the surrounding tests, joined with dots.
    pub test: String,
    /// Its name, such as `order.amount`.
    pub name: &'static str,
    /// The metadata property that it tests.
    pub property: Option<Text>,
    /// The deciding operator, such as `$more_than`.
    pub operator: &'static str,
    /// The operands.
    pub expected: Vec<String>,
    /// The found value; `None` without one.
    pub found: Option<String>,
    /// The smallest change that would pass, if there is one.
    pub change: Option<Remedy>,
}

/// A change that would make a test pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// The action.
    pub act: RemedyAction,
    /// The amount of the change, in minor units or units.
    pub by: Option<u64>,
    /// `true` if that is an amount of money.
    pub is_money: bool,
    /// The goods, value or instant of the change.
    pub of: Option<String>,
}

/// The action of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemedyAction {
    /// Increase.
    More,
    /// Decrease.
    Less,
    /// Add goods.
    Add,
    /// Remove goods.
    Remove,
    /// Set another value.
    Set,
    /// Wait until later.
    After,
    /// Use it earlier.
    Before,
}

impl RemedyAction {
    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RemedyAction::More => "more",
            RemedyAction::Less => "less",
            RemedyAction::Add => "add",
            RemedyAction::Remove => "remove",
            RemedyAction::Set => "set",
            RemedyAction::After => "after",
            RemedyAction::Before => "before",
        }
    }
}

impl Remedy {
    /// Returns the text for people, such as `8.20 more`, `1 more of SKU-1`, `after 2026-12-01`.
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
