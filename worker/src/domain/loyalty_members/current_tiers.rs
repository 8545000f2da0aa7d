//! Computes current tiers without a write.
//!
//! It uses the functions that settle a card. So a decision made after a tier ended, and before the job recorded it, agrees
//! with a read of the member.

use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::domain::loyalty_members::card::{LoadedCard, list_cards, load};
use crate::domain::loyalty_members::tier_changes::{TierCardChange, compute_advance};
use crate::domain::loyalty_members::tier_state::list_tiered_cards;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::facts::earning::CurrentTier;

/// Returns the current tier of the member of a card.
pub fn find_of_card(store: &Store<'_>, present: &LocalTime, loaded: &LoadedCard) -> Result<Option<CurrentTier>, Fault> {
    let Some(tier_state) = &loaded.tier_state else { return Ok(None) };
    let settled = loaded.card.settle(&present.now()).map_err(|refused| settlement_fault(&loaded.row.id, &refused))?;
    let change = TierCardChange { row: &loaded.row, card: &settled.card, before: &loaded.card, steps: &settled.due };
    let (_, advanced) = compute_advance(store, present, tier_state, &change)?;
    let structure_id = tier_state.structure.id.clone();
    Ok(advanced.state.now.tier.map(|tier_id| CurrentTier { structure_id, tier_id }))
}

/// Returns the current tiers of a member, in the order of the cards.
pub fn list_of_member(store: &Store<'_>, present: &LocalTime, member: &str) -> Result<Vec<CurrentTier>, Fault> {
    list_of_rows(store, present, list_cards(store, member)?)
}

/// Returns the current tiers of a customer in all programs.
pub fn list_of_customer(store: &Store<'_>, present: &LocalTime, customer: &str) -> Result<Vec<CurrentTier>, Fault> {
    list_of_rows(store, present, list_tiered_cards(store, customer)?)
}

fn list_of_rows(store: &Store<'_>, present: &LocalTime, rows: Vec<Document>) -> Result<Vec<CurrentTier>, Fault> {
    let mut tiers = Vec::new();
    for row in rows {
        tiers.extend(find_of_card(store, present, &load(store, row, &[])?)?);
    }
    Ok(tiers)
}
