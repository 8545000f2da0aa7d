//! Reads validation rules from their documents.
//!
//! docs/spec/validation-rules.md sections 1 to 5. Unknown rule names and operators are refused by name: a skipped rule
//! would give money away.

mod condition;
mod documents;
mod filter;
mod shapes;

pub use documents::{COLLECTION, RULE, SEGMENT};
pub use filter::{OTHERS, SET, read_collection, read_filter, read_segment};
pub use shapes::{BUNDLES, FIELD_CONDITIONS, FILTER, TESTS};

use std::sync::Arc;

use crate::facts::Assignment;
use crate::json::Node;
use crate::model::goods_sets::{GoodsSet, OtherGoods};
use crate::model::scope::{BUNDLES_MAX, BundleEntry, BundleRules, GoodsObject, GoodsRef};
use crate::rules::names::Values;
use crate::rules::{
    Collection, Contents, Expression, FactKind, FilterField, Group, Leaf, Operator, ProfileFilter, Rule, RuleName,
    Test, TestOperand,
};
use crate::text::{Text, joined};
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::problem::Problem;
use crate::wire::scope::read_scope;
use condition::read_conditions;

/// The maximum nesting of rules.
const DEEPEST: u32 = 8;

/// The maximum number of tests in a rule, or inside one test; values of a test do not count.
pub const TESTS_MAX: usize = 1_000;

/// The message for too many tests.
const TOO_MANY: &str = "must NOT have more than 1000 rules";

/// The message for too deep nesting.
const TOO_DEEP: &str = "nests deeper than 8 rules";

/// Reads a validation rule from its document.
pub fn read_rule(at: &JsonCursor<'_>) -> Rule {
    at.object();
    let tests = match at.get("rules") {
        Some(rules) => read_group(&rules, 0),
        None => Group::default(),
    };
    let id = at.option("id", read::text).unwrap_or_default();
    let mut rule = Rule {
        needs: tests.needs(),
        tests: Arc::new(tests),
        message: read_message(at),
        scope: at.option("applicable_to", read_scope).unwrap_or_default(),
        bundle: at.option("bundle_rules", read_bundle_rules).flatten(),
        own_collections: Vec::new(),
        id,
    };
    add_scopes(&mut rule);
    rule.record_collections();
    rule
}

/// Reads the assignment of a rule.
pub fn read_assignment(at: &JsonCursor<'_>) -> Assignment {
    at.object();
    Assignment {
        id: at.option("id", read::name).unwrap_or_default(),
        related_object_id: at.need("related_object_id", read::name),
        related_object_type: at.option("related_object_type", read::text).unwrap_or_default(),
        rule_id: at.need("rule_id", read::name),
    }
}

/// Returns the custom message of a rule or test.
fn read_message(at: &JsonCursor<'_>) -> Option<String> {
    let message = at.option("error", |error| {
        error.object();
        error.option("message", read::string)
    });
    message.flatten()
}

/// Reads numbered tests and their logic.
fn read_group(at: &JsonCursor<'_>, depth: u32) -> Group {
    if depth > DEEPEST {
        at.problem(TOO_DEEP);
        return Group::default();
    }
    let mut leaves = Vec::new();
    for (key, leaf) in at.members().filter(|(key, _)| *key != "logic") {
        if let Some(leaf) = read_leaf(key, &leaf, depth) {
            leaves.push(leaf);
        }
    }
    if leaves.len() > TESTS_MAX {
        at.problem(TOO_MANY);
        return Group::default();
    }
    let leaves = numbered(leaves, |leaf| &leaf.key);
    let keys: Vec<Text> = leaves.iter().map(|leaf| leaf.key.clone()).collect();
    let logic_text = at.get("logic");
    let logic = Expression::parse(logic_text.as_ref().map_or("", JsonCursor::str), &keys).unwrap_or_else(|error| {
        logic_text.as_ref().unwrap_or(at).wrong(&error.text());
        Expression::default()
    });
    Group::new(leaves, logic)
}

/// Sorts by keys, which are mostly numbers: "10" comes after "9".
fn numbered<T>(mut items: Vec<T>, key: fn(&T) -> &Text) -> Vec<T> {
    items.sort_by_cached_key(|item| key(item).parse().unwrap_or(u64::MAX));
    items
}

