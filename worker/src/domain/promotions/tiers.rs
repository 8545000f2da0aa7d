//! Promotion tiers as the API returns them.

use crate::documents::json_members;
use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::domain::categories;
use crate::domain::validation_rules::assignments;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::store::amount::CheckedAmount;
use crate::store::document::Document;
use crate::store::documents::campaigns;
use crate::store::ledger::{balance_of, net_debit};
use crate::store::sql::Fault;
use scrip::count;
use scrip::facts::{discounted_account, orders_account, tier_account};
use scrip::ledger::Entry;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Tiers as a resource.
pub const TIER: Resource = Resource {
    object: "promotion_tier",
    shape: shapes::promotions::TIER.described(),
    parameter: "promotionTierId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "tiers",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[],
    },
};

/// Returns the accounts of a tier: its redemptions, the amounts of their orders, and its discounts.
pub fn accounts(tier_id: &str) -> [String; 3] {
    [tier_account(tier_id), orders_account(Some(tier_id)), discounted_account(Some(tier_id))]
        .map(|account| account.to_string())
}

/// Returns tiers with their campaigns, rules and ledger counts, loaded once for all.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    to_json_after(call, documents, &[])
}

/// Returns tiers in their state after the transfers of a request.
pub fn to_json_after(
    call: &mut Call<'_, '_>,
    documents: Vec<Document>,
    entries: &[Entry],
) -> Result<Vec<Json>, CallError> {
    let account_names: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    let account_balances = call.store.account_balances(&account_names, call.now_ms(), "")?;
    let mut assigned = assignments::load_json(call, &documents)?;
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let campaigns: BTreeMap<String, Json> = call
        .store
        .documents_by_names("campaign", &[], &parents)?
        .into_iter()
        .map(|campaign| (campaign.id.clone(), campaign_json(&campaign)))
        .collect();
    let categories = categories::CategoryLookup::of(call, &documents)?;
    let count_after = |account: &String| {
        let before = balance_of(&account_balances, account)?.balance;
        Ok::<u64, Fault>(before.minus(net_debit(entries, account)?)?.unsigned_abs())
    };
    let json = documents.into_iter().map(|document| {
        let campaign = document.parent.as_ref().and_then(|id| campaigns.get(id)).cloned().unwrap_or(Json::Null);
        let [redeemed, orders, discounted] = accounts(&document.id).each_ref().map(count_after);
        let counts = [redeemed?, orders?, discounted?];
        let rules = assigned.remove(&document.id).unwrap_or_default();
        Ok(full_json(document, campaign, counts, rules, &categories))
    });
    json.collect()
}

/// Returns a tier with its campaign, counts and rules.
pub fn full_json(
    document: Document,
    campaign: Json,
    counts: [u64; 3],
    rules: Vec<Json>,
    categories: &categories::CategoryLookup,
) -> Json {
    let listed = categories.list(&document);
    let mut body = document.body;
    let [redeemed, ordered, discounted] = counts;
    let summary = json!({
        "redemptions": { "total_redeemed": redeemed },
        "orders": { "total_amount": ordered, "total_discount_amount": discounted },
    });
    body.insert("campaign".into(), campaign);
    body.insert("summary".into(), summary);
    body.insert("categories".into(), listed);
    body.insert("validation_rule_assignments".into(), assignments::list_json(rules));
    Json::Object(body)
}

/// Returns a campaign as its tiers contain it.
pub fn campaign_json(campaign: &Document) -> Json {
    let names = [
        "id",
        "start_date",
        "expiration_date",
        "validity_timeframe",
        "validity_day_of_week",
        "validity_hours",
        "active",
        "category_id",
    ];
    let mut json = json_members::pick(&campaign.body, &names);
    json.insert("object".into(), "campaign".into());
    Json::Object(json)
}

/// Returns the tiers of a campaign by hierarchy.
pub fn list_of_campaign(call: &Call<'_, '_>, campaign_id: &str) -> Result<Vec<Document>, CallError> {
    Ok(campaigns::list_tiers(call.store, campaign_id)?)
}

/// Returns tiers as the list that campaigns contain.
pub fn list_json(call: &mut Call<'_, '_>, tiers: Vec<Document>) -> Result<Json, CallError> {
    Ok(envelope(to_json(call, tiers)?))
}

/// Wraps all tiers of a campaign in their list.
pub fn envelope(json: Vec<Json>) -> Json {
    let total = count::length(&json);
    let mut envelope = TIER.list.envelope(json, total);
    envelope.insert("has_more".into(), false.into());
    Json::Object(envelope)
}
