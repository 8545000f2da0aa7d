//! Tiers of promotions as they are shown. It must not know how a tier is decided.

use crate::document::part;
use crate::document::resource::plain_key;
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, Resource};
use crate::shop::{assignments, categories};
use crate::store::document::Document;
use crate::store::ledger::taken;
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
    show,
    list: List {
        data_ref: "tiers",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[],
    },
};

/// The accounts that say what came of a tier: redemptions, the value of their orders, what it took off.
pub fn accounts(tier_id: &str) -> [String; 3] {
    [tier_account(tier_id), orders_account(Some(tier_id)), discounted_account(Some(tier_id))]
        .map(|account| account.to_string())
}

/// Tiers with their campaigns, their rules and what the ledger says, each looked up once for all.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    show_moved(call, documents, &[])
}

/// The same after what a request moves.
pub fn show_moved(call: &mut Call<'_, '_>, documents: Vec<Document>, moved: &[Entry]) -> Result<Vec<Json>, CallError> {
    let named: Vec<String> = documents.iter().flat_map(|document| accounts(&document.id)).collect();
    let standings = call.store.standings(&named, call.now_ms(), "")?;
    let mut assigned = assignments::assigned(call, &documents)?;
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let campaigns: BTreeMap<String, Json> = call
        .store
        .documents_by_names("campaign", &[], &parents)?
        .into_iter()
        .map(|campaign| (campaign.id.clone(), brief(&campaign)))
        .collect();
    let categories = categories::Shown::of(call, &documents)?;
    let counted = |account: &String| {
        let before = standings.get(account).map_or(0, |standing| standing.balance);
        before.saturating_sub(taken(moved, account)).unsigned_abs()
    };
    let shown = documents.into_iter().map(|document| {
        let campaign = document.parent.as_ref().and_then(|id| campaigns.get(id)).cloned().unwrap_or(Json::Null);
        let counts = accounts(&document.id).each_ref().map(counted);
        let rules = assigned.remove(&document.id).unwrap_or_default();
        whole(document, campaign, counts, rules, &categories)
    });
    Ok(shown.collect())
}

/// A tier with its campaign, what came of it, and its rules.
pub fn whole(
    document: Document,
    campaign: Json,
    counts: [u64; 3],
    rules: Vec<Json>,
    categories: &categories::Shown,
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
    body.insert("validation_rule_assignments".into(), assignments::listed(rules));
    Json::Object(body)
}

/// A campaign as its tiers show it.
pub fn brief(campaign: &Document) -> Json {
    let names = [
        "id",
        "start_date",
        "expiration_date",
        "validity_timeframe",
        "validity_day_of_week",
        "validity_hours",
        "active",
        "category_id",
        "object",
    ];
    Json::Object(part::every(&campaign.body, &names))
}

/// The tiers of a campaign, first the first.
pub fn of_campaign(call: &Call<'_, '_>, campaign_id: &str) -> Result<Vec<Document>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'promotion_tier' AND parent = +?1 ORDER BY json_extract(body, '$.hierarchy'), seq",
        &[campaign_id.into()],
    )?;
    Ok(found)
}

/// Tiers in the list that a campaign shows and that its own route answers.
pub fn listed(call: &mut Call<'_, '_>, tiers: Vec<Document>) -> Result<Json, CallError> {
    Ok(envelope(show(call, tiers)?))
}

/// All the tiers of a campaign, as they are shown, in their list.
pub fn envelope(shown: Vec<Json>) -> Json {
    let total = i64::try_from(shown.len()).unwrap_or(i64::MAX);
    let mut envelope = TIER.list.envelope(shown, total);
    envelope.insert("has_more".into(), false.into());
    Json::Object(envelope)
}