/// Reads a test; `None` for an unknown name.
#[inline(never)]
fn read_leaf(key: &str, at: &JsonCursor<'_>, depth: u32) -> Option<Leaf> {
    at.object();
    let name = at.need("name", |name| {
        let find = if name.is_compiled() { RuleName::find_in_bundle } else { RuleName::find };
        let known = find(name.str());
        if known.is_none() {
            name.wrong("is not the name of a rule");
        }
        known
    })?;
    let property = at.option("property", read::text).filter(|property| !property.is_empty());
    if name.values == Values::Property && property.is_none() {
        at.problem(&format!("Rule '{}' must have a 'property'", name.text));
    }
    let conditions = match at.get("conditions") {
        Some(conditions) => read_conditions(&conditions, name.values),
        None => Vec::new(),
    };
    if let Some(wrong) = conditions.iter().find(|condition| !name.operators.allow(condition.operator)) {
        let path = format!("{}.conditions.{}", at.path(), wrong.operator.name());
        at.report(Problem::at(path, format!("is not an operator of the rule `{}`", name.text)));
    }
    let mut rules = None;
    if let Some(inner) = at.get("rules")
        && inner.members().next().is_some()
    {
        // The depth is checked before it grows.
        let group = read_group(&inner, depth.saturating_add(1));
        if !group.leaves.is_empty() {
            rules = Some(group);
        }
    }
    let test = Test::new(name, property, conditions, rules);
    Some(Leaf { key: Text::from(key), test, message: read_message(at) })
}

/// Adds scopes from tests of an older format to the scope of the rule (docs/spec/validation-rules.md section 4.4).
/// `true` includes the matches of the surrounding test, `false` excludes them [inferred].
fn add_scopes(rule: &mut Rule) {
    let Rule { id, tests, scope, own_collections, .. } = rule;
    tests.each_leaf(&mut |leaf| {
        let inner = leaf.test.rules.iter().flat_map(|rules| &rules.leaves).map(|inner| &inner.test);
        for marker in inner.filter(|inner| inner.name.kind == FactKind::Scopes) {
            let included = marker.requires_true();
            match leaf.test.name.kind {
                FactKind::Goods(_) => {
                    let named = leaf.test.conditions.iter().filter(|condition| condition.operator == Operator::In);
                    named.flat_map(|condition| &condition.goods).for_each(|goods| scope.add(goods.clone(), included));
                }
                FactKind::GoodsData => {
                    // The goods with this metadata, as a collection of the rule's own.
                    let Some(property) = leaf.test.property.clone() else { continue };
                    let fields = vec![(FilterField::Metadata(property), leaf.test.conditions.clone())];
                    let name = joined(&[id, ".", &leaf.key]);
                    let goods = Contents::Passing(ProfileFilter { any: false, fields });
                    scope.add(GoodsRef::new(GoodsObject::Collection, name.clone(), None), included);
                    own_collections.push(Collection { id: name, goods });
                }
                FactKind::GoodsSet => {
                    let others = OtherGoods::ByProperty(leaf.test.holds_without_data());
                    let set = GoodsSet { number: leaf.test.set_number(), others, steps: 1 };
                    let name = joined(&[id, ".", &leaf.key]);
                    scope.add(GoodsRef::new(GoodsObject::Collection, name.clone(), None), included);
                    own_collections.push(Collection { id: name, goods: Contents::Numbered(set) });
                }
                _ => {}
            }
        }
    });
}

/// Reads the definition of product bundles (docs/spec/calculation.md#8); `None` without entries. All entries are
/// required, so their logic is ignored.
pub fn read_bundle_rules(at: &JsonCursor<'_>) -> Option<BundleRules> {
    let mut entries: Vec<(Text, BundleEntry)> = Vec::new();
    for (key, entry) in at.members().filter(|(key, _)| *key != "limit" && *key != "logic") {
        entry.need("name", |name| name.one_of(&[("order.items.any", ())]));
        let Some(leaf) = read_leaf(key, &entry, DEEPEST - 1) else { continue };
        let Some(quantity) = units_of(&leaf.test) else {
            entry.problem("must ask for a whole number of units from 1");
            continue;
        };
        let mut goods = Vec::new();
        for condition in leaf.test.conditions.iter() {
            goods.extend(condition.goods.iter().cloned());
        }
        if goods.is_empty() {
            entry.problem("must name a product, a SKU or a collection");
        }
        entries.push((leaf.key, BundleEntry { goods, quantity }));
    }
    let limit = match at.node.get("limit") {
        None => 1,
        Some(Node::Null) => BUNDLES_MAX,
        Some(_) => at.need("limit", |limit| {
            let read = limit.number().filter(|read| (1..=BUNDLES_MAX).contains(read));
            limit.or_wrong(read, "must be an integer from 1 to 100")
        }),
    };
    let mut sorted = Vec::new();
    for (_, entry) in numbered(entries, |(key, _)| key) {
        sorted.push(entry);
    }
    (!sorted.is_empty()).then_some(BundleRules { entries: sorted, limit })
}

/// Returns the units that a part of a bundle requires, 1 by default; `None` if that is no count.
fn units_of(test: &Test) -> Option<u64> {
    for inner in test.rules.iter().flat_map(|rules| &rules.leaves) {
        if inner.test.name.text == "order.items.aggregated_quantity" {
            for condition in inner.test.conditions.iter() {
                match condition.operands.first() {
                    None => {}
                    Some(TestOperand::Number(number)) => {
                        let units = number.as_integer().and_then(|number| u64::try_from(number).ok());
                        return units.filter(|units| *units > 0);
                    }
                    Some(_) => return None,
                }
            }
        }
    }
    Some(1)
}
