//! Queries of loyalty campaigns (v1): their cards, tiers, earning rules and reward assignments. It does not depend on what is earned.

use super::any_kind::{CountedIds, counted_ids, number, texts};
use crate::store::Store;
use crate::store::document::{self, COLUMNS, Document};
use crate::store::document_columns::columns;
use crate::store::document_list::clause::{Clause, DocumentAge};
use crate::store::sql::{self, Fault};
use serde_json::Value as Json;

/// Change of points that are pending.
pub struct PendingPointsChange<'a> {
    /// Number of points that are added, below zero where some are subtracted.
    pub points: i64,
    /// Status after the change.
    pub status: &'a str,
    /// Time of the change in milliseconds since 1970.
    pub at_ms: i64,
    /// Time of the change as the record contains it.
    pub updated_at: &'a str,
}

/// Finds the id of the assignment of a reward to a campaign.
pub fn find_assignment_id(store: &Store<'_>, reward_id: &str, campaign_id: &str) -> Result<Option<String>, Fault> {
    let rows = store.rows(
        "SELECT id FROM document WHERE kind = 'reward_assignment' AND parent = +?1 AND holder = +?2",
        &[reward_id.into(), campaign_id.into()],
    )?;
    Ok(texts(&rows)?.into_iter().next())
}

/// Lists the first ten assignments of a reward.
pub fn list_assignments_of_reward(store: &Store<'_>, reward_id: &str) -> Result<CountedIds, Fault> {
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'reward_assignment' AND parent = +?1 ORDER BY seq LIMIT 10",
        &[reward_id.into()],
    )?;
    counted_ids(&rows)
}

impl Store<'_> {
    /// Lists the gift cards and loyalty cards that customers hold.
    pub fn list_cards_of_customers(&self, customers: &[&str]) -> Result<Vec<Document>, Fault> {
        self.select(
            "kind = 'voucher' AND holder IN (SELECT value FROM json_each(?1))
               AND 'object' IN (json_type(body, '$.gift'), json_type(body, '$.loyalty_card'))",
            &[Json::from(customers).to_string().into()],
        )
    }

    /// Lists the vouchers of a customer whose campaign has tiers, in the order in which they were written.
    pub fn list_cards_with_campaign_tiers(&self, customer_id: &str) -> Result<Vec<Document>, Fault> {
        self.documents(
            &format!(
                "SELECT {COLUMNS} FROM document AS card WHERE kind = 'voucher' AND holder = +?1
                   AND EXISTS (SELECT 1 FROM document AS tier WHERE tier.kind = 'campaign_tier' AND tier.parent = card.parent)
                 ORDER BY seq"
            ),
            &[customer_id.into()],
        )
    }

    /// Sums the points that were credited to a card from a time to another and lead to a tier: earned, activated or added by hand, but not
    /// transferred. Points that were taken back when an order was returned are subtracted.
    pub fn sum_credited_points(&self, card_id: &str, from_ms: i64, to_ms: i64) -> Result<i64, Fault> {
        let row = self.row(
            "SELECT COALESCE(SUM(json_extract(body, '$.details.balance.points')), 0) FROM every_voucher_transaction
             WHERE parent = +?1 AND created_at >= ?2 AND created_at < ?3
               AND (json_extract(body, '$.type') IN ('POINTS_ACCRUAL', 'PENDING_POINTS_ACTIVATION', 'POINTS_ADDITION')
                 OR json_extract(body, '$.type') = 'POINTS_REMOVAL' AND json_extract(body, '$.details.order') IS NOT NULL)",
            &[card_id.into(), from_ms.into(), to_ms.into()],
        )?;
        row.map_or(Ok(0), |row| sql::int(&row, 0))
    }

    /// Changes pending points when the call commits.
    pub fn update_pending_points(&mut self, id: &str, change: &PendingPointsChange<'_>) {
        let PendingPointsChange { points, status, at_ms, updated_at } = *change;
        // `told` is the stored name of `PENDING_DETAILS`.
        self.write(
            "UPDATE document SET updated_at = ?2, body = json_set(body, '$.status', ?3, '$.told.updated_at', ?4,
               '$.told.points', CAST(json_extract(body, '$.told.points') + ?5 AS INTEGER))
             WHERE kind = 'pending_points' AND id = +?1",
            vec![id.into(), at_ms.into(), status.into(), updated_at.into(), points.into()],
        );
    }

    /// Deletes the earning rules of a campaign with their validation rules, when the call commits.
    pub fn delete_campaign_earning_rules(&mut self, campaign_id: &str) {
        self.write(
            "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
               (SELECT id FROM document WHERE kind = 'earning_rule' AND parent = +?1)",
            vec![campaign_id.into()],
        );
        self.delete_children("earning_rule", campaign_id);
    }

    /// Lists the reward assignments of a campaign, the latest first.
    pub fn list_reward_assignments(&self, campaign_id: &str) -> Result<Vec<Document>, Fault> {
        let statement = format!(
            "SELECT {COLUMNS} FROM document INDEXED BY document_holder
             WHERE kind = 'reward_assignment' AND holder = +?1 ORDER BY created_at DESC, seq DESC"
        );
        self.documents(&statement, &[campaign_id.into()])
    }

    /// Deletes the reward assignments of a campaign with their validation rules, when the call commits.
    pub fn delete_reward_assignments(&mut self, campaign_id: &str) {
        self.write(
            "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
               (SELECT id FROM document WHERE kind = 'reward_assignment' AND holder = +?1)",
            vec![campaign_id.into()],
        );
        self.write("DELETE FROM document WHERE kind = 'reward_assignment' AND holder = +?1", vec![campaign_id.into()]);
    }
}

