//! Checks whether decisions can read a document. The service checks before storing; a set of rules separates unreadable
//! documents, so that one of them does not make all others unusable.

use serde_json::{Map, Value};
use std::collections::BTreeSet;

use crate::json::Node;
use crate::model::qualification::CandidateObject;
use crate::text::{Text, joined};
use crate::wire::candidates::{read_campaign_voucher, read_candidate};
use crate::wire::cursor::{JsonCursor, Read, read, read_node};
use crate::wire::customer::read_customer;
use crate::wire::document::{read_document, read_fields};
use crate::wire::loyalty::card_definition::read_card_definition;
use crate::wire::loyalty::earning_rule::read_earning_rule;
use crate::wire::loyalty::incentive::read_incentive;
use crate::wire::loyalty::loyalty_campaign_rule::read_loyalty_campaign_rule;
use crate::wire::loyalty::program::read_program;
use crate::wire::loyalty::reward::read_loyalty_reward;
use crate::wire::loyalty::tiers::{read_tier as read_loyalty_tier, read_tier_state, read_tier_structure};
use crate::wire::order::{read_goods, read_order};
use crate::wire::problem::Problem;
use crate::wire::project::stacking::read_stacking_rules;
use crate::wire::reward::{read_reward, read_reward_assignment};
use crate::wire::rules::{read_assignment, read_collection, read_rule, read_segment};
use crate::wire::voucher::{read_campaign, read_category, read_stack, read_tier, read_voucher};

/// A kind of document: its name, its list in a set of rules, and its reader.
type ReadableKind = (&'static str, &'static str, Read<()>);

const KINDS: &[ReadableKind] = &[
    ("campaign", "campaigns", |at| {
        read_campaign(at);
        read_candidate(at, CandidateObject::Campaign);
        read_campaign_voucher(at);
    }),
    ("voucher", "vouchers", |at| {
        read_voucher(at, "");
        read_candidate(at, CandidateObject::Voucher);
    }),
    ("promotion_tier", "promotion_tiers", |at| {
        read_tier(at, "");
        read_candidate(at, CandidateObject::PromotionTier);
    }),
    ("promotion_stack", "promotion_stacks", |at| {
        read_stack(at);
        read_candidate(at, CandidateObject::PromotionStack);
    }),
    ("category", "categories", |at| _ = read_category(at)),
    ("reward", "rewards", |at| _ = read_reward(at)),
    ("reward_assignment", "reward_assignments", |at| _ = read_reward_assignment(at)),
    ("customer", "customers", |at| _ = read_customer(at)),
    ("order", "orders", |at| _ = read_order(at)),
    ("product", "products", |at| _ = read_goods(at)),
    ("sku", "skus", |at| _ = read_goods(at)),
    ("products_collection", "product_collections", |at| _ = read_collection(at)),
    ("segment", "segments", |at| _ = read_segment(at)),
    ("validation_rules", "validation_rules", |at| _ = read_rule(at)),
    (ASSIGNMENT, "validation_rules_assignments", |at| _ = read_assignment(at)),
    ("stacking_rules", "", |at| _ = read_stacking_rules(at)),
];

/// The kinds that only the service stores and reads; no set of rules contains them.
const STORED: &[(&str, Read<()>)] = &[
    ("card_definition", |at| _ = read_card_definition(at)),
    ("program", |at| _ = read_program(at)),
    ("loyalty_earning_rule", |at| _ = read_earning_rule(at)),
    ("incentive", |at| _ = read_incentive(at)),
    ("tier_structure", |at| _ = read_tier_structure(at)),
    ("loyalty_tier", |at| _ = read_loyalty_tier(at)),
    ("member_tier", |at| _ = at.need("kept", read_tier_state)),
    ("loyalty_reward", |at| _ = read_loyalty_reward(at)),
    ("earning_rule", |at| _ = read_loyalty_campaign_rule(at)),
];

const ASSIGNMENT: &str = "validation_rules_assignment";

/// Returns the reader of a kind; `None` for kinds that no decision reads.
fn reader(kind: &str) -> Option<Read<()>> {
    let kinds = KINDS.iter().map(|(known, _, read)| (*known, *read));
    let (_, read) = kinds.chain(STORED.iter().copied()).find(|(known, _)| *known == kind)?;
    Some(read)
}

/// Checks a document of a kind; fails with its problem. Kinds that no decision reads always pass.
pub fn check(kind: &str, text: &str) -> Result<(), Problem> {
    reader(kind).map_or(Ok(()), |read| read_document(text, read))
}

/// Checks a parsed document of a kind; fails with its problem.
pub fn check_fields(kind: &str, fields: &Map<String, Value>) -> Result<(), Problem> {
    reader(kind).map_or(Ok(()), |read| read_fields(fields, read))
}

/// Stored documents that cannot be read, by kind and name. Rules are also listed by the object of their assignment.
#[derive(Debug, Clone, Default)]
pub struct UnreadableDocuments(BTreeSet<Text>);

impl UnreadableDocuments {
    /// Returns whether the document of this kind and name is unreadable.
    pub fn has(&self, kind: &str, name: &str) -> bool {
        !self.0.is_empty() && self.0.contains(&joined(&[kind, "/", name]))
    }

    /// Returns whether an unreadable assignment may belong to the object of this name.
    pub fn guards(&self, name: &str) -> bool {
        // An assignment without a readable object may belong to any object.
        self.has(ASSIGNMENT, name) || self.has(ASSIGNMENT, "")
    }

    /// Adds a document that the author of the set has left out as unreadable.
    pub(crate) fn add_unreadable(&mut self, at: &JsonCursor<'_>) {
        at.object();
        let kind = at.need("object", read::text);
        self.add(&kind, at.node);
    }

    fn add(&mut self, kind: &str, document: &Node<'_>) {
        let text = |name| document.get(name).and_then(Node::as_str);
        let names = match kind {
            ASSIGNMENT => return self.add_name(kind, text("related_object_id").unwrap_or_default()),
            _ => ["id", "code", "source_id"],
        };
        names.into_iter().filter_map(text).for_each(|name| self.add_name(kind, name));
    }

    pub(crate) fn join(&mut self, other: UnreadableDocuments) {
        self.0.extend(other.0);
    }

    fn add_name(&mut self, kind: &str, name: &str) {
        self.0.insert(joined(&[kind, "/", name]));
    }
}

/// Removes the unreadable documents from a set of rules, and returns their names.
pub(crate) fn separate_unreadable<'n>(rules: Node<'n>) -> (Node<'n>, UnreadableDocuments) {
    let mut unreadable = UnreadableDocuments::default();
    let Node::Object(mut members) = rules else { return (rules, unreadable) };
    for (name, list) in &mut members {
        let kind = KINDS.iter().find(|(_, list, _)| *list == name.as_ref());
        let (Some((kind, _, read)), Node::List(documents)) = (kind, list) else { continue };
        documents.retain(|document| {
            let reads = read_node(document, |at| {
                at.set_compiled();
                read(at);
            })
            .is_ok();
            if !reads {
                unreadable.add(kind, document);
            }
            reads
        });
    }
    (Node::Object(members), unreadable)
}
