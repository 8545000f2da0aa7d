//! Validation rules: create, get, list, update, delete. What is saved is read by the engine first, and takes effect at once.
//! It must not know what a rule means, nor what rules are assigned to.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::filter::read_moment;
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{ErrorBody, error, in_use};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{self, Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::assignments;
use crate::shop::validation_rules::{ORDERS, RULE, show};
use crate::store::document::Document;
use scrip::rules::lint;
use scrip::wire::document::read_fields;
use scrip::wire::rules::{BUNDLES, TESTS, read_rule};
use serde_json::{Map, Value as Json, json};

/// Where a rule is offered (validation-rules.md section 7); it decides nothing here.
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

/// The fields of a rule but for its name, which only a new one must have.
macro_rules! fields {
    ($name:expr) => {
        &[
            $name,
            may("type", Kind::OneOf(&["expression", "basic", "advanced", "complex"])),
            may("context_type", Kind::OneOf(CONTEXTS)),
            may("rules", Kind::Named(&TESTS)).says("Its tests by their keys, and their logic"),
            may("bundle_rules", Kind::Named(&BUNDLES)).says("The bundles of goods that it asks for"),
            may("error", Kind::Object(&[may("message", Kind::Text)])),
            may("applicable_to", scrip::wire::scope::SCOPE),
        ]
    };
}

const CREATE: &[Field] = fields!(must("name", KEY));
const UPDATE: &[Field] = fields!(may("name", KEY));

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/validation-rules", "List validation rules", list)
        .of(&RULE)
        .listed(shapes::TOTAL)
        .scope("validation-rules")
        .query(&[
            LIMIT,
            PAGE,
            may("order", Kind::OneOf(ORDERS)),
            may("start_date", Kind::DateTime),
            may("end_date", Kind::DateTime),
        ]),
    post("/v1/validation-rules", "Create a validation rule", create).of(&RULE).scope("validation-rules").body(CREATE),
    get("/v1/validation-rules/{validationRuleId}", "Get a validation rule", resource::get)
        .of(&RULE)
        .scope("validation-rules"),
    put("/v1/validation-rules/{validationRuleId}", "Update a validation rule", update)
        .of(&RULE)
        .scope("validation-rules")
        .body(UPDATE),
    delete("/v1/validation-rules/{validationRuleId}", "Delete a validation rule that nothing uses", remove)
        .of(&RULE)
        .scope("validation-rules")
        .answers(204, shapes::EMPTY),
];

/// `start_date` and `end_date` select by the moment of creation.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(RULE.object);
    for (name, sign) in [("start_date", ">="), ("end_date", "<=")] {
        if let Some(at) = read_moment(&call.query, &[name])? {
            clause.and(&format!("created_at {sign} {{}}"), at);
        }
    }
    let page = RULE.list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(RULE.list.envelope(shown, page.total))))
}

/// What a rule says where its author says nothing.
fn defaults() -> Map<String, Json> {
    let defaults = json!({
        "type": "expression", "context_type": "global", "rules": {}, "bundle_rules": {}, "error": null,
        "applicable_to": { "excluded": [], "included": [], "included_all": false },
    });
    defaults.as_object().cloned().unwrap_or_default()
}

/// Puts what was sent over what is there: a field replaces the field, a null puts it back to its default.
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

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let id = call.ids.alphanumeric("val_", 12).to_string();
    let bundle = sent.get("bundle_rules").cloned();
    let mut body = defaults();
    merge(&mut body, sent);
    body.insert("id".into(), id.clone().into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), RULE.object.into());
    let warnings = check(&body, bundle)?;
    let created_at = call.now_ms();
    let document = Document { id, key: None, parent: None, holder: None, created_at, updated_at: None, body };
    call.store.insert(RULE.object, &document);
    answer(call, document, warnings)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut document = RULE.find(call)?;
    if sent.get("name").is_some_and(Json::is_null) {
        sent.remove("name");
    }
    // Two rules may have one name, so that none is found by it.
    document.key = None;
    let bundle = sent.get("bundle_rules").cloned();
    merge(&mut document.body, sent);
    let warnings = check(&document.body, bundle)?;
    call.touch(&mut document);
    call.store.update(RULE.object, &document);
    answer(call, document, warnings)
}

/// A rule that guards something stays until it is detached: to delete it would give away what it guards.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let rule = RULE.find(call)?;
    let (assigned, total) = assignments::of_rule(call, &rule.id)?;
    if total > 0 {
        return Err(in_use((RULE.object, &rule.id), assignments::ASSIGNMENT.object, assigned, total).into());
    }
    call.store.remove(RULE.object, &rule.id);
    Ok(Answer::empty(204))
}

fn answer(call: &mut Call<'_, '_>, document: Document, warnings: Vec<Json>) -> Outcome {
    let mut shown = RULE.show_one(call, document)?;
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("warnings".into(), warnings.into());
    }
    Ok(Answer::json(shown))
}

fn invalid(details: impl Into<String>) -> ErrorBody {
    error(400, "invalid_validation_rules", "Invalid Validation Rule Definition", details)
}

/// What the engine would not read must not be stored: nothing that it guards could be decided. Gives what its author
/// should look at again, as `{ path, text }`. The engine looks at the goods of a bundle and their number only; what else was `sent` of it is
/// shown again, and must be what it is said to be.
fn check(body: &Map<String, Json>, sent: Option<Json>) -> Result<Vec<Json>, ErrorBody> {
    let rule = read_fields(body, read_rule).map_err(|problem| {
        // A missing property has its own sentence, without the place.
        let whole = problem.text.starts_with("Rule '");
        invalid(if whole { problem.text.clone() } else { problem.to_string() })
    })?;
    if let Some(sent) = sent {
        shape::check_open(&BUNDLES.kind, &sent, "bundle_rules").map_err(|problem| invalid(problem.to_string()))?;
    }
    Ok(lint(&rule).into_iter().map(|warning| json!({ "path": warning.path, "text": warning.text })).collect())
}
