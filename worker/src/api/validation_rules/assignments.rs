//! Assignments of validation rules: an assignment is a document between a rule and the object that it guards.

use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::validation_rules::assignments::{ASSIGNMENT, assign, list_documents};
use crate::domain::validation_rules::rules::RULE;
use crate::domain::vouchers::voucher;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::index::code_key::code_key;
use scrip::wire::Problem;
use serde_json::Value as Json;

/// Kinds of objects that a rule may be assigned to.
const KINDS: &[&str] = &["voucher", "promotion_tier", "campaign", "earning_rule", "distribution", "reward_assignment"];

/// Kinds of objects with at most one rule (docs/spec/validation-rules.md#6).
const SINGLE: &[&str] = &["voucher", "campaign", "earning_rule"];

/// Older clients name the object `voucher`.
const ASSIGN: &[Field] = &[
    may("related_object_type", FieldType::OneOf(KINDS))
        .description("Type of the object that the rule is assigned to. Default `voucher`."),
    may("related_object_id", KEY)
        .description("ID of the object that the rule is assigned to. A voucher is also found by its code, a campaign by its name. Required, unless `voucher` is present."),
    may("voucher", KEY)
        .description("Code or ID of the voucher that the rule is assigned to. Ignored if `related_object_id` is present, or for another type."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/validation-rules-assignments", "List the assignments of all validation rules", list_all)
        .describe(
            "listAllValidationRuleAssignments",
            "Returns the assignments of all validation rules in the project, the newest first by default. An unknown order is refused with `invalid_query_params`.",
        )
        .returns("The assignments of this page and the total.")
        .of(&ASSIGNMENT)
        .lists_resource(shapes::TOTAL)
        .scope("validation-rules-assignments")
        .query(&[
            LIMIT,
            PAGE,
            may("related_object_id", KEY)
                .description("ID of an object, or code of a voucher. Only assignments of this object are listed."),
            may("rule", KEY).description("ID of a validation rule. Only assignments of this rule are listed."),
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "id", "-id"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ]),
    get("/v1/validation-rules/{validationRuleId}/assignments", "List the assignments of a validation rule", list)
        .describe(
            "listValidationRuleAssignments",
            "Returns the assignments of one validation rule, the newest first by default. An unknown rule is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The assignments of this page and the total.")
        .of(&ASSIGNMENT)
        .lists_resource(shapes::TOTAL)
        .scope("validation-rules")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ]),
    post("/v1/validation-rules/{validationRuleId}/assignments", "Assign a validation rule", create)
        .describe(
            "createValidationRuleAssignment",
            "Assigns a rule to an object; the assignment takes effect at once. A voucher, campaign or earning rule has at most one rule, which `force` replaces. The webhook event `business_validation_rule.assignment.created` follows. A rule that is already assigned, or an object that has another rule, is refused with `duplicate_found`. An unknown rule or object is refused with `not_found`.",
        )
        .returns("The new assignment.")
        .of(&ASSIGNMENT)
        .scope("validation-rules")
        .query(&[may("force", FieldType::Bool)
            .description("`true` to replace the present assignment of a voucher, campaign or earning rule. Default `false`.")])
        .body(ASSIGN),
    delete("/v1/validation-rules/{validationRuleId}/assignments/{assignmentId}", "Unassign a validation rule", remove)
        .describe(
            "deleteValidationRuleAssignment",
            "Removes the assignment, so that the rule no longer restricts the object; the rule itself stays. The webhook event `business_validation_rule.assignment.deleted` follows. An assignment of another rule is refused with `not_found`.",
        )
        .returns("No content. The assignment is removed.")
        .of(&ASSIGNMENT)
        .scope("validation-rules")
        .answers(204, shapes::EMPTY),
];

/// Lists assignments; those of a voucher by its id or by its code.
fn list_all(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(ASSIGNMENT.object);
    if let Some(name) = call.query.parameter("related_object_id") {
        let key = code_key(name, call.caller.settings.case_sensitive_codes);
        let voucher = call.store.document_by_name("voucher", &key, name)?.map(|voucher| voucher.id);
        let objects: Vec<&str> = [Some(name), voucher.as_deref()].into_iter().flatten().collect();
        clause.within_any(&objects);
    }
    list_within(call, clause)
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = RULE.find(call)?;
    let mut clause = Clause::of_kind(ASSIGNMENT.object);
    clause.held_by(&rule.id);
    list_within(call, clause)
}

fn list_within(call: &mut Call<'_, '_>, clause: Clause) -> HandlerResult {
    let page = ASSIGNMENT.list.select(call.store, &call.query, clause)?;
    let assignments = resource::bodies_to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(ASSIGNMENT.list.envelope(assignments, page.total))))
}

/// Creates an assignment. With `force` it replaces the rule that a voucher or a campaign has.
fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let rule = RULE.find(call)?;
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let kind = text("related_object_type").unwrap_or("voucher");
    let name = text("related_object_id").or_else(|| text("voucher").filter(|_| kind == "voucher"));
    let name = name.ok_or_else(|| Problem::missing("", "related_object_id"))?;
    let object = find_object(call, kind, name)?;
    for known in list_documents(call, &[object.id.as_str()])? {
        let is_same = known.holder.as_deref() == Some(&rule.id);
        if !is_same && !SINGLE.contains(&kind) {
            continue;
        }
        if is_same || !call.query.is_true("force") {
            return Err(duplicate(ASSIGNMENT.object, "id", &known.id).into());
        }
        call.store.delete(ASSIGNMENT.object, &known.id);
    }
    let assigned = assign(call, vec![rule.id], &object.id, kind);
    Ok(Response::json(assigned.into_iter().next().unwrap_or(Json::Null)))
}

/// Finds the object that an assignment names: a voucher also by its code, a campaign also by its name.
fn find_object(call: &Call<'_, '_>, kind: &str, name: &str) -> Result<Document, CallError> {
    match kind {
        "voucher" => voucher::find_by_name(call, name),
        _ => call.store.document_by_name(kind, name, name)?.ok_or_else(|| not_found(kind, name).into()),
    }
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = RULE.find(call)?;
    let assignment = ASSIGNMENT.find(call)?;
    if assignment.holder.as_deref() != Some(&rule.id) {
        return Err(not_found(ASSIGNMENT.object, &assignment.id).into());
    }
    call.store.delete(ASSIGNMENT.object, &assignment.id);
    Ok(Response::empty(204))
}
