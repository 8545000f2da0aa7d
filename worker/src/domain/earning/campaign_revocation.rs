//! Adjusts the points that an order earned on loyalty cards (v1) after the order changed: revokes excess points and adds missing ones.
//!
//! Points that were spent since cannot be revoked, and no debt is recorded.

use crate::domain::balances::adjustments::{CardPoints, find_points, record_transaction};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending::{PENDING_POINTS, PendingState};
use crate::domain::balances::points;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_rules::{
    CreditedPoints, EARNING_ROW, assign_card, credit as credit_by_rule, credit_spendable,
};
use crate::domain::earning::fired_rules::find_basis;
use crate::domain::earning::program_revocation::find_earner;
use crate::domain::earning::reaction::Reaction;
use crate::domain::loyalty_campaigns::earning_rules::CAMPAIGN_RULE;
use crate::domain::loyalty_campaigns::points_origin::PointsOrigin;
use crate::domain::loyalty_campaigns::{pending_points, tiers};
use crate::domain::point_spending::moved_points::{ChangedOrder, MovedPoints};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::route::Call;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::records::{EarnedPointsEntry, EarnedPointsRecord};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::decide::earn::{EarningEvent, order_points};
use scrip::decide::returns::OrderSnapshot;
use scrip::facts::earning::{EarningKey, PointsAmount, PointsBasis};
use scrip::model::order::Order;
use scrip::points::Expiration;
use scrip::points::campaign_tiers::Mapping;
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::collections::VecDeque;

/// Field of an event row whose order was canceled: it earns no more points.
const IS_REVOKED: &str = "is_given_back";

/// Records where points were credited to in an entry.
fn record_credit(entry: &mut EarnedPointsEntry<'_>, credited: &CreditedPoints) {
    entry.set_pending(credited.pending.as_deref());
    match credited.pending {
        Some(_) => entry.remove_expiration(),
        None => entry.set_expiration(credited.expires_at),
    }
}

/// Correction of the points that an order earned, step by step.
struct CampaignRevocation {
    order: ChangedOrder,
    /// The row with the points that the order earned.
    row: Document,
    /// Entries before their change, with the points that each earns now.
    remaining: VecDeque<(Json, u64)>,
    /// Entries after their change.
    changed: Vec<Json>,
    /// True when the row has to be stored.
    has_changed: bool,
}

/// Queues the changes that leave an order with the points that it would earn now. A canceled or unpaid order loses all points.
pub fn correct_order(call: &mut Call<'_, '_>, order: ChangedOrder) -> Result<Reaction, Fault> {
    let earning_key = EarningKey::order(&order.id);
    let Some(row) = call.store.document(EARNING_ROW, earning_key.as_str())? else { return Ok(Reaction::default()) };
    if row.body.get(IS_REVOKED).is_some() {
        return Ok(Reaction::default());
    }
    let entries = row.as_earning_row().points().to_vec();
    let earned = match order.now.earning() {
        None => Some(vec![0; entries.len()]),
        Some(order) => points_by_entry(call, &row, &entries, order)?,
    };
    let Some(earned) = earned else { return Ok(Reaction::default()) };
    let has_changed = order.now.is_canceled();
    let remaining = entries.into_iter().zip(earned).collect();
    change_next(call, CampaignRevocation { order, row, remaining, changed: Vec::new(), has_changed })
}

/// Changes the next entry. Two rules may have credited points to one card, so each entry is a step.
fn change_next(call: &mut Call<'_, '_>, mut revocation: CampaignRevocation) -> Result<Reaction, Fault> {
    let Some((mut entry, earned)) = revocation.remaining.pop_front() else {
        if revocation.has_changed {
            revocation.row.body.insert("points".into(), Json::Array(revocation.changed));
            if revocation.order.now.is_canceled() {
                revocation.row.body.insert(IS_REVOKED.into(), true.into());
            }
            call.store.update(EARNING_ROW, &revocation.row);
        }
        return Ok(Reaction::default());
    };
    let mut moved = MovedPoints::default();
    if let Some(mut entry) = EarnedPointsEntry::of_value(&mut entry) {
        revocation.has_changed |= match entry.record().campaign_id().map(str::to_owned) {
            Some(campaign) => {
                credit_late(call, &mut entry, &campaign, earned, revocation.row.holder.as_deref(), &revocation.order)?
            }
            None => change_entry(call, &mut entry, earned, &revocation.order, &mut moved)?,
        };
    }
    revocation.changed.push(entry);
    Ok(Reaction::followed_by(moved, move |call| change_next(call, revocation)))
}

