//! The member `loyalty` of a customer.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Points that a customer earned, and number of customers that were referred by the customer's codes. Remaining points are read from the cards.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CustomerLoyalty {
    /// Points earned in all campaigns.
    pub points: i64,
    /// Number of referred customers.
    pub referred_customers: i64,
    /// Points and referred customers by the names of the campaigns.
    pub campaigns: BTreeMap<String, CampaignLoyalty>,
}

/// Points earned and customers referred in one campaign.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CampaignLoyalty {
    /// Points earned.
    pub points: i64,
    /// Number of referred customers.
    pub referred_customers: i64,
}

impl CustomerLoyalty {
    /// Returns the member of a customer who earned nothing yet.
    pub fn empty() -> Json {
        serde_json::to_value(CustomerLoyalty::default()).unwrap_or(Json::Null)
    }
}
