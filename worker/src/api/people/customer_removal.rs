//! Customers who leave: deleted, so that what they did still names them, and forgotten, so that nothing tells of them.
//! It must not know where a customer may be named.

use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, delete, post};
use crate::moment;
use crate::shop::customers::{self, CUSTOMER};
use crate::shop::erasing::{self, AT_ONCE, ERASE, Job};
use crate::shop::erasure::Person;
use crate::store::sql::{self, Fault};
use crate::store::tracking::Tracker;
use crate::work::actions;
use serde_json::{Value as Json, json};

/// Pieces that a request does itself.
const PIECES_MAX: usize = 8;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    delete("/v1/customers/{customerId}", "Delete a customer, and leave what they did", resource::remove)
        .of(&CUSTOMER)
        .scope("customers")
        .answers(204, shapes::EMPTY),
    // A repetition finds nobody; the answer is not kept, as it would be under their name.
    post("/v1/customers/{customerId}/permanent-deletion", "Forget a customer", forget)
        .of(&CUSTOMER)
        .scope("customers")
        .bodiless()
        .answers(200, shapes::customers::PERMANENT_DELETION)
        .forgotten(),
];

fn forget(call: &mut Call<'_, '_>) -> Outcome {
    let customer = CUSTOMER.find(call)?;
    let tracking_id = match &customer.key {
        Some(source_id) => Some(Tracker::stored(call.store)?.tracking_id(source_id)?),
        None => None,
    };
    let alias = customers::next_id(call);
    let person = Person::of(&customer.id, alias, &customer.body, tracking_id);
    let counts = counts(call, &customer.id)?;
    // It is done whole, whatever it takes to find it: what is read is bounded by the pieces.
    call.store.unbound();
    let now_ms = call.now_ms();
    erasing::take_away(call.store, &person, now_ms)?;
    let mut job = Job::begin(call.store, &person)?;
    for _ in 0..PIECES_MAX {
        job.go_on(call.store, &person, AT_ONCE)?;
        if job.is_done() {
            break;
        }
    }
    let status = if job.is_done() { "DONE" } else { "IN_PROGRESS" };
    let cursor = serde_json::to_value(&job).map_err(|error| Fault(error.to_string()))?;
    actions::start(call.store, call.context, &mut call.ids, call.request_id, (ERASE, cursor));
    Ok(Answer::json(json!({
        "id": call.ids.alphanumeric("del_", 24).to_string(), "created_at": moment::text(call.now_ms()), "related_object_id": customer.id,
        "related_object": "customer", "status": status, "data_json": counts, "object": "pernament_deletion",
    })))
}

/// How much there was of them.
fn counts(call: &Call<'_, '_>, id: &str) -> Result<Json, CallError> {
    let row = call.store.row(
        "SELECT (SELECT COUNT(*) FROM document WHERE kind = 'event' AND holder = +?1),
           (SELECT COUNT(*) FROM document WHERE kind = 'order' AND holder = +?1),
           (SELECT COUNT(*) FROM document WHERE kind = 'segment' AND EXISTS
              (SELECT 1 FROM json_each(body, '$.customers') AS listed WHERE listed.value = ?1))",
        &[id.into()],
    )?;
    let row = row.unwrap_or_default();
    Ok(json!({
        "events": sql::int(&row, 0)?, "customer_events": 0, "daily_events": 0, "segments": sql::int(&row, 2)?, "orders": sql::int(&row, 1)?,
        "order_events": 0, "customer": 1,
    }))
}
