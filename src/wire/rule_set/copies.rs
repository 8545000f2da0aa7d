//! Finds documents that occur twice in a set of rules, because answers of several requests overlap. Equal copies count
//! as one document; two that differ are refused by their path.

use crate::json::Node;
use crate::ordered_map::OrderedMap;
use crate::text::{Text, fold};
use crate::wire::cursor::{JsonCursor, data_ref_of};
use crate::wire::problem::{Problem, shortened};
use crate::wire::rule_set::lists::LISTS;

/// A document, and the path to it.
type Document<'n> = (String, &'n Node<'n>);

/// The members that contain documents of a kind inside others. Each row has the list of the others, the path to the
/// member, and the list of the kind.
const PARTS: &[(&str, &[&str], &str)] = &[
    ("campaigns", &["promotion", "tiers"], "promotion_tiers"),
    ("products", &["skus"], "skus"),
    ("campaigns", &["validation_rules"], "validation_rules"),
    ("vouchers", &["validation_rules"], "validation_rules"),
    ("promotion_tiers", &["validation_rules"], "validation_rules"),
    ("reward_assignments", &["validation_rules"], "validation_rules"),
];

/// The members that identify documents.
const NAMES: [&str; 2] = ["id", "code"];

/// Returns the paths of the documents that are equal copies of an earlier one. Reports a problem for a document that
/// has the id or code of an earlier one and differs.
pub(super) fn find_copies(body: &JsonCursor<'_>) -> Vec<String> {
    let ignores_case = body.node.get("case_sensitive_codes").and_then(Node::as_bool) == Some(false);
    let mut copies = Vec::new();
    for kind in LISTS {
        let documents = documents_of(body.node, kind.list);
        for member in NAMES {
            let mut known: OrderedMap<usize> = OrderedMap::default();
            for (position, (path, document)) in documents.iter().enumerate() {
                let Some(name) = document.get(member).and_then(Node::as_str).filter(|name| !name.is_empty()) else {
                    continue;
                };
                let key = if member == "code" && ignores_case { Text::from(fold(name)) } else { Text::from(name) };
                let first = known.get_or(&key, || position).and_then(|first| documents.get(*first));
                match first {
                    Some((own, first)) if own != path && first == document => copies.push(path.clone()),
                    Some((own, _)) if own != path => {
                        let text = format!("is given twice (actual value is `{}`)", shortened(name));
                        body.report(Problem::at(format!("{path}.{member}"), text));
                        return copies;
                    }
                    _ => {}
                }
            }
        }
    }
    copies
}

/// Returns the documents of a kind, from their own list and from inside others.
fn documents_of<'n>(rules: &'n Node<'n>, list: &str) -> Vec<Document<'n>> {
    let mut found = Vec::new();
    if let Some(listed) = rules.get(list) {
        add_items(listed, list, &mut found);
    }
    for (outer, path_names, _) in PARTS.iter().filter(|(.., of)| *of == list) {
        let mut owners = Vec::new();
        if let Some(listed) = rules.get(outer) {
            add_items(listed, outer, &mut owners);
        }
        for (path, owner) in owners {
            if let Some(part) = path_names.iter().try_fold(owner, |node, name| node.get(name)) {
                add_items(part, &format!("{path}.{}", path_names.join(".")), &mut found);
            }
        }
    }
    found
}

/// Adds the objects of an array, or of a list of an answer.
fn add_items<'n>(node: &'n Node<'n>, path: &str, into: &mut Vec<Document<'n>>) {
    if let Some(name) = data_ref_of(node) {
        if let Some(array) = node.get(name) {
            add_items(array, &format!("{path}.{name}"), into);
        }
    } else if let Node::List(items) = node {
        for (position, item) in items.iter().enumerate().filter(|(_, item)| matches!(item, Node::Object(_))) {
            into.push((format!("{path}[{position}]"), item));
        }
    }
}
