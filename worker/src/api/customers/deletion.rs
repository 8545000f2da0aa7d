//! Deletion of customers: their records still name a deleted customer, and an erasure removes
//! the customer from all records.

use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::customers::customer;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::erasure::job;
use crate::domain::erasure::job::{AT_ONCE, ERASE, ErasureJob};
use crate::domain::erasure::redaction::CustomerIdentity;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, delete, post};
use crate::jobs::async_actions;
use crate::store::documents::customers::{self, RecordCounts};
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Maximum number of slices that a request runs itself.
const SLICES_MAX: usize = 8;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    delete("/v1/customers/{customerId}", "Delete a customer", resource::remove)
        .describe(
            "deleteCustomer",
            "Deletes the profile of a customer. Redemptions, orders and publications stay and still name the customer. The webhook event `customer.deleted` follows. An unknown customer is refused with `not_found`.",
        )
        .returns("No content. The customer is deleted.")
        .of(&CUSTOMER)
        .scope("customers")
        .answers(204, shapes::EMPTY),
    // A repeated call finds no customer. The response is not stored, because it would contain the customer's name.
    post("/v1/customers/{customerId}/permanent-deletion", "Permanently delete a customer", erase)
        .describe(
            "permanentlyDeleteCustomer",
            "Deletes a customer and removes the personal data from everything that names the customer. Orders, redemptions and balances stay under an ID that identifies no person; custom events are deleted. Large amounts of data are removed by a job after the response. The webhook event `customer.deleted` follows. An unknown or already deleted customer is refused with `not_found`.",
        )
        .returns("The status of the deletion, and the number of records found for the customer.")
        .of(&CUSTOMER)
        .scope("customers")
        .bodiless()
        .answers(200, shapes::customers::PERMANENT_DELETION)
        .without_stored_response(),
];

fn erase(call: &mut Call<'_, '_>) -> HandlerResult {
    let customer = CUSTOMER.find(call)?;
    let tracking_id = match &customer.key {
        Some(source_id) => Some(Tracker::load(call.store)?.tracking_id(source_id)?),
        None => None,
    };
    let alias = customer::generate_id(call);
    let identity = CustomerIdentity::of(&customer, alias, tracking_id);
    let counts = counts(call, &customer.id)?;
    // The records are found without the store's limit on reads; the slices bound the reads instead.
    call.store.remove_read_limit();
    let now_ms = call.now_ms();
    job::erase_now(call.store, &identity, now_ms)?;
    let mut job = ErasureJob::start(call.store, &identity)?;
    for _ in 0..SLICES_MAX {
        job.continue_slice(call.store, &identity, AT_ONCE)?;
        if job.is_done() {
            break;
        }
    }
    let status = if job.is_done() { "DONE" } else { "IN_PROGRESS" };
    let cursor = serde_json::to_value(&job).map_err(|error| Fault(error.to_string()))?;
    async_actions::start(call, ERASE, &cursor);
    Ok(Response::json(json!({
        "id": call.ids.alphanumeric("del_", 24).to_string(), "created_at": timestamp::text(call.now_ms()), "related_object_id": customer.id,
        "related_object": "customer", "status": status, "data_json": counts, "object": "pernament_deletion",
    })))
}

/// Returns the numbers of records of the customer.
fn counts(call: &Call<'_, '_>, id: &str) -> Result<Json, CallError> {
    let RecordCounts { events, orders, segments } = customers::count_records(call.store, id)?;
    Ok(json!({
        "events": events, "customer_events": 0, "daily_events": 0, "segments": segments, "orders": orders,
        "order_events": 0, "customer": 1,
    }))
}
