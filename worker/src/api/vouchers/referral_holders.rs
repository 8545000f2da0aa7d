//! Holders of referral codes: list, add by the merchant, remove.

use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY, LIMIT};
use crate::documents::keyset_list::{self, KeysetPage};
use crate::documents::shapes;
use crate::domain::clock;
use crate::domain::customers::customer;
use crate::domain::metadata::schemas;
use crate::domain::vouchers::referral_holders;
use crate::domain::vouchers::referral_holders::{HOLDER, HolderRole, already_assigned};
use crate::domain::vouchers::voucher;
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Maximum number of holders in one request.
const HOLDERS_MAX: usize = 100;

const ADD: &[Field] = &[
    must("holders", FieldType::List(&CUSTOMER_OBJECT, 1, HOLDERS_MAX))
        .description("Customers to add as referees, each with `id` or `source_id`. Stored customers are updated, unknown ones are created."),
    may("metadata", FieldType::Map),
];

const QUERY: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["id", "-id"]))
        .description("Direction of the list: `id` for the oldest first, `-id` for the newest first. Default `-id`."),
    may("starting_after_id", KEY).description("ID of a holder of the code. The list continues after this holder."),
    may("filters", FieldType::Map)
        .description("Conditions by `id`, `created_at`, `holder_role` or `customer_id`, joined by `junction`."),
];

const OF_CODE: &str = "/v1/referrals/members/{memberId}/holders";
const ONE_OF_CODE: &str = "/v1/referrals/members/{memberId}/holders/{holderId}";
const IN_PROGRAM: &str = "/v1/referrals/{campaignId}/members/{memberId}/holders";
const ONE_IN_PROGRAM: &str = "/v1/referrals/{campaignId}/members/{memberId}/holders/{holderId}";

const fn listing(path: &'static str, summary: &'static str) -> Route {
    get(path, summary, list).of(&HOLDER).lists_resource(shapes::TOTAL_MORE_AND_NEXT).scope("referrals").query(QUERY)
}

const fn adding(path: &'static str, summary: &'static str) -> Route {
    post(path, summary, add).scope("referrals").body(ADD).answers(200, shapes::vouchers::HOLDERS)
}

const fn removing(path: &'static str, summary: &'static str) -> Route {
    delete(path, summary, remove).of(&HOLDER).scope("referrals").answers(204, shapes::EMPTY)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listing(OF_CODE, "List the holders of a referral code")
        .describe(
            "listReferralCodeHolders",
            "Returns the referrer and the referees of a referral code, the newest first by default. A code of another kind of campaign is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The holders on this page and the total."),
    adding(OF_CODE, "Add referees to a referral code")
        .describe(
            "addReferralCodeHolders",
            "Adds up to 100 customers as referees of a referral code: either all of them or none. Customers are created or updated as sent. A code without a referrer is refused with `not_published`, a customer who already holds the code with `holder_assignement_duplication`.",
        )
        .returns("The holders that were added, in the order of the request."),
    removing(ONE_OF_CODE, "Remove a referee from a referral code")
        .describe(
            "removeReferralCodeHolder",
            "Removes one referee from a referral code; the customer and earlier redemptions stay. The referrer cannot be removed and is refused with `forbidden`. A holder that the code does not have is refused with `not_found`.",
        )
        .returns("No content. The referee is removed."),
    listing(IN_PROGRAM, "List the holders of a referral code of a campaign")
        .describe(
            "listCampaignReferralCodeHolders",
            "Returns the referrer and the referees of a referral code of the named campaign, the newest first by default. A code that does not belong to the campaign is refused with `not_found`, an unknown filter or start with `invalid_query_params`.",
        )
        .returns("The holders on this page and the total."),
    adding(IN_PROGRAM, "Add referees to a referral code of a campaign")
        .describe(
            "addCampaignReferralCodeHolders",
            "Adds up to 100 customers as referees of a referral code of the named campaign: either all of them or none. Customers are created or updated as sent. A code without a referrer is refused with `not_published`, a customer who already holds the code with `holder_assignement_duplication`.",
        )
        .returns("The holders that were added, in the order of the request."),
    removing(ONE_IN_PROGRAM, "Remove a referee from a referral code of a campaign")
        .describe(
            "removeCampaignReferralCodeHolder",
            "Removes one referee from a referral code of the named campaign; the customer and earlier redemptions stay. The referrer cannot be removed and is refused with `forbidden`. A code outside the campaign or an unknown holder is refused with `not_found`.",
        )
        .returns("No content. The referee is removed."),
];

