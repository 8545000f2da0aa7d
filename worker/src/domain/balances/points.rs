//! Reads the timed points of a loyalty card (v1) from its voucher document, changes them with the engine's points module, and
//! writes them back. A job expires and activates what is due.
//!
//! The document has the pending points, the lots with their expiration and the expired total; the ledger has the spent
//! points. Points outside of all lots never expire. A card without timed points has none of these members.
//! The lots are in the document because every decision on the card reads it. Their number is bounded ([`LOTS_MAX`]): points
//! that expire at one instant form one lot. Readers see the card as it is now (`Grant::at`). The next change or the job
//! writes what was due, with the same result.

use crate::domain::balances::kinds::CARD;
use crate::domain::balances::pending;
use crate::domain::balances::transactions::{TransactionHead, put};
use crate::domain::clock::LocalTime;
use crate::domain::due::{schedule, unsettled};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::jobs::async_actions::JobSlice;
use crate::store::Store;
use crate::store::amount::{self, CheckedAmount};
use crate::store::document::Document;
use crate::store::records::PointsRecord;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::count::{self, Countable};
use scrip::facts::points_account;
use scrip::id::Ids;
use scrip::model::card::{CardLot, LotExpiry, LoyaltyCard as Said, PendingLot};
use scrip::model::redeemable::Grant;
use scrip::points::{
    CardOutcome, CardRefusal, CardStep, Credit, DebitReason, EarnedPoints, Expiration, Expiry, LifetimeTotal, Lot,
    MovementCause, Now, PendingPoints, PendingUntil, Period, PointsCard, Revocation, Unit,
};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::{Day, Instant, TimeZone};
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::loyalty_campaign_expiration::read_expiration_rules;
use scrip::wire::voucher::card::{write_card_lot, write_waiting};
use scrip::wire::voucher::card_of;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;

/// Kind of the job that settles a card without another change; its row in `due` has the id of the voucher.
pub const LAPSE: &str = "VOUCHERS.POINTS_LAPSE";

/// Maximum number of lots on a card. Beyond it, the lot that expires first joins the next one, so its points live longer, never shorter.
const LOTS_MAX: usize = 1_000;

/// Names of two lots in the engine's view: points that never expire, and points of the current operation. Others are named by expiration.
pub const NEVER: &str = "never";
const COMING: &str = "coming";

/// Result of a change of a card, to be recorded.
pub struct PointsChange {
    /// Result of the engine.
    pub outcome: CardOutcome,
    /// Total ever credited and balance before the change.
    before: (u64, u64),
    due_before: Option<Instant>,
}

/// Returns how points of a campaign expire; never when its rules cannot be read.
pub fn rules_in(campaign: &Document) -> Expiration {
    rules_said(campaign).and_then(expiration_of).unwrap_or_default()
}

/// Returns the stored expiration rules of a campaign.
pub fn rules_said(campaign: &Document) -> Option<&Json> {
    campaign.as_campaign().vouchers().expiration_rules()
}

/// Returns the expiration that an object declares in `expiration_rules`; `None` when it declares none that can be read.
pub fn expiration_in(said: PointsRecord<'_>) -> Option<Expiration> {
    expiration_of(said.expiration_rules()?)
}

/// Parses expiration rules; `None` when they cannot be read.
pub fn expiration_of(rules: &Json) -> Option<Expiration> {
    read_fields(rules.as_object()?, read_expiration_rules).ok()
}

/// Returns the expiration at the end of the day that contains `date_ms`; `None` when that day is over.
pub fn until(present: &LocalTime, date_ms: i64) -> Option<Expiration> {
    let now = present.now();
    days_until(now.at, now.zone, now.zone.day(Instant::from_millis(date_ms)?)?)
}

/// Returns the expiration, at the end of the day `last`, of points that are credited at `from`; `None` when that day is over.
fn days_until(from: Instant, zone: &TimeZone, last: Day) -> Option<Expiration> {
    let value = u32::try_from(last.days_since(zone.day(from)?)).ok()?;
    Some(Expiration::Rolling { period: Period { value, unit: Unit::Day }, rounding: None })
}

/// Returns how points of the campaign of a card expire.
pub fn rules_of(store: &Store<'_>, card: &Document) -> Result<Expiration, Fault> {
    let Some(campaign) = &card.parent else { return Ok(Expiration::Never) };
    Ok(store.document("campaign", campaign)?.as_ref().map(rules_in).unwrap_or_default())
}

