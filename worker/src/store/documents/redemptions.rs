//! Queries of redemptions and of the transactions of cards, which are one list, and the inputs of redemptions: one row for each decision,
//! under the number of its record.

use super::any_kind::{count, number};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_rows::select_of;
use crate::store::jobs::remnants::blank;
use crate::store::record_tables::{CARD_TRANSACTIONS, with_id, with_ids};
use crate::store::sql::{self, Fault, SqlRow};

/// Id of a transaction: a redemption is listed under its own id as a transaction.
pub const TRANSACTION_ID: &str =
    "CASE kind WHEN 'redemption' THEN 'vtx_' || substr(id, instr(id, '_') + 1) ELSE id END";

/// Time of a transaction: a redemption is dated when it was made.
pub const TRANSACTION_DATE: &str = "COALESCE(json_extract(body, '$.created_at'), json_extract(body, '$.date'))";

/// Makes the clause for the transactions of any card.
pub fn transactions() -> Clause {
    Clause::of_kinds(CARD_TRANSACTIONS.0)
}

/// Narrows transactions to those that moved the balance of a card.
pub fn narrow_to_card(clause: &mut Clause, card_id: &str) {
    clause.within(card_id);
    clause.and("COALESCE(json_extract(body, '$.result'), {}) = 'SUCCESS'", "SUCCESS");
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
    find_position_where(store, "parent = +?1", card_id, id)
}

/// Finds the position of a transaction of a campaign's cards among all documents.
pub fn find_position_of_campaign(store: &Store<'_>, campaign_id: &str, id: &str) -> Result<Option<i64>, Fault> {
    let of_campaign = "EXISTS (SELECT 1 FROM document AS card WHERE card.kind = 'voucher' AND card.id = every_card_transaction.parent AND card.parent = +?1)";
    find_position_where(store, of_campaign, campaign_id, id)
}

fn find_position_where(store: &Store<'_>, condition: &str, owner: &str, id: &str) -> Result<Option<i64>, Fault> {
    let own = own_part(id);
    let ids = [id.to_owned(), format!("r_{own}"), format!("rr_{own}")];
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let mut params = vec![owner.into()];
    let by_ids = with_ids(CARD_TRANSACTIONS.1, &ids, &mut params);
    let statement =
        format!("SELECT seq FROM every_card_transaction WHERE {by_ids} AND {condition} ORDER BY seq LIMIT 1");
    number(store.row(&statement, &params)?)
}

/// Lists the redemptions and rollbacks of a voucher that were stored last, the last one first.
pub fn list_last_of_voucher(store: &Store<'_>, voucher_id: &str, limit: i64) -> Result<Vec<Document>, Fault> {
    let statement = select_of("redemption", "parent = +?1 ORDER BY created_at DESC, seq DESC LIMIT +?2");
    store.documents(&statement, &[voucher_id.into(), limit.into()])
}

/// Counts the redemptions and rollbacks of a voucher.
pub fn count_of_voucher(store: &Store<'_>, voucher_id: &str) -> Result<i64, Fault> {
    count(store.row("SELECT COUNT(*) FROM every_redemption WHERE parent = +?1", &[voucher_id.into()])?)
}

/// Returns the part of the id of a transaction that it has in common with its redemption.
fn own_part(id: &str) -> &str {
    id.strip_prefix("vtx_").unwrap_or(id)
}

/// Input to be kept.
pub struct NewInput<'i> {
    /// Id of the redemption: of several redeemables, that of their parent.
    pub redemption: &'i str,
    /// Time in milliseconds.
    pub created_at: i64,
    /// Bytes of the row; of an input that is too large, the bytes that it would need.
    pub bytes: i64,
    /// Compressed text; empty if it is too large.
    pub body: String,
}

/// Input that was found.
pub struct FoundInput {
    /// Time in milliseconds.
    pub created_at: i64,
    /// Bytes of the row, or those that it would need.
    pub bytes: i64,
    /// Compressed text; empty if it was too large.
    pub body: String,
}

/// For how many days a project keeps inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplaySetting {
    /// Number of days; 0 where none is kept.
    pub days: i64,
    /// Time of the change of the settings with it, in milliseconds.
    pub changed_ms: i64,
}

/// Row to be searched for names.
pub struct InputText {
    /// Number of the row.
    pub seq: i64,
    /// Compressed text.
    pub body: String,
}

/// Queues the insertion of an input, after that of its record.
pub fn insert_input(store: &mut Store<'_>, input: NewInput<'_>) {
    let mut params = vec![input.created_at.into(), input.bytes.into(), input.body.into()];
    let by_id = with_id("redemption", input.redemption, &mut params);
    let statement = format!(
        "INSERT OR REPLACE INTO redemption_input (seq, redemption, created_at, bytes, body)
         SELECT seq, id, ?1, ?2, ?3 FROM redemption WHERE {by_id}"
    );
    store.write(statement, params);
}

/// Finds the input of a redemption by the id of its record, or of its parent's.
pub fn find_input(store: &Store<'_>, redemption: &str) -> Result<Option<FoundInput>, Fault> {
    let mut params = Vec::new();
    let by_id = with_id("every_redemption", redemption, &mut params);
    let row = store.row(
        &format!(
            "SELECT input.created_at, input.bytes, input.body FROM (SELECT seq, id FROM every_redemption WHERE {by_id}) AS own
             CROSS JOIN redemption_input AS input ON input.seq = own.seq WHERE input.redemption = own.id"
        ),
        &params,
    )?;
    let read = |row: SqlRow| {
        Ok(FoundInput {
            created_at: sql::int(&row, 0)?,
            bytes: sql::int(&row, 1)?,
            body: sql::text(&row, 2)?.to_owned(),
        })
    };
    row.map(read).transpose()
}

/// Queues for how many days inputs are kept from now on.
pub fn update_replay_setting(store: &mut Store<'_>, setting: ReplaySetting) {
    store.write(
        "INSERT OR REPLACE INTO replay_setting (id, days, changed_ms) VALUES (1, ?1, ?2)",
        vec![setting.days.into(), setting.changed_ms.into()],
    );
}

/// Finds for how many days inputs are kept; `None` if none was ever kept.
pub fn find_replay_setting(store: &Store<'_>) -> Result<Option<ReplaySetting>, Fault> {
    let row = store.row("SELECT days, changed_ms FROM replay_setting WHERE id = 1", &[])?;
    row.map(|row| Ok(ReplaySetting { days: sql::int(&row, 0)?, changed_ms: sql::int(&row, 1)? })).transpose()
}

/// Lists the inputs after a number, up to `most`.
pub fn list_inputs_after(store: &Store<'_>, after: i64, most: i64) -> Result<Vec<InputText>, Fault> {
    let rows = store.rows(
        "SELECT seq, body FROM redemption_input WHERE seq > +?1 ORDER BY seq LIMIT +?2",
        &[after.into(), most.into()],
    )?;
    rows.iter().map(|row| Ok(InputText { seq: sql::int(row, 0)?, body: sql::text(row, 1)?.to_owned() })).collect()
}

/// Queues the deletion of an input, whose text is overwritten first.
pub fn erase_input(store: &mut Store<'_>, seq: i64) {
    let body = blank("body");
    store.write(format!("UPDATE redemption_input SET body = {body} WHERE seq = +?1"), vec![seq.into()]);
    store.write("DELETE FROM redemption_input WHERE seq = +?1", vec![seq.into()]);
}