/// Finds the referral code that a path names.
fn find_code(call: &Call<'_, '_>) -> Result<Document, CallError> {
    referral_holders::find_code(call, voucher::find_member(call)?, call.param("memberId"))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let code = find_code(call)?;
    let base_clause = clock::at_call(call, Clause::of_kind(HOLDER.object))?;
    let of_code = || {
        let mut clause = base_clause.clone();
        clause.within(&code.id);
        clause
    };
    let find_position = |id: &str| any_kind::find_position_within(call.store, HOLDER.object, &code.id, id);
    let KeysetPage { documents, has_more } =
        keyset_list::select(&HOLDER.list, call.store, &call.query, of_code(), "a holder of the code", &find_position)?;
    let total = HOLDER.list.count(call.store, &call.query, of_code())?;
    let holders = (HOLDER.to_json)(call, documents)?;
    let mut envelope = keyset_list::envelope(holders, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Response::json(Json::Object(envelope)))
}

/// Adds all holders or none: one that exists already, or is named twice, makes the call fail.
fn add(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    let code = find_code(call)?;
    let metadata = body.remove("metadata").unwrap_or_else(|| json!({}));
    schemas::check(call.store, &[("publication", Some(&metadata))])?;
    referral_holders::require_referrer(&code)?;
    let sent = match body.remove("holders") {
        Some(Json::Array(sent)) => sent.into_iter().filter_map(|holder| holder.as_object().cloned()).collect(),
        _ => Vec::new(),
    };
    check_named(&sent)?;
    check_different(call, &sent)?;
    let mut referees: Vec<String> = Vec::new();
    for holder in sent {
        referees.push(customer::upsert(call, holder)?.id);
    }
    let named: Vec<&str> = referees.iter().map(String::as_str).collect();
    if !referral_holders::list_of_customers(call, &code, &named)?.is_empty() {
        return Err(already_assigned());
    }
    let added: Vec<Json> = named
        .iter()
        .map(|referee| referral_holders::add(call, &code, referee, HolderRole::Referee, &metadata))
        .collect();
    Ok(Response::json(json!({ "holders": added })))
}

/// Checks that each holder is named by its id or source_id.
fn check_named(sent: &[Map<String, Json>]) -> Result<(), Problem> {
    let is_name = |holder: &Map<String, Json>, name| holder.get(name).and_then(Json::as_str).is_some();
    match sent.iter().position(|holder| !is_name(holder, "id") && !is_name(holder, "source_id")) {
        Some(position) => Err(Problem::missing(format!("holders[{position}]"), "source_id")),
        None => Ok(()),
    }
}

/// Checks that no customer is named twice, by any of its names.
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
            return Err(already_assigned());
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

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let code = find_code(call)?;
    let id = call.param(HOLDER.parameter).to_owned();
    let holder = call.store.document(HOLDER.object, &id)?.filter(|holder| holder.parent.as_ref() == Some(&code.id));
    let holder = holder.ok_or_else(|| not_found(HOLDER.object, &id))?;
    if referral_holders::is_referrer(&holder) {
        let message = "You can not remove Referrer assignment";
        return Err(error(403, "forbidden", "Can not remove assignment", message).into());
    }
    call.store.delete(HOLDER.object, &holder.id);
    Ok(Response::empty(204))
}
