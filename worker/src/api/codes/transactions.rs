//! What moved the balance of a card: redemptions and rollbacks as they were written down, and changes by hand. One list, newest first.
//! It must not know how a balance is kept.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::onward;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Field, Kind, may};
use crate::shop::campaigns::{CAMPAIGN, find_program};
use crate::shop::purses::{self, CARD, GIFT, Purse};
use crate::shop::voucher_transactions;
use crate::shop::vouchers::{self, find_card};
use crate::shop::zone;
use crate::store::document::Document;
use crate::store::sql::{Fault, Row};
use serde_json::Value as Json;

const QUERY: &[Field] =
    &[LIMIT, may("order", Kind::OneOf(&["id", "-id"])), may("starting_after_id", KEY), may("filters", Kind::Map)];

/// A redemption is listed under its own id as a transaction, and dated when it was made.
const TRANSACTIONS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[
        ("id", "CASE kind WHEN 'redemption' THEN 'vtx_' || substr(id, instr(id, '_') + 1) ELSE id END"),
        ("created_at", "COALESCE(json_extract(body, '$.created_at'), json_extract(body, '$.date'))"),
    ],
};

/// Those of all cards of a program.
const OF_PROGRAM: List = List {
    conditions: &[
        ("id", "CASE kind WHEN 'redemption' THEN 'vtx_' || substr(id, instr(id, '_') + 1) ELSE id END"),
        ("voucher_id", "parent"),
    ],
    ..TRANSACTIONS
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/vouchers/{code}/transactions", "List what moved the balance of a card", of_voucher)
        .scope("vouchers")
        .query(QUERY)
        .lists("data", shapes::codes::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/members/{memberId}/transactions", "List what moved the points of a card", of_card)
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::codes::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/{campaignId}/members/{memberId}/transactions", "List what moved points in a program", of_card)
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::codes::TRANSACTION, shapes::MORE),
    get("/v1/loyalties/{campaignId}/transactions", "List what moved the points of a program's cards", of_program)
        .scope("loyalties")
        .query(QUERY)
        .lists("data", shapes::codes::TRANSACTION, shapes::MORE),
    get("/v1/campaigns/{campaignId}/transactions", "List what moved the balances of a campaign's cards", of_campaign)
        .scope("campaigns")
        .query(QUERY)
        .lists("data", shapes::codes::TRANSACTION, shapes::MORE),
];

fn of_voucher(call: &mut Call<'_, '_>) -> Outcome {
    let card = vouchers::find(call)?;
    list(call, &card)
}

fn of_card(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    list(call, &card)
}

/// Those of a program's cards, or of a campaign's gift cards; other codes have no balance.
fn of_campaign(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    list_all(call, &campaign, purses::of_campaign(&campaign)?)
}

fn of_program(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    list_all(call, &program, &CARD)
}

fn list_all(call: &mut Call<'_, '_>, program: &Document, purse: &Purse) -> Outcome {
    let mut clause = zone::asked(call, Clause::of_kinds(&["redemption", "voucher_transaction"]))?;
    clause.and(
        "parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = {})
           AND COALESCE(json_extract(body, '$.result'), 'SUCCESS') = 'SUCCESS'",
        program.id.as_str(),
    );
    let place = |id: &str| {
        let own = id.strip_prefix("vtx_").unwrap_or(id);
        call.store.row(
            "SELECT seq FROM document WHERE kind IN ('redemption', 'voucher_transaction') AND id IN (?2, 'r_' || ?3, 'rr_' || ?3)
               AND parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = +?1) ORDER BY seq LIMIT 1",
            &[program.id.as_str().into(), id.into(), own.into()],
        )
    };
    let found = onward::select(&OF_PROGRAM, call.store, &call.query, clause, ("a transaction", &place))?;
    let shown = found
        .documents
        .into_iter()
        .map(|document| voucher_transactions::show((purse, Some(&program.id)), document))
        .collect();
    Ok(Answer::json(Json::Object(onward::envelope(shown, found.has_more))))
}

fn list(call: &mut Call<'_, '_>, card: &Document) -> Outcome {
    let mut clause = zone::asked(call, Clause::of_kinds(&["redemption", "voucher_transaction"]))?;
    clause.and("parent = {} AND COALESCE(json_extract(body, '$.result'), 'SUCCESS') = 'SUCCESS'", card.id.as_str());
    let place = |id: &str| place(call, card, id);
    let found = onward::select(&TRANSACTIONS, call.store, &call.query, clause, ("a transaction", &place))?;
    let purse = if card.body.get(GIFT.block).is_some_and(Json::is_object) { &GIFT } else { &CARD };
    let of = (purse, card.parent.as_deref());
    let shown: Vec<Json> =
        found.documents.into_iter().map(|document| voucher_transactions::show(of, document)).collect();
    Ok(Answer::json(Json::Object(onward::envelope(shown, found.has_more))))
}

/// Where a transaction stands among all documents.
fn place(call: &Call<'_, '_>, card: &Document, id: &str) -> Result<Option<Row>, Fault> {
    let own = id.strip_prefix("vtx_").unwrap_or(id);
    call.store.row(
        "SELECT seq FROM document WHERE kind IN ('redemption', 'voucher_transaction') AND parent = +?1
           AND id IN (?2, 'r_' || ?3, 'rr_' || ?3) ORDER BY seq LIMIT 1",
        &[card.id.as_str().into(), id.into(), own.into()],
    )
}
