//! Reads the timed points of a loyalty card (v1) from its voucher document, changes them with the engine's points module, and
//! writes them back. A job expires and activates what is due.
//!
//! The document has the pending points, the lots with their expiration and the expired total; the ledger has the spent
//! points. Points outside of all lots never expire. A card without timed points has none of these members.
//! The lots are in the document because every decision on the card reads it. Their number is bounded ([`LOTS_MAX`]): points
//! that expire at one instant form one lot. Readers see the card as it is now (`Grant::at`). The next change or the job
//! writes the due changes, with the same result.

use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending::{self, ActivatedPoints};
use crate::domain::balances::transactions::{TransactionHead, insert};
use crate::domain::clock::LocalTime;
use crate::domain::due::{schedule, settlement_fault};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::{Document, read_member};
use crate::store::sql::Fault;
use scrip::Context;
use scrip::count::{self, Countable};
use scrip::facts::points_account;
use scrip::id::Ids;
use scrip::model::card::{CardLot, LotExpiry, LoyaltyCard, PendingLot};
use scrip::model::redeemable::Grant;
use scrip::points::{
    CardOutcome, CardRefusal, CardStep, Credit, DebitReason, EarnedPoints, Expiration, Expiry, LifetimeTotal, Lot,
    MovementCause, Now, PendingPoints, PendingUntil, Period, PointsCard, Revocation, Unit,
};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::{Day, Instant, TimeZone};
use scrip::wire::loyalty::loyalty_campaign_expiration::read_expiration_rules;
use scrip::wire::voucher::card::{write_card_lot, write_pending_lot};
use scrip::wire::voucher::card_of;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Kind of the job that settles a card without another change; its row in `due` has the id of the voucher.
pub const EXPIRATION_JOB: &str = "VOUCHERS.POINTS_LAPSE";

/// Maximum number of lots on a card. Beyond it, the lot that expires first joins the next one, so its points live longer, never shorter.
const LOTS_MAX: usize = 1_000;

/// Names of two lots in the engine's view: points that never expire, and points of the current operation. Others are named by expiration.
pub const NEVER: &str = "never";
const INCOMING: &str = "coming";

/// Result of a change of a card, to be recorded.
pub struct PointsChange {
    /// Result of the engine.
    pub outcome: CardOutcome,
    /// Total ever credited and balance before the change.
    before: (u64, u64),
    due_before: Option<Instant>,
}

/// Returns the expiration of the points of a campaign; never without rules. Fails when they cannot be read.
pub fn expiration_of_campaign(campaign: &Document) -> Result<Expiration, Fault> {
    parse_expiration(stored_expiration_rules(campaign), campaign)
}

/// Returns the stored expiration rules of a campaign.
pub fn stored_expiration_rules(campaign: &Document) -> Option<&Json> {
    campaign.as_campaign().vouchers().expiration_rules()
}

/// Returns the expiration that a row declares in `expiration_rules`; never without them. Fails when they cannot be read.
pub fn stored_expiration(row: &Document) -> Result<Expiration, Fault> {
    parse_expiration(row.as_points().expiration_rules(), row)
}

/// Parses the stored expiration rules of a document; without rules points never expire. Fails when the rules cannot be read.
pub fn parse_expiration(rules: Option<&Json>, owner: &Document) -> Result<Expiration, Fault> {
    read_member(owner, "expiration_rules", rules, read_expiration_rules)
}

/// Returns the expiration at the end of the day that contains `date_ms`; `None` when that day is over.
pub fn expiration_at_end_of_day(present: &LocalTime, date_ms: i64) -> Option<Expiration> {
    let now = present.now();
    days_until(now.at, now.zone, now.zone.day(Instant::from_millis(date_ms)?)?)
}

/// Returns the expiration, at the end of the day `last`, of points that are credited at `from`; `None` when that day is over.
fn days_until(from: Instant, zone: &TimeZone, last: Day) -> Option<Expiration> {
    let value = u32::try_from(last.days_since(zone.day(from)?)).ok()?;
    Some(Expiration::Rolling { period: Period { value, unit: Unit::Day }, rounding: None })
}

