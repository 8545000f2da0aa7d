//! Balances of gift cards and loyalty cards, changed by hand: what is added raises what the card ever held, what is taken off is
//! counted apart, and each change is written down as a transaction. It must not know what was redeemed but from the ledger.

use crate::api::codes::vouchers;
use crate::api::decisions::older_operations::find_card;
use crate::document::fields::KEY;
use crate::document::shapes;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::decision;
use crate::store::document::Document;
use scrip::facts::{credits_account, points_account};
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const AMOUNT: &[Field] =
    &[must("amount", Kind::Int(-INT_MAX, INT_MAX)), may("source_id", KEY), may("reason", Kind::Text)];

const POINTS: &[Field] = &[
    must("points", Kind::Int(-INT_MAX, INT_MAX)),
    may("expiration_type", Kind::OneOf(&["PROGRAM_RULES", "NON_EXPIRING"])),
    may("expiration_date", Kind::DateTime),
    may("source_id", KEY),
    may("reason", Kind::Text),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/{code}/balance", "Add to the balance of a card, or take off it", change_amount)
        .scope("vouchers")
        .body(AMOUNT)
        .answers(200, shapes::codes::BALANCE),
    post("/v1/loyalties/members/{memberId}/balance", "Add points to a card, or take some off", change_points)
        .scope("loyalties")
        .body(POINTS)
        .answers(200, shapes::codes::BALANCE),
    post("/v1/loyalties/{campaignId}/members/{memberId}/balance", "Add points within a program", change_points)
        .scope("loyalties")
        .body(POINTS)
        .answers(200, shapes::codes::BALANCE),
];

fn change_amount(call: &mut Call<'_, '_>) -> Outcome {
    let card = vouchers::find(call)?;
    change(call, card, "amount")
}

fn change_points(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    change(call, card, "points")
}

fn refused(details: String) -> ErrorBody {
    error(400, "invalid_add_balance_params", "Invalid add balance params", details)
}

/// Points do not expire one by one here, so that a date of their own is refused: whoever sent it would count on it.
fn check_expiration(sent: &Map<String, Json>) -> Result<(), Problem> {
    let Some(date) = sent.get("expiration_date").and_then(Json::as_str) else { return Ok(()) };
    let told = format!("must NOT be present: points do not expire one by one (actual value is `{date}`)");
    Err(Problem::at("expiration_date", told))
}

/// The two kinds of cards: the block that holds the balance, the field of all that was ever loaded, the field of what was taken
/// off, and the names on the wire.
struct Purse {
    block: &'static str,
    total: &'static str,
    subtracted: &'static str,
    kind: &'static str,
    unit: &'static str,
}

const PURSES: &[Purse] = &[
    Purse { block: "gift", total: "amount", subtracted: "subtracted_amount", kind: "gift_voucher", unit: "CREDITS" },
    Purse {
        block: "loyalty_card",
        total: "points",
        subtracted: "subtracted_points",
        kind: "loyalty_card",
        unit: "POINTS",
    },
];

/// Changes a balance by what the body's field says; a lock is never taken from.
fn change(call: &mut Call<'_, '_>, mut card: Document, field: &str) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let delta = sent.get(field).and_then(Json::as_i64).unwrap_or(0);
    check_expiration(&sent)?;
    let purse = PURSES.iter().find(|purse| card.body.get(purse.block).is_some_and(Json::is_object));
    let purse = purse.ok_or_else(|| {
        let kind = card.body.get("type").and_then(Json::as_str).unwrap_or_default();
        refused(format!("A GIFT_VOUCHER or a LOYALTY_CARD has a balance (the type of this voucher is `{kind}`)"))
    })?;
    if purse.block == "loyalty_card" && card.holder.is_none() {
        return Err(refused("A LOYALTY_CARD must be held by a customer before its balance changes".into()).into());
    }
    if delta == 0 {
        return Err(refused(format!("Property .{field} must NOT be 0 (actual value is `0`)")).into());
    }
    let (total, balance) = move_balance(call, &mut card, purse, delta, field)?;
    call.touch(&mut card);
    call.store.update(vouchers::VOUCHER.object, &card);
    let mut answer = json!({
        "total": total, "balance": balance, "type": purse.kind, "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(answer) = answer.as_object_mut() {
        answer.insert(field.into(), delta.into());
    }
    let action = if delta > 0 { "ADDITION" } else { "REMOVAL" };
    let said = [sent.get("source_id"), sent.get("reason")].map(|value| value.cloned().unwrap_or(Json::Null));
    note(call, &card, format!("{}_{action}", purse.unit), said, &answer);
    Ok(Answer::json(answer))
}

