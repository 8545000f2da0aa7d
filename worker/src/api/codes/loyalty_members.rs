//! Members of loyalty programs of the older interface: the cards of a program, and a customer who gets one. It must not know what
//! lies on a card.

use crate::api::codes::publications::publish_wanted;
use crate::api::codes::vouchers::list_within;
use crate::document::clause::Clause;
use crate::document::fields::{BEFORE_AFTER, BUYER, KEY, LIMIT, PAGE};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::campaigns::find_program;
use crate::shop::publications::Wanted;
use crate::shop::vouchers::{ORDERS, VOUCHER, find_card, find_named};
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Value as Json, json};

const BODY: &[Field] = &[
    may("voucher", KEY),
    may("source_id", KEY),
    must("customer", BUYER),
    may("metadata", Kind::Map),
    may("channel", Kind::Name(100)),
];

/// The cards of a program are listed one page further than vouchers are.
const CARDS: List = List { page_max: 100, ..VOUCHER.list };

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/loyalties/{campaignId}/members", "List the cards of a loyalty program", list)
        .of(&VOUCHER)
        .listed(shapes::TOTAL)
        .scope("loyalties")
        .query(&[
            LIMIT,
            PAGE,
            may("customer", KEY),
            may("created_at", BEFORE_AFTER),
            may("updated_at", BEFORE_AFTER),
            may("order", Kind::OneOf(ORDERS)),
            may("code", KEY),
            may("ids", Kind::List(&KEY, 0, 100)),
        ]),
    post("/v1/loyalties/{campaignId}/members", "Give a customer a card of a loyalty program", join)
        .of(&VOUCHER)
        .scope("loyalties")
        .body(BODY),
    get("/v1/loyalties/members/{memberId}", "Get a loyalty card", get_card).of(&VOUCHER).scope("loyalties"),
    get("/v1/loyalties/{campaignId}/members/{memberId}", "Get a loyalty card of a program", get_card)
        .of(&VOUCHER)
        .scope("loyalties"),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let mut clause = Clause::of_kind(VOUCHER.object).at(call.now_ms());
    clause.and("parent = {}", program.id);
    list_within(call, &CARDS, clause)
}

fn get_card(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    Ok(Answer::json(VOUCHER.show_one(call, card)?))
}

/// A card of the program is published to the customer: the one that is named, or the next that nobody has.
fn join(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let sent = call.body(Nulls::Dropped)?;
    let text = |name: &str| sent.get(name).and_then(Json::as_str).map(str::to_owned);
    let customer = sent.get("customer").and_then(Json::as_object).cloned().unwrap_or_default();
    if customer.is_empty() {
        return Err(Problem::missing("customer", "source_id").into());
    }
    let voucher = text("voucher");
    check_card(call, &program, voucher.as_deref())?;
    let wanted = Wanted {
        campaign: Some(program.id).filter(|_| voucher.is_none()),
        voucher,
        count: 1,
        source_id: text("source_id"),
        customer,
        metadata: sent.get("metadata").cloned().unwrap_or(json!({})),
        channel: text("channel").unwrap_or_else(|| "API".into()),
        join_once: false,
    };
    let mut publication = publish_wanted(call, &wanted)?;
    Ok(Answer::json(publication.get_mut("voucher").map(Json::take).unwrap_or_default()))
}

/// A card that is named is one of the program.
fn check_card(call: &Call<'_, '_>, program: &Document, code: Option<&str>) -> Result<(), CallError> {
    let Some(code) = code else { return Ok(()) };
    match find_named(call, code)?.parent.as_ref() == Some(&program.id) {
        true => Ok(()),
        false => Err(not_found(VOUCHER.object, code).into()),
    }
}
