//! In which tiers somebody is at this moment, whatever of it is written down already. It must not know who asks; nothing is written.
//!
//! What is due is found by the functions that settle it, so that a decision between the moment at which a tier is lost and the alarm
//! that writes it down sees what a read of the member would tell.

use crate::shop::card_changes::broken;
use crate::shop::cards::{Held, Present, load, rows_of};
use crate::shop::standing_changes::moved;
use crate::shop::standings::tiered;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::facts::earning::HeldTier;

/// The tier that the member of a card is in.
pub fn of_card(store: &Store<'_>, present: &Present, held: &Held) -> Result<Option<HeldTier>, Fault> {
    let Some(stood) = &held.stood else { return Ok(None) };
    let settled = held.card.settle(&present.now()).map_err(|refused| broken(&held.row.id, &refused))?;
    let (_, moved) = moved(store, present, (&held.row, &settled.card), stood, (&held.card, &settled.due))?;
    let structure_id = stood.structure.id.clone();
    Ok(moved.standing.now.tier.map(|tier_id| HeldTier { structure_id, tier_id }))
}

/// The tiers of a member, in the order of the cards.
pub fn of_member(store: &Store<'_>, present: &Present, member: &str) -> Result<Vec<HeldTier>, Fault> {
    of_rows(store, present, rows_of(store, member)?)
}

/// The tiers of a customer, of all programs.
pub fn of_customer(store: &Store<'_>, present: &Present, customer: &str) -> Result<Vec<HeldTier>, Fault> {
    of_rows(store, present, tiered(store, customer)?)
}

fn of_rows(store: &Store<'_>, present: &Present, rows: Vec<Document>) -> Result<Vec<HeldTier>, Fault> {
    let mut tiers = Vec::new();
    for row in rows {
        tiers.extend(of_card(store, present, &load(store, row, &[])?)?);
    }
    Ok(tiers)
}
