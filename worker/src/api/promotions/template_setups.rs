//! What is set up by templates: a campaign, or a tier of one that is there. It must not know how a campaign or a tier begins.
//!
//! A rule of a template is made anew with whatever is set up by it. What a rule names by id is not: in another shop it names nothing.

use crate::api::promotions::templates::TEMPLATE;
use crate::api::promotions::{campaign_creation, tiers};
use crate::document::fields::{CODE_CONFIG, KEY, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME};
use crate::document::part;
use crate::document::shapes;
use crate::http::reply::{ErrorBody, error, not_found};
use crate::http::route::{Answer, Body, Call, Outcome, Route, post};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::assignments;
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::tiers::TIER;
use crate::shop::validation_rules::RULE;
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};

const SET_UP_CAMPAIGN: &[Field] = &[
    must("name", KEY),
    may("description", Kind::Text),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC", "STANDALONE"])),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("use_voucher_metadata_schema", Kind::Bool),
    may("vouchers_count", Kind::Int(0, campaign_creation::VOUCHERS_MAX)),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("activity_duration_after_publishing", Kind::Duration),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("voucher", Kind::Object(&[may("code_config", CODE_CONFIG), may("redemption", REDEMPTION)])),
];

const SET_UP_TIER: &[Field] = &[
    must("campaign_id", KEY),
    must("name", KEY),
    may("banner", Kind::Text),
    may("metadata", Kind::Map),
    may("hierarchy", Kind::Int(0, INT_MAX)),
    may("active", Kind::Bool),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("category", KEY),
    may("category_id", KEY),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post(
        "/v1/templates/campaigns/{campaignTemplateId}/campaign-setup",
        "Create a campaign by a template",
        set_up_campaign,
    )
    .of(&TEMPLATE)
    .scope("templates")
    .body(SET_UP_CAMPAIGN)
    .answers(200, shapes::project::CAMPAIGN_SETUP),
    post(
        "/v1/templates/campaigns/{campaignTemplateId}/tier-setup",
        "Create a promotion tier by a template",
        set_up_tier,
    )
    .of(&TEMPLATE)
    .scope("templates")
    .body(SET_UP_TIER)
    .answers(200, shapes::project::TIER_SETUP),
];

/// Makes the rules of a template anew at the commit; gives their ids.
fn make_rules(call: &mut Call<'_, '_>, template: &Document) -> Vec<String> {
    let rules = template.body.get("json_template").and_then(|held| held.get("validation_rules")).cloned();
    let mut ids = Vec::new();
    for rule in rules.as_ref().and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object) {
        let id = call.ids.alphanumeric("val_", 12).to_string();
        let mut body = rule.clone();
        body.insert("id".into(), id.clone().into());
        body.insert("created_at".into(), moment::text(call.now_ms()).into());
        body.insert("updated_at".into(), Json::Null);
        call.store.insert(RULE.object, &Document::new(id.clone(), None, call.now_ms(), body));
        ids.push(id);
    }
    ids
}

fn made(ids: &[String]) -> Vec<Json> {
    ids.iter().map(|id| json!({ "id": id, "object": "validation_rules" })).collect()
}

/// What a template holds of a campaign or of a tier.
fn held_of(template: &Document, what: &str) -> Option<Map<String, Json>> {
    template.body.get("json_template")?.get(what)?.as_object().cloned()
}

fn set_up_campaign(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let template = TEMPLATE.find(call)?;
    let Some(mut whole) = held_of(&template, "campaign") else {
        return Err(unsupported("a tier", "campaign").into());
    };
    if sent.contains_key("category_id") {
        whole.remove("category");
    }
    for (name, value) in sent {
        match (whole.get_mut(&name).and_then(Json::as_object_mut), value) {
            // Of its vouchers a part may be said otherwise.
            (Some(held), Json::Object(said)) if name == "voucher" => held.extend(said),
            (_, value) => drop(whole.insert(name, value)),
        }
    }
    let body = crate::http::shape::read(campaign_creation::CREATE, whole, Nulls::Dropped)?;
    let Body::Value(mut campaign) = campaign_creation::create_coded(call, body)?.body else {
        return Ok(Answer::json(Json::Null));
    };
    let rules = make_rules(call, &template);
    let id = campaign.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
    let assigned = assignments::assign(call, rules.clone(), &id, CAMPAIGN.object);
    if let Some(campaign) = campaign.as_object_mut().filter(|_| !assigned.is_empty()) {
        campaign.insert("validation_rules_assignments".into(), assignments::listed(assigned));
    }
    Ok(Answer::json(json!({ "object": "campaign_setup", "campaign": campaign, "created_resources": made(&rules) })))
}

fn set_up_tier(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    let template = TEMPLATE.find(call)?;
    let discount = || held_of(&template, "campaign")?.get("voucher")?.get("discount").cloned();
    let mut whole = match (held_of(&template, "promotion_tier"), discount()) {
        (Some(tier), _) => tier,
        (None, Some(discount)) => part::one("action", json!({ "discount": discount })),
        (None, None) => return Err(unsupported("gift cards", "tier").into()),
    };
    let named = sent.remove("campaign_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let campaign = call.store.document_by_name(CAMPAIGN.object, &named, &named)?;
    let campaign = campaign
        .filter(|campaign| campaign.body.get("campaign_type").and_then(Json::as_str) == Some("PROMOTION"))
        .ok_or_else(|| not_found(CAMPAIGN.object, &named))?;
    if sent.contains_key("category_id") {
        whole.remove("category");
    }
    whole.extend(sent);
    let whole = crate::http::shape::read(tiers::CREATE, whole, Nulls::Dropped)?;
    let last = tiers::last_hierarchy(call, &campaign.id)?;
    let draft = tiers::draft(call, whole, last, "")?;
    let mut tier = tiers::insert(call, &campaign, draft)?;
    let rules = make_rules(call, &template);
    let id = tier.get("id").and_then(Json::as_str).unwrap_or_default().to_owned();
    let assigned = assignments::assign(call, rules.clone(), &id, TIER.object);
    if let Some(tier) = tier.as_object_mut().filter(|_| !assigned.is_empty()) {
        tier.insert("validation_rule_assignments".into(), assignments::listed(assigned));
    }
    Ok(Answer::json(
        json!({ "object": "promotion_tier_setup", "promotion_tier": tier, "created_resources": made(&rules) }),
    ))
}

fn unsupported(of: &str, what: &str) -> ErrorBody {
    let message = "Campaign of the given type is not supported by campaign template";
    let told = format!("a template of {of} sets up no {what}");
    error(400, "campaign_type_is_not_supported_by_campaign_template", message, told)
}
