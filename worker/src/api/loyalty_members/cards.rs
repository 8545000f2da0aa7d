//! Cards of members: manual adjustments of points, pending points, expiring points, and
//! transactions.

use crate::commit;
use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::cursor_list;
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::members as shapes;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::{LOT, LoadedCard, PENDING, TRANSACTION, load};
use crate::domain::loyalty_members::card_changes::{settle, write_outcome};
use crate::domain::loyalty_members::card_checks::{card_refusal, check_open, find_definition};
use crate::domain::loyalty_members::card_view;
use crate::domain::loyalty_members::card_view::TransactionDetails;
use crate::domain::loyalty_programs::activities;
use crate::domain::loyalty_programs::kinds::{CARD, MEMBER, PROGRAM, find_within};
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, Nulls};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::documents::loyalty_campaigns;
use crate::store::records::TransactionRecord;
use scrip::points::{CardRefusal, Credit, DebitReason, Delay, Expiration};
use scrip::text::Text;
use serde_json::json;

const ACTIVITY: FieldType = activity!("CardActivity", "card_id");

/// Cards as a resource.
pub const RESOURCE: Resource = Resource {
    object: CARD.object,
    parameter: "cardId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: shapes::CARD.described(),
    list: List::by_cursor(&[], &[]),
};

/// List options of transactions.
const TRANSACTIONS: List = List::by_cursor(&[column::AGE], &[column::ID, column::CREATED_AT]);
/// List options of pending points.
const PENDING_LIST: List = List::by_cursor(&[("date", member!("date"))], &[]);
/// List options of expiring points.
const EXPIRING: List = List::by_cursor(&[("expiration_date", member!("expiration_date"))], &[]);

const LISTED_BY_DATE: &[Field] = &[LIMIT, order_parameter(&FieldType::OneOf(&["date", "-date"])), CURSOR_PARAMETER];
const LISTED_BY_END: &[Field] =
    &[LIMIT, order_parameter(&FieldType::OneOf(&["expiration_date", "-expiration_date"])), CURSOR_PARAMETER];

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &CARD).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/points",
        "Adjust the points of a member card",
        adjust,
    ))
    .describe(
        "adjustMemberCardPoints",
        "Adds points to a member's card, or subtracts points from the card, and records one transaction. Added points are available at once, expire by the card definition, and ignore its earning limits. The program and the member must be active, and the program must be within its validity period (`non_active_program`, `non_active_member`, `program_outside_validity_window`). More points than the card has are refused with `insufficient_card_balance` unless the card definition allows a negative balance.",
    )
    .returns("The recorded transaction, or `NO_CHANGE` without a transaction for 0 points.")
    .body(shapes::ADJUST)
    .answers(200, shapes::ADJUSTED),
    with_resource(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/transactions",
        "List transactions of a member card",
        list_transactions,
    ))
    .describe(
        "listMemberCardTransactions",
        "Returns the transactions that changed the points of a card: earnings, spending, refunds, expirations and manual changes. Points that are due to expire or to become active by now are settled first. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown card is refused with `not_found`.",
    )
    .returns("The transactions of this page and the cursor of the next page.")
    .pages(shapes::TRANSACTION)
    .query(LISTED_BY_AGE),
    with_resource(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/activities",
        "List activities of a member card",
        activities::list,
    ))
    .describe(
        "listMemberCardActivities",
        "Returns the records of changes to a card itself: creation, generation of its code, and assignment to the member. Changes of points are card transactions and not among them. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown card is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
    with_resource(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points",
        "List pending points of a member card",
        list_pending,
    ))
    .describe(
        "listMemberCardPendingPoints",
        "Returns the buckets of pending points of a card, activated and cancelled ones included. Points that are due by now are settled first. The newest bucket is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown card is refused with `not_found`.",
    )
    .returns("The buckets of this page and the cursor of the next page.")
    .pages(shapes::PENDING_BUCKET)
    .query(LISTED_BY_DATE),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points/{bucketId}/activate",
        "Activate pending points",
        activate,
    ))
    .describe(
        "activateMemberCardPendingPoints",
        "Makes all points of a pending bucket available at once, records a transaction, and starts their expiration. The program and the member must be active, and the program must be within its validity period (`non_active_program`, `non_active_member`, `program_outside_validity_window`). A bucket that is not pending is refused with `invalid_pending_points_bucket_status`, a card definition without pending points with `pending_points_not_enabled`.",
    )
    .returns("The recorded transaction of the activation.")
    .answers(200, shapes::ACTIVATED),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/pending-points/{bucketId}/cancel",
        "Cancel pending points",
        cancel,
    ))
    .describe(
        "cancelMemberCardPendingPoints",
        "Removes all points of a pending bucket, so that they never become available, and records a transaction. The program and the member must be active, and the program must be within its validity period (`non_active_program`, `non_active_member`, `program_outside_validity_window`). A bucket that is not pending is refused with `invalid_pending_points_bucket_status`, a card definition without pending points with `pending_points_not_enabled`.",
    )
    .returns("The recorded transaction of the cancellation.")
    .answers(200, shapes::CANCELED),
    with_resource(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/expiring-points",
        "List expiring points of a member card",
        list_expiring,
    ))
    .describe(
        "listMemberCardExpiringPoints",
        "Returns the buckets of points of a card that have an expiration date, expired ones included. Points that are due by now are settled first. The newest bucket is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown card is refused with `not_found`.",
    )
    .returns("The buckets of this page and the cursor of the next page.")
    .pages(shapes::EXPIRING_BUCKET)
    .query(LISTED_BY_END),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}/expiring-points/{bucketId}/expire",
        "Expire points",
        expire,
    ))
    .describe(
        "expireMemberCardPoints",
        "Expires all points of a bucket at once, before their date, and records a transaction. The program and the member must be active, and the program must be within its validity period (`non_active_program`, `non_active_member`, `program_outside_validity_window`). A bucket that is not active is refused with `invalid_points_bucket_status`, a card definition without expiration with `points_expiration_not_enabled`.",
    )
    .returns("The recorded transaction, or `NO_EXPIRATION` without a transaction for an empty bucket.")
    .answers(200, shapes::EXPIRED),
];