/// The records of a card, the first parameter, and of its publication to its holder, the second. A change of pending points comes after the
/// transactions of its millisecond, which have larger numbers than documents: below 2^52 until the year 2039.
const OF_CARD: &str = concat!(
    "(SELECT seq, kind, ",
    columns!(),
    " FROM every_card_transaction WHERE parent = +?1 UNION ALL SELECT seq + 4503599627370496, kind, ",
    columns!(),
    " FROM document WHERE kind = 'pending_points_change' AND parent = +?1 UNION ALL SELECT seq, kind, ",
    columns!(),
    " FROM document WHERE kind = 'publication' AND holder = +?2 AND EXISTS (SELECT 1 FROM json_each(body, '$.vouchers_id') WHERE value = ?1))"
);

/// A loyalty card with its holder, by their ids.
#[derive(Debug, Clone, Copy)]
pub struct CardWithHolder<'c> {
    /// The card.
    pub card_id: &'c str,
    /// The customer who holds it; empty without one.
    pub holder_id: &'c str,
}

/// A record of the activity of a card.
#[derive(Debug)]
pub struct CardRecord {
    /// The kind of the document.
    pub kind: String,
    /// The document.
    pub document: Document,
}

/// Finds the age of a record of a card.
pub fn find_card_record_age(
    store: &Store<'_>,
    card: CardWithHolder<'_>,
    id: &str,
) -> Result<Option<DocumentAge>, Fault> {
    let statement = format!("SELECT created_at, seq FROM {OF_CARD} WHERE id = +?3 LIMIT 1");
    let row = store.row(&statement, &[card.card_id.into(), card.holder_id.into(), id.into()])?;
    row.map(|row| Ok(DocumentAge { created_at: sql::int(&row, 0)?, seq: sql::int(&row, 1)? })).transpose()
}

