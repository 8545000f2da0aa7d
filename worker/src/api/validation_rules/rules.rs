//! Validation rules: create, get, list, update, delete. The engine reads a rule before it is saved, and the rule takes effect
//! at once.

use crate::api::validation_rules::counts;
use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::filter::read_instant;
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::validation_rules::assignments;
use crate::domain::validation_rules::rules::{ORDERS, RULE, to_json};
use crate::http::reply::{ErrorBody, error, in_use};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{self, Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::timestamp;
use scrip::fields_of;
use scrip::rules::lint;
use scrip::wire::document::read_fields;
use scrip::wire::rules::{BUNDLES, TESTS, read_rule};
use serde_json::{Map, Value as Json, json};

/// Contexts in which a rule is offered (docs/spec/validation-rules.md#7); they have no effect here.
const CONTEXTS: &[&str] = &[
    "global",
    "earning_rule.order.paid",
    "earning_rule.custom_event",
    "earning_rule.customer.segment.entered",
    "earning_rule.customer.tier.joined",
    "earning_rule.customer.tier.left",
    "earning_rule.customer.tier.upgraded",
    "earning_rule.customer.tier.downgraded",
    "earning_rule.customer.tier.prolonged",
    "campaign.discount_coupons",
    "campaign.discount_coupons.discount.apply_to_order",
    "campaign.discount_coupons.discount.apply_to_items",
    "campaign.discount_coupons.discount.apply_to_items_proportionally",
    "campaign.discount_coupons.discount.apply_to_items_proportionally_by_quantity",
    "campaign.discount_coupons.discount.apply_to_items_by_quantity",
    "campaign.discount_coupons.discount.fixed.apply_to_items",
    "campaign.discount_coupons.discount.percent.apply_to_items",
    "campaign.gift_vouchers",
    "campaign.gift_vouchers.gift.apply_to_order",
    "campaign.gift_vouchers.gift.apply_to_items",
    "campaign.referral_program",
    "campaign.referral_program.discount.apply_to_order",
    "campaign.referral_program.discount.apply_to_items",
    "campaign.referral_program.discount.apply_to_items_proportionally",
    "campaign.referral_program.discount.apply_to_items_proportionally_by_quantity",
    "campaign.referral_program.discount.apply_to_items_by_quantity",
    "campaign.referral_program.discount.fixed.apply_to_items",
    "campaign.referral_program.discount.percent.apply_to_items",
    "campaign.promotion",
    "campaign.promotion.discount.apply_to_order",
    "campaign.promotion.discount.apply_to_items",
    "campaign.promotion.discount.apply_to_items_proportionally",
    "campaign.promotion.discount.apply_to_items_proportionally_by_quantity",
    "campaign.promotion.discount.apply_to_items_by_quantity",
    "campaign.promotion.discount.fixed.apply_to_items",
    "campaign.promotion.discount.percent.apply_to_items",
    "campaign.loyalty_program",
    "voucher.discount_voucher",
    "voucher.discount_voucher.discount.apply_to_order",
    "voucher.discount_voucher.discount.apply_to_items",
    "voucher.discount_voucher.discount.apply_to_items_proportionally",
    "voucher.discount_voucher.discount.apply_to_items_proportionally_by_quantity",
    "voucher.discount_voucher.discount.apply_to_items_by_quantity",
    "voucher.discount_voucher.discount.fixed.apply_to_items",
    "voucher.discount_voucher.discount.percent.apply_to_items",
    "voucher.gift_voucher",
    "voucher.gift_voucher.gift.apply_to_order",
    "voucher.gift_voucher.gift.apply_to_items",
    "voucher.loyalty_card",
    "distribution.custom_event",
    "distribution.order.paid",
    "distribution.order.created",
    "distribution.order.canceled",
    "distribution.order.updated",
    "reward_assignment.pay_with_points",
];

/// Fields of a rule except its name, which only a new one must have.
const DEFINITION: &[Field] = &[
    may("type", FieldType::OneOf(&["expression", "basic", "advanced", "complex"]))
        .description("Form in which the rule was edited. Stored as sent, without effect. Default `expression`."),
    may("context_type", FieldType::OneOf(CONTEXTS))
        .description("Kind of object for which editors offer the rule. Does not restrict assignments. Default `global`."),
    may("rules", FieldType::Named(&TESTS))
        .description("Tests by their keys, and the logic that joins them. Default is an empty object, which every request passes."),
    may("bundle_rules", FieldType::Named(&BUNDLES))
        .description("Product bundles that an order must contain. Default is an empty object, which requires none."),
    may(
        "error",
        FieldType::Object(&[may("message", FieldType::Text)
            .description("Text of the message, returned with the refusal.")]),
    )
    .description("Message of the merchant for failed tests without a message of their own."),
    may("applicable_to", scrip::wire::scope::SCOPE)
        .description("Items that a discount with this rule may act on. An order without such items still passes the rule. Default is all items."),
];

const CREATE: &[Field] = fields_of!(&[must("name", KEY).description("Name of the rule.")], DEFINITION);
const UPDATE: &[Field] =
    fields_of!(&[may("name", KEY).description("Name of the rule. `null` leaves the name as is.")], DEFINITION);

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/validation-rules", "List validation rules", list)
        .describe(
            "listValidationRules",
            "Returns the validation rules of the project with the number of their assignments, the newest first by default. An unknown order or a malformed date is refused with `invalid_query_params`.",
        )
        .returns("The rules of this page and the total.")
        .of(&RULE)
        .lists_resource(shapes::TOTAL)
        .scope("validation-rules")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(ORDERS))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("start_date", FieldType::DateTime)
                .description("Earliest moment of creation, in UTC. Only rules created from then on are listed."),
            may("end_date", FieldType::DateTime)
                .description("Latest moment of creation, in UTC. Only rules created until then are listed."),
        ]),
    post("/v1/validation-rules", "Create a validation rule", create)
        .describe(
            "createValidationRule",
            "Creates a rule after a check of its names, operators, logic and items. The rule has no effect until assigned to a campaign, voucher or another object. Tests that always or never pass, are repeated or are never evaluated are returned as `warnings`, not refused. The webhook event `business_validation_rule.created` follows. A definition that cannot be evaluated is refused with `invalid_validation_rules`, a malformed body with `invalid_payload`. Where the project has many redemptions and no rule has asked for these counts before, the call is refused with `counts_not_ready` until they are made.",
        )
        .returns("The new rule, with warnings about its definition.")
        .of(&RULE)
        .scope("validation-rules")
        .body(CREATE),
    get("/v1/validation-rules/{validationRuleId}", "Get a validation rule", resource::get)
        .describe(
            "getValidationRule",
            "Returns one validation rule with the number of its assignments. An unknown ID is refused with `not_found`.",
        )
        .returns("The rule.")
        .of(&RULE)
        .scope("validation-rules"),
    put("/v1/validation-rules/{validationRuleId}", "Update a validation rule", update)
        .describe(
            "updateValidationRule",
            "Replaces the fields that are sent; `null` resets a field to its default. The change applies at once to every object that the rule is assigned to. The webhook event `business_validation_rule.updated` follows. A definition that cannot be evaluated is refused with `invalid_validation_rules`, an unknown ID with `not_found`. Where the project has many redemptions and no rule has asked for these counts before, the call is refused with `counts_not_ready` until they are made.",
        )
        .returns("The rule after the change, with warnings about its definition.")
        .of(&RULE)
        .scope("validation-rules")
        .body(UPDATE),
    delete("/v1/validation-rules/{validationRuleId}", "Delete a validation rule", remove)
        .describe(
            "deleteValidationRule",
            "Deletes a rule that is not assigned to any object. The webhook event `business_validation_rule.deleted` follows. A rule with assignments is refused with `resource_in_use`, which lists up to 10 of them; an unknown ID is refused with `not_found`.",
        )
        .returns("No content. The rule is deleted.")
        .of(&RULE)
        .scope("validation-rules")
        .answers(204, shapes::EMPTY),
];

