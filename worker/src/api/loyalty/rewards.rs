//! Rewards: what points are exchanged for. Create, get, list, update, delete.
//! It must not know what a reward costs, nor how one is handed out.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, error, in_use, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, shown};
use crate::moment;
use crate::shop::reward_assignments::ASSIGNMENT;
use crate::shop::rewards::{REWARD, missing, show};
use crate::shop::{assignments, metadata_schemas};
use crate::store::document::Document;
use scrip::json::service;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::reward::read_reward;
use serde_json::{Map, Value as Json, json};

/// What a reward gives; exactly one of the three is sent.
const PARAMETERS: Kind = Kind::Object(&[
    may("campaign", Kind::Object(&[may("id", KEY), may("balance", Kind::Int(0, INT_MAX))])),
    may("product", Kind::Object(&[may("id", KEY), may("sku_id", KEY)])),
    may("coin", Kind::Object(&[may("exchange_ratio", Kind::Any), may("points_ratio", Kind::Any)])),
]);

const FIELDS: &[Field] = &[
    may("name", KEY),
    may("parameters", PARAMETERS),
    may("stock", Kind::Int(0, INT_MAX)),
    may("attributes", Kind::Object(&[may("image_url", Kind::Text), may("description", Kind::Text)])),
    may("metadata", Kind::Map),
];

/// The parameter that says what a reward is, and the type that follows.
const TYPES: &[(&str, &str)] = &[("campaign", "CAMPAIGN"), ("product", "MATERIAL"), ("coin", "COIN")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/rewards", "List rewards", list).of(&REWARD).listed(shapes::TOTAL).scope("rewards").query(&[
        LIMIT,
        PAGE,
        may("assignment_id", KEY),
    ]),
    post("/v1/rewards", "Create a reward", create).of(&REWARD).scope("rewards").body(FIELDS),
    get("/v1/rewards/{rewardId}", "Get a reward", resource::get).of(&REWARD).scope("rewards"),
    put("/v1/rewards/{rewardId}", "Update a reward", update).of(&REWARD).scope("rewards").body(FIELDS),
    delete("/v1/rewards/{rewardId}", "Delete a reward that is not assigned", remove)
        .of(&REWARD)
        .scope("rewards")
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(REWARD.object);
    if let Some(id) = call.query.get("assignment_id") {
        let assignment = call.store.document(ASSIGNMENT.object, id)?;
        clause.and("id = {}", assignment.and_then(|assignment| assignment.parent).unwrap_or_default());
    }
    let page = REWARD.list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(REWARD.list.envelope(shown, page.total))))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    let kind = settle(call, &mut sent)?;
    let id = call.ids.alphanumeric("rew_", 24).to_string();
    let defaults = json!({
        "id": id, "name": null, "type": kind, "stock": null, "attributes": {}, "metadata": {},
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": REWARD.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let created_at = call.now_ms();
    let reward = Document { id, key: None, parent: None, holder: None, created_at, updated_at: None, body };
    read_fields(&reward.body, read_reward)?;
    metadata_schemas::check(call.store, &[(REWARD.object, reward.body.get("metadata"))])?;
    call.store.insert(REWARD.object, &reward);
    Ok(Answer::json(REWARD.show_one(call, reward)?))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut reward = REWARD.find(call)?;
    let known = reward.body.get("parameters").cloned().unwrap_or(Json::Null);
    if sent.get("parameters").is_none_or(Json::is_null) {
        sent.insert("parameters".into(), known);
    }
    let kind = settle(call, &mut sent)?;
    let before = reward.body.get("type").and_then(Json::as_str).unwrap_or_default();
    if kind != before {
        let told = format!("must stay those of a {before} reward (actual value is of a {kind} reward)");
        return Err(Problem::at("parameters", told).into());
    }
    if sent.get("attributes").is_some_and(Json::is_null) {
        sent.insert("attributes".into(), json!({}));
    }
    crate::document::merge::merge(&mut reward.body, sent);
    call.touch(&mut reward);
    read_fields(&reward.body, read_reward)?;
    metadata_schemas::check(call.store, &[(REWARD.object, reward.body.get("metadata"))])?;
    call.store.update(REWARD.object, &reward);
    Ok(Answer::json(REWARD.show_one(call, reward)?))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let reward = REWARD.find(call)?;
    let rows = call.store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'reward_assignment' AND parent = +?1 ORDER BY seq LIMIT 10",
        &[reward.id.as_str().into()],
    )?;
    let (assigned, total) = assignments::named(&rows)?;
    if total > 0 {
        return Err(in_use((REWARD.object, &reward.id), ASSIGNMENT.object, assigned, total).into());
    }
    call.store.remove(REWARD.object, &reward.id);
    Ok(Answer::empty(204))
}

