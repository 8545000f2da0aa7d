//! The activity of a customer, composed from the documents that name the customer or the customer's cards.

use super::any_kind::count as count_of;
use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow, SqlValue};
use serde_json::{Map, Value as Json};

/// Query for all records of the customer ?1, each with its time, its type and its campaign. A document with two
/// times has two rows.
const ACTIVITY_ROWS: &str = "WITH recorded (kind, id, parent, at, seq, body) AS (
      SELECT kind, id, parent, created_at, seq, body FROM every_event WHERE holder = +?1
      UNION ALL SELECT kind, id, parent, created_at, seq, body FROM every_order WHERE holder = +?1
      UNION ALL SELECT 'order.turned', id, parent, COALESCE(updated_at, created_at), seq, body FROM every_order
      WHERE holder = +?1 AND body ->> '$.status' IN ('PAID', 'CANCELED', 'FULFILLED')
      UNION ALL SELECT kind, id, parent, created_at, seq, body FROM every_redemption WHERE holder = +?1
      UNION ALL SELECT column1, id, parent, created_at, seq, body FROM every_redemption CROSS JOIN (VALUES ('reward.created'), ('reward.completed'))
      WHERE holder = +?1 AND body ->> '$.reward.id' IS NOT NULL AND body ->> '$.object' = 'redemption' AND body ->> '$.result' = 'SUCCESS'
    ), documented (kind, id, parent, at, seq, body) AS (
      SELECT kind, id, parent, created_at, seq, body FROM document
      WHERE kind IN ('publication', 'redeemable_holder', 'tier_transaction') AND holder = +?1
      UNION ALL SELECT column1, id, NULL, created_at, seq, body
      FROM document CROSS JOIN (VALUES ('reward.created'), ('reward.completed'))
      WHERE kind = 'reward_transaction' AND holder = +?1 AND body ->> '$.type' = 'PURCHASE' AND body ->> '$.status' = 'APPROVED'
      UNION ALL SELECT moved.kind, moved.id, moved.parent, moved.created_at, moved.seq, moved.body
      FROM document AS card CROSS JOIN document AS moved
        ON moved.kind = 'pending_points_change' AND moved.parent = card.id
      WHERE card.kind = 'voucher' AND card.holder = +?1
      UNION ALL SELECT 'voucher_transaction', moved.id, moved.parent, moved.created_at, moved.seq, moved.body
      FROM document AS card CROSS JOIN every_voucher_transaction AS moved ON moved.parent = card.id
      WHERE card.kind = 'voucher' AND card.holder = +?1
      UNION ALL SELECT column1, id, NULL, CASE column1 WHEN 'customer' THEN created_at ELSE updated_at END, seq, '{}'
      FROM document CROSS JOIN (VALUES ('customer'), ('customer.updated'))
      WHERE kind = 'customer' AND id = +?1 AND (column1 = 'customer' OR updated_at > created_at)
    ), seen AS (
      SELECT * FROM recorded UNION ALL SELECT * FROM documented
    ), placed AS (
      SELECT *, CASE kind
          WHEN 'customer.updated' THEN 'event_updated_' || id WHEN 'order.turned' THEN 'event_turned_' || id
          WHEN 'reward.created' THEN 'event_created_' || id WHEN 'reward.completed' THEN 'event_completed_' || id
          ELSE 'event_' || id END AS name,
        CASE kind
          WHEN 'customer' THEN 'customer.created' WHEN 'customer.updated' THEN 'customer.updated' WHEN 'event' THEN 'customer.custom_event'
          WHEN 'order' THEN 'customer.order.created' WHEN 'order.turned' THEN 'customer.order.' || lower(body ->> '$.status')
          WHEN 'reward.created' THEN 'customer.reward_redemptions.created' WHEN 'reward.completed' THEN 'customer.reward_redemptions.completed'
          WHEN 'tier_transaction' THEN 'customer.loyalty.tier.' || lower(body ->> '$.type')
          WHEN 'redeemable_holder' THEN 'customer.holder.assignment.created'
          WHEN 'publication' THEN CASE body ->> '$.result' WHEN 'FAILURE' THEN 'customer.publication.failed' ELSE 'customer.publication.succeeded' END
          WHEN 'redemption' THEN CASE body ->> '$.object' WHEN 'redemption_rollback' THEN 'customer.redemption.rollback.' ELSE 'customer.redemption.' END
            || CASE body ->> '$.result' WHEN 'FAILURE' THEN 'failed' ELSE 'succeeded' END
          WHEN 'pending_points_change' THEN 'customer.voucher.loyalty_card.pending_points.' || (body ->> '$.change')
          ELSE CASE body ->> '$.type'
            WHEN 'POINTS_ACCRUAL' THEN 'customer.rewarded.loyalty_points' WHEN 'POINTS_ADDITION' THEN 'customer.voucher.loyalty_card.points_added'
            WHEN 'POINTS_REMOVAL' THEN 'customer.voucher.loyalty_card.points_added'
            WHEN 'POINTS_EXPIRATION' THEN 'customer.voucher.loyalty_card.points_expired'
            WHEN 'PENDING_POINTS_ACTIVATION' THEN 'customer.voucher.loyalty_card.pending_points.activated'
            WHEN 'CREDITS_ADDITION' THEN 'customer.voucher.gift.balance_added' WHEN 'CREDITS_REMOVAL' THEN 'customer.voucher.gift.balance_added'
            ELSE 'customer.voucher.loyalty_card.points_transferred' END
        END AS type,
        CASE kind WHEN 'redemption' THEN parent WHEN 'reward.created' THEN parent WHEN 'reward.completed' THEN parent
          WHEN 'voucher_transaction' THEN parent WHEN 'pending_points_change' THEN parent
          WHEN 'redeemable_holder' THEN parent WHEN 'publication' THEN body ->> '$.vouchers_id[0]' END AS voucher
      FROM seen
    ), described AS (
      SELECT placed.*, card.body ->> '$.code' AS code, campaign.id AS campaign_id, campaign.body ->> '$.name' AS campaign_name,
        campaign.body ->> '$.campaign_type' AS campaign_type,
        CASE WHEN type GLOB 'customer.voucher.*' OR type GLOB 'customer.rewarded*' OR type GLOB 'customer.holder.*'
          OR type GLOB 'customer.loyalty.*' THEN 'EFFECT' ELSE 'ACTION' END
          AS category
      FROM placed
      LEFT JOIN document AS card ON card.kind = 'voucher' AND card.id = placed.voucher
      LEFT JOIN document AS tier ON tier.kind = 'promotion_tier' AND tier.id = placed.voucher
      LEFT JOIN document AS stack ON stack.kind = 'promotion_stack' AND stack.id = placed.voucher
      LEFT JOIN document AS campaign ON campaign.kind = 'campaign' AND campaign.id = COALESCE(card.parent, tier.parent, stack.parent)
    )";

