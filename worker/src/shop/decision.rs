//! What every decision of the service shares: the facts for it, who asks, and the writing of what it changed.
//! It must not know what is decided.

use crate::document::merge;
use crate::http::reply::{CallError, duplicate};
use crate::http::route::Call;
use crate::shop::cards::Present;
use crate::shop::{customers, held_tiers, program_tiers, summary, vouchers, zone};
use crate::store::document::Document;
use crate::store::facts::{ById, FindCardTier, FindTiers, StoreFacts};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::decide::case::stored::customer_key;
use scrip::decide::{OrderCount, Tally};
use scrip::facts::Facts;
use scrip::model::customer::Customer;
use scrip::model::page::Page;
use scrip::model::request::{Channel, Redeemables};
use scrip::wire::record::Record;

/// The facts for a call's decision.
pub fn facts<'a, 's>(call: &'a Call<'_, 's>) -> Result<StoreFacts<'a, 's>, Fault> {
    let at = (call.context.now, zone::of(call)?);
    let find_tiers = move |customer: &str| {
        let tiers = held_tiers::of_customer(call.store, &Present::of(call)?, customer)?;
        let of_campaigns = program_tiers::of_customer(call.store, &Present::of(call)?, customer)?;
        let of_campaigns = of_campaigns.into_iter().map(|tier| tier.id);
        Ok(tiers.into_iter().map(|tier| tier.tier_id).chain(of_campaigns).collect())
    };
    let find_card_tier = move |card: &str| match call.store.document("voucher", card)? {
        Some(card) => program_tiers::of_held(call, &card),
        None => Ok(None),
    };
    let settings = [call.caller.settings.case_sensitive_codes, !is_bare(call)];
    let finders: (FindTiers<'a>, FindCardTier<'a>) = (Box::new(find_tiers), Box::new(find_card_tier));
    Ok(StoreFacts::new((call.store, &call.catalogue), at, settings, finders))
}

/// Who asks, as redemptions show it.
pub fn channel(call: &Call<'_, '_>) -> Channel {
    let page = call.page.clone();
    if is_bare(call) {
        return Channel { page, ..Channel::default() };
    }
    let id = call.caller.channel.as_deref().unwrap_or(&call.caller.key_id);
    Channel { id: id.into(), page, user: call.caller.user.as_deref().map(Into::into) }
}

/// Whether the customer of a call is somebody for more than a name: a server says so, or a page is believed.
pub fn is_believed(call: &Call<'_, '_>) -> bool {
    call.page.as_ref().is_none_or(Page::is_believed)
}

/// Whether a rehearsal has set the seed: it compares the answer with one that was made without the service, byte for byte.
pub fn is_bare(call: &Call<'_, '_>) -> bool {
    cfg!(feature = "rehearsal") && crate::http::intake::header(call.request, "scrip-rehearsal-seed").is_some()
}

/// Writes the records of a decision at the commit; `vouchers` are those that it took something from or gave it back to.
pub fn put(call: &mut Call<'_, '_>, vouchers: Vec<&str>, records: Vec<Record>) {
    vouchers::touch(call, vouchers);
    let now_ms = call.now_ms();
    records.into_iter().for_each(|record| call.store.put_record(record, now_ms));
}

/// Brings a customer up to date at the commit: what the request sent, and the counts. One that is not stored yet is created
/// under the id that the answer shows. Gives the customer as they will be after it.
pub fn write_customer(
    call: &mut Call<'_, '_>,
    seen: &ById,
    sent: Option<&Customer>,
    id: Option<&str>,
    (tally, orders): (&Tally, &[OrderCount]),
) -> Result<Option<Document>, CallError> {
    let Some(id) = id else { return Ok(None) };
    let known = match seen.get(id) {
        Some(document) => Some(document.clone()),
        None => call.store.document("customer", id)?,
    };
    let is_new = known.is_none();
    let mut document = match known {
        Some(document) => document,
        None => {
            let Some(sent) = sent else { return Ok(None) };
            let source_id = sent.source_id.as_deref().map(|name| unsealed(call, name)).transpose()?;
            if let Some(taken) = source_id.as_deref()
                && call.store.document_by_name("customer", taken, "")?.is_some()
            {
                // The request named the customer by an id that nobody has and a source_id that somebody has.
                return Err(duplicate("customer", "id", taken).into());
            }
            let body = customers::template(id, source_id.as_deref(), call.now_ms());
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
        let profile = customers::profile(sent)?;
        let has_metadata = profile.contains_key("metadata");
        merge::merge(&mut document.body, profile);
        if has_metadata {
            customers::check_metadata(call, &document.body)?;
        }
    }
    summary::count(&mut document, tally, orders, call.now_ms())?;
    if is_new {
        call.store.insert("customer", &document);
    } else {
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(Some(document))
}

/// Counts at the commit what became of orders for all whose they are and were but `own`, who is written anyway. What the call has
/// written of them so far is kept; nobody of the id is there any more when they were forgotten.
pub fn count_orders(
    call: &mut Call<'_, '_>,
    seen: &ById,
    own: Option<&str>,
    orders: &[OrderCount],
) -> Result<(), CallError> {
    for order in orders.iter().filter(|order| own != Some(order.customer_id.as_str())) {
        let id = order.customer_id.as_str();
        let known = match seen.get(id) {
            Some(document) => Some(document.clone()),
            None => call.store.document("customer", id)?,
        };
        let Some(mut document) = known else { continue };
        let last = call.store.written().filter(|written| written.kind == "customer" && written.id == id).last();
        if let Some(written) = last {
            document.body = serde_json::from_str(written.text)
                .map_err(|error| Fault(format!("a customer that is written does not parse: {error}")))?;
        }
        summary::count(&mut document, &Tally::default(), std::slice::from_ref(order), call.now_ms())?;
        call.touch(&mut document);
        call.store.update("customer", &document);
    }
    Ok(())
}

/// The stored customer of whom a tracking id was told; nobody where it is one that a visitor was given, or any other text.
pub fn tracked(call: &Call<'_, '_>, tracking_id: &str) -> Result<Option<Document>, CallError> {
    let source_id =
        if Tracker::may_open(tracking_id) { Tracker::stored(call.store)?.source_id(tracking_id)? } else { None };
    match source_id {
        Some(source_id) => Ok(call.store.document_by_name("customer", &source_id, "")?),
        None => Ok(None),
    }
}

/// The `source_id` that a customer is named by, also where the name is a tracking id.
pub fn unsealed(call: &Call<'_, '_>, name: &str) -> Result<String, Fault> {
    let opened = if Tracker::may_open(name) { Tracker::stored(call.store)?.source_id(name)? } else { None };
    Ok(opened.unwrap_or_else(|| name.to_owned()))
}

/// The stored customer that a request names, as a decision about it finds it.
pub fn named(call: &Call<'_, '_>, request: &Redeemables) -> Result<Option<Document>, CallError> {
    let Some(key) = customer_key(request) else { return Ok(None) };
    let facts = facts(call)?;
    // What was found is noted by the facts, as a document.
    let _ = facts.customer(key);
    let found = facts.finish()?;
    Ok(found.into_values().next())
}