/// Returns the loyalty block of a card as it is stored; `None` for other vouchers.
pub fn said(card: &Document) -> Option<Said> {
    match card_of(&card.body, Instant::default())? {
        Grant::Loyalty(said) => Some(said),
        Grant::Gift(_) | Grant::Discount(_) => None,
    }
}

/// Converts a card to the engine's points card; `spent` is the balance of its account. Fails for points beyond 64 bits.
pub fn points(said: &Said, zone: &TimeZone, card: &Document, spent: i64) -> Result<PointsCard, CardRefusal> {
    let timed = count::total(said.lots.iter().map(|lot| lot.points)).ok_or(CardRefusal::Beyond)?;
    let allotment = i64::try_from(said.allotment()).ok();
    let left = allotment.and_then(|allotment| allotment.checked_add(spent)).ok_or(CardRefusal::Beyond)?;
    let rest = left.max(0).unsigned_abs().remaining_after(timed);
    let arrived_at = Instant::from_millis(card.created_at).unwrap_or_default();
    let lot = |lot: &CardLot| Lot {
        id: lot_id(lot.lapse.at),
        points: lot.points,
        arrived_at: lot.arrived_at,
        expiry: Expiry::Rolling(lot.lapse.at),
        is_closed: false,
        lapsed: 0,
    };
    let never = Lot { id: NEVER.into(), points: rest, arrived_at, expiry: Expiry::Never, is_closed: false, lapsed: 0 };
    let pending = |one: &PendingLot| {
        let last = one.lapse.as_ref().and_then(|lapse| Day::parse(&lapse.last_day));
        let expiration = last.and_then(|last| days_until(one.activates_at, zone, last)).unwrap_or_default();
        let (id, lot, wait) = (one.id.clone(), one.id.clone(), PendingUntil::Period(one.activates_at));
        PendingPoints { id, points: one.points, earned_at: arrived_at, wait, lot, expiration }
    };
    Ok(PointsCard {
        lots: said.lots.iter().map(lot).chain([never]).collect(),
        pending: said.waiting.iter().map(pending).collect(),
        ..PointsCard::default()
    })
}

/// Returns the stable name of a lot, which may be new in this change: it is made from the lot's expiration.
pub fn stable_name(card: &PointsCard, lot: &Text) -> Text {
    let known = card.lots.iter().find(|known| known.id == *lot);
    known.map_or_else(|| lot.clone(), |known| known.expiry.lapses_at().map_or_else(|| NEVER.into(), lot_id))
}

/// Returns the name of the lot of points that expire at `lapses_at`, or never.
pub fn lot_name(lapses_at: Option<Instant>) -> Text {
    lapses_at.map_or_else(|| NEVER.into(), lot_id)
}

/// Returns the name of the lot of points that expire at `at`.
pub fn lot_id(at: Instant) -> Text {
    at.to_string().as_str().into()
}

/// Applies an operation to a card document without a write to the store. `spent` is the balance of its account before.
pub fn change(
    present: &LocalTime,
    card: &mut Document,
    spent: i64,
    op: impl FnOnce(&PointsCard, &Now<'_>) -> Result<CardOutcome, CardRefusal>,
) -> Result<Option<PointsChange>, CardRefusal> {
    let Some(said) = said(card) else { return Ok(None) };
    let points = points(&said, &present.zone, card, spent)?;
    let sum = |parts: &[u64]| count::total(parts.iter().copied()).ok_or(CardRefusal::Beyond);
    let left = count::total(points.lots.iter().map(|lot| lot.points)).ok_or(CardRefusal::Beyond)?;
    let due_before = points.next_due();
    let outcome = op(&points, &present.now())?;
    let figure = |figure| outcome.card.figures.of(figure);
    let came = sum(&[figure(LifetimeTotal::Added), figure(LifetimeTotal::Earned)])?;
    let went = sum(&[figure(LifetimeTotal::Subtracted), figure(LifetimeTotal::Returned)])?;
    let numbers = [
        ("points", said.points, came),
        ("subtracted_points", said.subtracted_points, went),
        ("expired_points", said.expired_points, figure(LifetimeTotal::Expired)),
    ];
    let lots: Vec<Json> = lots_of(&said, &outcome.card, present)?.iter().map(write_card_lot).collect();
    let waiting: Vec<Json> = waiting_of(&said, &outcome.card, present).iter().map(write_waiting).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut) {
        for (name, known, more) in numbers.into_iter().filter(|(_, _, more)| *more > 0) {
            block.insert(name.into(), sum(&[known, more])?.into());
        }
        if !lots.is_empty() || block.contains_key("lots") {
            block.insert("lots".into(), Json::Array(lots));
        }
        if !waiting.is_empty() || block.contains_key("waiting") {
            block.insert("waiting".into(), Json::Array(waiting));
        }
    }
    Ok(Some(PointsChange { outcome, before: (said.points, left), due_before }))
}

