//! Decides how validation rules are read from their documents. It must not know whether they hold.
//!
//! validation-rules.md sections 1 to 5. Rule names and operators that this version does not know are refused, naming
//! them: a rule that is passed over would give money away.

use crate::model::scope::GoodsRef;
use crate::money::Money;
use crate::rank::{arranged, ranked};
use crate::rules::{Condition, Expression, Leaf, Operand, Operator, Rule, Test};
use crate::text::Text;
use crate::wire::at::{At, read};
use crate::wire::node::Node;
use crate::wire::offer::{read_bundle_rules, read_scope};
use crate::wire::problem::Problem;
use crate::wire::scope::read_goods_ref;

/// The rule names of this version.
const NAMES: &str =
    "order.amount, order.initial_amount, customer.metadata, order.items.any, order.items.every, order.items.none";

/// Reads a validation rule from its document.
pub fn read_rule(at: &At<'_>) -> Result<Rule, Problem> {
    at.object()?;
    let empty = Node::Object(Vec::new());
    let numbered = at.get("rules").unwrap_or_else(|| At::whole(&empty));
    let mut leaves = Vec::new();
    for (key, leaf) in numbered.members()?.filter(|(key, _)| *key != "logic") {
        leaves.push(read_leaf(Text::from(key), &leaf)?);
    }
    // Keys are mostly numbers, and "10" comes after "9".
    let places = ranked(leaves.iter().map(|leaf| leaf.key.parse().unwrap_or(u64::MAX)));
    let leaves = arranged(leaves, &places);
    let keys: Vec<Text> = leaves.iter().map(|leaf| leaf.key.clone()).collect();
    let logic = match numbered.get("logic") {
        Some(logic) => Expression::parse(logic.str()?, &keys).map_err(|error| logic.wrong(&error.to_string()))?,
        None => Expression::parse("", &keys).map_err(|error| numbered.wrong(&error.to_string()))?,
    };
    Ok(Rule {
        id: at.option("id", read::text)?.unwrap_or_default(),
        leaves,
        logic,
        message: read_message(at)?,
        scope: at.option("applicable_to", read_scope)?.unwrap_or_default(),
        bundle: at.option("bundle_rules", read_bundle_rules)?.flatten(),
    })
}

/// The text that the rule's author wrote for a failure.
fn read_message(at: &At<'_>) -> Result<Option<String>, Problem> {
    let message = at.option("error", |error| {
        error.object()?;
        error.option("message", read::string)
    })?;
    Ok(message.flatten())
}

fn read_leaf(key: Text, at: &At<'_>) -> Result<Leaf, Problem> {
    at.object()?;
    if let Some(nested) = at.get("rules")
        && nested.members()?.any(|(key, _)| key != "logic")
    {
        return Err(nested.problem("nested rules are not supported by this version"));
    }
    let empty = Node::Object(Vec::new());
    let conditions = at.get("conditions").unwrap_or_else(|| At::whole(&empty));
    let test = match at.need("name", read::text)?.as_str() {
        "order.amount" => Test::OrderAmount(read_conditions(&conditions, read_amount)?),
        "order.initial_amount" => Test::OrderInitialAmount(read_conditions(&conditions, read_amount)?),
        "customer.metadata" => {
            let property = at.need("property", read::text)?;
            Test::CustomerMetadata(property, read_conditions(&conditions, read_operand)?)
        }
        "order.items.any" => Test::AnyItem(read_wanted(&conditions)?),
        "order.items.every" => Test::EveryItem(read_wanted(&conditions)?),
        "order.items.none" => Test::NoItem(read_wanted(&conditions)?),
        _ => return at.need("name", |name| Err(name.wrong(&format!("must be one of {NAMES}")))),
    };
    Ok(Leaf { key, test, message: read_message(at)? })
}

/// Reads each operator's values: an array, or a bare value that stands for an array of one.
fn read_conditions<T>(at: &At<'_>, read: fn(&At<'_>) -> Result<T, Problem>) -> Result<Vec<Condition<T>>, Problem> {
    let mut conditions = Vec::new();
    for (name, values) in at.members()? {
        let operator = Operator::parse(name).ok_or_else(|| values.problem("is not an operator of this version"))?;
        let operands = match values.node {
            Node::List(_) => values.all(read)?,
            _ => vec![read(&values)?],
        };
        if operands.is_empty() {
            return Err(values.problem("must NOT have fewer than 1 items"));
        }
        conditions.push(Condition { operator, operands });
    }
    Ok(conditions)
}

/// An amount of a rule; older ones hold it as a text.
fn read_amount(at: &At<'_>) -> Result<Money, Problem> {
    at.quantity().map(|minor| Money::from_wide(u128::from(minor)).unwrap_or_default())
}

fn read_operand(at: &At<'_>) -> Result<Operand, Problem> {
    match at.node {
        Node::Text(text) => Ok(Operand::Text(Text::from(text.as_ref()))),
        Node::Whole(number) => Ok(Operand::Number(*number)),
        Node::Flag(flag) => Ok(Operand::Flag(*flag)),
        _ => Err(at.wrong("must be a string, an integer or a boolean")),
    }
}

fn read_wanted(at: &At<'_>) -> Result<Vec<GoodsRef>, Problem> {
    let conditions = read_conditions(at, read_goods_ref)?;
    if conditions.iter().any(|condition| condition.operator != Operator::In) {
        return Err(at.problem("must use `$is` or `$in`"));
    }
    Ok(conditions.into_iter().flat_map(|condition| condition.operands).collect())
}
