//! Advances the tier state of members when the points of their card change or when the card is settled, and records the changes.

use crate::domain::balances::kinds;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::tier_state::StoredTierState;
use crate::domain::loyalty_members::tier_view::{TIER_TRANSACTION, TierChangeOrigin, transaction, transaction_id};
use crate::domain::segments;
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::sql::Fault;
use scrip::facts::cards::card_account;
use scrip::points::{Activity, CardStep, LifetimeTotal, PointsAccount, PointsCard};
use scrip::text::Text;
use scrip::tiers::{PriorPoints, Structure, TierFacts, TierInputChange, TierMeasure, TierOutcome, TierState};
use scrip::time::Instant;
use scrip::wire::rules::read_segment;

/// Step of a card, with the id of its transaction.
pub type StepWithTransaction = (CardStep, String);

/// Advances the tier state to the present, after the steps of the card; `before` is the card before them. Returns true when it changed.
pub fn follow(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    before: &PointsCard,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    let Some(mut stood) = held.stood.take() else { return Ok(false) };
    let has_moved = follow_in(store, present, held, &mut stood, before, steps);
    held.stood = Some(stood);
    has_moved
}

fn follow_in(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &LoadedCard,
    stood: &mut StoredTierState,
    before: &PointsCard,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    let plain: Vec<CardStep> = steps.iter().map(|(step, _)| step.clone()).collect();
    let change = TierCardChange { row: &held.row, card: &held.card, before, steps: &plain };
    let (known, moved) = moved(store, present, stood, &change)?;
    take(store, &held.row, stood, &known, moved, steps)
}

/// Extends a tier by an activity that moves no points; returns true when the tier state changed. The card must be settled.
pub fn act(
    store: &mut Store<'_>,
    present: &LocalTime,
    held: &mut LoadedCard,
    activity: Activity<'_>,
) -> Result<bool, Fault> {
    let Some(stood) = held.stood.as_mut().filter(|stood| stood.structure.is_put_off_by(activity)) else {
        return Ok(false);
    };
    let Some(known) = stood.standing.clone() else { return Ok(false) };
    let now = present.now();
    let change = TierInputChange { at: now.at, facts: known.now.facts.clone(), is_active: true };
    let moved = stood.structure.advance(&known, &[change], now.at, now.zone);
    take(store, &held.row, stood, &known, moved, &[])
}

/// Records that a member leaves the tiers because the card is removed. The card must be settled.
pub fn leave(store: &mut Store<'_>, present: &LocalTime, held: &LoadedCard) {
    let Some(stood) = &held.stood else { return };
    let Some(standing) = &stood.standing else { return };
    let at = present.now().at.max(standing.at);
    let is_again = stood.is_announced && standing.at == at;
    match stood.structure.leave(standing, at) {
        Some(details) => {
            let row = transaction(&held.row, stood, &details, (TierChangeOrigin::Leaving, &[]));
            if is_again {
                store.update(TIER_TRANSACTION, &row);
            } else {
                store.insert(TIER_TRANSACTION, &row);
            }
        }
        None if is_again => store.delete(TIER_TRANSACTION, &transaction_id(&held.row.id, stood, at)),
        None => {}
    }
}

/// Queues the write of an advanced tier state; returns true when it changed.
fn take(
    store: &mut Store<'_>,
    row: &Document,
    stood: &mut StoredTierState,
    known: &TierState,
    moved: TierOutcome,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    // A further step at the same instant is added to the transaction, even when the state is the same.
    let is_known = !steps.iter().any(|(step, _)| step.at == moved.standing.at);
    if is_known && stood.standing.as_ref() == Some(&moved.standing) {
        return Ok(false);
    }
    write_transactions(store, row, stood, known, moved, steps);
    stood.write(store, row);
    Ok(true)
}

/// Change of a card that may move its member to another tier.
pub struct TierCardChange<'a> {
    /// Document of the card.
    pub row: &'a Document,
    /// The card after the steps.
    pub card: &'a PointsCard,
    /// The card before the steps.
    pub before: &'a PointsCard,
    /// Steps of the card.
    pub steps: &'a [CardStep],
}

/// Returns the tier state before, and its advance to the present after the steps of the card.
pub fn moved(
    store: &Store<'_>,
    present: &LocalTime,
    stood: &StoredTierState,
    change: &TierCardChange<'_>,
) -> Result<(TierState, TierOutcome), Fault> {
    let TierCardChange { row, card, before, steps } = *change;
    let now = present.now();
    let segments = segments_of(store, present, row, stood)?;
    let (known, changes) = match &stood.standing {
        Some(known) => {
            let facts = TierFacts::of(before, known.now.facts.segments.clone());
            let mut changes = stood.structure.changes(&facts, steps);
            if segments != known.now.facts.segments {
                let facts = TierFacts::of(card, segments);
                changes.push(TierInputChange { at: now.at, facts, is_active: false });
            }
            (known.clone(), changes)
        }
        None => {
            let facts = TierFacts::of(card, segments);
            let earlier = earlier(store, present, &row.id, &stood.structure, before, steps)?;
            let begun = stood.structure.begin(now.at, &facts, earlier, now.zone);
            (begun, vec![TierInputChange { at: now.at, facts, is_active: false }])
        }
    };
    let moved = stood.structure.advance(&known, &changes, now.at, now.zone);
    Ok((known, moved))
}

