//! What happened to the tiers of a member. It must not know why.

use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LISTED_BY_AGE;
use crate::document::resource::show_body;
use crate::document::shapes::member_tiers::TRANSACTION;
use crate::http::listing::{List, column};
use crate::http::route::{Call, Outcome, Route, get};
use crate::shop::card_changes::settle;
use crate::shop::cards::{Present, load, rows_of};
use crate::shop::lives::{MEMBER, PROGRAM, find_as};
use crate::shop::standing_rows::TIER_TRANSACTION;

/// How what happened is listed.
const LIST: List =
    List::by_cursor(&[column::AGE], &[("card_id", "json_extract(body, '$.card_id')"), column::CREATED_AT]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v2/loyalties/programs/{programId}/members/{memberId}/tiers/transactions",
    "List what happened to the tiers of a member",
    list,
)
.scope("loyalties")
.query(LISTED_BY_AGE)
.pages(TRANSACTION)];

/// Settles the cards of the member before what happened is listed: what was due is among it, and is true whatever becomes of the call.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    find_as(call, &PROGRAM, call.param("programId"))?;
    let member = find_as(call, &MEMBER, call.param("memberId"))?;
    let present = Present::of(call)?;
    let mut was_due = false;
    for row in rows_of(call.store, &member.id)? {
        let mut held = load(call.store, row, &[])?;
        was_due |= settle(call.store, &present, &mut held)?;
    }
    if was_due {
        call.store.commit()?;
    }
    let mut clause = Clause::of_kind(TIER_TRANSACTION).at(call.now_ms());
    clause.and("parent = {}", member.id);
    cursors::page(call, &LIST, "lcrsttx_", clause, show_body)
}