/// Lists rules; `start_date` and `end_date` select by the time of creation.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(RULE.object);
    if let Some(at) = read_instant(&call.query, &["start_date"])? {
        clause.created_from(at);
    }
    if let Some(at) = read_instant(&call.query, &["end_date"])? {
        clause.created_until(at);
    }
    let page = RULE.list.select(call.store, &call.query, clause)?;
    let json = to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(RULE.list.envelope(json, page.total))))
}

/// Returns the defaults of a rule.
fn defaults() -> Map<String, Json> {
    let defaults = json!({
        "type": "expression", "context_type": "global", "rules": {}, "bundle_rules": {}, "error": null,
        "applicable_to": { "excluded": [], "included": [], "included_all": false },
    });
    defaults.as_object().cloned().unwrap_or_default()
}

/// Merges sent members: a field replaces the field, a null resets it to its default.
fn merge(body: &mut Map<String, Json>, sent: Map<String, Json>) {
    let defaults = defaults();
    for (name, value) in sent {
        let default = defaults.get(&name).cloned();
        let value = match (value, default) {
            (Json::Null, default) => default.unwrap_or(Json::Null),
            (Json::Object(sent), Some(Json::Object(mut whole))) if name == "applicable_to" => {
                whole.extend(sent.into_iter().filter(|(_, value)| !value.is_null()));
                Json::Object(whole)
            }
            (value, _) => value,
        };
        body.insert(name, value);
    }
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let id = call.ids.alphanumeric("val_", 12).to_string();
    let bundle = sent.get("bundle_rules").cloned();
    let mut body = defaults();
    merge(&mut body, sent);
    body.insert("id".into(), id.clone().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), RULE.object.into());
    let warnings = check(&body, bundle)?;
    if let Some(refusal) = counts::keep(call, &counts::asked_by(&body))? {
        return Ok(refusal);
    }
    let created_at = call.now_ms();
    let document = Document { id, key: None, parent: None, holder: None, created_at, updated_at: None, body };
    call.store.insert(RULE.object, &document);
    answer(call, document, warnings)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut document = RULE.find(call)?;
    if sent.get("name").is_some_and(Json::is_null) {
        sent.remove("name");
    }
    // Two rules may have the same name, so the name is no key.
    document.key = None;
    let bundle = sent.get("bundle_rules").cloned();
    merge(&mut document.body, sent);
    let warnings = check(&document.body, bundle)?;
    if let Some(refusal) = counts::keep(call, &counts::asked_by(&document.body))? {
        return Ok(refusal);
    }
    call.touch(&mut document);
    call.store.update(RULE.object, &document);
    answer(call, document, warnings)
}

