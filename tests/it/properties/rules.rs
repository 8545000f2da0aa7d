//! Tests rules against slow and simple second models: the logic, comparisons, days, and the findings of the lint.

use proptest::prelude::*;
use scrip::json::Node;
use scrip::rules::{Clock, Condition, Expression, FoundValue, Number, Operator, OrderLines, TestOperand, lint};
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::document::read_document;
use scrip::wire::rules::read_rule;

use crate::properties::holds;
use crate::properties::rule_input::{check, clock};

fn keys(count: usize) -> Vec<Text> {
    (1..=count).map(|key| Text::from(key.to_string())).collect()
}

/// Generates expressions that a logic string can express: `and` and `or` have at least two operands.
fn expression() -> impl Strategy<Value = Expression> {
    let leaf = (0..6_usize).prop_map(Expression::Leaf);
    leaf.prop_recursive(5, 40, 4, |inner| {
        let parts = proptest::collection::vec(inner, 2..4);
        prop_oneof![parts.clone().prop_map(Expression::All), parts.prop_map(Expression::Any)]
    })
}

fn expected_truth(expression: &Expression, truths: &[bool]) -> bool {
    match expression {
        Expression::Leaf(position) => truths[*position],
        Expression::All(parts) => parts.iter().filter(|part| !expected_truth(part, truths)).count() == 0,
        Expression::Any(parts) => parts.iter().filter(|part| expected_truth(part, truths)).count() > 0,
    }
}

/// Exchanges and and or.
fn turned(expression: &Expression) -> Expression {
    match expression {
        Expression::Leaf(position) => Expression::Leaf(*position),
        Expression::All(parts) => Expression::Any(parts.iter().map(turned).collect()),
        Expression::Any(parts) => Expression::All(parts.iter().map(turned).collect()),
    }
}

fn truths() -> impl Strategy<Value = Vec<bool>> {
    proptest::collection::vec(any::<bool>(), 6)
}

#[test]
fn a_printed_logic_reads_back_equal() {
    holds(2_000, (expression(), any::<bool>()), |(expression, upper)| {
        let mut printed = expression.print(&keys(6));
        if upper {
            printed = printed.to_uppercase();
        }
        prop_assert_eq!(Expression::parse(&printed, &keys(6)), Ok(expression), "{}", printed);
        Ok(())
    });
}

#[test]
fn a_logic_equals_its_truth_table() {
    holds(4_000, (expression(), truths()), |(expression, truths)| {
        let found = expression.holds(&mut |position| truths[position]);
        prop_assert_eq!(found, expected_truth(&expression, &truths));
        // Not (a and b) is (not a) or (not b).
        let turned = turned(&expression);
        prop_assert_eq!(turned.holds(&mut |position| !truths[position]), !found);
        Ok(())
    });
}

#[test]
fn the_deciding_test_fails_and_its_kind_decides() {
    holds(4_000, (expression(), truths()), |(expression, truths)| {
        let first_failing = expression.first_failing(&mut |position| truths[position]);
        prop_assert_eq!(first_failing.is_none(), expected_truth(&expression, &truths));
        if let Some(first_failing) = first_failing {
            prop_assert!(!truths[first_failing] && expression.references(first_failing));
            // If every failing test before it had passed, the expression would still be false: none of them decided.
            let mut better = truths.clone();
            better[..first_failing].fill(true);
            prop_assert!(!expected_truth(&expression, &better));
        }
        Ok(())
    });
}

#[test]
fn any_text_is_a_logic_or_is_refused() {
    holds(4_000, "[0-9() andorANDOR]{0,40}", |text| {
        if let Ok(expression) = Expression::parse(&text, &keys(9)) {
            let printed = expression.print(&keys(9));
            let again = Expression::parse(&printed, &keys(9));
            // An empty logic joins every test.
            prop_assert!(text.trim().is_empty() || again == Ok(expression), "{:?} {:?}", text, printed);
        }
        Ok(())
    });
}

const BASE: &[Operator] =
    &[Operator::In, Operator::NotIn, Operator::Less, Operator::AtMost, Operator::More, Operator::AtLeast];

fn condition(operator: Operator, operands: Vec<TestOperand>) -> Condition {
    Condition { operator, operands: operands.into(), goods: Vec::new() }
}

