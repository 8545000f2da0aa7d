//! Generates the types of the package from the shapes of the engine and compares the committed ones with them. `UPDATE=1` writes them.

use scrip::decide::case::MISSING_FACT_NAMES;
use scrip::shape::{Field, FieldType, Shape};
use scrip::wire::decision::trace;
use scrip::wire::order::view;
use scrip::wire::project::stacking;
use scrip::wire::rule_set::{DOCUMENT_LISTS, ListedKind, OTHER_MEMBERS};
use scrip::wire::{decision, error, offer, order, qualification, request, reward, scope};
use std::collections::BTreeSet;

/// The file of the types, and the lines between which the types of shapes are written.
const FILE: &str = "pkg-template/scrip.d.ts";
const BEGIN: &str =
    "// Shapes, written from the engine's tables by `UPDATE=1 cargo nextest run -p scrip --test it types`.\n";
const END: &str = "// The end of the shapes.\n";

/// Returns the shapes that a client sends, reads and prepares, in the order of their declaration. Shapes that they refer to follow.
fn shapes() -> Vec<&'static Shape> {
    let kinds = [
        FieldType::Named(&request::REDEEMABLES),
        request::OBJECT,
        order::ORDER,
        order::GOODS,
        view::ORDER,
        view::ITEM,
        error::REFUSAL,
        offer::RESOLVED,
        decision::GRANT,
        reward::REWARD,
        scope::GOODS_LIST,
        FieldType::Named(&decision::EXPANDED),
        decision::REDEEMABLE,
        decision::REASON,
        decision::SESSION,
        decision::VALIDATION,
        trace::TRACE,
        trace::CHANGE,
        stacking::STACKING_RULES,
        error::INVALID,
        FieldType::Named(&qualification::QUALIFY),
        qualification::QUALIFICATION,
    ];
    let mut all = Vec::new();
    kinds.iter().for_each(|kind| find(kind, &mut all));
    let of_rules = OTHER_MEMBERS.iter().chain(typed_lists().flat_map(|listed| listed.fields));
    of_rules.for_each(|field| find(&field.kind, &mut all));
    all
}

/// Returns the kinds of documents that have a table. Others are accepted as they are.
fn typed_lists() -> impl Iterator<Item = &'static ListedKind> {
    DOCUMENT_LISTS.iter().filter(|listed| !listed.fields.is_empty())
}

/// The documents that rules list, and the rules, as TypeScript declares them.
fn documents() -> Vec<String> {
    let mut all: Vec<String> = typed_lists().map(document).collect();
    let listed = |listed: &ListedKind| {
        let name = if listed.fields.is_empty() { "Json".to_owned() } else { name_of(listed) };
        format!("  {}?: Documents<{name}> | null | undefined;\n", listed.list)
    };
    let lists: String = DOCUMENT_LISTS.iter().map(listed).collect();
    let description =
        "Rules: documents in the shapes of the service's interface, by their kinds. All of them may be missing";
    all.push(format!("/** {description} */\nexport interface RuleSet {{\n{}{lists}}}\n", given_members(OTHER_MEMBERS)));
    all
}

/// Returns a document of rules: any of its members, and no other one.
fn document(listed: &ListedKind) -> String {
    let ListedKind { noun, fields, .. } = listed;
    format!("/** What rules take of {noun}. */\nexport interface {} {{\n{}}}\n", name_of(listed), given_members(fields))
}

/// The name of a kind's documents: `promotion_tier` is `PromotionTierDocument`.
fn name_of(listed: &ListedKind) -> String {
    let capital =
        |word: &str| word.chars().take(1).flat_map(char::to_uppercase).chain(word.chars().skip(1)).collect::<String>();
    listed.kind.split('_').map(capital).collect::<String>() + "Document"
}

/// Returns optional members. Of two with one name the first counts.
fn given_members(fields: &[Field]) -> String {
    let mut known = BTreeSet::new();
    let one = |field: &Field| {
        let kind = typed(&field.kind, 1);
        let is_plain =
            matches!(field.kind, FieldType::Any) || ["string", "number", "boolean", "Json"].contains(&kind.as_str());
        let kind = if is_plain { kind } else { format!("Given<{kind}>") };
        let nothing = if kind == "unknown" { "" } else { " | null | undefined" };
        format!("  /** {} */\n  {}?: {kind}{nothing};\n", field.description_text(), field.name)
    };
    fields.iter().filter(|field| known.insert(field.name)).map(one).collect()
}

fn find(kind: &FieldType, all: &mut Vec<&'static Shape>) {
    match kind {
        FieldType::Named(shape) if all.iter().any(|known| known.name == shape.name) => {}
        FieldType::Named(shape) => {
            all.push(shape);
            find(&shape.kind, all);
        }
        FieldType::Object(fields) => fields.iter().for_each(|field| find(&field.kind, all)),
        FieldType::List(kind, ..) | FieldType::MapOf(kind) => find(kind, all),
        FieldType::Open(fields, kind) => {
            fields.iter().for_each(|field| find(&field.kind, all));
            find(kind, all);
        }
        FieldType::Either(kinds) => kinds.iter().for_each(|kind| find(kind, all)),
        _ => {}
    }
}

