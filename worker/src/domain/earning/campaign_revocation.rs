//! Adjusts the points that an order earned on loyalty cards (v1) after the order changed: revokes excess points and adds missing ones.
//!
//! Points that were spent meanwhile cannot be revoked, and no debt is recorded.

use crate::domain::balances::adjustments::{CardPoints, find_points, note_with};
use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending::{PENDING_POINTS, PendingState};
use crate::domain::balances::points;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::clock::LocalTime;
use crate::domain::customers::{customer, referral_summary};
use crate::domain::decisions::facts;
use crate::domain::earning::campaign_rules::{CreditedPoints, OCCASION, accrue, bring as bring_by_rule, join};
use crate::domain::earning::program_revocation::earner;
use crate::domain::earning::reaction::Reaction;
use crate::domain::loyalty_campaigns::earning_rules::PROGRAM_RULE;
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
use scrip::facts::earning::{Amount, EarningKey, PointsBasis};
use scrip::model::order::Order;
use scrip::points::Expiration;
use scrip::points::campaign_tiers::Mapping;
use scrip::time::Instant;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::points_basis::read_points_basis;
use serde_json::{Value as Json, json};
use std::collections::VecDeque;

/// Field of an event row whose order was canceled: it earns no more points.
const ENDED: &str = "is_given_back";

/// Records where points were credited to in an entry.
fn record_credit(entry: &mut EarnedPointsEntry<'_>, credited: &CreditedPoints) {
    entry.set_pending(credited.pending.as_deref());
    match credited.pending {
        Some(_) => entry.remove_expiration(),
        None => entry.set_expiration(credited.lapses_at),
    }
}

/// Correction of what an order earned, step by step.
struct CampaignRevocation {
    order: ChangedOrder,
    /// The row with what the order earned.
    row: Document,
    /// Entries before their change, with the points that each earns now.
    left: VecDeque<(Json, u64)>,
    /// Entries after their change.
    done: Vec<Json>,
    /// True when the row has to be stored.
    has_changed: bool,
}

/// Queues the changes that leave an order with the points that it would earn now. A canceled or unpaid order loses all points.
pub fn take_back(call: &mut Call<'_, '_>, order: ChangedOrder) -> Result<Reaction, Fault> {
    let occasion = EarningKey::order(&order.id);
    let Some(row) = call.store.document(OCCASION, occasion.as_str())? else { return Ok(Reaction::default()) };
    if row.body.get(ENDED).is_some() {
        return Ok(Reaction::default());
    }
    let entries = row.as_occasion().points().to_vec();
    let earned = match order.now.earning() {
        None => Some(vec![0; entries.len()]),
        Some(order) => points_of(call, &row, &entries, order)?,
    };
    let Some(earned) = earned else { return Ok(Reaction::default()) };
    let has_changed = order.now.is_called_off();
    let left = entries.into_iter().zip(earned).collect();
    change_next(call, CampaignRevocation { order, row, left, done: Vec::new(), has_changed })
}

/// Changes the next entry. Two rules may have credited points to one card, so each entry is a step.
fn change_next(call: &mut Call<'_, '_>, mut own: CampaignRevocation) -> Result<Reaction, Fault> {
    let Some((mut entry, earned)) = own.left.pop_front() else {
        if own.has_changed {
            own.row.body.insert("points".into(), Json::Array(own.done));
            if own.order.now.is_called_off() {
                own.row.body.insert(ENDED.into(), true.into());
            }
            call.store.update(OCCASION, &own.row);
        }
        return Ok(Reaction::default());
    };
    let mut moved = MovedPoints::default();
    if let Some(mut entry) = EarnedPointsEntry::of_value(&mut entry) {
        own.has_changed |= match entry.record().campaign_id().map(str::to_owned) {
            Some(campaign) => join_late(call, &mut entry, &campaign, earned, own.row.holder.as_deref(), &own.order)?,
            None => change(call, &mut entry, earned, &own.order, &mut moved)?,
        };
    }
    own.done.push(entry);
    Ok(Reaction::followed_by(moved, move |call| change_next(call, own)))
}

