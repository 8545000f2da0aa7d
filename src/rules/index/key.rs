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
    add(&mut key, test).then_some(key)
}

fn add(key: &mut String, test: &Test) -> bool {
    add_part(key, test.name.text);
    add_part(key, test.property.as_deref().unwrap_or_default());
    if !test.conditions.iter().all(|condition| add_condition(key, condition)) {
        return false;
    }
    let Some(rules) = &test.rules else { return true };
    add_logic(key, &rules.logic);
    rules.leaves.iter().all(|leaf| add(key, &leaf.test))
}

fn add_condition(key: &mut String, condition: &Condition) -> bool {
    add_part(key, condition.operator.name());
    let mut operands: Vec<Text> = Vec::new();
    for operand in &condition.operands {
        let kind = match operand {
            TestOperand::Text(_) => "t",
            TestOperand::Number(_) => "n",
            TestOperand::Flag(_) => "f",
            TestOperand::Time(_) => "m",
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
    operands.iter().for_each(|operand| add_part(key, operand));
    for goods in &condition.goods {
        add_part(key, goods.object.name());
        add_part(key, &goods.id);
        add_part(key, goods.source_id.as_deref().unwrap_or_default());
    }
    true
}

/// Adds a text with its length, so that its end is unambiguous.
fn add_part(key: &mut String, text: &str) {
    key.push_str(&text.len().to_string());
    key.push(':');
    key.push_str(text);
}

fn add_logic(key: &mut String, logic: &Expression) {
    let (junction, parts) = match logic {
        Expression::Leaf(position) => return add_part(key, &position.to_string()),
        Expression::All(parts) => ("and", parts),
        Expression::Any(parts) => ("or", parts),
    };
    add_part(key, junction);
    add_part(key, &parts.len().to_string());
    parts.iter().for_each(|one| add_logic(key, one));
}
