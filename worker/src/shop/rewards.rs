//! Rewards as they are shown. It must not know what one costs.

use crate::document::resource::plain_key;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, error};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use scrip::facts::stock_account;
use serde_json::Value as Json;

/// Rewards as a resource.
pub const REWARD: Resource = Resource {
    object: "reward",
    shape: shapes::loyalty::REWARD.described(),
    parameter: "rewardId",
    key: plain_key,
    show,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// Rewards with how many of their goods are gone; of the others nothing is counted.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let account = |document: &Document| stock_account(&document.id).to_string();
    let named: Vec<String> = documents.iter().map(account).collect();
    let standings = call.store.standings(&named, call.now_ms(), "")?;
    let shown = documents.into_iter().map(|document| {
        let gone = standings.get(&account(&document)).map_or(0, |standing| standing.balance.unsigned_abs());
        let mut body = document.body;
        let is_material = body.get("type").and_then(Json::as_str) == Some("MATERIAL");
        body.insert("redeemed".into(), if is_material { gone.into() } else { Json::Null });
        Json::Object(body)
    });
    Ok(shown.collect())
}

/// A parameter that is not there, in the words of this area (errors-and-auth, section 3.1).
pub fn missing(path: &str) -> ErrorBody {
    error(400, "missing_param", "Missing required parameter", format!("Parameter '{path}' is required"))
}