/// Refuses to change a card if its program or member is not active, or if its program is not active now.
fn check_card_open(call: &Call<'_, '_>, present: &LocalTime, action: &str) -> Result<(), CallError> {
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    check_open(&program, &member, present, action)
}

/// Loads the card that the path names, with the named lots.
fn load_card(call: &Call<'_, '_>, lots: &[&str]) -> Result<LoadedCard, CallError> {
    Ok(load(call.store, find_within(call, &CARD, call.param("cardId"))?, lots)?)
}

/// Returns the response of an operation: its transaction, or a message that nothing changed.
fn respond_with_transaction(transactions: Vec<Document>, unchanged_status: &str, message: &str) -> HandlerResult {
    let transaction = transactions.into_iter().next().map(|row| row.body);
    let (status, message) = match &transaction {
        Some(_) => ("TRANSACTION_CREATED", message),
        None => (unchanged_status, "Nothing changed"),
    };
    Ok(Response::json(json!({ "transaction": transaction, "status": status, "message": message })))
}

fn adjust(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let change = TransactionRecord::of(&sent).sent_points()?;
    let present = LocalTime::of(call)?;
    let mut loaded = load_card(call, &[])?;
    check_card_open(call, &present, "adjust member's card points")?;
    let definition = find_definition(call.store, &loaded)?;
    let points = change.unsigned_abs();
    let outcome = match change {
        0 => loaded.card.settle(&present.now()),
        1.. => {
            let lot = call.ids.hex18("lcpeb_");
            loaded.card.add(points, Credit { lot: &lot, expiration: &definition.expiration }, &present.now())
        }
        _ => {
            let take = DebitReason::Subtract { below_zero: definition.below_zero };
            loaded.card.take(take, points, &present.now())
        }
    };
    let outcome = outcome.map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let reason = TransactionRecord::of(&sent).reason();
    let details = TransactionDetails { reason, ..TransactionDetails::default() };
    let transactions = write_outcome(call.store, &present, &mut loaded, outcome, Some((&details, &mut call.ids)))?;
    respond_with_transaction(transactions, "NO_CHANGE", if change > 0 { "Points added" } else { "Points subtracted" })
}

/// Finds the bucket of a kind that the path names, which must belong to its card.
fn find_bucket(call: &Call<'_, '_>, kind: &str) -> Result<Document, CallError> {
    let card = find_within(call, &CARD, call.param("cardId"))?;
    let id = call.param("bucketId");
    let found = call.store.document(kind, id)?.filter(|bucket| bucket.parent.as_ref() == Some(&card.id));
    found.ok_or_else(|| not_found(&format!("vl_{kind}"), id).into())
}