/// Adds the points of an entry without a card, which the order earns only now: on the card that the customer has received since, or
/// on a new one. The tier is the one before these points. Returns true when the entry has a card.
fn credit_late(
    call: &mut Call<'_, '_>,
    entry: &mut EarnedPointsEntry<'_>,
    campaign_id: &str,
    earned: u64,
    customer_id: Option<&str>,
    order: &ChangedOrder,
) -> Result<bool, Fault> {
    let campaign = call.store.document(CAMPAIGN.object, campaign_id)?;
    let (Some(campaign), Some(customer_id), true) = (campaign, customer_id, earned > 0) else { return Ok(false) };
    let card = match call.store.card_of(campaign_id, customer_id)? {
        Some(card) => Some(card),
        None if !campaign.as_campaign().joins_automatically() => None,
        None => match call.store.document(customer::CUSTOMER.object, customer_id)? {
            Some(customer) => assign_card(call, &campaign, &customer)?,
            None => None,
        },
    };
    let Some(card) = card else { return Ok(false) };
    let tier = tiers::find_current_tier(call.store, &LocalTime::of(call)?, &campaign, &card)?;
    let mapping = tier.and_then(|tier| tier.mapping(entry.record().earning_rule_id()));
    mapping.into_iter().for_each(|mapping| entry.set_mapping(mapping));
    entry.set_card(&card.id);
    let earned = mapping.map_or(earned, |mapping| mapping.of(earned));
    restore_points(call, card, entry, earned, &order.id, order.now.earning())?;
    Ok(true)
}

/// Changes one entry and its card; returns true when something was changed that must be stored.
fn change_entry(
    call: &mut Call<'_, '_>,
    entry: &mut EarnedPointsEntry<'_>,
    earned: u64,
    order: &ChangedOrder,
    moved: &mut MovedPoints,
) -> Result<bool, Fault> {
    let Some(card) = call.store.document(VOUCHER.object, entry.record().voucher_id())? else { return Ok(false) };
    let before = entry.record().points()?.minus(entry.record().revocation_due()?)?;
    match earned < before {
        true => revoke_points(call, card, entry, before.minus(earned)?, &order.id, moved),
        false if earned > before => restore_points(call, card, entry, earned, &order.id, order.now.earning()),
        false => Ok(false),
    }
}

/// Returns the points that an order earns now, by entry. A fixed number is reduced by the share of the amount that is left;
/// points that depend on the order are computed again. `None` when they cannot be computed.
fn points_by_entry(
    call: &Call<'_, '_>,
    row: &Document,
    entries: &[Json],
    order: &Order,
) -> Result<Option<Vec<u64>>, Fault> {
    // Earlier rows do not contain the amount of the order.
    let Some(amount) = row.as_earning_row().order_amount()? else { return Ok(None) };
    let share = OrderSnapshot { amount, goods: Vec::new() }.returned_amount_share(&OrderSnapshot::of(order));
    if share.is_full() {
        return Ok(Some(vec![0; entries.len()]));
    }
    let bases: Vec<Option<PointsBasis>> = entries.iter().map(find_basis).collect::<Result<_, Fault>>()?;
    let amounts: Vec<&PointsAmount> = bases.iter().flatten().map(|basis| &basis.amount).collect();
    let customer = find_earner(call, row.holder.as_deref())?;
    let decided = match amounts.is_empty() {
        true => Some(Vec::new()),
        false => {
            let facts = facts::facts(call)?;
            let decided = order_points(&facts, order, &customer, &amounts, call.context);
            facts.end()?;
            decided.map(|decided| decided.points)
        }
    };
    let Some(decided) = decided else {
        call.store.warn(format!(
            "the points of the earning `{}` cannot be decided: a stored document cannot be read",
            row.id
        ));
        return Ok(None);
    };
    let mut decided = decided.into_iter();
    let points = entries.iter().zip(&bases).map(|(entry, basis)| match basis {
        Some(_) => {
            let points = decided.next().ok_or_else(|| Fault(format!("`{}` has points without a decision", row.id)))?;
            apply_tier_mapping(entry, points)
        }
        None => {
            let points = EarnedPointsRecord::of_value(entry).points()?;
            Ok(points.remaining_after(share.of(points)))
        }
    });
    points.collect::<Result<_, Fault>>().map(Some)
}

