//! Transfers of points from cards of a campaign to another card of it: all that are requested, or none.

use crate::documents::common_fields::KEY;
use crate::domain::balances::adjustments::{change_refusal, find_free_points, move_balance, record_transaction};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::points;
use crate::domain::balances::transactions::{TRANSACTION, TRANSFER_IN, check_new};
use crate::domain::vouchers::voucher::{VOUCHER, find_by_name, find_card};
use crate::http::reply::{CallError, duplicate, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{self, Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::amount;
use crate::store::document::Document;
use crate::store::records::TransactionRecord;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Maximum number of transfers in one request.
const TRANSFERS_MAX: usize = 100;

const BODY: &[Field] = &[
    must("code", KEY)
        .description("Code or ID of the card that gives the points. The card belongs to the same campaign and has a holder."),
    must("points", FieldType::Int(1, INT_MAX)).description("Number of points to transfer."),
    may("reason", FieldType::Text).description("Reason of the transfer, as both transactions show the value."),
    must("source_id", KEY)
        .description("Identifier of the transfer in the caller's system, unique per giving card. A second transfer with the same value is refused with `duplicate_found`."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v1/loyalties/{campaignId}/members/{memberId}/transfers",
    "Transfer points to a loyalty card",
    transfer,
)
.describe(
    "transferLoyaltyCampaignMemberPoints",
    "Moves points to a loyalty card from other cards of the same campaign: 1 to 100 transfers, all of them or none. The points expire on the receiving card as if they were new. Each transfer records a transaction on both cards, with the webhook event `voucher.loyalty_card.transaction.created`. More points than a card has unlocked are refused with `loyalty_card_points_exceeded`, a repeated `source_id` with `duplicate_found`.",
)
.returns("The receiving card after the transfers.")
.of(&VOUCHER)
.scope("loyalties")
.many(BODY)];

fn transfer(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut to = find_card(call)?;
    check_holder(&to)?;
    // The points are credited now, and expire like other points of the card.
    let expiration = points::find_expiration(call.store, &to)?;
    let mut sources: Vec<Document> = Vec::new();
    let mut named = BTreeSet::new();
    for (index, item) in read_transfers(call)?.into_iter().enumerate() {
        let text = |name: &str| item.get(name).and_then(Json::as_str).unwrap_or_default();
        let points = TransactionRecord::of(&item).sent_points()?;
        let mut from = find_source_card(call, &to, text("code"), index)?;
        let source_id = text("source_id");
        check_new(call.store, &from, Some(source_id))?;
        if !named.insert((from.id.clone(), source_id.to_owned())) {
            return Err(duplicate(TRANSACTION, "source_id", source_id).into());
        }
        // A card may be the source several times, with its remaining points.
        if let Some(known) = sources.iter().position(|known| known.id == from.id) {
            from = sources.swap_remove(known);
        }
        if points > find_free_points(call, &from)? {
            let message = "loyalty card points exceeded";
            return Err(error(400, "loyalty_card_points_exceeded", message, text("code")).into());
        }
        let deducted = amount::negated(points)?;
        let source_balances = move_balance(call, &mut from, &CARD, deducted, "points", &expiration)?;
        let target_balances = move_balance(call, &mut to, &CARD, points, "points", &expiration)?;
        let source_and_reason = ["source_id", "reason"].map(|name| item.get(name).cloned().unwrap_or(Json::Null));
        let outgoing = TransferSide {
            card: &from,
            other: &to,
            other_name: "destination_voucher",
            kind: "POINTS_TRANSFER_OUT",
            points: deducted,
            balances: source_balances,
        };
        record_side(call, &outgoing, source_and_reason.clone());
        let incoming = TransferSide {
            card: &to,
            other: &from,
            other_name: "source_voucher",
            kind: TRANSFER_IN,
            points,
            balances: target_balances,
        };
        record_side(call, &incoming, source_and_reason);
        sources.push(from);
    }
    for mut card in sources {
        call.touch(&mut card);
        call.store.update(VOUCHER.object, &card);
    }
    call.touch(&mut to);
    call.store.update(VOUCHER.object, &to);
    Ok(Response::json(VOUCHER.one_to_json(call, to)?))
}

fn read_transfers(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > TRANSFERS_MAX {
        let problem = format!("must have 1 to {TRANSFERS_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", problem).into());
    }
    let read = sent.into_iter().enumerate().map(|(index, item)| {
        shape::read(BODY, item, Nulls::Dropped).map_err(|problem| problem.within(&format!("[{index}]")))
    });
    Ok(read.collect::<Result<_, Problem>>()?)
}

/// Returns the source card: another one of that campaign, with a holder.
fn find_source_card(call: &Call<'_, '_>, to: &Document, code: &str, index: usize) -> Result<Document, CallError> {
    let from = find_by_name(call, code)?;
    if from.id == to.id {
        let problem = format!("must NOT be the card that gets the points (actual value is `{code}`)");
        return Err(Problem::at(format!("[{index}].code"), problem).into());
    }
    if from.parent != to.parent {
        return Err(not_found(VOUCHER.object, code).into());
    }
    check_holder(&from)?;
    Ok(from)
}

fn check_holder(card: &Document) -> Result<(), CallError> {
    let code = card.as_voucher().code().unwrap_or_default();
    match card.holder.is_some() {
        true => Ok(()),
        false => Err(change_refusal(format!(
            "A LOYALTY_CARD must be held by a customer before its balance changes (`{code}` is nobody's)"
        ))
        .into()),
    }
}

/// One side of a transfer.
struct TransferSide<'t> {
    card: &'t Document,
    other: &'t Document,
    /// Member of the transaction with the other card.
    other_name: &'static str,
    /// Type of the transaction.
    kind: &'static str,
    /// Points that the card gets, negative if it loses them.
    points: i64,
    /// Total and balance of the card after the transfer.
    balances: (i64, i64),
}

/// Queues the transaction of one side of a transfer.
fn record_side(call: &mut Call<'_, '_>, side: &TransferSide<'_>, source_and_reason: [Json; 2]) {
    let TransferSide { card, other, other_name, kind, points, balances: (total, balance) } = *side;
    let of_other = |name: &str| other.body.get(name).cloned().unwrap_or(Json::Null);
    let mut details = json!({ "balance": {
        "points": points, "total": total, "balance": balance, "type": CARD.kind, "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    } });
    if let Some(details) = details.as_object_mut() {
        let other_card = json!({
            "id": other.id, "code": of_other("code"), "campaign": of_other("campaign"), "campaign_id": other.parent,
            "type": of_other("type"), "object": "voucher",
        });
        details.insert(other_name.into(), other_card);
    }
    record_transaction(call, card, kind.to_owned(), source_and_reason, &details);
}
