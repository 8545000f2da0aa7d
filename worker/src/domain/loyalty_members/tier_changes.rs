//! Advances the tier state of members when the points of their card change or when the card is settled, and records the changes.

use crate::domain::balances::kinds;
use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::tier_state::StoredTierState;
use crate::domain::loyalty_members::tier_view::{TIER_TRANSACTION, TierChangeOrigin, transaction_id, transaction_row};
use crate::domain::segments;
use crate::store::Store;
use crate::store::amount::CheckedAmount;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::sql::Fault;
use scrip::facts::cards::card_account;
use scrip::points::{Activity, CardStep, LifetimeTotal, PointsAccount, PointsCard};
use scrip::text::Text;
use scrip::tiers::{PriorPoints, TierFacts, TierInputChange, TierMeasure, TierOutcome, TierState, TierStructure};
use scrip::time::Instant;
use scrip::wire::rules::read_segment;

/// Step of a card, with the id of its transaction.
pub type StepWithTransaction = (CardStep, String);

/// Advances the tier state to the present, after the steps of the card; `before` is the card before them. Returns true when it changed.
pub fn advance_tier(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    before: &PointsCard,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    let Some(mut tier_state) = loaded.tier_state.take() else { return Ok(false) };
    let has_moved = advance_state(store, present, loaded, &mut tier_state, before, steps);
    loaded.tier_state = Some(tier_state);
    has_moved
}

fn advance_state(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &LoadedCard,
    tier_state: &mut StoredTierState,
    before: &PointsCard,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    let plain: Vec<CardStep> = steps.iter().map(|(step, _)| step.clone()).collect();
    let change = TierCardChange { row: &loaded.row, card: &loaded.card, before, steps: &plain };
    let (before_state, advanced) = compute_advance(store, present, tier_state, &change)?;
    write_state(store, &loaded.row, tier_state, &before_state, advanced, steps)
}

/// Extends a tier by an activity that moves no points; returns true when the tier state changed. The card must be settled.
pub fn extend_by_activity(
    store: &mut Store<'_>,
    present: &LocalTime,
    loaded: &mut LoadedCard,
    activity: Activity<'_>,
) -> Result<bool, Fault> {
    let Some(tier_state) =
        loaded.tier_state.as_mut().filter(|tier_state| tier_state.structure.is_postponed_by(activity))
    else {
        return Ok(false);
    };
    let Some(before_state) = tier_state.state.clone() else { return Ok(false) };
    let now = present.now();
    let change = TierInputChange { at: now.at, facts: before_state.now.facts.clone(), is_active: true };
    let advanced = tier_state.structure.advance(&before_state, &[change], now.at, now.zone);
    write_state(store, &loaded.row, tier_state, &before_state, advanced, &[])
}

/// Records that a member leaves the tiers because the card is removed. The card must be settled.
pub fn record_leaving(store: &mut Store<'_>, present: &LocalTime, loaded: &LoadedCard) {
    let Some(tier_state) = &loaded.tier_state else { return };
    let Some(state) = &tier_state.state else { return };
    let at = present.now().at.max(state.at);
    let is_replacement = tier_state.is_announced && state.at == at;
    match tier_state.structure.change_on_deletion(state, at) {
        Some(change) => {
            let row = transaction_row(&loaded.row, tier_state, &change, TierChangeOrigin::Leaving, &[]);
            if is_replacement {
                store.update(TIER_TRANSACTION, &row);
            } else {
                store.insert(TIER_TRANSACTION, &row);
            }
        }
        None if is_replacement => store.delete(TIER_TRANSACTION, &transaction_id(&loaded.row.id, tier_state, at)),
        None => {}
    }
}

