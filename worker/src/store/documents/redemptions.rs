//! Queries of redemptions and of the transactions of cards, which are one list.

use super::any_kind::{count, number};
use crate::store::Store;
use crate::store::document::{Document, select};
use crate::store::document_list::clause::Clause;
use crate::store::sql::Fault;

/// Id of a transaction: a redemption is listed under its own id as a transaction.
pub const TRANSACTION_ID: &str =
    "CASE kind WHEN 'redemption' THEN 'vtx_' || substr(id, instr(id, '_') + 1) ELSE id END";

/// Time of a transaction: a redemption is dated when it was made.
pub const TRANSACTION_DATE: &str = "COALESCE(json_extract(body, '$.created_at'), json_extract(body, '$.date'))";

/// Makes the clause for the transactions of any card.
pub fn transactions() -> Clause {
    Clause::of_kinds(&["redemption", "voucher_transaction"])
}

/// Narrows transactions to those that moved the balance of a card.
pub fn narrow_to_card(clause: &mut Clause, card_id: &str) {
    clause.and("parent = {} AND COALESCE(json_extract(body, '$.result'), 'SUCCESS') = 'SUCCESS'", card_id);
}

/// Narrows transactions to those that moved the balance of a card of a campaign.
pub fn narrow_to_cards_of(clause: &mut Clause, campaign_id: &str) {
    clause.and(
        "parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = {})
           AND COALESCE(json_extract(body, '$.result'), 'SUCCESS') = 'SUCCESS'",
        campaign_id,
    );
}

/// Finds the position of a transaction of a card among all documents.
pub fn find_position_of_card(store: &Store<'_>, card_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    number(store.row(
        "SELECT seq FROM document WHERE kind IN ('redemption', 'voucher_transaction') AND parent = +?1
           AND id IN (?2, 'r_' || ?3, 'rr_' || ?3) ORDER BY seq LIMIT 1",
        &[card_id.into(), id.into(), own_part(id).into()],
    )?)
}

/// Finds the position of a transaction of a campaign's cards among all documents.
pub fn find_position_of_campaign(store: &Store<'_>, campaign_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    number(store.row(
        "SELECT seq FROM document WHERE kind IN ('redemption', 'voucher_transaction') AND id IN (?2, 'r_' || ?3, 'rr_' || ?3)
           AND parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = +?1) ORDER BY seq LIMIT 1",
        &[campaign_id.into(), id.into(), own_part(id).into()],
    )?)
}

/// Lists the redemptions and rollbacks of a voucher that were stored last, the last one first.
pub fn list_last_of_voucher(store: &Store<'_>, voucher_id: &str, limit: i64) -> Result<Vec<Document>, Fault> {
    let statement = select("kind = 'redemption' AND parent = +?1 ORDER BY seq DESC LIMIT +?2");
    store.documents(&statement, &[voucher_id.into(), limit.into()])
}

/// Counts the redemptions and rollbacks of a voucher.
pub fn count_of_voucher(store: &Store<'_>, voucher_id: &str) -> Result<i64, Fault> {
    count(store.row("SELECT COUNT(*) FROM document WHERE kind = 'redemption' AND parent = +?1", &[voucher_id.into()])?)
}

/// Returns the part of the id of a transaction that it has in common with its redemption.
fn own_part(id: &str) -> &str {
    id.strip_prefix("vtx_").unwrap_or(id)
}