/// Order of a list of activities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActivityOrder {
    /// By their times.
    Time,
    /// By their types.
    Type,
    /// By the codes of their vouchers.
    Code,
    /// By the names of their campaigns.
    Campaign,
    /// By their categories.
    Category,
}

impl ActivityOrder {
    fn column(self) -> &'static str {
        match self {
            ActivityOrder::Time => "at",
            ActivityOrder::Type => "type",
            ActivityOrder::Code => "code",
            ActivityOrder::Campaign => "campaign_name",
            ActivityOrder::Category => "category",
        }
    }
}

/// Conditions of a list of the activities of one customer.
#[derive(Debug, Clone)]
pub struct ActivityFilter {
    text: String,
    /// The first is the customer.
    params: Vec<SqlValue>,
}

impl ActivityFilter {
    /// Makes the filter for all activities of a customer.
    pub fn of_customer(customer_id: &str) -> ActivityFilter {
        ActivityFilter { text: "TRUE".into(), params: vec![customer_id.into()] }
    }

    fn and(&mut self, condition: &str, value: impl Into<SqlValue>) {
        self.params.push(value.into());
        self.text.push_str(" AND ");
        self.text.push_str(&condition.replace("{}", &format!("?{}", self.params.len())));
    }

    /// Narrows it to activities from a time on.
    pub fn from(&mut self, at_ms: i64) {
        self.and("at >= +{}", at_ms);
    }

    /// Narrows it to activities up to a time.
    pub fn until(&mut self, at_ms: i64) {
        self.and("at <= +{}", at_ms);
    }

    /// Narrows it to activities before a time, or else after it.
    pub fn bound_time(&mut self, at_ms: i64, is_before: bool) {
        self.and(if is_before { "at < +{}" } else { "at > +{}" }, at_ms);
    }

    /// Narrows it to a campaign.
    pub fn of_campaign(&mut self, campaign_id: &str) {
        self.and("campaign_id = +{}", campaign_id);
    }

    /// Narrows it to a type of campaigns.
    pub fn of_campaign_type(&mut self, campaign_type: &str) {
        self.and("campaign_type = +{}", campaign_type);
    }

    /// Narrows it to a type of activities.
    pub fn of_type(&mut self, activity_type: &str) {
        self.and("type = +{}", activity_type);
    }

