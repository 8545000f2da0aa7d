//! Identifies equal tests by a key.

use std::collections::BTreeSet;

use crate::rules::compare::Condition;
use crate::rules::logic::Expression;
use crate::rules::operand::TestOperand;
use crate::rules::operator::Operator;
use crate::rules::rule::Test;
use crate::text::{Text, joined};

/// Returns the key of a test, a text of everything that it compares; `None` for one with a window, which has no key.
pub(super) fn key(test: &Test) -> Option<String> {
    let mut key = String::new();
    put(&mut key, test).then_some(key)
}

fn put(key: &mut String, test: &Test) -> bool {
    part(key, test.name.text);
    part(key, test.property.as_deref().unwrap_or_default());
    if !test.conditions.iter().all(|condition| put_condition(key, condition)) {
        return false;
    }
    let Some(rules) = &test.rules else { return true };
    put_logic(key, &rules.logic);
    rules.leaves.iter().all(|leaf| put(key, &leaf.test))
}

fn put_condition(key: &mut String, condition: &Condition) -> bool {
    part(key, condition.operator.name());
    let mut operands: Vec<Text> = Vec::new();
    for operand in &condition.operands {
        let kind = match operand {
            TestOperand::Text(_) => "t",
            TestOperand::Number(_) => "n",
            TestOperand::Flag(_) => "f",
            TestOperand::Moment(_) => "m",
            TestOperand::Window(_) => return false,
        };
        operands.push(joined(&[kind, &operand.text()]));
    }
    // Their order does not matter.
    if matches!(condition.operator, Operator::In | Operator::NotIn) {
        let mut each_once = BTreeSet::new();
        each_once.extend(operands);
        operands = each_once.into_iter().collect();
    }
    operands.iter().for_each(|operand| part(key, operand));
    for goods in &condition.goods {
        part(key, goods.object.name());
        part(key, &goods.id);
        part(key, goods.source_id.as_deref().unwrap_or_default());
    }
    true
}

/// Adds a text with its length, so that its end is unambiguous.
fn part(key: &mut String, text: &str) {
    key.push_str(&text.len().to_string());
    key.push(':');
    key.push_str(text);
}

fn put_logic(key: &mut String, logic: &Expression) {
    let (word, parts) = match logic {
        Expression::Leaf(place) => return part(key, &place.to_string()),
        Expression::All(parts) => ("and", parts),
        Expression::Any(parts) => ("or", parts),
    };
    part(key, word);
    part(key, &parts.len().to_string());
    parts.iter().for_each(|one| put_logic(key, one));
}
