//! Campaigns: create, get, list, delete, enable, disable, add vouchers. What a campaign's vouchers begin with is in `generation`.
//! It must not know how a redemption is decided.

use crate::api::fields::{
    CODE_CONFIG, DISCOUNT, GIFT, KEY, LIMIT, PAGE, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::api::{generation, grants, metadata_schemas, vouchers};
use crate::codes::CodeShape;
use crate::jobs::{self, Removal};
use crate::list::{Filter, List};
use crate::moment;
use crate::reply::{Stop, duplicate, error, invalid_payload};
use crate::resource::{self, Resource, plain_key};
use crate::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::shape::{Field, Kind, Nulls, may, must};
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

/// Codes that one request may ask for (errors-and-auth, section 7).
const VOUCHERS_MAX: i64 = 100_000;

const CAMPAIGN_TYPES: &[&str] = &["DISCOUNT_COUPONS", "GIFT_VOUCHERS"];
const STATUSES: &[&str] = &["DONE", "IN_PROGRESS", "FAILED", "DRAFT", "MODIFYING"];
const ALL_TYPES: &[&str] = &["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"];

const VOUCHER: &[Field] = &[
    may("type", Kind::Text),
    may("discount", DISCOUNT),
    may("gift", GIFT),
    may("code_config", CODE_CONFIG),
    may("redemption", REDEMPTION),
];

const CREATE: &[Field] = &[
    must("name", KEY),
    may("description", Kind::Text),
    may("campaign_type", Kind::Text),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC", "STANDALONE"])),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("use_voucher_metadata_schema", Kind::Bool),
    may("vouchers_count", Kind::Int(0, VOUCHERS_MAX)),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("activity_duration_after_publishing", Kind::Duration),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("validation_rules", Kind::List(&KEY, 0, 1)),
    must("voucher", Kind::Object(VOUCHER)),
];

const ADD: &[Field] = &[
    may("code", KEY),
    may("code_config", CODE_CONFIG),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("redemption", REDEMPTION),
    may("additional_info", Kind::Text),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
];

/// Campaigns as a resource.
pub const CAMPAIGN: Resource = Resource {
    object: "campaign",
    parameter: "campaignId",
    key: plain_key,
    show,
    list: List {
        data_ref: "campaigns",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[
            Filter::Word("campaign_type", "json_extract(body, '$.campaign_type')", ALL_TYPES),
            Filter::Word("campaign_status", "json_extract(body, '$.creation_status')", STATUSES),
            Filter::Flag("is_referral_code", "json_extract(body, '$.voucher.is_referral_code')"),
        ],
        conditions: &[
            ("campaigns", "json_extract(body, '$.name')"),
            ("campaigns_id", "id"),
            ("campaign_status", "json_extract(body, '$.creation_status')"),
            ("voucher_type", "json_extract(body, '$.voucher.type')"),
            ("category_ids", "json_extract(body, '$.category_id')"),
            ("type", "json_extract(body, '$.type')"),
            ("created_date", "json_extract(body, '$.created_at')"),
            ("updated_at", "json_extract(body, '$.updated_at')"),
            ("start_date", "json_extract(body, '$.start_date')"),
            ("expiration_date", "json_extract(body, '$.expiration_date')"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/campaigns", "List campaigns", resource::list).of(&CAMPAIGN).scope("campaigns").query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
        may("campaign_type", Kind::OneOf(ALL_TYPES)),
        may("campaign_status", Kind::OneOf(STATUSES)),
        may("is_referral_code", Kind::Bool),
        may("filters", Kind::Map),
    ]),
    post("/v1/campaigns", "Create a campaign", create).of(&CAMPAIGN).scope("campaigns").body(CREATE),
    get("/v1/campaigns/{campaignId}", "Get a campaign by id or name", resource::get).of(&CAMPAIGN).scope("campaigns"),
    delete("/v1/campaigns/{campaignId}", "Delete a campaign and its vouchers", remove)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("force", Kind::Bool)])
        .answers(202, "async_action_started"),
    post("/v1/campaigns/{campaignId}/enable", "Enable a campaign", enable)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, "empty"),
    post("/v1/campaigns/{campaignId}/disable", "Disable a campaign", disable)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, "empty"),
    post("/v1/campaigns/{campaignId}/vouchers", "Add vouchers to a campaign", add)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("vouchers_count", Kind::Int(1, VOUCHERS_MAX))])
        .body(ADD)
        .answers(200, "voucher"),
    post("/v1/campaigns/{campaignId}/vouchers/{code}", "Add a voucher with a given code to a campaign", add_code)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .body(ADD)
        .answers(200, "voucher"),
];

fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, Stop> {
    let mut assigned = grants::assigned(call, &documents)?;
    let shown = documents.into_iter().map(|document| {
        let mut body = document.body;
        body.insert("categories".into(), json!([]));
        let rules = assigned.remove(&document.id).unwrap_or_default();
        body.insert("validation_rules_assignments".into(), grants::assignment_list(rules));
        Json::Object(body)
    });
    Ok(shown.collect())
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let mut config = body.remove("voucher").and_then(|voucher| voucher.as_object().cloned()).unwrap_or_default();
    let campaign_type = settle_types(&body, &mut config)?;
    grants::check_discount(&config, "voucher")?;
    grants::complete_gift(&mut config, "voucher", false)?;
    grants::check_validity(&body)?;
    grants::settle_dates(&mut body);
    grants::settle_category(call, &mut body)?;
    let rules = grants::take_rules(call, &mut body)?;
    let name = body.get("name").and_then(Json::as_str).unwrap_or_default().to_owned();
    if call.store.document_by_name("campaign", &name, "")?.is_some() {
        return Err(duplicate("campaign", "name", &name).into());
    }
    let kind = body.get("type").and_then(Json::as_str).unwrap_or("AUTO_UPDATE").to_owned();
    let is_standalone = kind == "STANDALONE";
    let wanted = body.remove("vouchers_count").and_then(|count| count.as_u64());
    if is_standalone && wanted.is_some_and(|count| count != 1) {
        return Err(invalid_payload(format!(
            "Property .vouchers_count must be 1 for a STANDALONE campaign (actual value is `{}`)",
            wanted.unwrap_or(0)
        ))
        .into());
    }
    let wanted = wanted.unwrap_or(u64::from(is_standalone));
    let quantity = config.get("redemption").and_then(|redemption| redemption.get("quantity")).cloned();
    // A code of its own for each customer is meant to be used once; a public code and a gift card are not (objects.md, section 2).
    let quantity_default = if campaign_type == "DISCOUNT_COUPONS" && !is_standalone { json!(1) } else { Json::Null };
    config.insert("redemption".into(), json!({ "quantity": quantity.unwrap_or(quantity_default) }));
    let shape = CodeShape::read(
        config.get("code_config").and_then(Json::as_object),
        call.caller.settings.case_sensitive_codes,
    )?;
    config.insert("code_config".into(), shape.document());
    config.insert("is_referral_code".into(), false.into());
    let id = call.ids.alphanumeric("camp_", 24).to_string();
    let status = if wanted > 1 { "IN_PROGRESS" } else { "DONE" };
    let defaults = json!({
        "id": id, "type": kind, "campaign_type": campaign_type, "auto_join": false, "use_voucher_metadata_schema": false, "active": true,
        "metadata": {}, "category": null, "category_id": null, "start_date": null, "expiration_date": null, "validity_timeframe": null,
        "validity_day_of_week": null, "validity_hours": null, "activity_duration_after_publishing": null, "description": null,
        "vouchers_count": u64::from(wanted == 1), "creation_status": status, "vouchers_generation_status": status, "protected": false,
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": "campaign", "join_once": false,
    });
    let mut document_body = defaults.as_object().cloned().unwrap_or_default();
    document_body.extend(body);
    if is_standalone {
        document_body.insert("join_once".into(), false.into());
    }
    document_body.insert("voucher".into(), Json::Object(config));
    let created_at = call.now_ms();
    let document =
        Document { id, key: Some(name), parent: None, holder: None, created_at, updated_at: None, body: document_body };
    metadata_schemas::check(call.store, &[(CAMPAIGN.object, document.body.get("metadata"))])?;
    call.check_fits(&document)?;
    let template = generation::template(&document, &Map::new(), created_at);
    grants::check_readable(Some(&document.body), &template, "voucher")?;
    call.store.insert("campaign", &document);
    let assigned = grants::assign(call, rules, &document.id, "campaign");
    match wanted {
        0 => {}
        1 => drop(generation::make_one(call, &document, &Map::new(), None)?),
        many => drop(generation::make_many(call, &document, &Map::new(), many)?),
    }
    let mut shown = CAMPAIGN.show_one(call, document)?;
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("validation_rules_assignments".into(), grants::assignment_list(assigned));
    }
    Ok(Answer::json(shown))
}

