//! Vouchers: create, get, list, enable, disable, and how one is shown: its document with what the ledger says.
//! It must not know how a redemption is decided.

use crate::api::fields::{
    BEFORE_AFTER, CODE_CONFIG, DISCOUNT, GIFT, KEY, LIMIT, PAGE_99, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::api::{generation, grants};
use crate::codes::{self, CodeShape, code_key};
use crate::list::{Filter, List};
use crate::moment;
use crate::reply::{Stop, duplicate, invalid_payload, not_found};
use crate::resource::{self, Resource};
use crate::route::{Answer, Call, Outcome, Route, get, post};
use crate::shape::{Field, Kind, Nulls, may};
use crate::store::document::Document;
use crate::store::ledger::{Post, Standing};
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

const CREATE: &[Field] = &[
    may("code", KEY),
    may("code_config", CODE_CONFIG),
    may("type", Kind::Text),
    may("discount", DISCOUNT),
    may("gift", GIFT),
    may("redemption", REDEMPTION),
    may("campaign", KEY),
    may("campaign_id", KEY),
    may("category", KEY),
    may("category_id", KEY),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("active", Kind::Bool),
    may("additional_info", Kind::Text),
    may("metadata", Kind::Map),
    may("validation_rules", Kind::List(&KEY, 0, 1)),
];

const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "code", "-code"];

/// Vouchers as a resource.
pub const VOUCHER: Resource = Resource {
    object: "voucher",
    parameter: "code",
    key: |call, code| code_key(code, call.caller.settings.case_sensitive_codes),
    show,
    list: List {
        data_ref: "vouchers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("code", "json_extract(body, '$.code')")],
        filters: &[
            Filter::Is("campaign_id", "parent"),
            Filter::Name("campaign", "parent", "campaign"),
            Filter::Is("code", "json_extract(body, '$.code')"),
            Filter::Is("category", "json_extract(body, '$.category')"),
            Filter::Name("customer", "holder", "customer"),
            Filter::Moment("created_at", "created_at"),
            Filter::Moment("updated_at", "updated_at"),
        ],
        conditions: &[
            ("code", "json_extract(body, '$.code')"),
            ("id", "id"),
            ("campaign_name", "json_extract(body, '$.campaign')"),
            ("campaign_id", "parent"),
            ("holder_id", "holder"),
            ("voucher_type", "json_extract(body, '$.type')"),
            ("type", "json_extract(body, '$.type')"),
            ("categories", "json_extract(body, '$.category')"),
            ("category_ids", "json_extract(body, '$.category_id')"),
            ("created_at", "json_extract(body, '$.created_at')"),
            ("updated_at", "json_extract(body, '$.updated_at')"),
            ("start_date", "json_extract(body, '$.start_date')"),
            ("expiration_date", "json_extract(body, '$.expiration_date')"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/vouchers", "List vouchers", resource::list).of(&VOUCHER).scope("vouchers").query(&[
        LIMIT,
        PAGE_99,
        may("order", Kind::OneOf(ORDERS)),
        may("campaign", KEY),
        may("campaign_id", KEY),
        may("code", KEY),
        may("category", KEY),
        may("customer", KEY),
        may("created_at", BEFORE_AFTER),
        may("updated_at", BEFORE_AFTER),
        may("filters", Kind::Map),
    ]),
    post("/v1/vouchers", "Create a voucher", create).of(&VOUCHER).scope("vouchers").body(CREATE),
    get("/v1/vouchers/{code}", "Get a voucher by code or id", get_one).of(&VOUCHER).scope("vouchers"),
    post("/v1/vouchers/{code}", "Create a voucher with a given code", create).of(&VOUCHER).scope("vouchers").body(CREATE),
    post("/v1/vouchers/{code}/enable", "Enable a voucher", enable).of(&VOUCHER).scope("vouchers"),
    post("/v1/vouchers/{code}/disable", "Disable a voucher", disable).of(&VOUCHER).scope("vouchers"),
];

/// The account of how often a voucher was published.
pub fn publications_account(voucher_id: &str) -> String {
    format!("voucher/{voucher_id}/publications")
}

fn accounts(voucher_id: &str) -> [String; 3] {
    [
        format!("voucher/{voucher_id}/redemptions"),
        format!("voucher/{voucher_id}/credits"),
        publications_account(voucher_id),
    ]
}

/// Shows vouchers as they stand, with one look into the ledger for all of them.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, Stop> {
    let named: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    let standings = call.store.standings(&named, call.now_ms(), "")?;
    Ok(documents.into_iter().map(|document| show_standing(document, &standings)).collect())
}

