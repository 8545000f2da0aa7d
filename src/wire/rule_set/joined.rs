//! Joins the core of a bundle with documents that came separately: of an opened code, or about the client's customer.

use std::borrow::Cow;

use crate::json::Node;
use crate::wire::problem::Problem;
use crate::wire::rule_set::RuleSet;
use crate::wire::rule_set::lists::LISTS;
use crate::wire::rule_set::own_facts::OwnFacts;

impl RuleSet {
    /// Reads a set of rules together with further ones, of which only lists and the facts about the customer are taken. A
    /// document with the id of an earlier one is the same document.
    pub fn read_joined(bytes: &[u8], more: &[&[u8]]) -> Result<RuleSet, Problem> {
        let mut node = Node::read(bytes)?;
        for bytes in more {
            join(&mut node, Node::read(bytes)?);
        }
        RuleSet::read_set(node)
    }
}

fn join<'n>(rules: &mut Node<'n>, more: Node<'n>) {
    let (Node::Object(members), Node::Object(more)) = (rules, more) else { return };
    for (name, value) in more {
        match (&value, place_of(members, &name)) {
            _ if OwnFacts::has_member(&name) => members.push((name, value)),
            _ if !LISTS.iter().any(|kind| kind.list == name) => {}
            (Node::List(_), Some(list)) => {
                let Node::List(documents) = value else { continue };
                let new: Vec<Node<'n>> = documents.into_iter().filter(|one| !is_among(list, one)).collect();
                list.extend(new);
            }
            (Node::List(_), None) => members.push((name, value)),
            _ => {}
        }
    }
}

/// Returns the list of this name.
fn place_of<'m, 'n>(members: &'m mut [(Cow<'n, str>, Node<'n>)], name: &str) -> Option<&'m mut Vec<Node<'n>>> {
    match members.iter_mut().rev().find(|(known, _)| known == name) {
        Some((_, Node::List(list))) => Some(list),
        Some(_) | None => None,
    }
}

/// Returns whether a list has the document. One without an id, such as an assignment, is the same if it is equal.
fn is_among(list: &[Node<'_>], document: &Node<'_>) -> bool {
    let id = |node: &Node<'_>| node.get("id").and_then(Node::as_str).map(str::to_owned);
    match id(document) {
        Some(own) => list.iter().any(|known| id(known).as_ref() == Some(&own)),
        None => list.contains(document),
    }
}
