//! Rows of fired earning rules (v2): one row for each event, which earns once, and one for each rule that it fired.
//!
//! They are not documents: the API does not return them, and their own table has one index instead of five. A row is found by
//! member, rule and time, so that the latest one and those of a period are ranges of the table.

use crate::documents::report_period::{self, ReportPeriod};
use crate::domain::loyalty_members::card::PENDING;
use crate::domain::loyalty_programs::statistics;
use crate::domain::loyalty_programs::statistics::{RuleStatistic, StatisticKind};
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::loyalty::earning::{NewEarningKey, NewFiredRule};
use crate::store::records::EarnedPointsRecord;
use crate::store::sql::Fault;
use scrip::decide::earn::GrantedPoints;
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::earning::{EarningKey, EarningStatus, PointsBasis, StoredEarning};
use scrip::points::limits::FireCount;
use scrip::points::{CardOutcome, EarnedPoints, MovementCause};
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::points_basis::{read_points_basis, write_points_basis};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// A rule that fired.
pub struct FiredRule<'a> {
    /// Ids of the member and of the program.
    pub member: [&'a str; 2],
    /// Ids of the rule and of the matching earning.
    pub rule: [&'a str; 2],
    /// Points that it granted ([`granted_entry`]), and points that it did not grant ([`absent_entry`]).
    pub points: Vec<Json>,
    /// True when it granted anything. A rule that granted nothing may grant points when its order changes.
    pub has_granted: bool,
}

impl FiredRule<'_> {
    fn row(&self) -> NewFiredRule<'_> {
        let ([member_id, program_id], [rule_id, earning_id]) = (self.member, self.rule);
        NewFiredRule { member_id, program_id, rule_id, earning_id, points: &self.points, is_fired: self.has_granted }
    }

    /// Returns the statistics of a fired rule: one count, and the points granted to cards by card definition.
    fn statistics(&self) -> Result<BTreeMap<RuleStatistic<'_>, u64>, Fault> {
        if !self.has_granted {
            return Ok(BTreeMap::new());
        }
        let ([_, program], [rule, earning]) = (self.member, self.rule);
        let fired = RuleStatistic { program, kind: StatisticKind::Fired, rule, earning: "", card_definition: "" };
        let mut statistics = BTreeMap::from([(fired, 0)]);
        for entry in &self.points {
            let earned = EarnedPointsRecord::of_value(entry);
            let kind = if earned.pending().is_none() { StatisticKind::Earned } else { StatisticKind::EarnedPending };
            let of = RuleStatistic { program, kind, rule, earning, card_definition: earned.card_definition_id() };
            let points = earned.points()?;
            if points == 0 {
                continue;
            }
            let sum: &mut u64 = statistics.entry(of).or_default();
            *sum = sum.plus(points)?;
        }
        Ok(statistics)
    }
}

/// Returns the state of an event's earnings; `None` when it earned nothing.
pub fn find_status(store: &Store<'_>, earning_key: &EarningKey) -> Result<Option<EarningStatus>, Fault> {
    match store.find_earning_key_status(earning_key.as_str())?.as_deref() {
        None => Ok(None),
        Some("EARNED") => Ok(Some(EarningStatus::Earned)),
        Some("GIVEN_BACK") => Ok(Some(EarningStatus::Revoked)),
        Some(other) => {
            Err(Fault(format!("the earning key `{}` has the unknown status `{other}`", earning_key.as_str())))
        }
    }
}

