//! Holders of referral codes: listed, added by the shop, removed. It must not know what anybody gets for having been referred.

use crate::document::clause::Clause;
use crate::document::fields::{BUYER, KEY, LIMIT};
use crate::document::onward::{self, Onward};
use crate::document::shapes;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::holders::{self, HOLDER, Role, assigned_already};
use crate::shop::{customers, metadata_schemas, vouchers, zone};
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Holders that one request may add.
const HOLDERS_MAX: usize = 100;

const ADD: &[Field] = &[
    must("holders", Kind::List(&BUYER, 1, HOLDERS_MAX)).says("The customers, as everywhere"),
    may("metadata", Kind::Map),
];

const QUERY: &[Field] =
    &[LIMIT, may("order", Kind::OneOf(&["id", "-id"])), may("starting_after_id", KEY), may("filters", Kind::Map)];

const OF_CODE: &str = "/v1/referrals/members/{memberId}/holders";
const ONE_OF_CODE: &str = "/v1/referrals/members/{memberId}/holders/{holderId}";
const IN_PROGRAM: &str = "/v1/referrals/{campaignId}/members/{memberId}/holders";
const ONE_IN_PROGRAM: &str = "/v1/referrals/{campaignId}/members/{memberId}/holders/{holderId}";

const fn listing(path: &'static str, summary: &'static str) -> Route {
    get(path, summary, list).of(&HOLDER).listed(shapes::TOTAL_MORE_AND_NEXT).scope("referrals").query(QUERY)
}

const fn adding(path: &'static str, summary: &'static str) -> Route {
    post(path, summary, add).scope("referrals").body(ADD).answers(200, shapes::codes::HOLDERS)
}

const fn removing(path: &'static str, summary: &'static str) -> Route {
    delete(path, summary, remove).of(&HOLDER).scope("referrals").answers(204, shapes::EMPTY)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listing(OF_CODE, "List the holders of a referral code"),
    adding(OF_CODE, "Add holders of a referral code"),
    removing(ONE_OF_CODE, "Remove a holder of a referral code"),
    listing(IN_PROGRAM, "List the holders of a referral code of a program"),
    adding(IN_PROGRAM, "Add holders of a referral code of a program"),
    removing(ONE_IN_PROGRAM, "Remove a holder of a referral code of a program"),
];

/// The referral code that a path names.
fn find_code(call: &Call<'_, '_>) -> Result<Document, CallError> {
    holders::find_code(call, vouchers::find_member(call)?, call.param("memberId"))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let code = find_code(call)?;
    let asked = zone::asked(call, Clause::of_kind(HOLDER.object))?;
    let of_code = || {
        let mut clause = asked.clone();
        clause.and("parent = {}", code.id.as_str());
        clause
    };
    let place = |id: &str| {
        call.store.row(
            "SELECT seq FROM document WHERE kind = 'redeemable_holder' AND id = +?1 AND parent = +?2",
            &[id.into(), code.id.as_str().into()],
        )
    };
    let Onward { documents, has_more } =
        onward::select(&HOLDER.list, call.store, &call.query, of_code(), ("a holder of the code", &place))?;
    let total = HOLDER.list.count(call.store, &call.query, of_code())?;
    let shown = (HOLDER.show)(call, documents)?;
    let mut envelope = onward::envelope(shown, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Answer::json(Json::Object(envelope)))
}

/// Adds all or none: whoever is a holder already, or is named twice, takes the others with them.
fn add(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let code = find_code(call)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    metadata_schemas::check(call.store, &[("publication", Some(&metadata))])?;
    holders::referrer(&code)?;
    let sent = match body.remove("holders") {
        Some(Json::Array(sent)) => sent.into_iter().filter_map(|holder| holder.as_object().cloned()).collect(),
        _ => Vec::new(),
    };
    check_named(&sent)?;
    check_different(call, &sent)?;
    let mut referees: Vec<String> = Vec::new();
    for holder in sent {
        referees.push(customers::upsert(call, holder)?.id);
    }
    let named: Vec<&str> = referees.iter().map(String::as_str).collect();
    if !holders::among(call, &code, &named)?.is_empty() {
        return Err(assigned_already());
    }
    let added: Vec<Json> =
        named.iter().map(|referee| holders::add(call, &code, referee, Role::Referee, &metadata)).collect();
    Ok(Answer::json(json!({ "holders": added })))
}

/// A holder is somebody: what else is said of a customer names nobody.
fn check_named(sent: &[Map<String, Json>]) -> Result<(), Problem> {
    let is_name = |holder: &Map<String, Json>, name| holder.get(name).and_then(Json::as_str).is_some();
    match sent.iter().position(|holder| !is_name(holder, "id") && !is_name(holder, "source_id")) {
        Some(place) => Err(Problem::missing(format!("holders[{place}]"), "source_id")),
        None => Ok(()),
    }
}

/// Nobody is named twice, by whatever names.
fn check_different(call: &Call<'_, '_>, sent: &[Map<String, Json>]) -> Result<(), CallError> {
    let mut known: Vec<String> = Vec::new();
    for holder in sent {
        let named = |name: &str| holder.get(name).and_then(Json::as_str);
        let names = match named_customer(call, named("id"), named("source_id"))? {
            Some(found) => vec![Some(found.id), found.key.or_else(|| named("source_id").map(str::to_owned))],
            None => vec![named("source_id").map(str::to_owned)],
        };
        let names: Vec<String> = names.into_iter().flatten().collect();
        if names.iter().any(|name| known.contains(name)) {
            return Err(assigned_already());
        }
        known.extend(names);
    }
    Ok(())
}

fn named_customer(
    call: &Call<'_, '_>,
    id: Option<&str>,
    source_id: Option<&str>,
) -> Result<Option<Document>, CallError> {
    Ok(match (id, source_id) {
        (Some(id), _) => call.store.document("customer", id)?,
        (None, Some(source_id)) => call.store.document_by_name("customer", source_id, source_id)?,
        (None, None) => None,
    })
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let code = find_code(call)?;
    let id = call.param(HOLDER.parameter).to_owned();
    let holder = call.store.document(HOLDER.object, &id)?.filter(|holder| holder.parent.as_ref() == Some(&code.id));
    let holder = holder.ok_or_else(|| not_found(HOLDER.object, &id))?;
    if holders::is_referrer(&holder) {
        let told = "You can not remove Referrer assignment";
        return Err(error(403, "forbidden", "Can not remove assignment", told).into());
    }
    call.store.remove(HOLDER.object, &holder.id);
    Ok(Answer::empty(204))
}
