//! Cards of points as they are stored, read whole. It must not know routes, nor what becomes of a card.
//!
//! How many points are where, the accounts of the ledger say; a row of a lot says when it lapses.

use crate::http::route::Call;
use crate::http::time_zone;
use crate::shop::lives::CARD;
use crate::shop::standings::{self, Stood};
use crate::shop::zone;
use crate::store::Store;
use crate::store::document::{self, Document, Unread, read_held};
use crate::store::edition::Edition;
use crate::store::sql::{self, Fault, Row, Value};
use scrip::facts::cards::{card_account, card_figures};
use scrip::ledger::AccountId;
use scrip::points::{Card, Figure, Now, Place};
use scrip::time::{Instant, TimeZone};
use scrip::wire::cursor::Read;
use scrip::wire::loyalty::lots::{read_lot, read_pending};
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The kind of the rows of lots, whose parent is their card.
pub const LOT: &str = "card_points_bucket";
/// The kind of the rows of what waits, whose parent is their card.
pub const PENDING: &str = "card_pending_points_bucket";
/// The kind of the rows of what happened to a card, which is their parent.
pub const TRANSACTION: &str = "card_transaction";
/// The moment and the zone in which cards are looked at.
pub struct Present {
    at: Instant,
    /// The zone.
    pub zone: Arc<TimeZone>,
    /// The same as the project's setup says it.
    pub said: Json,
}

impl Present {
    /// The moment of a call, in its project's zone.
    pub fn of(call: &Call<'_, '_>) -> Result<Present, Fault> {
        Present::read(call.context.now, zone::said(call)?)
    }

    /// A moment, in the zone that a setup says.
    pub fn read(at: Instant, said: Json) -> Result<Present, Fault> {
        Ok(Present { at, zone: time_zone::of_setup(&said)?, said })
    }

    /// The same at another moment.
    pub fn as_of(&self, at: Instant) -> Present {
        Present { at, zone: Arc::clone(&self.zone), said: self.said.clone() }
    }

    /// The moment, as rows have it.
    pub fn millis(&self) -> i64 {
        self.at.millis()
    }

    /// For the engine.
    pub fn now(&self) -> Now<'_> {
        Now { at: self.at, zone: &self.zone }
    }
}

/// A card in hand.
pub struct Held {
    /// Its row: the parent is its member, the holder the customer.
    pub row: Document,
    /// Its points.
    pub card: Card,
    /// The rows of its lots and of what waits, as far as they are in hand.
    pub rows: BTreeMap<String, Document>,
    /// Its place in the tier structure that its points lead through, if there is one.
    pub stood: Option<Stood>,
}

macro_rules! open {
    ($more:literal) => {
        concat!(
            $more,
            "SELECT lot.id, lot.key, lot.parent, lot.holder, lot.created_at, lot.updated_at, lot.body, lot.kind, lot.seq
             FROM json_each(?1) AS card CROSS JOIN document AS lot INDEXED BY document_lot
             WHERE lot.kind = 'card_points_bucket' AND lot.parent = card.value
               AND json_extract(lot.body, '$.status') = 'ACTIVE' AND json_extract(lot.body, '$.points.total') > 0
             UNION ALL SELECT one.id, one.key, one.parent, one.holder, one.created_at, one.updated_at, one.body, one.kind, one.seq
             FROM json_each(?1) AS card CROSS JOIN document AS one INDEXED BY document_waiting
             WHERE one.kind = 'card_pending_points_bucket' AND one.parent = card.value AND json_extract(one.body, '$.status') = 'PENDING'
             UNION ALL SELECT drawn, NULL, NULL, NULL, 0, NULL, '', NULL, NULL FROM edition WHERE subject = 'programs'"
        )
    };
}

/// The open lots of cards, and what waits on them, each with its kind and its place among all documents; and the edition. The conditions are
/// in the words of their indexes: what lapsed or waits no longer stays, and is much after years.
const OPEN: &str = open!("");

/// The same with the cards themselves.
const WHOLE: &str = open!(
    "SELECT own.id, own.key, own.parent, own.holder, own.created_at, own.updated_at, own.body, own.kind, own.seq
     FROM json_each(?1) AS card CROSS JOIN document AS own ON own.kind = +?2 AND own.id = card.value UNION ALL "
);

/// What a row keeps for the engine.
fn kept<T>(kind: &str, row: &Document, read: Read<T>) -> Result<T, Fault> {
    read_held(kind, row, read).map_err(|unread| match unread {
        Unread::Fault(fault) => fault,
        Unread::Illegible(told) => Fault(told),
    })
}

/// The cards of a member, in the order in which they came.
pub fn rows_of(store: &Store<'_>, member: &str) -> Result<Vec<Document>, Fault> {
    store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq",
        &[CARD.stored.into(), member.into()],
    )
}

