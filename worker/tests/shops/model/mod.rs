//! A second, slow and obvious model of a validation, written from the specification and not from the engine. It reads what
//! the shop sent and what a request says, as JSON, and computes with whole numbers and fractions.

pub mod effect;
pub mod filter;
pub mod fraction;
pub mod gift;
pub mod holds;
pub mod identify;
pub mod items;
pub mod order;
pub mod scope;
pub mod show;
pub mod sorting;
pub mod units;
pub mod walk;

use crate::shops::shop::Book;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Names of numbers and what they are; what is nothing is left out where absent means 0.
pub type Numbers = BTreeMap<&'static str, i128>;

/// An order as answers show it.
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

/// What becomes of one redeemable.
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

/// What a validation of a request should answer.
pub fn validate(book: &Book, request: &Json) -> Outcome {
    walk::walk(book, request)
}

/// What a reader needs to judge an answer: the redeemables with their rules, the goods and the stacking rules.
pub fn about(book: &Book, request: &Json) -> String {
    let mut told = vec![format!("  stacking {}", book.stacking)];
    for candidate in sorting::candidates(book, request) {
        let thing = candidate.thing.clone().unwrap_or_default();
        let benefit =
            ["discount", "gift", "action"].map(|field| &thing[field]).into_iter().find(|value| !value.is_null());
        told.push(format!("  {} is {} of {:?}", candidate.id, benefit.unwrap_or(&Json::Null), candidate.category));
        told.extend(walk::rules(book, &candidate).iter().map(|rule| format!("    under {rule}")));
    }
    for list in [&book.products, &book.skus, &book.collections, &book.segments, &book.customers] {
        told.extend(list.iter().filter(|one| !list.is_empty() && !one.is_null()).map(|one| format!("  has {one}")));
    }
    told.join("\n") + "\n"
}

/// What the rules of a redeemable look at: the customer, and how often the customer came.
pub fn looks_at(book: &Book, redeemable: &Json) -> (bool, bool) {
    let request = serde_json::json!({ "redeemables": [redeemable] });
    let candidate = &sorting::candidates(book, &request)[0];
    let rules = walk::rules(book, candidate);
    (rules.iter().any(|rule| holds::looks_at_customer(rule)), rules.iter().any(|rule| holds::counts(rule)))
}
