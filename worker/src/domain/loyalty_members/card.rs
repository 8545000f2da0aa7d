//! Loads points cards (v2) with their lots, pending points and tier state.
//!
//! The ledger accounts have the numbers of points; the row of a lot has its expiration.

use crate::domain::loyalty_members::tier_state;
use crate::domain::loyalty_members::tier_state::StoredTierState;
use crate::domain::loyalty_programs::kinds::CARD;
use crate::store::Store;
use crate::store::document::{Document, UnreadableFact, read_loaded};
use crate::store::documents::loyalty_programs::{CardRowKind, CardRows};
use crate::store::loyalty::program_revision::ProgramRevision;
use crate::store::sql::Fault;
use scrip::facts::cards::{card_account, card_figures};
use scrip::ledger::AccountId;
use scrip::points::{LifetimeTotal, PointsAccount, PointsCard};
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::Read;
use scrip::wire::loyalty::lots::{read_lot, read_pending};
use std::collections::BTreeMap;

/// Kind of the rows of lots; their parent is the card.
pub const LOT: &str = "card_points_bucket";
/// Kind of the rows of pending points; their parent is the card.
pub const PENDING: &str = "card_pending_points_bucket";
/// Kind of the transactions of a card; their parent is the card.
pub const TRANSACTION: &str = "card_transaction";
/// A card loaded with its rows.
pub struct LoadedCard {
    /// The row of the card: the parent is its member, the holder its customer.
    pub row: Document,
    /// Its points.
    pub card: PointsCard,
    /// Loaded rows of its lots and pending points.
    pub rows: BTreeMap<String, Document>,
    /// State in the tier structure that counts its points, if there is one.
    pub stood: Option<StoredTierState>,
}

/// Parses the part of a row that the engine reads; fails when it cannot be read.
fn kept<T>(kind: &str, row: &Document, read: Read<T>) -> Result<T, Fault> {
    read_loaded(kind, row, read).map_err(|unread| match unread {
        UnreadableFact::Fault(fault) => fault,
        UnreadableFact::Unreadable(details) => Fault(details),
    })
}

/// Returns the cards of a member, the oldest first.
pub fn rows_of(store: &Store<'_>, member: &str) -> Result<Vec<Document>, Fault> {
    store.list_children(CARD.stored, member)
}

/// Loads a card with its open lots and pending points, and with the named lots even if they are closed or empty.
pub fn load(store: &Store<'_>, row: Document, lots: &[&str]) -> Result<LoadedCard, Fault> {
    let CardRows { rows: mut found, revision } = store.load_open_lots(&row.id)?;
    for id in lots.iter().filter(|id| !found.iter().any(|(_, known)| known.id == **id)).collect::<Vec<_>>() {
        let lot = store.document(LOT, id)?.filter(|lot| lot.parent.as_ref() == Some(&row.id));
        found.extend(lot.map(|lot| (CardRowKind::Lot, lot)));
    }
    let mut held = hold(store, row, &mut found, &revision)?;
    fill(store, std::slice::from_mut(&mut held))?;
    Ok(held)
}

/// Loads existing cards with their open lots and pending points.
pub fn load_all(store: &Store<'_>, ids: &[&str]) -> Result<Vec<LoadedCard>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let CardRows { rows: mut found, revision } = store.load_cards(ids)?;
    let cards: Vec<Document> =
        found.extract_if(.., |(kind, _)| *kind == CardRowKind::Card).map(|(_, card)| card).collect();
    let held = cards.into_iter().map(|card| hold(store, card, &mut found, &revision));
    let mut held = held.collect::<Result<Vec<LoadedCard>, Fault>>()?;
    fill(store, &mut held)?;
    Ok(held)
}

/// Creates a card from its rows; the numbers of points are not set yet.
fn hold(
    store: &Store<'_>,
    row: Document,
    found: &mut Vec<(CardRowKind, Document)>,
    revision: &ProgramRevision,
) -> Result<LoadedCard, Fault> {
    let (mut card, mut rows) = (PointsCard::default(), BTreeMap::new());
    for (kind, known) in found.extract_if(.., |(_, known)| known.parent.as_ref() == Some(&row.id)) {
        if kind == CardRowKind::Lot {
            card.lots.push(kept(LOT, &known, |at| at.need("kept", read_lot))?);
        } else {
            card.pending.push(kept(PENDING, &known, |at| at.need("kept", read_pending))?);
        }
        rows.insert(known.id.clone(), known);
    }
    let stood = tier_state::of_card(store, revision, &row)?;
    Ok(LoadedCard { row, card, rows, stood })
}

/// Sets the points of cards from their accounts.
fn fill(store: &Store<'_>, held: &mut [LoadedCard]) -> Result<(), Fault> {
    let accounts: Vec<String> = held.iter().flat_map(LoadedCard::accounts).collect();
    let balances = store.account_balances(&accounts, 0, "")?;
    for one in held {
        one.put(|account| balances.get(account.as_str()).map_or(0, |standing| standing.balance));
    }
    Ok(())
}

impl LoadedCard {
    /// Returns the accounts of the card.
    fn accounts(&self) -> Vec<String> {
        let lots = self.card.lots.iter().map(|lot| PointsAccount::Lot(lot.id.clone()));
        let waiting = self.card.pending.iter().map(|pending| PointsAccount::Pending(pending.id.clone()));
        let figures = LifetimeTotal::ALL.into_iter().map(PointsAccount::Figure);
        let places = lots.chain(waiting).chain(figures).chain([PointsAccount::Debt]);
        places.map(|place| card_account(&self.row.id, &place).to_string()).collect()
    }

    /// Sets the points of the card from its accounts.
    fn put(&mut self, of: impl Fn(&AccountId) -> i64) {
        let card_id = self.row.id.as_str();
        let points = |place: PointsAccount| of(&card_account(card_id, &place)).max(0).unsigned_abs();
        for lot in &mut self.card.lots {
            lot.points = points(PointsAccount::Lot(lot.id.clone()));
        }
        for pending in &mut self.card.pending {
            pending.points = points(PointsAccount::Pending(pending.id.clone()));
        }
        self.card.debt = of(&card_account(card_id, &PointsAccount::Debt)).min(0).unsigned_abs();
        self.card.figures = card_figures(card_id, of);
    }

    /// Returns the next instant at which the card or the tier of its member changes by time.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        let tier = self.stood.as_ref().and_then(|stood| stood.next_due(zone));
        self.card.next_due().into_iter().chain(tier).min()
    }

    /// Returns the id of the card's definition.
    pub fn definition(&self) -> &str {
        self.row.as_card().definition_id().unwrap_or_default()
    }
}
