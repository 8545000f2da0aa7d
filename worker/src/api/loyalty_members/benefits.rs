//! Benefits that members were granted in addition to points, and failed grants.

use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::cursor_list;
use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes::members as shapes;
use crate::domain::earning::grants::BENEFIT_TRANSACTION;
use crate::domain::loyalty_programs::kinds::{MEMBER, find};
use crate::http::list_options::{List, column};
use crate::http::route::{Call, HandlerResult, Resource, Route, get};
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;

/// Members as the resource of granted benefits.
const RESOURCE: Resource = Resource {
    object: MEMBER.object,
    parameter: "memberId",
    key: plain_key,
    to_json: bodies_to_json,
    shape: shapes::MEMBER.described(),
    list: List::by_cursor(&[], &[]),
};

/// List options of granted benefits.
const LIST: List = List::by_cursor(&[column::AGE], &[("benefit_id", member!("benefit_id")), column::CREATED_AT]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v2/loyalties/programs/{programId}/members/{memberId}/benefits/transactions",
    "List benefit transactions of a member",
    list,
)
.describe(
    "listMemberBenefitTransactions",
    "Returns one record for each incentive that earning rules granted to a member, and for each that could not be granted. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program or member is refused with `not_found`.",
)
.returns("The benefit transactions of this page and the cursor of the next page.")
.with_lifecycle(&RESOURCE, &MEMBER)
.scope("loyalties")
.pages(shapes::BENEFIT_TRANSACTION)
.query(LISTED_BY_AGE)];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let member = find(call)?;
    let mut clause = Clause::of_kind(BENEFIT_TRANSACTION).at(call.now_ms());
    clause.within(&member.id);
    cursor_list::page(call, &LIST, "lcrsbtx_", clause, bodies_to_json)
}