/// Adds the points of an entry without a card, which the order earns only now: on the card that the customer has got meanwhile, or
/// on a new one. The tier is the one before these points. Returns true when the entry has a card.
fn join_late(
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
            Some(customer) => join(call, &campaign, &customer)?,
            None => None,
        },
    };
    let Some(card) = card else { return Ok(false) };
    let tier = tiers::of_card(call.store, &LocalTime::of(call)?, &campaign, &card)?;
    let mapping = tier.and_then(|tier| tier.mapping(entry.record().earning_rule_id()));
    mapping.into_iter().for_each(|mapping| entry.set_mapping(mapping));
    entry.set_card(&card.id);
    let earned = mapping.map_or(earned, |mapping| mapping.of(earned));
    bring_points(call, card, entry, earned, &order.id, order.now.earning())?;
    Ok(true)
}

/// Changes one entry and its card; returns true when something was changed that must be stored.
fn change(
    call: &mut Call<'_, '_>,
    entry: &mut EarnedPointsEntry<'_>,
    earned: u64,
    order: &ChangedOrder,
    moved: &mut MovedPoints,
) -> Result<bool, Fault> {
    let Some(card) = call.store.document(VOUCHER.object, entry.record().voucher_id())? else { return Ok(false) };
    let before = entry.record().points().minus(entry.record().back().unwrap_or(0))?;
    match earned < before {
        true => take_points(call, card, entry, before.minus(earned)?, &order.id, moved),
        false if earned > before => bring_points(call, card, entry, earned, &order.id, order.now.earning()),
        false => Ok(false),
    }
}

/// Returns the points that an order earns now, by entry. A fixed number is reduced by the share of the amount that is left;
/// points that depend on the order are computed again. `None` when they cannot be computed.
fn points_of(call: &Call<'_, '_>, row: &Document, entries: &[Json], order: &Order) -> Result<Option<Vec<u64>>, Fault> {
    // Earlier rows do not contain the amount of the order.
    let Some(amount) = row.as_occasion().bought() else { return Ok(None) };
    let share = OrderSnapshot { amount, goods: Vec::new() }.amount_back(&OrderSnapshot::of(order));
    if share.is_whole() {
        return Ok(Some(vec![0; entries.len()]));
    }
    let bases: Vec<Option<PointsBasis>> = entries.iter().map(find_basis).collect();
    let amounts: Vec<&Amount> = bases.iter().flatten().map(|basis| &basis.amount).collect();
    let customer = earner(call, row.holder.as_deref())?;
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
        call.store.warn(format!("what `{}` earns cannot be decided: something does not read", row.id));
        return Ok(None);
    };
    let mut decided = decided.into_iter();
    let points = entries.iter().zip(&bases).map(|(entry, basis)| match basis {
        Some(_) => decided.next().map_or(0, |points| in_tier(entry, points)),
        None => {
            let points = EarnedPointsRecord::of_value(entry).points();
            points.remaining_after(share.of(points))
        }
    });
    Ok(Some(points.collect()))
}

/// Returns the calculation basis of an entry; `None` for fixed points and for entries older than the basis.
fn find_basis(entry: &Json) -> Option<PointsBasis> {
    read_fields(EarnedPointsRecord::of_value(entry).basis()?, read_points_basis).ok()
}

/// Returns the points after the tier mapping that was in force when the order was paid.
fn in_tier(entry: &Json, points: u64) -> u64 {
    let entry = EarnedPointsRecord::of_value(entry);
    let mapping = entry.tier_millionths().map(Mapping::Multiply).or(entry.tier_points().map(Mapping::Custom));
    mapping.filter(|_| points > 0).map_or(points, |mapping| mapping.of(points))
}

