//! Rollbacks of one redemption and of a stack. It must not know when one is allowed; a second one is written down as failed.

use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Answer, Call, Outcome, Route, post, refused_but_written};
use crate::http::shape::{Field, Kind, may};
use crate::moment;
use crate::shop::decision::{self, Tally};
use crate::shop::vouchers::VOUCHER;
use crate::store::document::Document;
use crate::store::facts::ById;
use scrip::decide;
use scrip::decide::rollback::{RollBack, UndonePart};
use scrip::refusal::{Reason, Refusal};
use scrip::wire::failure::{kept_customer, kept_metadata};
use scrip::wire::redemption::Written;
use scrip::wire::request::read_rollback;
use scrip::wire::rollback::{restored, write_rollback};
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = scrip::wire::request::ROLLBACK.fields();
const QUERY: &[Field] = &[may("reason", Kind::Text), may("tracking_id", Kind::Text)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/redemptions/{redemptionId}/rollback", "Roll back a redemption", roll_back_one)
        .scope("redemptions")
        .query(QUERY)
        .body(BODY)
        .answers(200, scrip::wire::redemption::ROLLBACK),
    post("/v1/redemptions/{parentRedemptionId}/rollbacks", "Roll back a stack of redemptions", roll_back_stack)
        .scope("redemptions")
        .query(QUERY)
        .body(BODY)
        .answers(200, scrip::wire::redemption::ROLLBACKS),
];

fn roll_back_one(call: &mut Call<'_, '_>) -> Outcome {
    let id = call.param("redemptionId").to_owned();
    roll_back(call, &id, false)
}

fn roll_back_stack(call: &mut Call<'_, '_>) -> Outcome {
    let id = call.param("parentRedemptionId").to_owned();
    roll_back(call, &id, true)
}

/// Reason and tracking id come in the body or in the query; the body wins.
fn read(call: &Call<'_, '_>, id: &str, stack: bool) -> Result<RollBack, CallError> {
    let mut body = call.source()?;
    for name in ["reason", "tracking_id"] {
        if let Some(value) = call.query.get(name).filter(|_| body.get(name).is_none_or(Json::is_null)) {
            body.insert(name.into(), value.into());
        }
    }
    Ok(read_rollback(id, stack, Json::Object(body).to_string().as_bytes())?)
}

fn roll_back(call: &mut Call<'_, '_>, id: &str, stack: bool) -> Outcome {
    let request = read(call, id, stack)?;
    let facts = decision::facts(call)?;
    let decided = decide::rollback(&facts, &request, call.context).map(|decision| {
        let written = write_rollback(&decision.answer, &request);
        let parts = decision.answer.parts.iter();
        let given_back = |block: &str| {
            let of =
                |part: &UndonePart| part.redemption.spent.filter(|_| part.redemption.document.get(block).is_some());
            let all = parts.clone().filter_map(of).fold(0, u64::saturating_add);
            i64::try_from(all).unwrap_or(i64::MAX).saturating_neg()
        };
        let tally = Tally {
            rolled_back: i64::try_from(parts.len()).unwrap_or(0),
            credits: given_back("gift"),
            points: given_back("loyalty_card"),
            ..Tally::default()
        };
        let customer_id = parts.clone().find_map(|part| part.redemption.customer_id.clone());
        (written, decision.changes.unwrap_or_default(), customer_id, tally)
    });
    let (customers, orders) = facts.finish()?;
    let (mut written, changes, customer_id, mut tally) = match decided {
        Ok(decided) => decided,
        Err(refusal) if refusal.reason == Reason::AlreadyRolledBack && !decision::is_bare(call) => {
            return write_second(call, id, &request, refusal);
        }
        Err(refusal) => return Err(refusal.into()),
    };
    if let Some(order) = written.documents.iter().find(|document| document.kind == "order") {
        count_order(&order.body, &orders, &mut tally);
    }
    call.store.apply(&changes.entries, None, call.now_ms());
    tell_standing(call, &mut written)?;
    decision::put(call, written.documents, &orders)?;
    decision::write_customer(call, &customers, None, customer_id.as_deref(), &tally)?;
    Ok(Answer { status: written.status, body: written.answer, headers: Vec::new() })
}

