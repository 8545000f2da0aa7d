//! Points of loyalty cards of the older interface that come and go by time: the engine of points changes them, and here they are read from
//! the voucher, written back and swept. It must not know routes, nor why points move.
//!
//! The voucher says which of its points wait, which lapse when, and what was ever lost; what was spent the ledger says, and what is left over never
//! lapses, so that a card without such points says nothing of this. All of it is in the voucher's own text, because each decision on the
//! card reads that anyway; it is bounded ([`LOTS_MAX`]), because what lapses at one moment is one lot. Whoever reads a voucher reads it as it
//! is now (`Grant::at`); what was due is written by the next change and by the alarm, the same by both.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::card_changes::{arm, broken};
use crate::shop::cards::Present;
use crate::shop::pending_rows;
use crate::shop::purses::CARD;
use crate::shop::voucher_transactions::{Moved, put};
use crate::shop::vouchers::VOUCHER;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::work::actions::Piece;
use scrip::Context;
use scrip::facts::points_account;
use scrip::id::Ids;
use scrip::model::card::{Card as Said, CardLot, Lapse, Waiting};
use scrip::model::incentive::Grant;
use scrip::points::{
    Arrival, Card, Cause, Expiration, Expiry, Figure, Lot, Now, Outcome, Pending, Period, Refused, Step, Take, Unit,
    Wait,
};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::{Day, Instant, TimeZone};
use scrip::wire::card::{write_card_lot, write_waiting};
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::program_expiration::read_expiration_rules;
use scrip::wire::voucher::card_of;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The kind of the job that writes what came and went by time on a card that nobody has changed; its row of `due` has the id of the voucher.
pub const LAPSE: &str = "VOUCHERS.POINTS_LAPSE";

/// Lots of a card. When there would be more, those that lapse first join the next: they stay longer, and never less long.
const LOTS_MAX: usize = 1_000;

/// What never lapses, and what comes, among the lots that the engine sees; the others are called by the moment at which they lapse.
pub const NEVER: &str = "never";
const COMING: &str = "coming";

/// What a change made of a card, to be written down.
pub struct Change {
    /// What the engine did.
    pub outcome: Outcome,
    /// What was ever on the card, and what was left, before it.
    before: (u64, u64),
    due_before: Option<Instant>,
}

/// How points of a program lapse that come now; never where its rules do not read.
pub fn rules_in(campaign: &Document) -> Expiration {
    rules_said(campaign).and_then(expiration_of).unwrap_or_default()
}

/// The rules of a program, as they are written.
pub fn rules_said(campaign: &Document) -> Option<&Json> {
    campaign.body.get("voucher")?.get(CARD.block)?.get("expiration_rules")
}

/// What something says of how points lapse, if it says anything that reads.
pub fn expiration_in(said: &Map<String, Json>) -> Option<Expiration> {
    expiration_of(said.get("expiration_rules")?)
}

/// What rules say of how points lapse, if they read.
pub fn expiration_of(rules: &Json) -> Option<Expiration> {
    read_fields(rules.as_object()?, read_expiration_rules).ok()
}

/// How points lapse on the day of a moment; nothing where that is over.
pub fn until(present: &Present, date_ms: i64) -> Option<Expiration> {
    let now = present.now();
    days_until(now.at, now.zone, now.zone.day(Instant::from_millis(date_ms)?)?)
}

/// How points lapse that come at a moment and can be spent until the end of a day; nothing where that is over.
fn days_until(from: Instant, zone: &TimeZone, last: Day) -> Option<Expiration> {
    let value = u32::try_from(last.days_since(zone.day(from)?)).ok()?;
    Some(Expiration::Rolling { period: Period { value, unit: Unit::Day }, rounding: None })
}

/// The same of the program that a card is of.
pub fn rules_of(store: &Store<'_>, card: &Document) -> Result<Expiration, Fault> {
    let Some(campaign) = &card.parent else { return Ok(Expiration::Never) };
    Ok(store.document("campaign", campaign)?.as_ref().map(rules_in).unwrap_or_default())
}