/// Returns the expiration of the points of a card, by the rules of its campaign.
pub fn find_expiration(store: &Store<'_>, card: &Document) -> Result<Expiration, Fault> {
    let Some(campaign) = &card.parent else { return Ok(Expiration::Never) };
    store.document("campaign", campaign)?.as_ref().map_or(Ok(Expiration::Never), expiration_of_campaign)
}

/// Returns the loyalty block of a card as it is stored; `None` for other vouchers.
pub fn read_loyalty_card(card: &Document) -> Option<LoyaltyCard> {
    match card_of(&card.body, Instant::default())? {
        Grant::Loyalty(stored) => Some(stored),
        Grant::Gift(_) | Grant::Discount(_) => None,
    }
}

/// Converts a card to the engine's points card; `account_balance` is the balance of its account. Fails for points beyond 64 bits.
pub fn points_card(
    stored: &LoyaltyCard,
    zone: &TimeZone,
    card: &Document,
    account_balance: i64,
) -> Result<PointsCard, CardRefusal> {
    let timed_points = count::total(stored.lots.iter().map(|lot| lot.points)).ok_or(CardRefusal::Beyond)?;
    let net_credited = i64::try_from(stored.credited_total()).ok();
    let left =
        net_credited.and_then(|net_credited| net_credited.checked_add(account_balance)).ok_or(CardRefusal::Beyond)?;
    let rest = left.max(0).unsigned_abs().remaining_after(timed_points);
    let arrived_at = Instant::from_millis(card.created_at).unwrap_or_default();
    let lot = |lot: &CardLot| Lot {
        id: lot_id(lot.expiry.at),
        points: lot.points,
        credited_at: lot.credited_at,
        expiry: Expiry::Rolling(lot.expiry.at),
        is_closed: false,
        expired: 0,
    };
    let never = Lot {
        id: NEVER.into(),
        points: rest,
        credited_at: arrived_at,
        expiry: Expiry::Never,
        is_closed: false,
        expired: 0,
    };
    let pending = |pending_lot: &PendingLot| {
        let last = pending_lot.expiry.as_ref().and_then(|expiry| Day::parse(&expiry.last_day));
        let expiration = last.and_then(|last| days_until(pending_lot.activates_at, zone, last)).unwrap_or_default();
        let (id, lot, wait) =
            (pending_lot.id.clone(), pending_lot.id.clone(), PendingUntil::Period(pending_lot.activates_at));
        PendingPoints { id, points: pending_lot.points, earned_at: arrived_at, condition: wait, lot, expiration }
    };
    Ok(PointsCard {
        lots: stored.lots.iter().map(lot).chain([never]).collect(),
        pending: stored.pending.iter().map(pending).collect(),
        ..PointsCard::default()
    })
}

/// Returns the stable name of a lot, which may be new in this change: it is made from the lot's expiration.
pub fn stable_name(card: &PointsCard, lot: &Text) -> Text {
    let known = card.lots.iter().find(|known| known.id == *lot);
    known.map_or_else(|| lot.clone(), |known| known.expiry.expires_at().map_or_else(|| NEVER.into(), lot_id))
}

/// Returns the name of the lot of points that expire at `expires_at`, or never.
pub fn lot_name(expires_at: Option<Instant>) -> Text {
    expires_at.map_or_else(|| NEVER.into(), lot_id)
}

/// Returns the name of the lot of points that expire at `at`.
pub fn lot_id(at: Instant) -> Text {
    at.to_string().as_str().into()
}

