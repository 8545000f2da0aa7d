//! Compares the table of each shape with its reader: every declared field is read, and every read field is declared.

use scrip::shape::{Field, FieldType};
use scrip::wire::cursor::Read;
use scrip::wire::document::read_document;
use scrip::wire::offer::{self, read_discount, read_gift, read_scope};
use scrip::wire::project::stacking::{self, read_stacking_rules};
use scrip::wire::qualification::{self, read_qualification};
use scrip::wire::request::{self, read_redeemables, read_rollback};
use scrip::wire::{Problem, scope};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// Fields that a reader ignores for every value, each with the reason.
const PASSED_OVER: &[(&str, &str)] = &[
    ("order.referrer", "only its id is read, and of anything but an object there is none"),
    ("customer.metadata", "is custom data where it is an object"),
    ("rollback.order.customer", "a rollback works on the stored order"),
    ("discount.is_dynamic", "follows from the formulas"),
    ("gift.balance", "follows from what was spent"),
    ("strict", "is what answers say, sent back"),
    ("order_item_indices", "is what answers say, sent back"),
    ("order_item_units", "is what answers say, sent back"),
    ("$has_value", "any value says the same"),
    ("$is_unknown", "any value says the same"),
];

/// Names that readers read in addition to those of tables, each with the reason.
const BESIDE: &[(&str, &str)] = &[
    ("redemptions", "of an order that is kept"),
    ("returns", "of an order that is kept"),
    ("uncovered_amount", "of an order that is kept"),
    ("product_id", "of a SKU of the catalogue"),
    ("conditions", "of a filter, which is read by name"),
];

fn fitting(kind: &FieldType) -> Json {
    match kind {
        FieldType::Text | FieldType::Name(_) | FieldType::Any => json!("thing"),
        FieldType::Int(least, _) | FieldType::Number(least, _) => json!((*least).max(1)),
        FieldType::Bool => json!(true),
        FieldType::Date => json!("2026-01-01"),
        FieldType::DateTime => json!("2026-01-01T00:00:00Z"),
        FieldType::Duration => json!("P1D"),
        FieldType::Clock => json!("10:00"),
        FieldType::HttpsUrl => json!("https://img.example/a.png"),
        FieldType::OneOf(words) => json!(words[0]),
        FieldType::Object(fields) => object(fields),
        FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..) => json!({}),
        FieldType::List(item, ..) => json!([fitting(item)]),
        FieldType::Named(shape) => fitting(&shape.kind),
        FieldType::Either(kinds) => fitting(&kinds[0]),
    }
}

fn object(fields: &[Field]) -> Json {
    let required = fields.iter().filter(|field| field.required);
    Json::Object(required.map(|field| (field.name.to_owned(), fitting(&field.kind))).collect())
}

/// Returns a value that only `any` and maps accept.
fn wrong(kind: &FieldType) -> Json {
    match kind.resolved() {
        FieldType::Object(_) | FieldType::Map | FieldType::MapOf(_) | FieldType::Open(..) | FieldType::List(..) => {
            json!(7)
        }
        _ => json!([[7]]),
    }
}

/// Whole objects with one wrong place each, by the path of the place.
fn with_wrong_value(fields: &[Field], path: &str, wrap: &dyn Fn(Json) -> Json, into: &mut Vec<(String, Json)>) {
    let whole = object(fields);
    for field in fields {
        let here = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        let with = |inner: Json| {
            let mut object = whole.clone();
            object[field.name] = inner;
            // A shape that needs one member needs the other as well.
            if field.name == "source_id" && path.ends_with("items[]") {
                object["related_object"] = json!("product");
            }
            if field.name == "ttl" || field.name == "ttl_unit" {
                object["type"] = json!("LOCK");
            }
            if field.name == "ttl_unit" {
                object["ttl"] = json!(1);
            }
            wrap(object)
        };
        into.push((here.clone(), with(wrong(&field.kind))));
        match field.kind.resolved() {
            FieldType::Object(inner) => with_wrong_value(inner, &here, &with, into),
            FieldType::List(item, ..) => {
                into.push((format!("{here}[]"), with(json!([wrong(item)]))));
                with_wrong_value(item.fields(), &format!("{here}[]"), &|item| with(json!([item])), into);
            }
            _ => {}
        }
    }
}

/// Refuses a value that must not pass a reader.
fn walk(name: &str, fields: &[Field], wrap: &dyn Fn(Json) -> Json, read: &dyn Fn(&[u8]) -> Result<(), Problem>) {
    let mut all = Vec::new();
    with_wrong_value(fields, "", wrap, &mut all);
    let is_known = |path: &str| {
        let path = format!(".{name}.{path}.");
        PASSED_OVER.iter().any(|(known, _)| path.replace("[]", "").contains(&format!(".{known}.")))
    };
    let mut passed: Vec<String> = Vec::new();
    for (path, body) in &all {
        let Err(problem) = read(body.to_string().as_bytes()) else {
            passed.push(format!("{path} is not read: {body}"));
            continue;
        };
        let last = path.trim_end_matches("[]").rsplit('.').next().unwrap();
        let text = format!("{}.{}", problem.path, problem.text);
        if !text.contains(last) {
            passed.push(format!("{path} is not what is refused: {text}"));
        }
    }
    passed.retain(|text| !is_known(text.split(' ').next().unwrap()));
    assert!(passed.is_empty(), "{name}: {} of {} fields:\n{}", passed.len(), all.len(), passed.join("\n"));
}

