//! Tests the grammar of formulas: refused texts, and that the printed form of any formula is read as the same formula.

use proptest::prelude::*;
use scrip::formula::{Formula, evaluate};

use crate::properties::formula::{read, table, text_of};
use crate::properties::holds;

#[test]
fn an_invalid_formula_is_refused_with_a_reason() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Formula::parse(&nested(32)).is_ok());
    let cases: &[(&str, &str)] = &[
        ("", "is empty"),
        (" \n", "is empty"),
        (&"1".repeat(2_001), "is longer than 2000 bytes"),
        (&"1+".repeat(600), "has more than 500 parts"),
        (&nested(33), "nests deeper than 32 levels"),
        (&format!("{}1", "-".repeat(33)), "nests deeper than 32 levels"),
        ("1 +", "ends too early"),
        ("IF(1 > 2;3", "ends too early"),
        ("1 + )", "has an unexpected `)` at 5"),
        ("\"é\" + )", "has an unexpected `)` at 7"),
        ("1 2", "has an unexpected `2` at 3"),
        ("1 > 2 > 3", "has an unexpected `>` at 7"),
        ("1 != 2", "has an unexpected `!` at 3"),
        ("MIN()", "has an unexpected `)` at 5"),
        ("10%", "ends too early"),
        ("AND 1", "has an unexpected `AND` at 1"),
        ("SWITCH_CASE(1;2)", "has an unexpected `SWITCH_CASE` at 1"),
        ("SWITCH(1;2)", "has an unexpected `2` at 10"),
        ("SWITCH(1;SWITCH_CASE(1;2))", "has an unexpected `)` at 26"),
        ("\"open", "has a text that is not closed, `\"open` at 1"),
        ("1 + \"open\\\"", "has a text that is not closed, `\"open\\\"` at 5"),
        ("1.2.3", "has `1.2.3` at 1, which is no number that can be held exactly"),
        ("1 + 5.", "has `5.` at 5, which is no number that can be held exactly"),
        ("FOO(1)", "names the function `FOO` at 1, which does not exist"),
        ("if(1 > 2;3;4)", "names the function `if` at 1, which does not exist"),
        ("1 + ORDER_TOTAL", "names the operand `ORDER_TOTAL` at 5, which does not exist"),
        ("CHEAPEST_ORDER_AMOUNT", "names the operand `CHEAPEST_ORDER_AMOUNT` at 1, which does not exist"),
        ("POW(1)", "has `POW` at 1, which takes 2 arguments"),
        ("ROUND(1;2;3)", "has `ROUND` at 1, which takes 2 arguments"),
        ("DATE_IS(TODAY)", "has `DATE_IS` at 1, which takes 2 arguments"),
        ("IN_ARRAY(1)", "has `IN_ARRAY` at 1, which takes at least 2 arguments"),
        ("ORDER_METADATA(size)", "has `ORDER_METADATA` at 1, which takes a property in double quotes"),
        ("1 + ORDER_METADATA", "has `ORDER_METADATA` at 5, which takes a property in double quotes"),
        ("DATE(\"tomorrow\")", "has `DATE` at 1 with no date such as \"2026-03-01\""),
    ];
    for (text, expected) in cases {
        assert_eq!(Formula::parse(text).map_err(|error| error.to_string()), Err((*expected).to_owned()), "`{text}`");
    }
    // The deepest formula with a call: its printed form has brackets and a list.
    let called = (0..40).map(|signs| format!("{}IN_ARRAY(1;2;3)", "-".repeat(signs)));
    let read_back: Vec<Formula> = called.map_while(|text| Formula::parse(&text).ok()).collect();
    assert_eq!(read_back.len(), 31);
    assert!(read_back.iter().all(|formula| read(&formula.to_string()) == *formula));
    let long_sum = format!("{}1", "1 - 1 + ".repeat(240));
    assert_eq!(text_of(evaluate(&read(&long_sum), &table())), "1");
}