/// Deletes a rule. A rule with assignments is refused until they are removed: its deletion would open the guarded objects.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let rule = RULE.find(call)?;
    let (assigned, total) = assignments::find_of_rule(call, &rule.id)?;
    if total > 0 {
        return Err(in_use(RULE.object, &rule.id, assignments::ASSIGNMENT.object, assigned, total).into());
    }
    call.store.delete(RULE.object, &rule.id);
    Ok(Response::empty(204))
}

fn answer(call: &mut Call<'_, '_>, document: Document, warnings: Vec<Json>) -> HandlerResult {
    let mut json = RULE.one_to_json(call, document)?;
    if let Some(json) = json.as_object_mut() {
        json.insert("warnings".into(), warnings.into());
    }
    Ok(Response::json(json))
}

fn invalid(details: impl Into<String>) -> ErrorBody {
    error(400, "invalid_validation_rules", "Invalid Validation Rule Definition", details)
}

/// Refuses rules that the engine cannot read: objects that they guard could not be decided. Returns the findings for the author,
/// as `{ path, text }`. The engine reads only the goods of a product bundle and their number; other `sent` members are returned
/// again, and must have their declared types.
fn check(body: &Map<String, Json>, sent: Option<Json>) -> Result<Vec<Json>, ErrorBody> {
    let rule = read_fields(body, read_rule).map_err(|problem| {
        // A missing property has its own sentence without a path.
        let whole = problem.text.starts_with("Rule '");
        invalid(if whole { problem.text.clone() } else { problem.to_string() })
    })?;
    if let Some(sent) = sent {
        shape::check_open(&BUNDLES.kind, &sent, "bundle_rules").map_err(|problem| invalid(problem.to_string()))?;
    }
    Ok(lint(&rule).into_iter().map(|warning| json!({ "path": warning.path, "text": warning.text })).collect())
}
