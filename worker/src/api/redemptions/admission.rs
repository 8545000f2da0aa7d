//! Checks that refuse a request independent of its redeemables: metadata that a schema forbids, a customer whose profile could
//! not be stored, goods that could not be added to the catalogue. Validations and redemptions run the same checks, so that
//! their verdicts agree. Nothing is written.

use crate::documents::json_members;
use crate::documents::metadata::MetadataSchemas;
use crate::documents::{common_fields, merge};
use crate::domain::caller;
use crate::domain::catalogue::order_overrides;
use crate::domain::customers::customer::{CUSTOMER, read_profile};
use crate::domain::decisions::facts;
use crate::domain::metadata::schemas;
use crate::http::reply::{CallError, error};
use crate::http::route::Call;
use crate::http::shape::{self, Nulls};
use crate::store::facts::StoreFacts;
use scrip::facts::Facts;
use scrip::model::customer::Customer;
use scrip::model::order::Order;
use scrip::model::request::Redeemables;
use serde_json::{Map, Value as Json};

/// Kind of documents with the schema that the metadata of a request is checked against.
const REDEMPTION: &str = "redemption";

/// Refuses a request that could not be redeemed.
pub fn check(call: &mut Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    check_customer(call, request)?;
    check_metadata(call, request)?;
    if let Some(order) = request.order.as_ref().filter(|order| order_overrides::has_overrides(order)) {
        call.dry_run(|call| order_overrides::write(call, &mut order.clone(), "order."))?;
    }
    Ok(())
}

/// Refuses a request with goods that could not be added to the catalogue, or that could not be redeemed for another reason. Others are
/// checked by [`admit`].
pub fn check_overrides(call: &mut Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    let has_overrides = request.order.as_ref().is_some_and(order_overrides::has_overrides);
    if has_overrides { check(call, request) } else { Ok(()) }
}

/// Refuses a request that could not be redeemed. Returns the facts of its decision: they come first, because one statement reads its
/// redeemables and the revisions that the checks need.
pub fn admit<'a, 's>(call: &'a Call<'_, 's>, request: &Redeemables) -> Result<StoreFacts<'a, 's>, CallError> {
    let facts = facts::facts(call)?;
    facts.expect_redeemables(&request.redeemables);
    check_customer(call, request)?;
    check_metadata(call, request)?;
    Ok(facts)
}

/// Refuses a customer whose profile could not be stored, and one that a tracking id contradicts. For a customer that a client only
/// names, it checks the names.
pub fn check_customer(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    check_tracking(call, request)?;
    match (profile_to_store(call, request), &request.customer) {
        (Some(customer), _) => read_profile(customer).map(drop),
        (None, Some(customer)) => check_names(customer),
        (None, None) => Ok(()),
    }
}

/// Refuses the tracking id of another customer (docs/spec/interface.md, `POST /client/v1/redeem`; docs/spec/objects.md#15).
/// A visitor who becomes a customer is no contradiction: no customer is stored under the visitor's tracking id.
fn check_tracking(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    let (Some(tracking_id), Some(customer)) = (request.tracking_id.as_deref(), &request.customer) else {
        return Ok(());
    };
    let Some(members) = customer.id.as_deref().or(customer.source_id.as_deref()) else { return Ok(()) };
    let Some(tracked_customer) = facts::find_tracked_customer(call, tracking_id)? else { return Ok(()) };
    // As in all names of customers, the sent id may be the `source_id`.
    if *members == tracked_customer.id || Some(facts::unseal_name(call, members)?) == tracked_customer.key {
        return Ok(());
    }
    let message = format!("Ambiguous trackingId ('{tracking_id}' vs. '{members}')");
    let details = "The customer cannot be identified as two different identifiers have been used between requests from same origin.";
    Err(error(400, "ambiguous_tracking_id", &message, details).into())
}

fn check_names(customer: &Customer) -> Result<(), CallError> {
    let mut names = Map::new();
    for (name, value) in [("id", &customer.id), ("source_id", &customer.source_id)] {
        names.extend(value.as_ref().map(|value| (name.to_owned(), value.as_str().into())));
    }
    let read = shape::read(common_fields::CUSTOMER, names, Nulls::Kept);
    Ok(read.map(drop).map_err(|problem| problem.within("customer"))?)
}

/// Returns the customer of a request if its profile will be stored.
fn profile_to_store<'r>(call: &Call<'_, '_>, request: &'r Redeemables) -> Option<&'r Customer> {
    request.customer.as_ref().filter(|_| caller::trusts_customer(call))
}

/// Checks all metadata of a request against the project's schemas, which are read at once. Absent metadata is not checked,
/// except that of the redemption itself.
fn check_metadata(call: &Call<'_, '_>, request: &Redeemables) -> Result<(), CallError> {
    let of_redemption = Json::Object(request.metadata.to_fields());
    let of_order = request.order.as_ref().map(of_order).unwrap_or_default();
    let sent = profile_to_store(call, request).filter(|customer| !customer.metadata.is_empty());
    let mut names = vec![REDEMPTION];
    names.extend(of_order.iter().map(|(name, _)| *name));
    names.extend(sent.map(|_| CUSTOMER.object));
    let schemas = schemas::load(call.store, &names)?;
    if schemas.is_empty() {
        return Ok(());
    }
    let mut values = vec![(REDEMPTION, Some(&of_redemption))];
    values.extend(of_order.iter().map(|(name, value)| (*name, Some(value))));
    let of_customer = sent.map(|sent| customer_metadata(call, &schemas, request, sent)).transpose()?;
    values.extend(of_customer.as_ref().map(|value| (CUSTOMER.object, Some(value))));
    schemas::check_against(&schemas, &values)
}

fn of_order(order: &Order) -> Vec<(&'static str, Json)> {
    let order_value = (!order.metadata.is_empty()).then(|| ("order", Json::Object(order.metadata.to_fields())));
    let has_item_metadata = order.items.iter().any(|item| !item.metadata.is_empty());
    let items = order.items.iter().filter(|_| has_item_metadata);
    order_value.into_iter().chain(items.map(|item| ("order_item", Json::Object(item.metadata.to_fields())))).collect()
}

/// Returns the metadata that the customer would have: sent over stored. It is read only in projects with a schema for it.
fn customer_metadata(
    call: &Call<'_, '_>,
    schemas: &MetadataSchemas,
    request: &Redeemables,
    sent: &Customer,
) -> Result<Json, CallError> {
    let mut merged = Map::new();
    if schemas.contains_key(CUSTOMER.object)
        && let Some(stored) = facts::find_named_customer(call, request)?
    {
        merged = stored.body;
    }
    merge::merge(&mut merged, json_members::object_of("metadata", Json::Object(sent.metadata.to_fields())));
    Ok(merged.remove("metadata").unwrap_or(Json::Null))
}
