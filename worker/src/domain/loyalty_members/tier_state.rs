//! Stored tier states of members: one row for a card and a structure.

use crate::domain::loyalty_programs::kinds::{TIER, TIER_STRUCTURE, named};
use crate::domain::loyalty_programs::requirements::assigned_as;
use crate::store::Store;
use crate::store::document::{Document, legible, read_held};
use crate::store::loyalty::program_revision::{Edition, RevisionCache};
use crate::store::records::IS_ANNOUNCED;
use crate::store::sql::Fault;
use scrip::lifecycle::EntityState;
use scrip::text::{Text, hex, sha256};
use scrip::tiers::{LoyaltyTier, Structure, TierState};
use scrip::time::{Instant, TimeZone};
use scrip::wire::loyalty::tiers::{read_standing, read_tier, read_tier_structure, write_standing};
use serde_json::json;
use std::sync::Arc;

/// Kind of the rows of tier states; their parent is the member.
pub const STANDING: &str = "member_tier";

/// Tier state of a card in a structure.
pub struct StoredTierState {
    /// Structure with its tiers.
    pub structure: Structure,
    /// Stored state; `None` before the first evaluation.
    pub standing: Option<TierState>,
    /// Transactions of the card at the instant of the state.
    pub causes: Vec<String>,
    /// True when a tier transaction of that instant is recorded.
    pub is_announced: bool,
    /// Stored row, if there is one.
    pub row: Option<Document>,
}

/// By program and card definition.
static STRUCTURES: RevisionCache<Structure> = RevisionCache::empty();
/// Returns the cards of a customer in programs with a tier structure, without those of deleted programs.
pub fn tiered(store: &Store<'_>, customer: &str) -> Result<Vec<Document>, Fault> {
    store.list_cards_with_tiers(customer)
}

/// Returns the state of a card in the ACTIVE structure that counts the points of such cards.
pub fn of_card(store: &Store<'_>, edition: &Edition, card: &Document) -> Result<Option<StoredTierState>, Fault> {
    let own = card.as_card();
    let (program, definition) = (own.program_id().unwrap_or_default(), own.definition_id().unwrap_or_default());
    let name = format!("{program}/{definition}");
    let structure = match STRUCTURES.get(edition, &name) {
        Some(known) => known,
        None => {
            let (found, bytes) = find_structure(store, program, definition)?;
            STRUCTURES.put(edition, &name, found.clone(), bytes);
            found
        }
    };
    structure.map(|structure| stood(store, card, Structure::clone(&structure))).transpose()
}

/// Returns the ACTIVE structure of a program that counts the points of a card definition, and its size in bytes.
fn find_structure(
    store: &Store<'_>,
    program: &str,
    definition: &str,
) -> Result<(Option<Arc<Structure>>, usize), Fault> {
    for assigned in assigned_as(store, &TIER_STRUCTURE, program)? {
        let is_active = assigned.state == Some(EntityState::Active);
        let Some(document) = named(store, &TIER_STRUCTURE, &assigned.id)?.filter(|_| is_active) else { continue };
        if document.as_card().definition_id() != Some(definition) {
            continue;
        }
        let read = legible(store, read_held(TIER_STRUCTURE.stored, &document, read_tier_structure))?;
        let Some(mut structure) = read else { continue };
        let bytes;
        (structure.tiers, bytes) = tiers_of(store, &document.id)?;
        return Ok((Some(Arc::new(structure)), bytes));
    }
    Ok((None, 0))
}

/// Returns the tiers of a structure; a tier that cannot be read has no members.
fn tiers_of(store: &Store<'_>, structure: &str) -> Result<(Vec<LoyaltyTier>, usize), Fault> {
    /// Approximate size of a tier in bytes. The product is only a size for a cache, so it saturates.
    const BYTES: usize = 2_000;
    let mut tiers = Vec::new();
    for row in store.list_children(TIER, structure)? {
        tiers.extend(legible(store, read_held(TIER, &row, read_tier))?);
    }
    // A size beyond the type is beyond the limit.
    let bytes = tiers.len().saturating_mul(BYTES);
    Ok((tiers, bytes))
}

fn stood(store: &Store<'_>, card: &Document, structure: Structure) -> Result<StoredTierState, Fault> {
    let row = store.document(STANDING, &row_id(&card.id, &structure.id))?;
    let standing = match &row {
        Some(row) => legible(store, read_held(STANDING, row, |at| at.need("kept", read_standing)))?,
        None => None,
    };
    let stored = row.as_ref().map(Document::as_tier_state);
    let causes = stored.into_iter().flat_map(|stored| stored.causes().map(str::to_owned)).collect();
    let is_announced = stored.is_some_and(|stored| stored.is_announced());
    Ok(StoredTierState { structure, standing, causes, is_announced, row })
}

/// Returns the id of the row of a card and a structure.
fn row_id(card: &str, structure: &str) -> String {
    derived("lmtr_", &[card, structure])
}

/// Returns an id derived from names.
pub fn derived(prefix: &str, names: &[&str]) -> String {
    let digest = sha256(&[names.join("/").as_bytes()]);
    format!("{prefix}{}", hex(digest.get(..9).unwrap_or_default()))
}

impl StoredTierState {
    /// Returns the current tier.
    pub fn tier(&self) -> Option<&Text> {
        self.standing.as_ref()?.now.tier.as_ref()
    }

    /// Returns the next instant at which the state changes by time.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        self.structure.next_due(&self.standing.as_ref()?.now, zone)
    }

    /// Returns the segments that the structure depends on.
    pub fn segments(&self) -> Vec<&Text> {
        let mut segments: Vec<&Text> = self.structure.tiers.iter().filter_map(|tier| tier.segment.as_ref()).collect();
        segments.sort_unstable();
        segments.dedup();
        segments
    }

    /// Queues the write of the tier state of a card.
    pub fn write(&mut self, store: &mut Store<'_>, card: &Document) {
        let Some(standing) = &self.standing else { return };
        let changed_at = standing.at.millis();
        let id = row_id(&card.id, &self.structure.id);
        let tier = standing.now.tier.as_ref().map(|tier| tier.as_str());
        let body = json!({
            "id": id, "card_id": card.id, "program_id": card.as_card().program_id(), "tier_structure_id": self.structure.id.as_str(), "tier_id": tier,
            "causes": self.causes, IS_ANNOUNCED: self.is_announced, "kept": write_standing(standing),
        });
        let known = self.row.as_ref().map(|row| row.created_at);
        let mut row =
            Document::new(id, None, known.unwrap_or(changed_at), body.as_object().cloned().unwrap_or_default());
        (row.parent, row.holder) = (card.parent.clone(), card.holder.clone());
        if known.is_some() {
            row.updated_at = Some(changed_at);
            store.update(STANDING, &row);
        } else {
            store.insert(STANDING, &row);
        }
        self.row = Some(row);
    }
}