/// Queues the rows of the rules that an event fired, with the amount of its order, and counts them. A second write for the
/// same event fails.
pub fn insert(
    store: &mut Store<'_>,
    earning_key: &EarningKey,
    order: Option<&OrderSnapshot>,
    customer_id: &str,
    fired: &[FiredRule<'_>],
    now_ms: i64,
) -> Result<(), Fault> {
    let order = order.map(|order| amount::signed(order.amount)).transpose()?;
    let rows: Vec<NewFiredRule<'_>> = fired.iter().map(FiredRule::row).collect();
    store.insert_earning_key(&NewEarningKey { id: earning_key.as_str(), customer_id, bought: order, now_ms }, &rows);
    let statistics = fired.iter().map(FiredRule::statistics).collect::<Result<Vec<_>, _>>()?;
    statistics::insert_counts(store, &statistics.into_iter().flatten().collect::<Vec<_>>(), now_ms);
    Ok(())
}

/// Returns the customer of an event; `None` when the event earned nothing.
pub fn find_customer(store: &Store<'_>, earning_key: &EarningKey) -> Result<Option<String>, Fault> {
    store.find_earning_key_customer(earning_key.as_str())
}

/// Sums the points that an order earned on a card since `since`, including points that were added again.
pub fn sum_earned(
    store: &Store<'_>,
    earning_key: &EarningKey,
    card_id: &str,
    since: Instant,
) -> Result<Option<u64>, Fault> {
    let Some(order_id) = earning_key.order_id() else { return Ok(None) };
    Ok(u64::try_from(store.sum_points_of_order(card_id, order_id, since.millis())?).ok())
}

/// Returns the amount of the order that earned; `None` for other events and for rows older than the amount.
pub fn find_order_snapshot(store: &Store<'_>, earning_key: &EarningKey) -> Result<Option<OrderSnapshot>, Fault> {
    let amount = store.find_earning_key_amount(earning_key.as_str())?.map(amount::unsigned).transpose()?;
    Ok(amount.map(|amount| OrderSnapshot { amount, goods: Vec::new() }))
}

/// Record of points that were revoked or added again.
#[derive(Debug, Clone, Default)]
pub struct RevokedPoints {
    /// Highest number of points that the order earned.
    pub points: u64,
    /// Total of points to be revoked.
    pub due: u64,
    /// Points of them that could be revoked.
    pub revoked: u64,
    /// Pending points and lot of points that were added again, if they are new ones.
    pub credited_to: [Option<Text>; 2],
}

/// Queues the record of revoked points for one entry of an event.
pub fn record_revocation(
    store: &mut Store<'_>,
    earning_key: &EarningKey,
    index: usize,
    revoked: &RevokedPoints,
) -> Result<(), Fault> {
    let mut first: usize = 0;
    for mut row in store.list_fired_rules(earning_key.as_str())? {
        let count = row.points.len();
        let entry = index.checked_sub(first).and_then(|index| row.points.get_mut(index)?.as_object_mut());
        if let Some(entry) = entry {
            entry.insert("points".into(), revoked.points.into());
            entry.insert("back".into(), revoked.due.into());
            entry.insert("taken".into(), revoked.revoked.into());
            for (name, id) in ["pending", "lot"].into_iter().zip(&revoked.credited_to) {
                id.iter().for_each(|id| drop(entry.insert(name.into(), id.as_str().into())));
            }
            store.update_fired_rule(earning_key.as_str(), row, revoked.points > 0);
            return Ok(());
        }
        first = first.saturating_add(count); // A place in a list.
    }
    Ok(())
}

/// Queues the end of an event's earnings: all of them were revoked.
pub fn mark_revoked(store: &mut Store<'_>, earning_key: &EarningKey, now_ms: i64) {
    store.mark_earning_key_reversed(earning_key.as_str(), now_ms);
}

/// Returns the number of times that a rule fired for a member since `since`, and the last time.
pub fn count_fired(
    store: &Store<'_>,
    member_id: &str,
    rule_id: &str,
    since: Option<Instant>,
) -> Result<FireCount, Fault> {
    let since = since.map_or(i64::MAX, Instant::millis).min(LATEST);
    let count = store.count_fired_rules(member_id, rule_id, since)?;
    let last = count.last_ms.and_then(Instant::from_millis);
    Ok(FireCount { last, in_period: amount::unsigned(count.in_period)? })
}

/// Latest instant in milliseconds: the largest integer that the platform represents exactly.
const LATEST: i64 = 9_007_199_254_740_991;

/// Returns the number of times that a rule fired for a member in each period.
pub fn count_fired_by_period(
    store: &Store<'_>,
    member_id: &str,
    rule_id: &str,
    periods: &[ReportPeriod],
) -> Result<Vec<i64>, Fault> {
    store.count_fired_rules_in(member_id, rule_id, &report_period::millis(periods))
}

/// Returns the pending points and the lot to which an operation credited points.
pub fn credit_targets(outcome: &CardOutcome) -> [Option<Text>; 2] {
    let pending = outcome.steps.iter().find_map(|step| match &step.cause {
        MovementCause::Pending(id) => Some(id.clone()),
        MovementCause::Credited(_)
        | MovementCause::Activated(_)
        | MovementCause::Canceled(_)
        | MovementCause::ExpiredByTime(_)
        | MovementCause::Expired(_)
        | MovementCause::Debited(_)
        | MovementCause::Refunded
        | MovementCause::Returned => None,
    });
    [pending, outcome.steps.iter().flat_map(|step| step.credited()).next().map(|part| part.lot)]
}

/// Returns the stored entry of granted points.
pub fn granted_entry(granted: &GrantedPoints, outcome: &CardOutcome) -> Json {
    entry_json(granted, credit_targets(outcome))
}

/// Returns the stored entry of points that were not granted and may be when the order changes.
pub fn absent_entry(granted: &GrantedPoints) -> Json {
    entry_json(granted, [None, None])
}

fn entry_json(granted: &GrantedPoints, [pending, lot]: [Option<Text>; 2]) -> Json {
    let mut entry = json!({
        "card_id": granted.card_id.as_str(), "card_definition_id": granted.card_definition_id.as_str(),
        "pending": pending.as_deref(), "lot": lot.as_deref(), "points": granted.points,
    });
    if let (Some(entry), Some(basis)) = (entry.as_object_mut(), &granted.basis) {
        entry.insert("basis".into(), write_points_basis(basis));
    }
    entry
}

/// Returns the ids of the cards to which an event credited points, without duplicates.
pub fn list_cards(store: &Store<'_>, earning_key: &EarningKey) -> Result<Vec<String>, Fault> {
    let mut cards: Vec<String> = Vec::new();
    for entry in list_entries(store, earning_key)? {
        let card = EarnedPointsRecord::of_value(&entry).card_id().to_owned();
        if !cards.contains(&card) {
            cards.push(card);
        }
    }
    Ok(cards)
}

/// Returns the points that an event credited, without those canceled while pending. The cards must be settled before.
pub fn list_past_earnings(store: &Store<'_>, earning_key: &EarningKey) -> Result<Vec<StoredEarning>, Fault> {
    let mut earnings = Vec::new();
    for (index, entry) in list_entries(store, earning_key)?.into_iter().enumerate() {
        let record = EarnedPointsRecord::of_value(&entry);
        let lot = record.lot().map(Text::from);
        let (points, due) = (record.points()?, record.revocation_due()?);
        let basis = find_basis(&entry)?;
        let earned = match record.pending() {
            None => Some(EarnedPoints { pending: None, lot, points }),
            // Revoked points have no pending part left.
            Some(pending) => {
                find_pending_earning(store, pending, EarnedPoints { pending: None, lot: lot.clone(), points })?
                    .or_else(|| (due == points).then_some(EarnedPoints { pending: None, lot, points }))
            }
        };
        // An entry without this number is older than it, or was never corrected: all that was due was revoked.
        let revoked = record.revoked()?.unwrap_or(due);
        earnings.extend(earned.map(|earned| StoredEarning {
            card_id: record.card_id().into(),
            card_definition_id: record.card_definition_id().into(),
            earned,
            revoked_due: due,
            revoked,
            position: index,
            basis,
        }));
    }
    Ok(earnings)
}

/// Returns the calculation basis of an entry; `None` for fixed points and for entries older than the basis.
pub fn find_basis(entry: &Json) -> Result<Option<PointsBasis>, Fault> {
    let basis = EarnedPointsRecord::of_value(entry).basis().map(|basis| read_fields(basis, read_points_basis));
    basis.transpose().map_err(|problem| Fault(format!("the basis of earned points cannot be read: {problem}")))
}

/// Returns the state of points that were pending.
fn find_pending_earning(store: &Store<'_>, pending: &str, earned: EarnedPoints) -> Result<Option<EarnedPoints>, Fault> {
    let Some(row) = store.document(PENDING, pending)? else { return Ok(None) };
    Ok(match row.as_pending_points().status() {
        Some("PENDING") => Some(EarnedPoints { pending: Some(pending.into()), ..earned }),
        Some("ACTIVATED") => {
            let lot = row.as_pending_points().credited_lot();
            Some(EarnedPoints { lot: lot.map(Into::into), ..earned })
        }
        _ => None,
    })
}

fn list_entries(store: &Store<'_>, earning_key: &EarningKey) -> Result<Vec<Json>, Fault> {
    Ok(store.list_fired_rules(earning_key.as_str())?.into_iter().flat_map(|row| row.points).collect())
}
