//! The older forms of a request, which name one thing apart from the rest of the body, as validations and redemptions of that thing
//! alone. It must not know how anything is decided.

use crate::api::decisions::admission;
use crate::api::decisions::redemptions::{
    ASSIGNED_REWARD, CLIENT, GIFT, OPTIONS, ORDER, SESSION, check, read_fields, run,
};
use crate::document::fields::{BUYER, KEY};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Outcome, Route, Switch, post};
use crate::http::shape::{Field, Kind, may, must};
use crate::shop::decision;
use scrip::Context;
use scrip::decide::{self, Validated};
use scrip::model::request::{Redeemable, RedeemableObject, Redeemables};
use scrip::wire::Problem;
use scrip::wire::record::Form;
use scrip::wire::single::{Tried, write_tried};
use serde_json::{Map, Value as Json, json};

/// The operations.
pub const ROUTES: &[Route] = &[post("/client/v1/redeem", "Redeem one voucher from a page", redeem_one)
    .for_classes(CLIENT)
    .names_codes()
    .scope("redeem")
    .switched(Switch::Redeem)
    .query(&[must("code", KEY), may("tracking_id", Kind::Text)])
    .body(REDEEM)
    .answers(200, scrip::wire::redemption::REDEMPTION)];

/// The older form: one voucher named in the query, and the redemption itself as the answer.
fn redeem_one(call: &mut Call<'_, '_>) -> Outcome {
    let code = call.query.get("code").filter(|code| !code.is_empty());
    let code =
        code.ok_or_else(|| crate::http::reply::invalid_query("Query should have required property 'code'"))?.to_owned();
    let mut body = call.source()?;
    if let Some(tracking_id) = call.query.get("tracking_id") {
        body.insert("tracking_id".into(), tracking_id.into());
    }
    redeem_alone(call, ("voucher", &code), body)
}

/// Redeems one thing alone, and answers its redemption itself.
pub fn redeem_alone(call: &mut Call<'_, '_>, named: (&str, &str), body: Map<String, Json>) -> Outcome {
    let mut request = read_alone(call, named, body)?;
    run(call, &mut request, Form::First)
}

/// Validates one thing alone, and gives what is written of it.
pub fn validate_alone<T>(
    call: &mut Call<'_, '_>,
    named: (&str, &str),
    body: Map<String, Json>,
    write: impl FnOnce(&Validated<'_>, &Context) -> T,
) -> Result<T, CallError> {
    let request = read_alone(call, named, body)?;
    check(call, &request, write)
}

/// Validates each of these tiers alone on the same order, and gives them as they were tried, in their order. What the order needs to know is
/// read once for all of them, and all of them together may do the work of one decision.
pub fn validate_each(
    call: &mut Call<'_, '_>,
    tiers: &[(String, Map<String, Json>)],
    body: Map<String, Json>,
) -> Result<Vec<Tried>, CallError> {
    let mut request = read_alone(call, ("promotion_tier", "any"), body)?;
    if tiers.is_empty() {
        return Ok(Vec::new());
    }
    admission::check(call, &request)?;
    let facts = decision::facts(call)?;
    let mut decided = Vec::with_capacity(tiers.len());
    for (id, shown) in tiers {
        let tier = Redeemable { object: RedeemableObject::PromotionTier, ..Redeemable::named(id.as_str().into()) };
        request.redeemables = vec![tier];
        decided.push(decide::validate(&facts, &request, call.context).map(|decision| {
            facts.left(&decision.answer.evaluated.case.work);
            write_tried(&decision.answer, call.context, shown)
        }));
    }
    facts.end()?;
    decided.into_iter().map(|tried| tried.map_err(CallError::from)).collect()
}

/// A reward may be named by its assignment to the program instead.
fn settle_assignment(call: &Call<'_, '_>, body: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(reward) = body.get_mut("reward").and_then(Json::as_object_mut) else { return Ok(()) };
    let Some(name) = reward.remove("assignment_id").and_then(|name| name.as_str().map(str::to_owned)) else {
        return Ok(());
    };
    let found = call.store.document("reward_assignment", &name)?;
    let assigned = found.and_then(|assignment| assignment.parent).or_else(|| call.page.is_some().then(|| name.clone()));
    let assigned = assigned.ok_or_else(|| not_found("reward_assignment", &name))?;
    let said = reward.entry("id").or_insert_with(|| assigned.as_str().into());
    if said.as_str() != Some(assigned.as_str()) {
        let told = format!("must be an assignment of the reward {said} (actual value is `{name}`)");
        return Err(Problem::at("reward.assignment_id", told).into());
    }
    Ok(())
}

/// Reads the older form of a request: one thing named apart, and beside the order what is spent of it.
pub fn read_alone(
    call: &Call<'_, '_>,
    (object, id): (&str, &str),
    mut body: Map<String, Json>,
) -> Result<Redeemables, CallError> {
    settle_assignment(call, &mut body)?;
    let mut redeemable = json!({ "object": object, "id": id });
    for name in ["gift", "reward"] {
        if let (Some(value), Some(redeemable)) = (body.remove(name), redeemable.as_object_mut()) {
            redeemable.insert(name.into(), value);
        }
    }
    body.insert("redeemables".into(), json!([redeemable]));
    read_fields(call, &body).map_err(|stop| match stop {
        CallError::Refused(mut body) => {
            // The caller sent the gift at the top, and is told of it there.
            body.details = body.details.take().map(|details| details.replace(".redeemables[0].", "."));
            CallError::Refused(body)
        }
        fault => fault,
    })
}

const REDEEM: &[Field] = &[
    may("order", ORDER),
    may("customer", BUYER),
    may("session", SESSION),
    may("gift", GIFT),
    may("reward", ASSIGNED_REWARD),
    may("metadata", Kind::Map),
    may("options", OPTIONS),
];