/// Queues the transactions of the changes. One that was recorded at the same instant is replaced.
fn write_transactions(
    store: &mut Store<'_>,
    row: &Document,
    stood: &mut StoredTierState,
    known: &TierState,
    moved: TierOutcome,
    steps: &[StepWithTransaction],
) {
    let is_new = stood.standing.is_none() && row.created_at == known.at.millis();
    let causes_at = |stood: &StoredTierState, at: Instant| -> Vec<String> {
        let earlier = if moved.again == Some(at) { stood.causes.clone() } else { Vec::new() };
        let own = steps.iter().filter(|(step, _)| step.at == at).map(|(_, id)| id.clone());
        earlier.into_iter().chain(own).collect()
    };
    for details in &moved.transitions {
        let causes = causes_at(stood, details.at);
        let origin = match (causes.is_empty(), is_new) {
            (false, _) => TierChangeOrigin::Card,
            (true, true) => TierChangeOrigin::Joining,
            (true, false) => TierChangeOrigin::Time,
        };
        let transaction = transaction(row, stood, details, (origin, &causes));
        if moved.again == Some(details.at) && stood.is_announced {
            store.update(TIER_TRANSACTION, &transaction);
        } else {
            store.insert(TIER_TRANSACTION, &transaction);
        }
    }
    let is_announced_at = |at: Instant| moved.transitions.iter().any(|details| details.at == at);
    if let Some(again) = moved.again.filter(|again| stood.is_announced && !is_announced_at(*again)) {
        store.delete(TIER_TRANSACTION, &transaction_id(&row.id, stood, again));
    }
    stood.causes = causes_at(stood, moved.standing.at);
    stood.is_announced = is_announced_at(moved.standing.at);
    stood.standing = Some(moved.standing);
}

/// Returns the segments of a structure that contain the member of a card.
fn segments_of(
    store: &Store<'_>,
    present: &LocalTime,
    card: &Document,
    stood: &StoredTierState,
) -> Result<Vec<Text>, Fault> {
    let asked = stood.segments();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let Some(customer) = store.document("customer", card.holder.as_deref().unwrap_or_default())? else {
        return Ok(Vec::new());
    };
    let now = present.now().at;
    let mut segments = Vec::new();
    for id in asked {
        let Some(document) = store.document("segment", id)? else { continue };
        let segment = readable(store, read_loaded("segment", &document, read_segment))?;
        let Some(segment) = segment else { continue };
        let count = |who: &str, event: &str| store.event_count_ahead(who, event);
        let held = || kinds::held_ahead(store, now, &customer.id);
        if segments::is_in_segment(present, &segment, &customer.body, &count, &held)? {
            segments.push(id.clone());
        }
    }
    Ok(segments)
}

/// Returns the points earned on a card before its tier state starts, from the ledger and from the queued steps.
fn earlier(
    store: &Store<'_>,
    present: &LocalTime,
    card: &str,
    structure: &Structure,
    before: &PointsCard,
    steps: &[CardStep],
) -> Result<PriorPoints, Fault> {
    let TierMeasure::Earned { tracking, .. } = structure.measure else { return Ok(PriorPoints::default()) };
    let now = present.now();
    let (begin, _) = tracking.period(now.at, now.zone);
    let (earlier, _) = tracking.period(begin.later(-1), now.zone);
    let changes = structure.changes(&TierFacts::of(before, Vec::new()), steps);
    let at_first = TierFacts::of(before, Vec::new()).earned;
    let until = |at: Instant| {
        let last = changes.iter().rev().find(|change| change.at < at);
        last.map_or(at_first, |change| change.facts.earned)
    };
    let (in_time, at_last) = (until(begin), changes.last().map_or(at_first, |change| change.facts.earned));
    Ok(PriorPoints {
        running: earned(store, card, begin, Instant::LATEST)?.plus(at_last.minus(in_time)?)?,
        closed: earned(store, card, earlier, begin)?.plus(in_time.minus(until(earlier))?)?,
    })
}

/// Returns the points earned on a card in a period, less those revoked, from the ledger.
fn earned(store: &Store<'_>, card: &str, from: Instant, to: Instant) -> Result<i64, Fault> {
    let account = |figure| card_account(card, &PointsAccount::Figure(figure)).to_string();
    let (earned, returned) = (account(LifetimeTotal::Earned), account(LifetimeTotal::Returned));
    store.sum_debits_less_credits(&earned, &returned, &(from.millis()..to.millis()))
}