/// Takes points first from pending points, then from the balance; returns true when something was changed that must be stored.
fn take_points(
    call: &mut Call<'_, '_>,
    mut card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    points: u64,
    order_id: &str,
    moved: &mut MovedPoints,
) -> Result<bool, Fault> {
    let place = find_place(call, entry)?;
    if let PointsPlace::Canceled = place {
        return Ok(false);
    }
    let wanted = amount::signed(points)?;
    let pending = entry.record().pending().unwrap_or_default().to_owned();
    let shifted = pending_points::shift(call, &mut card, &pending, amount::negated(wanted)?)?;
    let waited = amount::negated(shifted)?;
    let known = find_points(call, &card)?;
    // A lock spends nothing: points that it reserves are taken too, and its redemption is refused.
    let from_balance = wanted.minus(waited)?.min(known.balance).max(0);
    if from_balance > 0 {
        let lot = match place {
            PointsPlace::Lot(lapses_at) => Some(points::lot_name(lapses_at)),
            PointsPlace::Waits | PointsPlace::Canceled | PointsPlace::Unknown => None,
        };
        points::take_back(call, &mut card, from_balance.unsigned_abs(), lot)?;
        let details = details(order_id, &card, amount::negated(from_balance)?, known)?;
        note_with(call, &card, "POINTS_REMOVAL".into(), [Json::Null, "Order return".into()], &details);
    }
    let found = waited.plus(from_balance)?;
    if found > 0 {
        write(call, &mut card, amount::negated(found)?)?;
    }
    let found = found.unsigned_abs();
    let mut message = json!({ "voucher_id": card.id, "points": found });
    if let Some(message) = message.as_object_mut().filter(|_| found < points) {
        message.insert("missing_points".into(), points.minus(found)?.into());
    }
    moved.earned.push(message);
    let record = entry.record();
    let (back, taken) = (record.back().unwrap_or(0), record.taken().unwrap_or(0));
    entry.set_given_back(back.plus(points)?, taken.plus(found)?);
    Ok(true)
}

/// Adds points until the order has earned `earned`. Points that could not be revoked earlier are not added again, because the
/// customer kept them. Returns true when something was changed that must be stored.
fn bring_points(
    call: &mut Call<'_, '_>,
    card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    earned: u64,
    order_id: &str,
    order: Option<&Order>,
) -> Result<bool, Fault> {
    let known = entry.record();
    let points = known.points().max(earned);
    let more = points.minus(known.points())?;
    let taken = known.taken().unwrap_or(0).plus(more)?;
    let due = points.minus(earned)?;
    let coming = taken.remaining_after(due);
    if coming > 0 && !bring(call, card, entry, amount::signed(coming)?, order_id, order)? {
        return Ok(false);
    }
    entry.set_points(points);
    entry.set_given_back(due, taken.minus(coming)?);
    Ok(true)
}

/// Adds points to the pending points, to the lot of the order, or as the rule declares; returns false when the card has no room.
fn bring(
    call: &mut Call<'_, '_>,
    mut card: Document,
    entry: &mut EarnedPointsEntry<'_>,
    points: i64,
    order_id: &str,
    order: Option<&Order>,
) -> Result<bool, Fault> {
    let place = find_place(call, entry)?;
    let pending = entry.record().pending().unwrap_or_default().to_owned();
    if let PointsPlace::Waits = place
        && pending_points::shift(call, &mut card, &pending, points)? == points
    {
        write(call, &mut card, points)?;
        return Ok(true);
    }
    let rule = call.store.document(PROGRAM_RULE.object, entry.record().earning_rule_id())?;
    let campaign = match &card.parent {
        Some(campaign) => call.store.document("campaign", campaign)?,
        None => None,
    };
    let origin = match (&rule, order) {
        (Some(rule), Some(order)) => PointsOrigin::of(rule, EarningEvent::OrderPaid(order)),
        _ => PointsOrigin::of_order(order_id),
    };
    let present = LocalTime::of(call)?;
    let own = match place {
        PointsPlace::Lot(None) => Some(Expiration::Never),
        PointsPlace::Lot(Some(at)) => points::until(&present, at.later(-1).millis()),
        PointsPlace::Waits | PointsPlace::Canceled | PointsPlace::Unknown => None,
    };
    let has_come = match (own, &campaign) {
        (Some(expiration), _) => accrue(call, &mut card, points, &expiration, &origin)?,
        (None, None) => accrue(call, &mut card, points, &Expiration::Never, &origin)?,
        (None, Some(campaign)) => {
            let arrived = bring_by_rule(call, &mut card, points, rule.as_ref(), campaign, origin)?;
            arrived.iter().for_each(|arrived| record_credit(entry, arrived));
            arrived.is_some()
        }
    };
    if has_come {
        write(call, &mut card, points)?;
    }
    Ok(has_come)
}

