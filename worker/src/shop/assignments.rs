//! Assignments of validation rules to whatever they guard: made, listed and taken away with it. It must not know what a rule says.

use crate::document::resource::{self, plain_key};
use crate::http::listing::{Filter, List};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::shop::validation_rules::RULE;
use crate::store::document::Document;
use crate::store::sql;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Assignments as a resource: the parent is the object, the holder is the rule.
pub const ASSIGNMENT: Resource = Resource {
    object: "validation_rules_assignment",
    shape: scrip::wire::voucher::ASSIGNMENT.described(),
    parameter: "assignmentId",
    key: plain_key,
    show: resource::show_body,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("id", "id")],
        filters: &[Filter::Is("related_object_id", "parent"), Filter::Is("rule", "holder")],
        conditions: &[],
    },
};

/// Some of a rule's assignments by id, as many as a refusal names, and how many there are.
pub fn of_rule(call: &Call<'_, '_>, rule_id: &str) -> Result<(Vec<String>, i64), CallError> {
    let rows = call.store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules_assignment' AND holder = +?1 ORDER BY seq LIMIT 10",
        &[rule_id.into()],
    )?;
    named(&rows)
}

/// The ids of rows that also say how many there are in all.
pub fn named(rows: &[sql::Row]) -> Result<(Vec<String>, i64), CallError> {
    let total = rows.first().map_or(Ok(0), |row| sql::int(row, 1))?;
    let ids: Result<Vec<String>, sql::Fault> = rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect();
    Ok((ids?, total))
}

/// Takes the validation rules that a body names out of it; they must exist.
pub fn take_rules(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<Vec<String>, CallError> {
    let mut found: Vec<String> = Vec::new();
    let named = body.remove("validation_rules").unwrap_or_default();
    for id in named.as_array().into_iter().flatten().filter_map(Json::as_str) {
        if call.store.document(RULE.object, id)?.is_none() {
            return Err(not_found(RULE.object, id).into());
        }
        if !found.iter().any(|known| known == id) {
            found.push(id.to_owned());
        }
    }
    Ok(found)
}

/// Assigns validation rules to a document at the commit; gives the assignments.
pub fn assign(call: &mut Call<'_, '_>, rules: Vec<String>, id: &str, kind: &str) -> Vec<Json> {
    let mut assigned = Vec::new();
    for rule in rules {
        let own = call.ids.alphanumeric("asgm_", 16).to_string();
        let body = json!({
            "id": own, "rule_id": rule, "related_object_id": id, "related_object_type": kind,
            "created_at": crate::moment::text(call.now_ms()), "updated_at": null, "validation_status": "VALID",
            "validation_omitted_rules": [], "object": ASSIGNMENT.object,
        });
        assigned.push(body.clone());
        let document = Document {
            id: own,
            key: None,
            parent: Some(id.to_owned()),
            holder: Some(rule),
            created_at: call.now_ms(),
            updated_at: None,
            body: body.as_object().cloned().unwrap_or_default(),
        };
        call.store.insert(ASSIGNMENT.object, &document);
    }
    assigned
}

/// Makes exactly these rules the rules of an object, at the commit; an assignment that stays is left as it is.
pub fn replace(call: &mut Call<'_, '_>, mut rules: Vec<String>, id: &str, kind: &str) -> Result<Vec<Json>, CallError> {
    let mut kept = Vec::new();
    for known in documents(call, &[id])? {
        match rules.iter().position(|rule| Some(rule) == known.holder.as_ref()) {
            Some(place) => {
                rules.remove(place);
                kept.push(Json::Object(known.body));
            }
            None => call.store.remove(ASSIGNMENT.object, &known.id),
        }
    }
    kept.extend(assign(call, rules, id, kind));
    Ok(kept)
}

/// Detaches every rule from an object that goes, at the commit.
pub fn detach(call: &mut Call<'_, '_>, object_id: &str) {
    call.store.write(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent = +?1",
        vec![object_id.into()],
    );
}

/// The assignments of these objects, oldest first.
pub fn documents(call: &Call<'_, '_>, objects: &[&str]) -> Result<Vec<Document>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
        &[Json::from(objects.to_vec()).to_string().into()],
    )?;
    Ok(found)
}

/// The rules that are assigned to documents, by the id of the document.
pub fn assigned(call: &Call<'_, '_>, objects: &[Document]) -> Result<BTreeMap<String, Vec<Json>>, CallError> {
    let ids: Vec<&str> = objects.iter().map(|document| document.id.as_str()).collect();
    let mut assigned: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for document in documents(call, &ids)? {
        if let Some(parent) = document.parent {
            assigned.entry(parent).or_default().push(Json::Object(document.body));
        }
    }
    Ok(assigned)
}

/// Assignments in their list.
pub fn listed(assigned: Vec<Json>) -> Json {
    json!({ "object": "list", "data_ref": "data", "total": assigned.len(), "data": assigned })
}