/// Queues the write of an advanced tier state; returns true when it changed.
fn write_state(
    store: &mut Store<'_>,
    row: &Document,
    tier_state: &mut StoredTierState,
    before_state: &TierState,
    advanced: TierOutcome,
    steps: &[StepWithTransaction],
) -> Result<bool, Fault> {
    // A further step at the same instant is added to the transaction, even when the state is the same.
    let is_known = !steps.iter().any(|(step, _)| step.at == advanced.state.at);
    if is_known && tier_state.state.as_ref() == Some(&advanced.state) {
        return Ok(false);
    }
    write_transactions(store, row, tier_state, before_state, advanced, steps);
    tier_state.write(store, row);
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
pub fn compute_advance(
    store: &Store<'_>,
    present: &LocalTime,
    tier_state: &StoredTierState,
    change: &TierCardChange<'_>,
) -> Result<(TierState, TierOutcome), Fault> {
    let TierCardChange { row, card, before, steps } = *change;
    let now = present.now();
    let segments = list_segments_of_member(store, present, row, tier_state)?;
    let (before_state, changes) = match &tier_state.state {
        Some(before_state) => {
            let facts = TierFacts::of(before, before_state.now.facts.segments.clone());
            let mut changes = tier_state.structure.changes(&facts, steps);
            if segments != before_state.now.facts.segments {
                let facts = TierFacts::of(card, segments);
                changes.push(TierInputChange { at: now.at, facts, is_active: false });
            }
            (before_state.clone(), changes)
        }
        None => {
            let facts = TierFacts::of(card, segments);
            let earlier = sum_prior_points(store, present, &row.id, &tier_state.structure, before, steps)?;
            let initial = tier_state.structure.start(now.at, &facts, earlier, now.zone);
            (initial, vec![TierInputChange { at: now.at, facts, is_active: false }])
        }
    };
    let advanced = tier_state.structure.advance(&before_state, &changes, now.at, now.zone);
    Ok((before_state, advanced))
}

/// Queues the transactions of the changes. One that was recorded at the same instant is replaced.
fn write_transactions(
    store: &mut Store<'_>,
    row: &Document,
    tier_state: &mut StoredTierState,
    before_state: &TierState,
    advanced: TierOutcome,
    steps: &[StepWithTransaction],
) {
    let is_new = tier_state.state.is_none() && row.created_at == before_state.at.millis();
    let causes_at = |tier_state: &StoredTierState, at: Instant| -> Vec<String> {
        let earlier = if advanced.again == Some(at) { tier_state.causes.clone() } else { Vec::new() };
        let own = steps.iter().filter(|(step, _)| step.at == at).map(|(_, id)| id.clone());
        earlier.into_iter().chain(own).collect()
    };
    for change in &advanced.transitions {
        let causes = causes_at(tier_state, change.at);
        let origin = match (causes.is_empty(), is_new) {
            (false, _) => TierChangeOrigin::Card,
            (true, true) => TierChangeOrigin::Joining,
            (true, false) => TierChangeOrigin::Time,
        };
        let transaction = transaction_row(row, tier_state, change, origin, &causes);
        if advanced.again == Some(change.at) && tier_state.is_announced {
            store.update(TIER_TRANSACTION, &transaction);
        } else {
            store.insert(TIER_TRANSACTION, &transaction);
        }
    }
    let is_announced_at = |at: Instant| advanced.transitions.iter().any(|change| change.at == at);
    if let Some(again) = advanced.again.filter(|again| tier_state.is_announced && !is_announced_at(*again)) {
        store.delete(TIER_TRANSACTION, &transaction_id(&row.id, tier_state, again));
    }
    tier_state.causes = causes_at(tier_state, advanced.state.at);
    tier_state.is_announced = is_announced_at(advanced.state.at);
    tier_state.state = Some(advanced.state);
}

/// Returns the segments of a structure that contain the member of a card.
fn list_segments_of_member(
    store: &Store<'_>,
    present: &LocalTime,
    card: &Document,
    tier_state: &StoredTierState,
) -> Result<Vec<Text>, Fault> {
    let segment_ids = tier_state.segments();
    if segment_ids.is_empty() {
        return Ok(Vec::new());
    }
    let Some(customer) = store.document("customer", card.holder.as_deref().unwrap_or_default())? else {
        return Ok(Vec::new());
    };
    let now = present.now().at;
    let mut segments = Vec::new();
    for id in segment_ids {
        let Some(document) = store.document("segment", id)? else { continue };
        let segment = readable(store, read_loaded("segment", &document, read_segment))?;
        let Some(segment) = segment else { continue };
        let count = |customer_id: &str, event: &str| store.event_count_ahead(customer_id, event);
        let balances = || kinds::find_balances_with_queued(store, now, &customer.id);
        if segments::is_in_segment(present, &segment, &customer.body, &count, &balances)? {
            segments.push(id.clone());
        }
    }
    Ok(segments)
}

/// Returns the points earned on a card before its tier state starts, from the ledger and from the queued steps.
fn sum_prior_points(
    store: &Store<'_>,
    present: &LocalTime,
    card: &str,
    structure: &TierStructure,
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
        current: sum_earned_points(store, card, begin, Instant::LATEST)?.plus(at_last.minus(in_time)?)?,
        closed: sum_earned_points(store, card, earlier, begin)?.plus(in_time.minus(until(earlier))?)?,
    })
}

/// Returns the points earned on a card in a period, less those revoked, from the ledger.
fn sum_earned_points(store: &Store<'_>, card: &str, from: Instant, to: Instant) -> Result<i64, Fault> {
    let account = |figure| card_account(card, &PointsAccount::LifetimeTotal(figure)).to_string();
    let (earned, returned) = (account(LifetimeTotal::Earned), account(LifetimeTotal::Returned));
    store.sum_debits_less_credits(&earned, &returned, &(from.millis()..to.millis()))
}
