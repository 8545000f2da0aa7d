//! Members of loyalty programs: create one or many at once, get, list, update, and change
//! their state.

use crate::documents::common_fields::{LIMIT, LISTED_BY_AGE};
use crate::documents::cursor_list;
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::activities::activity;
use crate::documents::shapes::members::{CHOICES, CREATE, MEMBER as SHAPE, MEMBER_WITH_CARDS, UPDATE};
use crate::documents::tagged_blocks;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card_changes::load_settled_cards;
use crate::domain::loyalty_members::member::{MemberName, enrol, find_customer, member_json, record_card_activity};
use crate::domain::loyalty_members::tier_changes::record_leaving;
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, find, find_by_id, find_within, state_of};
use crate::domain::loyalty_programs::{activities, lifecycle};
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::{CallError, error, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::jobs::bulk_items;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::EntityRecord;
use scrip::lifecycle::EntityState;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json};

const ACTIVITY: FieldType = activity!("MemberActivity", "member_id");

/// Members as a resource.
pub const RESOURCE: Resource = Resource {
    object: MEMBER.object,
    parameter: "memberId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: SHAPE.described(),
    list: List::by_cursor(
        &[column::AGE, column::STATUS, ("customer_id", "holder")],
        &[column::ID, column::STATUS, ("customer_id", "holder"), column::CREATED_AT],
    ),
};

const ORDER: Field = order_parameter(&FieldType::OneOf(&[
    "created_at",
    "-created_at",
    "status",
    "-status",
    "customer_id",
    "-customer_id",
]));

const ALL: &str = "/v2/loyalties/programs/{programId}/members";
const ONE: &str = "/v2/loyalties/programs/{programId}/members/{memberId}";
const LISTED: &[Field] = &[
    LIMIT,
    ORDER,
    may("filters", FieldType::Map).description(
        "Conditions by field, joined by `junction`. Fields: `id`, `status`, `customer_id` and `created_at`.",
    ),
    CURSOR_PARAMETER,
];
const STARTED: FieldType = FieldType::Object(&[must("async_action_id", FieldType::Text).description(
    "ID of the async action that adds the members. Its result lists the customers that could not be added.",
)]);

const fn with_resource(route: Route) -> Route {
    route.with_lifecycle(&RESOURCE, &MEMBER).scope("loyalties")
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    with_resource(get(ALL, "List members of a loyalty program", list))
        .describe(
            "listLoyaltyProgramMembers",
            "Returns the members of a loyalty program except deleted ones, without their cards, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program is refused with `not_found`.",
        )
        .returns("The members of this page and the cursor of the next page.")
        .pages(SHAPE)
        .query(LISTED),
    with_resource(post(ALL, "Create a member", create))
        .describe(
            "createLoyaltyProgramMember",
            "Makes a customer a member of an active program and issues one card for each card definition assigned to the program, all or none. The customer must exist (`not_found`). A program that is not active is refused with `non_active_program`, a second membership of the same customer with `member_already_exists`.",
        )
        .returns("The member with the new cards.")
        .body(CREATE)
        .answers(200, MEMBER_WITH_CARDS),
    with_resource(post("/v2/loyalties/programs/{programId}/members/batch", "Create members in bulk", create_many))
        .describe(
            "createLoyaltyProgramMembers",
            "Starts an async action that makes each listed customer a member, each on its own: a customer that is refused does not affect the others. The program must be active when the call is made (`non_active_program`). A body with an invalid entry is refused as a whole with `invalid_payload`.",
        )
        .returns("The ID of the async action.")
        .many(CREATE)
        .answers(202, STARTED),
    with_resource(get(ONE, "Get a member", read))
        .describe(
            "getLoyaltyProgramMember",
            "Returns one member with all cards and their current balances. Points that are due to expire or to become active by now are taken into account. An unknown or deleted member is refused with `not_found`.",
        )
        .returns("The member with the cards.")
        .answers(200, MEMBER_WITH_CARDS),
    with_resource(put(ONE, "Update a member", update))
        .describe(
            "updateLoyaltyProgramMember",
            "Merges the sent metadata into that of a member; `null` removes all metadata. No other field can change. A body without `metadata` is refused with `invalid_payload`, an unknown member with `not_found`.",
        )
        .returns("The member after the change, without the cards.")
        .body(UPDATE),
    with_resource(delete(ONE, "Delete a member", remove))
        .describe(
            "deleteLoyaltyProgramMember",
            "Sets the status of a member to `DELETED`, which is final, and deletes the cards and tier of the member. All points are lost. The customer can become a member of the program again. An unknown member is refused with `not_found`.",
        )
        .returns("The member with status `DELETED`, without the cards."),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/activate",
        "Activate a member",
        lifecycle::advance,
    ))
    .describe(
        "activateLoyaltyProgramMember",
        "Changes the status of an inactive member to `ACTIVE`, so that the member can earn and spend points. A member that is active already is refused with `invalid_state_transition`, an unknown member with `not_found`.",
    )
    .returns("The member with status `ACTIVE`, without the cards."),
    with_resource(post(
        "/v2/loyalties/programs/{programId}/members/{memberId}/deactivate",
        "Deactivate a member",
        lifecycle::advance,
    ))
    .describe(
        "deactivateLoyaltyProgramMember",
        "Changes the status of an active member to `INACTIVE`. The member keeps cards and points, but cannot earn or spend. A member that is not active is refused with `invalid_state_transition`, an unknown member with `not_found`.",
    )
    .returns("The member with status `INACTIVE`, without the cards."),
    with_resource(get(
        "/v2/loyalties/programs/{programId}/members/{memberId}/activities",
        "List activities of a member",
        activities::list,
    ))
    .describe(
        "listLoyaltyProgramMemberActivities",
        "Returns the records of changes to a member: creation, updates, changes of status, and assignment and removal of cards. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown member is refused with `not_found`.",
    )
    .returns("The records of this page, newest first by default, and the cursor of the next page.")
    .pages(ACTIVITY)
    .query(LISTED_BY_AGE),
];

