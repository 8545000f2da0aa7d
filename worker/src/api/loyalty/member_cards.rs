//! Cards of members: points that are added and taken by hand, what waits, what lapses, and what happened. It must not know how points
//! are earned or spent.

use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::activities::activity;
use crate::document::shapes::members as shapes;
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get, post};
use crate::http::shape::{Field, Kind, Nulls};
use crate::shop::activities;
use crate::shop::card_changes::{settle, write};
use crate::shop::card_checks::{check_open, definition_of, refusal};
use crate::shop::card_rows::{self, Told};
use crate::shop::cards::{Held, LOT, PENDING, Present, TRANSACTION, load};
use crate::shop::lives::{CARD, MEMBER, PROGRAM, find_as};
use crate::store::document::Document;
use scrip::points::{Arrival, Delay, Expiration, Refused, Take};
use scrip::text::Text;
use serde_json::{Value as Json, json};

const ACTIVITY: Kind = activity!("CardActivity", "card_id");

/// Cards as a resource.
pub const RESOURCE: Resource = Resource {
    object: CARD.object,
    parameter: "cardId",
    key: plain_key,
    show: show_body,
    shape: shapes::CARD.described(),
    list: List::by_cursor(&[], &[]),
};

/// How what happened is listed.
const TRANSACTIONS: List = List::by_cursor(&[column::AGE], &[column::ID, column::CREATED_AT]);
/// How what waits is listed.
const WAITING: List = List::by_cursor(&[("date", "json_extract(body, '$.date')")], &[]);
/// How what lapses is listed.
const EXPIRING: List = List::by_cursor(&[("expiration_date", "json_extract(body, '$.expiration_date')")], &[]);

const LISTED_BY_DATE: &[Field] = &[LIMIT, orders_asked(&Kind::OneOf(&["date", "-date"])), CURSOR_ASKED];
const LISTED_BY_END: &[Field] =
    &[LIMIT, orders_asked(&Kind::OneOf(&["expiration_date", "-expiration_date"])), CURSOR_ASKED];

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &CARD).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/points",
        "Add points to a card, or take them from it",
        adjust,
    ))
    .body(shapes::ADJUST)
    .answers(200, shapes::ADJUSTED),
    ours(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/transactions",
        "List what happened to the points of a card",
        transactions,
    ))
    .pages(shapes::TRANSACTION)
    .query(LISTED_BY_AGE),
    ours(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/activities",
        "List what happened to a card",
        activities::list,
    ))
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
    ours(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points",
        "List the points of a card that cannot be spent yet",
        waiting,
    ))
    .pages(shapes::PENDING_BUCKET)
    .query(LISTED_BY_DATE),
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points/{bucketId}/activate",
        "Let points be spent that still wait",
        activate,
    ))
    .answers(200, shapes::ACTIVATED),
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points/{bucketId}/cancel",
        "Cancel points that still wait",
        cancel,
    ))
    .answers(200, shapes::CANCELED),
    ours(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/expiring-points",
        "List the points of a card that lapse",
        expiring,
    ))
    .pages(shapes::EXPIRING_BUCKET)
    .query(LISTED_BY_END),
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/expiring-points/{bucketId}/expire",
        "Let points lapse now",
        expire,
    ))
    .answers(200, shapes::EXPIRED),
];

/// Refuses to change a card whose program or member does not act, or whose program does not act now.
fn check_own(call: &Call<'_, '_>, present: &Present, doing: &str) -> Result<(), CallError> {
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    check_open((&program, &member), present, doing)
}

/// The card that the path names, with the lots that are named.
fn card(call: &Call<'_, '_>, lots: &[&str]) -> Result<Held, CallError> {
    Ok(load(call.store, find_as(call, &CARD, call.param("cardId"))?, lots)?)
}

/// The answer of an operation: its transaction, or that nothing changed.
fn told(made: Vec<Document>, nothing: &str, message: &str) -> Outcome {
    let transaction = made.into_iter().next().map(|row| row.body);
    let (status, message) = match &transaction {
        Some(_) => ("TRANSACTION_CREATED", message),
        None => (nothing, "Nothing changed"),
    };
    Ok(Answer::json(json!({ "transaction": transaction, "status": status, "message": message })))
}

fn adjust(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let change = sent.get("points").and_then(Json::as_i64).unwrap_or(0);
    let present = Present::of(call)?;
    let mut held = card(call, &[])?;
    check_own(call, &present, "adjust member's card points")?;
    let definition = definition_of(call.store, &held)?;
    let points = change.unsigned_abs();
    let outcome = match change {
        0 => held.card.settle(&present.now()),
        1.. => {
            let lot = call.ids.hex18("lcpeb_");
            held.card.add(points, Arrival { lot: &lot, expiration: &definition.expiration }, &present.now())
        }
        _ => {
            let take = Take::Subtract { below_zero: definition.below_zero };
            held.card.take(take, points, &present.now())
        }
    };
    let outcome = outcome.map_err(|refused| refusal(&held.row.id, refused))?;
    let reason = sent.get("reason").and_then(Json::as_str);
    let own = Told { reason, ..Told::default() };
    let made = write(call.store, &present, &mut held, outcome, Some((&own, &mut call.ids)))?;
    told(made, "NO_CHANGE", if change > 0 { "Points added" } else { "Points subtracted" })
}

