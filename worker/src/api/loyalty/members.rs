//! Members of loyalty programs: added one by one or many at once, read, listed, changed, led from state to state. It must not know what
//! is on a card.

use crate::document::choice;
use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::{LIMIT, LISTED_BY_AGE};
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::activities::activity;
use crate::document::shapes::members::{CHOICES, CREATE, MEMBER as SHAPE, MEMBER_WITH_CARDS, UPDATE};
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::card_changes::settled_of;
use crate::shop::cards::Present;
use crate::shop::lives::{MEMBER, PROGRAM, find, find_as, named, state_of};
use crate::shop::members::{NamedBy, customer, enrol, note_card, with_cards};
use crate::shop::standing_changes::leave;
use crate::shop::{activities, lifecycle};
use crate::store::document::Document;
use crate::work::batch;
use scrip::lifecycle::State;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const ACTIVITY: Kind = activity!("MemberActivity", "member_id");

/// Members as a resource.
pub const RESOURCE: Resource = Resource {
    object: MEMBER.object,
    parameter: "memberId",
    key: plain_key,
    show: show_body,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::AGE, column::STATUS, ("customer_id", "holder")],
        &[column::ID, column::STATUS, ("customer_id", "holder"), column::CREATED_AT],
    ),
};

const ORDER: Field =
    orders_asked(&Kind::OneOf(&["created_at", "-created_at", "status", "-status", "customer_id", "-customer_id"]));

const ALL: &str = "/v2/loyalties/programs/{programId}/members";
const ONE: &str = "/v2/loyalties/programs/{programId}/members/{memberId}";
const LISTED: &[Field] = &[LIMIT, ORDER, may("filters", Kind::Map), CURSOR_ASKED];
const STARTED: Kind = Kind::Object(&[must("async_action_id", Kind::Text)]);

const fn ours(route: Route) -> Route {
    route.of_life(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    ours(get(ALL, "List the members of a program", list)).pages(SHAPE).query(LISTED),
    ours(post(ALL, "Add a customer to a program", create)).body(CREATE).answers(200, MEMBER_WITH_CARDS),
    ours(post("/v2/loyalties/programs/{programId}/members/batch", "Add many customers to a program", create_many))
        .many(CREATE)
        .answers(202, STARTED),
    ours(get(ONE, "Get a member with the cards", read)).answers(200, MEMBER_WITH_CARDS),
    ours(put(ONE, "Update a member", update)).body(UPDATE),
    ours(delete(ONE, "Delete a member with the cards", remove)),
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/activate",
        "Activate a member",
        lifecycle::advance,
    )),
    ours(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/deactivate",
        "Deactivate a member",
        lifecycle::advance,
    )),
    ours(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/activities",
        "List what happened to a member",
        activities::list,
    ))
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

/// The job that adds many.
pub const BATCH: &str = "LOYALTIES.MEMBERS_CREATE";

fn program(call: &Call<'_, '_>) -> Result<Document, CallError> {
    find_as(call, &PROGRAM, call.param("programId"))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let program = program(call)?;
    let mut clause = Clause::of_kind(MEMBER.stored).at(call.now_ms());
    clause.and("parent = {}", program.id);
    cursors::page(call, &RESOURCE.list, MEMBER.cursor, clause, show_body)
}

/// The customer that a new member is, by either form.
fn settle_customer(call: &Call<'_, '_>, sent: &mut Map<String, Json>) -> Result<Document, CallError> {
    choice::settle(sent, CHOICES)?;
    let text = |object: &Map<String, Json>, name: &str| {
        object.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
    };
    match (sent.get("customer_identification").and_then(Json::as_object), sent.contains_key("customer_id")) {
        (Some(_), true) => {
            let told = "must NOT be present together with customer_identification";
            Err(Problem::at("customer_id", told).into())
        }
        (Some(named), false) => {
            let by = NamedBy::find(&text(named, "type")).unwrap_or(NamedBy::CustomerId);
            customer(call, by, &text(named, by.word()))
        }
        (None, true) => customer(call, NamedBy::CustomerId, &text(sent, "customer_id")),
        (None, false) => Err(Problem::missing("", "customer_identification").into()),
    }
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    let program = program(call)?;
    let customer = settle_customer(call, &mut sent)?;
    let (member, cards) = enrol(call, &program, &customer, sent)?;
    let present = Present::of(call)?;
    Ok(Answer::json(with_cards(member, &cards, &present)))
}

/// Notes at the commit whom to add; the program must be there and act.
fn create_many(call: &mut Call<'_, '_>) -> Outcome {
    let mut items = batch::items(call)?;
    let program = program(call)?;
    if state_of(&program)? != State::Active {
        let told = "Cannot create member when program status is not ACTIVE";
        return Err(error(423, "non_active_program", "Invalid program status", told).into());
    }
    for item in &mut items {
        item.retain(|_, value| !value.is_null());
        item.insert("program_id".into(), program.id.as_str().into());
    }
    batch::answer(call, BATCH, items)
}

/// Adds one of many.
pub fn write_one(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<(), CallError> {
    let id = sent.remove("program_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let program = named(call.store, &PROGRAM, &id)?.ok_or_else(|| not_found(&PROGRAM.resource_type(), &id))?;
    let customer = settle_customer(call, &mut sent)?;
    enrol(call, &program, &customer, sent).map(|_| ())
}

fn read(call: &mut Call<'_, '_>) -> Outcome {
    let member = find(call)?;
    let present = Present::of(call)?;
    let cards = settled_of(call, &present, &member.id)?;
    Ok(Answer::json(with_cards(member, &cards, &present)))
}

/// Takes a member away at the commit, and the cards with it.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let member = find(call)?;
    let present = Present::of(call)?;
    for held in settled_of(call, &present, &member.id)? {
        leave(call.store, &present, &held);
        note_card(call, &member, &held.row, "unassigned");
    }
    lifecycle::advance(call)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    find(call)?;
    if !call.source()?.contains_key("metadata") {
        return Err(Problem::missing("", "metadata").into());
    }
    let mut document = lifecycle::edited(call, &[])?;
    lifecycle::change(call, &MEMBER, &mut document)?;
    lifecycle::answer(call, document)
}
