//! Stored tier states of members: one row for a card and a structure.

use crate::domain::loyalty_programs::kinds::{TIER, TIER_STRUCTURE, find_by_id};
use crate::domain::loyalty_programs::requirements::list_assigned;
use crate::store::Store;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::loyalty::program_revision::{ProgramRevision, RevisionCache};
use crate::store::records::IS_ANNOUNCED;
use crate::store::sql::Fault;
use scrip::lifecycle::EntityState;
use scrip::text::{Text, hex, sha256};
use scrip::tiers::{LoyaltyTier, TierState, TierStructure};
use scrip::time::{Instant, TimeZone};
use scrip::wire::loyalty::tiers::{read_tier, read_tier_state, read_tier_structure, write_tier_state};
use serde_json::json;
use std::sync::Arc;

/// Kind of the rows of tier states; their parent is the member.
pub const TIER_STATE: &str = "member_tier";

/// Tier state of a card in a structure.
pub struct StoredTierState {
    /// Structure with its tiers.
    pub structure: TierStructure,
    /// Stored state; `None` before the first evaluation.
    pub state: Option<TierState>,
    /// Transactions of the card at the instant of the state.
    pub causes: Vec<String>,
    /// True when a tier transaction of that instant is recorded.
    pub is_announced: bool,
    /// Stored row, if there is one.
    pub row: Option<Document>,
}

/// By program and card definition.
static STRUCTURES: RevisionCache<TierStructure> = RevisionCache::empty();
/// Returns the cards of a customer in programs with a tier structure, without those of deleted programs.
pub fn list_tiered_cards(store: &Store<'_>, customer: &str) -> Result<Vec<Document>, Fault> {
    store.list_cards_with_tiers(customer)
}

/// Returns the state of a card in the ACTIVE structure that counts the points of such cards.
pub fn load_of_card(
    store: &Store<'_>,
    revision: &ProgramRevision,
    card: &Document,
) -> Result<Option<StoredTierState>, Fault> {
    let own = card.as_card();
    let (program, definition) = (own.program_id().unwrap_or_default(), own.definition_id().unwrap_or_default());
    let name = format!("{program}/{definition}");
    // A recorded call reads it, so that its replay can.
    let structure = match STRUCTURES.get(revision, &name).filter(|_| !store.records_reads()) {
        Some(known) => known,
        None => {
            let (found, bytes) = find_structure(store, program, definition)?;
            STRUCTURES.insert(revision, &name, found.clone(), bytes);
            found
        }
    };
    structure.map(|structure| load_state(store, card, TierStructure::clone(&structure))).transpose()
}

/// Returns the ACTIVE structure of a program that counts the points of a card definition, and its size in bytes.
fn find_structure(
    store: &Store<'_>,
    program: &str,
    definition: &str,
) -> Result<(Option<Arc<TierStructure>>, usize), Fault> {
    for assigned in list_assigned(store, &TIER_STRUCTURE, program)? {
        let is_active = assigned.state == Some(EntityState::Active);
        let Some(document) = find_by_id(store, &TIER_STRUCTURE, &assigned.id)?.filter(|_| is_active) else { continue };
        if document.as_card().definition_id() != Some(definition) {
            continue;
        }
        let read = readable(store, read_loaded(TIER_STRUCTURE.stored, &document, read_tier_structure))?;
        let Some(mut structure) = read else { continue };
        let bytes;
        (structure.tiers, bytes) = list_tiers(store, &document.id)?;
        return Ok((Some(Arc::new(structure)), bytes));
    }
    Ok((None, 0))
}

/// Returns the tiers of a structure; a tier that cannot be read has no members.
fn list_tiers(store: &Store<'_>, structure: &str) -> Result<(Vec<LoyaltyTier>, usize), Fault> {
    /// Approximate size of a tier in bytes. The product is only a size for a cache, so it saturates.
    const BYTES: usize = 2_000;
    let mut tiers = Vec::new();
    for row in store.list_children(TIER, structure)? {
        tiers.extend(readable(store, read_loaded(TIER, &row, read_tier))?);
    }
    // A size beyond the type is beyond the limit.
    let bytes = tiers.len().saturating_mul(BYTES);
    Ok((tiers, bytes))
}

fn load_state(store: &Store<'_>, card: &Document, structure: TierStructure) -> Result<StoredTierState, Fault> {
    let row = store.document(TIER_STATE, &row_id(&card.id, &structure.id))?;
    let state = match &row {
        Some(row) => readable(store, read_loaded(TIER_STATE, row, |at| at.need("kept", read_tier_state)))?,
        None => None,
    };
    let stored = row.as_ref().map(Document::as_tier_state);
    let causes = stored.into_iter().flat_map(|stored| stored.causes().map(str::to_owned)).collect();
    let is_announced = stored.is_some_and(|stored| stored.is_announced());
    Ok(StoredTierState { structure, state, causes, is_announced, row })
}

/// Returns the id of the row of a card and a structure.
fn row_id(card: &str, structure: &str) -> String {
    derived_id("lmtr_", &[card, structure])
}

/// Returns an id derived from names.
pub fn derived_id(prefix: &str, names: &[&str]) -> String {
    let digest = sha256(&[names.join("/").as_bytes()]);
    format!("{prefix}{}", hex(digest.get(..9).unwrap_or_default()))
}

impl StoredTierState {
    /// Returns the current tier.
    pub fn tier(&self) -> Option<&Text> {
        self.state.as_ref()?.now.tier.as_ref()
    }

    /// Returns the next instant at which the state changes by time.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        self.structure.next_due(&self.state.as_ref()?.now, zone)
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
        let Some(state) = &self.state else { return };
        let changed_at = state.at.millis();
        let id = row_id(&card.id, &self.structure.id);
        let tier = state.now.tier.as_ref().map(|tier| tier.as_str());
        let body = json!({
            "id": id, "card_id": card.id, "program_id": card.as_card().program_id(), "tier_structure_id": self.structure.id.as_str(), "tier_id": tier,
            "causes": self.causes, IS_ANNOUNCED: self.is_announced, "kept": write_tier_state(state),
        });
        let known = self.row.as_ref().map(|row| row.created_at);
        let mut row =
            Document::new(id, None, known.unwrap_or(changed_at), body.as_object().cloned().unwrap_or_default());
        (row.parent, row.holder) = (card.parent.clone(), card.holder.clone());
        if known.is_some() {
            row.updated_at = Some(changed_at);
            store.update(TIER_STATE, &row);
        } else {
            store.insert(TIER_STATE, &row);
        }
        self.row = Some(row);
    }
}
