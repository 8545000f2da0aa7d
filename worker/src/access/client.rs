//! Decides if a client calls, under which client policy of its project, and for which proven customer.

pub mod response_filter;

use crate::access::{customer_keys, customer_token};
use crate::http::caller::{Caller, CredentialClass};
use crate::http::decision_headers::{AnsweredBy, client_headers, context_header};
use crate::http::reply::{CallError, error};
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::http::route::{Call, HandlerResult, Response, Route};
use crate::store::Store;
use crate::store::bundle_heads;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use scrip::json::Node;
use scrip::model::client::{ClientContext, CustomerTrust};
use scrip::text::Text;
use scrip::wire::problem::shortened;
use scrip::wire::project::client::client_policy_of;
use serde_json::{Map, Value as Json};

/// Header with the token that proves a client's customer. Servers need none, and routes ignore it for their keys.
const TOKEN: &str = "x-customer-token";

/// Returns true if a client calls, and not a server of the merchant, which may call client-side routes too, or anyone who reads a
/// part of a bundle.
pub fn is_client_call(route: &Route, caller: &Caller) -> bool {
    route.is_client_side() && !matches!(caller.class, CredentialClass::Server | CredentialClass::Bundle)
}

/// Returns the context of the client that calls a route.
pub fn client_context(
    route: &Route,
    caller: &Caller,
    request: &Request,
    store: &Store<'_>,
    now_ms: i64,
) -> Result<Option<ClientContext>, CallError> {
    if !is_client_call(route, caller) {
        return Ok(None);
    }
    let terms = client_policy_of(&caller.settings.client);
    let terms = terms.map_err(|problem| Fault(format!("the project's client policy cannot be read: {problem}")))?;
    let proven = header(request, TOKEN).map(|token| verify_customer(token, caller, store, now_ms)).transpose()?;
    Ok(Some(ClientContext { policy: terms, proven, ..ClientContext::default() }))
}

/// Returns the customer that a token proves. An invalid token is refused; its sender never counts as unproven.
fn verify_customer(token: &str, caller: &Caller, store: &Store<'_>, now_ms: i64) -> Result<Text, CallError> {
    let sent = customer_token::read(token, &caller.project)?;
    let key = customer_keys::find_by_id(store, &sent.key, now_ms)?;
    Ok(sent.customer(key.as_ref(), now_ms)?.into())
}

/// Returns the customer that the token of a call proves, the token, and its end in seconds since 1970. A call without a token is
/// refused.
pub fn verified_token(call: &Call<'_, '_>) -> Result<(Text, String, i64), CallError> {
    let proven = call.client.as_ref().and_then(|client| client.proven.clone());
    let (Some(customer), Some(token)) = (proven, header(call.request, TOKEN)) else {
        return Err(customer_token::missing().into());
    };
    let end = customer_token::read(token, &call.caller.project)?.end()?;
    Ok((customer, token.to_owned(), end))
}

/// Returns the answer to a validation or a qualification with the headers of its decision: for a client, also by which rules it was made.
pub fn with_decision_headers(call: &Call<'_, '_>, mut answer: Response) -> HandlerResult {
    answer.headers.push(context_header(call.context));
    if call.route.is_client_side() {
        let revision = bundle_heads::find_rules_revision(call.store)?;
        answer.headers.extend(client_headers(AnsweredBy::Object, &revision));
    }
    Ok(answer)
}

/// Paths at which a request may name its customer.
const NAMES: [&[&str]; 6] = [
    &["customer", "id"],
    &["customer", "source_id"],
    &["order", "customer", "id"],
    &["order", "customer", "source_id"],
    &["order", "customer_id"],
    &["tracking_id"],
];

/// Refuses a body that names another customer than the one that a token proves. The engine replaces the named customer with
/// the proven one (`decide::receive`).
pub fn check_body(call: &Call<'_, '_>, body: &Node<'_>) -> Result<(), CallError> {
    let named = |path: &[&str]| path.iter().try_fold(body, |value, name| value.get(name))?.as_str();
    check_names(call, &NAMES, &named).map(drop)
}

/// Writes the customer that a token proves into a request. A request that names another customer is refused.
pub fn write_verified_customer(call: &Call<'_, '_>, source: &mut Map<String, Json>) -> Result<(), CallError> {
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

/// Writes the customer that a token proves into a customer object. An object that names another customer is refused.
pub fn write_verified_names(call: &Call<'_, '_>, customer: &mut Map<String, Json>) -> Result<(), CallError> {
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

/// Returns the stored customer that a client may query: the one that a token proves, which a named customer must equal,
/// or the named one if the project trusts the client.
pub fn find_queried_customer(call: &Call<'_, '_>, named: Option<&str>) -> Result<Option<Document>, CallError> {
    check_names(call, &[&["customer"]], &|_| named)?;
    let is_open = call.client.as_ref().is_none_or(ClientContext::is_open);
    let name = proven(call).or(named.filter(|_| is_open));
    name.map(|name| call.store.document_by_name("customer", name, name))
        .transpose()
        .map(Option::flatten)
        .map_err(Into::into)
}

/// Removes an unproven customer where a customer token is required.
pub fn remove_unverified_customer(client: Option<&ClientContext>, source: &mut Map<String, Json>) {
    if client.is_some_and(|client| client.proven.is_none() && client.policy.customers == CustomerTrust::Proven) {
        source.remove("customer");
    }
}

/// The text at a path of a request, if there is one.
type NamedText<'b> = dyn Fn(&[&str]) -> Option<&'b str> + 'b;

/// Returns the id and the source_id of the customer that a token proves, if the request names no other.
fn check_names<'b>(
    call: &Call<'_, '_>,
    names: &[&[&str]],
    named: &NamedText<'b>,
) -> Result<Option<[Option<String>; 2]>, CallError> {
    let Some(proven) = proven(call) else { return Ok(None) };
    let stored = call.store.document_by_name("customer", proven, proven)?;
    let (id, source_id) = match &stored {
        Some(stored) => (Some(stored.id.as_str()), stored.key.as_deref()),
        None => (None, Some(proven)),
    };
    for path in names {
        let Some(named) = named(path).filter(|named| !named.is_empty()) else { continue };
        let tracked = Tracker::may_open(named).then(|| Tracker::load(call.store)).transpose()?;
        let is_tracked = tracked.zip(source_id).map(|(tracker, own)| tracker.is_of(named, own)).transpose()?;
        let is_tracked = is_tracked.unwrap_or(false);
        if !is_tracked && ![Some(proven), id, source_id].contains(&Some(named)) {
            let (path, named) = (path.join("."), shortened(named));
            let message = format!("Property .{path} must name the customer of the token (actual value is `{named}`)");
            return Err(error(400, "customer_mismatch", "Customer mismatch", message).into());
        }
    }
    Ok(Some([id, source_id].map(|name| name.map(str::to_owned))))
}

fn proven<'c>(call: &'c Call<'_, '_>) -> Option<&'c str> {
    call.client.as_ref()?.proven.as_deref()
}
