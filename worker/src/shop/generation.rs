//! Vouchers of a campaign: the body that each begins with, one made at once, many made by a job.
//! It must not know the routes that ask for them.

use crate::http::reply::{CallError, duplicate, error};
use crate::http::route::Call;
use crate::moment;
use crate::shop::bin;
use crate::shop::codes::{self, CodeShape};
use crate::shop::voucher_grant;
use crate::shop::voucher_work::{Generation, VOUCHERS_GENERATE};
use crate::store::code;
use crate::store::document::Document;
use crate::work::actions;
use serde_json::{Map, Value as Json, json};

/// What vouchers have of their campaign itself; what they grant stands in its configuration.
pub const OF_CAMPAIGN: &[&str] = &[
    "category",
    "category_id",
    "start_date",
    "expiration_date",
    "validity_timeframe",
    "validity_day_of_week",
    "validity_hours",
];

/// What single vouchers may say differently from their campaign.
pub const OVERRIDES: &[&str] =
    &["category", "category_id", "metadata", "additional_info", "start_date", "expiration_date", "redemption"];

/// Whether the codes of a campaign are passed on by those whom they were published to.
pub fn is_referral(campaign: &Document) -> bool {
    campaign.body.get("campaign_type").and_then(Json::as_str) == Some("REFERRAL_PROGRAM")
}

/// Refuses to make vouchers of a campaign that has its only one, or none at all.
pub fn check_open(campaign: &Document) -> Result<(), CallError> {
    let text = |name: &str| campaign.body.get(name).and_then(Json::as_str).unwrap_or_default();
    let closed = match (text("campaign_type"), text("type")) {
        ("PROMOTION", _) => "PROMOTION",
        (_, "STANDALONE") => "STANDALONE",
        _ => return Ok(()),
    };
    let told = format!("You can not generate vouchers for {closed} type campaign.");
    Err(error(400, "invalid_campaign", "Invalid Campaign", told).into())
}

/// The body of a campaign's next voucher, without id and code.
pub fn template(campaign: &Document, overrides: &Map<String, Json>, now_ms: i64) -> Map<String, Json> {
    let config = campaign.body.get("voucher").and_then(Json::as_object).cloned().unwrap_or_default();
    let of_campaign = |name: &str| campaign.body.get(name).cloned().unwrap_or(Json::Null);
    let mut body = Map::new();
    for name in ["type", "discount", "gift", "loyalty_card"] {
        body.insert(name.into(), config.get(name).cloned().unwrap_or(Json::Null));
    }
    for name in OF_CAMPAIGN {
        body.insert((*name).into(), of_campaign(name));
    }
    let redemption = overrides.get("redemption").or_else(|| config.get("redemption"));
    let quantity = redemption.and_then(|redemption| redemption.get("quantity")).cloned().unwrap_or(Json::Null);
    body.insert("redemption".into(), json!({ "quantity": quantity }));
    body.insert("metadata".into(), json!({}));
    body.insert("additional_info".into(), Json::Null);
    for name in OVERRIDES.iter().filter(|name| **name != "redemption") {
        if let Some(value) = overrides.get(*name) {
            body.insert((*name).into(), value.clone());
        }
    }
    voucher_grant::settle_dates(&mut body);
    body.insert("id".into(), Json::Null);
    body.insert("code".into(), Json::Null);
    body.insert("campaign".into(), of_campaign("name"));
    body.insert("campaign_id".into(), campaign.id.clone().into());
    body.insert("active".into(), true.into());
    body.insert("is_referral_code".into(), is_referral(campaign).into());
    body.insert("created_at".into(), moment::text(now_ms).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "voucher".into());
    body
}

/// A voucher from its body and code.
pub fn voucher(
    call: &mut Call<'_, '_>,
    mut body: Map<String, Json>,
    code: &str,
    campaign_id: Option<&str>,
) -> Document {
    let id = call.ids.alphanumeric("v_", 32).to_string();
    body.insert("id".into(), id.clone().into());
    body.insert("code".into(), code.into());
    Document {
        id,
        key: Some(code::code_key(code, call.caller.settings.case_sensitive_codes)),
        parent: campaign_id.map(str::to_owned),
        holder: None,
        created_at: call.now_ms(),
        updated_at: None,
        body,
    }
}

