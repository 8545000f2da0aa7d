//! The older operations on one voucher or one tier: translations onto validations and redemptions, and their flat answers.
//! It must not know how anything is decided.

use crate::api::decisions::older_query;
use crate::api::decisions::older_requests::{read_alone, redeem_alone, validate_alone, validate_each};
use crate::api::decisions::qualifications;
use crate::api::decisions::redemptions::{ASSIGNED_REWARD, GIFT, OPTIONS, ORDER, RECORD, REDEMPTION, SESSION};
use crate::document::clause::Clause;
use crate::document::fields::{BUYER, KEY};
use crate::document::list::{LIMIT_MAX, read_int};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::listing::List;
use crate::http::reply::{CallError, error, invalid_query, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Field, Kind, may, must};
use crate::shop::tiers::TIER;
use crate::shop::vouchers::{self, VOUCHER, find_card};
use crate::store::document::Document;
use crate::store::sql;
use crate::store::tracking::Tracker;
use scrip::Context;
use scrip::decide::Validated;
use scrip::shape::COUNT;
use scrip::wire::single::{Flat, flat as flat_of, write_promotions, write_tried};
use serde_json::{Map, Value as Json, json};

/// Tiers that one request tries, newest first (errors-and-auth, section 7).
const TIERS_MAX: i64 = 150;

/// Bytes of what is sent, times the tiers that it is tried with, at most: 150 tiers with sixty lines, twenty with five hundred.
const TRIED_BYTES_MAX: usize = 500_000;

/// What the redemptions of a voucher say beside themselves.
const ENTRIES: &[Field] = &[
    must("total", COUNT),
    must("quantity", COUNT).or_null().says("How often it may be redeemed; any number when null"),
    must("redeemed_quantity", COUNT),
    may("redeemed_amount", COUNT),
    may("redeemed_points", COUNT),
    must("url", Kind::Text),
];

const ALONE: &[Field] = &[
    may("order", ORDER),
    may("customer", BUYER),
    may("session", SESSION),
    may("tracking_id", Kind::Text),
    may("gift", GIFT),
    may("reward", ASSIGNED_REWARD),
    may("metadata", Kind::Map),
    may("options", OPTIONS),
];

const TIER_ALONE: &[Field] =
    &[may("order", ORDER), may("customer", BUYER), may("metadata", Kind::Map), may("options", OPTIONS)];

const POINTS: &[Field] = &[may("reward", ASSIGNED_REWARD), may("order", ORDER), may("metadata", Kind::Map)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/{code}/validate", "Validate one voucher", validate)
        .scope("vouchers")
        .body(ALONE)
        .answers(200, shapes::older::VOUCHER_VALIDATION),
    get("/client/v1/validate", "Validate one voucher from a page", validate_query)
        .for_classes(&[Class::Client, Class::OAuth])
        .names_codes()
        .writing()
        .scope("validate")
        .query(&[
            must("code", KEY),
            may("tracking_id", Kind::Text),
            may("amount", Kind::Text),
            may("session_type", Kind::Text),
            may("session_key", Kind::Text),
            may("session_ttl", Kind::Text),
            may("session_ttl_unit", Kind::Text),
            may("metadata", Kind::Map),
            may("item", Kind::Map),
            may("customer", Kind::Map),
            may("order", Kind::Map),
        ])
        .answers(200, shapes::older::VOUCHER_VALIDATION),
    post("/v1/vouchers/{code}/redemption", "Redeem one voucher", redeem)
        .scope("vouchers")
        .query(&[may("tracking_id", Kind::Text)])
        .body(ALONE)
        .answers(200, scrip::wire::redemption::REDEMPTION),
    get("/v1/vouchers/{code}/redemption", "List the redemptions of a voucher", entries)
        .scope("vouchers")
        .query(&[crate::document::fields::LIMIT])
        .lists("redemption_entries", RECORD, ENTRIES),
    post("/v1/promotions/validation", "List the promotion tiers that apply", validate_tiers)
        .scope("promotions")
        .query(&[may("audienceRulesOnly", Kind::Bool), may("filters", Kind::Map)])
        .body(TIER_ALONE)
        .answers(200, shapes::older::PROMOTIONS_VALIDATION),
    post("/v1/promotions/tiers/{tierId}/validation", "Validate one promotion tier", validate_tier)
        .scope("promotions")
        .body(TIER_ALONE)
        .answers(200, shapes::older::TIER_VALIDATION),
    post("/v1/promotions/tiers/{promotionTierId}/redemption", "Redeem one promotion tier", redeem_tier)
        .scope("promotions")
        .body(TIER_ALONE)
        .answers(200, scrip::wire::redemption::REDEMPTION),
    post("/v1/loyalties/members/{memberId}/redemption", "Exchange points of a card for a reward", redeem_points)
        .scope("loyalties")
        .body(POINTS)
        .answers(200, scrip::wire::redemption::REDEMPTION),
    post("/v1/loyalties/{campaignId}/members/{memberId}/redemption", "Exchange points in a program", redeem_points)
        .scope("loyalties")
        .body(POINTS)
        .answers(200, scrip::wire::redemption::REDEMPTION),
];

