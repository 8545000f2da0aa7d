//! What validation rules are assigned to: an assignment is a document between a rule and the object that it guards.
//! It must not know what a rule says.

use crate::api::codes::vouchers;
use crate::api::rules::validation_rules::RULE;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::list::{Clause, Filter, List};
use crate::document::resource::{self, Resource, plain_key};
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::store::document::Document;
use crate::store::sql;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// What a rule may be assigned to.
const KINDS: &[&str] = &["voucher", "promotion_tier", "campaign", "earning_rule", "distribution", "reward_assignment"];

/// What has one rule at most (validation-rules.md section 6).
const SINGLE: &[&str] = &["voucher", "campaign"];

/// `voucher` is how older clients name the object.
const ASSIGN: &[Field] =
    &[may("related_object_type", Kind::OneOf(KINDS)), may("related_object_id", KEY), may("voucher", KEY)];

/// Assignments as a resource: the parent is the object, the holder is the rule.
pub const ASSIGNMENT: Resource = Resource {
    object: "validation_rules_assignment",
    shape: scrip::wire::voucher::ASSIGNMENT,
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

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/validation-rules-assignments", "List assignments of validation rules", resource::list)
        .of(&ASSIGNMENT)
        .listed(shapes::TOTAL)
        .scope("validation-rules-assignments")
        .query(&[
            LIMIT,
            PAGE,
            may("related_object_id", KEY),
            may("rule", KEY),
            may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "id", "-id"])),
        ]),
    get("/v1/validation-rules/{validationRuleId}/assignments", "List what a validation rule is assigned to", list)
        .of(&ASSIGNMENT)
        .listed(shapes::TOTAL)
        .scope("validation-rules")
        .query(&[LIMIT, PAGE, may("order", Kind::OneOf(&["created_at", "-created_at"]))]),
    post("/v1/validation-rules/{validationRuleId}/assignments", "Assign a validation rule", create)
        .of(&ASSIGNMENT)
        .scope("validation-rules")
        .query(&[may("force", Kind::Bool)])
        .body(ASSIGN),
    delete("/v1/validation-rules/{validationRuleId}/assignments/{assignmentId}", "Detach a validation rule", remove)
        .of(&ASSIGNMENT)
        .scope("validation-rules")
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let rule = RULE.find(call)?;
    let mut clause = Clause::of_kind(ASSIGNMENT.object);
    clause.and("holder = {}", rule.id);
    let page = ASSIGNMENT.list.select(call.store, &call.query, clause)?;
    let shown = resource::show_body(call, page.documents)?;
    Ok(Answer::json(Json::Object(ASSIGNMENT.list.envelope(shown, page.total))))
}

/// With `force` a voucher or a campaign gives up the rule that it has for this one.
fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let rule = RULE.find(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let kind = text("related_object_type").unwrap_or("voucher");
    let name = text("related_object_id").or_else(|| text("voucher").filter(|_| kind == "voucher"));
    let name = name.ok_or_else(|| Problem::missing("", "related_object_id"))?;
    let object = find_object(call, kind, name)?;
    for known in documents(call, &[object.id.as_str()])? {
        let is_same = known.holder.as_deref() == Some(&rule.id);
        if !is_same && !SINGLE.contains(&kind) {
            continue;
        }
        if is_same || !call.query.is_true("force") {
            return Err(duplicate(ASSIGNMENT.object, "id", &known.id).into());
        }
        call.store.remove(ASSIGNMENT.object, &known.id);
    }
    let assigned = assign(call, vec![rule.id], &object.id, kind);
    Ok(Answer::json(assigned.into_iter().next().unwrap_or(Json::Null)))
}

/// The object that an assignment names: a voucher also by its code, a campaign also by its name.
fn find_object(call: &Call<'_, '_>, kind: &str, name: &str) -> Result<Document, CallError> {
    match kind {
        "voucher" => vouchers::find_named(call, name),
        _ => call.store.document_by_name(kind, name, name)?.ok_or_else(|| not_found(kind, name).into()),
    }
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let rule = RULE.find(call)?;
    let assignment = ASSIGNMENT.find(call)?;
    if assignment.holder.as_deref() != Some(&rule.id) {
        return Err(not_found(ASSIGNMENT.object, &assignment.id).into());
    }
    call.store.remove(ASSIGNMENT.object, &assignment.id);
    Ok(Answer::empty(204))
}

/// Some of a rule's assignments by id, as many as a refusal names, and how many there are.
pub fn of_rule(call: &Call<'_, '_>, rule_id: &str) -> Result<(Vec<String>, i64), CallError> {
    let rows = call.store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules_assignment' AND holder = ?1 ORDER BY seq LIMIT 10",
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
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent = ?1",
        vec![object_id.into()],
    );
}

fn documents(call: &Call<'_, '_>, objects: &[&str]) -> Result<Vec<Document>, CallError> {
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
