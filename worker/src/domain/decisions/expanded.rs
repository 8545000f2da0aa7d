//! Members that a redemption contains of its voucher or tier in addition to the document: images, categories, rules and counts.

use crate::domain::categories::CATEGORY;
use crate::domain::promotions::tiers;
use crate::domain::promotions::tiers::TIER;
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::image_urls::ImageUrls;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::facts::VoucherDetails;
use crate::store::sql::Fault;
use scrip::ledger::Entry;
use scrip::wire::voucher::publish_json;
use serde_json::Value as Json;

/// Serialized members by name.
type SerializedMembers = Vec<(&'static str, String)>;

/// Serializes images, categories, publications and rules of a voucher in its state after the redemption.
pub fn expand_voucher(
    call: &Call<'_, '_>,
    voucher: &Document,
    stored: VoucherDetails,
) -> Result<SerializedMembers, CallError> {
    let record = voucher.as_voucher();
    let code = record.code().unwrap_or_default();
    let published = stored.publications.min(0).unsigned_abs();
    let category = record.category_id().or(stored.category_id.as_deref());
    let category = category.map(|id| call.store.document(CATEGORY.object, id)).transpose()?.flatten();
    let categories: Vec<Json> = category.into_iter().map(|category| Json::Object(category.body)).collect();
    let rule_assignments: Vec<Json> =
        serde_json::from_str(&stored.rule_assignments).map_err(|error| Fault(error.to_string()))?;
    Ok(vec![
        ("assets", ImageUrls::of(call)?.to_json(voucher)?.to_string()),
        ("categories", Json::from(categories).to_string()),
        ("publish", publish_json(code, published).to_string()),
        ("validation_rules_assignments", assignments::list_json(rule_assignments).to_string()),
    ])
}

/// Serializes campaign, categories, counts and rules of a tier, in the state after the transfers of the request.
pub fn expand_tier(call: &mut Call<'_, '_>, id: &str, entries: &[Entry]) -> Result<SerializedMembers, CallError> {
    let Some(document) = call.store.document(TIER.object, id)? else { return Ok(Vec::new()) };
    let json = tiers::to_json_after(call, vec![document], entries)?.pop().unwrap_or_default();
    let names = ["campaign", "categories", "summary", "validation_rule_assignments"];
    Ok(names.into_iter().filter_map(|name| Some((name, json.get(name)?.to_string()))).collect())
}
