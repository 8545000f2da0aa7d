//! Points of loyalty cards of the older interface that come and go by time: the engine of points changes them, and here they are read from
//! the voucher, written back, followed and swept. It must not know routes, nor why points move.
//!
//! The voucher says which of its points lapse when, and what was ever lost; what was spent the ledger says, and what is left over never
//! lapses, so that a card without such points says nothing of this. All of it is in the voucher's own text, because each decision on the
//! card reads that anyway; it is bounded ([`LOTS_MAX`]), because what lapses at one moment is one lot. Whoever reads a voucher reads it as it
//! is now (`Grant::at`); what was due is written by the next change and by the alarm, the same by both.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::moment;
use crate::shop::card_changes::{arm, broken};
use crate::shop::cards::Present;
use crate::shop::purses::CARD;
use crate::shop::voucher_transactions::{Moved, put};
use crate::shop::vouchers::VOUCHER;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::post::Post;
use crate::store::sql::Fault;
use crate::work::actions::Piece;
use scrip::Context;
use scrip::facts::{part_of, points_account};
use scrip::id::Ids;
use scrip::ledger::{Entry, Transfer};
use scrip::model::card::{Card as Said, CardLot, Lapse};
use scrip::model::incentive::Grant;
use scrip::points::{
    Arrival, Card, Cause, Expiration, Expiry, Figure, Lot, Now, Outcome, Part, Period, Refused, Spent, Step, Take, Unit,
};
use scrip::text::{Text, hex, joined, sha256};
use scrip::time::{Instant, TimeZone};
use scrip::wire::card::write_card_lot;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::program_expiration::read_expiration_rules;
use scrip::wire::voucher::card_of;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The kind of the job that writes what has lapsed on a card that nobody has changed; its row of `due` has the id of the voucher.
pub const LAPSE: &str = "VOUCHERS.POINTS_LAPSE";

/// The kind of the rows that say from which lots a transfer took points, whose id is the transfer's.
const TAKEN: &str = "points_taken";

/// Lots of a card. When there would be more, those that lapse first join the next: they stay longer, and never less long.
const LOTS_MAX: usize = 1_000;

/// What never lapses, and what comes, among the lots that the engine sees; the others are called by the moment at which they lapse.
const NEVER: &str = "never";
const COMING: &str = "coming";

/// What a change made of a card, to be written down.
struct Change {
    outcome: Outcome,
    /// What was ever on the card, and what was left, before it.
    before: (u64, u64),
    due_before: Option<Instant>,
}

/// How points of a program lapse that come now; never where its rules do not read.
pub fn rules_in(campaign: &Document) -> Expiration {
    let card = campaign.body.get("voucher").and_then(|voucher| voucher.get(CARD.block));
    card.and_then(Json::as_object).and_then(expiration_in).unwrap_or_default()
}

/// What something says of how points lapse, if it says anything that reads.
pub fn expiration_in(said: &Map<String, Json>) -> Option<Expiration> {
    let rules = said.get("expiration_rules")?.as_object()?;
    read_fields(rules, read_expiration_rules).ok()
}

/// How points lapse on the day of a moment; nothing where that is over.
pub fn until(present: &Present, date_ms: i64) -> Option<Expiration> {
    let now = present.now();
    let last = now.zone.day(Instant::from_millis(date_ms)?)?;
    let value = u32::try_from(last.days_since(now.zone.day(now.at)?)).ok()?;
    Some(Expiration::Rolling { period: Period { value, unit: Unit::Day }, rounding: None })
}

/// The same of the program that a card is of.
pub fn rules_of(store: &Store<'_>, card: &Document) -> Result<Expiration, Fault> {
    let Some(campaign) = &card.parent else { return Ok(Expiration::Never) };
    Ok(store.document("campaign", campaign)?.as_ref().map(rules_in).unwrap_or_default())
}

/// What a card says of its points, as it was written.
fn said(card: &Document) -> Option<Said> {
    match card_of(&card.body, Instant::default())? {
        Grant::Loyalty(said) => Some(said),
        Grant::Gift(_) | Grant::Discount(_) => None,
    }
}