fn activate(call: &mut Call<'_, '_>) -> HandlerResult {
    end_pending(call, PendingAction::Activation)
}

fn cancel(call: &mut Call<'_, '_>) -> HandlerResult {
    end_pending(call, PendingAction::Cancellation)
}

/// Manual end of pending points.
#[derive(Clone, Copy)]
enum PendingAction {
    Activation,
    Cancellation,
}

fn end_pending(call: &mut Call<'_, '_>, action: PendingAction) -> HandlerResult {
    let (verb, done, unchanged_status) = match action {
        PendingAction::Activation => ("activate", "activated", "NO_ACTIVATION"),
        PendingAction::Cancellation => ("cancel", "canceled", "NO_CANCELLATION"),
    };
    let id = Text::from(find_bucket(call, PENDING)?.id);
    let present = LocalTime::of(call)?;
    check_card_open(call, &present, &format!("{verb} member's pending points"))?;
    let mut loaded = load_card(call, &[])?;
    if find_definition(call.store, &loaded)?.delay == Delay::Immediate {
        let details = "Card definition does not have pending points enabled";
        return Err(error(423, "pending_points_not_enabled", "Pending points are not enabled", details).into());
    }
    let outcome = match action {
        PendingAction::Activation => loaded.card.activate(&id, &present.now()),
        PendingAction::Cancellation => loaded.card.cancel(&id, &present.now()),
    };
    let outcome = outcome.map_err(|refused| match refused {
        CardRefusal::NoSuchPending(_) => {
            let details = format!("Pending points bucket must be in PENDING status in order to be {done}");
            let key = "invalid_pending_points_bucket_status";
            error(423, key, "Invalid pending points bucket status", details).into()
        }
        other => card_refusal(&loaded.row.id, other),
    })?;
    let transactions = write_outcome(
        call.store,
        &present,
        &mut loaded,
        outcome,
        Some((&TransactionDetails::default(), &mut call.ids)),
    )?;
    respond_with_transaction(transactions, unchanged_status, &format!("Pending points {done}"))
}

fn expire(call: &mut Call<'_, '_>) -> HandlerResult {
    let id = Text::from(find_bucket(call, LOT)?.id);
    let present = LocalTime::of(call)?;
    check_card_open(call, &present, "expire member's card points")?;
    let mut loaded = load_card(call, &[&id])?;
    if find_definition(call.store, &loaded)?.expiration == Expiration::Never {
        return Err(card_refusal(&loaded.row.id, CardRefusal::NeverExpires));
    }
    let outcome = loaded.card.expire(&id, &present.now()).map_err(|refused| card_refusal(&loaded.row.id, refused))?;
    let transactions = write_outcome(
        call.store,
        &present,
        &mut loaded,
        outcome,
        Some((&TransactionDetails::default(), &mut call.ids)),
    )?;
    respond_with_transaction(transactions, "NO_EXPIRATION", "Points expired")
}

/// Settles the card that the path names before its rows are listed. The list contains all due changes, which stay even if the
/// call fails.
fn load_settled(call: &mut Call<'_, '_>) -> Result<LoadedCard, CallError> {
    let present = LocalTime::of(call)?;
    let mut loaded = load_card(call, &[])?;
    if settle(call.store, &present, &mut loaded)? {
        commit::settle_first(call)?;
    }
    Ok(loaded)
}

fn list_transactions(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = clause_of_card(call, TRANSACTION)?;
    cursor_list::page(call, &TRANSACTIONS, "lcrsctx_", clause, bodies_to_json)
}

fn list_pending(call: &mut Call<'_, '_>) -> HandlerResult {
    let clause = clause_of_card(call, PENDING)?;
    cursor_list::page(call, &PENDING_LIST, "lcrscppb_", clause, card_view::to_json)
}

fn list_expiring(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = clause_of_card(call, LOT)?;
    // Points that never expire have no date.
    loyalty_campaigns::narrow_to_dated(&mut clause);
    cursor_list::page(call, &EXPIRING, "lcrspeb_", clause, card_view::to_json)
}

/// Returns the clause for rows of a kind of the card that the path names.
fn clause_of_card(call: &mut Call<'_, '_>, kind: &str) -> Result<Clause, CallError> {
    let loaded = load_settled(call)?;
    let mut clause = Clause::of_kind(kind).at(call.now_ms());
    clause.within(&loaded.row.id);
    Ok(clause)
}
