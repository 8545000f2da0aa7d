//! Rewards, which points are exchanged for: create, get, list, update, delete.

use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::metadata::schemas;
use crate::domain::rewards::assignments::ASSIGNMENT;
use crate::domain::rewards::reward::{REWARD, missing_parameter, to_json};
use crate::http::reply::{CallError, error, in_use, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, may, value_text};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind::CountedIds;
use crate::store::documents::loyalty_campaigns;
use crate::store::records::{RewardContentRecord, RewardRecord};
use crate::timestamp;
use scrip::json::service;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::reward::read_reward;
use serde_json::{Map, Value as Json, json};

/// Granted item of a reward; exactly one of the three is sent.
const PARAMETERS: FieldType = FieldType::Object(&[
    may(
        "campaign",
        FieldType::Object(&[
            may("id", KEY),
            may("balance", FieldType::Int(0, INT_MAX))
                .description("Minor units or points to load on a card of the campaign, at least 1. Required for gift and loyalty campaigns, refused for coupon campaigns."),
        ]),
    )
    .description("Campaign whose vouchers customers receive: coupons, gift cards or loyalty cards."),
    may(
        "product",
        FieldType::Object(&[
            may("id", KEY),
            may("sku_id", KEY)
                .description("ID or `source_id` of a SKU of the product. Absent means the product in general."),
        ]),
    )
    .description("Product that customers receive."),
    may(
        "coin",
        FieldType::Object(&[
            may("exchange_ratio", FieldType::Any)
                .description("Amount in major units that `points_ratio` points are worth, at least 0.01, as a number or as text."),
            may("points_ratio", FieldType::Any)
                .description("Number of points that are exchanged for `exchange_ratio`, as a number or as text. Default 1."),
        ]),
    )
    .description("Discount in money on an order, in exchange for points."),
]);

const FIELDS: &[Field] = &[
    may("name", KEY).description("Name of the reward. Default `null`."),
    may("parameters", PARAMETERS)
        .description("Content of the reward: exactly one of `campaign`, `product` and `coin`. Required on creation; the kind never changes."),
    may("stock", FieldType::Int(0, INT_MAX))
        .description("Number of units in stock. Allowed for products only; `null` means unlimited."),
    may(
        "attributes",
        FieldType::Object(&[
            may("image_url", FieldType::HttpsUrl).description("Address of an image of the reward."),
            may("description", FieldType::Text).description("Description of the reward for customers."),
        ]),
    )
    .description("Presentation of the reward for customers."),
    may("metadata", FieldType::Map),
];

