//! The legacy forms of a request, which name one redeemable outside the body, as validations and redemptions of only that
//! redeemable.

use crate::api::redemptions::admission;
use crate::api::redemptions::redemptions::{
    ASSIGNED_REWARD, CLIENT, GIFT, OPTIONS, ORDER, SESSION, check, read_fields, run,
};
use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY};
use crate::domain::decisions::facts;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, ClientSwitch, HandlerResult, Route, post};
use crate::http::shape::{Field, FieldType, check_open, may, must};
use scrip::Context;
use scrip::decide::{self, ValidationDecision};
use scrip::model::request::{RedeemableObject, Redeemables, RequestedRedeemable};
use scrip::wire::Problem;
use scrip::wire::decision::legacy_single::{TriedTier, write_tried};
use scrip::wire::redemptions::record::RecordForm;
use serde_json::{Map, Value as Json, json};

/// The operations.
pub const ROUTES: &[Route] = &[post("/client/v1/redeem", "Redeem a voucher from a client", redeem_one)
    .describe(
        "clientRedeemVoucher",
        "Legacy form of a redemption, for one voucher. Applies the voucher to an order and records one redemption, or a failed one. Send an `Idempotency-Key` so that a retry is not counted twice. The webhook event `redemption.succeeded` or `redemption.failed` follows. A closed switch is refused with `forbidden`, a code that the client may not use with `not_found`.",
    )
    .returns("The redemption, reduced to fields that a client may see.")
    .for_classes(CLIENT)
    .names_codes()
    .scope("redeem")
    .keeps_input()
    .allowed_by(ClientSwitch::Redeem)
    .query(&[
        must("code", KEY).description("Code of the voucher."),
        may("tracking_id", FieldType::Text)
            .description("Tracking ID of the customer. Takes precedence over a tracking ID in the body."),
    ])
    .body(REDEEM)
    .answers(200, scrip::wire::redemptions::redemption::REDEMPTION)];

/// Redeems in the legacy form: the query names one voucher, and the redemption itself is the response.
fn redeem_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let code = call.query.parameter("code").filter(|code| !code.is_empty());
    let code =
        code.ok_or_else(|| crate::http::reply::invalid_query("Query should have required property 'code'"))?.to_owned();
    let mut body = call.source()?;
    if let Some(tracking_id) = call.query.parameter("tracking_id") {
        body.insert("tracking_id".into(), tracking_id.into());
    }
    redeem_single(call, "voucher", &code, body)
}

/// Redeems one redeemable; the response is its redemption.
pub fn redeem_single(call: &mut Call<'_, '_>, object: &str, id: &str, body: Map<String, Json>) -> HandlerResult {
    let mut request = read_single(call, object, id, body)?;
    run(call, &mut request, RecordForm::First)
}

/// Validates one redeemable; `write` formats the decision.
pub fn validate_single<T>(
    call: &mut Call<'_, '_>,
    object: &str,
    id: &str,
    body: Map<String, Json>,
    write: impl FnOnce(&ValidationDecision<'_>, &Context) -> T,
) -> Result<T, CallError> {
    let request = read_single(call, object, id, body)?;
    check(call, &request, write)
}

/// Validates tiers separately for one order, and returns the decisions in the order of the tiers. The facts of the order are
/// read once, and all tiers share the step budget of one decision.
pub fn validate_each(
    call: &mut Call<'_, '_>,
    tiers: &[(String, Map<String, Json>)],
    body: Map<String, Json>,
) -> Result<Vec<TriedTier>, CallError> {
    let mut request = read_single(call, "promotion_tier", "any", body)?;
    if tiers.is_empty() {
        return Ok(Vec::new());
    }
    admission::check(call, &request)?;
    let facts = facts::facts(call)?;
    let mut decided = Vec::with_capacity(tiers.len());
    for (id, tier_json) in tiers {
        let tier = RequestedRedeemable {
            object: RedeemableObject::PromotionTier,
            ..RequestedRedeemable::named(id.as_str().into())
        };
        request.redeemables = vec![tier];
        decided.push(decide::validate(&facts, &request, call.context).map(|decision| {
            facts.set_step_budget(&decision.answer.evaluated.case.budget);
            write_tried(&decision.answer, call.context, tier_json)
        }));
    }
    facts.end()?;
    decided.into_iter().map(|tried| tried.map_err(CallError::from)).collect()
}

/// Replaces an assignment to the program by its reward: either may name the reward.
fn resolve_assignment(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    const ASSIGNED: FieldType = FieldType::Open(&[may("assignment_id", KEY)], &FieldType::Any);
    if let Some(reward) = body.get("reward") {
        check_open(&ASSIGNED, reward, "reward")?;
    }
    let Some(reward) = body.get_mut("reward").and_then(Json::as_object_mut) else { return Ok(()) };
    let Some(name) = reward.remove("assignment_id").and_then(|name| name.as_str().map(str::to_owned)) else {
        return Ok(());
    };
    let found = call.store.document("reward_assignment", &name)?;
    let assigned =
        found.and_then(|assignment| assignment.parent).or_else(|| call.client.is_some().then(|| name.clone()));
    let assigned = assigned.ok_or_else(|| not_found("reward_assignment", &name))?;
    let reward_id = reward.entry("id").or_insert_with(|| assigned.as_str().into());
    if reward_id.as_str() != Some(assigned.as_str()) {
        let message = format!("must be an assignment of the reward {reward_id} (actual value is `{name}`)");
        return Err(Problem::at("reward.assignment_id", message).into());
    }
    Ok(())
}

/// Reads the legacy form of a request: one redeemable named separately, and next to the order the amount spent of it.
pub fn read_single(
    call: &Call<'_, '_>,
    object: &str,
    id: &str,
    mut body: Map<String, Json>,
) -> Result<Redeemables, CallError> {
    resolve_assignment(call, &mut body)?;
    let mut redeemable = json!({ "object": object, "id": id });
    for name in ["gift", "reward"] {
        if let (Some(value), Some(redeemable)) = (body.remove(name), redeemable.as_object_mut()) {
            redeemable.insert(name.into(), value);
        }
    }
    body.insert("redeemables".into(), json!([redeemable]));
    read_fields(call, &body).map_err(|stop| match stop {
        CallError::Refused(mut body) => {
            // The caller sent the gift at the top level, so the error names it there.
            body.details = body.details.take().map(|details| details.replace(".redeemables[0].", "."));
            CallError::Refused(body)
        }
        fault => fault,
    })
}

const REDEEM: &[Field] = &[
    may("order", ORDER).description("Order to which the voucher is applied."),
    may("customer", CUSTOMER_OBJECT)
        .description("Customer who uses the voucher. A redemption stores the profile that is sent."),
    may("session", SESSION).description("Lock to set, or to use by its key. Absent means no lock."),
    may("gift", GIFT).description("Gift credits to use from a gift card. Absent means the highest possible number."),
    may("reward", ASSIGNED_REWARD)
        .description("Reward that the points of a loyalty card buy. Required for a loyalty card."),
    may("metadata", FieldType::Map).description("Metadata of the redemption, which validation rules can test."),
    may("options", OPTIONS).description("Names of further data to include in the answer."),
];