/// Returns a shape in TypeScript. It allows more members, because a later version may add some.
fn declared(shape: &Shape) -> String {
    let (name, description) = (shape.name, shape.description);
    match shape.kind {
        FieldType::Object(fields) => {
            format!("/** {description} */\nexport interface {name} extends Json {{\n{}}}\n", members(fields, 1))
        }
        kind => format!("/** {description} */\nexport type {name} = {};\n", typed(&kind, 0)),
    }
}

/// Returns members in TypeScript. Of two with one name the first counts.
fn members(fields: &[Field], depth: usize) -> String {
    let mut known = BTreeSet::new();
    let indent = "  ".repeat(depth);
    let one = |field: &Field| {
        let is_name = field.name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        let name = if is_name { field.name.to_owned() } else { format!("\"{}\"", field.name) };
        // An optional member may also be present without a value: `JSON.stringify` omits it then.
        let (optional, undefined) = if field.required { ("", "") } else { ("?", " | undefined") };
        let null = if field.null { " | null" } else { "" };
        let comment = format!("{indent}/** {} */\n", field.description_text());
        format!("{comment}{indent}{name}{optional}: {}{null}{undefined};\n", typed(&field.kind, depth))
    };
    fields.iter().filter(|field| known.insert(field.name)).map(one).collect()
}

fn typed(kind: &FieldType, depth: usize) -> String {
    match kind {
        FieldType::Text
        | FieldType::Name(_)
        | FieldType::Date
        | FieldType::DateTime
        | FieldType::Duration
        | FieldType::Clock
        | FieldType::HttpsUrl => "string".to_owned(),
        FieldType::Int(..) | FieldType::Number(..) => "number".to_owned(),
        FieldType::Bool => "boolean".to_owned(),
        FieldType::OneOf(words) => words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | "),
        FieldType::Object(fields) => format!("{{\n{}{}}}", members(fields, depth + 1), "  ".repeat(depth)),
        FieldType::Map => "Json".to_owned(),
        FieldType::Open(fields, kind) => {
            let indent = "  ".repeat(depth + 1);
            let mut all: BTreeSet<String> = fields.iter().map(|field| typed(&field.kind, depth + 1)).collect();
            all.extend([typed(kind, depth + 1), "undefined".to_owned()]);
            all.extend(fields.iter().any(|field| field.null).then(|| "null".to_owned()));
            let all: Vec<String> = all.into_iter().collect();
            format!(
                "{{\n{}{indent}[name: string]: {};\n{}}}",
                members(fields, depth + 1),
                all.join(" | "),
                "  ".repeat(depth)
            )
        }
        FieldType::MapOf(kind) => format!("Record<string, {}>", typed(kind, depth)),
        FieldType::List(kind, ..) => match kind {
            FieldType::OneOf(_) | FieldType::Either(_) => format!("({})[]", typed(kind, depth)),
            kind => format!("{}[]", typed(kind, depth)),
        },
        FieldType::Named(shape) => shape.name.to_owned(),
        FieldType::Either(kinds) => {
            let all: Vec<String> = kinds.iter().map(|kind| typed(kind, depth)).collect();
            all.join(" | ")
        }
        FieldType::Any => "unknown".to_owned(),
    }
}

#[test]
fn the_types_of_the_package_are_those_of_the_engine() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap_or_else(|| panic!("{FILE} lacks `{BEGIN}`"));
    let (_, after) = rest.split_once(END).unwrap_or_else(|| panic!("{FILE} lacks `{END}`"));
    let declarations: Vec<String> = shapes().into_iter().map(declared).chain(documents()).collect();
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

/// Missing facts that the package itself adds, in its rules of a shop.
const OWN_FACTS: &str = "pkg-template/shop/rules.js";

fn file(path: &str) -> String {
    std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn missing_facts_of_the_package_are_those_of_the_engine_and_its_own() {
    let types = file(FILE);
    let (_, union) = types.split_once("export type MissingFact =\n").unwrap();
    let (union, _) = union.split_once("(string & {})").unwrap();
    let listed: Vec<&str> =
        union.lines().filter_map(|line| line.trim().strip_prefix("| \"")?.strip_suffix('"')).collect();
    let names: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(names.len(), listed.len(), "a name is listed twice");
    let of_engine = BTreeSet::from(MISSING_FACT_NAMES);
    assert!(names.is_superset(&of_engine), "`MissingFact` lacks a name of the engine: {names:?}");
    let rules = file(OWN_FACTS);
    let own: BTreeSet<&str> = names.difference(&of_engine).copied().collect();
    for name in &own {
        assert!(rules.contains(&format!("\"{name}\"")), "neither the engine nor {OWN_FACTS} has the fact {name}");
    }
    let pushed = rules.split("lacking.push(\"").skip(1).filter_map(|text| Some(text.split_once('"')?.0));
    let pushed: BTreeSet<&str> = pushed.collect();
    assert!(!pushed.is_empty() && own.is_superset(&pushed), "`MissingFact` lacks a name of {OWN_FACTS}: {pushed:?}");
}
