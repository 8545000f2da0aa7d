//! Tier transactions of a member.

use crate::commit;
use crate::documents::common_fields::LISTED_BY_AGE;
use crate::documents::cursor_list;
use crate::documents::resource::bodies_to_json;
use crate::documents::shapes::member_tiers::TRANSACTION;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::{list_cards, load};
use crate::domain::loyalty_members::card_changes::settle;
use crate::domain::loyalty_members::tier_view::TIER_TRANSACTION;
use crate::domain::loyalty_programs::kinds::{MEMBER, PROGRAM, find_within};
use crate::http::list_options::{List, column};
use crate::http::route::{Call, HandlerResult, Route, get};
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;

/// List options of tier transactions.
const LIST: List = List::by_cursor(&[column::AGE], &[("card_id", member!("card_id")), column::CREATED_AT]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v2/loyalties/programs/{programId}/members/{memberId}/tiers/transactions",
    "List tier transactions of a member",
    list,
)
.describe(
    "listMemberTierTransactions",
    "Returns the movements of a member between tiers: joined, upgraded, downgraded, left and prolonged. Changes that are due by now are settled first. The newest is first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown program or member is refused with `not_found`.",
)
.returns("The tier transactions of this page and the cursor of the next page.")
.scope("loyalties")
.query(LISTED_BY_AGE)
.pages(TRANSACTION)];

/// Settles the cards of the member, then lists the transactions: due changes are included, and stay even if the call fails.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    find_within(call, &PROGRAM, call.param("programId"))?;
    let member = find_within(call, &MEMBER, call.param("memberId"))?;
    let present = LocalTime::of(call)?;
    let mut was_due = false;
    for row in list_cards(call.store, &member.id)? {
        let mut loaded = load(call.store, row, &[])?;
        was_due |= settle(call.store, &present, &mut loaded)?;
    }
    if was_due {
        commit::settle_first(call)?;
    }
    let mut clause = Clause::of_kind(TIER_TRANSACTION).at(call.now_ms());
    clause.within(&member.id);
    cursor_list::page(call, &LIST, "lcrsttx_", clause, bodies_to_json)
}
