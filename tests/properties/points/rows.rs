//! A card as a service keeps it: rows that are read when they are needed, in any order. It must not know what is decided.

use std::collections::BTreeMap;

use scrip::points::{Card, Cause, Lot, Outcome, Pending};
use scrip::text::Text;

/// A card as a service keeps it: rows of lots and of what waits, found when they are open or named.
#[derive(Default)]
pub struct Rows {
    lots: BTreeMap<Text, Lot>,
    pending: BTreeMap<Text, Pending>,
    rest: Card,
}

impl Rows {
    pub fn read(&self, named: &[Text]) -> Card {
        let wanted = |lot: &&Lot| lot.is_open() || named.contains(&lot.id);
        // In the other order, which must not matter.
        let lots = self.lots.values().rev().filter(wanted).cloned().collect();
        Card { lots, pending: self.pending.values().rev().cloned().collect(), ..self.rest.clone() }
    }

    pub fn write(&mut self, before: &Card, outcome: &Outcome) {
        let (lots, pending) = outcome.card.changed_since(before);
        self.lots.extend(lots.into_iter().map(|lot| (lot.id.clone(), lot.clone())));
        self.pending.extend(pending.into_iter().map(|pending| (pending.id.clone(), pending.clone())));
        for step in outcome.due.iter().chain(&outcome.steps) {
            if let Cause::Activated(id) | Cause::Canceled(id) = &step.cause
                && !outcome.card.pending.iter().any(|pending| pending.id == *id)
            {
                self.pending.remove(id);
            }
        }
        let (debt, figures) = (outcome.card.debt, outcome.card.figures.clone());
        self.rest = Card { debt, figures, ..Card::default() };
    }
}

/// What the card says, whatever the order of its lots and whether closed ones are in hand.
pub fn essence(card: &Card) -> Card {
    let mut card = card.clone();
    card.lots.retain(Lot::is_open);
    card.lots.sort_by(|one, other| one.id.cmp(&other.id));
    card.pending.sort_by(|one, other| one.id.cmp(&other.id));
    card
}