/// The codes' shape of a campaign, or of what an override says.
pub fn shape(call: &Call<'_, '_>, campaign: &Document, overrides: &Map<String, Json>) -> Result<CodeShape, CallError> {
    let config = overrides
        .get("code_config")
        .or_else(|| campaign.body.get("voucher").and_then(|voucher| voucher.get("code_config")));
    Ok(CodeShape::of(config.and_then(Json::as_object), &call.caller.settings)?)
}

/// Refuses a code that a voucher has already.
pub fn check_free(call: &Call<'_, '_>, code: &str) -> Result<(), CallError> {
    let key = code::code_key(code, call.caller.settings.case_sensitive_codes);
    match call.store.document_by_name("voucher", &key, "")? {
        Some(_) => Err(duplicate("voucher", "id", code).into()),
        None => bin::check_free(call, "voucher", &key, ("id", code)),
    }
}

/// Makes one voucher of a campaign at the commit, with a code of its own when none is given.
pub fn make_one(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    overrides: &Map<String, Json>,
    code: Option<&str>,
) -> Result<Document, CallError> {
    let code = match code {
        Some(code) => {
            check_free(call, code)?;
            code.to_owned()
        }
        None => {
            let shape = shape(call, campaign, overrides)?;
            let made = codes::make(
                call.store,
                &mut call.ids,
                &campaign.id,
                &shape,
                1,
                call.caller.settings.case_sensitive_codes,
            )?;
            made.into_iter().next().unwrap_or_default()
        }
    };
    let body = template(campaign, overrides, call.now_ms());
    let voucher = voucher(call, body, &code, Some(&campaign.id));
    call.store.insert("voucher", &voucher);
    Ok(voucher)
}

/// Makes vouchers of a campaign with codes of their own, without storing them yet.
pub fn draft(call: &mut Call<'_, '_>, campaign: &Document, count: usize) -> Result<Vec<Document>, CallError> {
    let none = Map::new();
    let shape = shape(call, campaign, &none)?;
    let codes =
        codes::make(call.store, &mut call.ids, &campaign.id, &shape, count, call.caller.settings.case_sensitive_codes)?;
    let body = template(campaign, &none, call.now_ms());
    Ok(codes.iter().map(|code| voucher(call, body.clone(), code, Some(&campaign.id))).collect())
}

/// Counts vouchers that were added to a campaign, at the commit.
pub fn count(call: &mut Call<'_, '_>, campaign_id: &str, added: i64) {
    if added != 0 {
        call.store.write(
            "UPDATE document SET body = json_set(body, '$.vouchers_count', CAST(json_extract(body, '$.vouchers_count') + ?2 AS INTEGER)) WHERE kind = 'campaign' AND id = +?1",
            vec![campaign_id.into(), added.into()],
        );
    }
}

/// Starts the job that makes many vouchers of a campaign; gives the id of its async action.
pub fn make_many(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    overrides: &Map<String, Json>,
    wanted: u64,
) -> Result<String, CallError> {
    let shape = shape(call, campaign, overrides)?;
    let generator = codes::Generator::open(call.store, &mut call.ids, &campaign.id, &shape)?;
    let needed = generator.counter.saturating_add(wanted);
    if u128::from(needed) > shape.space() {
        return Err(shape.too_small(needed).into());
    }
    let job = Generation {
        campaign_id: campaign.id.clone(),
        template: template(campaign, overrides, call.now_ms()),
        code_config: shape.document().as_object().cloned().unwrap_or_default(),
        case_sensitive: call.caller.settings.case_sensitive_codes,
        wanted,
        made: 0,
    };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    Ok(actions::start(call.store, call.context, &mut call.ids, call.request_id, (VOUCHERS_GENERATE, cursor)))
}