/// Lists the records of a card by age, up to a number and after one of them, and returns true if more follow.
pub fn list_card_records(
    store: &Store<'_>,
    card: CardWithHolder<'_>,
    after: Option<DocumentAge>,
    falls: bool,
    limit: i64,
) -> Result<(Vec<CardRecord>, bool), Fault> {
    let (sign, direction) = if falls { ("<", "DESC") } else { (">", "ASC") };
    // One row more than the page: it exists if another page follows.
    let mut params = vec![card.card_id.into(), card.holder_id.into(), limit.saturating_add(1).into()];
    let after = after.map_or_else(String::new, |age| {
        params.extend([age.created_at.into(), age.seq.into()]);
        format!("WHERE (+created_at, seq) {sign} (?4, ?5)")
    });
    let statement = format!(
        "SELECT {COLUMNS}, kind FROM {OF_CARD} {after}
         ORDER BY created_at {direction}, seq {direction} LIMIT +?3"
    );
    let rows = store.rows(&statement, &params)?;
    let most = usize::try_from(limit).unwrap_or(0);
    let mut records = Vec::new();
    for row in rows.iter().take(most) {
        let kind = sql::text(row, document::WIDTH)?.to_owned();
        records.push(CardRecord { kind, document: document::read(row)? });
    }
    Ok((records, rows.len() > most))
}

/// Cards whose pending points are listed.
#[derive(Debug, Clone, Copy)]
pub enum PendingPointsOwner<'o> {
    /// One card.
    Card(&'o str),
    /// All cards of a campaign.
    Campaign(&'o str),
}

impl<'o> PendingPointsOwner<'o> {
    fn condition(self) -> (&'static str, &'o str) {
        match self {
            PendingPointsOwner::Card(id) => ("parent = {}", id),
            PendingPointsOwner::Campaign(id) => {
                ("parent IN (SELECT id FROM document WHERE kind = 'voucher' AND parent = {})", id)
            }
        }
    }
}

/// Narrows pending points to those of some cards that are pending at a time.
pub fn narrow_to_pending(clause: &mut Clause, owner: PendingPointsOwner<'_>, now_ms: i64) {
    let (condition, id) = owner.condition();
    clause.and(condition, id);
    clause.and("json_extract(body, '$.status') = 'PENDING' AND json_extract(body, '$.at') > {}", now_ms);
}

/// Finds the position of points of some cards that are pending, or were.
pub fn find_pending_position(store: &Store<'_>, owner: PendingPointsOwner<'_>, id: &str) -> Result<Option<i64>, Fault> {
    let (condition, owner_id) = owner.condition();
    let condition = condition.replace("{}", "+?1");
    number(store.row(
        &format!("SELECT seq FROM document WHERE kind = 'pending_points' AND id = +?2 AND {condition}"),
        &[owner_id.into(), id.into()],
    )?)
}

/// Narrows points that expire to those with a date of expiration.
pub fn narrow_to_dated(clause: &mut Clause) {
    clause.and("json_extract(body, '$.expiration_date') > {}", "");
}

/// Narrows campaigns to those of a type.
pub fn narrow_to_campaign_type(clause: &mut Clause, campaign_type: &str) {
    clause.and("json_extract(body, '$.campaign_type') = {}", campaign_type);
}

/// Returns true if another document of a kind has a name.
pub fn is_name_taken(store: &Store<'_>, kind: &str, name: &str, own_id: &str) -> Result<bool, Fault> {
    let rows = store.rows(
        "SELECT id FROM document WHERE kind = +?1 AND key = +?2 AND id <> ?3",
        &[kind.into(), name.into(), own_id.into()],
    )?;
    Ok(!rows.is_empty())
}

/// Narrows statistics to those of a program.
pub fn narrow_to_program(clause: &mut Clause, program_id: &str) {
    clause.and("program = {}", program_id);
}

/// Lists the cards with a due change, the earliest first, up to a number.
pub fn list_due_cards(store: &Store<'_>, job_kind: &str, now_ms: i64, limit: i64) -> Result<Vec<String>, Fault> {
    texts(&store.rows(
        "SELECT id FROM due WHERE kind = +?1 AND at <= ?2 ORDER BY at, id LIMIT +?3",
        &[job_kind.into(), now_ms.into(), limit.into()],
    )?)
}
