//! What becomes of a member's standing in a tier structure, written at the commit in which points of the card move, or in which
//! somebody looks. It must not know routes, nor why points move.

use crate::shop::cards::{Held, Present};
use crate::shop::membership;
use crate::shop::standing_rows::{Origin, TIER_TRANSACTION, transaction, transaction_id};
use crate::shop::standings::Stood;
use crate::store::Store;
use crate::store::document::{Document, legible, read_held};
use crate::store::sql::{self, Fault};
use scrip::facts::cards::card_account;
use scrip::points::{Activity, Card, Figure, Place, Step};
use scrip::text::Text;
use scrip::tiers::{Change, Earlier, Facts, Measure, Moved, Standing, Structure};
use scrip::time::Instant;
use scrip::wire::rules::read_segment;

/// A step of a card, and the transaction that tells of it.
pub type Caused = (Step, String);

/// Moves a standing on to the present, behind the steps of its card, which was another one before them; says whether it moved.
pub fn follow(
    store: &mut Store<'_>,
    present: &Present,
    held: &mut Held,
    before: &Card,
    steps: &[Caused],
) -> Result<bool, Fault> {
    let Some(mut stood) = held.stood.take() else { return Ok(false) };
    let has_moved = follow_in(store, present, (&held.row, &held.card), &mut stood, (before, steps));
    held.stood = Some(stood);
    has_moved
}

fn follow_in(
    store: &mut Store<'_>,
    present: &Present,
    (row, card): (&Document, &Card),
    stood: &mut Stood,
    (before, steps): (&Card, &[Caused]),
) -> Result<bool, Fault> {
    let plain: Vec<Step> = steps.iter().map(|(step, _)| step.clone()).collect();
    let (known, moved) = moved(store, present, (row, card), stood, (before, &plain))?;
    take(store, row, stood, (&known, moved), steps)
}

/// Puts off at the commit the end of the tier of a member who does something by which no points move, and says whether it moved. What is
/// due on the card must be settled.
pub fn act(store: &mut Store<'_>, present: &Present, held: &mut Held, activity: Activity<'_>) -> Result<bool, Fault> {
    let Some(stood) = held.stood.as_mut().filter(|stood| stood.structure.is_put_off_by(activity)) else {
        return Ok(false);
    };
    let Some(known) = stood.standing.clone() else { return Ok(false) };
    let now = present.now();
    let change = Change { at: now.at, facts: known.now.facts.clone(), is_active: true };
    let moved = stood.structure.advance(&known, &[change], now.at, now.zone);
    take(store, &held.row, stood, (&known, moved), &[])
}

/// Writes down at the commit that a member leaves the tiers, because the card goes on which nothing is due.
pub fn leave(store: &mut Store<'_>, present: &Present, held: &Held) {
    let Some(stood) = &held.stood else { return };
    let Some(standing) = &stood.standing else { return };
    let at = present.now().at.max(standing.at);
    let is_again = stood.is_told && standing.at == at;
    match stood.structure.leave(standing, at) {
        Some(told) => {
            let row = transaction(&held.row, stood, &told, (Origin::Leaving, &[]));
            if is_again {
                store.update(TIER_TRANSACTION, &row);
            } else {
                store.insert(TIER_TRANSACTION, &row);
            }
        }
        None if is_again => store.remove(TIER_TRANSACTION, &transaction_id(&held.row.id, stood, at)),
        None => {}
    }
}

/// Takes over at the commit what became of a standing, if anything did.
fn take(
    store: &mut Store<'_>,
    row: &Document,
    stood: &mut Stood,
    (known, moved): (&Standing, Moved),
    steps: &[Caused],
) -> Result<bool, Fault> {
    // Another step of the last moment is told of with it, whatever it changed.
    let is_known = !steps.iter().any(|(step, _)| step.at == moved.standing.at);
    if is_known && stood.standing.as_ref() == Some(&moved.standing) {
        return Ok(false);
    }
    tell(store, row, stood, (known, moved), steps);
    stood.write(store, row);
    Ok(true)
}

/// What becomes of a standing up to the present, behind the steps of its card, which was another one before them: the standing as it
/// was, and what moved.
pub fn moved(
    store: &Store<'_>,
    present: &Present,
    (row, card): (&Document, &Card),
    stood: &Stood,
    (before, steps): (&Card, &[Step]),
) -> Result<(Standing, Moved), Fault> {
    let now = present.now();
    let segments = segments_of(store, present, row, stood)?;
    let (known, changes) = match &stood.standing {
        Some(known) => {
            let facts = Facts::of(before, known.now.facts.segments.clone());
            let mut changes = stood.structure.changes(&facts, steps);
            if segments != known.now.facts.segments {
                let facts = Facts::of(card, segments);
                changes.push(Change { at: now.at, facts, is_active: false });
            }
            (known.clone(), changes)
        }
        None => {
            let facts = Facts::of(card, segments);
            let earlier = earlier(store, present, &row.id, &stood.structure, (before, steps))?;
            let begun = stood.structure.begin(now.at, &facts, earlier, now.zone);
            (begun, vec![Change { at: now.at, facts, is_active: false }])
        }
    };
    let moved = stood.structure.advance(&known, &changes, now.at, now.zone);
    Ok((known, moved))
}

