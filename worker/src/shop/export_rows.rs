//! Documents as the rows of an export: what is shown of each, with who and what it is about. It must not know which columns are wanted.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::purses::{CARD, GIFT};
use crate::shop::{customers as people, point_buckets, voucher_transactions, vouchers as codes};
use crate::store::document::Document;
use serde_json::{Map, Value as Json, json};
use std::collections::HashMap;

/// A row; some say their own place in the order.
pub struct Row {
    /// What is told.
    pub told: Json,
    /// Its place, where that is not the document's.
    pub place: Option<String>,
}

impl Row {
    fn of(told: Json) -> Vec<Row> {
        vec![Row { told, place: None }]
    }
}

/// How documents become rows: for each of them as many as it has.
pub type Rows = fn(&mut Call<'_, '_>, Vec<Document>) -> Result<Vec<Vec<Row>>, CallError>;

/// What is stored, as it is.
pub fn bodies(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    Ok(documents.into_iter().map(|document| Row::of(Json::Object(document.body))).collect())
}

/// Customers, with what they have.
pub fn customers(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    Ok(people::show(call, documents)?.into_iter().map(Row::of).collect())
}

/// Who documents are about, by the ids of those who hold them: their names.
fn holders(call: &Call<'_, '_>, documents: &[Document]) -> Result<HashMap<String, Json>, CallError> {
    let ids: Vec<&str> = documents.iter().filter_map(|document| document.holder.as_deref()).collect();
    let found = call.store.documents_by_names("customer", &[], &ids)?;
    let names = |customer: Document| {
        let told = json!({ "id": customer.id, "source_id": customer.key, "name": customer.body.get("name") });
        (customer.id, told)
    };
    Ok(found.into_iter().map(names).collect())
}

fn with_holder(mut told: Json, holder: Option<&Json>) -> Json {
    if let Some(told) = told.as_object_mut() {
        told.insert("who".into(), holder.cloned().unwrap_or_default());
    }
    told
}

/// Vouchers as they stand, with who holds them and their validation rules.
pub fn vouchers(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    let known = holders(call, &documents)?;
    let held: Vec<Option<String>> = documents.iter().map(|document| document.holder.clone()).collect();
    let shown = codes::show(call, documents)?.into_iter().zip(held);
    let rows = shown.map(|(told, holder)| {
        let mut told = with_holder(told, holder.and_then(|holder| known.get(&holder).cloned()).as_ref());
        let assigned = told.pointer("/validation_rules_assignments/data").and_then(Json::as_array);
        let rules: Vec<&str> =
            assigned.into_iter().flatten().filter_map(|one| one.get("rule_id").and_then(Json::as_str)).collect();
        let rules = Some(rules.join(",")).filter(|rules| !rules.is_empty());
        // An effect of units is told under a name of its own.
        let units = told.pointer("/discount/unit_type").filter(|unit| !unit.is_null());
        let effect = units.and_then(|_| told.pointer("/discount/effect")).cloned().unwrap_or_default();
        if let Some(told) = told.as_object_mut() {
            told.insert("rules".into(), rules.into());
            told.insert("unit_effect".into(), effect);
        }
        Row::of(told)
    });
    Ok(rows.collect())
}

/// Redemptions and rollbacks, with whoever redeemed, and the name of a promotion tier's campaign.
pub fn redemptions(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    let known = holders(call, &documents)?;
    let campaign = |document: &Document| {
        let is_tier = document.body.contains_key("promotion_tier");
        document.body.get("related_object_parent_id").filter(|_| is_tier)?.as_str().map(str::to_owned)
    };
    let ids: Vec<String> = documents.iter().filter_map(campaign).collect();
    let names = campaign_names(call, ids.iter().map(String::as_str))?;
    let rows = documents.into_iter().map(|document| {
        let name = campaign(&document).and_then(|id| names.get(&id).cloned());
        let Document { mut body, holder, .. } = document;
        name.map(|name| body.insert("campaign_name".into(), name));
        Row::of(with_holder(Json::Object(body), holder.as_ref().and_then(|holder| known.get(holder))))
    });
    Ok(rows.collect())
}

/// The names of campaigns, by id.
fn campaign_names<'i>(
    call: &Call<'_, '_>,
    ids: impl Iterator<Item = &'i str>,
) -> Result<HashMap<String, Json>, CallError> {
    let ids: Vec<&str> = ids.collect();
    let campaigns = call.store.documents_by_names("campaign", &[], &ids)?;
    let named = |campaign: Document| (campaign.id, campaign.body.get("name").cloned().unwrap_or_default());
    Ok(campaigns.into_iter().map(named).collect())
}

/// Publications, with whom they went to and the name of the campaign.
pub fn publications(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    let known = holders(call, &documents)?;
    let names = campaign_names(call, documents.iter().filter_map(|document| document.parent.as_deref()))?;
    let rows = documents.into_iter().map(|document| {
        let Document { mut body, holder, parent, .. } = document;
        let name = parent.and_then(|parent| names.get(&parent).cloned()).unwrap_or_default();
        body.insert("campaign_name".into(), name);
        Row::of(with_holder(Json::Object(body), holder.as_ref().and_then(|holder| known.get(holder))))
    });
    Ok(rows.collect())
}

/// What moved the balance of a card; of a code that has none nothing is told.
pub fn transactions(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    let parents: Vec<&str> = documents.iter().filter_map(|document| document.parent.as_deref()).collect();
    let found = call.store.documents_by_names("voucher", &[], &parents)?;
    let has = |body: &Map<String, Json>, block: &str| body.get(block).is_some_and(Json::is_object);
    let cards: HashMap<String, Document> = found
        .into_iter()
        .filter(|card| has(&card.body, GIFT.block) || has(&card.body, CARD.block))
        .map(|card| (card.id.clone(), card))
        .collect();
    let rows = documents.into_iter().map(|document| {
        let Some(card) = document.parent.as_ref().and_then(|parent| cards.get(parent)) else { return Vec::new() };
        let purse = if has(&card.body, GIFT.block) { &GIFT } else { &CARD };
        let mut told = voucher_transactions::show((purse, card.parent.as_deref()), document);
        if let Some(told) = told.as_object_mut() {
            // Only what was done is told.
            told.insert("status".into(), "SUCCESS".into());
        }
        Row::of(told)
    });
    Ok(rows.collect())
}

/// The points of cards by when they lapse; those that never do come last.
pub fn buckets(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Vec<Row>>, CallError> {
    let of = |card: &Document| {
        let told = point_buckets::buckets(call, card)?.into_iter().map(|told| {
            let day = told.get("expires_at").and_then(Json::as_str).unwrap_or("never");
            Row { place: Some(day.to_owned()), told }
        });
        Ok(told.collect())
    };
    documents.iter().map(of).collect()
}
