//! Compares the engine's reader and writer of JSON with the JSON library, text by text: which texts are JSON, their values, and their
//! written form.

use proptest::prelude::*;
use scrip::json::{Bounds, JsonWriter, Node, SyntaxErrorKind, read};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error, F64Deserializer};
use serde_json::Value;

use crate::properties::holds;

const DEEPEST: usize = 64;

/// Reads a text with the engine's own reader: objects in order, each name once.
fn of_engine(text: &[u8]) -> Result<String, SyntaxErrorKind> {
    let node =
        read(text, Bounds { deepest: DEEPEST, longest: usize::MAX, most: usize::MAX }).map_err(|fault| fault.kind)?;
    let mut written = JsonWriter::default();
    written.node(&node.owned());
    Ok(String::from_utf8(written.into_bytes()).expect("JSON is UTF-8"))
}

fn of_library(text: &[u8]) -> Result<String, bool> {
    let mut value = serde_json::from_slice::<Value>(text).map_err(|error| error.is_eof())?;
    round(&mut value).ok_or(false)?;
    Ok(value.to_string())
}

/// The library keeps the digits of numbers; where it does not, its result is that of all other libraries.
fn round(value: &mut Value) -> Option<()> {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let is_whole = text != "-0" && (text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok());
            if !is_whole {
                *number = serde_json::Number::from_f64(text.parse().ok()?)?;
            }
            Some(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(round),
        Value::Object(members) => members.values_mut().try_for_each(round),
        _ => Some(()),
    }
}

/// Compares the verdicts and, for an undamaged text, the written text. Damage can make a number so long that the library rounds it.
fn agree(text: &[u8], complete: bool) -> Result<(), TestCaseError> {
    let text_shown = String::from_utf8_lossy(text).into_owned();
    match (of_engine(text), of_library(text)) {
        (Ok(of_engine), Ok(of_library)) => {
            prop_assert!(
                !complete || of_engine == of_library,
                "{} is {} here and {} there",
                text_shown,
                of_engine,
                of_library
            )
        }
        (Err(SyntaxErrorKind::Deep), _) | (Err(_), Err(_)) => {}
        (of_engine, of_library) => {
            prop_assert!(false, "{} is {:?} here and {:?} there", text_shown, of_engine, of_library)
        }
    }
    Ok(())
}

/// Numbers whose digits and exponents are so few that the library reads them exactly; here all are exact.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,8})",
        "-?(0|[1-9][0-9]{0,5})\\.[0-9]{1,8}",
        "-?(0|[1-9][0-9]{0,4})(\\.[0-9]{1,6})?[eE][+-]?(0?[0-9]|1[0-5])",
    ]
}

