//! Queries of what belongs to a customer: the redeemables that the customer holds, the segments, and the number of records and
//! custom events.

use super::any_kind::{count, number};
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{COLUMNS, Document};
use crate::store::document_list::clause::Clause;
use crate::store::sql::{self, Fault};
use serde::Deserialize;

/// The digest of a customer's email address, as a column of lists.
pub const EMAIL_DIGEST: &str = "json_extract(marks, '$.email')";

/// The digest of a customer's city, as a column of lists.
pub const CITY_DIGEST: &str = "json_extract(marks, '$.city')";

/// Columns of what a customer holds.
pub mod customer_redeemable_column {
    /// The id under which it is listed.
    pub const ID: &str = "CASE kind WHEN 'voucher' THEN 'rh_' || lower(hex(substr(id, -9))) ELSE id END";
    /// Time since which the customer holds it: when a voucher was published last.
    pub const SINCE: &str = "CASE kind WHEN 'voucher' THEN COALESCE(
           (SELECT MAX(json_extract(given.body, '$.created_at')) FROM document AS given WHERE given.kind = 'publication'
              AND given.holder = document.holder AND EXISTS
                (SELECT 1 FROM json_each(given.body, '$.vouchers_id') AS named WHERE named.value = document.id)),
           json_extract(body, '$.created_at')) ELSE json_extract(body, '$.created_at') END";
    /// The role of the customer.
    pub const ROLE: &str = "COALESCE(json_extract(body, '$.holder_role'), 'OWNER')";
    /// The voucher.
    pub const VOUCHER_ID: &str = "CASE kind WHEN 'voucher' THEN id ELSE parent END";
    /// The type of object.
    pub const OBJECT: &str = "'voucher'";
    /// The campaign.
    pub const CAMPAIGN_ID: &str = "CASE kind WHEN 'voucher' THEN parent ELSE json_extract(body, '$.campaign_id') END";
    /// The type of the campaign.
    pub const CAMPAIGN_TYPE: &str = "CASE kind WHEN 'voucher' THEN
    (SELECT json_extract(campaign.body, '$.campaign_type') FROM document AS campaign WHERE campaign.kind = 'campaign' AND campaign.id = document.parent)
    ELSE json_extract(body, '$.campaign_type') END";
    /// The type of the voucher.
    pub const VOUCHER_TYPE: &str = "COALESCE(json_extract(body, '$.voucher_type'), json_extract(body, '$.type'))";
}

/// Makes the clause for what any customer holds.
pub fn customer_redeemables() -> Clause {
    Clause::of_kinds(&["voucher", "redeemable_holder"])
}

/// Narrows it to a customer. A referral code has separate rows for its holders; its grant belongs to no customer.
pub fn narrow_to_holder(clause: &mut Clause, customer_id: &str) {
    clause.held_by(customer_id);
    clause.and("NOT (kind = {} AND json_extract(body, '$.referrer_id') IS NOT NULL)", "voucher");
}

/// Finds the position of what a customer holds, by the id under which it is listed.
pub fn find_redeemable_position(
    store: &Store<'_>,
    customer_id: &str,
    redeemable_id: &str,
) -> Result<Option<i64>, Fault> {
    number(store.row(
        &format!(
            "SELECT seq FROM document WHERE kind IN ('voucher', 'redeemable_holder') AND holder = +?1 AND +?2 = {}",
            customer_redeemable_column::ID
        ),
        &[customer_id.into(), redeemable_id.into()],
    )?)
}

/// A redeemable as a customer holds it.
#[derive(Debug)]
pub struct CustomerRedeemable {
    /// The id under which it is listed.
    pub id: String,
    /// Time since which the customer holds it.
    pub since: String,
    /// The role of the customer.
    pub role: String,
}

