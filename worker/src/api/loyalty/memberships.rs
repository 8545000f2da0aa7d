//! Memberships of a customer: in one program, or in all. It must not know how anybody became a member.

use crate::document::part;
use crate::document::shapes::member_tiers::MEMBERSHIP;
use crate::document::shapes::members::{IDENTIFIED_BY, MEMBERSHIPS};
use crate::http::reply::{CallError, invalid_query, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Field, Kind, may};
use crate::shop::card_changes::settled_of;
use crate::shop::card_rows::member_card;
use crate::shop::cards::{Held, Present};
use crate::shop::lives::{MEMBER, PROGRAM, find_as, named};
use crate::shop::members::{NamedBy, customer, of_customer};
use crate::shop::standing_rows::progress;
use crate::store::document::Document;
use serde_json::{Value as Json, json};

const ASKED: &[Field] = &[may("identification_type", Kind::OneOf(IDENTIFIED_BY)).says("What the path names")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v2/loyalties/programs/{programId}/memberships/{customerId}", "Find a member by the customer", read)
        .scope("loyalties")
        .query(ASKED)
        .answers(200, MEMBERSHIP),
    get("/v2/loyalties/memberships/{customerId}", "List the memberships of a customer", all)
        .scope("loyalties")
        .query(ASKED)
        .answers(200, MEMBERSHIPS),
];

/// What the path names the customer by.
fn named_by(call: &Call<'_, '_>) -> Result<NamedBy, CallError> {
    let asked = call.query.get("identification_type").unwrap_or("customer_id");
    NamedBy::find(asked).ok_or_else(|| {
        let words = IDENTIFIED_BY.join(", ");
        let told = format!("Property .identification_type must be one of {words} (actual value is `{asked}`)");
        invalid_query(told).into()
    })
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    let (by, name) = (named_by(call)?, call.param("customerId").to_owned());
    let program = find_as(call, &PROGRAM, call.param("programId"))?;
    let member = match by {
        NamedBy::MemberId => find_as(call, &MEMBER, &name)?,
        NamedBy::CustomerId | NamedBy::CustomerSourceId => {
            let customer = customer(call, by, &name)?;
            let found = of_customer(call.store, &program.id, &customer.id)?;
            found.ok_or_else(|| not_found(&MEMBER.resource_type(), &name))?
        }
    };
    let present = Present::of(call)?;
    Ok(Answer::json(membership(call, &present, member, &program, &card_with_tiers)?))
}

fn all(call: &mut Call<'_, '_>) -> Outcome {
    let (by, name) = (named_by(call)?, call.param("customerId").to_owned());
    let customer = customer(call, by, &name)?;
    let members = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND holder = +?2 ORDER BY seq",
        &[MEMBER.stored.into(), customer.id.as_str().into()],
    )?;
    let present = Present::of(call)?;
    let mut memberships = Vec::new();
    for member in members {
        // Members of a program that is gone are members of nothing.
        if let Some(program) = named(call.store, &PROGRAM, member.parent.as_deref().unwrap_or_default())? {
            memberships.push(membership(call, &present, member, &program, &plain_card)?);
        }
    }
    let customer = json!({ "id": customer.id, "source_id": customer.key, "object": "customer" });
    Ok(Answer::json(json!({ "customer": customer, "memberships": memberships, "object": "memberships_result" })))
}

fn membership(
    call: &mut Call<'_, '_>,
    present: &Present,
    member: Document,
    program: &Document,
    card: &dyn Fn(&Held, &Present) -> Json,
) -> Result<Json, CallError> {
    let cards = settled_of(call, present, &member.id)?;
    let cards: Vec<Json> = cards.iter().map(|held| card(held, present)).collect();
    let plain = ["id", "name", "status", "metadata", "object"];
    let program = part::known(&program.body, &plain);
    Ok(json!({ "member": member.body, "program": program, "cards": cards, "object": "membership" }))
}

fn plain_card(held: &Held, present: &Present) -> Json {
    member_card(held, &present.zone)
}

/// A card with its way through the tiers.
fn card_with_tiers(held: &Held, present: &Present) -> Json {
    let mut card = plain_card(held, present);
    if let Some(card) = card.as_object_mut() {
        card.insert("tier_progress".into(), progress(held, present));
    }
    card
}