/// Reads a card with every open lot and everything that waits, and the closed or empty lots that are named.
pub fn load(store: &Store<'_>, row: Document, lots: &[&str]) -> Result<Held, Fault> {
    let (mut found, edition) = found(store.rows(OPEN, &[listed(&[&row.id])])?)?;
    for id in lots.iter().filter(|id| !found.iter().any(|(_, known)| known.id == **id)).collect::<Vec<_>>() {
        let lot = store.document(LOT, id)?.filter(|lot| lot.parent.as_ref() == Some(&row.id));
        found.extend(lot.map(|lot| (LOT, lot)));
    }
    let mut held = hold(store, row, &mut found, &edition)?;
    fill(store, std::slice::from_mut(&mut held))?;
    Ok(held)
}

/// Reads cards with every open lot and everything that waits on them; those that are there.
pub fn load_all(store: &Store<'_>, ids: &[&str]) -> Result<Vec<Held>, Fault> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (mut found, edition) = found(store.rows(WHOLE, &[listed(ids), CARD.stored.into()])?)?;
    let cards: Vec<Document> = found.extract_if(.., |(kind, _)| *kind == CARD.stored).map(|(_, card)| card).collect();
    let held = cards.into_iter().map(|card| hold(store, card, &mut found, &edition));
    let mut held = held.collect::<Result<Vec<Held>, Fault>>()?;
    fill(store, &mut held)?;
    Ok(held)
}

fn listed(ids: &[&str]) -> Value {
    Json::from(ids.to_vec()).to_string().into()
}

/// Documents, each with its kind.
type Found = Vec<(&'static str, Document)>;

/// The documents of rows, in the order in which they were written, and the edition.
fn found(mut rows: Vec<Row>) -> Result<(Found, Edition), Fault> {
    // Sorting here takes less than a sorter of the database, of which there would be one for each part of the statement.
    rows.sort_by_key(|row| sql::int(row, document::WIDTH.saturating_add(1)).ok());
    let (mut found, mut edition) = (Vec::new(), Edition::default());
    for row in &rows {
        match sql::text_or_null(row, document::WIDTH)? {
            Some(kind) => {
                let kind = [LOT, PENDING].into_iter().find(|known| *known == kind).unwrap_or(CARD.stored);
                found.push((kind, document::read(row)?));
            }
            None => edition = Edition::said(sql::text(row, 0)?),
        }
    }
    Ok((found, edition))
}

/// A card with what was found of it; how many points are where is not said yet.
fn hold(store: &Store<'_>, row: Document, found: &mut Found, edition: &Edition) -> Result<Held, Fault> {
    let (mut card, mut rows) = (Card::default(), BTreeMap::new());
    for (kind, known) in found.extract_if(.., |(_, known)| known.parent.as_ref() == Some(&row.id)) {
        if kind == LOT {
            card.lots.push(kept(LOT, &known, |at| at.need("kept", read_lot))?);
        } else {
            card.pending.push(kept(PENDING, &known, |at| at.need("kept", read_pending))?);
        }
        rows.insert(known.id.clone(), known);
    }
    let stood = standings::of_card(store, edition, &row)?;
    Ok(Held { row, card, rows, stood })
}

/// Puts into cards what their accounts say.
fn fill(store: &Store<'_>, held: &mut [Held]) -> Result<(), Fault> {
    let accounts: Vec<String> = held.iter().flat_map(Held::accounts).collect();
    let balances = store.standings(&accounts, 0, "")?;
    for one in held {
        one.put(|account| balances.get(account.as_str()).map_or(0, |standing| standing.balance));
    }
    Ok(())
}

impl Held {
    /// The accounts of all places of the card.
    fn accounts(&self) -> Vec<String> {
        let lots = self.card.lots.iter().map(|lot| Place::Lot(lot.id.clone()));
        let waiting = self.card.pending.iter().map(|pending| Place::Pending(pending.id.clone()));
        let figures = Figure::ALL.into_iter().map(Place::Figure);
        let places = lots.chain(waiting).chain(figures).chain([Place::Debt]);
        places.map(|place| card_account(&self.row.id, &place).to_string()).collect()
    }

    /// Puts into the card what its accounts say.
    fn put(&mut self, of: impl Fn(&AccountId) -> i64) {
        let card_id = self.row.id.as_str();
        let points = |place: Place| u64::try_from(of(&card_account(card_id, &place))).unwrap_or(0);
        for lot in &mut self.card.lots {
            lot.points = points(Place::Lot(lot.id.clone()));
        }
        for pending in &mut self.card.pending {
            pending.points = points(Place::Pending(pending.id.clone()));
        }
        self.card.debt = u64::try_from(of(&card_account(card_id, &Place::Debt)).saturating_neg()).unwrap_or(0);
        self.card.figures = card_figures(card_id, of);
    }

    /// The moment at which something becomes of the card by itself, or of its member's tier.
    pub fn next_due(&self, zone: &TimeZone) -> Option<Instant> {
        let tier = self.stood.as_ref().and_then(|stood| stood.next_due(zone));
        self.card.next_due().into_iter().chain(tier).min()
    }

    /// The id of the definition that the card is of.
    pub fn definition(&self) -> &str {
        self.row.body.get("card_definition_id").and_then(Json::as_str).unwrap_or_default()
    }
}
