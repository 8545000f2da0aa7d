//! What keeps a request from being redeemed whatever its redeemables are: metadata that a schema forbids, a customer whose
//! profile could not be stored, goods that could not go to the catalogue. A validation asks this as a redemption does, so that
//! neither says yes where the other says no. It must not know how anything is decided, and it writes nothing.

use crate::document::metadata::Schemas;
use crate::document::part;
use crate::document::{fields, merge};
use crate::http::reply::{CallError, error};
use crate::http::route::Call;
use crate::http::shape::{self, Nulls};
use crate::shop::customers::{CUSTOMER, profile};
use crate::shop::{decision, metadata_schemas, overrides};
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::model::request::Redeemables;
use serde_json::{Map, Value as Json};

/// The kind of documents whose schema the metadata of a request is held against.
const REDEMPTION: &str = "redemption";

/// Refuses what could not be redeemed.
pub fn check(call: &mut Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    check_customer(call, request)?;
    check_metadata(call, request)?;
    if let Some(order) = request.order.as_ref().filter(|order| overrides::any(order)) {
        call.rehearse(|call| overrides::persist(call, &mut order.clone(), "order."))?;
    }
    Ok(())
}

/// Refuses a customer whose profile could not be stored, and one whom a tracking id contradicts. Of whom a page only names it is the
/// names.
pub fn check_customer(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    check_tracking(call, request)?;
    match (stored_of(call, request), &request.customer) {
        (Some(customer), _) => profile(customer).map(drop),
        (None, Some(named)) => check_names(named),
        (None, None) => Ok(()),
    }
}

/// A tracking id that was told of one customer names nobody else (interface.md, `POST /client/v1/redeem`; objects.md section 15). A
/// visitor who becomes a customer is no contradiction: nobody is stored under what they were tracked by.
fn check_tracking(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    let (Some(tracking_id), Some(named)) = (request.tracking_id.as_deref(), &request.customer) else { return Ok(()) };
    let Some(told) = named.id.as_deref().or(named.source_id.as_deref()) else { return Ok(()) };
    let Some(tracked) = decision::tracked(call, tracking_id)? else { return Ok(()) };
    // As wherever somebody is named, what is sent as the id may be the `source_id`.
    if *told == tracked.id || Some(decision::unsealed(call, told)?) == tracked.key {
        return Ok(());
    }
    let message = format!("Ambiguous trackingId ('{tracking_id}' vs. '{told}')");
    let details = "The customer cannot be identified as two different identifiers have been used between requests from same origin.";
    Err(error(400, "ambiguous_tracking_id", &message, details).into())
}

fn check_names(named: &Customer) -> Result<(), CallError> {
    let mut names = Map::new();
    for (name, value) in [("id", &named.id), ("source_id", &named.source_id)] {
        names.extend(value.as_ref().map(|value| (name.to_owned(), value.as_str().into())));
    }
    let read = shape::read(fields::CUSTOMER, names, Nulls::Kept);
    Ok(read.map(drop).map_err(|problem| problem.within("customer"))?)
}

/// The customer of a request of whom something is going to be stored.
fn stored_of<'r>(call: &Call<'_, '_>, request: &'r Redeemables) -> Option<&'r Customer> {
    request.customer.as_ref().filter(|_| decision::is_believed(call))
}

/// Holds all metadata of a request against the project's schemas, which are read at once. What is not sent is not asked for,
/// but the metadata of the redemption itself.
fn check_metadata(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    let of_redemption = Json::Object(request.metadata.to_fields());
    let of_order = request.order.as_ref().map(of_order).unwrap_or_default();
    let sent = stored_of(call, request).filter(|customer| !customer.metadata.is_empty());
    let mut names = vec![REDEMPTION];
    names.extend(of_order.iter().map(|(name, _)| *name));
    names.extend(sent.map(|_| CUSTOMER.object));
    let schemas = metadata_schemas::load(call.store, &names)?;
    if schemas.is_empty() {
        return Ok(());
    }
    let mut written = vec![(REDEMPTION, Some(&of_redemption))];
    written.extend(of_order.iter().map(|(name, value)| (*name, Some(value))));
    let of_customer = sent.map(|sent| customer_metadata(call, &schemas, request, sent)).transpose()?;
    written.extend(of_customer.as_ref().map(|value| (CUSTOMER.object, Some(value))));
    metadata_schemas::hold(&schemas, &written)
}

fn of_order(order: &Order) -> Vec<(&'static str, Json)> {
    let own = (!order.metadata.is_empty()).then(|| ("order", Json::Object(order.metadata.to_fields())));
    let any = order.items.iter().any(|item| !item.metadata.is_empty());
    let items = order.items.iter().filter(|_| any);
    own.into_iter().chain(items.map(|item| ("order_item", Json::Object(item.metadata.to_fields())))).collect()
}

/// The metadata that the customer would have: what is sent over what is stored. Only a project with a schema for it looks.
fn customer_metadata(
    call: &Call<'_, '_>,
    schemas: &Schemas,
    request: &Redeemables,
    sent: &Customer,
) -> Result<Json, CallError> {
    let mut merged = Map::new();
    if schemas.contains_key(CUSTOMER.object)
        && let Some(stored) = decision::named(call, request)?
    {
        merged = stored.body;
    }
    merge::merge(&mut merged, part::one("metadata", Json::Object(sent.metadata.to_fields())));
    Ok(merged.remove("metadata").unwrap_or(Json::Null))
}