/// Compares with integers only.
fn compares(operator: Operator, found: i64, expected: &[i64]) -> bool {
    match operator {
        Operator::In => expected.contains(&found),
        Operator::NotIn => !expected.contains(&found),
        Operator::Less => found < expected[0],
        Operator::AtMost => found <= expected[0],
        Operator::More => found > expected[0],
        _ => found >= expected[0],
    }
}

#[test]
fn numbers_compare_as_integers() {
    let inputs = (
        0..BASE.len(),
        -5..5_i64,
        proptest::collection::vec(-5..5_i64, 1..4),
        proptest::collection::vec(-5..5_i64, 0..4),
    );
    holds(4_000, inputs, |(operator, found, values, list)| {
        let (zone, operator) = (TimeZone::default(), BASE[operator]);
        let operands = |as_text: bool| {
            let operand = |number: &i64| match as_text {
                true => TestOperand::Text(Text::from(number.to_string())),
                false => TestOperand::Number(Number::integer(*number)),
            };
            condition(operator, values.iter().map(operand).collect())
        };
        let expected = compares(operator, found, &values);
        let (number, text) = (Node::Integer(found), Node::Text(found.to_string().into()));
        for (value, as_text) in [(&number, false), (&text, false), (&number, true)] {
            let found = operands(as_text).holds(FoundValue::value(Some(value)), &clock(&zone));
            prop_assert_eq!(found, expected, "{:?} {:?} {:?}", operator, value, values);
        }
        // For a list any element suffices; for a negative operator every element must match.
        let node = Node::List(list.iter().copied().map(Node::Integer).collect());
        let each = |element: &i64| compares(operator, *element, &values);
        let expected = if operator == Operator::NotIn { list.iter().all(each) } else { list.iter().any(each) };
        prop_assert_eq!(operands(false).holds(FoundValue::value(Some(&node)), &clock(&zone)), expected);
        Ok(())
    });
}

#[test]
fn a_negated_operator_is_the_opposite() {
    let texts = proptest::collection::vec("[abc]{0,2}", 0..4);
    holds(4_000, (texts.clone(), texts, any::<bool>()), |(found, expected, missing)| {
        let zone = TimeZone::default();
        let node = Node::List(found.iter().map(|text| Node::Text(text.clone().into())).collect());
        let found = if missing { FoundValue::Missing } else { FoundValue::value(Some(&node)) };
        let operands: Vec<TestOperand> =
            expected.iter().map(|text| TestOperand::Text(Text::from(text.as_str()))).collect();
        for (one, opposite) in [(Operator::In, Operator::NotIn), (Operator::Contains, Operator::NotContain)] {
            let holds_with = |operator| condition(operator, operands.clone()).holds(found, &clock(&zone));
            prop_assert_ne!(holds_with(one), holds_with(opposite), "{:?}", one);
        }
        let known = condition(Operator::HasValue, Vec::new()).holds(found, &clock(&zone));
        prop_assert_ne!(known, condition(Operator::IsUnknown, Vec::new()).holds(found, &clock(&zone)));
        Ok(())
    });
}

/// Returns values that are equal to one another in more ways than one.
fn value() -> impl Strategy<Value = Node<'static>> {
    let text = |text: &'static str| Just(Node::Text(text.into()));
    prop_oneof![
        (-3..9_i64).prop_map(Node::Integer),
        (-3..9_i64).prop_map(|number| Node::Text(number.to_string().into())),
        any::<bool>().prop_map(Node::Flag),
        Just(Node::Fraction("1.5".into())),
        Just(Node::Null),
        Just(Node::List(vec![Node::Integer(1)])),
        text("1.50"),
        text("A"),
        text("a"),
        text("2026-03-29"),
        text("2026-03-29T00:30:00Z"),
        text("true"),
    ]
}

fn operand(value: &Node<'_>) -> Option<TestOperand> {
    Some(match value {
        Node::Text(text) => TestOperand::Text(Text::from(text.as_ref())),
        Node::Flag(flag) => TestOperand::Flag(*flag),
        Node::Integer(number) => TestOperand::Number(Number::integer(*number)),
        Node::Fraction(text) => TestOperand::Number(Number::parse(text)?),
        Node::Null | Node::List(_) | Node::Object(_) => return None,
    })
}

