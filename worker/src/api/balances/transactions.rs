//! Transactions of the balance of a card: redemptions and rollbacks as they were stored, and manual adjustments.
//! One list, newest first.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::keyset_list;
use crate::documents::shapes;
use crate::domain::balances::kinds;
use crate::domain::balances::kinds::{BalanceKind, CARD, GIFT};
use crate::domain::balances::transactions;
use crate::domain::campaigns::campaign::{CAMPAIGN, find_loyalty_campaign};
use crate::domain::clock;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::find_card;
use crate::http::list_options::List;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::Document;
use crate::store::documents::redemptions;
use serde_json::Value as Json;

const QUERY: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["id", "-id"]))
        .description("Direction of the list: `id` for the oldest first, `-id` for the newest first. Default `-id`."),
    may("starting_after_id", KEY)
        .description("ID of a transaction in this list. The list continues after this transaction."),
    may("filters", FieldType::Map)
        .description("Conditions by field, joined by `junction`: `id` and `created_at` for one card, `id` and `voucher_id` for a campaign."),
];

/// A redemption is listed under its own id as a transaction, with its creation time.
const TRANSACTIONS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[("id", redemptions::TRANSACTION_ID), ("created_at", redemptions::TRANSACTION_DATE)],
};

/// List of the transactions of all cards of a campaign.
const TRANSACTIONS_OF_CAMPAIGN: List =
    List { conditions: &[("id", redemptions::TRANSACTION_ID), ("voucher_id", "parent")], ..TRANSACTIONS };

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/vouchers/{code}/transactions", "List the transactions of a card", list_of_voucher)
        .describe(
            "listVoucherTransactions",
            "Returns the transactions that changed the balance of a gift card or a loyalty card: redemptions, rollbacks, earnings, expirations and manual changes. The newest is first by default. An unknown voucher is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The transactions on this page, and the ID after which the next page starts.")
        .scope("vouchers")
        .query(QUERY)
        .lists("data", shapes::vouchers::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/members/{memberId}/transactions", "List the transactions of a loyalty card", list_of_card)
        .describe(
            "listLoyaltyCardTransactions",
            "Returns the transactions that changed the points of a loyalty card: redemptions, rollbacks, earnings, transfers, expirations and manual changes. The newest is first by default. An unknown card is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The transactions on this page, and the ID after which the next page starts.")
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::vouchers::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/{campaignId}/members/{memberId}/transactions", "List the transactions of a campaign's card", list_of_card)
        .describe(
            "listLoyaltyCampaignMemberTransactions",
            "Returns the transactions that changed the points of one loyalty card of the named campaign, the newest first by default. A card of another campaign is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The transactions on this page, and the ID after which the next page starts.")
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::vouchers::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/{campaignId}/transactions", "List the transactions of a loyalty campaign", list_of_loyalty_campaign)
        .describe(
            "listLoyaltyCampaignTransactions",
            "Returns the transactions that changed the points of all cards of a loyalty campaign, the newest first by default. A campaign of another type is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The transactions on this page, and the ID after which the next page starts.")
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::vouchers::TRANSACTION, shapes::MORE),
    get("/v1/campaigns/{campaignId}/transactions", "List the transactions of a campaign", list_of_campaign)
        .describe(
            "listCampaignTransactions",
            "Returns the transactions that changed the balances of all cards of a gift or loyalty campaign, the newest first by default. Other campaigns have no balances and are refused with `forbidden`. An unknown filter or start is refused with `invalid_query_params`.",
        )
        .returns("The transactions on this page, and the ID after which the next page starts.")
        .scope("campaigns")
        .query(QUERY)
        .lists("data", shapes::vouchers::TRANSACTION, shapes::MORE),
];

fn list_of_voucher(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = voucher::find(call)?;
    list(call, &card)
}

fn list_of_card(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    list(call, &card)
}

/// Lists the transactions of a campaign's loyalty cards or gift cards; other codes have no balance.
fn list_of_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    list_of_cards(call, &campaign, kinds::of_campaign(&campaign)?)
}

fn list_of_loyalty_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    list_of_cards(call, &loyalty_campaign, &CARD)
}

fn list_of_cards(call: &mut Call<'_, '_>, campaign: &Document, balance_kind: &BalanceKind) -> HandlerResult {
    let mut clause = clock::at_call(call, redemptions::transactions())?;
    redemptions::narrow_to_cards_of(&mut clause, &campaign.id);
    let position = |id: &str| redemptions::find_position_of_campaign(call.store, &campaign.id, id);
    let found =
        keyset_list::select(&TRANSACTIONS_OF_CAMPAIGN, call.store, &call.query, clause, "a transaction", &position)?;
    let json = found
        .documents
        .into_iter()
        .map(|document| transactions::to_json(balance_kind, Some(&campaign.id), document))
        .collect::<Result<_, _>>()?;
    Ok(Response::json(Json::Object(keyset_list::envelope(json, found.has_more))))
}

fn list(call: &mut Call<'_, '_>, card: &Document) -> HandlerResult {
    let mut clause = clock::at_call(call, redemptions::transactions())?;
    redemptions::narrow_to_card(&mut clause, &card.id);
    let position = |id: &str| redemptions::find_position_of_card(call.store, &card.id, id);
    let found = keyset_list::select(&TRANSACTIONS, call.store, &call.query, clause, "a transaction", &position)?;
    let balance_kind = if card.body.get(GIFT.block).is_some_and(Json::is_object) { &GIFT } else { &CARD };
    let to_json = |document| transactions::to_json(balance_kind, card.parent.as_deref(), document);
    let json = found.documents.into_iter().map(to_json);
    let json = json.collect::<Result<_, _>>()?;
    Ok(Response::json(Json::Object(keyset_list::envelope(json, found.has_more))))
}