/// Generates any formula of the grammar as text, with some brackets and blanks.
fn text() -> impl Strategy<Value = String> {
    let number = "(0|[1-9][0-9]{0,3})(\\.[0-9]{1,3})?";
    let quoted = "[a-z,é \\\\]{0,5}(\\\\\")?"
        .prop_map(|text| format!("\"{}\"", text.replace('\\', "\\\\").replace("\\\\\"", "\\\"")));
    let names: Vec<String> = table().values.into_iter().map(|(name, _)| name).chain(["TODAY".to_owned()]).collect();
    let leaf = prop_oneof![3 => number, 1 => quoted, 3 => proptest::sample::select(names)];
    leaf.prop_recursive(5, 40, 4, |inner| {
        let operator = proptest::sample::select(vec![
            "+", "-", "*", "/", "%", ">", "<", "=", ">=", "<=", " AND ", " OR ", " is ", " isNot ", " contains ",
            " startsWith ", " endsWith ", " IN_ARRAY ", " NOT_IN_ARRAY ", " DATE_IS ", " DATE_IS_NOT ", " IS_AFTER ",
            " IS_BEFORE ",
        ]);
        let one = ["DAY_OF_MONTH", "MONTH", "YEAR", "DAYS_SINCE", "MONTHS_SINCE", "YEARS_SINCE", "DAYS_UNTIL"];
        let two = ["POW", "ROUND", "FLOOR", "CEIL", "IS_AFTER", "DATE_IS", "contains", "IN_ARRAY"];
        let many = ["MIN", "MAX", "DEFAULT_TO", "NOT_IN_ARRAY", "IF", ""];
        let three = (inner.clone(), inner.clone(), inner.clone());
        prop_oneof![
            4 => (inner.clone(), operator, inner.clone()).prop_map(|(left, operator, right)| format!("({left}{operator} {right})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(left, right)| format!("{left} - {right}")),
            1 => inner.clone().prop_map(|inner| format!("-({inner})")),
            1 => (proptest::sample::select(one.to_vec()), inner.clone()).prop_map(|(name, inner)| format!("{name}({inner})")),
            1 => (proptest::sample::select(two.to_vec()), inner.clone(), inner.clone())
                .prop_map(|(name, first, second)| format!("{name} ( {first};{second})")),
            2 => (proptest::sample::select(many.to_vec()), three).prop_map(|(name, (a, b, c))| format!("{name}({a};{b};{c})")),
            1 => proptest::collection::vec((inner.clone(), inner.clone()), 1..3).prop_map(|cases| {
                let cases: String = cases.iter().map(|(value, result)| format!(" SWITCH_CASE({value};{result})")).collect();
                format!("SWITCH(1;{cases};2)")
            }),
        ]
    })
}

#[test]
fn a_formula_is_read_back_as_it_was_printed() {
    let table = table();
    let mut evaluated = std::cell::Cell::new(0_u32);
    holds(4_000, text(), |text| {
        // A test inside of another needs brackets; texts without them are refused.
        let Ok(formula) = Formula::parse(&text) else { return Ok(()) };
        let printed = formula.to_string();
        if printed.len() <= 2_000 {
            let again = Formula::parse(&printed);
            prop_assert_eq!(again.as_ref(), Ok(&formula), "`{}` is printed as `{}`", text, printed);
            prop_assert_eq!(again.unwrap().to_string(), printed);
        }
        if evaluate(&formula, &table).is_some() {
            evaluated.set(evaluated.get() + 1);
        }
        Ok(())
    });
    assert!(*evaluated.get_mut() > 500, "only {} formulas came to anything", evaluated.get());
}

/// Any text is read or refused without a fault.
#[test]
fn any_text_is_read_or_refused() {
    holds(4_000, "[-A-Z_a-z0-9\".;()+*/%<>= \\\\é]{0,60}", |text| {
        match Formula::parse(&text) {
            Ok(formula) => drop(evaluate(&formula, &table())),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
        Ok(())
    });
}
