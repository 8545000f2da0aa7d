//! Creation and update of customers by clients: the customer that a token proves, with the sent fields, and
//! new customers.
//!
//! A client key is public, so a client without a token changes no customer and receives one answer for known and unknown
//! customers. Of the named customer it writes only the name: otherwise it could choose in advance where a customer's codes are sent.

use crate::access::client;
use crate::access::quota::Quota;
use crate::documents::common_fields::{CUSTOMER as FIELDS, KEY};
use crate::domain::caller;
use crate::domain::customers::customer;
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, error, forbidden};
use crate::http::route::{Call, ClientSwitch, HandlerResult, Response, Route, post};
use crate::http::shape::{self, FieldType, Nulls, may, must};
use crate::store::records::CustomerRecord;
use scrip::model::client::CustomerTrust;
use serde_json::{Map, Value as Json, json};

/// Answer to a client.
const CLIENT_ANSWER: FieldType = FieldType::Object(&[
    may("id", KEY).description("ID of the customer. Absent for a client without proof."),
    must("source_id", KEY)
        .or_null()
        .description("Unique name of the customer in the merchant's system. `null` if the customer has none."),
    must("object", FieldType::OneOf(&["customer"])),
]);

/// Quotas of customers that one key may create: for unproven clients, and for proven customers. Neither uses the other's
/// quota.
const QUOTAS_UNVERIFIED: [Quota; 2] = [
    Quota { name: "customers of a minute", window_ms: 60_000, most: 120 },
    Quota { name: "customers of a day", window_ms: 86_400_000, most: 10_000 },
];
const QUOTAS_VERIFIED: [Quota; 2] = [
    Quota { name: "proven customers of a minute", window_ms: 60_000, most: 600 },
    Quota { name: "proven customers of a day", window_ms: 86_400_000, most: 50_000 },
];

/// The routes of the area. They are no longer published; existing clients call them.
pub const ROUTES: &[Route] = &[post("/client/v1/customers", "Create or update a customer from a client", create)
    .describe(
        "createClientCustomer",
        "Creates a customer, or updates the customer of the token. A client without proof only adds names of new customers and changes no stored customer, unless the customer trust of the project is `open`. The webhook event `customer.created` or `customer.updated` follows a change. A closed switch is refused with `forbidden`, a key that creates customers too fast with `too_many_customers`.",
    )
    .returns("The names of the customer. Without proof the answer repeats the names that were sent.")
    .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
    .scope("customers")
    .allowed_by(ClientSwitch::Customers)
    .body(FIELDS)
    .answers(200, CLIENT_ANSWER)];

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut source = call.source()?;
    client::write_verified_names(call, &mut source)?;
    let sent = shape::read(FIELDS, source, Nulls::Kept)?;
    let trusts_customer = caller::trusts_customer(call);
    if !trusts_customer && call.client.as_ref().is_some_and(|client| client.policy.customers == CustomerTrust::Proven) {
        return Err(
            forbidden("the project takes a customer from a page only where a customer token proves who it is").into()
        );
    }
    consume_quota(call)?;
    let customer_body = match trusts_customer {
        true => customer::upsert(call, sent)?.body,
        false => name(call, sent)?,
    };
    let member = |name: &str| customer_body.get(name).cloned().unwrap_or(Json::Null);
    Ok(Response::json(json!({ "id": member("id"), "source_id": member("source_id"), "object": "customer" })))
}

/// Creates a new customer. Returns the sent fields, and none of the stored ones.
fn name(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<Map<String, Json>, CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    match (text("id"), text("source_id")) {
        (None, None) if customer::email_only(CustomerRecord::of(&sent)).is_none() => {
            customer::upsert(call, sent.clone()).map(drop)?
        }
        (None, None) if customer::find_by_email(call, CustomerRecord::of(&sent))?.is_none() => {
            drop(customer::create_named(call, &sent))
        }
        (None, Some(source_id)) if call.store.document_by_name("customer", source_id, source_id)?.is_none() => {
            customer::create_named(call, &sent);
        }
        // Generates as many ids as for an unknown customer, so that later ids do not reveal the difference.
        _ => drop(customer::generate_id(call)),
    }
    Ok(sent)
}

fn consume_quota(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let is_verified = call.client.as_ref().is_some_and(|client| client.proven.is_some());
    let quotas = if is_verified { &QUOTAS_VERIFIED } else { &QUOTAS_UNVERIFIED };
    let now_ms = call.now_ms();
    let Some(seconds) = Quota::take_of_all(quotas, call.store, call.caller, now_ms)? else { return Ok(()) };
    let message = "more customers have come from pages than are written down; try again later";
    let mut refusal = error(429, "too_many_customers", "Too many customers", message);
    refusal.retry_after = Some(seconds);
    Err(refusal.into())
}
