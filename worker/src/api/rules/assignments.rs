//! What validation rules are assigned to: an assignment is a document between a rule and the object that it guards.
//! It must not know what a rule says.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::assignments::{ASSIGNMENT, assign, documents};
use crate::shop::validation_rules::RULE;
use crate::shop::vouchers;
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::Value as Json;

/// What a rule may be assigned to.
const KINDS: &[&str] = &["voucher", "promotion_tier", "campaign", "earning_rule", "distribution", "reward_assignment"];

/// What has one rule at most (validation-rules.md section 6).
const SINGLE: &[&str] = &["voucher", "campaign", "earning_rule"];

/// `voucher` is how older clients name the object.
const ASSIGN: &[Field] =
    &[may("related_object_type", Kind::OneOf(KINDS)), may("related_object_id", KEY), may("voucher", KEY)];

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