/// A voucher with what the ledger says of it.
pub fn show_standing(document: Document, standings: &HashMap<String, Standing>) -> Json {
    let taken = |account: &String| standings.get(account).map_or(0, |standing| standing.balance.saturating_neg());
    let [redemptions, credits, publications] = accounts(&document.id);
    let mut body = document.body;
    let code: String = body.get("code").and_then(Json::as_str).unwrap_or_default().into();
    let place = format!("/v1/vouchers/{}", encode(&code));
    let quantity = body.get("redemption").and_then(|redemption| redemption.get("quantity")).cloned().unwrap_or(Json::Null);
    let mut redemption = json!({
        "quantity": quantity, "redeemed_quantity": taken(&redemptions), "object": "list", "url": format!("{place}/redemptions?page=1&limit=10"),
    });
    if let Some(gift) = body.get_mut("gift").and_then(Json::as_object_mut) {
        let amount = gift.get("amount").and_then(Json::as_i64).unwrap_or(0);
        gift.insert("balance".into(), amount.saturating_sub(taken(&credits)).into());
        gift.insert("subtracted_amount".into(), 0.into());
        if let Some(redemption) = redemption.as_object_mut() {
            redemption.insert("redeemed_amount".into(), taken(&credits).into());
        }
    }
    body.insert("redemption".into(), redemption);
    let url = format!("{place}/publications?page=1&limit=10");
    body.insert("publish".into(), json!({ "object": "list", "count": taken(&publications), "url": url }));
    body.insert("loyalty_card".into(), Json::Null);
    body.insert("categories".into(), json!([]));
    if let Some(holder) = &document.holder {
        body.insert("holder_id".into(), holder.clone().into());
    }
    let rules = body.remove("validation_rules").unwrap_or(json!([]));
    body.insert("validation_rules_assignments".into(), assignments(&rules, &document.id, "voucher"));
    Json::Object(body)
}

/// The list of rules that are assigned to a document.
pub fn assignments(rules: &Json, id: &str, kind: &str) -> Json {
    let data: Vec<Json> = rules
        .as_array()
        .into_iter()
        .flatten()
        .map(|rule| json!({ "rule_id": rule, "related_object_id": id, "related_object_type": kind, "object": "validation_rules_assignment" }))
        .collect();
    json!({ "object": "list", "data_ref": "data", "total": data.len(), "data": data })
}

