//! Campaigns: get, list, delete, enable, disable, add vouchers. What a campaign begins with is in `campaign_creation`, what its
//! vouchers begin with in `generation`.
//! It must not know how a redemption is decided.

use crate::api::promotions::campaign_creation::{self, VOUCHERS_MAX};
use crate::api::promotions::tiers;
use crate::document::clause::Clause;
use crate::document::fields::{CODE_CONFIG, KEY, LIMIT, PAGE, REDEMPTION};
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, invalid_payload, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::campaigns::{CAMPAIGN, STATUSES, TYPES, show};
use crate::shop::voucher_work::{Removal, VOUCHERS_DELETE};
use crate::shop::{
    assignments, bin, generation, program_rules, program_tiers, reward_assignments, voucher_grant, vouchers, zone,
};
use crate::store::document::Document;
use crate::work::actions;
use serde_json::{Map, Value as Json, json};

/// What a list may show more of. There are no areas and stores, and so no assignments to any.
pub const EXPANDED: &[&str] = &["category", "access_settings_assignments"];
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

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/campaigns", "List campaigns", list).of(&CAMPAIGN).listed(shapes::TOTAL).scope("campaigns").query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
        may("campaign_type", Kind::OneOf(TYPES)),
        may("campaign_status", Kind::OneOf(STATUSES)),
        may("is_referral_code", Kind::Bool),
        may("expand", Kind::OneOf(EXPANDED)),
        may("filters", Kind::Map),
    ]),
    post("/v1/campaigns", "Create a campaign", campaign_creation::create)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .body(campaign_creation::CREATE),
    get("/v1/campaigns/{campaignId}", "Get a campaign by id or name", resource::get).of(&CAMPAIGN).scope("campaigns"),
    delete("/v1/campaigns/{campaignId}", "Delete a campaign and its vouchers", remove)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("force", Kind::Bool)])
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/enable", "Enable a campaign", enable)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, shapes::EMPTY),
    post("/v1/campaigns/{campaignId}/disable", "Disable a campaign", disable)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .answers(200, shapes::EMPTY),
    post("/v1/campaigns/{campaignId}/vouchers", "Add vouchers to a campaign", add)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .query(&[may("vouchers_count", Kind::Int(1, VOUCHERS_MAX))])
        .body(ADD)
        .bodiless()
        .answers(200, scrip::wire::voucher::VOUCHER)
        .or_answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/vouchers/{code}", "Add a voucher with a given code to a campaign", add_code)
        .of(&CAMPAIGN)
        .scope("campaigns")
        .body(ADD)
        .bodiless()
        .answers(200, scrip::wire::voucher::VOUCHER),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let clause = Clause::of_kind(CAMPAIGN.object).at(call.now_ms());
    list_within(call, clause)
}

/// A list shows categories where it is asked to (interface.md, campaigns).
pub fn list_within(call: &mut Call<'_, '_>, clause: Clause) -> Outcome {
    let expanded = call.query.listed("expand");
    if let Some(unknown) = expanded.iter().find(|word| !EXPANDED.contains(word)) {
        let told = format!("Property .expand must be one of {} (actual value is `{unknown}`)", EXPANDED.join(", "));
        return Err(invalid_query(told).into());
    }
    let clause = zone::asked(call, clause)?;
    let page = CAMPAIGN.list.select(call.store, &call.query, clause)?;
    let shows_categories = expanded.contains(&"category");
    let mut shown = show(call, page.documents)?;
    if !shows_categories {
        for campaign in shown.iter_mut().filter_map(Json::as_object_mut) {
            campaign.insert("categories".into(), json!([]));
        }
    }
    Ok(Answer::json(Json::Object(CAMPAIGN.list.envelope(shown, page.total))))
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    resource::set_active(call, true)?;
    Ok(Answer::json(json!({})))
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    resource::set_active(call, false)?;
    Ok(Answer::json(json!({})))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    Ok(Answer::status(202, take_away(call, &campaign)?))
}

/// The campaign is gone at once, and its vouchers with it for every reader; a job removes their documents. Gives what is told of
/// the job.
pub fn take_away(call: &mut Call<'_, '_>, campaign: &Document) -> Result<Json, CallError> {
    let wanted = campaign.body.get("vouchers_count").and_then(Json::as_u64).unwrap_or(0);
    let job = Removal { campaign_id: campaign.id.clone(), wanted, made: 0 };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    let id = actions::start(call.store, call.context, &mut call.ids, call.request_id, (VOUCHERS_DELETE, cursor));
    assignments::detach(call, &campaign.id);
    tiers::remove_all(call, &campaign.id);
    reward_assignments::remove_all(call, &campaign.id);
    program_rules::remove_all(call, &campaign.id);
    program_tiers::remove_all(call, &campaign.id);
    let name = campaign.key.as_deref().unwrap_or_default();
    bin::throw(call, CAMPAIGN.object, campaign, name);
    call.store.remove(CAMPAIGN.object, &campaign.id);
    Ok(json!({ "async_action_id": id }))
}

fn open_campaign(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = CAMPAIGN.find(call)?;
    generation::check_open(&campaign)?;
    Ok(campaign)
}

fn read_overrides(call: &Call<'_, '_>, campaign: &Document) -> Result<Map<String, Json>, CallError> {
    let mut overrides = call.body(Nulls::Dropped)?;
    voucher_grant::check_validity(&overrides)?;
    voucher_grant::settle_category(call, &mut overrides)?;
    if let Some(metadata) = overrides.get("metadata") {
        vouchers::check_metadata(call, Some(campaign), Some(metadata))?;
    }
    Ok(overrides)
}

fn add(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = open_campaign(call)?;
    let count = crate::document::list::read_int(&call.query, "vouchers_count", 1, VOUCHERS_MAX)?.unwrap_or(1);
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
            "UPDATE document SET body = json_set(body, '$.vouchers_generation_status', 'IN_PROGRESS') WHERE kind = 'campaign' AND id = +?1",
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
