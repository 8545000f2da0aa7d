//! Where members stand in tier structures, as it is stored: a row for a card and a structure, read whole. It must not know routes, nor
//! what moves anybody.

use crate::shop::hindrance::assigned_as;
use crate::shop::lives::{CARD, PROGRAM, TIER, TIER_STRUCTURE, named};
use crate::store::Store;
use crate::store::document::{Document, legible, read_held};
use crate::store::edition::{Edition, Readings};
use crate::store::sql::Fault;
use scrip::lifecycle::State;
use scrip::text::{Text, hex, sha256};
use scrip::tiers::{Standing, Structure, Tier};
use scrip::time::{Instant, TimeZone};
use scrip::wire::loyalty::tiers::{read_standing, read_tier, read_tier_structure, write_standing};
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// The kind of the rows of standings, whose parent is their member.
pub const STANDING: &str = "member_tier";

/// A card's place in a tier structure.
pub struct Stood {
    /// The structure, with its tiers.
    pub structure: Structure,
    /// Where the member stands; nothing before it was looked at.
    pub standing: Option<Standing>,
    /// The transactions of the card at the last moment of the standing.
    pub causes: Vec<String>,
    /// Whether something is told of that moment.
    pub is_told: bool,
    /// The row, where there is one.
    pub row: Option<Document>,
}

/// By program and card definition.
static STRUCTURES: Readings<Structure> = Readings::empty();
/// The cards of a customer in programs that have a tier structure. Programs that are gone have none.
pub fn tiered(store: &Store<'_>, customer: &str) -> Result<Vec<Document>, Fault> {
    store.documents(
        "SELECT card.id, card.key, card.parent, card.holder, card.created_at, card.updated_at, card.body FROM document AS card
         WHERE card.kind = +?1 AND card.holder = +?2
           AND EXISTS (SELECT 1 FROM document WHERE kind = +?3 AND id = json_extract(card.body, '$.program_id'))
           AND EXISTS (SELECT 1 FROM document WHERE kind = +?4 AND parent = json_extract(card.body, '$.program_id'))
         ORDER BY card.seq",
        &[
            CARD.stored.into(),
            customer.into(),
            PROGRAM.stored.into(),
            TIER_STRUCTURE.assigned.unwrap_or_default().into(),
        ],
    )
}

/// The place of a card in the ACTIVE structure of its program whose points are on such cards.
pub fn of_card(store: &Store<'_>, edition: &Edition, card: &Document) -> Result<Option<Stood>, Fault> {
    let own = |name: &str| card.body.get(name).and_then(Json::as_str).unwrap_or_default();
    let (program, definition) = (own("program_id"), own("card_definition_id"));
    let name = format!("{program}/{definition}");
    let structure = match STRUCTURES.get(edition, &name) {
        Some(known) => known,
        None => {
            let (found, bytes) = find_structure(store, program, definition)?;
            STRUCTURES.put(edition, &name, (found.clone(), bytes));
            found
        }
    };
    structure.map(|structure| stood(store, card, Structure::clone(&structure))).transpose()
}

/// The ACTIVE structure of a program whose points are on the cards of a definition, and how many bytes it has.
fn find_structure(
    store: &Store<'_>,
    program: &str,
    definition: &str,
) -> Result<(Option<Arc<Structure>>, usize), Fault> {
    for assigned in assigned_as(store, &TIER_STRUCTURE, program)? {
        let is_active = assigned.state == Some(State::Active);
        let Some(document) = named(store, &TIER_STRUCTURE, &assigned.id)?.filter(|_| is_active) else { continue };
        if document.body.get("card_definition_id").and_then(Json::as_str) != Some(definition) {
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

/// The tiers of a structure. One that does not read has no members.
fn tiers_of(store: &Store<'_>, structure: &str) -> Result<(Vec<Tier>, usize), Fault> {
    /// Bytes that a tier has, about: how it is led into and what it says of itself.
    const BYTES: usize = 2_000;
    let rows = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq",
        &[TIER.into(), structure.into()],
    )?;
    let mut tiers = Vec::new();
    for row in rows {
        tiers.extend(legible(store, read_held(TIER, &row, read_tier))?);
    }
    let bytes = tiers.len().saturating_mul(BYTES);
    Ok((tiers, bytes))
}

fn stood(store: &Store<'_>, card: &Document, structure: Structure) -> Result<Stood, Fault> {
    let row = store.document(STANDING, &row_id(&card.id, &structure.id))?;
    let standing = match &row {
        Some(row) => legible(store, read_held(STANDING, row, |at| at.need("kept", read_standing)))?,
        None => None,
    };
    let body = row.as_ref().map(|row| &row.body);
    let causes = body.and_then(|body| body.get("causes")).and_then(Json::as_array);
    let causes = causes.into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    let is_told = body.and_then(|body| body.get("is_told")).and_then(Json::as_bool).unwrap_or(false);
    Ok(Stood { structure, standing, causes, is_told, row })
}

/// The id of the row of a card and a structure.
fn row_id(card: &str, structure: &str) -> String {
    derived("lmtr_", &[card, structure])
}

/// An id that follows from names.
pub fn derived(prefix: &str, names: &[&str]) -> String {
    let digest = sha256(&[names.join("/").as_bytes()]);
    format!("{prefix}{}", hex(digest.get(..9).unwrap_or_default()))
}

impl Stood {
    /// The tier.
    pub fn tier(&self) -> Option<&Text> {
        self.standing.as_ref()?.now.tier.as_ref()
    }

    /// The moment at which something becomes of the standing by itself.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        self.structure.next_due(&self.standing.as_ref()?.now, zone)
    }

    /// The segments that the structure asks for.
    pub fn segments(&self) -> Vec<&Text> {
        let mut segments: Vec<&Text> = self.structure.tiers.iter().filter_map(|tier| tier.segment.as_ref()).collect();
        segments.sort_unstable();
        segments.dedup();
        segments
    }

    /// Writes the standing of a card at the commit.
    pub fn write(&mut self, store: &mut Store<'_>, card: &Document) {
        let Some(standing) = &self.standing else { return };
        let changed_at = standing.at.millis();
        let id = row_id(&card.id, &self.structure.id);
        let tier = standing.now.tier.as_ref().map(|tier| tier.as_str());
        let body = json!({
            "id": id, "card_id": card.id, "program_id": card.body.get("program_id"), "tier_structure_id": self.structure.id.as_str(), "tier_id": tier,
            "causes": self.causes, "is_told": self.is_told, "kept": write_standing(standing),
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
