//! Tests that a customer's text matches a rule's list exactly when one of the texts is equal, with every method of lookup.

use proptest::prelude::*;
use scrip::json::{JsonMembers, Node};
use scrip::rules::OrderLines;
use scrip::wire::document::read_document;
use scrip::wire::rules::read_rule;

use crate::properties::holds;
use crate::properties::rule_input::check_for;

#[test]
fn a_customer_text_matches_a_list_that_contains_it() {
    let text = || "[ab]{0,4}|[ab]{3}c{0,5}[ab]{2}|a{13,18}";
    let names = prop::sample::select(vec!["p", "tier", "inner.tier", "a_long_name_of_a_property"]);
    holds(
        3000,
        (prop::collection::vec(text(), 0..5), prop::collection::vec(text(), 3), names),
        |(wanted, found, name)| {
            let rule = serde_json::json!({ "rules": { "1": {
            "name": "customer.metadata", "property": name, "conditions": { "$in": wanted },
        } } });
            let rule = read_document(&rule.to_string(), read_rule).unwrap();
            let mut data = JsonMembers::default();
            for (name, text) in ["p", "tier", "a_long_name_of_a_property"].iter().zip(&found) {
                data.insert(name, Node::Text(text.clone().into()));
            }
            let mut customer = data.clone();
            customer.overlay([("inner", &Node::Object(vec![("tier".into(), Node::Text("ab".into()))]))].into_iter());
            let there = customer.find_dotted(name).and_then(|node| match node {
                Node::Text(text) => Some(text.to_string()),
                _ => None,
            });
            let holds = there.is_some_and(|there| wanted.contains(&there));
            prop_assert_eq!(check_for(&rule, Some(&customer), 0, OrderLines::of(&[]), None), holds);
            Ok(())
        },
    );
}