/// Loads a card with what a reward adds, and writes it down; the card itself is left to the caller. What has no balance is
/// left as it is.
pub fn load(call: &mut Call<'_, '_>, card: &mut Document, added: u64) -> Result<(), CallError> {
    let purse = PURSES.iter().find(|purse| card.body.get(purse.block).is_some_and(Json::is_object));
    let (Some(purse), true) = (purse, added > 0) else { return Ok(()) };
    let field = if purse.block == "gift" { "amount" } else { "points" };
    let added = i64::try_from(added).unwrap_or(i64::MAX);
    let (total, balance) = move_balance(call, card, purse, added, field)?;
    let mut told = json!({
        "total": total, "balance": balance, "type": purse.kind, "operation_type": "AUTOMATIC", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    });
    if let Some(told) = told.as_object_mut() {
        told.insert(field.into(), added.into());
    }
    note(call, card, format!("{}_ADDITION", purse.unit), [Json::Null, Json::Null], &told);
    Ok(())
}

/// Writes a change of a balance down; `said` is the caller's own identifier and reason.
fn note(call: &mut Call<'_, '_>, card: &Document, kind: String, [source_id, reason]: [Json; 2], balance: &Json) {
    let id = call.ids.hex18("vtx_").to_string();
    let body = json!({
        "id": id, "source_id": source_id, "voucher_id": card.id, "campaign_id": card.parent, "source": decision::channel(call).id,
        "reason": reason, "type": kind, "details": { "balance": balance }, "related_transaction_id": null,
        "created_at": moment::text(call.now_ms()),
    });
    let transaction = Document {
        id,
        key: None,
        parent: Some(card.id.clone()),
        holder: card.parent.clone(),
        created_at: call.now_ms(),
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert("voucher_transaction", &transaction);
}

/// Moves the balance within its bounds; gives all that was ever loaded and what is left.
fn move_balance(
    call: &Call<'_, '_>,
    card: &mut Document,
    purse: &Purse,
    delta: i64,
    field: &str,
) -> Result<(i64, i64), CallError> {
    let account = if purse.block == "gift" { credits_account(&card.id) } else { points_account(&card.id) };
    let standings = call.store.standings(&[account.to_string()], call.now_ms(), "")?;
    let standing = standings.get(account.as_str()).copied().unwrap_or_default();
    let Some(block) = card.body.get_mut(purse.block).and_then(Json::as_object_mut) else { return Ok((0, 0)) };
    let number = |name: &str| block.get(name).and_then(Json::as_i64).unwrap_or(0);
    let (total, subtracted) = (number(purse.total), number(purse.subtracted));
    let gone = subtracted.saturating_add(number("expired_points")).saturating_add(standing.balance.saturating_neg());
    let left = total.saturating_sub(gone);
    let bound = |sign: &str, bound: i64| {
        refused(format!("Property .{field} must be {sign} {bound} (actual value is `{delta}`)"))
    };
    if delta > 0 {
        let most = INT_MAX.saturating_sub(total);
        if delta > most {
            return Err(bound("<=", most).into());
        }
        let total = total.saturating_add(delta);
        block.insert(purse.total.into(), total.into());
        return Ok((total, left.saturating_add(delta)));
    }
    let least = left.saturating_sub(standing.held).max(0).saturating_neg();
    if delta < least {
        return Err(bound(">=", least).into());
    }
    block.insert(purse.subtracted.into(), subtracted.saturating_sub(delta).into());
    Ok((total, left.saturating_add(delta)))
}
