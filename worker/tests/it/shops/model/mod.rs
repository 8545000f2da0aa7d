//! Implements a second, slow and simple model of a validation, written from the specification and not from the engine. It reads the sent
//! objects and requests as JSON, and computes with integers and fractions.

pub mod effect;
pub mod filter;
pub mod fraction;
pub mod free_units;
pub mod gift;
pub mod items;
pub mod line_identity;
pub mod order;
pub mod order_json;
pub mod rule_evaluation;
pub mod scope;
pub mod sorting;
pub mod unit_discounts;
pub mod walk;

use crate::shops::shop::Book;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Numbers by name; an absent number is left out where absence means 0.
pub type Numbers = BTreeMap<&'static str, i128>;

/// An order as answers contain it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Amounts {
    pub order: Numbers,
    pub lines: Vec<Numbers>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    Applicable,
    Inapplicable(String),
    Skipped(String),
}

/// The result of one redeemable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub id: String,
    pub status: Status,
    pub order: Option<Amounts>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub valid: bool,
    pub verdicts: Vec<Verdict>,
    pub order: Option<Amounts>,
}

/// Returns the expected answer to the validation of a request.
pub fn validate(book: &Book, request: &Json) -> Outcome {
    walk::walk(book, request)
}

/// Returns the context for a reader of a mismatch: the redeemables with their rules, the goods and the stacking rules.
pub fn about(book: &Book, request: &Json) -> String {
    let mut lines = vec![format!("  stacking {}", book.stacking)];
    for candidate in sorting::candidates(book, request) {
        let thing = candidate.thing.clone().unwrap_or_default();
        let benefit =
            ["discount", "gift", "action"].map(|field| &thing[field]).into_iter().find(|value| !value.is_null());
        lines.push(format!("  {} is {} of {:?}", candidate.id, benefit.unwrap_or(&Json::Null), candidate.category));
        lines.extend(walk::rules(book, &candidate).iter().map(|rule| format!("    under {rule}")));
    }
    for list in [&book.products, &book.skus, &book.collections, &book.segments, &book.customers] {
        lines.extend(list.iter().filter(|one| !list.is_empty() && !one.is_null()).map(|one| format!("  has {one}")));
    }
    lines.join("\n") + "\n"
}

/// Returns two flags: the rules of a redeemable read the customer, and they read the customer's counts.
pub fn looks_at(book: &Book, redeemable: &Json) -> (bool, bool) {
    let request = serde_json::json!({ "redeemables": [redeemable] });
    let candidate = &sorting::candidates(book, &request)[0];
    let rules = walk::rules(book, candidate);
    (
        rules.iter().any(|rule| rule_evaluation::looks_at_customer(rule)),
        rules.iter().any(|rule| rule_evaluation::counts(rule)),
    )
}
