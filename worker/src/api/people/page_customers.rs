//! Customers whom a page writes down: the one whom a token proves, with what is sent, and whoever is new. It must not know what a
//! server may say of one.
//!
//! A page's key is public, so that a page which proves nobody changes nobody, is told the same whether there is such a customer or
//! not, and of whom it names writes the name alone: otherwise it could say in advance where somebody's codes are sent to.

use crate::access::allowance::Allowance;
use crate::access::page;
use crate::document::fields::{CUSTOMER as FIELDS, KEY};
use crate::http::caller::Class;
use crate::http::reply::{CallError, error, forbidden};
use crate::http::route::{Answer, Call, Outcome, Route, Switch, post};
use crate::http::shape::{self, Kind, Nulls, may, must};
use crate::shop::{customers, decision};
use scrip::model::page::Belief;
use serde_json::{Map, Value as Json, json};

/// What a page is told.
const TOLD: Kind = Kind::Object(&[
    may("id", KEY).says("The id, to a page that is believed"),
    must("source_id", KEY).or_null(),
    must("object", Kind::OneOf(&["customer"])),
]);

/// Customers that are written down through one key: by pages that prove nobody, and by proven customers. Neither takes the other's
/// share.
const OF_ANYBODY: [Allowance; 2] = [
    Allowance { name: "customers of a minute", window_ms: 60_000, most: 120 },
    Allowance { name: "customers of a day", window_ms: 86_400_000, most: 10_000 },
];
const OF_PROVEN: [Allowance; 2] = [
    Allowance { name: "proven customers of a minute", window_ms: 60_000, most: 600 },
    Allowance { name: "proven customers of a day", window_ms: 86_400_000, most: 50_000 },
];

/// The routes of the area. Nothing published describes it any more; existing clients call it.
pub const ROUTES: &[Route] = &[post("/client/v1/customers", "Create or update a customer from a page", create)
    .for_classes(&[Class::Client, Class::OAuth])
    .scope("customers")
    .switched(Switch::Customers)
    .body(FIELDS)
    .answers(200, TOLD)];

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut source = call.source()?;
    page::be_proven(call, &mut source)?;
    let sent = shape::read(FIELDS, source, Nulls::Kept)?;
    let is_believed = decision::is_believed(call);
    if !is_believed && call.page.as_ref().is_some_and(|page| page.terms.customers == Belief::Proven) {
        return Err(
            forbidden("the project takes a customer from a page only where a customer token proves who it is").into()
        );
    }
    take_share(call)?;
    let told = match is_believed {
        true => customers::upsert(call, sent)?.body,
        false => name(call, sent)?,
    };
    let named = |name: &str| told.get(name).cloned().unwrap_or(Json::Null);
    Ok(Answer::json(json!({ "id": named("id"), "source_id": named("source_id"), "object": "customer" })))
}

/// Writes down whoever is new. Gives what was sent, and nothing of what there is.
fn name(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<Map<String, Json>, CallError> {
    let text = |name: &str| sent.get(name).and_then(Json::as_str);
    match (text("id"), text("source_id")) {
        // Who has no name is nobody else.
        (None, None) => customers::upsert(call, sent.clone()).map(drop)?,
        (None, Some(source_id)) if call.store.document_by_name("customer", source_id, source_id)?.is_none() => {
            customers::introduce(call, source_id);
        }
        // As many ids are drawn as for somebody who is not known: those that follow tell nothing of it.
        _ => drop(customers::next_id(call)),
    }
    Ok(sent)
}

fn take_share(call: &mut Call<'_, '_>) -> Result<(), CallError> {
    let is_proven = call.page.as_ref().is_some_and(|page| page.proven.is_some());
    let shares = if is_proven { &OF_PROVEN } else { &OF_ANYBODY };
    let now_ms = call.now_ms();
    let Some(seconds) = Allowance::take_of_all(shares, call.store, call.caller, now_ms)? else { return Ok(()) };
    let told = "more customers have come from pages than are written down; try again later";
    let mut refusal = error(429, "too_many_customers", "Too many customers", told);
    refusal.retry_after = Some(seconds);
    Err(refusal.into())
}
