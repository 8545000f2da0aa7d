//! Queries of orders, and of the payments with points. It does not depend on what an order is worth.

use crate::store::Store;
use crate::store::document::Document;
use crate::store::record_tables::with_id;
use crate::store::sql::{self, Fault, SqlValue};
use serde_json::{Map, Value as Json};

/// Stored facts about an order and its customer that decide what follows from writing it.
pub struct OrderHistory {
    /// Status of the stored order.
    pub status: Option<String>,
    /// True if the customer is a member of a program.
    pub is_member: bool,
    /// True if any campaign has earning rules.
    pub has_campaign_rules: bool,
    /// True if the order earned something, could have, or was paid with points.
    pub has_points: bool,
    /// True if the customer is not stored.
    pub is_new_customer: bool,
}

/// Keys by which the history of an order is found.
pub struct OrderHistoryQuery<'a> {
    /// The order.
    pub order_id: &'a str,
    /// Its customer; empty where there is none.
    pub customer_id: &'a str,
    /// Earning key of the order.
    pub earning_key: &'a str,
    /// The account of its payments with points.
    pub payments: &'a str,
}

impl Store<'_> {
    /// Finds the history of an order.
    pub fn find_order_history(&self, query: &OrderHistoryQuery<'_>) -> Result<Option<OrderHistory>, Fault> {
        let mut params =
            vec![query.order_id.into(), query.customer_id.into(), query.earning_key.into(), query.payments.into()];
        let by_id = with_id("every_order", query.order_id, &mut params);
        let statement = format!(
            "SELECT (SELECT json_extract(body, '$.status') FROM every_order WHERE {by_id}),
               EXISTS (SELECT 1 FROM document WHERE kind = 'member' AND holder = +?2), EXISTS (SELECT 1 FROM document WHERE kind = 'earning_rule'),
               EXISTS (SELECT 1 FROM earning_occasion WHERE id = +?3) OR EXISTS (SELECT 1 FROM every_transfer WHERE credit = +?4 AND by_credit = 1)
                 OR EXISTS (SELECT 1 FROM document WHERE kind = 'program_occasion' AND id = +?3),
               NOT EXISTS (SELECT 1 FROM document WHERE kind = 'customer' AND id = +?2)"
        );
        let row = self.row(&statement, &params)?;
        let Some(row) = row else { return Ok(None) };
        let is_set = |column: usize| Ok::<bool, Fault>(sql::int(&row, column)? == 1);
        Ok(Some(OrderHistory {
            status: sql::text_or_null(&row, 0)?.map(str::to_owned),
            is_member: is_set(1)?,
            has_campaign_rules: is_set(2)?,
            has_points: is_set(3)?,
            is_new_customer: is_set(4)?,
        }))
    }

    /// Returns whether something was earned with an earning key, in a campaign or in a program, or could have been.
    pub fn has_earning_key(&self, earning_key: &str) -> Result<bool, Fault> {
        let row = self.row(
            "SELECT EXISTS (SELECT 1 FROM earning_occasion WHERE id = +?1)
               OR EXISTS (SELECT 1 FROM document WHERE kind = 'program_occasion' AND id = +?1)",
            &[earning_key.into()],
        )?;
        row.map_or(Ok(false), |row| Ok(sql::int(&row, 0)? == 1))
    }

    /// Lists the payments with points to an account that are not completely refunded, in the order in which they were written.
    pub fn list_refundable_payments(&self, account: &str) -> Result<Vec<Document>, Fault> {
        self.select(
            "kind = 'order_transaction' AND id IN (SELECT chain FROM every_transfer WHERE credit = +?1 AND by_credit = 1)
               AND json_extract(body, '$.kept.spent') > json_extract(body, '$.kept.back') ORDER BY seq",
            &[account.into()],
        )
    }

    /// Puts the amount and the date of the latest order into the summary of its customer, when the call commits.
    pub fn update_last_order(&mut self, customer_id: &str) {
        let last = |member: &str| {
            format!(
                "(SELECT json_extract(body, '$.{member}') FROM every_order WHERE holder = +?1
                   AND json_extract(body, '$.status') IN ('PAID', 'FULFILLED') ORDER BY created_at DESC, seq DESC LIMIT 1)"
            )
        };
        let statement = format!(
            "UPDATE document SET body = json_set(body, '$.summary.orders.last_order_amount', COALESCE({}, 0),
               '$.summary.orders.last_order_date', {}) WHERE kind = 'customer' AND id = +?1",
            last("total_amount"),
            last("created_at")
        );
        self.write_to("customer", customer_id, statement, vec![customer_id.into()]);
    }
}

/// Moves an order to another time of creation when the call commits.
pub fn update_creation(store: &mut Store<'_>, order_id: &str, created_at: i64) {
    write_to_both(store, order_id, created_at.into(), "created_at = ?1");
}

/// Adds members to the last return of an order when the call commits.
pub fn update_last_return(store: &mut Store<'_>, order_id: &str, details: Map<String, Json>) {
    let set = "body = json_set(body, '$.returns[#-1]', json_patch(json_extract(body, '$.returns[#-1]'), json(?1)))";
    write_to_both(store, order_id, Json::Object(details).to_string().into(), set);
}

/// Queues a change of an order, which may be one of an earlier version.
fn write_to_both(store: &mut Store<'_>, order_id: &str, value: SqlValue, set: &str) {
    for (table, kind) in [("orders", ""), ("document", "kind = 'order' AND ")] {
        let mut params = vec![value.clone()];
        let by_id = with_id(table, order_id, &mut params);
        store.write_to("order", order_id, format!("UPDATE {table} SET {set} WHERE {kind}{by_id}"), params);
    }
}