/// Applies an operation to a card document without a write to the store. `account_balance` is the balance of its account before.
pub fn apply_operation(
    present: &LocalTime,
    card: &mut Document,
    account_balance: i64,
    op: impl FnOnce(&PointsCard, &Now<'_>) -> Result<CardOutcome, CardRefusal>,
) -> Result<Option<PointsChange>, CardRefusal> {
    let Some(stored) = read_loyalty_card(card) else { return Ok(None) };
    let points = points_card(&stored, &present.zone, card, account_balance)?;
    let sum = |parts: &[u64]| count::total(parts.iter().copied()).ok_or(CardRefusal::Beyond);
    let left = count::total(points.lots.iter().map(|lot| lot.points)).ok_or(CardRefusal::Beyond)?;
    let due_before = points.next_due();
    let outcome = op(&points, &present.now())?;
    let total_of = |total| outcome.card.lifetime_totals.of(total);
    let credited = sum(&[total_of(LifetimeTotal::Added), total_of(LifetimeTotal::Earned)])?;
    let debited = sum(&[total_of(LifetimeTotal::Subtracted), total_of(LifetimeTotal::Returned)])?;
    let numbers = [
        ("points", stored.points, credited),
        ("subtracted_points", stored.subtracted_points, debited),
        ("expired_points", stored.expired_points, total_of(LifetimeTotal::Expired)),
    ];
    let lots: Vec<Json> = stored_lots(&stored, &outcome.card, present)?.iter().map(write_card_lot).collect();
    let pending: Vec<Json> = stored_pending(&stored, &outcome.card, present).iter().map(write_pending_lot).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut) {
        for (name, known, more) in numbers.into_iter().filter(|(_, _, more)| *more > 0) {
            block.insert(name.into(), sum(&[known, more])?.into());
        }
        if !lots.is_empty() || block.contains_key("lots") {
            block.insert("lots".into(), Json::Array(lots));
        }
        if !pending.is_empty() || block.contains_key("waiting") {
            block.insert("waiting".into(), Json::Array(pending));
        }
    }
    Ok(Some(PointsChange { outcome, before: (stored.points, left), due_before }))
}

/// Returns the lots as they are stored. An empty lot stays until it would expire, because points may be refunded to it.
fn stored_lots(stored: &LoyaltyCard, card: &PointsCard, present: &LocalTime) -> Result<Vec<CardLot>, CardRefusal> {
    let now = present.now();
    let mut current = stored.clone();
    current.advance_to(now.at);
    let known = |at: Instant| current.lots.iter().find(|lot| lot.expiry.at == at);
    let mut points: BTreeMap<Instant, u64> = BTreeMap::new();
    for lot in card.lots.iter().filter(|lot| !lot.is_closed) {
        if let Some(at) = lot.expiry.expires_at().filter(|at| *at > now.at) {
            let sum = points.entry(at).or_default();
            *sum = count::total([*sum, lot.points]).ok_or(CardRefusal::Beyond)?;
        }
    }
    while points.len() > LOTS_MAX {
        let Some((_, first)) = points.pop_first() else { break };
        if let Some(mut next) = points.first_entry() {
            *next.get_mut() = count::total([*next.get(), first]).ok_or(CardRefusal::Beyond)?;
        }
    }
    let lot = |at: Instant, points: u64| match known(at) {
        Some(lot) if lot.points == points => lot.clone(),
        Some(lot) => CardLot { points, changed_at: Some(now.at), ..lot.clone() },
        None => CardLot { expiry: lot_expiry(at, now.zone), points, credited_at: now.at, changed_at: None },
    };
    Ok(points.into_iter().map(|(at, points)| lot(at, points)).collect())
}

/// Returns the pending points as they are stored.
fn stored_pending(stored: &LoyaltyCard, card: &PointsCard, present: &LocalTime) -> Vec<PendingLot> {
    let zone = &present.zone;
    let pending = |pending_lot: &PendingPoints| {
        let activates_at = pending_lot.condition.activates_at()?;
        let known = stored.pending.iter().find(|known| known.id == pending_lot.id);
        let expiry = match known {
            Some(known) => known.expiry.clone(),
            None => pending_lot.expiration.expiry_at(activates_at, zone).expires_at().map(|at| lot_expiry(at, zone)),
        };
        Some(PendingLot { id: pending_lot.id.clone(), points: pending_lot.points, activates_at, expiry })
    };
    card.pending.iter().filter_map(pending).collect()
}