/// Checks what a reward gives and completes it; gives its type.
fn settle(call: &Call<'_, '_>, sent: &mut Map<String, Json>) -> Result<&'static str, CallError> {
    let has_stock = sent.get("stock").is_some_and(|stock| !stock.is_null());
    let parameters = sent.get_mut("parameters").and_then(Json::as_object_mut).ok_or_else(|| missing("parameters"))?;
    parameters.retain(|_, value| !value.is_null());
    let mut named = TYPES.iter().filter(|(name, _)| parameters.contains_key(*name));
    let (name, kind) = named.next().copied().ok_or_else(|| missing("parameters"))?;
    if let Some((other, _)) = named.next() {
        return Err(
            Problem::at(format!("parameters.{other}"), format!("must NOT be present together with {name}")).into()
        );
    }
    if has_stock && kind != "MATERIAL" {
        return Err(Problem::at("stock", format!("must NOT be present on a reward of type {kind}")).into());
    }
    let Some(given) = parameters.get_mut(name).and_then(Json::as_object_mut) else { return Ok(kind) };
    match kind {
        "CAMPAIGN" => settle_campaign(call, given)?,
        "MATERIAL" => settle_product(call, given)?,
        _ => settle_coin(given)?,
    }
    Ok(kind)
}

fn text(given: &Map<String, Json>, name: &str) -> Option<String> {
    given.get(name).and_then(Json::as_str).map(str::to_owned)
}

/// A campaign that makes codes; gift credits and points also say how many.
fn settle_campaign(call: &Call<'_, '_>, given: &mut Map<String, Json>) -> Result<(), CallError> {
    let name = text(given, "id").ok_or_else(|| missing("parameters.campaign.id"))?;
    let campaign = call.store.document_by_name("campaign", &name, &name)?;
    let campaign = campaign.ok_or_else(|| not_found("campaign", &name))?;
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default();
    let balance = given.get("balance").and_then(Json::as_i64);
    match (kind, balance) {
        ("DISCOUNT_COUPONS", None) | ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", Some(1..)) => {}
        ("DISCOUNT_COUPONS", Some(_)) => {
            let told = "must NOT be present for campaign type: DISCOUNT_COUPONS";
            return Err(Problem::at("parameters.campaign.balance", told).into());
        }
        ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", None) => return Err(missing("parameters.campaign.balance").into()),
        ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", Some(_)) => {
            let path = "parameters.campaign.balance";
            let told = format!("Property '{path}' must be greater than zero for campaign type: {kind}");
            return Err(error(400, "invalid_balance", &format!("Property '{path}' is invalid"), told).into());
        }
        _ => {
            let told = format!(
                "must name a campaign of the type DISCOUNT_COUPONS, GIFT_VOUCHERS or LOYALTY_PROGRAM (actual value is `{kind}`)"
            );
            return Err(Problem::at("parameters.campaign.id", told).into());
        }
    }
    given.insert("type".into(), kind.into());
    given.insert("id".into(), campaign.id.into());
    Ok(())
}

/// A product of the catalogue, or one of its variants.
fn settle_product(call: &Call<'_, '_>, given: &mut Map<String, Json>) -> Result<(), CallError> {
    let name = text(given, "id").ok_or_else(|| missing("parameters.product.id"))?;
    let product = call.store.document_by_name("product", &name, &name)?;
    let product = product.ok_or_else(|| not_found("product", &name))?;
    if let Some(name) = text(given, "sku_id") {
        let sku = call.store.document_by_name("sku", &name, &name)?;
        let sku = sku.filter(|sku| text(&sku.body, "product_id").as_ref() == Some(&product.id));
        let sku = sku.ok_or_else(|| not_found("sku", &name))?;
        given.insert("sku_id".into(), sku.id.into());
    }
    given.entry("sku_id").or_insert(Json::Null);
    given.insert("id".into(), product.id.into());
    Ok(())
}

/// What points are worth: so much money in major units for so many points. Clients send both as text or as numbers.
fn settle_coin(given: &mut Map<String, Json>) -> Result<(), CallError> {
    let ratio = given.get("exchange_ratio").filter(|ratio| !ratio.is_null());
    let ratio = ratio.ok_or_else(|| missing("parameters.coin.exchange_ratio"))?;
    let exchange = positive(ratio, true).ok_or_else(|| {
        let told = format!("must be an amount of at least 0.01 in major units (actual value is `{}`)", shown(ratio));
        Problem::at("parameters.coin.exchange_ratio", told)
    })?;
    let points = given.get("points_ratio").filter(|ratio| !ratio.is_null()).cloned().unwrap_or(json!(1));
    let points = positive(&points, false).ok_or_else(|| {
        let told = format!("must be an integer >= 1 (actual value is `{}`)", shown(&points));
        Problem::at("parameters.coin.points_ratio", told)
    })?;
    given.insert("exchange_ratio".into(), exchange);
    given.insert("points_ratio".into(), points);
    Ok(())
}

/// A number above zero from itself or from its text: digits, and cents where `decimal` allows them.
fn positive(value: &Json, decimal: bool) -> Option<Json> {
    let written = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (whole, cents) = written.split_once('.').filter(|_| decimal).unwrap_or((&written, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !whole.is_empty() && whole.len() <= 12 && cents.len() <= 2 && digits(whole) && digits(cents);
    let is_zero = written.bytes().all(|byte| byte == b'0' || byte == b'.');
    if !fits || is_zero || written.ends_with('.') {
        return None;
    }
    let read = serde_json::from_str(written.trim_start_matches('0')).or_else(|_| serde_json::from_str(&written));
    let mut number = read.ok()?;
    service::settle(&mut number)?;
    Some(number)
}