fn validate(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.source()?;
    let voucher = vouchers::find(call)?;
    let code = call.param("code").to_owned();
    flat(call, Some(voucher), &code, body)
}

/// The same from a page, which says everything in its query; it is not told that a code does not exist but that it is not valid.
/// Whoever names nobody is told an id that no customer has, by which the page may name them afterwards (objects.md section 15).
fn validate_query(call: &mut Call<'_, '_>) -> Outcome {
    let code = call.query.get("code").filter(|code| !code.is_empty());
    let code = code.ok_or_else(|| invalid_query("Query should have required property 'code'"))?.to_owned();
    let body = older_query::read(&call.query)?;
    let voucher = match vouchers::find_named(call, &code) {
        Ok(voucher) => Some(voucher),
        Err(CallError::Refused(_)) => None,
        Err(fault) => return Err(fault),
    };
    let is_proven = call.page.as_ref().is_some_and(|page| page.proven.is_some());
    let is_nobody = !is_proven && !body.contains_key("customer") && !body.contains_key("tracking_id");
    let mut tried = validate_alone(call, ("voucher", &code), body, flat_of).map_err(older_query::told)?;
    if is_nobody {
        let visitor = call.ids.alphanumeric("", 32);
        tried.track(&Tracker::stored(call.store)?.tracking_id(&visitor)?);
    }
    tell(call, voucher, &code, &tried)
}

/// Copies what is there of some fields.
fn copy(from: &Json, names: &[&str], into: &mut Map<String, Json>) {
    for name in names {
        if let Some(value) = from.get(name) {
            into.insert((*name).to_owned(), value.clone());
        }
    }
}

/// A validation of one voucher in the older, flat form (objects.md, section 14).
fn flat(call: &mut Call<'_, '_>, voucher: Option<Document>, code: &str, body: Map<String, Json>) -> Outcome {
    let tried = validate_alone(call, ("voucher", code), body, flat_of)?;
    tell(call, voucher, code, &tried)
}

fn tell(call: &mut Call<'_, '_>, voucher: Option<Document>, code: &str, tried: &Flat) -> Outcome {
    // Of a code that cannot be used a page learns nothing, not even how it is written: it reads as one that is not there.
    let told = voucher.filter(|_| tried.valid || call.page.is_none());
    let shown = told.map(|voucher| VOUCHER.show_one(call, voucher)).transpose()?;
    Ok(Answer::bytes(tried.print(code, shown.as_ref().and_then(Json::as_object))))
}

fn redeem(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.source()?;
    if let Some(tracking_id) = call.query.get("tracking_id") {
        body.insert("tracking_id".into(), tracking_id.into());
    }
    let code = call.param("code").to_owned();
    redeem_alone(call, ("voucher", &code), body)
}

/// The newest redemptions and rollbacks of a voucher, as many as one list may have.
fn entries(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = vouchers::find(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_MAX);
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'redemption' AND parent = +?1 ORDER BY seq DESC LIMIT +?2",
        &[voucher.id.as_str().into(), limit.into()],
    )?;
    let total = call.store.row(
        "SELECT COUNT(*) FROM document WHERE kind = 'redemption' AND parent = +?1",
        &[voucher.id.as_str().into()],
    )?;
    let total = total.map_or(Ok(0), |row| sql::int(&row, 0))?;
    let entries = (REDEMPTION.show)(call, found)?;
    let shown = VOUCHER.show_one(call, voucher)?;
    let redemption = shown.get("redemption").cloned().unwrap_or(Json::Null);
    let mut answer = Map::new();
    copy(&redemption, &["quantity", "redeemed_quantity", "url"], &mut answer);
    answer.insert("object".into(), "list".into());
    answer.insert("data_ref".into(), "redemption_entries".into());
    answer.insert("redemption_entries".into(), entries.into());
    answer.insert("total".into(), total.into());
    Ok(Answer::json(Json::Object(answer)))
}