/// Shows in rollbacks who asked for them, and each voucher as it stands after them: since the redemption more may have been
/// loaded on it or spent. What is shown is stored, and is what the list of transactions tells.
fn tell_standing(call: &mut Call<'_, '_>, written: &mut Written) -> Result<(), CallError> {
    let channel = json!({ "channel_id": decision::channel(call).id, "channel_type": "API" });
    let is_bare = decision::is_bare(call);
    let mut answer: Json = serde_json::from_slice(&written.answer).unwrap_or(Json::Null);
    for document in &mut written.documents {
        let body = &mut document.body;
        if is_bare || body.get("object").and_then(Json::as_str) != Some("redemption_rollback") {
            continue;
        }
        body.insert("channel".into(), channel.clone());
        let id = body.get("voucher").and_then(|voucher| voucher.get("id")).and_then(Json::as_str);
        if let Some(voucher) = id.map(|id| call.store.document(VOUCHER.object, id)).transpose()?.flatten() {
            // The ledger does not have this rollback yet.
            let spent = body.get("amount").and_then(Json::as_i64).map(i64::unsigned_abs);
            let shown = VOUCHER.show_one(call, voucher)?;
            let mut shown = restored(shown.as_object().unwrap_or(&Map::new()), spent);
            shown.insert("updated_at".into(), moment::text(call.now_ms()).into());
            body.insert("voucher".into(), Json::Object(shown));
        }
        for told in told(&mut answer) {
            if told.get("id") == body.get("id") {
                told.clone_from(body);
            }
        }
    }
    written.answer = answer.to_string().into_bytes();
    Ok(())
}

/// The rollbacks in an answer: itself, or those that it lists.
fn told(answer: &mut Json) -> Vec<&mut Map<String, Json>> {
    if answer.get("object").is_some() {
        return answer.as_object_mut().into_iter().collect();
    }
    let mut told = Vec::new();
    for (name, value) in answer.as_object_mut().into_iter().flatten() {
        match (name.as_str(), value) {
            ("rollbacks", Json::Array(list)) => told.extend(list.iter_mut().filter_map(Json::as_object_mut)),
            ("parent_rollback", Json::Object(one)) => told.push(one),
            _ => {}
        }
    }
    told
}

/// A paid order that is called off takes its total back.
fn count_order(body: &Map<String, Json>, orders: &ById, tally: &mut Tally) {
    let status = |body: &Map<String, Json>| body.get("status").and_then(Json::as_str).unwrap_or_default().to_owned();
    let Some(before) = body.get("id").and_then(Json::as_str).and_then(|id| orders.get(id)) else { return };
    if status(&before.body) == "PAID" && status(body) == "CANCELED" {
        let total =
            before.body.get("total_amount").or_else(|| before.body.get("amount")).and_then(Json::as_i64).unwrap_or(0);
        tally.order_total = Some(total.saturating_neg());
        tally.orders = -1;
    }
}

/// A second rollback is refused, and written down as a rollback that failed.
fn write_second(call: &mut Call<'_, '_>, id: &str, request: &RollBack, refusal: Refusal) -> Outcome {
    let past = call.store.document("redemption", id)?;
    let kept = |name: &str| past.as_ref().and_then(|past| past.body.get(name)).cloned().unwrap_or(Json::Null);
    let failed_id = call.ids.hex18("rrf_").to_string();
    let body = json!({
        "id": failed_id, "object": "redemption_rollback", "date": moment::text(call.now_ms()), "customer_id": kept("customer_id"),
        "tracking_id": kept("tracking_id"), "metadata": kept_metadata(&request.metadata), "redemption": id, "reason": request.reason, "result": "FAILURE",
        "status": "FAILED", "failure_code": refusal.reason.key(), "failure_message": refusal.reason.message(), "order": null,
        "channel": kept("channel"), "customer": kept_customer(kept("customer_id").as_str()), "related_object_type": kept("related_object_type"),
        "related_object_id": kept("related_object_id"),
    });
    let document = Document {
        id: failed_id.clone(),
        key: None,
        parent: past.as_ref().and_then(|past| past.parent.clone()),
        holder: past.as_ref().and_then(|past| past.holder.clone()),
        created_at: call.now_ms(),
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert("redemption", &document);
    call.store.leaves_later();
    let tally = Tally { rollback_failed: 1, ..Tally::default() };
    decision::write_customer(call, &ById::new(), None, document.holder.as_deref(), &tally)?;
    let told: ErrorBody = crate::http::reply::error(
        refusal.reason.code(),
        refusal.reason.key(),
        refusal.reason.message(),
        &*refusal.details(),
    );
    Ok(refused_but_written(&told.about("redemption_rollback", &failed_id), call.request_id))
}
