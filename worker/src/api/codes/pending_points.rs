//! Points that wait on loyalty cards: listed, and made active, more, fewer or none by hand. It must not know how points are earned.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::onward;
use crate::document::shapes::codes::{BALANCE, PENDING_BALANCE, PENDING_POINTS as SHAPE};
use crate::document::shapes::{EMPTY, MORE};
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::shop::campaigns::find_program;
use crate::shop::pending_points::{Hand, Handled, act_on};
use crate::shop::pending_rows::{PENDING_POINTS, show};
use crate::shop::purses::CARD;
use crate::shop::vouchers::find_card;
use serde_json::{Value as Json, json};

const QUERY: &[Field] = &[LIMIT, may("order", Kind::OneOf(&["id", "-id"])), may("starting_after_id", KEY)];

const BODY: &[Field] =
    &[must("points", Kind::Int(-INT_MAX, INT_MAX)).says("How many more there are, or fewer: below zero")];

/// Those that wait.
const WAITING: List = List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] };

const fn listed(route: Route) -> Route {
    route.scope("loyalties").query(QUERY).lists("data", SHAPE, MORE)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listed(get(
        "/v1/loyalties/{campaignId}/pending-points",
        "List the points that wait on a program's cards",
        of_program,
    )),
    listed(get(
        "/v1/loyalties/{campaignId}/members/{memberId}/pending-points",
        "List the points that wait on a card of a program",
        of_card,
    )),
    listed(get("/v1/loyalties/members/{memberId}/pending-points", "List the points that wait on a card", of_card)),
    post(
        "/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/activate",
        "Let points that wait be spent now",
        activate,
    )
    .scope("loyalties")
    .answers(200, BALANCE),
    post(
        "/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/balance",
        "Let more or fewer points wait",
        adjust,
    )
    .scope("loyalties")
    .body(BODY)
    .answers(200, PENDING_BALANCE),
    post("/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/cancel", "Cancel points that wait", cancel)
        .scope("loyalties")
        .answers(204, EMPTY),
];

fn of_program(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    list(call, "parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = {})", &program.id)
}

fn of_card(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    list(call, "parent = {}", &card.id)
}

fn list(call: &mut Call<'_, '_>, whose: &str, id: &str) -> Outcome {
    let mut clause = Clause::of_kind(PENDING_POINTS);
    clause.and(whose, id);
    clause.and("json_extract(body, '$.status') = 'PENDING' AND json_extract(body, '$.at') > {}", call.now_ms());
    let owner = whose.replace("{}", "+?1");
    // What waits no longer still says from where on a list goes on.
    let place = |known: &str| {
        call.store.row(
            &format!("SELECT seq FROM document WHERE kind = 'pending_points' AND id = +?2 AND {owner}"),
            &[id.into(), known.into()],
        )
    };
    let found = onward::select(&WAITING, call.store, &call.query, clause, ("points that wait", &place))?;
    let shown = found.documents.into_iter().map(show).collect();
    Ok(Answer::json(Json::Object(onward::envelope(shown, found.has_more))))
}

fn activate(call: &mut Call<'_, '_>) -> Outcome {
    let Handled { points, total, left, card_id } = handled(call, Hand::Activates)?;
    Ok(Answer::json(json!({
        "points": points, "total": total, "balance": left, "type": CARD.kind, "operation_type": "MANUAL",
        "object": "balance", "related_object": { "type": "voucher", "id": card_id },
    })))
}

fn adjust(call: &mut Call<'_, '_>) -> Outcome {
    let by = call.body(Nulls::Dropped)?.get("points").and_then(Json::as_i64).unwrap_or(0);
    let Handled { points, card_id, .. } = handled(call, Hand::Adjusts(by))?;
    Ok(Answer::json(json!({
        "points": by, "total": points.saturating_add(by), "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card_id },
    })))
}

fn cancel(call: &mut Call<'_, '_>) -> Outcome {
    handled(call, Hand::Cancels)?;
    Ok(Answer::empty(204))
}

fn handled(call: &mut Call<'_, '_>, hand: Hand) -> Result<Handled, CallError> {
    let card = find_card(call)?;
    let id = call.param("pendingPointsId").to_owned();
    act_on(call, card, &id, hand)
}