/// What a card says of its points, as it was written.
pub fn said(card: &Document) -> Option<Said> {
    match card_of(&card.body, Instant::default())? {
        Grant::Loyalty(said) => Some(said),
        Grant::Gift(_) | Grant::Discount(_) => None,
    }
}

/// The card as the engine of points has it; `spent` is the balance of its account.
pub fn points((said, zone): (&Said, &TimeZone), card: &Document, spent: i64) -> Card {
    let timed = said.lots.iter().fold(0, |sum: u64, lot| sum.saturating_add(lot.points));
    let left = i64::try_from(said.allotment()).unwrap_or(i64::MAX).saturating_add(spent);
    let rest = u64::try_from(left).unwrap_or(0).saturating_sub(timed);
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
    let pending = |one: &Waiting| {
        let last = one.lapse.as_ref().and_then(|lapse| Day::parse(&lapse.last_day));
        let expiration = last.and_then(|last| days_until(one.activates_at, zone, last)).unwrap_or_default();
        let (id, lot, wait) = (one.id.clone(), one.id.clone(), Wait::Period(one.activates_at));
        Pending { id, points: one.points, earned_at: arrived_at, wait, lot, expiration }
    };
    Card {
        lots: said.lots.iter().map(lot).chain([never]).collect(),
        pending: said.waiting.iter().map(pending).collect(),
        ..Card::default()
    }
}

/// What a lot is called that may have come while the engine had the card: by the moment at which it lapses.
pub fn stable_name(card: &Card, lot: &Text) -> Text {
    let known = card.lots.iter().find(|known| known.id == *lot);
    known.map_or_else(|| lot.clone(), |known| known.expiry.lapses_at().map_or_else(|| NEVER.into(), lot_id))
}

/// What a lot is called that lapses at a moment.
pub fn lot_id(at: Instant) -> Text {
    at.to_string().as_str().into()
}

/// Changes a card in hand; nothing is written. `spent` is the balance of its account before.
pub fn change(
    present: &Present,
    card: &mut Document,
    spent: i64,
    op: impl FnOnce(&Card, &Now<'_>) -> Result<Outcome, Refused>,
) -> Result<Option<Change>, Refused> {
    let Some(said) = said(card) else { return Ok(None) };
    let points = points((&said, &present.zone), card, spent);
    let left = points.lots.iter().fold(0, |sum: u64, lot| sum.saturating_add(lot.points));
    let due_before = points.next_due();
    let outcome = op(&points, &present.now())?;
    let figure = |figure| outcome.card.figures.of(figure);
    let came = figure(Figure::Added).saturating_add(figure(Figure::Earned));
    let numbers = [
        ("points", said.points, came),
        ("subtracted_points", said.subtracted_points, figure(Figure::Subtracted)),
        ("expired_points", said.expired_points, figure(Figure::Expired)),
    ];
    let lots: Vec<Json> = lots_of(&said, &outcome.card, present).iter().map(write_card_lot).collect();
    let waiting: Vec<Json> = waiting_of(&said, &outcome.card, present).iter().map(write_waiting).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut) {
        for (name, known, more) in numbers.into_iter().filter(|(_, _, more)| *more > 0) {
            block.insert(name.into(), known.saturating_add(more).into());
        }
        if !lots.is_empty() || block.contains_key("lots") {
            block.insert("lots".into(), Json::Array(lots));
        }
        if !waiting.is_empty() || block.contains_key("waiting") {
            block.insert("waiting".into(), Json::Array(waiting));
        }
    }
    Ok(Some(Change { outcome, before: (said.points, left), due_before }))
}

