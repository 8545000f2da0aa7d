//! Pending points of loyalty cards: listing, and manual activation, adjustment and cancellation.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::keyset_list;
use crate::documents::shapes::vouchers::{BALANCE, PENDING_BALANCE, PENDING_POINTS as SHAPE};
use crate::documents::shapes::{EMPTY, MORE};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending::{PENDING_POINTS, to_json};
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::loyalty_campaigns::pending_points::{PendingPointsAction, PendingPointsResult, apply_action};
use crate::domain::vouchers::voucher::find_card;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::amount::CheckedAmount;
use crate::store::document_list::clause::Clause;
use crate::store::documents::loyalty_campaigns::{self, PendingPointsOwner};
use crate::store::records::TransactionRecord;
use serde_json::{Value as Json, json};

const QUERY: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["id", "-id"]))
        .description("Direction of the list: `id` for the oldest first, `-id` for the newest first. Default `-id`."),
    may("starting_after_id", KEY).description("ID of pending points. The list continues after these points."),
];

const BODY: &[Field] =
    &[must("points", FieldType::Int(-INT_MAX, INT_MAX)).description("Number of points to add to the pending points, negative to subtract. Zero is refused, and at least one point must remain.")];

/// List of pending points.
const PENDING: List = List { data_ref: "data", page_max: 1, orders: &[], filters: &[], conditions: &[] };

const fn listed(route: Route) -> Route {
    route.scope("loyalties").query(QUERY).lists("data", SHAPE, MORE)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listed(get("/v1/loyalties/{campaignId}/pending-points", "List the pending points of a loyalty campaign", list_of_campaign))
        .describe(
            "listLoyaltyCampaignPendingPoints",
            "Returns the pending points on all cards of a loyalty campaign: points that were earned and cannot be spent yet. The newest are first by default. A campaign of another type is refused with `not_found`, an unknown order or start with `invalid_query_params`.",
        )
        .returns("The pending points on this page, and the ID after which the next page starts."),
    listed(get(
        "/v1/loyalties/{campaignId}/members/{memberId}/pending-points",
        "List the pending points of a campaign's card",
        list_of_card,
    ))
    .describe(
        "listLoyaltyCampaignMemberPendingPoints",
        "Returns the pending points on one card of the named campaign, the newest first by default. A card of another campaign is refused with `not_found`, an unknown order or start with `invalid_query_params`.",
    )
    .returns("The pending points on this page, and the ID after which the next page starts."),
    listed(get("/v1/loyalties/members/{memberId}/pending-points", "List the pending points of a loyalty card", list_of_card))
        .describe(
            "listLoyaltyCardPendingPoints",
            "Returns the pending points on a loyalty card, the newest first by default. A voucher of another type is refused with `not_found`, an unknown order or start with `invalid_query_params`.",
        )
        .returns("The pending points on this page, and the ID after which the next page starts."),
    post(
        "/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/activate",
        "Activate pending points",
        activate,
    )
    .describe(
        "activateLoyaltyCardPendingPoints",
        "Makes pending points spendable at once; their expiration is counted from now. The webhook event `voucher.loyalty_card.pending_points.activated` follows. Points that are already active or canceled are refused with `invalid_pending_points_state`, an unknown ID with `not_found`.",
    )
    .returns("The activated points, and the balance of the card.")
    .scope("loyalties")
    .answers(200, BALANCE),
    post(
        "/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/balance",
        "Adjust pending points",
        adjust,
    )
    .describe(
        "adjustLoyaltyCardPendingPoints",
        "Adds to pending points or subtracts from them; the day of activation stays. The webhook event `voucher.loyalty_card.pending_points.updated` follows. A change that leaves less than one point is refused with `invalid_add_balance_params`, points that are already active or canceled with `invalid_pending_points_state`.",
    )
    .returns("The change, and the pending points after the change.")
    .scope("loyalties")
    .body(BODY)
    .answers(200, PENDING_BALANCE),
    post("/v1/loyalties/members/{memberId}/pending-points/{pendingPointsId}/cancel", "Cancel pending points", cancel)
        .describe(
            "cancelLoyaltyCardPendingPoints",
            "Cancels pending points for good, so that they never become spendable. The webhook event `voucher.loyalty_card.pending_points.canceled` follows. Points that are already active or canceled are refused with `invalid_pending_points_state`, an unknown ID with `not_found`.",
        )
        .returns("No content. The pending points are canceled.")
        .scope("loyalties")
        .answers(204, EMPTY),
];

fn list_of_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    list(call, PendingPointsOwner::Campaign(&loyalty_campaign.id))
}

fn list_of_card(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    list(call, PendingPointsOwner::Card(&card.id))
}

fn list(call: &mut Call<'_, '_>, owner: PendingPointsOwner<'_>) -> HandlerResult {
    let mut clause = Clause::of_kind(PENDING_POINTS);
    loyalty_campaigns::narrow_to_pending(&mut clause, owner, call.now_ms());
    // An entry that is no longer pending still marks the position after which a list continues.
    let position = |id: &str| loyalty_campaigns::find_pending_position(call.store, owner, id);
    let found = keyset_list::select(&PENDING, call.store, &call.query, clause, "points that wait", &position)?;
    let json = found.documents.into_iter().map(to_json).collect();
    Ok(Response::json(Json::Object(keyset_list::envelope(json, found.has_more))))
}

fn activate(call: &mut Call<'_, '_>) -> HandlerResult {
    let PendingPointsResult { points, total, balance, card_id } = apply(call, PendingPointsAction::Activate)?;
    Ok(Response::json(json!({
        "points": points, "total": total, "balance": balance, "type": CARD.kind, "operation_type": "MANUAL",
        "object": "balance", "related_object": { "type": "voucher", "id": card_id },
    })))
}

fn adjust(call: &mut Call<'_, '_>) -> HandlerResult {
    let by = TransactionRecord::of(&call.body(Nulls::Dropped)?).sent_points()?;
    let PendingPointsResult { points, card_id, .. } = apply(call, PendingPointsAction::Adjust(by))?;
    Ok(Response::json(json!({
        "points": by, "total": points.plus(by)?, "operation_type": "MANUAL", "object": "balance",
        "related_object": { "type": "voucher", "id": card_id },
    })))
}

fn cancel(call: &mut Call<'_, '_>) -> HandlerResult {
    apply(call, PendingPointsAction::Cancel)?;
    Ok(Response::empty(204))
}

fn apply(call: &mut Call<'_, '_>, action: PendingPointsAction) -> Result<PendingPointsResult, CallError> {
    let card = find_card(call)?;
    let id = call.param("pendingPointsId").to_owned();
    apply_action(call, card, &id, action)
}
