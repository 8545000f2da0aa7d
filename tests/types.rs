//! Writes the types of the package from the shapes of the engine, and holds the committed ones to them. `UPDATE=1` writes them anew.
//! It must not know what a shape is for.
#![allow(clippy::panic, clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a trial may fail")]

use scrip::shape::{Field, Kind, Shape};
use scrip::wire::{decision, error, offer, order, order_view, qualification, request, reward, scope, stacking, trace};
use std::collections::BTreeSet;

/// Where the types are, and between which lines those of shapes stand.
const FILE: &str = "pkg-template/scrip.d.ts";
const BEGIN: &str =
    "// Shapes, written from the engine's tables by `UPDATE=1 cargo nextest run -p scrip --test types`.\n";
const END: &str = "// The end of the shapes.\n";

/// The shapes that a page sends and reads, in the order in which they are told. What one names besides comes after it.
fn shapes() -> Vec<&'static Shape> {
    let kinds = [
        Kind::Named(&request::REDEEMABLES),
        request::OBJECT,
        order::ORDER,
        order::GOODS,
        order_view::ORDER,
        order_view::ITEM,
        error::REFUSAL,
        offer::RESOLVED,
        decision::GRANT,
        reward::REWARD,
        scope::GOODS_LIST,
        Kind::Named(&decision::EXPANDED),
        decision::REDEEMABLE,
        decision::REASON,
        decision::SESSION,
        decision::VALIDATION,
        trace::TRACE,
        trace::CHANGE,
        stacking::STACKING_RULES,
        error::INVALID,
        Kind::Named(&qualification::QUALIFY),
        qualification::QUALIFICATION,
    ];
    let mut all = Vec::new();
    kinds.iter().for_each(|kind| find(kind, &mut all));
    all
}

fn find(kind: &Kind, all: &mut Vec<&'static Shape>) {
    match kind {
        Kind::Named(shape) if all.iter().any(|known| known.name == shape.name) => {}
        Kind::Named(shape) => {
            all.push(shape);
            find(&shape.kind, all);
        }
        Kind::Object(fields) => fields.iter().for_each(|field| find(&field.kind, all)),
        Kind::List(kind, ..) | Kind::MapOf(kind) => find(kind, all),
        Kind::Either(kinds) => kinds.iter().for_each(|kind| find(kind, all)),
        _ => {}
    }
}

/// A shape as TypeScript declares it. More members than these are allowed: a later version may add some.
fn declared(shape: &Shape) -> String {
    let (name, meaning) = (shape.name, shape.meaning);
    match shape.kind {
        Kind::Object(fields) => {
            format!("/** {meaning}. */\nexport interface {name} extends Json {{\n{}}}\n", members(fields, 1))
        }
        kind => format!("/** {meaning}. */\nexport type {name} = {};\n", typed(&kind, 0)),
    }
}

fn members(fields: &[Field], depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let one = |field: &Field| {
        let is_name = field.name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let name = if is_name { field.name.to_owned() } else { format!("\"{}\"", field.name) };
        let (optional, null) = (if field.required { "" } else { "?" }, if field.null { " | null" } else { "" });
        let told = format!("{indent}/** {}. */\n", field.meaning());
        format!("{told}{indent}{name}{optional}: {}{null};\n", typed(&field.kind, depth))
    };
    fields.iter().map(one).collect()
}

fn typed(kind: &Kind, depth: usize) -> String {
    match kind {
        Kind::Text | Kind::Name(_) | Kind::Date | Kind::DateTime | Kind::Duration | Kind::Clock => "string".to_owned(),
        Kind::Int(..) | Kind::Number(..) => "number".to_owned(),
        Kind::Bool => "boolean".to_owned(),
        Kind::OneOf(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | "),
        Kind::Object(fields) => format!("{{\n{}{}}}", members(fields, depth + 1), "  ".repeat(depth)),
        Kind::Map | Kind::Open(..) => "Json".to_owned(),
        Kind::MapOf(kind) => format!("Record<string, {}>", typed(kind, depth)),
        Kind::List(kind, ..) => match kind {
            Kind::OneOf(_) | Kind::Either(_) => format!("({})[]", typed(kind, depth)),
            kind => format!("{}[]", typed(kind, depth)),
        },
        Kind::Named(shape) => shape.name.to_owned(),
        Kind::Either(kinds) => {
            let all: Vec<String> = kinds.iter().map(|kind| typed(kind, depth)).collect();
            all.join(" | ")
        }
        Kind::Any => "unknown".to_owned(),
    }
}

#[test]
fn the_types_of_the_package_are_those_of_the_engine() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{FILE} lacks `{BEGIN}`"));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{FILE} lacks `{END}`"));
    let declarations: Vec<String> = shapes().into_iter().map(declared).collect();
    let fresh = format!("{before}{BEGIN}\n{}\n{END}{after}", declarations.join("\n"));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, fresh).unwrap();
        return;
    }
    assert!(fresh == text, "{FILE} is stale: run the test with UPDATE=1 and review the difference");
}

#[test]
fn a_name_is_declared_once() {
    let shapes = shapes();
    let names: BTreeSet<&str> = shapes.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), shapes.len());
    assert!(names.len() > 20);
}
