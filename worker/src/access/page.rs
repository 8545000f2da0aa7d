//! Decides whether a page asks, on which terms of its project, and for which proven customer. It must not know what is
//! asked for.

pub mod shown;

use crate::access::{customer_keys, customer_token};
use crate::http::caller::{Caller, Class};
use crate::http::intake::header;
use crate::http::reply::{CallError, error};
use crate::http::request::Request;
use crate::http::route::{Call, Route};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::json::Node;
use scrip::model::page::{Belief, Page};
use scrip::text::Text;
use scrip::wire::page::terms_of;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// The header with the token that proves a page's customer. Servers need none: their routes, and their keys, do not look at it.
const TOKEN: &str = "x-customer-token";

/// Whether a page asks: not where one of the shop's own servers does, which may call one of the pages' routes too.
pub fn is_asking(route: &Route, caller: &Caller) -> bool {
    route.is_client_side() && caller.class != Class::Server
}

/// The page that calls a route.
pub fn asking(
    route: &Route,
    caller: &Caller,
    request: &Request,
    store: &Store<'_>,
    now_ms: i64,
) -> Result<Option<Page>, CallError> {
    if !is_asking(route, caller) {
        return Ok(None);
    }
    let terms = terms_of(&caller.settings.client);
    let terms = terms.map_err(|problem| Fault(format!("the project's terms of pages do not read: {problem}")))?;
    let proven = header(request, TOKEN).map(|token| prove(token, caller, store, now_ms)).transpose()?;
    Ok(Some(Page { terms, proven }))
}

/// The customer whom a token proves. One that does not is refused, and nobody is taken for unproven who sends one.
fn prove(token: &str, caller: &Caller, store: &Store<'_>, now_ms: i64) -> Result<Text, CallError> {
    let sent = customer_token::read(token, &caller.project)?;
    let key = customer_keys::named(store, &sent.key, now_ms)?;
    Ok(sent.customer(key.as_ref(), now_ms)?.into())
}

/// Where a request may name its customer.
const NAMES: [&[&str]; 6] = [
    &["customer", "id"],
    &["customer", "source_id"],
    &["order", "customer", "id"],
    &["order", "customer", "source_id"],
    &["order", "customer_id"],
    &["tracking_id"],
];

/// Refuses a body that names somebody else than the customer whom a token proves. The engine puts that customer in the place of
/// whatever is named (`decide::receive`).
pub fn check_body(call: &Call<'_, '_>, body: &Node<'_>) -> Result<(), CallError> {
    let named = |path: &[&str]| path.iter().try_fold(body, |value, name| value.get(name))?.as_str();
    check_names(call, &NAMES, &named).map(drop)
}

/// Names in a request the customer whom a token proves. A request that names somebody else is refused.
pub fn name_proven(call: &Call<'_, '_>, source: &mut Map<String, Json>) -> Result<(), CallError> {
    let named = |path: &[&str]| {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(source.get(*first)?, |value, name| value.get(name))?.as_str()
    };
    let Some([id, source_id]) = check_names(call, &NAMES, &named)? else { return Ok(()) };
    let customer = source.entry("customer").or_insert(Json::Null);
    if customer.is_null() {
        *customer = Json::Object(Map::new());
    }
    if let Some(customer) = customer.as_object_mut() {
        for (name, value) in [("id", id), ("source_id", source_id)] {
            customer.insert(name.into(), value.into());
        }
    }
    Ok(())
}

/// Names the customer whom a token proves in what is sent of the customer alone. Who names somebody else is refused.
pub fn be_proven(call: &Call<'_, '_>, customer: &mut Map<String, Json>) -> Result<(), CallError> {
    let named = |path: &[&str]| customer.get(path.first().copied()?)?.as_str();
    let Some(names) = check_names(call, &[&["id"], &["source_id"]], &named)? else { return Ok(()) };
    for (name, value) in ["id", "source_id"].into_iter().zip(names) {
        match value {
            Some(value) => customer.insert(name.into(), value.into()),
            None => customer.remove(name),
        };
    }
    Ok(())
}

/// The stored customer whom a page may ask about: whom a token proves, who must be the one that it names, or whom a page names that
/// its project believes.
pub fn asked_about(call: &Call<'_, '_>, named: Option<&str>) -> Result<Option<Document>, CallError> {
    check_names(call, &[&["customer"]], &|_| named)?;
    let is_open = call.page.as_ref().is_none_or(Page::is_open);
    let name = proven(call).or(named.filter(|_| is_open));
    name.map(|name| call.store.document_by_name("customer", name, name))
        .transpose()
        .map(Option::flatten)
        .map_err(Into::into)
}

/// Leaves out a customer whom nobody proves where only proof counts.
pub fn settle_customer(page: Option<&Page>, source: &mut Map<String, Json>) {
    if page.is_some_and(|page| page.proven.is_none() && page.terms.customers == Belief::Proven) {
        source.remove("customer");
    }
}

/// The text at a path of a request, if there is one.
type Named<'b> = dyn Fn(&[&str]) -> Option<&'b str> + 'b;

/// The id and the source_id of the customer whom a token proves, if one does and the request names nobody else.
fn check_names<'b>(
    call: &Call<'_, '_>,
    names: &[&[&str]],
    named: &Named<'b>,
) -> Result<Option<[Option<String>; 2]>, CallError> {
    let Some(proven) = proven(call) else { return Ok(None) };
    let stored = call.store.document_by_name("customer", proven, proven)?;
    let (id, source_id) = match &stored {
        Some(stored) => (Some(stored.id.as_str()), stored.key.as_deref()),
        None => (None, Some(proven)),
    };
    for path in names {
        let Some(named) = named(path).filter(|named| !named.is_empty()) else { continue };
        let tracked = Tracker::may_open(named).then(|| Tracker::stored(call.store)).transpose()?;
        let is_tracked = tracked.zip(source_id).map(|(tracker, own)| tracker.is_of(named, own)).transpose()?;
        let is_tracked = is_tracked.unwrap_or(false);
        if !is_tracked && ![Some(proven), id, source_id].contains(&Some(named)) {
            let (path, named) = (path.join("."), shortened(named));
            let told = format!("Property .{path} must name the customer of the token (actual value is `{named}`)");
            return Err(error(400, "customer_mismatch", "Customer mismatch", told).into());
        }
    }
    Ok(Some([id, source_id].map(|name| name.map(str::to_owned))))
}

fn proven<'c>(call: &'c Call<'_, '_>) -> Option<&'c str> {
    call.page.as_ref()?.proven.as_deref()
}