fn lot_expiry(at: Instant, zone: &TimeZone) -> LotExpiry {
    let last_day = zone.day(at.later(-1)).map(|day| day.text()).unwrap_or_default();
    LotExpiry { at, last_day: last_day.as_str().into() }
}

/// Details of the transaction of a step.
#[derive(Serialize)]
struct MovementDetails {
    balance: Json,
    #[serde(flatten)]
    activated: Option<ActivatedPoints>,
}

/// Queues the transactions of what expired or became spendable on a card, and schedules the next settlement. The caller
/// writes the card document. Without `ids` all steps must be due steps.
pub fn record_change(
    store: &mut Store<'_>,
    present: &LocalTime,
    card: &Document,
    change: &PointsChange,
    mut ids: Option<&mut Ids>,
) -> Result<(), Fault> {
    let (mut total, mut left) = change.before;
    let due = change.outcome.due.iter().map(|step| (step, true));
    for (step, is_due) in due.chain(change.outcome.steps.iter().map(|step| (step, false))) {
        let (credited, debited) = (credited_points(step)?, debited_points(step)?);
        left = left.plus(credited)?.minus(debited)?;
        let (named, kind, points) = match &step.cause {
            MovementCause::ExpiredByTime(lot) => {
                let name = stable_name(&change.outcome.card, lot);
                (joined(&["/lapsed/", &name]), "POINTS_EXPIRATION", amount::negated(amount::signed(debited)?)?)
            }
            MovementCause::Activated(pending) => {
                total = total.plus(credited)?;
                (joined(&["/activated/", pending]), "PENDING_POINTS_ACTIVATION", amount::signed(credited)?)
            }
            _ => continue,
        };
        let id = match ids.as_deref_mut().filter(|_| !is_due) {
            Some(ids) => ids.record("vtx_"),
            None => due_transaction_id(card, &named),
        };
        let operation_type = if is_due || kind == "POINTS_EXPIRATION" { "AUTOMATIC" } else { "MANUAL" };
        let balance = json!({
            "points": points, "total": total, "balance": left, "type": CARD.kind, "operation_type": operation_type,
            "object": "balance", "related_object": { "type": "voucher", "id": card.id },
        });
        let activated = match &step.cause {
            MovementCause::Activated(pending) => pending::activate(store, card, pending, step.at)?,
            _ => None,
        };
        let details = serde_json::to_value(MovementDetails { balance, activated });
        let details = details.map_err(|error| Fault(format!("a transaction cannot be written: {error}")))?;
        let head = TransactionHead { id: &id, kind, source: None, at_ms: step.at.millis() };
        insert(store, card, &head, [Json::Null, Json::Null], &details);
    }
    let next = change.outcome.card.next_due();
    if next == change.due_before { Ok(()) } else { schedule(store, EXPIRATION_JOB, &card.id, next, present) }
}

/// Returns the points that a step credited to lots.
fn credited_points(step: &CardStep) -> Result<u64, Fault> {
    amount::total(step.credited().iter().map(|part| part.points))
}

/// Returns the points that a step took from lots.
fn debited_points(step: &CardStep) -> Result<u64, Fault> {
    amount::total(step.debited().iter().map(|part| part.points))
}

/// Returns the id of the transaction of a due step. It is derived from the step, so the next change and the job produce the same id.
fn due_transaction_id(card: &Document, due: &Text) -> Text {
    let digest = sha256(&[card.id.as_bytes(), due.as_bytes()]);
    joined(&["vtx_", &hex(digest.get(..9).unwrap_or_default())])
}

