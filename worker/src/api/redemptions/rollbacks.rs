//! Rollbacks of one redemption and of a stack; a second rollback is stored as failed.

use crate::domain::balances::point_postings;
use crate::domain::caller;
use crate::domain::customers::summary;
use crate::domain::decisions::facts;
use crate::domain::rewards::returns;
use crate::domain::rewards::returns::ReturnedReward;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Call, HandlerResult, Response, Route, post, refused_but_written};
use crate::http::shape::{Field, FieldType, may};
use crate::store::facts::DocumentsById;
use scrip::decide::rollback::{RollbackDecision, RollbackRequest};
use scrip::decide::{self, SummaryDelta};
use scrip::facts::{Fact, Facts};
use scrip::json::Node;
use scrip::ledger::Entry;
use scrip::model::redemption::StoredRedemption;
use scrip::refusal::{Reason, Refusal};
use scrip::wire::redemptions::failure::record_refused;
use scrip::wire::redemptions::rollback::{StoredObjects, write_rollback};
use scrip::wire::request::read_rollback_node;
use serde_json::Value as Json;

const BODY: &[Field] = scrip::wire::request::ROLLBACK.fields();
const QUERY: &[Field] = &[
    may("reason", FieldType::Text).description("Reason of the rollback. A reason in the body takes precedence."),
    may("tracking_id", FieldType::Text)
        .description("Tracking ID of the customer who redeemed. A tracking ID in the body takes precedence."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/redemptions/{redemptionId}/rollback", "Roll back a redemption", roll_back_one)
        .describe(
            "rollBackRedemption",
            "Undoes one redemption that belongs to no stack. Counts, gift credits, points and bought rewards are restored in one transaction, and by default the order loses the discounts and becomes `CANCELED`. The webhook event `redemption.rollback.succeeded` or `redemption.rollback.failed` follows. A redemption can be rolled back within 92 days. A second rollback is refused with `already_rolled_back` and recorded as failed, a failed or older redemption with `invalid_redemption`.",
        )
        .returns("The rollback, with voucher and order after the change.")
        .scope("redemptions")
        .query(QUERY)
        .body(BODY)
        .answers(200, scrip::wire::redemptions::redemption::ROLLBACK),
    post("/v1/redemptions/{parentRedemptionId}/rollbacks", "Roll back a stack of redemptions", roll_back_stack)
        .describe(
            "rollBackRedemptions",
            "Undoes all redemptions of one request, by the ID of the parent redemption. Counts, gift credits, points and bought rewards are restored in one transaction, and by default the order loses the discounts and becomes `CANCELED`. The webhook event `redemption.rollback.succeeded` or `redemption.rollback.failed` follows. A redemption can be rolled back within 92 days. A second rollback is refused with `already_rolled_back` and recorded as failed, a redemption with a parent with `invalid_redemption_parent`.",
        )
        .returns("The rollback of each redemption, the rollback of the whole, and the order after the change.")
        .scope("redemptions")
        .query(QUERY)
        .body(BODY)
        .answers(200, scrip::wire::redemptions::redemption::ROLLBACKS),
];

fn roll_back_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = call.param("redemptionId").to_owned();
    roll_back(call, &id, false)
}

fn roll_back_stack(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = call.param("parentRedemptionId").to_owned();
    roll_back(call, &id, true)
}

/// Reads a rollback. Reason and tracking id are in the body or in the query; the body has precedence.
fn read(call: &Call<'_, '_>, id: &str, stack: bool) -> Result<RollbackRequest, CallError> {
    let mut body = call.source()?;
    for name in ["reason", "tracking_id"] {
        if let Some(value) = call.query.parameter(name).filter(|_| body.get(name).is_none_or(Json::is_null)) {
            body.insert(name.into(), value.into());
        }
    }
    Ok(Node::of(&body, usize::MAX).and_then(|body| read_rollback_node(id, stack, &body))?)
}

