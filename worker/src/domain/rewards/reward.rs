//! Rewards (v1) as the API returns them.

use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::ledger::balance_of;
use crate::store::records::RewardRecord;
use scrip::facts::stock_account;
use serde_json::Value as Json;

/// Rewards as a resource.
pub const REWARD: Resource = Resource {
    object: "reward",
    shape: shapes::loyalty::REWARD.described(),
    parameter: "rewardId",
    key: plain_key,
    to_json,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// Returns rewards with the number of their goods that were handed over; other rewards have no such count.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let account = |document: &Document| stock_account(&document.id).to_string();
    let accounts: Vec<String> = documents.iter().map(account).collect();
    let account_balances = call.store.account_balances(&accounts, call.now_ms(), "")?;
    let json = documents.into_iter().map(|document| {
        let taken_units = balance_of(&account_balances, &account(&document))?.balance.unsigned_abs();
        let mut body = document.body;
        let is_material = RewardRecord::of(&body).is_material();
        body.insert("redeemed".into(), if is_material { taken_units.into() } else { Json::Null });
        Ok(Json::Object(body))
    });
    json.collect()
}

/// Returns the error for a missing parameter, in the format of this API area (errors-and-auth, section 3.1).
pub fn missing_parameter(path: &str) -> ErrorBody {
    error(400, "missing_param", "Missing required parameter", format!("Parameter '{path}' is required"))
}