/// Writes down what happened, in place of what was told of a moment that had not ended.
fn tell(
    store: &mut Store<'_>,
    row: &Document,
    stood: &mut Stood,
    (known, moved): (&Standing, Moved),
    steps: &[Caused],
) {
    let is_new = stood.standing.is_none() && row.created_at == known.at.millis();
    let causes_at = |stood: &Stood, at: Instant| -> Vec<String> {
        let earlier = if moved.again == Some(at) { stood.causes.clone() } else { Vec::new() };
        let own = steps.iter().filter(|(step, _)| step.at == at).map(|(_, id)| id.clone());
        earlier.into_iter().chain(own).collect()
    };
    for told in &moved.transitions {
        let causes = causes_at(stood, told.at);
        let origin = match (causes.is_empty(), is_new) {
            (false, _) => Origin::Card,
            (true, true) => Origin::Joining,
            (true, false) => Origin::Time,
        };
        let transaction = transaction(row, stood, told, (origin, &causes));
        if moved.again == Some(told.at) && stood.is_told {
            store.update(TIER_TRANSACTION, &transaction);
        } else {
            store.insert(TIER_TRANSACTION, &transaction);
        }
    }
    let is_told = |at: Instant| moved.transitions.iter().any(|told| told.at == at);
    if let Some(again) = moved.again.filter(|again| stood.is_told && !is_told(*again)) {
        store.remove(TIER_TRANSACTION, &transaction_id(&row.id, stood, again));
    }
    stood.causes = causes_at(stood, moved.standing.at);
    stood.is_told = is_told(moved.standing.at);
    stood.standing = Some(moved.standing);
}

/// Which segments of a structure a card's member is in.
fn segments_of(store: &Store<'_>, present: &Present, card: &Document, stood: &Stood) -> Result<Vec<Text>, Fault> {
    let asked = stood.segments();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let Some(customer) = store.document("customer", card.holder.as_deref().unwrap_or_default())? else {
        return Ok(Vec::new());
    };
    let present = membership::Present::at(present.now().at, present.zone.clone());
    let mut segments = Vec::new();
    for id in asked {
        let Some(document) = store.document("segment", id)? else { continue };
        let segment = legible(store, read_held("segment", &document, read_segment))?;
        let Some(segment) = segment else { continue };
        if present.is_in_segment(&segment, &customer.body, &|who, event| store.event_count_ahead(who, event))? {
            segments.push(id.clone());
        }
    }
    Ok(segments)
}

/// What was earned on a card before its standing begins: what the ledger knows, and what moves now.
fn earlier(
    store: &Store<'_>,
    present: &Present,
    card: &str,
    structure: &Structure,
    (before, steps): (&Card, &[Step]),
) -> Result<Earlier, Fault> {
    let Measure::Earned { tracking, .. } = structure.measure else { return Ok(Earlier::default()) };
    let now = present.now();
    let (begin, _) = tracking.period(now.at, now.zone);
    let (earlier, _) = tracking.period(begin.later(-1), now.zone);
    let changes = structure.changes(&Facts::of(before, Vec::new()), steps);
    let at_first = Facts::of(before, Vec::new()).earned;
    let until = |at: Instant| {
        let last = changes.iter().rev().find(|change| change.at < at);
        last.map_or(at_first, |change| change.facts.earned)
    };
    let (in_time, at_last) = (until(begin), changes.last().map_or(at_first, |change| change.facts.earned));
    Ok(Earlier {
        running: earned(store, card, begin, Instant::LATEST)?.saturating_add(at_last.saturating_sub(in_time)),
        closed: earned(store, card, earlier, begin)?.saturating_add(in_time.saturating_sub(until(earlier))),
    })
}

/// What was earned on a card from one moment to another, and not given back, as the ledger says.
fn earned(store: &Store<'_>, card: &str, from: Instant, to: Instant) -> Result<i64, Fault> {
    let account = |figure| card_account(card, &Place::Figure(figure)).to_string();
    let row = store.row(
        "SELECT COALESCE((SELECT SUM(amount) FROM transfer WHERE debit = +?1 AND at >= ?3 AND at < ?4), 0)
              - COALESCE((SELECT SUM(amount) FROM transfer WHERE credit = +?2 AND at >= ?3 AND at < ?4), 0)",
        &[account(Figure::Earned).into(), account(Figure::Returned).into(), from.millis().into(), to.millis().into()],
    )?;
    row.map_or(Ok(0), |row| sql::int(&row, 0))
}
