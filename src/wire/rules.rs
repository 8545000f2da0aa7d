//! Decides how validation rules are read from their documents. It must not know whether they hold.
//!
//! validation-rules.md sections 1 to 5. Rule names and operators that this version does not know are refused, naming
//! them: a rule that is passed over would give money away.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::order::Metadata;
use crate::model::scope::{GoodsObject, GoodsRef, Scope};
use crate::money::Money;
use crate::rules::{Condition, Expression, Leaf, Operand, Operator, Rule, Test};
use crate::text::Text;
use crate::wire::problem::{Problem, read};
use crate::wire::request::or_default;

/// The rule names of this version.
const NAMES: &str =
    "order.amount, order.initial_amount, customer.metadata, order.items.any, order.items.every, order.items.none";

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RuleBody {
    id: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    rules: BTreeMap<Text, Value>,
    error: Option<MessageBody>,
    applicable_to: Option<ScopeBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MessageBody {
    message: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct LeafBody {
    name: String,
    property: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    conditions: Metadata,
    #[serde(default, deserialize_with = "or_default")]
    rules: Metadata,
    error: Option<MessageBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct ScopeBody {
    #[serde(default, deserialize_with = "or_default")]
    included_all: bool,
    #[serde(default, deserialize_with = "or_default")]
    included: Vec<GoodsBody>,
    #[serde(default, deserialize_with = "or_default")]
    excluded: Vec<GoodsBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct GoodsBody {
    object: GoodsObject,
    id: Text,
    source_id: Option<Text>,
    effect: Option<EntryEffect>,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum EntryEffect {
    ApplyToEvery,
}

impl GoodsBody {
    fn into_model(self) -> GoodsRef {
        // Every entry of this version applies to every unit; reading refuses the other effects.
        let _: Option<EntryEffect> = self.effect;
        GoodsRef { object: self.object, id: self.id, source_id: self.source_id }
    }
}

/// Reads a validation rule from its document.
pub fn read_rule(document: &[u8]) -> Result<Rule, Problem> {
    let body: RuleBody = read(document)?;
    let logic = match body.rules.get("logic") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(logic)) => logic.clone(),
        Some(other) => return Err(Problem::bound("rules.logic", "must be a string", other)),
    };
    let mut numbered: Vec<(Text, Value)> = body.rules.into_iter().filter(|(key, _)| key != "logic").collect();
    // Keys are mostly numbers, and "10" comes after "9".
    numbered.sort_by_key(|(key, _)| (key.parse::<u64>().unwrap_or(u64::MAX), key.clone()));
    let mut leaves = Vec::with_capacity(numbered.len());
    for (key, value) in numbered {
        let path = format!("rules.{key}");
        leaves.push(read_leaf(key, value).map_err(|problem| problem.within(&path))?);
    }
    let keys: Vec<Text> = leaves.iter().map(|leaf: &Leaf| leaf.key.clone()).collect();
    let logic = Expression::parse(&logic, &keys).map_err(|error| Problem::bound("rules.logic", error, &logic))?;
    Ok(Rule {
        id: body.id.unwrap_or_default(),
        leaves,
        logic,
        message: body.error.and_then(|error| error.message),
        scope: body.applicable_to.map(ScopeBody::into_model).unwrap_or_default(),
    })
}

impl ScopeBody {
    fn into_model(self) -> Scope {
        let list = |entries: Vec<GoodsBody>| entries.into_iter().map(GoodsBody::into_model).collect();
        Scope { included_all: self.included_all, included: list(self.included), excluded: list(self.excluded) }
    }
}

fn read_leaf(key: Text, value: Value) -> Result<Leaf, Problem> {
    let body: LeafBody = crate::wire::problem::read_value(value)?;
    if body.rules.keys().any(|key| key != "logic") {
        return Err(Problem::at("rules", "nested rules are not supported by this version"));
    }
    let conditions = &body.conditions;
    let test = match body.name.as_str() {
        "order.amount" => Test::OrderAmount(amounts(conditions)?),
        "order.initial_amount" => Test::OrderInitialAmount(amounts(conditions)?),
        "customer.metadata" => {
            let property = body.property.filter(|property| !property.is_empty());
            let property = property.ok_or_else(|| Problem::missing("", "property"))?;
            Test::CustomerMetadata(property, operands(conditions)?)
        }
        "order.items.any" => Test::AnyItem(goods(conditions)?),
        "order.items.every" => Test::EveryItem(goods(conditions)?),
        "order.items.none" => Test::NoItem(goods(conditions)?),
        other => return Err(Problem::bound("name", format!("must be one of {NAMES}"), other)),
    };
    let message = body.error.and_then(|error| error.message);
    Ok(Leaf { key, test, message })
}

/// Reads each operator's values: an array, or a bare value that stands for an array of one.
fn conditions<T>(
    conditions: &Metadata,
    element: impl Fn(&Value) -> Option<T>,
    wanted: &str,
) -> Result<Vec<Condition<T>>, Problem> {
    let mut read = Vec::with_capacity(conditions.len());
    for (name, value) in conditions {
        let path = format!("conditions.{name}");
        let operator =
            Operator::parse(name).ok_or_else(|| Problem::at(path.clone(), "is not an operator of this version"))?;
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        if values.is_empty() {
            return Err(Problem::at(path, "must NOT have fewer than 1 items"));
        }
        let mut operands = Vec::with_capacity(values.len());
        for (place, value) in values.iter().enumerate() {
            let operand = element(value)
                .ok_or_else(|| Problem::bound(format!("{path}[{place}]"), format!("must be {wanted}"), value))?;
            operands.push(operand);
        }
        read.push(Condition { operator, operands });
    }
    Ok(read)
}

fn amounts(given: &Metadata) -> Result<Vec<Condition<Money>>, Problem> {
    let amount = |value: &Value| {
        let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
        number.and_then(Money::new)
    };
    conditions(given, amount, "an integer of minor units, at least 0")
}

fn operands(given: &Metadata) -> Result<Vec<Condition<Operand>>, Problem> {
    let operand = |value: &Value| match value {
        Value::String(text) => Some(Operand::Text(Text::from(text.as_str()))),
        Value::Number(number) => number.as_i64().map(Operand::Number),
        Value::Bool(flag) => Some(Operand::Flag(*flag)),
        _ => None,
    };
    conditions(given, operand, "a string, an integer or a boolean")
}

fn goods(given: &Metadata) -> Result<Vec<GoodsRef>, Problem> {
    let one = |value: &Value| {
        let body: GoodsBody = serde_json::from_value(value.clone()).ok()?;
        Some(body.into_model())
    };
    let read = conditions(given, one, "a product or sku with object and id")?;
    if let Some(other) = read.iter().find(|condition| condition.operator != Operator::In) {
        return Err(Problem::bound("conditions", "must use `$is` or `$in`", other.operator));
    }
    Ok(read.into_iter().flat_map(|condition| condition.operands).collect())
}