/// Returns the lots as they are stored. An empty lot stays until it would expire, because points may be refunded to it.
fn lots_of(said: &Said, card: &PointsCard, present: &LocalTime) -> Result<Vec<CardLot>, CardRefusal> {
    let now = present.now();
    let mut by_now = said.clone();
    by_now.go_on(now.at);
    let known = |at: Instant| by_now.lots.iter().find(|lot| lot.lapse.at == at);
    let mut points: BTreeMap<Instant, u64> = BTreeMap::new();
    for lot in card.lots.iter().filter(|lot| !lot.is_closed) {
        if let Some(at) = lot.expiry.lapses_at().filter(|at| *at > now.at) {
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
        None => CardLot { lapse: lapse(at, now.zone), points, arrived_at: now.at, changed_at: None },
    };
    Ok(points.into_iter().map(|(at, points)| lot(at, points)).collect())
}

/// Returns the pending points as they are stored.
fn waiting_of(said: &Said, card: &PointsCard, present: &LocalTime) -> Vec<PendingLot> {
    let zone = &present.zone;
    let waiting = |one: &PendingPoints| {
        let activates_at = one.wait.activates_at()?;
        let known = said.waiting.iter().find(|known| known.id == one.id);
        let lapse = match known {
            Some(known) => known.lapse.clone(),
            None => one.expiration.arriving(activates_at, zone).lapses_at().map(|at| lapse(at, zone)),
        };
        Some(PendingLot { id: one.id.clone(), points: one.points, activates_at, lapse })
    };
    card.pending.iter().filter_map(waiting).collect()
}

fn lapse(at: Instant, zone: &TimeZone) -> LotExpiry {
    let last_day = zone.day(at.later(-1)).map(|day| day.text()).unwrap_or_default();
    LotExpiry { at, last_day: last_day.as_str().into() }
}

/// Queues the transactions of what expired or became spendable on a card, and schedules the next settlement. The caller
/// writes the card document. Without `ids` all steps must be due steps.
pub fn note(
    store: &mut Store<'_>,
    present: &LocalTime,
    card: &Document,
    change: &PointsChange,
    mut ids: Option<&mut Ids>,
) -> Result<(), Fault> {
    let (mut total, mut left) = change.before;
    let due = change.outcome.due.iter().map(|step| (step, true));
    for (step, is_due) in due.chain(change.outcome.steps.iter().map(|step| (step, false))) {
        let (came, went) = (came(step)?, went(step)?);
        left = left.plus(came)?.minus(went)?;
        let (named, kind, points) = match &step.cause {
            MovementCause::Lapsed(lot) => {
                let name = stable_name(&change.outcome.card, lot);
                (joined(&["/lapsed/", &name]), "POINTS_EXPIRATION", amount::negated(amount::signed(went)?)?)
            }
            MovementCause::Activated(pending) => {
                total = total.plus(came)?;
                (joined(&["/activated/", pending]), "PENDING_POINTS_ACTIVATION", amount::signed(came)?)
            }
            _ => continue,
        };
        let id = match ids.as_deref_mut().filter(|_| !is_due) {
            Some(ids) => ids.hex18("vtx_"),
            None => due_id(card, &named),
        };
        let operation_type = if is_due || kind == "POINTS_EXPIRATION" { "AUTOMATIC" } else { "MANUAL" };
        let mut details = json!({ "balance": {
            "points": points, "total": total, "balance": left, "type": CARD.kind, "operation_type": operation_type,
            "object": "balance", "related_object": { "type": "voucher", "id": card.id },
        } });
        if let (MovementCause::Activated(pending), Some(details)) = (&step.cause, details.as_object_mut()) {
            details.extend(pending::activated(store, card, pending, step.at)?);
        }
        let moved = TransactionHead { id: &id, kind, source: None, at_ms: step.at.millis() };
        put(store, card, &moved, [Json::Null, Json::Null], &details);
    }
    let next = change.outcome.card.next_due();
    if next == change.due_before { Ok(()) } else { schedule(store, LAPSE, &card.id, next, present) }
}

/// Returns the points that a step credited to lots.
fn came(step: &CardStep) -> Result<u64, Fault> {
    amount::total(step.brought().iter().map(|part| part.points))
}

/// Returns the points that a step took from lots.
fn went(step: &CardStep) -> Result<u64, Fault> {
    amount::total(step.taken().iter().map(|part| part.points))
}

/// Returns the id of the transaction of a due step. It is derived from the step, so the next change and the job produce the same id.
fn due_id(card: &Document, due: &Text) -> Text {
    let digest = sha256(&[card.id.as_bytes(), due.as_bytes()]);
    joined(&["vtx_", &hex(digest.get(..9).unwrap_or_default())])
}

/// Changes the points of a card by hand: adds points with `expiration`, or subtracts them. The caller writes the card
/// document. `spent` is the balance of its account.
pub fn shift(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    spent: i64,
    delta: i64,
    expiration: &Expiration,
) -> Result<(), CallError> {
    let present = LocalTime::of(call)?;
    let changed = change(&present, card, spent, |points, now| match u64::try_from(delta) {
        Ok(added) => points.add(added, Credit { lot: &COMING.into(), expiration }, now),
        Err(_) => points.take(DebitReason::Subtract { below_zero: false }, delta.unsigned_abs(), now),
    });
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(()) };
    Ok(note(call.store, &present, card, &changed, Some(&mut call.ids))?)
}

