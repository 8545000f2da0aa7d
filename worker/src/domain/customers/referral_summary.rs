//! Counts of referrals in customer documents: codes passed on, and codes of others redeemed.
//!
//! docs/spec/objects.md#4.

use crate::domain::balances::customer_loyalty::CustomerLoyalty;
use crate::domain::customers::summary::change;
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::decide::Referral;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Codes of other customers that a customer redeemed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct ReferralTotals {
    total: i64,
    campaigns: Vec<ReferralEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ReferralEntry {
    campaign_id: Option<String>,
    referrer_id: String,
    related_object_id: String,
    related_object_type: String,
    date: String,
}

/// Returns the summary of a customer without referrals.
pub fn empty() -> Json {
    serde_json::to_value(ReferralTotals::default()).unwrap_or(Json::Null)
}

/// Counts, in the stored referrer, the customers who redeemed the referrer's codes.
pub fn count_referred<'r>(referrer: &mut Document, referrals: impl Iterator<Item = &'r Referral>) -> Result<(), Fault> {
    change(referrer, "loyalty", |loyalty: &mut CustomerLoyalty| {
        for referral in referrals {
            loyalty.referred_customers = loyalty.referred_customers.plus(1)?;
            if let Some(name) = &referral.campaign_name {
                let program = loyalty.campaigns.entry(name.to_string()).or_default();
                program.referred_customers = program.referred_customers.plus(1)?;
            }
        }
        Ok(())
    })
}

/// Counts, in a stored customer, points earned in a campaign.
pub fn add_points(customer: &mut Document, campaign: &str, points: i64) -> Result<(), Fault> {
    change(customer, "loyalty", |loyalty: &mut CustomerLoyalty| {
        loyalty.points = loyalty.points.plus(points)?;
        let program = loyalty.campaigns.entry(campaign.to_owned()).or_default();
        program.points = program.points.plus(points)?;
        Ok(())
    })
}

/// Adds a redeemed referral code to a stored customer.
pub fn add_referral(customer: &mut Document, referral: &Referral, now_ms: i64) -> Result<(), Fault> {
    change(customer, "referrals", |totals: &mut ReferralTotals| {
        totals.total = totals.total.plus(1)?;
        totals.campaigns.push(ReferralEntry {
            campaign_id: referral.campaign_id.as_ref().map(ToString::to_string),
            referrer_id: referral.referrer_id.to_string(),
            related_object_id: referral.voucher_id.to_string(),
            related_object_type: "voucher".to_owned(),
            date: crate::timestamp::text(now_ms),
        });
        Ok(())
    })
}
