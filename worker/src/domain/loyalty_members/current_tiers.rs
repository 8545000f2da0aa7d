//! Computes current tiers without a write.
//!
//! It uses the functions that settle a card. So a decision made after a tier ended, and before the job recorded it, agrees
//! with a read of the member.

use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::domain::loyalty_members::card::{LoadedCard, load, rows_of};
use crate::domain::loyalty_members::tier_changes::{TierCardChange, moved};
use crate::domain::loyalty_members::tier_state::tiered;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::facts::earning::CurrentTier;

/// Returns the current tier of the member of a card.
pub fn of_card(store: &Store<'_>, present: &LocalTime, held: &LoadedCard) -> Result<Option<CurrentTier>, Fault> {
    let Some(stood) = &held.stood else { return Ok(None) };
    let settled = held.card.settle(&present.now()).map_err(|refused| settlement_fault(&held.row.id, &refused))?;
    let change = TierCardChange { row: &held.row, card: &settled.card, before: &held.card, steps: &settled.due };
    let (_, moved) = moved(store, present, stood, &change)?;
    let structure_id = stood.structure.id.clone();
    Ok(moved.standing.now.tier.map(|tier_id| CurrentTier { structure_id, tier_id }))
}

/// Returns the current tiers of a member, in the order of the cards.
pub fn of_member(store: &Store<'_>, present: &LocalTime, member: &str) -> Result<Vec<CurrentTier>, Fault> {
    of_rows(store, present, rows_of(store, member)?)
}

/// Returns the current tiers of a customer in all programs.
pub fn of_customer(store: &Store<'_>, present: &LocalTime, customer: &str) -> Result<Vec<CurrentTier>, Fault> {
    of_rows(store, present, tiered(store, customer)?)
}

fn of_rows(store: &Store<'_>, present: &LocalTime, rows: Vec<Document>) -> Result<Vec<CurrentTier>, Fault> {
    let mut tiers = Vec::new();
    for row in rows {
        tiers.extend(of_card(store, present, &load(store, row, &[])?)?);
    }
    Ok(tiers)
}
