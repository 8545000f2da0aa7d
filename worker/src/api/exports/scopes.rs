//! Exports scoped by the path: transactions of a card, a campaign or a member, points by their expiration,
//! and all orders.

use crate::api::exports::exports::EXPORT;
use crate::domain::balances::kinds;
use crate::domain::campaigns::campaign::{CAMPAIGN, find_loyalty_campaign};
use crate::domain::exports::job;
use crate::domain::exports::job::ExportRequest;
use crate::domain::exports::request::{FIELDS, ORDER, read};
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::find_card;
use crate::http::route::{Call, HandlerResult, Response, Route, post};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::records::ExportRecord;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] = &[may(
    "parameters",
    FieldType::Object(&[
        ORDER,
        FIELDS,
        may("filters", FieldType::Map).description(
            "Conditions by property of the exported objects, each by operator, and the `junction` between them.",
        ),
    ]),
)
.description("Selection, columns and sort order of the export. Absent means all objects with the default columns.")];
/// An export of one voucher has no filters.
const OF_CODE: &[Field] = &[may("parameters", FieldType::Object(&[ORDER, FIELDS]))
    .description("Columns and sort order of the export. Absent means the default columns.")];

const TRANSACTIONS: &str = "voucher_transactions";
/// Text of each response.
const STARTED: &str =
    "The scheduled export. `GET /v1/exports/{exportId}` returns its status and the link to the CSV file.";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/campaigns/{campaignId}/transactions/export", "Export the transactions of a campaign", export_campaign_transactions)
        .of(&EXPORT)
        .scope("campaigns")
        .body(BODY)
        .describe(
            "exportCampaignTransactions",
            "Starts an export of the balance transactions of all vouchers of a gift voucher or loyalty campaign. A CSV file is written in the background; transactions after the call are left out. Other types of campaigns are refused with `forbidden`, unknown columns with `invalid_export_fields`.",
        )
        .returns(STARTED),
    post("/v1/vouchers/{code}/transactions/export", "Export the transactions of a voucher", export_voucher_transactions)
        .of(&EXPORT)
        .scope("vouchers")
        .body(OF_CODE)
        .describe(
            "exportVoucherTransactions",
            "Starts an export of the balance transactions of a gift card or loyalty card. A CSV file is written in the background; transactions after the call are left out. An unknown voucher is refused with `not_found`, unknown columns with `invalid_export_fields`.",
        )
        .returns(STARTED),
    post("/v1/loyalties/members/{memberId}/transactions/export", "Export the transactions of a loyalty card", export_card_transactions)
        .of(&EXPORT)
        .scope("loyalties")
        .body(BODY)
        .describe(
            "exportLoyaltyCardTransactions",
            "Starts an export of the points transactions of a loyalty card. A CSV file is written in the background; transactions after the call are left out. An unknown card is refused with `not_found`, unknown columns with `invalid_export_fields`.",
        )
        .returns(STARTED),
    post(
        "/v1/loyalties/{campaignId}/members/{memberId}/transactions/export",
        "Export the transactions of a loyalty card of a campaign",
        export_card_transactions,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY)
    .describe(
        "exportLoyaltyCampaignCardTransactions",
        "Starts an export of the points transactions of a loyalty card that belongs to the campaign. A CSV file is written in the background; transactions after the call are left out. A card of another campaign is refused with `not_found`, unknown columns with `invalid_export_fields`.",
    )
    .returns(STARTED),
    post(
        "/v1/loyalties/{campaignId}/transactions/export",
        "Export the transactions of a loyalty campaign",
        export_loyalty_campaign_transactions,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY)
    .describe(
        "exportLoyaltyCampaignTransactions",
        "Starts an export of the points transactions of all cards of a loyalty campaign. A CSV file is written in the background; transactions after the call are left out. An unknown loyalty campaign is refused with `not_found`, unknown columns with `invalid_export_fields`.",
    )
    .returns(STARTED),
    post(
        "/v1/loyalties/{campaignId}/points-expiration/export",
        "Export the expirations of points of a loyalty campaign",
        export_points_expiration,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY)
    .describe(
        "exportLoyaltyCampaignPointsExpiration",
        "Starts an export of the points of a loyalty campaign by the day on which they expire. A CSV file is written in the background. An unknown loyalty campaign is refused with `not_found`, unknown columns with `invalid_export_fields`.",
    )
    .returns(STARTED),
    post("/v1/orders/export", "Export orders", export_orders)
        .of(&EXPORT)
        .scope("orders")
        .body(BODY)
        .describe(
            "exportOrders",
            "Starts an export of the orders that the filters select. A CSV file is written in the background; orders created after the call are left out. Unknown columns are refused with `invalid_export_fields`, wrong filters with `invalid_payload`.",
        )
        .returns(STARTED),
];

/// Filter that represents the scope of an export in its returned parameters.
struct ScopeFilter<'i> {
    name: &'static str,
    id: &'i str,
}

/// Starts an export of a kind within `scope`, which its parameters contain as a filter.
fn start_export(
    call: &mut Call<'_, '_>,
    object: &str,
    filter: Option<ScopeFilter<'_>>,
    scope: impl FnOnce(&mut ExportRequest),
) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let (mut request, mut parameters) = read(object, ExportRecord::of(&body).parameters())?;
    scope(&mut request);
    if let Some((ScopeFilter { name, id }, parameters)) = filter.zip(parameters.as_object_mut()) {
        let filters = parameters.entry("filters").or_insert_with(|| Json::Object(Map::new()));
        if let Some(filters) = filters.as_object_mut() {
            filters.entry(name).or_insert_with(|| json!({ "conditions": { "$in": [id] } }));
        }
    }
    let export = job::start(call, request, parameters)?;
    Ok(Response::json(EXPORT.one_to_json(call, export)?))
}

fn start_card_export(call: &mut Call<'_, '_>, card: &Document) -> HandlerResult {
    start_export(call, TRANSACTIONS, Some(ScopeFilter { name: "voucher_id", id: &card.id }), |request| {
        request.parent = Some(card.id.clone())
    })
}

fn export_voucher_transactions(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = voucher::find(call)?;
    start_card_export(call, &card)
}

fn export_card_transactions(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    start_card_export(call, &card)
}

fn export_campaign_transactions(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    kinds::of_campaign(&campaign)?;
    start_export(call, TRANSACTIONS, Some(ScopeFilter { name: "campaign_id", id: &campaign.id }), |request| {
        request.campaign = Some(campaign.id.clone())
    })
}

fn export_loyalty_campaign_transactions(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_loyalty_campaign(call)?;
    start_export(call, TRANSACTIONS, Some(ScopeFilter { name: "campaign_id", id: &campaign.id }), |request| {
        request.campaign = Some(campaign.id.clone())
    })
}

fn export_points_expiration(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_loyalty_campaign(call)?;
    start_export(call, "points_expiration", Some(ScopeFilter { name: "campaign_id", id: &campaign.id }), |request| {
        request.parent = Some(campaign.id.clone())
    })
}

fn export_orders(call: &mut Call<'_, '_>) -> HandlerResult {
    start_export(call, "order", None, |_| ())
}
