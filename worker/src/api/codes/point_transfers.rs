//! Points that go from cards of a program to another card of it: all that is asked for, or nothing. It must not know how points are
//! earned.

use crate::document::fields::KEY;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{self, Field, INT_MAX, Kind, Nulls, may, must};
use crate::shop::balances::{free_points, move_balance, note_with, refused};
use crate::shop::card_lots;
use crate::shop::purses::CARD;
use crate::shop::vouchers::{VOUCHER, find_card, find_named};
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Transfers of one request.
const TRANSFERS_MAX: usize = 100;

const BODY: &[Field] = &[
    must("code", KEY).says("The card that gives points"),
    must("points", Kind::Int(1, INT_MAX)).says("How many"),
    may("reason", Kind::Text),
    must("source_id", KEY),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[post(
    "/v1/loyalties/{campaignId}/members/{memberId}/transfers",
    "Transfer points to a card from other cards of its program",
    transfer,
)
.of(&VOUCHER)
.scope("loyalties")
.many(BODY)];

fn transfer(call: &mut Call<'_, '_>) -> Outcome {
    let mut to = find_card(call)?;
    check_held(&to)?;
    // They come to the card now, and lapse as all that comes to it.
    let expiration = card_lots::rules_of(call.store, &to)?;
    let mut givers: Vec<Document> = Vec::new();
    for (place, one) in read(call)?.into_iter().enumerate() {
        let text = |name: &str| one.get(name).and_then(Json::as_str).unwrap_or_default();
        let points = one.get("points").and_then(Json::as_i64).unwrap_or(0);
        let mut from = giver(call, &to, text("code"), place)?;
        // A card may give more than once, and gives what is left each time.
        if let Some(known) = givers.iter().position(|known| known.id == from.id) {
            from = givers.swap_remove(known);
        }
        if points > free_points(call, &from)? {
            let message = "loyalty card points exceeded";
            return Err(error(400, "loyalty_card_points_exceeded", message, text("code")).into());
        }
        let given = move_balance(call, &mut from, &CARD, points.saturating_neg(), ("points", &expiration))?;
        let got = move_balance(call, &mut to, &CARD, points, ("points", &expiration))?;
        let said = ["source_id", "reason"].map(|name| one.get(name).cloned().unwrap_or(Json::Null));
        let out = ("POINTS_TRANSFER_OUT", "destination_voucher");
        write_down(call, (&from, &to), out, said.clone(), (points.saturating_neg(), given));
        write_down(call, (&to, &from), ("POINTS_TRANSFER_IN", "source_voucher"), said, (points, got));
        givers.push(from);
    }
    for mut card in givers {
        call.touch(&mut card);
        call.store.update(VOUCHER.object, &card);
    }
    call.touch(&mut to);
    call.store.update(VOUCHER.object, &to);
    Ok(Answer::json(VOUCHER.show_one(call, to)?))
}

fn read(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > TRANSFERS_MAX {
        let told = format!("must have 1 to {TRANSFERS_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", told).into());
    }
    let read = sent.into_iter().enumerate().map(|(place, one)| {
        shape::read(BODY, one, Nulls::Dropped).map_err(|problem| problem.within(&format!("[{place}]")))
    });
    Ok(read.collect::<Result<_, Problem>>()?)
}

/// The card that gives: another one of the same program, which somebody has.
fn giver(call: &Call<'_, '_>, to: &Document, code: &str, place: usize) -> Result<Document, CallError> {
    let from = find_named(call, code)?;
    if from.id == to.id {
        let told = format!("must NOT be the card that gets the points (actual value is `{code}`)");
        return Err(Problem::at(format!("[{place}].code"), told).into());
    }
    if from.parent != to.parent {
        return Err(not_found(VOUCHER.object, code).into());
    }
    check_held(&from)?;
    Ok(from)
}

fn check_held(card: &Document) -> Result<(), CallError> {
    let code = card.body.get("code").and_then(Json::as_str).unwrap_or_default();
    match card.holder.is_some() {
        true => Ok(()),
        false => Err(refused(format!(
            "A LOYALTY_CARD must be held by a customer before its balance changes (`{code}` is nobody's)"
        ))
        .into()),
    }
}

/// Writes one side of a transfer down: the card, and under a name the other one.
fn write_down(
    call: &mut Call<'_, '_>,
    (card, other): (&Document, &Document),
    (kind, name): (&str, &str),
    said: [Json; 2],
    (points, (total, balance)): (i64, (i64, i64)),
) {
    let of_other = |name: &str| other.body.get(name).cloned().unwrap_or(Json::Null);
    let mut details = json!({ "balance": {
        "points": points, "total": total, "balance": balance, "type": CARD.kind, "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card.id },
    } });
    if let Some(details) = details.as_object_mut() {
        let brief = json!({
            "id": other.id, "code": of_other("code"), "campaign": of_other("campaign"), "campaign_id": other.parent,
            "type": of_other("type"), "object": "voucher",
        });
        details.insert(name.into(), brief);
    }
    note_with(call, card, kind.to_owned(), said, &details);
}
