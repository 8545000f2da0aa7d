//! Decides whether a rule holds in a scene, and which test failed when it does not. It must not know how a rule was
//! written, and it reads nothing but the scene.

use std::cmp::Ordering;

use crate::json::Node;
use crate::model::order::Metadata;
use crate::model::scope::{GoodsObject, GoodsRef};
use crate::money::Money;
use crate::rules::ast::{Condition, Leaf, Operand, Operator, Rule, Test};

/// What a rule can look at while one redeemable is checked.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    /// The customer's metadata; `None` when there is no customer.
    pub customer: Option<&'a Metadata>,
    /// What is left of the order amount.
    pub amount: Option<Money>,
    /// The order amount before any discount.
    pub initial_amount: Option<Money>,
    /// The lines; `None` when there is no order.
    pub items: Option<&'a [SceneItem<'a>]>,
}

/// A line as a rule sees it.
#[derive(Debug, Clone, Copy)]
pub struct SceneItem<'a> {
    /// The product, by id.
    pub product_id: Option<&'a str>,
    /// The product, by the caller's identifier.
    pub product_source_id: Option<&'a str>,
    /// The SKU, by id.
    pub sku_id: Option<&'a str>,
    /// The SKU, by the caller's identifier.
    pub sku_source_id: Option<&'a str>,
}

impl SceneItem<'_> {
    /// Whether the line is this product or SKU. A product is also each of its SKUs.
    pub fn is(&self, goods: &GoodsRef) -> bool {
        let (id, source_id) = match goods.object {
            GoodsObject::Product => (self.product_id, self.product_source_id),
            GoodsObject::Sku => (self.sku_id, self.sku_source_id),
        };
        let named = |found: Option<&str>, wanted: &str| found == Some(wanted);
        named(id, &goods.id)
            || named(source_id, &goods.id)
            || goods.source_id.as_deref().is_some_and(|wanted| named(source_id, wanted))
    }
}

/// A rule that does not hold, and the first test in key order that makes it so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failure<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The test; a rule whose tests all hold apart but not together has none.
    pub leaf: Option<&'a Leaf>,
}

impl Failure<'_> {
    /// The text that the rule's author wrote for this.
    pub fn message(&self) -> Option<&str> {
        let own = self.leaf.and_then(|leaf| leaf.message.as_deref());
        own.or(self.rule.message.as_deref())
    }
}

impl Rule {
    /// Whether the rule holds; otherwise what failed.
    pub fn check(&self, scene: &Scene<'_>) -> Result<(), Failure<'_>> {
        let mut test = |place: usize| self.leaves.get(place).is_some_and(|leaf| leaf.test.holds(scene));
        if self.logic.holds(&mut test) {
            return Ok(());
        }
        let leaf = self.leaves.iter().find(|leaf| !leaf.test.holds(scene));
        Err(Failure { rule: self, leaf })
    }
}

impl Test {
    /// Whether the test holds.
    pub fn holds(&self, scene: &Scene<'_>) -> bool {
        let items = scene.items.unwrap_or(&[]);
        let one_of = |wanted: &[GoodsRef], item: &SceneItem<'_>| wanted.iter().any(|goods| item.is(goods));
        match self {
            Test::OrderAmount(conditions) => compare_amount(scene.amount, conditions),
            Test::OrderInitialAmount(conditions) => compare_amount(scene.initial_amount, conditions),
            Test::CustomerMetadata(property, conditions) => {
                let found = scene.customer.and_then(|metadata| metadata.find_dotted(property));
                conditions.iter().all(|condition| compare_value(found, condition))
            }
            Test::AnyItem(wanted) => items.iter().any(|item| one_of(wanted, item)),
            Test::EveryItem(wanted) => !items.is_empty() && items.iter().all(|item| one_of(wanted, item)),
            Test::NoItem(wanted) => !items.iter().any(|item| one_of(wanted, item)),
        }
    }
}

fn compare_amount(found: Option<Money>, conditions: &[Condition<Money>]) -> bool {
    let Some(found) = found else { return false };
    conditions.iter().all(|condition| {
        let wanted = &condition.operands;
        let order = wanted.first().map(|first| found.cmp(first));
        holds_between(condition.operator, order, wanted.contains(&found))
    })
}

fn holds_between(operator: Operator, order: Option<Ordering>, contained: bool) -> bool {
    match operator {
        Operator::In => contained,
        Operator::NotIn => !contained,
        Operator::LessThan => order == Some(Ordering::Less),
        Operator::LessThanOrEqual => order.is_some_and(Ordering::is_le),
        Operator::MoreThan => order == Some(Ordering::Greater),
        Operator::MoreThanOrEqual => order.is_some_and(Ordering::is_ge),
    }
}

/// Compares a metadata value. A missing one satisfies only negative operators; of an array any element may match.
fn compare_value(found: Option<&Node<'_>>, condition: &Condition<Operand>) -> bool {
    let elements = match found {
        None | Some(Node::Null) => return condition.operator == Operator::NotIn,
        Some(Node::List(elements)) => elements.as_slice(),
        Some(single) => std::slice::from_ref(single),
    };
    let matches = |element: &Node<'_>| {
        let contained = condition.operands.iter().any(|wanted| compare(element, wanted).is_some_and(Ordering::is_eq));
        let order = condition.operands.first().and_then(|wanted| match wanted {
            Operand::Flag(_) => None,
            _ => compare(element, wanted),
        });
        holds_between(condition.operator, order, contained)
    };
    if condition.operator == Operator::NotIn { elements.iter().all(matches) } else { elements.iter().any(matches) }
}

/// How a found value stands to a wanted one; nothing when they are of different kinds.
fn compare(found: &Node<'_>, wanted: &Operand) -> Option<Ordering> {
    let number = |value: &Node<'_>| value.as_i64().or_else(|| value.as_str().and_then(|text| text.parse().ok()));
    match wanted {
        Operand::Text(text) => match found.as_str() {
            Some(found) => Some(found.cmp(text.as_str())),
            None => Some(found.as_i64()?.cmp(&text.parse().ok()?)),
        },
        Operand::Number(wanted) => Some(number(found)?.cmp(wanted)),
        Operand::Flag(wanted) => Some(found.as_bool()?.cmp(wanted)),
    }
}
