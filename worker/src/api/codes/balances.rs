//! Balances of gift cards and loyalty cards, changed by hand: what is added raises what the card ever held, what is taken off is
//! counted apart, and each change is written down as a transaction. It must not know what was redeemed but from the ledger.

use crate::document::fields::KEY;
use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::balances::{move_balance, note, refused};
use crate::shop::card_lots;
use crate::shop::cards::Present;
use crate::shop::purses::PURSES;
use crate::shop::vouchers::{self, find_card};
use crate::store::document::Document;
use scrip::points::Expiration;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

const AMOUNT: &[Field] =
    &[must("amount", Kind::Int(-INT_MAX, INT_MAX)), may("source_id", KEY), may("reason", Kind::Text)];

const POINTS: &[Field] = &[
    must("points", Kind::Int(-INT_MAX, INT_MAX)),
    may("expiration_type", Kind::OneOf(&["PROGRAM_RULES", "CUSTOM_DATE", "NON_EXPIRING"])),
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

/// How points lapse that are added: as the program says, on a day of their own, or never. What is taken off has no day.
fn expiration(call: &Call<'_, '_>, sent: &Map<String, Json>, card: &Document) -> Result<Expiration, CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    let of_its_own = text("expiration_type") == Some("CUSTOM_DATE");
    let Some(date) = text("expiration_date").and_then(moment::parse) else {
        return match text("expiration_type") {
            Some("CUSTOM_DATE") => Err(Problem::missing("", "expiration_date").into()),
            Some("NON_EXPIRING") => Ok(Expiration::Never),
            _ => Ok(card_lots::rules_of(call.store, card)?),
        };
    };
    let date_sent = text("expiration_date").unwrap_or_default();
    let problem = |told: &str| Problem::bound("expiration_date", told, date_sent);
    if !of_its_own {
        return Err(problem("must NOT be present where expiration_type is not CUSTOM_DATE").into());
    }
    card_lots::until(&Present::of(call)?, date).ok_or_else(|| problem("must NOT lie before today").into())
}

/// Changes a balance by what the body's field says; a lock is never taken from.
fn change(call: &mut Call<'_, '_>, mut card: Document, field: &str) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let delta = sent.get(field).and_then(Json::as_i64).unwrap_or(0);
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
    let expiration = expiration(call, &sent, &card)?;
    let (total, balance) = move_balance(call, &mut card, purse, delta, (field, &expiration))?;
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
