//! Consents, which nothing published describes any more and existing clients still ask for: there are none, and what is put on a
//! customer is taken, and kept nowhere. It must not know what anybody would consent to.

use crate::access::page;
use crate::document::shapes::customers::CONSENTS;
use crate::http::caller::Class;
use crate::http::route::{Answer, Call, Outcome, Route, get, put};
use crate::shop::customers::CUSTOMER;
use scrip::shape::EMPTY;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::json;

const PAGES: &[Class] = &[Class::Client, Class::OAuth];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/consents", "List consents, of which there are none", list).scope("consents").answers(200, CONSENTS),
    get("/client/v1/consents", "List consents, of which there are none, from a page", list)
        .for_classes(PAGES)
        .scope("consents")
        .answers(200, CONSENTS),
    put("/v1/customers/{customerId}/consents", "Take a customer's consents, which are not kept", take)
        .of(&CUSTOMER)
        .scope("consents")
        .bodiless()
        .answers(200, EMPTY),
    put(
        "/client/v1/customers/{customerId}/consents",
        "Take a customer's consents from a page, which are not kept",
        take,
    )
    .for_classes(PAGES)
    .scope("consents")
    .bodiless()
    .answers(200, EMPTY),
];

fn list(_: &mut Call<'_, '_>) -> Outcome {
    let none = json!({ "object": "list", "data_ref": "data", "data": [], "total": 0 });
    let mut body = none.clone();
    // The list was of two lists at last.
    for name in ["groups", "consents"] {
        body.as_object_mut().and_then(|body| body.insert(name.into(), none.clone()));
    }
    Ok(Answer::json(body))
}

/// What is sent says of consents, by their ids, whether they are given; some clients send an empty list.
fn take(call: &mut Call<'_, '_>) -> Outcome {
    for (id, given) in call.source()? {
        if !given.is_boolean() {
            let told = format!("must be a boolean (actual value is `{}`)", shortened(&given.to_string()));
            return Err(Problem::at(&id, told).into());
        }
    }
    match call.page {
        None => drop(CUSTOMER.find(call)?),
        // A page is not told who is a customer, and a proven one speaks for itself.
        Some(_) => drop(page::asked_about(call, Some(call.param("customerId")))?),
    }
    Ok(Answer::json(json!({})))
}