fn encode(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    for byte in code.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The voucher that a path names; one whose campaign is being deleted is gone already.
pub fn find(call: &Call<'_, '_>) -> Result<Document, Stop> {
    let voucher = VOUCHER.find(call)?;
    if let Some(campaign) = &voucher.parent
        && call.store.document("campaign", campaign)?.is_none()
    {
        return Err(not_found("voucher", call.param("code")).into());
    }
    Ok(voucher)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let voucher = find(call)?;
    Ok(Answer::json(VOUCHER.show_one(call, voucher)?))
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    set_active(call, true)
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    set_active(call, false)
}

fn set_active(call: &mut Call<'_, '_>, active: bool) -> Outcome {
    find(call)?;
    let voucher = resource::set_active(call, active)?;
    Ok(Answer::json(VOUCHER.show_one(call, voucher)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    if let Some(kind) = body.get("type").filter(|kind| !matches!(kind.as_str(), Some("DISCOUNT_VOUCHER" | "GIFT_VOUCHER"))) {
        return Err(grants::not_supported(".type", "DISCOUNT_VOUCHER, GIFT_VOUCHER", kind).into());
    }
    let kind = grants::voucher_type(&body, "")?;
    grants::check_discount(&body, "")?;
    let spent = grants::complete_gift(&mut body, "", true)?;
    grants::check_validity(&body)?;
    grants::settle_dates(&mut body);
    grants::settle_category(call, &mut body)?;
    grants::check_rules(call, &body)?;
    let campaign = find_campaign(call, &mut body, kind)?;
    let code = settle_code(call, &mut body)?;
    let defaults = json!({
        "type": kind, "discount": null, "gift": null, "campaign": null, "campaign_id": null, "category": null, "category_id": null,
        "start_date": null, "expiration_date": null, "validity_timeframe": null, "validity_day_of_week": null, "validity_hours": null,
        "active": true, "additional_info": null, "metadata": {}, "is_referral_code": false, "created_at": moment::text(call.now_ms()),
        "updated_at": null, "object": "voucher", "redemption": { "quantity": null },
    });
    let mut whole = defaults.as_object().cloned().unwrap_or_default();
    whole.extend(body);
    if let Some(campaign) = &campaign {
        whole.insert("campaign".into(), campaign.body.get("name").cloned().unwrap_or(Json::Null));
        whole.insert("campaign_id".into(), campaign.id.clone().into());
    }
    let voucher = generation::voucher(call, whole, &code, campaign.as_ref().map(|campaign| campaign.id.as_str()));
    call.check_fits(&voucher)?;
    call.store.insert("voucher", &voucher);
    if let Some(campaign) = &campaign {
        generation::count_one(call, &campaign.id);
    }
    let mut standings = HashMap::new();
    if spent > 0 {
        let post = taken_before(call, &voucher.id, campaign.as_ref(), spent);
        standings.insert(post.debit.clone(), Standing { balance: spent.saturating_neg(), held: 0 });
        call.store.post(&[post]);
    }
    Ok(Answer::json(show_standing(voucher, &standings)))
}

/// What a gift card had lost before it came here, as a transfer.
fn taken_before(call: &mut Call<'_, '_>, voucher_id: &str, campaign: Option<&Document>, amount: i64) -> Post {
    let id = call.ids.hex18("tr_").to_string();
    Post {
        chain: id.clone(),
        id,
        debit: format!("voucher/{voucher_id}/credits"),
        credit: campaign.map_or_else(|| "project/spent".to_owned(), |campaign| format!("campaign/{}/spent", campaign.id)),
        amount,
        reverses: None,
        at: call.now_ms(),
    }
}

fn find_campaign(call: &Call<'_, '_>, body: &mut Map<String, Json>, kind: &str) -> Result<Option<Document>, Stop> {
    let by_name = body.remove("campaign");
    let by_id = body.remove("campaign_id");
    let Some(name) = by_id.or(by_name).and_then(|name| name.as_str().map(str::to_owned)) else { return Ok(None) };
    let campaign = call.store.document_by_name("campaign", &name, &name)?.ok_or_else(|| not_found("campaign", &name))?;
    let wanted = campaign.body.get("voucher").and_then(|voucher| voucher.get("type")).and_then(Json::as_str).unwrap_or_default();
    if wanted != kind {
        let told = format!("Property .type must be {wanted}, the type of the campaign's vouchers (actual value is `{kind}`)");
        return Err(invalid_payload(told).into());
    }
    if campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE") {
        let told = "You can not generate vouchers for STANDALONE type campaign.";
        return Err(crate::reply::error(400, "invalid_campaign", "Invalid Campaign", told).into());
    }
    Ok(Some(campaign))
}

fn settle_code(call: &mut Call<'_, '_>, body: &mut Map<String, Json>) -> Result<String, Stop> {
    let config = body.remove("code_config");
    let said = body.remove("code").and_then(|code| code.as_str().map(str::to_owned));
    let in_path = Some(call.param("code").to_owned()).filter(|code| !code.is_empty());
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    if let Some(code) = in_path.or(said) {
        if call.store.document_by_name("voucher", &code_key(&code, case_sensitive), "")?.is_some() {
            return Err(duplicate("voucher", "id", &code).into());
        }
        return Ok(code);
    }
    let shape = CodeShape::read(config.as_ref().and_then(Json::as_object), case_sensitive)?;
    let made = codes::make(call.store, &mut call.ids, "project", &shape, 1, case_sensitive)?;
    Ok(made.into_iter().next().unwrap_or_default())
}