/// Parameter that determines the kind of a reward, and its type.
const TYPES: &[(&str, &str)] = &[("campaign", "CAMPAIGN"), ("product", "MATERIAL"), ("coin", "COIN")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/rewards", "List rewards", list)
        .describe(
            "listRewards",
            "Returns the rewards that can be assigned to loyalty campaigns, the newest first. A malformed page or limit is refused with `invalid_query_params`.",
        )
        .returns("The rewards of this page and the total.")
        .of(&REWARD)
        .lists_resource(shapes::TOTAL)
        .scope("rewards")
        .query(&[LIMIT, PAGE, may("assignment_id", KEY).description("ID of an assignment. Only the reward of this assignment is listed.")]),
    post("/v1/rewards", "Create a reward", create)
        .describe(
            "createReward",
            "Creates a reward of one kind: vouchers of a campaign, a product, or a discount in money. Customers get the reward only after an assignment to a loyalty campaign sets the price. Missing parameters are refused with `missing_param`, a balance of zero with `invalid_balance`.",
        )
        .returns("The new reward.")
        .of(&REWARD)
        .scope("rewards")
        .body(FIELDS),
    get("/v1/rewards/{rewardId}", "Get a reward", resource::get)
        .describe(
            "getReward",
            "Returns one reward, with the number of units that were redeemed. An unknown ID is refused with `not_found`.",
        )
        .returns("The reward.")
        .of(&REWARD)
        .scope("rewards"),
    put("/v1/rewards/{rewardId}", "Update a reward", update)
        .describe(
            "updateReward",
            "Changes the fields that are sent; parameters are replaced as a whole, and metadata is merged key by key. Rewards that customers have already received stay as they are. An unknown ID is refused with `not_found`, another kind of reward with `invalid_payload`.",
        )
        .returns("The reward after the change.")
        .of(&REWARD)
        .scope("rewards")
        .body(FIELDS),
    delete("/v1/rewards/{rewardId}", "Delete a reward", remove)
        .describe(
            "deleteReward",
            "Deletes a reward that is assigned to no loyalty campaign. Rewards that customers have already received stay. A reward with assignments is refused with `resource_in_use`, which lists up to ten of them, an unknown ID with `not_found`.",
        )
        .returns("No content. The reward is deleted.")
        .of(&REWARD)
        .scope("rewards")
        .answers(204, shapes::EMPTY),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(REWARD.object);
    if let Some(id) = call.query.parameter("assignment_id") {
        let assignment = call.store.document(ASSIGNMENT.object, id)?;
        clause.with_id(&assignment.and_then(|assignment| assignment.parent).unwrap_or_default());
    }
    let page = REWARD.list.select(call.store, &call.query, clause)?;
    let json = to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(REWARD.list.envelope(json, page.total))))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    let kind = normalise(call, &mut sent)?;
    let id = call.ids.alphanumeric("rew_", 24).to_string();
    let defaults = json!({
        "id": id, "name": null, "type": kind, "stock": null, "attributes": {}, "metadata": {},
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": REWARD.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let created_at = call.now_ms();
    let reward = Document { id, key: None, parent: None, holder: None, created_at, updated_at: None, body };
    read_fields(&reward.body, read_reward)?;
    schemas::check_body(call.store, REWARD.object, &reward.body)?;
    call.store.insert(REWARD.object, &reward);
    Ok(Response::json(REWARD.one_to_json(call, reward)?))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut reward = REWARD.find(call)?;
    let known = reward.as_reward().parameters();
    if RewardRecord::of(&sent).parameters().is_null() {
        sent.insert("parameters".into(), known);
    }
    let kind = normalise(call, &mut sent)?;
    let before = reward.as_reward().reward_type();
    if kind != before {
        let message = format!("must stay those of a {before} reward (actual value is of a {kind} reward)");
        return Err(Problem::at("parameters", message).into());
    }
    if RewardRecord::of(&sent).clears_attributes() {
        sent.insert("attributes".into(), json!({}));
    }
    crate::documents::merge::merge(&mut reward.body, sent);
    call.touch(&mut reward);
    read_fields(&reward.body, read_reward)?;
    schemas::check_body(call.store, REWARD.object, &reward.body)?;
    call.store.update(REWARD.object, &reward);
    Ok(Response::json(REWARD.one_to_json(call, reward)?))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let reward = REWARD.find(call)?;
    let CountedIds { ids: assigned, total } = loyalty_campaigns::list_assignments_of_reward(call.store, &reward.id)?;
    if total > 0 {
        return Err(in_use(REWARD.object, &reward.id, ASSIGNMENT.object, assigned, total).into());
    }
    call.store.delete(REWARD.object, &reward.id);
    Ok(Response::empty(204))
}

/// Checks and completes the granted item of a reward; returns its type.
fn normalise(call: &Call<'_, '_>, sent: &mut Map<String, Json>) -> Result<&'static str, CallError> {
    let has_stock = RewardRecord::of(sent).has_stock();
    let parameters =
        sent.get_mut("parameters").and_then(Json::as_object_mut).ok_or_else(|| missing_parameter("parameters"))?;
    parameters.retain(|_, value| !value.is_null());
    let mut present = TYPES.iter().filter(|(name, _)| parameters.contains_key(*name));
    let (name, kind) = present.next().copied().ok_or_else(|| missing_parameter("parameters"))?;
    if let Some((other, _)) = present.next() {
        return Err(
            Problem::at(format!("parameters.{other}"), format!("must NOT be present together with {name}")).into()
        );
    }
    if has_stock && kind != "MATERIAL" {
        return Err(Problem::at("stock", format!("must NOT be present on a reward of type {kind}")).into());
    }
    let Some(content) = parameters.get_mut(name).and_then(Json::as_object_mut) else { return Ok(kind) };
    match kind {
        "CAMPAIGN" => normalise_campaign(call, content)?,
        "MATERIAL" => normalise_product(call, content)?,
        _ => normalise_coin(content)?,
    }
    Ok(kind)
}

fn text(content: &Map<String, Json>, name: &str) -> Option<String> {
    content.get(name).and_then(Json::as_str).map(str::to_owned)
}

