//! Exports of what belongs to something that the path names: transactions of a card, a campaign or a member, points by when they lapse, and
//! all orders. It must not know how an export is written.

use crate::api::project::exports::EXPORT;
use crate::http::route::{Answer, Call, Outcome, Route, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::campaigns::{CAMPAIGN, find_program};
use crate::shop::export_asked::{FIELDS, ORDER, asked};
use crate::shop::export_work::{self, Wanted};
use crate::shop::purses;
use crate::shop::vouchers::{self, find_card};
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

const BODY: &[Field] =
    &[may("parameters", Kind::Object(&[ORDER, FIELDS, may("filters", Kind::Map)])).says("Which of it, and how")];
/// One code has nothing to select from.
const OF_CODE: &[Field] = &[may("parameters", Kind::Object(&[ORDER, FIELDS])).says("Which columns, and how ordered")];

const TRANSACTIONS: &str = "voucher_transactions";

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/campaigns/{campaignId}/transactions/export", "Export what moved balances in a campaign", of_campaign)
        .of(&EXPORT)
        .scope("campaigns")
        .body(BODY),
    post("/v1/vouchers/{code}/transactions/export", "Export what moved the balance of a card", of_voucher)
        .of(&EXPORT)
        .scope("vouchers")
        .body(OF_CODE),
    post("/v1/loyalties/members/{memberId}/transactions/export", "Export what moved the points of a card", of_card)
        .of(&EXPORT)
        .scope("loyalties")
        .body(BODY),
    post(
        "/v1/loyalties/{campaignId}/members/{memberId}/transactions/export",
        "Export what moved points in a program",
        of_card,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY),
    post(
        "/v1/loyalties/{campaignId}/transactions/export",
        "Export what moved the points of a program's cards",
        of_program,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY),
    post(
        "/v1/loyalties/{campaignId}/points-expiration/export",
        "Export the points of a program by when they lapse",
        lapsing,
    )
    .of(&EXPORT)
    .scope("loyalties")
    .body(BODY),
    post("/v1/orders/export", "Export orders as CSV", orders).of(&EXPORT).scope("orders").body(BODY),
];

/// Begins an export of a kind within what `scope` says, which is shown as a filter of this name and value.
fn begin(call: &mut Call<'_, '_>, word: &str, (name, id): (&str, &str), scope: impl FnOnce(&mut Wanted)) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let (mut wanted, mut parameters) = asked(word, body.get("parameters"))?;
    scope(&mut wanted);
    if let Some(parameters) = parameters.as_object_mut().filter(|_| !name.is_empty()) {
        let filters = parameters.entry("filters").or_insert_with(|| Json::Object(Map::new()));
        if let Some(filters) = filters.as_object_mut() {
            filters.entry(name).or_insert_with(|| json!({ "conditions": { "$in": [id] } }));
        }
    }
    let export = export_work::start(call, wanted, parameters)?;
    Ok(Answer::json(EXPORT.show_one(call, export)?))
}

fn of_one(call: &mut Call<'_, '_>, card: &Document) -> Outcome {
    begin(call, TRANSACTIONS, ("voucher_id", &card.id), |wanted| wanted.parent = Some(card.id.clone()))
}

fn of_voucher(call: &mut Call<'_, '_>) -> Outcome {
    let card = vouchers::find(call)?;
    of_one(call, &card)
}

fn of_card(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    of_one(call, &card)
}

fn of_campaign(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    purses::of_campaign(&campaign)?;
    begin(call, TRANSACTIONS, ("campaign_id", &campaign.id), |wanted| wanted.campaign = Some(campaign.id.clone()))
}

fn of_program(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    begin(call, TRANSACTIONS, ("campaign_id", &program.id), |wanted| wanted.campaign = Some(program.id.clone()))
}

fn lapsing(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    begin(call, "points_expiration", ("campaign_id", &program.id), |wanted| wanted.parent = Some(program.id.clone()))
}

fn orders(call: &mut Call<'_, '_>) -> Outcome {
    begin(call, "order", ("", ""), |_| ())
}
