//! Who passed codes on and who redeemed them, as customers remember it. It must not know what was decided.
//!
//! objects.md section 4.

use crate::shop::summary::change;
use crate::store::sql::Fault;
use scrip::decide::Referral;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// What the codes of one who passes them on led to, and the points that were earned; what is left of those the cards have.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Loyalty {
    points: i64,
    referred_customers: i64,
    /// By the names of the campaigns.
    campaigns: BTreeMap<String, Program>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Program {
    points: i64,
    referred_customers: i64,
}

/// The codes of others that a customer redeemed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Referrals {
    total: i64,
    campaigns: Vec<Referred>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Referred {
    campaign_id: Option<String>,
    referrer_id: String,
    related_object_id: String,
    related_object_type: String,
    date: String,
}

/// Of somebody whose codes nobody redeemed.
pub fn empty_loyalty() -> Json {
    serde_json::to_value(Loyalty::default()).unwrap_or(Json::Null)
}

/// Of somebody who redeemed nobody's code.
pub fn empty() -> Json {
    serde_json::to_value(Referrals::default()).unwrap_or(Json::Null)
}

/// Counts, in the stored customer who passed codes on, those who redeemed them.
pub fn count<'r>(referrer: &mut Map<String, Json>, referrals: impl Iterator<Item = &'r Referral>) -> Result<(), Fault> {
    change(referrer, "loyalty", |loyalty: &mut Loyalty| {
        for referral in referrals {
            loyalty.referred_customers = loyalty.referred_customers.saturating_add(1);
            if let Some(name) = &referral.campaign_name {
                let program = loyalty.campaigns.entry(name.to_string()).or_default();
                program.referred_customers = program.referred_customers.saturating_add(1);
            }
        }
    })
}

/// Counts, in a stored customer, points that they earned in a campaign.
pub fn earn(customer: &mut Map<String, Json>, campaign: &str, points: i64) -> Result<(), Fault> {
    change(customer, "loyalty", |loyalty: &mut Loyalty| {
        loyalty.points = loyalty.points.saturating_add(points);
        let program = loyalty.campaigns.entry(campaign.to_owned()).or_default();
        program.points = program.points.saturating_add(points);
    })
}

/// Writes into a stored customer a code that somebody passed on to them.
pub fn remember(customer: &mut Map<String, Json>, referral: &Referral, now_ms: i64) -> Result<(), Fault> {
    change(customer, "referrals", |known: &mut Referrals| {
        known.total = known.total.saturating_add(1);
        known.campaigns.push(Referred {
            campaign_id: referral.campaign_id.as_ref().map(ToString::to_string),
            referrer_id: referral.referrer_id.to_string(),
            related_object_id: referral.voucher_id.to_string(),
            related_object_type: "voucher".to_owned(),
            date: crate::moment::text(now_ms),
        });
    })
}