/// Returns the points after the tier mapping that was in force when the order was paid.
fn apply_tier_mapping(entry: &Json, points: u64) -> Result<u64, Fault> {
    let entry = EarnedPointsRecord::of_value(entry);
    let mapping = entry.tier_millionths()?.map(Mapping::Multiply).or(entry.tier_points()?.map(Mapping::Custom));
    Ok(mapping.filter(|_| points > 0).map_or(points, |mapping| mapping.of(points)))
}

/// Takes points first from pending points, then from the balance; returns true when something was changed that must be stored.
fn revoke_points(
    call: &mut Call<'_, '_>,
    mut card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    points: u64,
    order_id: &str,
    moved: &mut MovedPoints,
) -> Result<bool, Fault> {
    let location = find_location(call, entry)?;
    if let PointsLocation::Canceled = location {
        return Ok(false);
    }
    let requested = amount::signed(points)?;
    let pending = entry.record().pending().unwrap_or_default().to_owned();
    let shifted = pending_points::adjust(call, &mut card, &pending, amount::negated(requested)?)?;
    let from_pending = amount::negated(shifted)?;
    let before = find_points(call, &card)?;
    // A lock spends nothing: points that it reserves are taken too, and its redemption is refused.
    let from_balance = requested.minus(from_pending)?.min(before.balance).max(0);
    if from_balance > 0 {
        let lot = match location {
            PointsLocation::Lot(expires_at) => Some(points::lot_name(expires_at)),
            PointsLocation::Pending | PointsLocation::Canceled | PointsLocation::Unknown => None,
        };
        points::revoke(call, &mut card, from_balance.unsigned_abs(), lot)?;
        let details = balance_details(order_id, &card, amount::negated(from_balance)?, before)?;
        record_transaction(call, &card, "POINTS_REMOVAL".into(), [Json::Null, "Order return".into()], &details);
    }
    let revoked = from_pending.plus(from_balance)?;
    if revoked > 0 {
        write_card(call, &mut card, amount::negated(revoked)?)?;
    }
    let revoked = revoked.unsigned_abs();
    let mut message = json!({ "voucher_id": card.id, "points": revoked });
    if let Some(message) = message.as_object_mut().filter(|_| revoked < points) {
        message.insert("missing_points".into(), points.minus(revoked)?.into());
    }
    moved.earned.push(message);
    let record = entry.record();
    // Nothing was taken before the first correction.
    let (due, already_revoked) = (record.revocation_due()?, record.revoked()?.unwrap_or(0));
    entry.set_revocation(due.plus(points)?, already_revoked.plus(revoked)?);
    Ok(true)
}

/// Adds points until the order has earned `earned`. Points that could not be revoked earlier are not added again, because the
/// customer kept them. Returns true when something was changed that must be stored.
fn restore_points(
    call: &mut Call<'_, '_>,
    card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    earned: u64,
    order_id: &str,
    order: Option<&Order>,
) -> Result<bool, Fault> {
    let before = entry.record();
    let points = before.points()?.max(earned);
    let more = points.minus(before.points()?)?;
    // Nothing was taken before the first correction.
    let already_revoked = before.revoked()?.unwrap_or(0).plus(more)?;
    let due = points.minus(earned)?;
    let added = already_revoked.remaining_after(due);
    if added > 0 && !credit_restored(call, card, entry, amount::signed(added)?, order_id, order)? {
        return Ok(false);
    }
    entry.set_points(points);
    entry.set_revocation(due, already_revoked.minus(added)?);
    Ok(true)
}