/// Changes the points of a card by hand: adds points with `expiration`, or subtracts them. The caller writes the card
/// document. `account_balance` is the balance of its account.
pub fn adjust(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    account_balance: i64,
    delta: i64,
    expiration: &Expiration,
) -> Result<(), CallError> {
    let present = LocalTime::of(call)?;
    let changed = apply_operation(&present, card, account_balance, |points, now| match u64::try_from(delta) {
        Ok(added) => points.add(added, Credit { lot: &INCOMING.into(), expiration }, now),
        Err(_) => points.take(DebitReason::Subtract { below_zero: false }, delta.unsigned_abs(), now),
    });
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(()) };
    Ok(record_change(call.store, &present, card, &changed, Some(&mut call.ids))?)
}

/// Revokes points: first from `lot` when there is one that has not expired, then in the order of spending. The caller writes the card document.
pub fn revoke(call: &mut Call<'_, '_>, card: &mut Document, points: u64, lot: Option<Text>) -> Result<(), Fault> {
    let (present, account_balance) = (LocalTime::of(call)?, find_account_balance(call.store, card)?);
    let changed = apply_operation(&present, card, account_balance, |card, now| {
        let is_open = |name: &Text| card.lots.iter().any(|lot| lot.id == *name && !lot.expiry.is_over(now.at));
        let lot = lot.filter(is_open);
        card.revoke(&EarnedPoints { pending: None, lot, points }, Revocation::ToZero, now)
    });
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    changed.map_or(Ok(()), |changed| record_change(call.store, &present, card, &changed, Some(&mut call.ids)))
}

/// Moves the points of a newly assigned card into a lot that expires by the rules of its campaign.
pub fn start_expiration(call: &mut Call<'_, '_>, campaign: &Document, card: &mut Document) -> Result<(), CallError> {
    let rules = expiration_of_campaign(campaign)?;
    let Some(stored) = read_loyalty_card(card).filter(|_| rules != Expiration::Never) else { return Ok(()) };
    let present = LocalTime::of(call)?;
    let points = points_card(&stored, &present.zone, card, find_account_balance(call.store, card)?);
    let mut points = points.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let due_before = points.next_due();
    let now = present.now();
    let Some(at) = rules.expiry_at(now.at, now.zone).expires_at() else { return Ok(()) };
    for lot in points.lots.iter_mut().filter(|lot| lot.expiry == Expiry::Never && lot.points > 0) {
        lot.expiry = Expiry::Rolling(at);
    }
    let lots = stored_lots(&stored, &points, &present).map_err(|refused| settlement_fault(&card.id, &refused))?;
    let lots: Vec<Json> = lots.iter().map(write_card_lot).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut)
        && !lots.is_empty()
    {
        block.insert("lots".into(), Json::Array(lots));
    }
    let next = points.next_due();
    if next != due_before {
        schedule(call.store, EXPIRATION_JOB, &card.id, next, &present)?;
    }
    Ok(())
}

/// Returns the balance of a card's account: zero, or negative by the points that were spent.
pub fn find_account_balance(store: &Store<'_>, card: &Document) -> Result<i64, Fault> {
    let account = points_account(&card.id).to_string();
    Ok(store.account_balance(&account, 0)?.balance)
}

/// Runs the job: settles one card. The job of a deleted card is deleted.
pub fn run_job(store: &mut Store<'_>, context: &Context, slice: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(mut card) = store.document(VOUCHER.object, slice.id)? else {
        store.delete_due(slice.id);
        return Ok(());
    };
    let present = LocalTime::read(context.now, slice.read()?)?;
    let account_balance = find_account_balance(store, &card)?;
    let changed = apply_operation(&present, &mut card, account_balance, |points, now| points.settle(now));
    let changed = changed.map_err(|refused| settlement_fault(&card.id, &refused))?;
    let Some(changed) = changed else {
        return Err(Fault::new(format!("the card `{}` is due and cannot be read", card.id)));
    };
    record_change(store, &present, &card, &changed, None)?;
    let next = changed.outcome.card.next_due();
    store.update(VOUCHER.object, &card);
    schedule(store, EXPIRATION_JOB, &card.id, next, &present)
}
