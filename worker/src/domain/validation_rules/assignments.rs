//! Assignments of validation rules: created, listed and deleted with the object.

use crate::documents::resource::{self, plain_key};
use crate::domain::validation_rules::rules::RULE;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::documents::any_kind::CountedIds;
use crate::store::documents::validation_rules;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Assignments as a resource: the parent is the object, the holder is the rule.
pub const ASSIGNMENT: Resource = Resource {
    object: "validation_rules_assignment",
    shape: scrip::wire::voucher::ASSIGNMENT.described(),
    parameter: "assignmentId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("id", "id")],
        filters: &[ListFilter::Is("rule", "holder")],
        conditions: &[],
    },
};

/// Returns the first assignments of a rule by id, for a refusal, and their total number.
pub fn find_of_rule(call: &Call<'_, '_>, rule_id: &str) -> Result<(Vec<String>, i64), CallError> {
    let CountedIds { ids, total } = validation_rules::find_first_assignments(call.store, rule_id)?;
    Ok((ids, total))
}

/// Returns the ids of validation rules that a caller names, each once; they must exist.
pub fn find_rules(call: &Call<'_, '_>, named: Option<&Json>) -> Result<Vec<String>, CallError> {
    let mut found: Vec<String> = Vec::new();
    for id in named.and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str) {
        if call.store.document(RULE.object, id)?.is_none() {
            return Err(not_found(RULE.object, id).into());
        }
        if !found.iter().any(|known| known == id) {
            found.push(id.to_owned());
        }
    }
    Ok(found)
}

/// Queues the assignment of validation rules to a document; returns the assignments.
pub fn assign(call: &mut Call<'_, '_>, rules: Vec<String>, id: &str, kind: &str) -> Vec<Json> {
    let mut assigned = Vec::new();
    for rule in rules {
        let own = call.ids.alphanumeric("asgm_", 16).to_string();
        let body = json!({
            "id": own, "rule_id": rule, "related_object_id": id, "related_object_type": kind,
            "created_at": crate::timestamp::text(call.now_ms()), "updated_at": null, "validation_status": "VALID",
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

/// Queues the changes after which an object has exactly these rules; existing assignments stay unchanged.
pub fn replace(call: &mut Call<'_, '_>, mut rules: Vec<String>, id: &str, kind: &str) -> Result<Vec<Json>, CallError> {
    let mut assignments = Vec::new();
    for known in list_documents(call, &[id])? {
        match rules.iter().position(|rule| Some(rule) == known.holder.as_ref()) {
            Some(place) => {
                rules.remove(place);
                assignments.push(Json::Object(known.body));
            }
            None => call.store.delete(ASSIGNMENT.object, &known.id),
        }
    }
    assignments.extend(assign(call, rules, id, kind));
    Ok(assignments)
}

/// Queues the removal of all rules from a deleted object.
pub fn delete_all(call: &mut Call<'_, '_>, object_id: &str) {
    call.store.delete_children(ASSIGNMENT.object, object_id);
}

/// Returns the assignments of objects, the oldest first.
pub fn list_documents(call: &Call<'_, '_>, objects: &[&str]) -> Result<Vec<Document>, CallError> {
    Ok(validation_rules::list_assignments(call.store, objects)?)
}

/// Returns the assignments of documents, by the document's id.
pub fn load_json(call: &Call<'_, '_>, objects: &[Document]) -> Result<BTreeMap<String, Vec<Json>>, CallError> {
    let ids: Vec<&str> = objects.iter().map(|document| document.id.as_str()).collect();
    let mut assigned: BTreeMap<String, Vec<Json>> = BTreeMap::new();
    for document in list_documents(call, &ids)? {
        if let Some(parent) = document.parent {
            assigned.entry(parent).or_default().push(Json::Object(document.body));
        }
    }
    Ok(assigned)
}

/// Wraps assignments in their list.
pub fn list_json(assigned: Vec<Json>) -> Json {
    json!({ "object": "list", "data_ref": "data", "total": assigned.len(), "data": assigned })
}