#[test]
fn large_and_small_lists_match_equally() {
    let values = || proptest::collection::vec(value(), 0..60);
    holds(2_000, (values(), values()), |(found, expected)| {
        let (zone, operands) = (TimeZone::default(), expected.iter().filter_map(operand).collect::<Vec<TestOperand>>());
        let clock = clock(&zone);
        // A single operand is compared without a lookup.
        let is_one = |value: &Node<'static>| {
            let one = |expected: &TestOperand| {
                condition(Operator::In, vec![expected.clone()]).holds(FoundValue::value(Some(value)), &clock)
            };
            operands.iter().any(one)
        };
        let is_there = |expected: &TestOperand| {
            found.iter().any(|value| {
                condition(Operator::In, vec![expected.clone()]).holds(FoundValue::value(Some(value)), &clock)
            })
        };
        let flat: Vec<Node<'static>> = found.iter().filter(|value| !matches!(value, Node::List(_))).cloned().collect();
        let list = Node::List(flat.clone());
        let holds_with = |operator| condition(operator, operands.clone()).holds(FoundValue::value(Some(&list)), &clock);
        prop_assert_eq!(holds_with(Operator::In), flat.iter().any(is_one));
        prop_assert_eq!(holds_with(Operator::NotIn), flat.iter().all(|value| !is_one(value)));
        prop_assert_eq!(holds_with(Operator::NotIntersect), !flat.iter().any(is_one));
        prop_assert_eq!(holds_with(Operator::NotDiffer), flat.iter().all(is_one) && operands.iter().all(is_there));
        for value in &flat {
            let single = condition(Operator::In, operands.clone()).holds(FoundValue::value(Some(value)), &clock);
            prop_assert_eq!(single, is_one(value));
        }
        Ok(())
    });
}

#[test]
fn relative_days_partition_time() {
    let warsaw = TimeZone {
        name: "Europe/Warsaw".into(),
        offset: 3600,
        transitions: [(1_774_746_000_000, 7200), (1_792_890_000_000, 3600)]
            .map(|(at, offset)| (Instant::from_millis(at).unwrap(), offset))
            .to_vec(),
    };
    let around = || 1_774_746_000_000 - 20 * 86_400_000..1_774_746_000_000_i64 + 20 * 86_400_000;
    holds(4_000, (around(), around(), 0..12_i64), |(now, date, days)| {
        let clock = Clock { now: Instant::from_millis(now).unwrap(), zone: &warsaw, zone_use: None, budget: None };
        let date = Instant::from_millis(date).unwrap();
        let text = date.to_string();
        let operand = vec![TestOperand::Number(Number::integer(days))];
        let holds_with = |operator| condition(operator, operand.clone()).holds(FoundValue::Text(&text), &clock);
        let day = |instant: Instant| warsaw.day(instant).unwrap().number();
        let ago = day(clock.now) - day(date);
        prop_assert_eq!(holds_with(Operator::MoreThanAgo), ago > days);
        prop_assert_eq!(holds_with(Operator::DaysAgo), ago == days);
        prop_assert_eq!(holds_with(Operator::LessThanAgo), ago >= 0 && ago < days);
        prop_assert_eq!(holds_with(Operator::MoreThanFuture), -ago > days);
        prop_assert_eq!(holds_with(Operator::DaysInFuture), -ago == days);
        prop_assert_eq!(holds_with(Operator::LessThanFuture), ago <= 0 && -ago < days);
        // A day begins at the end of the previous one, also on the day of the change.
        let start = warsaw.start_of(warsaw.day(date).unwrap()).unwrap();
        let next = warsaw.start_of(warsaw.day(date).unwrap().plus(1).unwrap()).unwrap();
        prop_assert!(start <= date && date < next);
        Ok(())
    });
}

