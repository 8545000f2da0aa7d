//! Changes of campaigns after their creation. A change of the campaign applies at once, and a job applies it to the vouchers
//! that have no holder and are unused (docs/spec/objects.md#5).

use crate::api::promotions::tier_changes;
use crate::api::promotions::tier_changes::PROMOTION_CHANGE;
use crate::documents::common_fields::{DISCOUNT, GIFT, KEY, LOYALTY_CARD, REDEMPTION};
use crate::documents::json_members;
use crate::documents::merge;
use crate::domain::campaigns::campaign::{CAMPAIGN, LOYALTY_PROGRAM};
use crate::domain::loyalty_campaigns::tiers;
use crate::domain::metadata::schemas;
use crate::domain::vouchers::bulk_jobs::{VOUCHERS_UPDATE, VoucherUpdateJob};
use crate::domain::vouchers::{creation, definition};
use crate::domain::{clock, visibility};
use crate::http::reply::{CallError, error};
use crate::http::route::{Call, HandlerResult, Response, Route, put};
use crate::http::shape::{self, Field, FieldType, Nulls, may};
use crate::jobs::async_actions;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::records::{CampaignRecord, VoucherConfig};
use scrip::wire::Problem;
use scrip::wire::voucher::campaign_fields;
use serde_json::{Map, Value as Json};

const UPDATE: &[Field] = scrip::fields_of!(
    campaign_fields::UPDATE,
    &[
        may("unset_metadata_fields", FieldType::List(&KEY, 0, 100))
            .description("Keys of the metadata to remove from the campaign, after `metadata` is merged."),
        may("discount", DISCOUNT).description("Discount that replaces the present one. Its `type` must stay the same."),
        may("gift", GIFT)
            .description("Amount on each gift card. Replaces the present amount for vouchers that are neither published nor redeemed."),
        may("loyalty_card", LOYALTY_CARD)
            .description("Points on each new card and their expiration rules. Replaces the present setting for cards that are neither published nor redeemed."),
        may("redemption", REDEMPTION)
            .description("Limit on the redemptions of each voucher. `null` removes the limit; an object without `quantity` changes no limit."),
        may("voucher", VOUCHER_CHANGE)
            .description("Configuration of the vouchers, in the form in which a campaign contains the configuration. Top-level fields of the same name have precedence."),
        may("promotion", PROMOTION_CHANGE).description("Tiers of a promotion to change or to add."),
    ]
);

/// Voucher configuration that may be sent where responses contain it; the field of the same name next to `voucher` has precedence.
const VOUCHER_CHANGE: FieldType = FieldType::Object(&[
    may("discount", FieldType::Map)
        .description("Discount that replaces the present one. Its `type` must stay the same."),
    may("gift", FieldType::Map).description("Amount on each gift card. Replaces the present amount."),
    may("loyalty_card", FieldType::Map)
        .description("Points on each new card and their expiration rules. Replaces the present setting."),
    may("redemption", REDEMPTION)
        .description("Limit on the redemptions of each voucher. `null` removes the limit; an object without `quantity` changes no limit."),
]);

