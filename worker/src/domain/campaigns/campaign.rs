//! Campaigns as the API returns them.

use crate::documents::common_fields::{DAYS, TIMEFRAME};
use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::domain::categories;
use crate::domain::promotions::tiers;
use crate::domain::validation_rules::assignments;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::document_list::column::{flag_member, member, one_member};
use crate::store::records::CampaignRecord;
use serde_json::Value as Json;

/// States of the creation of a campaign.
pub const STATUSES: &[&str] = &["DONE", "IN_PROGRESS", "FAILED", "DRAFT", "MODIFYING"];

/// Campaigns as a resource.
pub const CAMPAIGN: Resource = Resource {
    object: "campaign",
    shape: shapes::promotions::CAMPAIGN.described(),
    parameter: "campaignId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "campaigns",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[
            ListFilter::OneOf("campaign_type", member!("campaign_type"), TYPES),
            ListFilter::OneOf("campaign_status", member!("creation_status"), STATUSES),
            ListFilter::Flag("is_referral_code", member!("voucher.is_referral_code")),
        ],
        conditions: &[
            ("campaigns", member!("name")),
            ("campaigns_id", "id"),
            ("campaign_status", member!("creation_status")),
            ("status", "state"),
            ("active", "state"),
            ("is_referral_code", flag_member!("voucher.is_referral_code")),
            ("validity_timeframe", TIMEFRAME),
            ("validity_day_of_week", DAYS),
            ("voucher_type", member!("voucher.type")),
            ("categories", one_member!("category")),
            ("category_ids", one_member!("category_id")),
            ("type", member!("type")),
            ("created_date", member!("created_at")),
            ("updated_at", member!("updated_at")),
            ("start_date", member!("start_date")),
            ("expiration_date", member!("expiration_date")),
        ],
    },
};

/// Returns campaigns as the API returns them.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let mut assigned = assignments::load_json(call, &documents)?;
    let categories = categories::CategoryLookup::of(call, &documents)?;
    let mut campaigns_json = Vec::new();
    for mut document in documents {
        let listed = categories.list(&document);
        complete_vouchers(&mut document);
        let mut body = document.body;
        body.insert("categories".into(), listed);
        let rules = assigned.remove(&document.id).unwrap_or_default();
        body.insert("validation_rules_assignments".into(), assignments::list_json(rules));
        if CampaignRecord::of(&body).is_promotion() {
            let tiers = tiers::list_of_campaign(call, &document.id)?;
            body.insert("promotion".into(), tiers::list_json(call, tiers)?);
        }
        campaigns_json.push(Json::Object(body));
    }
    Ok(campaigns_json)
}

/// Completes the voucher template of a campaign: with the full gift block and the validity of the campaign.
fn complete_vouchers(campaign: &mut Document) {
    let campaign = &mut campaign.body;
    let validity: Vec<(&str, Json)> =
        VALIDITY.iter().filter_map(|name| Some((*name, campaign.get(*name)?.clone()))).collect();
    let Some(voucher) = campaign.get_mut("voucher").and_then(Json::as_object_mut) else { return };
    for (name, value) in validity.into_iter().filter(|(_, value)| !value.is_null()) {
        voucher.insert(name.into(), value);
    }
    if let Some(gift) = voucher.get_mut("gift").and_then(Json::as_object_mut)
        && let Some(amount) = gift.get("amount").cloned()
    {
        gift.insert("balance".into(), amount);
    }
}

/// Members of a campaign that limit its validity and that of its vouchers.
const VALIDITY: &[&str] =
    &["start_date", "expiration_date", "validity_timeframe", "validity_day_of_week", "validity_hours"];

/// The type of campaigns whose codes are loyalty cards.
pub const LOYALTY_PROGRAM: &str = "LOYALTY_PROGRAM";

/// Tests if a campaign is a loyalty campaign.
pub fn is_loyalty_campaign(campaign: &Document) -> bool {
    campaign.as_campaign().is_loyalty_campaign()
}

/// Finds the loyalty campaign that the path names by id or name; a campaign of another type is not found.
pub fn find_loyalty_campaign(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let found = CAMPAIGN.find(call)?;
    match is_loyalty_campaign(&found) {
        true => Ok(found),
        false => Err(not_found(CAMPAIGN.object, call.param(CAMPAIGN.parameter)).into()),
    }
}

/// The types of campaigns.
pub const TYPES: &[&str] = &["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"];
