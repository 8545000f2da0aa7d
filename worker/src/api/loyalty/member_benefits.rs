//! What members were given beside points, and what could not be given. It must not know how it is earned.

use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LISTED_BY_AGE;
use crate::document::resource::{plain_key, show_body};
use crate::document::shapes::members as shapes;
use crate::http::listing::{List, column};
use crate::http::route::{Call, Outcome, Resource, Route, get};
use crate::shop::handing_out::BENEFIT_TRANSACTION;
use crate::shop::lives::{MEMBER, find};

/// Members, as those who were given something.
const RESOURCE: Resource = Resource {
    object: MEMBER.object,
    parameter: "memberId",
    key: plain_key,
    show: show_body,
    shape: shapes::MEMBER.described(),
    list: List::by_cursor(&[], &[]),
};

/// How what was given is listed.
const LIST: List =
    List::by_cursor(&[column::AGE], &[("benefit_id", "json_extract(body, '$.benefit_id')"), column::CREATED_AT]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v2/loyalties/programs/{programId}/members/{memberId}/benefits/transactions",
    "List what a member was given beside points",
    list,
)
.of_life(&RESOURCE, &MEMBER)
.scope("loyalties")
.pages(shapes::BENEFIT_TRANSACTION)
.query(LISTED_BY_AGE)];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let member = find(call)?;
    let mut clause = Clause::of_kind(BENEFIT_TRANSACTION).at(call.now_ms());
    clause.and("parent = {}", member.id);
    cursors::page(call, &LIST, "lcrsbtx_", clause, show_body)
}
