//! Creation by templates: of a campaign, or of a tier of an existing one.
//!
//! Each creation copies the rules of its template. Objects that a rule names by id are not copied: in another project the ids are unknown.

use crate::api::campaigns::creation;
use crate::api::campaigns::templates::TEMPLATE;
use crate::api::promotions::tiers;
use crate::api::validation_rules::counts;
use crate::documents::common_fields::{
    CODE_CONFIG, KEY, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::documents::json_members;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::promotions::tiers::TIER;
use crate::domain::validation_rules::assignments;
use crate::domain::validation_rules::rules::RULE;
use crate::http::reply::{CallError, ErrorBody, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, ResponseBody, Route, post};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, may, must};
use crate::store::document::Document;
use crate::store::records::{CampaignRecord, ObjectReference};
use crate::timestamp;
use scrip::wire::voucher::{VISIBILITY, campaign_fields};
use serde_json::{Map, Value as Json, json};

const SET_UP_CAMPAIGN: &[Field] = scrip::fields_of!(
    campaign_fields::TEMPLATE_SETUP,
    &[
        may("vouchers_count", FieldType::Int(0, creation::VOUCHERS_MAX))
            .description("Number of vouchers to create. Default 0, and 1 for a `STANDALONE` campaign, which accepts no other number."),
        may(
            "voucher",
            FieldType::Object(&[
                may("code", KEY)
                    .description("Code of the only voucher of a `STANDALONE` campaign. Absent means a generated code. Refused on other campaigns."),
                may("code_config", CODE_CONFIG)
                    .description("Form of the generated codes. Default is that of the template."),
                may("redemption", REDEMPTION)
                    .description("Limit on the redemptions of each voucher. Default is that of the template."),
            ]),
        )
        .description("Parts of the configuration of the vouchers that replace those of the template."),
    ]
);

const SET_UP_TIER: &[Field] = &[
    must("campaign_id", KEY).description("ID or name of the promotion that receives the tier."),
    must("name", KEY).description("Name of the new tier."),
    may("banner", FieldType::Text)
        .description("Text that presents the tier to customers. Default is that of the template."),
    may("metadata", FieldType::Map),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the tier in its promotion; a lower number comes first. Default is the rank after the last tier."),
    may("active", FieldType::Bool).description("`true` if the tier can be redeemed. Default `true`."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the tier can be redeemed, in UTC. A date without a time means the start of that day in the project's time zone."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the tier can no longer be redeemed, in UTC. A date without a time means the end of that day in the project's time zone."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the tier can be redeemed, counted from `start_date`, which is required then. Default is that of the template."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the tier can be redeemed, from 0 for Sunday to 6 for Saturday, in the project's time zone. Default is that of the template."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the tier can be redeemed, in the project's time zone. Default is that of the template."),
    may("category", KEY)
        .description("Name of the category of the tier. A category that does not exist is created. Default is that of the template."),
    may("category_id", KEY)
        .description("ID of the category of the tier. The category must exist. Default is the category of the template."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of the tier while it is in force: `public` or `server`. Default is that of the template."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post(
        "/v1/templates/campaigns/{campaignTemplateId}/campaign-setup",
        "Create a campaign from a template",
        set_up_campaign,
    )
    .describe(
        "createCampaignFromTemplate",
        "Creates a campaign with the configuration of a template; fields of the body replace those of the template. The validation rules of the template are created as new rules and assigned to the campaign, all in one transaction. The webhook event `campaign.created` follows. A template of a promotion tier is refused with `campaign_type_is_not_supported_by_campaign_template`, a name that is in use with `duplicate_found`.",
    )
    .returns("The new campaign, and the validation rules that were created with the campaign.")
    .of(&TEMPLATE)
    .scope("templates")
    .body(SET_UP_CAMPAIGN)
    .answers(200, shapes::project::CAMPAIGN_SETUP),
    post(
        "/v1/templates/campaigns/{campaignTemplateId}/tier-setup",
        "Create a promotion tier from a template",
        set_up_tier,
    )
    .describe(
        "createPromotionTierFromTemplate",
        "Adds a tier to a promotion, with the configuration of a template of a tier or the discount of a template of a campaign. The validation rules of the template are created as new rules and assigned to the tier, all in one transaction. The webhook event `campaign.promotion_tier.created` follows. A template of gift cards is refused with `campaign_type_is_not_supported_by_campaign_template`, an unknown promotion with `not_found`, rules whose counts are being made with `counts_not_ready`.",
    )
    .returns("The new tier, and the validation rules that were created with the tier.")
    .of(&TEMPLATE)
    .scope("templates")
    .body(SET_UP_TIER)
    .answers(200, shapes::project::TIER_SETUP),
];

fn rules_of(template: &Document) -> Vec<Map<String, Json>> {
    let rules = template.as_template().part("validation_rules").cloned();
    rules.as_ref().and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_object).cloned().collect()
}

