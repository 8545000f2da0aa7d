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
use scrip::facts::cards::{card_account, card_lifetime_totals};
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
    pub tier_state: Option<StoredTierState>,
}

/// Parses the part of a row that the engine reads; fails when it cannot be read.
fn read_row<T>(kind: &str, row: &Document, read: Read<T>) -> Result<T, Fault> {
    read_loaded(kind, row, read).map_err(|unread| match unread {
        UnreadableFact::Fault(fault) => fault,
        UnreadableFact::Unreadable(details) => Fault(details),
    })
}

/// Returns the cards of a member, the oldest first.
pub fn list_cards(store: &Store<'_>, member: &str) -> Result<Vec<Document>, Fault> {
    store.list_children(CARD.stored, member)
}

/// Loads a card with its open lots and pending points, and with the named lots even if they are closed or empty.
pub fn load(store: &Store<'_>, row: Document, lots: &[&str]) -> Result<LoadedCard, Fault> {
    let CardRows { rows: mut found, revision } = store.load_open_lots(&row.id)?;
    for id in lots.iter().filter(|id| !found.iter().any(|(_, known)| known.id == **id)).collect::<Vec<_>>() {
        let lot = store.document(LOT, id)?.filter(|lot| lot.parent.as_ref() == Some(&row.id));
        found.extend(lot.map(|lot| (CardRowKind::Lot, lot)));
    }
    let mut loaded = card_from_rows(store, row, &mut found, &revision)?;
    load_points(store, std::slice::from_mut(&mut loaded))?;
    Ok(loaded)
}

/// Loads existing cards with their open lots and pending points.
pub fn load_all(store: &Store<'_>, ids: &[&str]) -> Result<Vec<LoadedCard>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let CardRows { rows: mut found, revision } = store.load_cards(ids)?;
    let cards: Vec<Document> =
        found.extract_if(.., |(kind, _)| *kind == CardRowKind::Card).map(|(_, card)| card).collect();
    let loaded = cards.into_iter().map(|card| card_from_rows(store, card, &mut found, &revision));
    let mut loaded = loaded.collect::<Result<Vec<LoadedCard>, Fault>>()?;
    load_points(store, &mut loaded)?;
    Ok(loaded)
}

/// Creates a card from its rows; the numbers of points are not set yet.
fn card_from_rows(
    store: &Store<'_>,
    row: Document,
    found: &mut Vec<(CardRowKind, Document)>,
    revision: &ProgramRevision,
) -> Result<LoadedCard, Fault> {
    let (mut card, mut rows) = (PointsCard::default(), BTreeMap::new());
    for (kind, known) in found.extract_if(.., |(_, known)| known.parent.as_ref() == Some(&row.id)) {
        if kind == CardRowKind::Lot {
            card.lots.push(read_row(LOT, &known, |at| at.need("kept", read_lot))?);
        } else {
            card.pending.push(read_row(PENDING, &known, |at| at.need("kept", read_pending))?);
        }
        rows.insert(known.id.clone(), known);
    }
    let tier_state = tier_state::load_of_card(store, revision, &row)?;
    Ok(LoadedCard { row, card, rows, tier_state })
}

/// Sets the points of cards from their accounts.
fn load_points(store: &Store<'_>, loaded: &mut [LoadedCard]) -> Result<(), Fault> {
    let accounts: Vec<String> = loaded.iter().flat_map(LoadedCard::accounts).collect();
    let balances = store.account_balances(&accounts, 0, "")?;
    for card in loaded {
        // `accounts` names every account that is read here, so each is present.
        card.set_points(|account| balances.get(account.as_str()).map_or(0, |account_balance| account_balance.balance));
    }
    Ok(())
}

impl LoadedCard {
    /// Returns the accounts of the card.
    fn accounts(&self) -> Vec<String> {
        let lots = self.card.lots.iter().map(|lot| PointsAccount::Lot(lot.id.clone()));
        let pending = self.card.pending.iter().map(|pending| PointsAccount::Pending(pending.id.clone()));
        let totals = LifetimeTotal::ALL.into_iter().map(PointsAccount::LifetimeTotal);
        let accounts = lots.chain(pending).chain(totals).chain([PointsAccount::Debt]);
        accounts.map(|account| card_account(&self.row.id, &account).to_string()).collect()
    }

    /// Sets the points of the card from its accounts.
    fn set_points(&mut self, balance_of: impl Fn(&AccountId) -> i64) {
        let card_id = self.row.id.as_str();
        let points = |account: PointsAccount| balance_of(&card_account(card_id, &account)).max(0).unsigned_abs();
        for lot in &mut self.card.lots {
            lot.points = points(PointsAccount::Lot(lot.id.clone()));
        }
        for pending in &mut self.card.pending {
            pending.points = points(PointsAccount::Pending(pending.id.clone()));
        }
        self.card.debt = balance_of(&card_account(card_id, &PointsAccount::Debt)).min(0).unsigned_abs();
        self.card.lifetime_totals = card_lifetime_totals(card_id, balance_of);
    }

    /// Returns the next instant at which the card or the tier of its member changes by time.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        let tier = self.tier_state.as_ref().and_then(|tier_state| tier_state.next_due(zone));
        self.card.next_due().into_iter().chain(tier).min()
    }

    /// Returns the id of the card's definition.
    pub fn definition_id(&self) -> &str {
        self.row.as_card().definition_id().unwrap_or_default()
    }
}
