//! Converts documents to the rows of an export.

use crate::domain::balances::{expiring, kinds, transactions};
use crate::domain::customers::customer;
use crate::domain::vouchers::voucher;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::records::{AssignmentRecord, VoucherRecord};
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// Row of an export; some rows set their own position in the order.
pub struct ExportRow {
    /// Members of the row.
    pub members: Json,
    /// Position in the order; `None` for the position of the document.
    pub position: Option<String>,
}

impl ExportRow {
    fn of(details: Json) -> Vec<ExportRow> {
        vec![ExportRow { members: details, position: None }]
    }
}

/// Converts documents to rows: any number of rows for each document.
pub type Rows = fn(&mut Call<'_, '_>, Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError>;

/// Returns stored documents unchanged.
pub fn bodies(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    Ok(documents.into_iter().map(|document| ExportRow::of(Json::Object(document.body))).collect())
}

/// Returns customers with their balances.
pub fn customers(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    Ok(customer::to_json(call, documents)?.into_iter().map(ExportRow::of).collect())
}

/// Returns the names of the holders of documents, by id.
fn find_holders(call: &Call<'_, '_>, documents: &[Document]) -> Result<HashMap<String, Json>, CallError> {
    let ids: Vec<&str> = documents.iter().filter_map(|document| document.holder.as_deref()).collect();
    let found = call.store.documents_by_names("customer", &[], &ids)?;
    let names = |customer: Document| {
        let details = json!({ "id": customer.id, "source_id": customer.key, "name": customer.as_customer().name() });
        (customer.id, details)
    };
    Ok(found.into_iter().map(names).collect())
}

fn with_holder(mut details: Json, holder: Option<&Json>) -> Json {
    if let Some(details) = details.as_object_mut() {
        details.insert("who".into(), holder.cloned().unwrap_or_default());
    }
    details
}

/// Returns vouchers with their balances, holders and validation rules.
pub fn vouchers(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    let holders = find_holders(call, &documents)?;
    let holder_ids: Vec<Option<String>> = documents.iter().map(|document| document.holder.clone()).collect();
    let vouchers = voucher::to_json(call, documents)?.into_iter().zip(holder_ids);
    let rows = vouchers.map(|(details, holder)| {
        let mut details = with_holder(details, holder.and_then(|holder| holders.get(&holder).cloned()).as_ref());
        let voucher = VoucherRecord::of_value(&details);
        let rules: Vec<&str> = voucher
            .rule_assignments()
            .iter()
            .filter_map(|one| AssignmentRecord::of_value(one).rule_id()?.as_str())
            .collect();
        let rules = Some(rules.join(",")).filter(|rules| !rules.is_empty());
        // The effect of a unit discount has a column of its own.
        let discount = voucher.discount();
        let effect = discount.unit_type().and_then(|_| discount.effect()).cloned().unwrap_or_default();
        if let Some(details) = details.as_object_mut() {
            details.insert("rules".into(), rules.into());
            details.insert("unit_effect".into(), effect);
        }
        ExportRow::of(details)
    });
    Ok(rows.collect())
}

/// Returns redemptions and rollbacks with their customers, and the campaign names of promotion tiers.
pub fn redemptions(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    let holders = find_holders(call, &documents)?;
    let campaign = |document: &Document| document.as_redemption().tier_campaign_id().map(str::to_owned);
    let ids: Vec<String> = documents.iter().filter_map(campaign).collect();
    let names = find_campaign_names(call, ids.iter().map(String::as_str))?;
    let rows = documents.into_iter().map(|document| {
        let name = campaign(&document).and_then(|id| names.get(&id).cloned());
        let Document { mut body, holder, .. } = document;
        name.map(|name| body.insert("campaign_name".into(), name));
        ExportRow::of(with_holder(Json::Object(body), holder.as_ref().and_then(|holder| holders.get(holder))))
    });
    Ok(rows.collect())
}

/// Returns the names of campaigns, by id.
fn find_campaign_names<'i>(
    call: &Call<'_, '_>,
    ids: impl Iterator<Item = &'i str>,
) -> Result<HashMap<String, Json>, CallError> {
    let ids: Vec<&str> = ids.collect();
    let campaigns = call.store.documents_by_names("campaign", &[], &ids)?;
    let named = |campaign: Document| {
        let name = Json::from(campaign.as_campaign().name());
        (campaign.id, name)
    };
    Ok(campaigns.into_iter().map(named).collect())
}

/// Returns publications with their customers and campaign names.
pub fn publications(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    let holders = find_holders(call, &documents)?;
    let names = find_campaign_names(call, documents.iter().filter_map(|document| document.parent.as_deref()))?;
    let rows = documents.into_iter().map(|document| {
        let Document { mut body, holder, parent, .. } = document;
        let name = parent.and_then(|parent| names.get(&parent).cloned()).unwrap_or_default();
        body.insert("campaign_name".into(), name);
        ExportRow::of(with_holder(Json::Object(body), holder.as_ref().and_then(|holder| holders.get(holder))))
    });
    Ok(rows.collect())
}

/// Returns transactions of cards; a voucher without a balance has none.
pub fn transactions(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let found = call.store.documents_by_names("voucher", &[], &parents)?;
    let cards: HashMap<String, Document> = found.into_iter().map(|card| (card.id.clone(), card)).collect();
    let rows = documents.into_iter().map(|document| {
        let Some(card) = document.parent.as_ref().and_then(|parent| cards.get(parent)) else { return Ok(Vec::new()) };
        let Some(balance_kind) = kinds::of_card(card) else { return Ok(Vec::new()) };
        let mut details = transactions::to_json(balance_kind, card.parent.as_deref(), document)?;
        if let Some(details) = details.as_object_mut() {
            // Only completed changes are recorded.
            details.insert("status".into(), "SUCCESS".into());
        }
        Ok(ExportRow::of(details))
    });
    rows.collect()
}

/// Returns the buckets of cards by expiration; points that never expire come last.
pub fn buckets(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<ExportRow>>, CallError> {
    let of = |card: &Document| {
        let details = expiring::list_buckets(call, card)?.into_iter().map(|details| {
            let day = details.get("expires_at").and_then(Json::as_str).unwrap_or("never");
            ExportRow { position: Some(day.to_owned()), members: details }
        });
        Ok(details.collect())
    };
    documents.iter().map(of).collect()
}