/// The fields of the configuration that a change reads.
const GRANTS: &[Field] =
    &[may("discount", DISCOUNT), may("gift", GIFT), may("loyalty_card", LOYALTY_CARD), may("redemption", REDEMPTION)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[put("/v1/campaigns/{campaignId}", "Update a campaign and its unused vouchers", update)
    .describe(
        "updateCampaign",
        "Changes the fields that are sent; `null` clears a field, and metadata is merged key by key. Tiers of a promotion are changed or added in the same transaction. A job carries the changes to vouchers that are neither published nor redeemed; other vouchers stay as they are. The webhook event `campaign.updated` follows. Another type of discount is refused with `invalid_voucher`, an inconsistent body with `invalid_payload`.",
    )
    .returns("The campaign after the change.")
    .of(&CAMPAIGN)
    .scope("campaigns")
    .body(UPDATE)];

/// Members of the voucher configuration of a campaign with the grant and its limits.
const GRANTED: &[&str] = &["discount", "gift", "loyalty_card", "redemption"];

fn inherits(name: &str) -> bool {
    GRANTED.iter().chain(campaign_fields::INHERITED).any(|known| *known == name)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    update_campaign(call, campaign)
}

/// Changes a campaign by the body, read by the fields of the route.
pub fn update_campaign(call: &mut Call<'_, '_>, mut campaign: Document) -> HandlerResult {
    let mut sent = call.body(Nulls::Kept)?;
    let before = creation::template(&campaign, &Map::new(), 0);
    let kind = campaign.as_campaign().campaign_type().to_owned();
    normalise_type(&campaign, &kind, &mut sent)?;
    let requested = CampaignRecord::of(&sent).visibility();
    match kind.as_str() {
        "PROMOTION" => visibility::check_promotion(requested)?,
        _ => visibility::check_codes(requested, campaign.as_campaign().is_standalone())?,
    }
    let tiers = sent.remove("promotion").and_then(|promotion| promotion.get("tiers")?.as_array().cloned());
    // Tiers have nulls of their own.
    let mut sent = shape::read(call.route.body, sent, Nulls::KeptOnTop)?;
    apply_grant(call.store, &mut campaign, &mut sent)?;
    let zone = clock::zone(call)?;
    definition::normalise_dates(&mut sent, &zone);
    definition::normalise_category(call, &mut sent)?;
    let unset = sent.remove("unset_metadata_fields").unwrap_or_default();
    let is_metadata_sent = sent.contains_key("metadata") || unset.as_array().is_some_and(|unset| !unset.is_empty());
    sent.retain(|name, value| !value.is_null() || !campaign_fields::UNCHANGED_BY_NULL.contains(&name.as_str()));
    merge::merge_cleared(&mut campaign.body, sent);
    if let Some(metadata) = campaign.body.get_mut("metadata").and_then(Json::as_object_mut) {
        for name in unset.as_array().into_iter().flatten().filter_map(Json::as_str) {
            metadata.remove(name);
        }
    }
    definition::check_validity(&campaign.body, &zone)?;
    tiers::fill_qualification(&mut campaign.body);
    if kind == LOYALTY_PROGRAM && !tiers::list_of_campaign(call.store, &campaign.id)?.is_empty() {
        tiers::check_qualification(campaign.as_campaign())?;
    }
    if is_metadata_sent {
        schemas::check_body(call.store, CAMPAIGN.object, &campaign.body)?;
    }
    call.touch(&mut campaign);
    let after = creation::template(&campaign, &Map::new(), 0);
    if kind == "PROMOTION" {
        definition::check_campaign(&campaign.body)?;
    } else {
        definition::check_readable(Some(&campaign.body), &after, "")?;
        start_voucher_update(call, &campaign, &before, after)?;
    }
    call.store.update(CAMPAIGN.object, &campaign);
    let tiers = tiers.map(|tiers| tier_changes::change_all(call, &campaign, tiers)).transpose()?;
    let mut json = CAMPAIGN.one_to_json(call, campaign)?;
    if let Some((json, tiers)) = json.as_object_mut().zip(tiers) {
        json.insert("promotion".into(), tiers);
    }
    Ok(Response::json(json))
}

/// Refuses members of other types of campaigns, and impossible changes.
fn normalise_type(campaign: &Document, kind: &str, sent: &mut Map<String, Json>) -> Result<(), Problem> {
    let of_one_type = campaign_fields::OF_ONE_TYPE;
    sent.retain(|name, value| !value.is_null() || of_one_type.iter().all(|(field, of)| field != name || *of == kind));
    if let Some((field, _)) = of_one_type.iter().find(|(field, of)| *of != kind && sent.contains_key(*field)) {
        return Err(Problem::at(*field, format!("must NOT be present on a {kind} campaign")));
    }
    let is_standalone = campaign.as_campaign().is_standalone();
    match CampaignRecord::of(sent).supply() {
        Some(requested) if is_standalone && requested != "STANDALONE" => {
            return Err(Problem::bound("type", "must stay STANDALONE", requested));
        }
        Some("STANDALONE") if !is_standalone => {
            return Err(Problem::bound("type", "must be AUTO_UPDATE or STATIC on this campaign", "STANDALONE"));
        }
        _ => {}
    }
    // Values that are forced when a campaign is created stay forced (docs/spec/objects.md#2).
    if is_standalone || kind == "LOYALTY_PROGRAM" {
        sent.remove("join_once");
    }
    Ok(())
}

/// Writes a changed grant and quantity into the voucher configuration; the kind of the grant cannot change.
fn apply_grant(store: &Store<'_>, campaign: &mut Document, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let nested = sent.remove("voucher").and_then(|voucher| voucher.as_object().cloned());
    let nested = nested.map(|nested| shape::read(GRANTS, nested, Nulls::Kept)).transpose();
    let nested = nested.map_err(|problem| problem.within("voucher"))?;
    let Some(config) = campaign.body.get_mut("voucher").and_then(Json::as_object_mut) else {
        let stray = GRANTED.iter().find(|name| sent.contains_key(**name));
        let message = "must NOT be present on a PROMOTION campaign";
        return stray.map_or(Ok(()), |name| Err(Problem::at(*name, message).into()));
    };
    for name in GRANTED {
        let nested = nested.as_ref().and_then(|voucher| voucher.get(*name));
        if let Some(value) = nested.filter(|value| *name == "redemption" || config.get(*name) != Some(value)) {
            sent.entry(*name).or_insert_with(|| value.clone());
        }
    }
    definition::normalise_redemption(sent);
    if let Some(redemption) = sent.remove("redemption") {
        config.insert("redemption".into(), redemption);
    }
    for (kind, grant) in definition::VOUCHER_TYPES {
        let Some(value) = sent.remove(*grant).filter(|value| !value.is_null()) else { continue };
        let stored_type = VoucherConfig::of(config).voucher_type().unwrap_or_default();
        if stored_type != *kind {
            return Err(Problem::at(
                *grant,
                format!("must NOT be present where vouchers are of the type {stored_type}"),
            )
            .into());
        }
        let type_of = |grant: Option<&Json>| grant.and_then(|grant| grant.get("type")).cloned();
        if type_of(Some(&value)) != type_of(config.get(*grant)) {
            let message = "It is not possible to change Voucher discount type";
            return Err(error(400, "invalid_voucher", "Invalid Voucher", message).into());
        }
        let mut changed = json_members::object_of(grant, value);
        definition::check_discount(&changed, "")?;
        definition::check_free_goods(store, &changed, "")?;
        definition::complete_card(&mut changed, "", false)?;
        config.extend(changed);
    }
    Ok(())
}

/// Starts the job that applies changes to the vouchers, if there are any.
fn start_voucher_update(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    before: &Map<String, Json>,
    after: Map<String, Json>,
) -> Result<(), CallError> {
    let mut fields = after;
    fields.retain(|name, value| inherits(name) && before.get(name) != Some(value));
    let total = campaign.as_campaign().vouchers_count();
    if fields.is_empty() || total == 0 {
        return Ok(());
    }
    let mut former = before.clone();
    former.retain(|name, _| fields.contains_key(name));
    let since_ms = call.context.now.millis();
    let job =
        VoucherUpdateJob { campaign_id: campaign.id.clone(), fields, former, since_ms, after: 0, total, processed: 0 };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    async_actions::start(call, VOUCHERS_UPDATE, &cursor);
    Ok(())
}