/// The bucket of a kind that the path names, which belongs to its card.
fn bucket(call: &Call<'_, '_>, kind: &str) -> Result<Document, CallError> {
    let card = find_as(call, &CARD, call.param("cardId"))?;
    let id = call.param("bucketId");
    let found = call.store.document(kind, id)?.filter(|bucket| bucket.parent.as_ref() == Some(&card.id));
    found.ok_or_else(|| not_found(&format!("vl_{kind}"), id).into())
}

fn activate(call: &mut Call<'_, '_>) -> Outcome {
    end_waiting(call, Ending::Activation)
}

fn cancel(call: &mut Call<'_, '_>) -> Outcome {
    end_waiting(call, Ending::Cancellation)
}

/// How somebody ends the waiting of some points.
#[derive(Clone, Copy)]
enum Ending {
    Activation,
    Cancellation,
}

fn end_waiting(call: &mut Call<'_, '_>, ending: Ending) -> Outcome {
    let (verb, done, nothing) = match ending {
        Ending::Activation => ("activate", "activated", "NO_ACTIVATION"),
        Ending::Cancellation => ("cancel", "canceled", "NO_CANCELLATION"),
    };
    let id = Text::from(bucket(call, PENDING)?.id);
    let present = Present::of(call)?;
    check_own(call, &present, &format!("{verb} member's pending points"))?;
    let mut held = card(call, &[])?;
    if definition_of(call.store, &held)?.delay == Delay::Immediate {
        let told = "Card definition does not have pending points enabled";
        return Err(error(423, "pending_points_not_enabled", "Pending points are not enabled", told).into());
    }
    let outcome = match ending {
        Ending::Activation => held.card.activate(&id, &present.now()),
        Ending::Cancellation => held.card.cancel(&id, &present.now()),
    };
    let outcome = outcome.map_err(|refused| match refused {
        Refused::NoSuchPending(_) => {
            let told = format!("Pending points bucket must be in PENDING status in order to be {done}");
            let key = "invalid_pending_points_bucket_status";
            error(423, key, "Invalid pending points bucket status", told).into()
        }
        other => refusal(&held.row.id, other),
    })?;
    let made = write(call.store, &present, &mut held, outcome, Some((&Told::default(), &mut call.ids)))?;
    told(made, nothing, &format!("Pending points {done}"))
}

fn expire(call: &mut Call<'_, '_>) -> Outcome {
    let id = Text::from(bucket(call, LOT)?.id);
    let present = Present::of(call)?;
    check_own(call, &present, "expire member's card points")?;
    let mut held = card(call, &[&id])?;
    if definition_of(call.store, &held)?.expiration == Expiration::Never {
        return Err(refusal(&held.row.id, Refused::NeverLapses));
    }
    let outcome = held.card.expire(&id, &present.now()).map_err(|refused| refusal(&held.row.id, refused))?;
    let made = write(call.store, &present, &mut held, outcome, Some((&Told::default(), &mut call.ids)))?;
    told(made, "NO_EXPIRATION", "Points expired")
}

/// Settles the card that the path names before its rows are listed: what was due is among them, and is true whatever becomes of
/// the call.
fn settled(call: &mut Call<'_, '_>) -> Result<Held, CallError> {
    let present = Present::of(call)?;
    let mut held = card(call, &[])?;
    if settle(call.store, &present, &mut held)? {
        call.store.commit()?;
    }
    Ok(held)
}

fn transactions(call: &mut Call<'_, '_>) -> Outcome {
    let clause = of_card(call, TRANSACTION)?;
    cursors::page(call, &TRANSACTIONS, "lcrsctx_", clause, show_body)
}

fn waiting(call: &mut Call<'_, '_>) -> Outcome {
    let clause = of_card(call, PENDING)?;
    cursors::page(call, &WAITING, "lcrscppb_", clause, card_rows::show)
}

fn expiring(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = of_card(call, LOT)?;
    // Points that never lapse have no date.
    clause.and("json_extract(body, '$.expiration_date') > {}", "");
    cursors::page(call, &EXPIRING, "lcrspeb_", clause, card_rows::show)
}

/// The rows of a kind of the card that the path names.
fn of_card(call: &mut Call<'_, '_>, kind: &str) -> Result<Clause, CallError> {
    let held = settled(call)?;
    let mut clause = Clause::of_kind(kind).at(call.now_ms());
    clause.and("parent = {}", held.row.id);
    Ok(clause)
}