/// The campaign's type and its voucher's follow from one another when only one is said.
fn settle_types(body: &Map<String, Json>, config: &mut Map<String, Json>) -> Result<&'static str, Stop> {
    if let Some(kind) =
        config.get("type").filter(|kind| !matches!(kind.as_str(), Some("DISCOUNT_VOUCHER" | "GIFT_VOUCHER")))
    {
        return Err(grants::not_supported(".voucher.type", "DISCOUNT_VOUCHER, GIFT_VOUCHER", kind).into());
    }
    let said = body.get("campaign_type");
    if let Some(kind) = said.filter(|kind| !kind.as_str().is_some_and(|kind| CAMPAIGN_TYPES.contains(&kind))) {
        return Err(grants::not_supported(".campaign_type", &CAMPAIGN_TYPES.join(", "), kind).into());
    }
    if !config.contains_key("type")
        && let Some(said) = said
    {
        let kind = if said == "GIFT_VOUCHERS" { "GIFT_VOUCHER" } else { "DISCOUNT_VOUCHER" };
        config.insert("type".into(), kind.into());
    }
    let voucher_type = grants::voucher_type(config, "voucher")?;
    config.insert("type".into(), voucher_type.into());
    let follows = if voucher_type == "GIFT_VOUCHER" { "GIFT_VOUCHERS" } else { "DISCOUNT_COUPONS" };
    match said.and_then(Json::as_str) {
        Some(said) if said != follows => {
            let told = format!(
                "Property .voucher.type must be the type of a {said} campaign's vouchers (actual value is `{voucher_type}`)"
            );
            Err(invalid_payload(told).into())
        }
        _ => Ok(follows),
    }
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    resource::set_active(call, true)?;
    Ok(Answer::json(json!({})))
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    resource::set_active(call, false)?;
    Ok(Answer::json(json!({})))
}

/// The campaign is gone at once, and its vouchers with it for every reader; a job removes their documents.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    let wanted = campaign.body.get("vouchers_count").and_then(Json::as_u64).unwrap_or(0);
    let job = Removal { campaign_id: campaign.id.clone(), wanted, made: 0 };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    let id =
        jobs::start(call.store, call.context, &mut call.ids, call.request_id, ("CAMPAIGN.VOUCHERS_DELETE", cursor));
    call.store.remove("campaign", &campaign.id);
    Ok(Answer::status(202, json!({ "async_action_id": id })))
}

fn open_campaign(call: &Call<'_, '_>) -> Result<Document, Stop> {
    let campaign = CAMPAIGN.find(call)?;
    if campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE") {
        let told = "You can not generate vouchers for STANDALONE type campaign.";
        return Err(error(400, "invalid_campaign", "Invalid Campaign", told).into());
    }
    Ok(campaign)
}

fn read_overrides(call: &Call<'_, '_>, campaign: &Document) -> Result<Map<String, Json>, Stop> {
    let mut overrides = call.body(Nulls::Dropped)?;
    grants::check_validity(&overrides)?;
    grants::settle_category(call, &mut overrides)?;
    if let Some(metadata) = overrides.get("metadata") {
        vouchers::check_metadata(call, Some(campaign), Some(metadata))?;
    }
    Ok(overrides)
}

fn add(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = open_campaign(call)?;
    let count = crate::list::read_int(&call.query, "vouchers_count", 1, VOUCHERS_MAX)?.unwrap_or(1);
    let mut overrides = read_overrides(call, &campaign)?;
    let code = overrides.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    if count > 1 && code.is_some() {
        return Err(invalid_payload(format!(
            "Property .code must NOT be present when vouchers_count is above 1 (actual value is `{count}`)"
        ))
        .into());
    }
    if count > 1 {
        let id = generation::make_many(call, &campaign, &overrides, u64::try_from(count).unwrap_or(1))?;
        call.store.write(
            "UPDATE document SET body = json_set(body, '$.vouchers_generation_status', 'IN_PROGRESS') WHERE kind = 'campaign' AND id = ?1",
            vec![campaign.id.into()],
        );
        return Ok(Answer::status(202, json!({ "async_action_id": id })));
    }
    add_one(call, &campaign, &overrides, code.as_deref())
}

fn add_code(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = open_campaign(call)?;
    let overrides = read_overrides(call, &campaign)?;
    let code = call.param("code").to_owned();
    add_one(call, &campaign, &overrides, Some(&code))
}

fn add_one(call: &mut Call<'_, '_>, campaign: &Document, overrides: &Map<String, Json>, code: Option<&str>) -> Outcome {
    let voucher = generation::make_one(call, campaign, overrides, code)?;
    generation::count(call, &campaign.id, 1);
    Ok(Answer::json(vouchers::VOUCHER.show_one(call, voucher)?))
}