/// Loads how a customer holds the voucher or holder with an id.
pub fn load_customer_redeemable(store: &Store<'_>, id: &str) -> Result<CustomerRedeemable, Fault> {
    let row = store.row(
        &format!(
            "SELECT {}, {}, {} FROM document WHERE kind IN ('voucher', 'redeemable_holder') AND id = +?1",
            customer_redeemable_column::ID,
            customer_redeemable_column::SINCE,
            customer_redeemable_column::ROLE
        ),
        &[id.into()],
    )?;
    let row = row.unwrap_or_default();
    let text = |column| sql::text(&row, column).map(str::to_owned);
    Ok(CustomerRedeemable { id: text(0)?, since: text(1)?, role: text(2)? })
}

/// Numbers of the records of a customer.
#[derive(Debug)]
pub struct RecordCounts {
    /// Custom events.
    pub events: i64,
    /// Orders.
    pub orders: i64,
    /// Segments that list the customer.
    pub segments: i64,
}

/// Counts the records of a customer.
pub fn count_records(store: &Store<'_>, customer_id: &str) -> Result<RecordCounts, Fault> {
    let row = store.row(
        "SELECT (SELECT COUNT(*) FROM every_event WHERE holder = +?1),
           (SELECT COUNT(*) FROM every_order WHERE holder = +?1),
           (SELECT COUNT(*) FROM document WHERE kind = 'segment' AND EXISTS
              (SELECT 1 FROM json_each(body, '$.customers') AS listed WHERE listed.value = ?1))",
        &[customer_id.into()],
    )?;
    let row = row.unwrap_or_default();
    Ok(RecordCounts { events: sql::int(&row, 0)?, orders: sql::int(&row, 1)?, segments: sql::int(&row, 2)? })
}

/// Counts the segments that select customers by a filter.
pub fn count_filtered_segments(store: &Store<'_>) -> Result<i64, Fault> {
    count(store.row(
        "SELECT COUNT(*) FROM document WHERE kind = 'segment' AND json_extract(body, '$.type') <> 'static'",
        &[],
    )?)
}

/// Lists the segments that may contain a customer, without the customers that they list: those with a filter, and static ones
/// that list the customer. The newest come first.
pub fn list_segments_of(store: &Store<'_>, customer_id: &str) -> Result<Vec<Document>, Fault> {
    let columns = COLUMNS.replace("body", "json_remove(body, '$.customers')");
    let statement = format!(
        "SELECT {columns} FROM document
         WHERE kind = 'segment' AND (json_extract(body, '$.type') <> 'static' OR EXISTS (
           SELECT 1 FROM json_each(body, '$.customers') WHERE value = +?1)) ORDER BY created_at DESC, seq DESC"
    );
    store.documents(&statement, &[customer_id.into()])
}

/// Narrows a list of customers to those that a static segment lists.
pub fn narrow_to_segment(clause: &mut Clause, segment_id: &str) {
    let condition = "id IN (SELECT value FROM json_each((SELECT body FROM document WHERE kind = 'segment' AND id = {}), '$.customers'))";
    clause.and_narrow("document_id", condition, segment_id);
}

/// Member of an event that has its name.
#[derive(Deserialize)]
struct EventReference {
    #[serde(default, rename = "type")]
    name: String,
}

impl Store<'_> {
    /// Returns the number of stored events of a name and customer.
    pub fn event_count(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let row = self.row(
            "SELECT COUNT(*) FROM every_event WHERE holder = +?1 AND json_extract(body, '$.type') = +?2",
            &[customer.into(), event.into()],
        )?;
        let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        amount::unsigned(count)
    }

    /// Returns the number of events of a name and customer, including queued ones.
    pub fn event_count_ahead(&self, customer: &str, event: &str) -> Result<u64, Fault> {
        let mut count = self.event_count(customer, event)?;
        for written in
            self.queued_documents().filter(|written| written.kind == "event" && written.holder == Some(customer))
        {
            let named: EventReference = serde_json::from_str(written.text)
                .map_err(|error| Fault(format!("an event does not parse: {error}")))?;
            count = count.plus(u64::from(named.name == event))?;
        }
        Ok(count)
    }
}