fn roll_back(call: &mut Call<'_, '_>, id: &str, stack: bool) -> HandlerResult {
    let request = read(call, id, stack)?;
    let facts = facts::facts(call)?;
    let decided = decide::rollback(&facts, &request, call.context);
    call.store.count_decision("rollback", decided.as_ref().err().map(|refusal| refusal.reason.key()));
    let refused = match &decided {
        Err(refusal) if refusal.reason == Reason::AlreadyRolledBack && !caller::is_engine_comparison(call) => {
            facts.redemption(id).found().map(Fact::into_owned)
        }
        Ok(_) | Err(_) => None,
    };
    let customers = facts.finish()?;
    let decision = match (decided, refused) {
        (Ok(decision), _) => decision,
        (Err(refusal), Some(redemption)) => return write_refused(call, &redemption, &request, &refusal),
        (Err(refusal), None) => return Err(refusal.into()),
    };
    let (rolled_back, changes) = (decision.answer, decision.changes.unwrap_or_default());
    let withdrawn_rewards = returns::return_all(call, &rolled_back.rewards)?;
    let service = state_after_rollback(call, &rolled_back, &changes.entries, &withdrawn_rewards)?;
    let written = write_rollback(&rolled_back, &request, &service);
    call.store.apply(&changes.entries, None, call.now_ms())?;
    let vouchers = rolled_back.parts.iter().filter_map(|part| part.redemption.voucher.as_ref());
    facts::write_records(call, vouchers.map(|voucher| voucher.id.as_str()).collect(), written.records);
    let customer_id = rolled_back.parts.iter().find_map(|part| part.redemption.customer_id.as_deref());
    facts::write_customer(call, &customers, None, customer_id, &changes.summary_delta, &changes.orders)?;
    facts::count_orders(call, &customers, customer_id, &changes.orders)?;
    summary::find_last_orders(call.store, &changes.orders, call.context.now.millis());
    Ok(Response::with_bytes(written.status, written.answer))
}

/// Returns the caller of rollbacks, and the state of each voucher after them: its balance may have changed since the redemption.
/// This state is stored, and the list of transactions returns it.
fn state_after_rollback(
    call: &mut Call<'_, '_>,
    rolled_back: &RollbackDecision,
    entries: &[Entry],
    withdrawn_rewards: &[ReturnedReward],
) -> Result<StoredObjects, CallError> {
    if caller::is_engine_comparison(call) {
        return Ok(StoredObjects::default());
    }
    let mut service = StoredObjects { channel_id: Some(caller::channel(call).id), vouchers: Vec::new() };
    for redemption in rolled_back.parts.iter().map(|part| &part.redemption) {
        let Some(redeemed) = &redemption.voucher else { continue };
        // A reward may have been credited to the card that paid for it.
        let changed_card =
            withdrawn_rewards.iter().find_map(|reward| reward.card().filter(|card| redeemed.id == card.id));
        let stored = if changed_card.is_none() { call.store.document(VOUCHER.object, &redeemed.id)? } else { None };
        let Some(mut voucher) = changed_card.cloned().or(stored) else { continue };
        // The entries of this rollback are not posted yet.
        point_postings::refund_queued(call, &mut voucher, entries)?;
        let json = voucher::to_json_after_rollback(call, voucher, redemption.spent)?;
        service.vouchers.push((redeemed.id.clone(), json.to_string()));
    }
    Ok(service)
}

/// Refuses a second rollback, and stores it as a failed rollback.
fn write_refused(
    call: &mut Call<'_, '_>,
    redemption: &StoredRedemption,
    request: &RollbackRequest,
    refusal: &Refusal,
) -> HandlerResult {
    let reason = refusal.reason;
    let failed_id = call.ids.record("rrf_");
    let record = record_refused(&failed_id, redemption, request, reason, call.context.now);
    facts::write_records(call, Vec::new(), vec![record]);
    call.store.mark_for_retention();
    let summary_delta = SummaryDelta { rollback_failed: 1, ..SummaryDelta::default() };
    facts::write_customer(call, &DocumentsById::new(), None, redemption.customer_id.as_deref(), &summary_delta, &[])?;
    let details: ErrorBody =
        crate::http::reply::error(reason.code(), reason.key(), reason.message(), &*refusal.details());
    Ok(refused_but_written(&details.about("redemption_rollback", &failed_id), call.request_id))
}
