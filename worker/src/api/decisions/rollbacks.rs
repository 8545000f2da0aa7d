//! Rollbacks of one redemption and of a stack. It must not know when one is allowed; a second one is written down as failed.

use crate::http::reply::{CallError, ErrorBody};
use crate::http::route::{Answer, Call, Outcome, Route, post, refused_but_written};
use crate::http::shape::{Field, Kind, may};
use crate::shop::vouchers::{self, VOUCHER};
use crate::shop::{card_spendings, decision, summary};
use crate::store::facts::ById;
use scrip::decide::rollback::{RollBack, RolledBack};
use scrip::decide::{self, Tally};
use scrip::facts::{Fact, Facts};
use scrip::json::Node;
use scrip::ledger::Entry;
use scrip::model::redemption::PastRedemption;
use scrip::refusal::{Reason, Refusal};
use scrip::wire::failure::record_refused;
use scrip::wire::request::read_rollback_node;
use scrip::wire::rollback::{Service, write_rollback};
use serde_json::Value as Json;

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
    Ok(Node::of(&body, usize::MAX).and_then(|body| read_rollback_node(id, stack, &body))?)
}

fn roll_back(call: &mut Call<'_, '_>, id: &str, stack: bool) -> Outcome {
    let request = read(call, id, stack)?;
    let facts = decision::facts(call)?;
    let decided = decide::rollback(&facts, &request, call.context);
    call.store.decided("rollback", decided.as_ref().err().map(|refusal| refusal.reason.key()));
    let refused = match &decided {
        Err(refusal) if refusal.reason == Reason::AlreadyRolledBack && !decision::is_bare(call) => {
            facts.redemption(id).found().map(Fact::into_owned)
        }
        Ok(_) | Err(_) => None,
    };
    let customers = facts.finish()?;
    let decision = match (decided, refused) {
        (Ok(decision), _) => decision,
        (Err(refusal), Some(past)) => return write_second(call, &past, &request, &refusal),
        (Err(refusal), None) => return Err(refusal.into()),
    };
    let (rolled_back, changes) = (decision.answer, decision.changes.unwrap_or_default());
    let service = standing(call, &rolled_back, &changes.entries)?;
    let written = write_rollback(&rolled_back, &request, &service);
    call.store.apply(&changes.entries, None, call.now_ms());
    let vouchers = rolled_back.parts.iter().filter_map(|part| part.redemption.voucher.as_ref());
    decision::put(call, vouchers.map(|voucher| voucher.id.as_str()).collect(), written.records);
    let customer_id = rolled_back.parts.iter().find_map(|part| part.redemption.customer_id.as_deref());
    decision::write_customer(call, &customers, None, customer_id, (&changes.tally, &changes.orders))?;
    decision::count_orders(call, &customers, customer_id, &changes.orders)?;
    summary::find_last_orders(call.store, &changes.orders, call.context.now.millis());
    Ok(Answer::written(written.status, written.answer))
}

/// Who asks for rollbacks, and each voucher as it stands after them: since the redemption more may have been loaded on it or
/// spent. What is shown is stored, and is what the list of transactions tells.
fn standing(call: &mut Call<'_, '_>, rolled_back: &RolledBack, entries: &[Entry]) -> Result<Service, CallError> {
    if decision::is_bare(call) {
        return Ok(Service::default());
    }
    let mut service = Service { channel_id: Some(decision::channel(call).id), vouchers: Vec::new() };
    for past in rolled_back.parts.iter().map(|part| &part.redemption) {
        let Some(redeemed) = &past.voucher else { continue };
        let Some(mut voucher) = call.store.document(VOUCHER.object, &redeemed.id)? else { continue };
        // The ledger does not have this rollback yet.
        card_spendings::give_back(call, &mut voucher, entries)?;
        let shown = vouchers::show_given_back(call, voucher, past.spent)?;
        service.vouchers.push((redeemed.id.clone(), shown.to_string()));
    }
    Ok(service)
}

/// A second rollback is refused, and written down as a rollback that failed.
fn write_second(call: &mut Call<'_, '_>, past: &PastRedemption, request: &RollBack, refusal: &Refusal) -> Outcome {
    let reason = refusal.reason;
    let failed_id = call.ids.hex18("rrf_");
    let record = record_refused(&failed_id, past, request, reason, call.context.now);
    decision::put(call, Vec::new(), vec![record]);
    call.store.leaves_later();
    let tally = Tally { rollback_failed: 1, ..Tally::default() };
    decision::write_customer(call, &ById::new(), None, past.customer_id.as_deref(), (&tally, &[]))?;
    let told: ErrorBody = crate::http::reply::error(reason.code(), reason.key(), reason.message(), &*refusal.details());
    Ok(refused_but_written(&told.about("redemption_rollback", &failed_id), call.request_id))
}