/// The card as the engine of points has it; `spent` is the balance of its account.
fn points(said: &Said, card: &Document, spent: i64) -> Card {
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
    Card { lots: said.lots.iter().map(lot).chain([never]).collect(), ..Card::default() }
}

fn lot_id(at: Instant) -> Text {
    at.to_string().as_str().into()
}

/// Changes a card in hand; nothing is written. `spent` is the balance of its account before.
fn change(
    present: &Present,
    card: &mut Document,
    spent: i64,
    op: impl FnOnce(&Card, &Now<'_>) -> Result<Outcome, Refused>,
) -> Result<Option<Change>, Refused> {
    let Some(said) = said(card) else { return Ok(None) };
    let points = points(&said, card, spent);
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
    if let Some(block) = card.body.get_mut(CARD.block).and_then(Json::as_object_mut) {
        for (name, known, more) in numbers.into_iter().filter(|(_, _, more)| *more > 0) {
            block.insert(name.into(), known.saturating_add(more).into());
        }
        if !lots.is_empty() || block.contains_key("lots") {
            block.insert("lots".into(), Json::Array(lots));
        }
    }
    Ok(Some(Change { outcome, before: (said.points, left), due_before }))
}

/// The lots that lapse, as they are kept: an empty one until it would have lapsed, because points may come back to it.
fn lots_of(said: &Said, card: &Card, present: &Present) -> Vec<CardLot> {
    let now = present.now();
    let known = |at: Instant| said.lots.iter().find(|lot| lot.lapse.at == at);
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

fn lapse(at: Instant, zone: &TimeZone) -> Lapse {
    let last_day = zone.day(at.later(-1)).map(|day| day.text()).unwrap_or_default();
    Lapse { at, last_day: last_day.as_str().into() }
}

/// Writes at the commit what was due and lapsed on a card, and sees to what is due next; the card itself is left to the caller. Without
/// `ids` nothing can lapse but by time.
fn note(
    store: &mut Store<'_>,
    present: &Present,
    card: &Document,
    change: &Change,
    mut ids: Option<&mut Ids>,
) -> Result<(), Fault> {
    let (total, mut left) = change.before;
    for (step, is_due) in
        change.outcome.due.iter().map(|step| (step, true)).chain(change.outcome.steps.iter().map(|step| (step, false)))
    {
        let moved = step.movements.iter().fold(0, |sum: u64, movement| sum.saturating_add(movement.points));
        let Cause::Lapsed(lot) = &step.cause else {
            left = left.saturating_add(came(step)).saturating_sub(went(step));
            continue;
        };
        left = left.saturating_sub(moved);
        let id = match ids.as_deref_mut().filter(|_| !is_due) {
            Some(ids) => ids.hex18("vtx_"),
            None => due_id(card, lot),
        };
        let points = i64::try_from(moved).unwrap_or(i64::MAX).saturating_neg();
        let told = json!({ "balance": {
            "points": points, "total": total, "balance": left, "type": CARD.kind, "operation_type": "AUTOMATIC", "object": "balance",
            "related_object": { "type": "voucher", "id": card.id },
        } });
        let moved = Moved { id: &id, kind: "POINTS_EXPIRATION", source: None, at_ms: step.at.millis() };
        put(store, card, &moved, [Json::Null, Json::Null], &told);
    }
    let next = change.outcome.card.next_due();
    if next == change.due_before { Ok(()) } else { arm(store, (LAPSE, &card.id), next, &present.said) }
}

/// How many points a step brought to lots.
fn came(step: &Step) -> u64 {
    step.brought().iter().map(|part| part.points).fold(0, u64::saturating_add)
}

/// How many it took from them.
fn went(step: &Step) -> u64 {
    step.taken().iter().map(|part| part.points).fold(0, u64::saturating_add)
}

/// The id of the transaction of points that lapsed by time: it follows from the lot, so that it is the same whoever notices.
fn due_id(card: &Document, lot: &Text) -> Text {
    let digest = sha256(&[card.id.as_bytes(), b"/lapsed/", lot.as_bytes()]);
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
    let mut points = points(&said, card, spent(call.store, card)?);
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
fn spent(store: &Store<'_>, card: &Document) -> Result<i64, Fault> {
    let account = points_account(&card.id).to_string();
    let standings = store.standings(std::slice::from_ref(&account), 0, "")?;
    Ok(standings.get(&account).copied().unwrap_or_default().balance)
}

/// The card of an account of points.
fn card_of_account(account: &str) -> Option<&str> {
    let (kind, id, what) = part_of(account)?;
    (kind == "voucher" && what == "points").then_some(id)
}

/// The card whose points a transfer moves, and how many more it has by that.
fn moved(post: &Post) -> Option<(&str, i64)> {
    match (card_of_account(&post.debit), card_of_account(&post.credit)) {
        (Some(card), _) => Some((card, post.amount.saturating_neg())),
        (None, Some(card)) => Some((card, post.amount)),
        (None, None) => None,
    }
}

/// Whether a transfer moves points of a card.
pub fn is_about_points(post: &Post) -> bool {
    moved(post).is_some()
}

/// Brings the lots of cards up to date with transfers that are in the ledger by now.
pub fn follow(call: &mut Call<'_, '_>, posts: &[Post]) -> Result<(), Fault> {
    let mut cards: BTreeMap<&str, Vec<(&Post, i64)>> = BTreeMap::new();
    for post in posts {
        if let Some((card, by)) = moved(post) {
            cards.entry(card).or_default().push((post, by));
        }
    }
    for (id, posts) in cards {
        let Some(mut card) = call.store.document(VOUCHER.object, id)? else { continue };
        let is_timed = said(&card).is_some_and(|said| said.is_timed());
        if !is_timed && posts.iter().all(|(_, by)| *by < 0) {
            continue;
        }
        let present = Present::of(call)?;
        let net = posts.iter().fold(0, |sum: i64, (_, by)| sum.saturating_add(*by));
        let mut spent = spent(call.store, &card)?.saturating_sub(net);
        for (post, by) in posts {
            follow_one(call, &present, (&mut card, spent), (post, by))?;
            spent = spent.saturating_add(by);
        }
        call.store.update(VOUCHER.object, &card);
    }
    Ok(())
}

fn follow_one(
    call: &mut Call<'_, '_>,
    present: &Present,
    (card, spent): (&mut Document, i64),
    (post, by): (&Post, i64),
) -> Result<(), Fault> {
    let changed = if by < 0 {
        change(present, card, spent, |points, now| points.take(Take::Spend, by.unsigned_abs(), now))
    } else {
        let undone = post.reverses.as_deref().map(|undone| taken(call.store, undone)).transpose()?;
        let Some(parts) = undone.flatten() else { return Ok(()) };
        change(present, card, spent, |points, now| refund(points, (&parts, by.unsigned_abs()), now))
    };
    let Some(changed) = changed.map_err(|refused| broken(&card.id, &refused))? else { return Ok(()) };
    if by < 0 {
        let taken = changed.outcome.steps.iter().flat_map(Step::taken);
        let parts: Vec<Json> = taken.map(|part| json!([part.lot.as_str(), part.points])).collect();
        let body = json!({ "parts": parts });
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(post.id.clone(), None, call.now_ms(), body);
        row.parent = Some(card.id.clone());
        call.store.insert(TAKEN, &row);
    }
    note(call.store, present, card, &changed, Some(&mut call.ids))
}

/// From which lots a transfer took points; nothing where none of them lapses.
fn taken(store: &Store<'_>, transfer: &str) -> Result<Option<Vec<Part>>, Fault> {
    let Some(row) = store.document(TAKEN, transfer)? else { return Ok(None) };
    let part = |part: &Json| {
        let lot = part.get(0)?.as_str()?;
        Some(Part { lot: lot.into(), points: part.get(1)?.as_u64()? })
    };
    let parts = row.body.get("parts").and_then(Json::as_array);
    Ok(parts.map(|parts| parts.iter().filter_map(part).collect()))
}

/// Points go back to their lots; one that is not kept any more has lapsed.
fn refund(points: &Card, (parts, amount): (&[Part], u64), now: &Now<'_>) -> Result<Outcome, Refused> {
    let mut points = points.clone();
    for part in parts {
        if let (Some(at), false) = (Instant::parse(&part.lot), points.lots.iter().any(|lot| lot.id == part.lot)) {
            let (id, expiry) = (part.lot.clone(), Expiry::Rolling(at));
            points.lots.push(Lot { id, points: 0, arrived_at: now.at, expiry, is_closed: at <= now.at, lapsed: 0 });
        }
    }
    points.refund(&Spent { parts: parts.to_vec(), refunded: 0 }, amount, now)
}

/// A card as it will be when transfers that the ledger does not have yet have given points back to it.
pub fn give_back(call: &Call<'_, '_>, card: &mut Document, entries: &[Entry]) -> Result<(), CallError> {
    let account = points_account(&card.id);
    let back = |entry: &Entry| match entry {
        Entry::Post(transfer) if transfer.credit == account => Some(transfer.clone()),
        Entry::Post(_) | Entry::Hold(_) | Entry::Release(_) => None,
    };
    let transfers: Vec<Transfer> = entries.iter().filter_map(back).collect();
    let mut spent = if transfers.is_empty() { 0 } else { spent(call.store, card)? };
    for transfer in transfers {
        let Some(undone) = &transfer.reverses else { continue };
        if let Some(parts) = taken(call.store, undone)? {
            let present = Present::of(call)?;
            let changed = change(&present, card, spent, |points, now| refund(points, (&parts, transfer.amount), now));
            changed.map_err(|refused| broken(&card.id, &refused))?;
        }
        spent = spent.saturating_add(i64::try_from(transfer.amount).unwrap_or(i64::MAX));
    }
    Ok(())
}

/// The work of the alarm: writes what has lapsed on a card since it was changed. One that is gone is left alone.
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

/// The points of a card as they are listed: those that lapse, those first that lapse first, and at last those that never do.
pub fn buckets(call: &Call<'_, '_>, card: &Document) -> Result<Vec<Json>, CallError> {
    let Some(Grant::Loyalty(now)) = card_of(&card.body, call.context.now) else { return Ok(Vec::new()) };
    let bucket = |name: &str, points: u64, at: [Option<Json>; 3]| {
        let digest = sha256(&[card.id.as_bytes(), b"/bucket/", name.as_bytes()]);
        let [expires_at, created_at, updated_at] = at;
        let mut told = json!({
            "id": format!("lopb_{}", hex(digest.get(..12).unwrap_or_default())), "voucher_id": card.id, "campaign_id": card.parent,
            "bucket": { "total_points": points }, "status": "ACTIVE", "created_at": created_at, "updated_at": updated_at,
            "object": "loyalty_points_bucket",
        });
        if let (Some(told), Some(day)) = (told.as_object_mut(), expires_at) {
            told.insert("expires_at".into(), day);
        }
        told
    };
    let lot = |lot: &CardLot| {
        let times = [
            Some(lot.lapse.last_day.as_str().into()),
            Some(lot.arrived_at.to_string().into()),
            lot.changed_at.map(|at| at.to_string().into()),
        ];
        bucket(lot_id(lot.lapse.at).as_str(), lot.points, times)
    };
    let mut all: Vec<Json> = now.lots.iter().map(lot).collect();
    let points = points(&now, card, spent(call.store, card)?);
    if let Some(never) = points.lots.iter().find(|lot| lot.id == NEVER && lot.points > 0) {
        all.push(bucket(NEVER, never.points, [None, Some(moment::text(card.created_at).into()), None]));
    }
    Ok(all)
}