fn plain(body: Json) -> Json {
    body
}

fn document<T>(read: Read<T>) -> impl Fn(&[u8]) -> Result<(), Problem> {
    move |bytes| read_document(std::str::from_utf8(bytes).unwrap(), read).map(drop)
}

#[test]
fn every_field_of_a_request_is_read() {
    walk("validation", request::REDEEMABLES.fields(), &plain, &|bytes| read_redeemables(bytes).map(drop));
    walk("rollback", request::ROLLBACK.fields(), &plain, &|bytes| read_rollback("r_1", false, bytes).map(drop));
    walk("qualification", qualification::QUALIFY.fields(), &plain, &|bytes| read_qualification(bytes).map(drop));
}

#[test]
fn every_field_of_a_document_is_read() {
    walk("gift", offer::GIFT.fields(), &plain, &document(read_gift));
    walk("scope", scope::SCOPE.fields(), &plain, &document(read_scope));
    walk("stacking", stacking::FIELDS, &plain, &document(read_stacking_rules));
    // Each field of a discount belongs to at least one discount type.
    let whole = [
        ("AMOUNT", json!({ "amount_off": 1 })),
        ("PERCENT", json!({ "percent_off": 1 })),
        ("FIXED", json!({ "fixed_amount": 1 })),
        ("UNIT", json!({ "unit_type": "prod_1" })),
    ];
    walk("discount", offer::DISCOUNT.fields(), &plain, &|bytes| {
        let body: Json = serde_json::from_slice(bytes).unwrap();
        let mut refused = None;
        for (kind, needed) in &whole {
            let mut body = body.clone();
            if body["type"].is_string() {
                body["type"] = json!(kind);
            }
            for (name, value) in needed.as_object().unwrap() {
                body.as_object_mut().unwrap().entry(name.clone()).or_insert(value.clone());
            }
            match read_document(&body.to_string(), read_discount) {
                Err(problem) if !problem.text.contains("NOT be present") => refused = Some(problem),
                _ => {}
            }
        }
        refused.map_or(Ok(()), Err)
    });
}

/// Returns the names that the readers of a file request, found in its text.
fn read_names(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let callers = [
        ".option(\"",
        ".need(\"",
        ".fill(\"",
        ".fill_optional(\"",
        ".fill_list(\"",
        ".list(\"",
        ".get(\"",
        "dynamic(at, \"",
    ];
    let mut names = BTreeSet::new();
    for caller in callers {
        names.extend(code.split(caller).skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned));
    }
    let rows = code.lines().filter_map(|line| line.trim_start().strip_prefix("(\"")).filter(|row| row.contains("|"));
    names.extend(rows.filter_map(|row| row.split('"').next()).map(str::to_owned));
    names
}

fn add_declared(fields: &[Field], into: &mut BTreeSet<&'static str>) {
    for field in fields {
        into.insert(field.name);
        within(&field.kind, into);
    }
}

fn within(kind: &FieldType, into: &mut BTreeSet<&'static str>) {
    match kind.resolved() {
        FieldType::Object(fields) => add_declared(fields, into),
        FieldType::List(kind, ..) | FieldType::MapOf(kind) => within(kind, into),
        FieldType::Either(kinds) => kinds.iter().for_each(|kind| within(kind, into)),
        _ => {}
    }
}

#[test]
fn every_field_that_is_read_is_declared() {
    let mut names = BTreeSet::new();
    let tables = [
        request::REDEEMABLES.fields(),
        request::ROLLBACK.fields(),
        qualification::QUALIFY.fields(),
        offer::GIFT.fields(),
        offer::DISCOUNT.fields(),
        scope::SCOPE.fields(),
        stacking::FIELDS,
    ];
    tables.iter().for_each(|fields| add_declared(fields, &mut names));
    names.extend(["grouped_redeemables_sorting_rule"]);
    let mut undeclared = Vec::new();
    for file in ["order", "request", "offer", "scope", "project/stacking", "qualification"] {
        let path = format!("{}/src/wire/{file}.rs", env!("CARGO_MANIFEST_DIR"));
        let read_names = read_names(&std::fs::read_to_string(path).unwrap());
        assert!(!read_names.is_empty(), "{file}.rs reads nothing");
        let is_undeclared =
            |name: &&String| !names.contains(name.as_str()) && !BESIDE.iter().any(|(known, _)| known == name);
        undeclared.extend(
            read_names
                .iter()
                .filter(is_undeclared)
                .map(|name| format!("{file}.rs reads `{name}`, which no table says")),
        );
    }
    assert!(undeclared.is_empty(), "{}", undeclared.join("\n"));
}