/// The lots that lapse, as they are kept: an empty one until it would have lapsed, because points may come back to it.
fn lots_of(said: &Said, card: &Card, present: &Present) -> Vec<CardLot> {
    let now = present.now();
    let mut by_now = said.clone();
    by_now.go_on(now.at);
    let known = |at: Instant| by_now.lots.iter().find(|lot| lot.lapse.at == at);
    let mut points: BTreeMap<Instant, u64> = BTreeMap::new();
    for lot in card.lots.iter().filter(|lot| !lot.is_closed) {
        if let Some(at) = lot.expiry.lapses_at().filter(|at| *at > now.at) {
            let sum = points.entry(at).or_default();
            *sum = sum.saturating_add(lot.points);
        }
    }
    while points.len() > LOTS_MAX {
        let Some((_, first)) = points.pop_first() else { break };
        if let Some(mut next) = points.first_entry() {
            *next.get_mut() = next.get().saturating_add(first);
        }
    }
    let lot = |(at, points): (Instant, u64)| match known(at) {
        Some(lot) if lot.points == points => lot.clone(),
        Some(lot) => CardLot { points, changed_at: Some(now.at), ..lot.clone() },
        None => CardLot { lapse: lapse(at, now.zone), points, arrived_at: now.at, changed_at: None },
    };
    points.into_iter().map(lot).collect()
}

/// What waits, as it is kept.
fn waiting_of(said: &Said, card: &Card, present: &Present) -> Vec<Waiting> {
    let zone = &present.zone;
    let waiting = |one: &Pending| {
        let activates_at = one.wait.activates_at()?;
        let known = said.waiting.iter().find(|known| known.id == one.id);
        let lapse = match known {
            Some(known) => known.lapse.clone(),
            None => one.expiration.arriving(activates_at, zone).lapses_at().map(|at| lapse(at, zone)),
        };
        Some(Waiting { id: one.id.clone(), points: one.points, activates_at, lapse })
    };
    card.pending.iter().filter_map(waiting).collect()
}

fn lapse(at: Instant, zone: &TimeZone) -> Lapse {
    let last_day = zone.day(at.later(-1)).map(|day| day.text()).unwrap_or_default();
    Lapse { at, last_day: last_day.as_str().into() }
}

/// Writes at the commit what came and went on a card by time, and sees to what is due next; the card itself is left to the caller. Without
/// `ids` nothing can come or go but by time.
pub fn note(
    store: &mut Store<'_>,
    present: &Present,
    card: &Document,
    change: &Change,
    mut ids: Option<&mut Ids>,
) -> Result<(), Fault> {
    let (mut total, mut left) = change.before;
    let due = change.outcome.due.iter().map(|step| (step, true));
    for (step, is_due) in due.chain(change.outcome.steps.iter().map(|step| (step, false))) {
        let (came, went) = (came(step), went(step));
        left = left.saturating_add(came).saturating_sub(went);
        let (named, kind, points) = match &step.cause {
            Cause::Lapsed(lot) => {
                let name = stable_name(&change.outcome.card, lot);
                (joined(&["/lapsed/", &name]), "POINTS_EXPIRATION", signed(went).saturating_neg())
            }
            Cause::Activated(pending) => {
                total = total.saturating_add(came);
                (joined(&["/activated/", pending]), "PENDING_POINTS_ACTIVATION", signed(came))
            }
            _ => continue,
        };
        let id = match ids.as_deref_mut().filter(|_| !is_due) {
            Some(ids) => ids.hex18("vtx_"),
            None => due_id(card, &named),
        };
        let operation_type = if is_due || kind == "POINTS_EXPIRATION" { "AUTOMATIC" } else { "MANUAL" };
        let mut told = json!({ "balance": {
            "points": points, "total": total, "balance": left, "type": CARD.kind, "operation_type": operation_type,
            "object": "balance", "related_object": { "type": "voucher", "id": card.id },
        } });
        if let (Cause::Activated(pending), Some(told)) = (&step.cause, told.as_object_mut()) {
            told.extend(pending_rows::activated(store, card, pending, step.at)?);
        }
        let moved = Moved { id: &id, kind, source: None, at_ms: step.at.millis() };
        put(store, card, &moved, [Json::Null, Json::Null], &told);
    }
    let next = change.outcome.card.next_due();
    if next == change.due_before { Ok(()) } else { arm(store, (LAPSE, &card.id), next, &present.said) }
}

fn signed(points: u64) -> i64 {
    i64::try_from(points).unwrap_or(i64::MAX)
}