fn quoted() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[ -!#-\\[\\]-~]{0,12}",
        1 => Just("\\n\\t\\r\\b\\f\\/\\\\\\\"".to_owned()),
        1 => "\\\\u00[0-7][0-9a-fA-F]",
        1 => "\\\\u[0-9a-cA-C][0-9a-fA-F]{3}",
        1 => Just("\\ud83d\\uDE00".to_owned()),
        1 => "[à-ÿ✓😀\u{7f}]{1,3}",
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn document() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![number(), quoted(), Just("true".to_owned()), Just("false".to_owned()), Just("null".to_owned())];
    let space = || "[ \n\t\r]{0,2}";
    leaf.prop_recursive(4, 40, 6, move |inner| {
        let item = (space(), inner.clone(), space()).prop_map(|(before, value, after)| before + &value + &after);
        let name = prop_oneof!["\"[abc]\"", quoted()];
        let member = (space(), name, space(), item.clone())
            .prop_map(|(before, name, after, value)| format!("{before}{name}{after}:{value}"));
        prop_oneof![
            prop::collection::vec(item, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(member, 0..6).prop_map(|members| format!("{{{}}}", members.join(","))),
        ]
    })
}

#[test]
fn a_document_is_read_and_written_as_by_the_library() {
    holds(1_500, document(), |text| agree(text.as_bytes(), true));
}

#[test]
fn a_damaged_document_is_refused_where_the_library_refuses_it() {
    let with = "[\\x00-\\x1f\"\\\\{}\\[\\]:,.eE+\\-u0dD8 ntf\u{80}]";
    let damages = prop::collection::vec((any::<prop::sample::Index>(), 0_u8..3, with), 1..4);
    holds(3_000, (document(), damages), |(text, damages)| {
        let mut bytes = text.into_bytes();
        for (position, kind, with) in damages {
            let position = position.index(bytes.len().max(1)).min(bytes.len());
            let removed = usize::from(kind < 2 && position < bytes.len());
            let with = if kind == 0 { &[] } else { with.as_bytes() };
            bytes.splice(position..position + removed, with.iter().copied());
        }
        agree(&bytes, false)
    });
}

#[test]
fn any_bytes_are_read_without_a_panic() {
    holds(2_000, prop::collection::vec(any::<u8>(), 0..64), |bytes| agree(&bytes, false));
}

/// A number that no double represents keeps its digits; a number larger than any double is refused.
#[test]
fn long_numbers_keep_their_digits() {
    for (given, held) in [
        ("18446744073709551615", "18446744073709551615"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("1.50", "1.5"),
        ("100e-2", "1.0"),
        ("1e16", "1e+16"),
        ("1E15", "1000000000000000.0"),
        ("0.00001", "0.00001"),
        ("0.000001", "1e-6"),
        ("-0", "-0.0"),
        ("0e999999999999999999999", "0.0"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1e-400", "1e-400"),
    ] {
        assert_eq!(of_engine(given.as_bytes()).as_deref(), Ok(held), "of {given}");
        if held.len() < 17 && !given.contains("400") {
            assert_eq!(of_library(given.as_bytes()).as_deref(), Ok(held), "of {given}, there");
        }
    }
    for given in ["1e309", "1.8e308", "-1e999999999999999999", "17976931348623158e292", &"9".repeat(310)] {
        assert_eq!(of_engine(given.as_bytes()), Err(SyntaxErrorKind::Wrong), "of {given}");
    }
}

/// Depth is counted while reading, and lists count as objects do.
#[test]
fn a_double_is_read_from_the_text_that_javascript_writes() {
    let written = [
        (9_007_199_254_740_992.0, "9007199254740992"),
        (-9_007_199_254_740_994.0, "-9007199254740994"),
        (18_446_744_073_709_551_616.0, "18446744073709552000"),
        (1e21, "1e+21"),
        (1.5e-7, "1.5e-7"),
        (0.1, "0.1"),
        (100.5, "100.5"),
    ];
    for (number, text) in written {
        let library: F64Deserializer<Error> = number.into_deserializer();
        assert_eq!(Node::deserialize(library).unwrap(), read(text.as_bytes(), Bounds::NONE).unwrap(), "{text}");
    }
    // JavaScript has no such number, but a document may.
    let library: F64Deserializer<Error> = 100.0.into_deserializer();
    assert_eq!(Node::deserialize(library).unwrap().text(), "100.0");
}

#[test]
fn nesting_beyond_the_bound_is_refused() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(of_engine(nested(DEEPEST).as_bytes()).is_ok());
    assert_eq!(of_engine(nested(DEEPEST + 1).as_bytes()), Err(SyntaxErrorKind::Deep));
    let objects = format!("{}1{}", "{\"a\":".repeat(DEEPEST + 1), "}".repeat(DEEPEST + 1));
    assert_eq!(of_engine(objects.as_bytes()), Err(SyntaxErrorKind::Deep));
}

/// A value of the library is read as its text would be, including integers beyond 64 bits.
#[test]
fn numbers_of_the_library_are_read_from_their_digits() {
    for digits in
        ["18446744073709551616", "-9223372036854775809", "170141183460469231731687303715884105728", "1e400", "0.10"]
    {
        let text = format!(r#"{{"n":{digits}}}"#);
        let Value::Object(held) = serde_json::from_str::<Value>(&text).expect("JSON") else { panic!("an object") };
        let read_text = read(text.as_bytes(), Bounds { deepest: DEEPEST, longest: usize::MAX, most: usize::MAX }).ok();
        assert_eq!(Node::of(&held, usize::MAX).ok(), read_text, "{digits}");
    }
}

/// Records are equal exactly when their texts are equal. So their members have the order of the library's sorted map, for all characters.
#[test]
fn members_of_records_are_sorted_by_name() {
    let name = proptest::string::string_regex("[\u{1}\"\\\\Zaé]{0,3}").expect("an expression");
    holds(2_000, proptest::collection::vec((name, 0..9_u8), 0..8), |members| {
        let map: serde_json::Map<String, Value> =
            members.iter().map(|(name, value)| (name.clone(), (*value).into())).collect();
        let mut written = JsonWriter::of_records();
        written.open_object();
        // Each name once, and not in order.
        for (name, value) in map.iter().rev() {
            written.dynamic_name(name);
            written.count(value.as_u64().expect("a count"));
        }
        written.close_object();
        prop_assert_eq!(String::from_utf8(written.into_bytes()).expect("UTF-8"), Value::Object(map).to_string());
        Ok(())
    });
}
