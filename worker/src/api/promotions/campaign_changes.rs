//! Campaigns changed after their creation: what a change says of the campaign holds at once, and a job carries it to the vouchers that
//! nobody has and nobody has used (objects.md, section 5). It must not know how a campaign begins.

use crate::api::promotions::campaign_creation::{OWN_FIELDS, REFERRAL};
use crate::document::fields::{
    DISCOUNT, GIFT, KEY, LOYALTY_CARD, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::document::merge;
use crate::document::part;
use crate::document::shapes;
use crate::http::reply::{CallError, error};
use crate::http::route::{Answer, Call, Outcome, Route, put};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::shop::campaigns::{CAMPAIGN, PROGRAM};
use crate::shop::voucher_work::{Change, VOUCHERS_UPDATE};
use crate::shop::{generation, metadata_schemas, program_tiers, voucher_grant};
use crate::store::document::Document;
use crate::work::actions;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const UPDATE: &[Field] = &[
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("description", Kind::Text),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("unset_metadata_fields", Kind::List(&KEY, 0, 100)),
    may("activity_duration_after_publishing", Kind::Duration),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC"])),
    may("discount", DISCOUNT),
    may("gift", GIFT),
    may("loyalty_card", LOYALTY_CARD),
    may("referral_program", REFERRAL),
    may("loyalty_tiers_expiration", shapes::program_tiers::QUALIFICATION),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[put("/v1/campaigns/{campaignId}", "Update a campaign and its free vouchers", update)
    .of(&CAMPAIGN)
    .scope("campaigns")
    .body(UPDATE)];

/// What vouchers grant, as the configuration of their campaign says it.
const GRANTED: &[&str] = &["discount", "gift", "loyalty_card"];

fn inherits(name: &str) -> bool {
    GRANTED.iter().chain(generation::OF_CAMPAIGN).any(|known| *known == name)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    change(call, campaign)
}

/// Changes a campaign as the body says, by the fields of the route.
pub fn change(call: &mut Call<'_, '_>, mut campaign: Document) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let before = generation::template(&campaign, &Map::new(), 0);
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default().to_owned();
    settle_kind(&campaign, &kind, &mut sent)?;
    settle_grant(&mut campaign, &mut sent)?;
    voucher_grant::settle_dates(&mut sent);
    voucher_grant::settle_category(call, &mut sent)?;
    let unset = sent.remove("unset_metadata_fields").unwrap_or_default();
    let is_metadata_sent = sent.contains_key("metadata") || unset.as_array().is_some_and(|unset| !unset.is_empty());
    for name in ["type", "join_once", "auto_join"] {
        if sent.get(name).is_some_and(Json::is_null) {
            sent.remove(name);
        }
    }
    merge::merge(&mut campaign.body, sent);
    if let Some(metadata) = campaign.body.get_mut("metadata").and_then(Json::as_object_mut) {
        for name in unset.as_array().into_iter().flatten().filter_map(Json::as_str) {
            metadata.remove(name);
        }
    }
    voucher_grant::check_validity(&campaign.body)?;
    program_tiers::complete(&mut campaign.body);
    if kind == PROGRAM && !program_tiers::of_campaign(call.store, &campaign.id)?.is_empty() {
        program_tiers::check_counted(&campaign.body)?;
    }
    if is_metadata_sent {
        metadata_schemas::check(call.store, &[(CAMPAIGN.object, campaign.body.get("metadata"))])?;
    }
    call.touch(&mut campaign);
    let after = generation::template(&campaign, &Map::new(), 0);
    if kind == "PROMOTION" {
        voucher_grant::check_campaign(&campaign.body)?;
    } else {
        voucher_grant::check_readable(Some(&campaign.body), &after, "")?;
        carry(call, &campaign, &before, after)?;
    }
    call.store.update(CAMPAIGN.object, &campaign);
    Ok(Answer::json(CAMPAIGN.show_one(call, campaign)?))
}

/// Refuses what campaigns of another type have, and what this one cannot become.
fn settle_kind(campaign: &Document, kind: &str, sent: &mut Map<String, Json>) -> Result<(), Problem> {
    if let Some((field, _)) = OWN_FIELDS.iter().find(|(field, of)| *of != kind && sent.contains_key(*field)) {
        return Err(Problem::at(*field, format!("must NOT be present on a {kind} campaign")));
    }
    let is_standalone = campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE");
    if let Some(Json::String(said)) = sent.get("type").filter(|_| is_standalone) {
        return Err(Problem::at("type", format!("must stay STANDALONE (actual value is `{said}`)")));
    }
    // What is forced when a campaign is created stays forced (objects.md, section 2).
    if is_standalone || kind == "LOYALTY_PROGRAM" {
        sent.remove("join_once");
    }
    Ok(())
}

/// Puts a changed grant into the configuration of the vouchers; it stays of its kind.
fn settle_grant(campaign: &mut Document, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(config) = campaign.body.get_mut("voucher").and_then(Json::as_object_mut) else {
        let stray = voucher_grant::VOUCHER_TYPES.iter().find(|(_, grant)| sent.contains_key(*grant));
        let told = "must NOT be present on a PROMOTION campaign";
        return stray.map_or(Ok(()), |(_, grant)| Err(Problem::at(*grant, told).into()));
    };
    for (kind, grant) in voucher_grant::VOUCHER_TYPES {
        let Some(value) = sent.remove(*grant).filter(|value| !value.is_null()) else { continue };
        if config.get("type").and_then(Json::as_str) != Some(kind) {
            let wanted = config.get("type").and_then(Json::as_str).unwrap_or_default();
            return Err(
                Problem::at(*grant, format!("must NOT be present where vouchers are of the type {wanted}")).into()
            );
        }
        let type_of = |grant: Option<&Json>| grant.and_then(|grant| grant.get("type")).cloned();
        if type_of(Some(&value)) != type_of(config.get(*grant)) {
            let told = "It is not possible to change Voucher discount type";
            return Err(error(400, "invalid_voucher", "Invalid Voucher", told).into());
        }
        let mut changed = part::one(grant, value);
        voucher_grant::check_discount(&changed, "")?;
        voucher_grant::complete_card(&mut changed, "", false)?;
        config.extend(changed);
    }
    Ok(())
}

/// Starts the job that carries what has changed to the vouchers, when there is anything.
fn carry(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    before: &Map<String, Json>,
    after: Map<String, Json>,
) -> Result<(), CallError> {
    let mut fields = after;
    fields.retain(|name, value| inherits(name) && before.get(name) != Some(value));
    let wanted = campaign.body.get("vouchers_count").and_then(Json::as_u64).unwrap_or(0);
    if fields.is_empty() || wanted == 0 {
        return Ok(());
    }
    let job = Change { campaign_id: campaign.id.clone(), fields, after: 0, wanted, made: 0 };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    actions::start(call.store, call.context, &mut call.ids, call.request_id, (VOUCHERS_UPDATE, cursor));
    Ok(())
}
