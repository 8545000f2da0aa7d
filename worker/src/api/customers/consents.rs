//! Consents, which the published API no longer describes and existing clients still request: the list is empty, and
//! consents that are put on a customer are accepted and not stored.

use crate::access::client;
use crate::documents::shapes::customers::CONSENTS;
use crate::domain::customers::customer::CUSTOMER;
use crate::http::caller::CredentialClass;
use crate::http::route::{Call, HandlerResult, Response, Route, get, put};
use scrip::shape::EMPTY;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::json;

const PAGES: &[CredentialClass] = &[CredentialClass::Client, CredentialClass::OAuth];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/consents", "List consents", list)
        .describe(
            "listConsents",
            "Returns an empty list, because consents are not stored. The operation exists for clients that still ask for consents.",
        )
        .returns("An empty list of consents and of groups.")
        .scope("consents")
        .answers(200, CONSENTS),
    get("/client/v1/consents", "List consents from a client", list)
        .describe(
            "listClientConsents",
            "Returns an empty list, because consents are not stored.",
        )
        .returns("An empty list of consents and of groups.")
        .for_classes(PAGES)
        .scope("consents")
        .answers(200, CONSENTS),
    put("/v1/customers/{customerId}/consents", "Accept the consents of a customer", accept)
        .describe(
            "updateCustomerConsents",
            "Accepts consents by ID, each `true` or `false`, and stores nothing. An unknown customer is refused with `not_found`, a value that is not a boolean with `invalid_payload`.",
        )
        .returns("An empty object.")
        .of(&CUSTOMER)
        .scope("consents")
        .bodiless()
        .answers(200, EMPTY),
    put("/client/v1/customers/{customerId}/consents", "Accept the consents of a customer from a client", accept)
        .describe(
            "updateClientCustomerConsents",
            "Accepts consents by ID, each `true` or `false`, and stores nothing. A customer other than that of the token is refused with `customer_mismatch`, a value that is not a boolean with `invalid_payload`.",
        )
        .returns("An empty object, also for an unknown customer.")
        .for_classes(PAGES)
        .scope("consents")
        .bodiless()
        .answers(200, EMPTY),
];

fn list(_: &mut Call<'_, '_>) -> HandlerResult {
    let none = json!({ "object": "list", "data_ref": "data", "data": [], "total": 0 });
    let mut body = none.clone();
    // The published response had two lists in the end.
    for name in ["groups", "consents"] {
        body.as_object_mut().and_then(|body| body.insert(name.into(), none.clone()));
    }
    Ok(Response::json(body))
}

/// Accepts consents by id, with a mark for given or not; some clients send an empty list.
fn accept(call: &mut Call<'_, '_>) -> HandlerResult {
    for (id, granted) in call.source()? {
        if !granted.is_boolean() {
            let message = format!("must be a boolean (actual value is `{}`)", shortened(&granted.to_string()));
            return Err(Problem::at(&id, message).into());
        }
    }
    match call.client {
        None => drop(CUSTOMER.find(call)?),
        // A client does not learn which customers exist, and a proven customer may act for itself.
        Some(_) => drop(client::find_queried_customer(call, Some(call.param("customerId")))?),
    }
    Ok(Response::json(json!({})))
}