/// Revokes points: first from `lot` when it is given and not expired, then in the order of spending. The caller writes the card document.
pub fn take_back(call: &mut Call<'_, '_>, card: &mut Document, points: u64, lot: Option<Text>) -> Result<(), Fault> {
    let (present, spent) = (LocalTime::of(call)?, spent(call.store, card)?);
    let changed = change(&present, card, spent, |card, now| {
        let is_open = |name: &Text| card.lots.iter().any(|lot| lot.id == *name && !lot.expiry.is_over(now.at));
        let lot = lot.filter(is_open);
        card.revoke(&EarnedPoints { pending: None, lot, points }, Revocation::ToZero, now)
    });
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    changed.map_or(Ok(()), |changed| note(call.store, &present, card, &changed, Some(&mut call.ids)))
}

/// Puts the points of a newly assigned card into a lot that expires by the rules of its campaign.
pub fn begin(call: &mut Call<'_, '_>, campaign: &Document, card: &mut Document) -> Result<(), CallError> {
    let rules = rules_in(campaign);
    let Some(said) = said(card).filter(|_| rules != Expiration::Never) else { return Ok(()) };
    let present = LocalTime::of(call)?;
    let points = points(&said, &present.zone, card, spent(call.store, card)?);
    let mut points = points.map_err(|refused| unsettled(&card.id, &refused))?;
    let due_before = points.next_due();
    let now = present.now();
    let Some(at) = rules.arriving(now.at, now.zone).lapses_at() else { return Ok(()) };
    for lot in points.lots.iter_mut().filter(|lot| lot.expiry == Expiry::Never && lot.points > 0) {
        lot.expiry = Expiry::Rolling(at);
    }
    let lots = lots_of(&said, &points, &present).map_err(|refused| unsettled(&card.id, &refused))?;
    let lots: Vec<Json> = lots.iter().map(write_card_lot).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut)
        && !lots.is_empty()
    {
        block.insert("lots".into(), Json::Array(lots));
    }
    let next = points.next_due();
    if next != due_before {
        schedule(call.store, LAPSE, &card.id, next, &present)?;
    }
    Ok(())
}

/// Returns the balance of a card's account: zero, or negative by the points that were spent.
pub fn spent(store: &Store<'_>, card: &Document) -> Result<i64, Fault> {
    let account = points_account(&card.id).to_string();
    Ok(store.account_balance(&account, 0)?.balance)
}

/// Runs the job: settles one card. The job of a deleted card is deleted.
pub fn sweep(store: &mut Store<'_>, context: &Context, piece: &JobSlice<'_>) -> Result<(), Fault> {
    let Some(mut card) = store.document(VOUCHER.object, piece.id)? else {
        store.delete_due(piece.id);
        return Ok(());
    };
    let present = LocalTime::read(context.now, piece.read()?)?;
    let spent = spent(store, &card)?;
    let changed = change(&present, &mut card, spent, |points, now| points.settle(now));
    let changed = changed.map_err(|refused| unsettled(&card.id, &refused))?;
    let Some(changed) = changed else {
        return Err(Fault::new(format!("the card `{}` is due and cannot be read", card.id)));
    };
    note(store, &present, &card, &changed, None)?;
    let next = changed.outcome.card.next_due();
    store.update(VOUCHER.object, &card);
    schedule(store, LAPSE, &card.id, next, &present)
}
