//! Facts of a decision, its customer, and the writes of its records.

use crate::documents::merge;
use crate::domain::balances::kinds;
use crate::domain::caller;
use crate::domain::clock;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, summary};
use crate::domain::loyalty_campaigns::tiers;
use crate::domain::loyalty_members::current_tiers;
use crate::domain::vouchers::voucher;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::facts::{DecisionSettings, DocumentsById, FactFinders, StoreFacts};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::decide::case::stored::{customer_email, customer_key};
use scrip::decide::{OrderCount, SummaryDelta};
use scrip::facts::{Facts, Known};
use scrip::model::customer::Customer;
use scrip::model::request::Redeemables;
use scrip::wire::redemptions::record::Record;
use serde_json::Value as Json;

/// Returns the facts for the decision of a call.
pub fn facts<'a, 's>(call: &'a Call<'_, 's>) -> Result<StoreFacts<'a, 's>, Fault> {
    let zone = clock::zone(call)?;
    let find_tiers = move |customer: &str| {
        let tiers = current_tiers::list_of_customer(call.store, &LocalTime::of(call)?, customer)?;
        let of_campaigns = tiers::list_tiers_of_customer(call.store, &LocalTime::of(call)?, customer)?;
        let of_campaigns = of_campaigns.into_iter().map(|tier| tier.id);
        Ok(tiers.into_iter().map(|tier| tier.tier_id).chain(of_campaigns).collect())
    };
    let find_card_tier = move |card: &str| match call.store.document("voucher", card)? {
        Some(card) => tiers::find_tier_of_card(call, &card),
        None => Ok(None),
    };
    let find_balances = move |customer: &str| {
        let Some(mut customer) = call.store.document("customer", customer)? else { return Ok(None) };
        kinds::find_current_balances(call, &customer.id)?.complete(&mut customer.body);
        customer.body.retain(|name, _| matches!(name.as_str(), "loyalty" | "summary"));
        Ok(Some(Json::Object(customer.body)))
    };
    let settings = DecisionSettings {
        now: call.context.now,
        zone,
        case_sensitive: call.caller.settings.case_sensitive_codes,
        tracked: !caller::is_engine_comparison(call),
    };
    let finders = FactFinders {
        find_tiers: Box::new(find_tiers),
        find_card_tier: Box::new(find_card_tier),
        find_balances: Box::new(find_balances),
    };
    Ok(StoreFacts::new(call.store, &call.catalogue, settings, finders))
}

/// Queues the writes of the records of a decision; `vouchers` are the ids of the vouchers whose balance or quantity it changed.
pub fn write_records(call: &mut Call<'_, '_>, vouchers: Vec<&str>, records: Vec<Record>) {
    voucher::mark_updated(call, vouchers);
    let now_ms = call.now_ms();
    records.into_iter().for_each(|record| call.store.upsert_record(record, now_ms));
}

/// Queues the update of a customer with the sent profile and the counts. A customer that is not stored yet is created under
/// the id that the answer contains. Returns the document with the queued writes applied.
pub fn write_customer(
    call: &mut Call<'_, '_>,
    read_documents: &DocumentsById,
    sent: Option<&Customer>,
    id: Option<&str>,
    summary_delta: &SummaryDelta,
    orders: &[OrderCount],
) -> Result<Option<Document>, CallError> {
    let Some(id) = id else { return Ok(None) };
    let known = match read_documents.get(id) {
        Some(document) => Some(document.clone()),
        None => call.store.document("customer", id)?,
    };
    let is_new = known.is_none();
    let mut document = match known {
        Some(document) => document,
        None => {
            let Some(sent) = sent else { return Ok(None) };
            let source_id = sent.source_id.as_deref().map(|name| unseal_name(call, name)).transpose()?;
            if let Some(source_id) = source_id.as_deref()
                && call.store.document_by_name("customer", source_id, "")?.is_some()
            {
                // The request named the customer by an unused id and by the source_id of another customer.
                return Err(duplicate("customer", "id", source_id).into());
            }
            let body = customer::empty_body(id, source_id.as_deref(), call.now_ms());
            Document {
                id: id.to_owned(),
                key: source_id,
                parent: None,
                holder: None,
                created_at: call.now_ms(),
                updated_at: None,
                body,
            }
        }
    };
    if let Some(sent) = sent {
        let mut profile = customer::read_profile(sent)?;
        customer::retain_writable_fields(call, &mut profile);
        customer::remove_address_of_another(call, Some(&document.id), &mut profile)?;
        let has_metadata = profile.contains_key("metadata");
        merge::merge(&mut document.body, profile);
        if has_metadata {
            customer::check_metadata(call, &document.body)?;
        }
    }
    summary::add_counts(&mut document, summary_delta, orders, call.now_ms())?;
    if is_new {
        call.store.insert("customer", &document);
    } else {
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(Some(document))
}

/// Queues the order counts of all former and current customers of the orders, except `own`, which is written anyway. Earlier
/// writes of the call stay. Erased customers are skipped.
pub fn count_orders(
    call: &mut Call<'_, '_>,
    read_documents: &DocumentsById,
    own: Option<&str>,
    orders: &[OrderCount],
) -> Result<(), CallError> {
    for order in orders.iter().filter(|order| own != Some(order.customer_id.as_str())) {
        let id = order.customer_id.as_str();
        let known = match read_documents.get(id) {
            Some(document) => Some(document.clone()),
            None => call.store.document("customer", id)?,
        };
        let Some(mut document) = known else { continue };
        let last =
            call.store.queued_documents().filter(|written| written.kind == "customer" && written.id == id).last();
        if let Some(written) = last {
            document.body = serde_json::from_str(written.text)
                .map_err(|error| Fault(format!("a customer that is written does not parse: {error}")))?;
        }
        summary::add_counts(&mut document, &SummaryDelta::default(), std::slice::from_ref(order), call.now_ms())?;
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(())
}

/// Returns the stored customer of a tracking id; `None` for the tracking id of a visitor or any other text.
pub fn find_tracked_customer(call: &Call<'_, '_>, tracking_id: &str) -> Result<Option<Document>, CallError> {
    let source_id =
        if Tracker::may_open(tracking_id) { Tracker::load(call.store)?.source_id(tracking_id)? } else { None };
    match source_id {
        Some(source_id) => Ok(call.store.document_by_name("customer", &source_id, "")?),
        None => Ok(None),
    }
}

/// Returns the `source_id` of a name that may be a tracking id.
pub fn unseal_name(call: &Call<'_, '_>, name: &str) -> Result<String, Fault> {
    let opened = if Tracker::may_open(name) { Tracker::load(call.store)?.source_id(name)? } else { None };
    Ok(opened.unwrap_or_else(|| name.to_owned()))
}

/// Returns the stored customer of a request, found as a decision finds it.
pub fn find_named_customer(call: &Call<'_, '_>, request: &Redeemables) -> Result<Option<Document>, CallError> {
    let (key, email) = (customer_key(request), customer_email(request));
    let facts = facts(call)?;
    // The facts record the customer document that they found.
    let found = key.map_or(Known::Absent, |key| facts.customer(key));
    if let (Known::Absent, Some(email)) = (&found, &email) {
        let _ = facts.customer_by_email(email);
    }
    drop(found);
    let found = facts.finish()?;
    Ok(found.into_values().next())
}
