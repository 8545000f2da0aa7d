//! Completes the facts of a vector or a property to those of a service: all counts are known and, where the facts are complete, all kinds
//! of documents are.

use serde_json::{Map, Value};

/// The lists of a set of rules.
const LISTS: [&str; 16] = [
    "campaigns",
    "vouchers",
    "promotion_tiers",
    "promotion_stacks",
    "categories",
    "rewards",
    "reward_assignments",
    "customers",
    "orders",
    "products",
    "skus",
    "product_collections",
    "segments",
    "validation_rules",
    "validation_rules_assignments",
    "redemptions",
];

/// Returns the text of a set of rules with the additional members of complete facts at its end.
pub fn world(given: &str) -> String {
    let said: Map<String, Value> = serde_json::from_str(given).unwrap_or_default();
    let mut added = Vec::new();
    let mut add = |name: &str, value: &str| {
        if !said.contains_key(name) {
            added.push(format!("\"{name}\":{value}"));
        }
    };
    add("counted", "true");
    // The settings of a project without changes.
    add("time_zone", "\"UTC\"");
    add("stacking_rules", "{}");
    add("case_sensitive_codes", "true");
    if said.get("counted").is_none_or(|counted| counted == true) {
        add("transfers", "[]");
    }
    if said.get("complete").is_some_and(|complete| complete == true) {
        LISTS.iter().for_each(|list| add(list, "[]"));
    }
    let Some(open) = given.trim_end().strip_suffix('}').filter(|_| !added.is_empty()) else { return given.to_owned() };
    let comma = if said.is_empty() { "" } else { "," };
    format!("{open}{comma}{}}}", added.join(","))
}