    /// Narrows it to a category of activities.
    pub fn of_category(&mut self, category: &str) {
        self.and("category = +{}", category);
    }

    /// Narrows it to activities with an order that contains a product.
    pub fn with_product(&mut self, product_id: &str) {
        self.and(
            "EXISTS (SELECT 1 FROM json_each(COALESCE(body -> '$.order.items', body -> '$.items', '[]')) AS item
            WHERE COALESCE(item.value ->> '$.product_id', item.value ->> '$.product.id') = +{})",
            product_id,
        );
    }

    /// Narrows it to the activities behind a position in an order.
    pub fn continue_after(&mut self, position: ActivityPosition, order: ActivityOrder, descends: bool) {
        let column = order.column();
        let sign = if descends { "<" } else { ">" };
        self.params.extend(position.0);
        let last = self.params.len();
        // The position has three parameters.
        let [first, second] = [last.saturating_sub(2), last.saturating_sub(1)];
        self.text.push_str(&format!(
            " AND (COALESCE({column}, ''), seq, name) {sign} (CAST(?{first} AS {}), CAST(?{second} AS INTEGER), ?{last})",
            if order == ActivityOrder::Time { "INTEGER" } else { "TEXT" }
        ));
    }
}

/// Position of an activity in a list.
#[derive(Debug)]
pub struct ActivityPosition([SqlValue; 3]);

/// An activity.
#[derive(Debug)]
pub struct Activity {
    /// Its id.
    pub id: String,
    /// Its type.
    pub activity_type: String,
    /// Its time, in milliseconds since 1970.
    pub at: i64,
    /// The kind of its record.
    pub kind: String,
    /// The record.
    pub body: Map<String, Json>,
    /// The voucher that it concerns.
    pub voucher_id: Option<String>,
    /// The campaign that it concerns.
    pub campaign_id: Option<String>,
}

/// Counts the activities of a filter.
pub fn count(store: &Store<'_>, filter: &ActivityFilter) -> Result<i64, Fault> {
    let statement = format!("{ACTIVITY_ROWS} SELECT COUNT(*) FROM described WHERE {}", filter.text);
    count_of(store.row(&statement, &filter.params)?)
}

/// Finds the position of an activity of a customer in an order.
pub fn find_position(
    store: &Store<'_>,
    customer_id: &str,
    id: &str,
    order: ActivityOrder,
) -> Result<Option<ActivityPosition>, Fault> {
    let column = order.column();
    let row = store.row(
        &format!("{ACTIVITY_ROWS} SELECT COALESCE({column}, ''), seq, name FROM described WHERE name = +?2"),
        &[customer_id.into(), id.into()],
    )?;
    let position = |row: SqlRow| {
        let mut row = row.into_iter();
        let mut value = || row.next().unwrap_or(SqlValue::Null);
        ActivityPosition([value(), value(), value()])
    };
    Ok(row.map(position))
}

/// Lists the activities of a filter in an order, up to a number, and returns true if more follow.
pub fn list(
    store: &Store<'_>,
    filter: &ActivityFilter,
    order: ActivityOrder,
    descends: bool,
    limit: i64,
) -> Result<(Vec<Activity>, bool), Fault> {
    let column = order.column();
    let direction = if descends { "DESC" } else { "ASC" };
    let statement = format!(
        "{ACTIVITY_ROWS} SELECT name, type, at, kind, body, voucher, campaign_id FROM described WHERE {}
         ORDER BY COALESCE({column}, '') {direction}, seq {direction}, name {direction} LIMIT {}",
        filter.text,
        // One row more than the page: it exists if another page follows.
        limit.saturating_add(1)
    );
    let rows = store.rows(&statement, &filter.params)?;
    let most = usize::try_from(limit).unwrap_or(0);
    let activities = rows.iter().take(most).map(|row| read(row)).collect::<Result<Vec<Activity>, Fault>>()?;
    Ok((activities, rows.len() > most))
}

fn read(row: &[SqlValue]) -> Result<Activity, Fault> {
    let text = |column| sql::text(row, column).map(str::to_owned);
    let text_or_null = |column| Ok::<_, Fault>(sql::text_or_null(row, column)?.map(str::to_owned));
    let body = serde_json::from_str(sql::text(row, 4)?)
        .map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
    Ok(Activity {
        id: text(0)?,
        activity_type: text(1)?,
        at: sql::int(row, 2)?,
        kind: text(3)?,
        body,
        voucher_id: text_or_null(5)?,
        campaign_id: text_or_null(6)?,
    })
}