/// Normalises a campaign with codes as the granted item; gift credits and points also have an amount.
fn normalise_campaign(call: &Call<'_, '_>, content: &mut Map<String, Json>) -> Result<(), CallError> {
    let name = text(content, "id").ok_or_else(|| missing_parameter("parameters.campaign.id"))?;
    let campaign = call.store.document_by_name("campaign", &name, &name)?;
    let campaign = campaign.ok_or_else(|| not_found("campaign", &name))?;
    let kind = campaign.as_campaign().campaign_type();
    let balance = RewardContentRecord::of(content).balance();
    match (kind, balance) {
        ("DISCOUNT_COUPONS", None) | ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", Some(1..)) => {}
        ("DISCOUNT_COUPONS", Some(_)) => {
            let message = "must NOT be present for campaign type: DISCOUNT_COUPONS";
            return Err(Problem::at("parameters.campaign.balance", message).into());
        }
        ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", None) => {
            return Err(missing_parameter("parameters.campaign.balance").into());
        }
        ("GIFT_VOUCHERS" | "LOYALTY_PROGRAM", Some(_)) => {
            let path = "parameters.campaign.balance";
            let message = format!("Property '{path}' must be greater than zero for campaign type: {kind}");
            return Err(error(400, "invalid_balance", &format!("Property '{path}' is invalid"), message).into());
        }
        _ => {
            let message = format!(
                "must name a campaign of the type DISCOUNT_COUPONS, GIFT_VOUCHERS or LOYALTY_PROGRAM (actual value is `{kind}`)"
            );
            return Err(Problem::at("parameters.campaign.id", message).into());
        }
    }
    content.insert("type".into(), kind.into());
    content.insert("id".into(), campaign.id.into());
    Ok(())
}

/// Normalises a product of the catalogue, or one of its variants, as the granted item.
fn normalise_product(call: &Call<'_, '_>, content: &mut Map<String, Json>) -> Result<(), CallError> {
    let name = text(content, "id").ok_or_else(|| missing_parameter("parameters.product.id"))?;
    let product = call.store.document_by_name("product", &name, &name)?;
    let product = product.ok_or_else(|| not_found("product", &name))?;
    if let Some(name) = text(content, "sku_id") {
        let sku = call.store.document_by_name("sku", &name, &name)?;
        let sku = sku.filter(|sku| text(&sku.body, "product_id").as_ref() == Some(&product.id));
        let sku = sku.ok_or_else(|| not_found("sku", &name))?;
        content.insert("sku_id".into(), sku.id.into());
    }
    content.entry("sku_id").or_insert(Json::Null);
    content.insert("id".into(), product.id.into());
    Ok(())
}

/// Normalises the value of points: an amount in major units for a number of points. Clients send both as text or as numbers.
fn normalise_coin(content: &mut Map<String, Json>) -> Result<(), CallError> {
    let ratio = RewardContentRecord::of(content).exchange_ratio();
    let ratio = ratio.ok_or_else(|| missing_parameter("parameters.coin.exchange_ratio"))?;
    let exchange = read_positive(ratio, true).ok_or_else(|| {
        let message =
            format!("must be an amount of at least 0.01 in major units (actual value is `{}`)", value_text(ratio));
        Problem::at("parameters.coin.exchange_ratio", message)
    })?;
    let points = RewardContentRecord::of(content).points_ratio().cloned().unwrap_or(json!(1));
    let points = read_positive(&points, false).ok_or_else(|| {
        let message = format!("must be an integer >= 1 (actual value is `{}`)", value_text(&points));
        Problem::at("parameters.coin.points_ratio", message)
    })?;
    content.insert("exchange_ratio".into(), exchange);
    content.insert("points_ratio".into(), points);
    Ok(())
}

/// Reads a number above zero from a number or a text: digits, and cents if `decimal` allows them.
fn read_positive(value: &Json, decimal: bool) -> Option<Json> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let (units, cents) = text.split_once('.').filter(|_| decimal).unwrap_or((&text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = !units.is_empty() && units.len() <= 12 && cents.len() <= 2 && digits(units) && digits(cents);
    let is_zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    if !fits || is_zero || text.ends_with('.') {
        return None;
    }
    let read = serde_json::from_str(text.trim_start_matches('0')).or_else(|_| serde_json::from_str(&text));
    let mut number = read.ok()?;
    service::settle(&mut number)?;
    Some(number)
}
