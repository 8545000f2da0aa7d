//! Models a card as a service stores it: rows that are read when they are needed, in any order.

use std::collections::BTreeMap;

use scrip::points::{CardOutcome, Lot, MovementCause, PendingPoints, PointsCard};
use scrip::text::Text;

/// A card as a service stores it: rows of lots and of pending points, found when they are open or named.
#[derive(Default)]
pub struct Rows {
    lots: BTreeMap<Text, Lot>,
    pending: BTreeMap<Text, PendingPoints>,
    rest: PointsCard,
}

impl Rows {
    pub fn read(&self, named: &[Text]) -> PointsCard {
        let is_stored = |lot: &&Lot| lot.is_open() || named.contains(&lot.id);
        // In reverse order, which must have no effect.
        let lots = self.lots.values().rev().filter(is_stored).cloned().collect();
        PointsCard { lots, pending: self.pending.values().rev().cloned().collect(), ..self.rest.clone() }
    }

    pub fn write(&mut self, before: &PointsCard, outcome: &CardOutcome) {
        let (lots, pending) = outcome.card.changed_since(before);
        self.lots.extend(lots.into_iter().map(|lot| (lot.id.clone(), lot.clone())));
        self.pending.extend(pending.into_iter().map(|pending| (pending.id.clone(), pending.clone())));
        for step in outcome.due.iter().chain(&outcome.steps) {
            if let MovementCause::Activated(id) | MovementCause::Canceled(id) = &step.cause
                && !outcome.card.pending.iter().any(|pending| pending.id == *id)
            {
                self.pending.remove(id);
            }
        }
        let (debt, lifetime_totals) = (outcome.card.debt, outcome.card.lifetime_totals.clone());
        self.rest = PointsCard { debt, lifetime_totals, ..PointsCard::default() };
    }
}

/// Returns the content of a card, independent of the order of its lots and of closed lots in memory.
pub fn essence(card: &PointsCard) -> PointsCard {
    let mut card = card.clone();
    card.lots.retain(Lot::is_open);
    card.lots.sort_by(|one, other| one.id.cmp(&other.id));
    card.pending.sort_by(|one, other| one.id.cmp(&other.id));
    card
}