/// Adds points to the pending points, to the lot of the order, or as the rule declares; returns false when the card has no room.
fn credit_restored(
    call: &mut Call<'_, '_>,
    mut card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    points: i64,
    order_id: &str,
    order: Option<&Order>,
) -> Result<bool, Fault> {
    let location = find_location(call, entry)?;
    let pending = entry.record().pending().unwrap_or_default().to_owned();
    if let PointsLocation::Pending = location
        && pending_points::adjust(call, &mut card, &pending, points)? == points
    {
        write_card(call, &mut card, points)?;
        return Ok(true);
    }
    let rule = call.store.document(CAMPAIGN_RULE.object, entry.record().earning_rule_id())?;
    let campaign = match &card.parent {
        Some(campaign) => call.store.document("campaign", campaign)?,
        None => None,
    };
    let origin = match (&rule, order) {
        (Some(rule), Some(order)) => PointsOrigin::of(rule, EarningEvent::OrderPaid(order)),
        _ => PointsOrigin::of_order(order_id),
    };
    let present = LocalTime::of(call)?;
    let expiration = match location {
        PointsLocation::Lot(None) => Some(Expiration::Never),
        PointsLocation::Lot(Some(at)) => points::expiration_at_end_of_day(&present, at.later(-1).millis()),
        PointsLocation::Pending | PointsLocation::Canceled | PointsLocation::Unknown => None,
    };
    let is_credited = match (expiration, &campaign) {
        (Some(expiration), _) => credit_spendable(call, &mut card, points, &expiration, &origin)?,
        (None, None) => credit_spendable(call, &mut card, points, &Expiration::Never, &origin)?,
        (None, Some(campaign)) => {
            let credited = credit_by_rule(call, &mut card, points, rule.as_ref(), campaign, origin)?;
            credited.iter().for_each(|credited| record_credit(entry, credited));
            credited.is_some()
        }
    };
    if is_credited {
        write_card(call, &mut card, points)?;
    }
    Ok(is_credited)
}

/// Location of an order's points on a card.
enum PointsLocation {
    /// They are pending.
    Pending,
    /// They were canceled while pending.
    Canceled,
    /// They are in the lot with this expiration; `None` is the lot that never expires.
    Lot(Option<Instant>),
    /// There are no points, or they were credited before lots were recorded.
    Unknown,
}

/// Finds the location of the points of an entry.
fn find_location(call: &Call<'_, '_>, entry: &EarnedPointsEntry<'_>) -> Result<PointsLocation, Fault> {
    let entry = entry.record();
    let Some(pending) = entry.pending() else {
        return match entry.expires_at() {
            None => Ok(PointsLocation::Unknown),
            Some(Json::Null) => Ok(PointsLocation::Lot(None)),
            Some(at) => {
                let expires_at = at.as_i64().and_then(Instant::from_millis);
                let expires_at = expires_at.ok_or_else(|| Fault(format!("points expire at no instant: {at}")))?;
                Ok(PointsLocation::Lot(Some(expires_at)))
            }
        };
    };
    let Some(row) = call.store.document(PENDING_POINTS, pending)? else { return Ok(PointsLocation::Unknown) };
    let is_written = row.as_pending_points().status() == Some(PendingState::Activated.name());
    let due_at = row.as_pending_points().at();
    Ok(match PendingState::of(&row, call.now_ms()) {
        PendingState::Pending => PointsLocation::Pending,
        PendingState::Canceled => PointsLocation::Canceled,
        PendingState::Activated => {
            let activated_at = row.updated_at.filter(|_| is_written).or(due_at).and_then(Instant::from_millis);
            let activated_at =
                activated_at.ok_or_else(|| Fault(format!("the points of `{}` became active at no instant", row.id)))?;
            let expiration = points::stored_expiration(&row)?;
            let zone = &LocalTime::of(call)?.zone;
            PointsLocation::Lot(expiration.expiry_at(activated_at, zone).expires_at())
        }
    })
}

/// Queues the writes of the card and of its holder's earned points in the campaign.
fn write_card(call: &mut Call<'_, '_>, card: &mut Document, by: i64) -> Result<(), Fault> {
    call.touch(card);
    call.store.update(VOUCHER.object, card);
    let (Some(customer), Some(campaign)) = (&card.holder, &card.parent) else { return Ok(()) };
    let Some(mut customer) = call.store.document(customer::CUSTOMER.object, customer)? else { return Ok(()) };
    let Some(campaign) = call.store.document("campaign", campaign)? else { return Ok(()) };
    let name = campaign.as_campaign().name().unwrap_or_default();
    referral_summary::add_points(&mut customer, name, by)?;
    call.touch(&mut customer);
    call.store.update(customer::CUSTOMER.object, &customer);
    Ok(())
}

fn balance_details(order_id: &str, card: &Document, points: i64, before: CardPoints) -> Result<Json, Fault> {
    let balance = before.balance.plus(points)?;
    let balance = json!({
        "points": points, "total": before.total, "balance": balance, "type": CARD.kind,
        "operation_type": "AUTOMATIC", "object": "balance", "related_object": { "type": "voucher", "id": card.id },
    });
    Ok(PointsOrigin::of_order(order_id).details_with("balance", balance))
}