/// Keeps the counts that the rules of a template ask for; where they are not ready, returns the refusal.
fn keep_counts(call: &mut Call<'_, '_>, template: &Document) -> Result<Option<Response>, CallError> {
    let asked = rules_of(template).iter().flat_map(counts::asked_by).collect();
    counts::keep(call, &asked)
}

/// Copies the rules of a template when the call commits; returns their ids.
fn copy_rules(call: &mut Call<'_, '_>, template: &Document) -> Vec<String> {
    let mut ids = Vec::new();
    for rule in rules_of(template) {
        let id = call.ids.alphanumeric("val_", 12).to_string();
        let mut body = rule;
        body.insert("id".into(), id.clone().into());
        body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
        body.insert("updated_at".into(), Json::Null);
        call.store.insert(RULE.object, &Document::new(id.clone(), None, call.now_ms(), body));
        ids.push(id);
    }
    ids
}

fn resource_references(ids: &[String]) -> Vec<Json> {
    ids.iter().map(|id| json!({ "id": id, "object": "validation_rules" })).collect()
}

/// Returns the part of a template about a campaign or a tier.
fn template_part(template: &Document, part: &str) -> Option<Map<String, Json>> {
    template.as_template().part(part)?.as_object().cloned()
}

fn set_up_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let template = TEMPLATE.find(call)?;
    let Some(mut body) = template_part(&template, "campaign") else {
        return Err(unsupported_type("a tier", "campaign").into());
    };
    if let Some(refusal) = keep_counts(call, &template)? {
        return Ok(refusal);
    }
    if sent.contains_key("category_id") {
        body.remove("category");
    }
    for (name, value) in sent {
        match (body.get_mut(&name).and_then(Json::as_object_mut), value) {
            // A part of the voucher configuration may be overridden.
            (Some(existing), Json::Object(members)) if name == "voucher" => existing.extend(members),
            (_, value) => drop(body.insert(name, value)),
        }
    }
    let body = crate::http::shape::read(creation::CREATE, body, Nulls::Dropped)?;
    let ResponseBody::Value(mut campaign) = creation::create_coded(call, body)?.body else {
        return Ok(Response::json(Json::Null));
    };
    let rules = copy_rules(call, &template);
    let id = ObjectReference::of_value(&campaign).id().unwrap_or_default().to_owned();
    let assigned = assignments::assign(call, rules.clone(), &id, CAMPAIGN.object);
    if let Some(campaign) = campaign.as_object_mut().filter(|_| !assigned.is_empty()) {
        campaign.insert("validation_rules_assignments".into(), assignments::list_json(assigned));
    }
    Ok(Response::json(
        json!({ "object": "campaign_setup", "campaign": campaign, "created_resources": resource_references(&rules) }),
    ))
}

fn set_up_tier(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    let template = TEMPLATE.find(call)?;
    let discount = || CampaignRecord::of(&template_part(&template, "campaign")?).vouchers().part("discount").cloned();
    let mut body = match (template_part(&template, "promotion_tier"), discount()) {
        (Some(tier), _) => tier,
        (None, Some(discount)) => json_members::object_of("action", json!({ "discount": discount })),
        (None, None) => return Err(unsupported_type("gift cards", "tier").into()),
    };
    let campaign_name = sent.remove("campaign_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let campaign = call.store.document_by_name(CAMPAIGN.object, &campaign_name, &campaign_name)?;
    let campaign = campaign
        .filter(|campaign| campaign.as_campaign().is_promotion())
        .ok_or_else(|| not_found(CAMPAIGN.object, &campaign_name))?;
    if let Some(refusal) = keep_counts(call, &template)? {
        return Ok(refusal);
    }
    if sent.contains_key("category_id") {
        body.remove("category");
    }
    body.extend(sent);
    let body = crate::http::shape::read(tiers::CREATE, body, Nulls::Dropped)?;
    let last = tiers::find_last_hierarchy(call, &campaign.id)?;
    let draft = tiers::new_draft(call, body, last, "")?;
    let mut tier = tiers::insert(call, &campaign, draft)?;
    let rules = copy_rules(call, &template);
    let id = ObjectReference::of_value(&tier).id().unwrap_or_default().to_owned();
    let assigned = assignments::assign(call, rules.clone(), &id, TIER.object);
    if let Some(tier) = tier.as_object_mut().filter(|_| !assigned.is_empty()) {
        tier.insert("validation_rule_assignments".into(), assignments::list_json(assigned));
    }
    Ok(Response::json(
        json!({ "object": "promotion_tier_setup", "promotion_tier": tier, "created_resources": resource_references(&rules) }),
    ))
}

fn unsupported_type(of: &str, part: &str) -> ErrorBody {
    let message = "Campaign of the given type is not supported by campaign template";
    let details = format!("a template of {of} sets up no {part}");
    error(400, "campaign_type_is_not_supported_by_campaign_template", message, details)
}