#[test]
fn the_lint_warns_of_constant_results() {
    const NAMES: &[&str] =
        &["$is", "$is_not", "$less_than", "$less_than_or_equal", "$more_than", "$more_than_or_equal"];
    let conditions = proptest::collection::vec((0..NAMES.len(), -2..9_i64), 1..4);
    holds(3_000, conditions, |conditions| {
        let mut members = serde_json::Map::new();
        for (name, value) in &conditions {
            members.insert(NAMES[*name].into(), serde_json::json!([value]));
        }
        let rule = serde_json::json!({ "id": "val_1", "rules": {
            "1": { "name": "order.amount", "conditions": members }, "logic": "1",
        }});
        let rule = read_document(&rule.to_string(), read_rule).unwrap();
        let passing = (0..30).filter(|amount| check(&rule, *amount, OrderLines::of(&[]), None)).count();
        let warnings = lint(&rule);
        let warned = |text: &str| warnings.iter().any(|warning| warning.text == text);
        prop_assert_eq!(warned("can never hold"), passing == 0, "{:?} {:?}", conditions, warnings);
        prop_assert_eq!(warned("always holds"), passing == 30, "{:?} {:?}", conditions, warnings);
        Ok(())
    });
}

#[test]
fn the_lint_reports_suspicious_tests() {
    let warnings = |rules: serde_json::Value| -> Vec<String> {
        let rule = read_document(&rules.to_string(), read_rule).unwrap();
        lint(&rule).into_iter().map(|warning| format!("{} {}", warning.path, warning.text)).collect()
    };
    let amount =
        |operator: &str, value: i64| serde_json::json!({ "name": "order.amount", "conditions": { operator: [value] } });
    let of = |rules: serde_json::Value| warnings(serde_json::json!({ "rules": rules }));
    let contradiction =
        of(serde_json::json!({ "1": amount("$more_than", 100), "2": amount("$less_than", 50), "logic": "1 and 2" }));
    assert_eq!(contradiction, ["rules.2 contradicts the rule `1`: both can never hold"]);
    let either =
        of(serde_json::json!({ "1": amount("$more_than", 100), "2": amount("$less_than", 50), "logic": "1 or 2" }));
    assert!(either.is_empty(), "{either:?}");
    let unasked = of(serde_json::json!({ "1": amount("$is", 1), "2": amount("$is", 2), "logic": "1" }));
    assert_eq!(unasked, ["rules.2 is not mentioned in the logic, and is never asked"]);
    let twin = of(serde_json::json!({ "1": amount("$is", 1), "2": amount("$is", 1) }));
    assert_eq!(twin, ["rules.2 says the same as the rule `1`"]);
    let empty = of(serde_json::json!({ "1": {
        "name": "customer.metadata", "property": "p", "conditions": { "$in": [] },
    } }));
    assert_eq!(empty, ["rules.1.conditions has an empty list, and never holds"]);
    let weekdays = of(serde_json::json!({ "1": {
        "name": "customer.metadata", "property": "p", "conditions": { "$dow": [] },
    } }));
    assert_eq!(weekdays, ["rules.1.conditions has an empty list, and never holds"]);
    let nested = of(serde_json::json!({ "1": {
        "name": "order.items.any", "conditions": { "$is": [{ "object": "product", "id": "A" }] },
        "rules": { "1": { "name": "order.items.price", "conditions": { "$less_than": [0] } } },
    } }));
    assert_eq!(nested, ["rules.1.rules.1.conditions can never hold"]);
    let scope = warnings(serde_json::json!({ "applicable_to": {
        "included": [{ "object": "product", "id": "A" }], "excluded": [{ "object": "product", "id": "A" }],
    } }));
    assert_eq!(scope, ["applicable_to.excluded[0] excludes `A`, which is included as well"]);
}

