//! Joins the core of a bundle with documents that came separately: of an opened code, about the client's customer, or of goods.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::json::Node;
use crate::model::goods_buckets::is_number_of_buckets;
use crate::wire::problem::Problem;
use crate::wire::rule_set::RuleSet;
use crate::wire::rule_set::lists::LISTS;
use crate::wire::rule_set::own_facts::OwnFacts;

/// Names of documents that cannot be read.
const UNREADABLE: &str = "unreadable";
/// Names of which all goods are listed.
const NAMED_GOODS: &str = "named_goods";
/// The lists that only grow: goods of two documents are the same in both, and the first ones count.
const OF_GOODS: [&str; 4] = ["products", "skus", NAMED_GOODS, UNREADABLE];

impl RuleSet {
    /// Reads a set of rules together with further ones, of which only lists, the facts about the customer and the names of unreadable
    /// documents are taken. A document with the id of an earlier one is the same document.
    pub fn read_joined(bytes: &[u8], more: &[&[u8]]) -> Result<RuleSet, Problem> {
        let mut node = Node::read(bytes)?;
        let mut buckets = Vec::new();
        for bytes in more {
            join(&mut node, Node::read(bytes)?, &mut buckets);
        }
        let mut given = RuleSet::read_set(node)?;
        for (bucket, count) in buckets {
            given.goods_names.get_or_insert_default().add_bucket(bucket, count);
        }
        Ok(given)
    }

    /// Reads goods buckets alone. Their documents are those of a bundle.
    pub fn read_goods_buckets(buckets: &[&[u8]]) -> Result<RuleSet, Problem> {
        RuleSet::read_joined(br#"{"client":true}"#, buckets)
    }
}

/// Joins the members of further rules, and notes which goods bucket they are.
fn join<'n>(rules: &mut Node<'n>, more: Node<'n>, buckets: &mut Vec<(u32, u32)>) {
    buckets.extend(bucket_numbers(&more));
    let (Node::Object(members), Node::Object(more)) = (rules, more) else { return };
    for (name, value) in more {
        match (&value, list_of(members, &name)) {
            _ if OwnFacts::has_member(&name) => members.push((name, value)),
            _ if !OF_GOODS.contains(&&*name) && !LISTS.iter().any(|kind| kind.list == name) => {}
            (Node::List(_), Some(list)) => {
                let Node::List(documents) = value else { continue };
                if OF_GOODS.contains(&&*name) {
                    list.extend(documents);
                    continue;
                }
                let ids: BTreeSet<Option<String>> = list.iter().map(id_of).collect();
                let is_new = |one: &Node<'n>| match id_of(one) {
                    // One without an id, such as an assignment, is the same if it is equal.
                    None => !list.contains(one),
                    id => !ids.contains(&id),
                };
                let new: Vec<Node<'n>> = documents.into_iter().filter(is_new).collect();
                list.extend(new);
            }
            (Node::List(_), None) => members.push((name, value)),
            _ => {}
        }
    }
}

/// Returns the number of a goods bucket, and how many there are.
fn bucket_numbers(more: &Node<'_>) -> Option<(u32, u32)> {
    let number = |name: &str| more.get(name)?.as_u64().and_then(|number| u32::try_from(number).ok());
    let (bucket, count) = number("bucket").zip(number("buckets"))?;
    (is_number_of_buckets(count) && bucket < count).then_some((bucket, count))
}

/// Returns the list of this name.
fn list_of<'m, 'n>(members: &'m mut [(Cow<'n, str>, Node<'n>)], name: &str) -> Option<&'m mut Vec<Node<'n>>> {
    match members.iter_mut().rev().find(|(known, _)| known == name) {
        Some((_, Node::List(list))) => Some(list),
        Some(_) | None => None,
    }
}

/// Returns the id of a document.
fn id_of(document: &Node<'_>) -> Option<String> {
    document.get("id").and_then(Node::as_str).map(str::to_owned)
}