/// Location of an order's points on a card.
enum PointsPlace {
    /// They are pending.
    Waits,
    /// They were canceled while pending.
    Canceled,
    /// They are in the lot with this expiration; `None` is the lot that never expires.
    Lot(Option<Instant>),
    /// There are no points, or they were credited before lots were recorded.
    Unknown,
}

/// Finds the location of the points of an entry.
fn find_place(call: &Call<'_, '_>, entry: &EarnedPointsEntry<'_>) -> Result<PointsPlace, Fault> {
    let entry = entry.record();
    let Some(pending) = entry.pending() else {
        return Ok(match entry.expires_at() {
            Some(at) => PointsPlace::Lot(at.as_i64().and_then(Instant::from_millis)),
            None => PointsPlace::Unknown,
        });
    };
    let Some(row) = call.store.document(PENDING_POINTS, pending)? else { return Ok(PointsPlace::Unknown) };
    let is_written = row.as_pending_points().status() == Some(PendingState::Activated.word());
    let due_at = row.as_pending_points().at();
    Ok(match PendingState::of(&row, call.now_ms()) {
        PendingState::Pending => PointsPlace::Waits,
        PendingState::Canceled => PointsPlace::Canceled,
        PendingState::Activated => {
            let activated_at = row.updated_at.filter(|_| is_written).or(due_at).and_then(Instant::from_millis);
            let expiration = points::expiration_in(row.as_points()).unwrap_or_default();
            let zone = &LocalTime::of(call)?.zone;
            PointsPlace::Lot(activated_at.and_then(|at| expiration.arriving(at, zone).lapses_at()))
        }
    })
}

/// Queues the writes of the card and of its holder's earned points in the campaign.
fn write(call: &mut Call<'_, '_>, card: &mut Document, by: i64) -> Result<(), Fault> {
    call.touch(card);
    call.store.update(VOUCHER.object, card);
    let (Some(customer), Some(campaign)) = (&card.holder, &card.parent) else { return Ok(()) };
    let Some(mut customer) = call.store.document(customer::CUSTOMER.object, customer)? else { return Ok(()) };
    let Some(campaign) = call.store.document("campaign", campaign)? else { return Ok(()) };
    let name = campaign.as_campaign().name().unwrap_or_default();
    referral_summary::earn(&mut customer, name, by)?;
    call.touch(&mut customer);
    call.store.update(customer::CUSTOMER.object, &customer);
    Ok(())
}

fn details(order_id: &str, card: &Document, points: i64, before: CardPoints) -> Result<Json, Fault> {
    let balance = before.balance.plus(points)?;
    let balance = json!({
        "points": points, "total": before.total, "balance": balance, "type": CARD.kind,
        "operation_type": "AUTOMATIC", "object": "balance", "related_object": { "type": "voucher", "id": card.id },
    });
    Ok(PointsOrigin::of_order(order_id).details_with("balance", balance))
}
