//! Memberships of a customer: in one program, or in all.

use crate::documents::json_members;
use crate::documents::shapes::member_tiers::MEMBERSHIP;
use crate::documents::shapes::members::{IDENTIFIED_BY, MEMBERSHIPS};
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::card_changes::load_settled_cards;
use crate::domain::loyalty_members::card_view::member_card_json;
use crate::domain::loyalty_members::member::{MemberName, find_customer, find_membership};
use crate::domain::loyalty_members::tier_view::progress_json;
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, find_by_id, find_within};
use crate::http::reply::{CallError, invalid_query, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

const MEMBERSHIP_QUERY: &[Field] =
    &[may("identification_type", FieldType::OneOf(IDENTIFIED_BY)).description("Meaning of the last path parameter: ID of the customer, the caller's own ID of the customer, or ID of the member. Default `customer_id`.")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v2/loyalties/programs/{programId}/memberships/{customerId}", "Get a membership", read)
        .describe(
            "getMembership",
            "Returns the membership of a customer in one program, with the cards, their current balances and the progress through the tiers. Points and tiers that are due by now are taken into account. The path names the customer or the member, depending on `identification_type`. An unknown program, customer or member is refused with `not_found`.",
        )
        .returns("The member, the program and the cards with the progress through the tiers.")
        .scope("loyalties")
        .query(MEMBERSHIP_QUERY)
        .answers(200, MEMBERSHIP),
    get("/v2/loyalties/memberships/{customerId}", "List memberships of a customer", list_all)
        .describe(
            "listMemberships",
            "Returns all memberships of a customer with cards and current balances, without the progress through the tiers. Memberships in deleted programs are omitted. The path names the customer or one member of the customer, depending on `identification_type`. An unknown customer is refused with `not_found`, an unknown type with `invalid_query_params`.",
        )
        .returns("The customer and the memberships.")
        .scope("loyalties")
        .query(MEMBERSHIP_QUERY)
        .answers(200, MEMBERSHIPS),
];

/// Reads the name of the customer from the path.
fn read_member_name(call: &Call<'_, '_>) -> Result<MemberName, CallError> {
    let requested = call.query.parameter("identification_type").unwrap_or("customer_id");
    MemberName::find(requested).ok_or_else(|| {
        let names = IDENTIFIED_BY.join(", ");
        let message = format!("Property .identification_type must be one of {names} (actual value is `{requested}`)");
        invalid_query(message).into()
    })
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    let (by, name) = (read_member_name(call)?, call.param("customerId").to_owned());
    let program = find_within(call, &PROGRAM, call.param("programId"))?;
    let member = match by {
        MemberName::MemberId => find_within(call, &MEMBER, &name)?,
        MemberName::CustomerId | MemberName::CustomerSourceId => {
            let customer = find_customer(call, by, &name)?;
            let found = find_membership(call.store, &program.id, &customer.id)?;
            found.ok_or_else(|| not_found(&MEMBER.resource_type(), &name))?
        }
    };
    let present = LocalTime::of(call)?;
    Ok(Response::json(membership_json(call, &present, member, &program, &card_with_tiers_json)?))
}

fn list_all(call: &mut Call<'_, '_>) -> HandlerResult {
    let (by, name) = (read_member_name(call)?, call.param("customerId").to_owned());
    let customer = find_customer(call, by, &name)?;
    let members = any_kind::list_held(call.store, MEMBER.stored, &customer.id)?;
    let present = LocalTime::of(call)?;
    let mut memberships = Vec::new();
    for member in members {
        // A membership of a deleted program is left out.
        if let Some(program) = find_by_id(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())? {
            memberships.push(membership_json(call, &present, member, &program, &card_json)?);
        }
    }
    let customer = json!({ "id": customer.id, "source_id": customer.key, "object": "customer" });
    Ok(Response::json(json!({ "customer": customer, "memberships": memberships, "object": "memberships_result" })))
}

fn membership_json(
    call: &mut Call<'_, '_>,
    present: &LocalTime,
    member: Document,
    program: &Document,
    card: &dyn Fn(&LoadedCard, &LocalTime) -> Result<Json, Fault>,
) -> Result<Json, CallError> {
    let cards = load_settled_cards(call, present, &member.id)?;
    let cards: Vec<Json> = cards.iter().map(|loaded| card(loaded, present)).collect::<Result<_, Fault>>()?;
    let plain = ["id", "name", "status", "metadata", "object"];
    let program = json_members::pick(&program.body, &plain);
    Ok(json!({ "member": member.body, "program": program, "cards": cards, "object": "membership" }))
}

fn card_json(loaded: &LoadedCard, present: &LocalTime) -> Result<Json, Fault> {
    member_card_json(loaded, &present.zone)
}

/// Returns a card with its tier state.
fn card_with_tiers_json(loaded: &LoadedCard, present: &LocalTime) -> Result<Json, Fault> {
    let mut card = card_json(loaded, present)?;
    if let Some(card) = card.as_object_mut() {
        card.insert("tier_progress".into(), progress_json(loaded, present));
    }
    Ok(card)
}