/// How many points a step brought to lots.
fn came(step: &Step) -> u64 {
    step.brought().iter().map(|part| part.points).fold(0, u64::saturating_add)
}

/// How many it took from them.
fn went(step: &Step) -> u64 {
    step.taken().iter().map(|part| part.points).fold(0, u64::saturating_add)
}

/// The id of the transaction of points that came or went by time: it follows from what was due, so that it is the same whoever notices.
fn due_id(card: &Document, due: &Text) -> Text {
    let digest = sha256(&[card.id.as_bytes(), due.as_bytes()]);
    joined(&["vtx_", &hex(digest.get(..9).unwrap_or_default())])
}

/// Changes a card by hand at the commit: points come, and lapse as is said, or they go. The card itself is left to the caller; `spent` is
/// the balance of its account.
pub fn shift(
    call: &mut Call<'_, '_>,
    card: &mut Document,
    (spent, delta): (i64, i64),
    expiration: &Expiration,
) -> Result<(), CallError> {
    let present = Present::of(call)?;
    let changed = change(&present, card, spent, |points, now| match u64::try_from(delta) {
        Ok(added) => points.add(added, Arrival { lot: &COMING.into(), expiration }, now),
        Err(_) => points.take(Take::Subtract { below_zero: false }, delta.unsigned_abs(), now),
    });
    let changed = changed.map_err(|refused| broken(&card.id, &refused))?;
    let Some(changed) = changed else { return Ok(()) };
    Ok(note(call.store, &present, card, &changed, Some(&mut call.ids))?)
}

/// What is on a card when somebody gets it has come then, and lapses as its program says.
pub fn begin(call: &mut Call<'_, '_>, campaign: &Document, card: &mut Document) -> Result<(), CallError> {
    let rules = rules_in(campaign);
    let Some(said) = said(card).filter(|_| rules != Expiration::Never) else { return Ok(()) };
    let present = Present::of(call)?;
    let mut points = points((&said, &present.zone), card, spent(call.store, card)?);
    let due_before = points.next_due();
    let now = present.now();
    let Some(at) = rules.arriving(now.at, now.zone).lapses_at() else { return Ok(()) };
    for lot in points.lots.iter_mut().filter(|lot| lot.expiry == Expiry::Never && lot.points > 0) {
        lot.expiry = Expiry::Rolling(at);
    }
    let lots: Vec<Json> = lots_of(&said, &points, &present).iter().map(write_card_lot).collect();
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut)
        && !lots.is_empty()
    {
        block.insert("lots".into(), Json::Array(lots));
    }
    let next = points.next_due();
    if next != due_before {
        arm(call.store, (LAPSE, &card.id), next, &present.said)?;
    }
    Ok(())
}

/// What was spent of a card, as the ledger has it: less than nothing.
pub fn spent(store: &Store<'_>, card: &Document) -> Result<i64, Fault> {
    let account = points_account(&card.id).to_string();
    let standings = store.standings(std::slice::from_ref(&account), 0, "")?;
    Ok(standings.get(&account).copied().unwrap_or_default().balance)
}

/// The work of the alarm: writes what came and went on a card since it was changed. One that is gone is left alone.
pub fn sweep(store: &mut Store<'_>, context: &Context, piece: &Piece<'_>) -> Result<(), Fault> {
    let Some(mut card) = store.document(VOUCHER.object, piece.id)? else {
        store.write("DELETE FROM due WHERE id = +?1", vec![piece.id.into()]);
        return Ok(());
    };
    let present = Present::read(context.now, piece.read()?)?;
    let spent = spent(store, &card)?;
    let changed = change(&present, &mut card, spent, |points, now| points.settle(now));
    let changed = changed.map_err(|refused| broken(&card.id, &refused))?;
    let next = match &changed {
        Some(changed) => {
            note(store, &present, &card, changed, None)?;
            changed.outcome.card.next_due()
        }
        None => None,
    };
    store.update(VOUCHER.object, &card);
    arm(store, (LAPSE, &card.id), next, &present.said)
}