fn tier_body(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut body = call.source()?;
    body.remove("session");
    Ok(body)
}

/// The tiers that a validation of all of them may be narrowed to.
const TRIED: List = List {
    data_ref: "promotions",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[("promotion_id", "parent"), ("metadata", "keys json_extract(body, '$.metadata')")],
};

/// Every tier by itself; those that apply, by their rank. On request only the rules about the customer are asked.
fn validate_tiers(call: &mut Call<'_, '_>) -> Outcome {
    let body = tier_body(call)?;
    // What cannot be read is refused whether or not there is a tier to try.
    read_alone(call, (TIER.object, "any"), body.clone())?;
    let mut clause = Clause::of_kind(TIER.object);
    clause.and("COALESCE(json_extract(body, '$.active'), 1) = {}", 1_i64);
    let tail = format!("ORDER BY created_at DESC, seq DESC LIMIT {TIERS_MAX}");
    let tiers = TRIED.narrowed(call.store, &call.query, clause, &tail)?;
    if call.query.is_true("audienceRulesOnly") {
        let fitting = qualifications::tiers_by_audience(call)?;
        let tiers = tiers.into_iter().filter(|tier| fitting.contains(&tier.id)).collect();
        let shown = (TIER.show)(call, tiers)?.into_iter().map(|tier| tier.as_object().cloned().unwrap_or_default());
        let valid = shown.map(|mut tier| {
            tier.insert("valid".into(), true.into());
            (rank(&tier), Json::Object(tier).to_string())
        });
        return Ok(promotions(valid.collect(), None));
    }
    let size = call.request.body.len().saturating_mul(tiers.len());
    if size > TRIED_BYTES_MAX {
        let told = format!(
            "Property .order of `{}` bytes is tried with {} promotion tiers, and must NOT come to more than {TRIED_BYTES_MAX} bytes in \
             all: send fewer items, or narrow the tiers (filters)",
            call.request.body.len(),
            tiers.len()
        );
        return Err(error(400, "request_too_complex", "Request takes too much work", told).into());
    }
    let ids: Vec<String> = tiers.iter().map(|tier| tier.id.clone()).collect();
    let shown = (TIER.show)(call, tiers)?.into_iter().map(|tier| tier.as_object().cloned().unwrap_or_default());
    let tiers: Vec<(String, Map<String, Json>)> = ids.into_iter().zip(shown).collect();
    let tried = validate_each(call, &tiers, body)?;
    let tracking_id = tried.iter().rev().find_map(|tried| tried.tracking_id.as_deref());
    let fitting = tiers.iter().zip(&tried).filter(|(_, tried)| tried.valid);
    Ok(promotions(fitting.map(|((_, tier), tried)| (rank(tier), tried.text.clone())).collect(), tracking_id))
}

fn rank(tier: &Map<String, Json>) -> i64 {
    tier.get("hierarchy").and_then(Json::as_i64).unwrap_or(0)
}

/// The tiers that apply, the first rank first.
fn promotions(mut found: Vec<(i64, String)>, tracking_id: Option<&str>) -> Answer {
    found.sort_by_key(|(rank, _)| *rank);
    let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    Answer::bytes(write_promotions(&texts, tracking_id))
}

fn validate_tier(call: &mut Call<'_, '_>) -> Outcome {
    let body = tier_body(call)?;
    let id = call.param("tierId").to_owned();
    let tier = call.store.document(TIER.object, &id)?.ok_or_else(|| not_found(TIER.object, &id))?;
    let shown = TIER.show_one(call, tier)?;
    let shown = shown.as_object().cloned().unwrap_or_default();
    let write = |validated: &Validated<'_>, context: &Context| write_tried(validated, context, &shown);
    let tried = validate_alone(call, (TIER.object, &id), body, write)?;
    Ok(Answer::bytes(tried.text.into_bytes()))
}

fn redeem_tier(call: &mut Call<'_, '_>) -> Outcome {
    let body = tier_body(call)?;
    let tier = TIER.find(call)?;
    redeem_alone(call, (TIER.object, &tier.id), body)
}

/// A card is redeemed by who holds it.
fn redeem_points(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.source()?;
    let card = find_card(call)?;
    if let Some(holder) = &card.holder {
        body.insert("customer".into(), json!({ "id": holder }));
    }
    redeem_alone(call, (VOUCHER.object, &card.id), body)
}