#[test]
fn a_malformed_rule_is_refused_with_its_path() {
    let refused = |rules: serde_json::Value| {
        let rule = serde_json::json!({ "rules": rules });
        let problem = read_document(&rule.to_string(), read_rule).unwrap_err();
        format!("{}: {}", problem.path, problem.text)
    };
    let one = |name: &str, conditions: serde_json::Value| {
        serde_json::json!({ "1": {
        "name": name, "conditions": conditions,
    } })
    };
    let amount = |logic: &str| {
        serde_json::json!({ "1": {
        "name": "order.amount", "conditions": { "$is": [1] },
    }, "logic": logic })
    };
    let table = [
        (
            one("custom_event.metadata", serde_json::json!({})),
            "rules.1: Rule 'custom_event.metadata' must have a 'property'",
        ),
        (
            one("order.amont", serde_json::json!({})),
            "rules.1.name: is not the name of a rule (actual value is `\"order.amont\"`)",
        ),
        (
            one("order.amount", serde_json::json!({ "$between": [1] })),
            "rules.1.conditions.$between: is not an operator",
        ),
        (
            one("order.amount", serde_json::json!({ "$more_than": ["x"] })),
            "rules.1.conditions.$more_than[0]: must be a number (actual value is `\"x\"`)",
        ),
        (
            one("order.amount", serde_json::json!({ "$more_than": [] })),
            "rules.1.conditions.$more_than: must NOT have fewer than 1 items",
        ),
        (
            one("order.amount", serde_json::json!({ "$dow": [1] })),
            "rules.1.conditions.$dow: is not an operator of the rule `order.amount`",
        ),
        (
            one("order.items.any", serde_json::json!({ "$more_than": [1] })),
            "rules.1.conditions.$more_than: is not an operator of this rule",
        ),
        (amount("1 and 2"), "rules.logic: names the rule `2`, which does not exist (actual value is `\"1 and 2\"`)"),
        (amount("(1"), "rules.logic: ends too early (actual value is `\"(1\"`)"),
        (amount("1)"), "rules.logic: has an unexpected `)` (actual value is `\"1)\"`)"),
    ];
    for (rules, expected) in table {
        assert_eq!(refused(rules), expected);
    }
    let deep = amount(&format!("{}1{}", "(".repeat(40), ")".repeat(40)));
    assert!(refused(deep).starts_with("rules.logic: nests deeper than 32 brackets"));
    let mut nested = serde_json::json!({ "name": "order.amount", "conditions": { "$is": [1] } });
    for _ in 0..10 {
        nested = serde_json::json!({ "name": "order.amount", "conditions": {}, "rules": { "1": nested } });
    }
    assert!(refused(serde_json::json!({ "1": nested })).ends_with("nests deeper than 8 rules"));
}

/// A client gets the same answer for a missing code, an expired code and a code that another customer holds, under every claimed name. Only
/// the verified holder gets more.
#[test]
fn a_client_gets_equal_answers_for_all_unusable_codes() {
    let rules = r#"{ "complete": true, "client": true, WHO "customers": [{ "id": "cust_1" }],
        "vouchers": [
            { "id": "v_1", "code": "CODE", "discount": { "type": "PERCENT", "percent_off": 10 }, EXTRA }
        ],
        "validation_rules": [{ "id": "val_1", "rules": { "1": {
            "name": "publication.redeemable_by_linked_customer", "conditions": { "$is": [true] } } } }],
        "validation_rules_assignments": [{ "rule_id": "val_1", "related_object_id": "v_1" }]
    }"#;
    let request = br#"{ "redeemables": [{ "object": "voucher", "id": "CODE" }], "order": { "amount": 1000 },
        "customer": { "id": "cust_1" }, "options": { "expand": ["trace"] } }"#;
    let context =
        scrip::Context { now: Instant::parse("2026-03-01T12:00:00Z").unwrap(), seed: [1; 32], first_number: None };
    let answer_for = |customer: &str, extra: &str, code: &str| {
        let rules = rules.replace("EXTRA", extra).replace("CODE", code).replace("WHO", customer);
        let answer = scrip::bundle::PreparedRules::new(crate::support::service_facts::world(&rules).as_bytes())
            .unwrap()
            .validate(request, &context)
            .body;
        serde_json::from_slice::<serde_json::Value>(&answer).unwrap()["trace"].to_string()
    };
    let trace = |extra: &str, code: &str| answer_for("", extra, code);
    let unknown = trace(r#""active": true"#, "OTHER");
    assert!(unknown.contains("not_usable"), "{unknown}");
    assert_eq!(trace(r#""expiration_date": "2026-01-01T00:00:00Z""#, "CODE"), unknown);
    assert_eq!(trace(r#""active": false"#, "CODE"), unknown);
    assert_eq!(trace(r#""holder_id": "cust_2""#, "CODE"), unknown);
    assert_eq!(trace(r#""holder_id": "cust_1""#, "CODE"), unknown);
    assert_ne!(answer_for(r#""proven": "cust_1","#, r#""holder_id": "cust_1""#, "CODE"), unknown);
}