/// Kind of the job that adds many members.
pub const BATCH: &str = "LOYALTIES.MEMBERS_CREATE";

fn find_program(call: &Call<'_, '_>) -> Result<Document, CallError> {
    find_within(call, &PROGRAM, call.param("programId"))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let program = find_program(call)?;
    let mut clause = Clause::of_kind(MEMBER.stored).at(call.now_ms());
    clause.within(&program.id);
    cursor_list::page(call, &RESOURCE.list, MEMBER.cursor, clause, bodies_to_json)
}

/// Returns the customer of a new member, from either form of the request.
fn find_customer_of_request(call: &Call<'_, '_>, sent: &mut Map<String, Json>) -> Result<Document, CallError> {
    tagged_blocks::check_blocks(sent, CHOICES)?;
    let text = |object: &Map<String, Json>, name: &str| {
        object.get(name).and_then(Json::as_str).map(str::to_owned).unwrap_or_default()
    };
    match (sent.get("customer_identification").and_then(Json::as_object), sent.contains_key("customer_id")) {
        (Some(_), true) => {
            let message = "must NOT be present together with customer_identification";
            Err(Problem::at("customer_id", message).into())
        }
        (Some(identification), false) => {
            let by = MemberName::find(&text(identification, "type")).unwrap_or(MemberName::CustomerId);
            find_customer(call, by, &text(identification, by.name()))
        }
        (None, true) => find_customer(call, MemberName::CustomerId, &text(sent, "customer_id")),
        (None, false) => Err(Problem::missing("", "customer_identification").into()),
    }
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    let program = find_program(call)?;
    let customer = find_customer_of_request(call, &mut sent)?;
    let (member, cards) = enrol(call, &program, &customer, EntityRecord::of(&sent))?;
    let present = LocalTime::of(call)?;
    Ok(Response::json(member_json(member, &cards, &present)?))
}

/// Records the members to add when the call commits; the program must exist and be active.
fn create_many(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut items = bulk_items::items(call)?;
    let program = find_program(call)?;
    if state_of(&program)? != EntityState::Active {
        let message = "Cannot create member when program status is not ACTIVE";
        return Err(error(423, "non_active_program", "Invalid program status", message).into());
    }
    for item in &mut items {
        item.retain(|_, value| !value.is_null());
        item.insert("program_id".into(), program.id.as_str().into());
    }
    bulk_items::answer(call, BATCH, items)
}

/// Adds one member of a list.
pub fn write_one(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<(), CallError> {
    let id = sent.remove("program_id").and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default();
    let program = find_by_id(call.store, &PROGRAM, &id)?.ok_or_else(|| not_found(&PROGRAM.resource_type(), &id))?;
    let customer = find_customer_of_request(call, &mut sent)?;
    enrol(call, &program, &customer, EntityRecord::of(&sent)).map(|_| ())
}

fn read(call: &mut Call<'_, '_>) -> HandlerResult {
    let member = find(call)?;
    let present = LocalTime::of(call)?;
    let cards = load_settled_cards(call, &present, &member.id)?;
    Ok(Response::json(member_json(member, &cards, &present)?))
}

/// Queues the deletion of a member with the cards.
fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let member = find(call)?;
    let present = LocalTime::of(call)?;
    for loaded in load_settled_cards(call, &present, &member.id)? {
        record_leaving(call.store, &present, &loaded);
        record_card_activity(call, &member, &loaded.row, "unassigned");
    }
    lifecycle::advance(call)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    find(call)?;
    if !call.source()?.contains_key("metadata") {
        return Err(Problem::missing("", "metadata").into());
    }
    let mut document = lifecycle::merge_request(call, &[])?;
    lifecycle::update(call, &MEMBER, &mut document)?;
    lifecycle::respond(call, document)
}
