//! The cards of a member as purchases and payments look at them: what there is, what may be spent, what was spent. It must not know on
//! what.

use crate::http::reply::CallError;
use crate::shop::card_changes::broken;
use crate::shop::card_checks::definition_of;
use crate::shop::cards::{Held, Present, load, rows_of};
use crate::store::Store;
use crate::store::document::{Document, read_held};
use crate::store::sql::{self, Fault};
use scrip::facts::purchase::PayingCard;
use scrip::model::customer::Customer;
use scrip::model::order::Metadata;
use scrip::points::limits::SpentSoFar;
use scrip::points::{CardDefinition, Figure};
use scrip::time::Instant;
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;
use serde_json::{Map, Value as Json};

/// The kind of the rows of purchases and refunds of rewards, whose parent is the member.
pub const REWARD_TRANSACTION: &str = "reward_transaction";
/// The kind of the rows of payments, whose parent is the member.
pub const ORDER_TRANSACTION: &str = "order_transaction";

/// The cards of a member, each with its definition and with what may be spent of it, in one order.
pub struct Wallet {
    /// The cards.
    pub cards: Vec<Held>,
    /// What they are like.
    pub definitions: Vec<CardDefinition>,
    /// What may be spent.
    pub paying: Vec<PayingCard>,
}

impl Wallet {
    /// The cards of a member.
    pub fn of(store: &Store<'_>, present: &Present, member: &str) -> Result<Wallet, CallError> {
        let mut wallet = Wallet { cards: Vec::new(), definitions: Vec::new(), paying: Vec::new() };
        for row in rows_of(store, member)? {
            wallet.add(store, present, load(store, row, &[])?)?;
        }
        Ok(wallet)
    }

    /// One card of a member alone.
    pub fn with(store: &Store<'_>, present: &Present, card: Held) -> Result<Wallet, CallError> {
        let mut wallet = Wallet { cards: Vec::new(), definitions: Vec::new(), paying: Vec::new() };
        wallet.add(store, present, card)?;
        Ok(wallet)
    }

    fn add(&mut self, store: &Store<'_>, present: &Present, held: Held) -> Result<(), CallError> {
        let definition = definition_of(store, &held)?;
        let settled = held.card.settle(&present.now()).map_err(|refused| broken(&held.row.id, &refused))?.card;
        let since = definition.spending.global.since(present.now().at, &present.zone);
        let in_period = since.map_or(Ok(0), |since| spent_since(store, &held.row, since))?;
        let (spent, back) = (settled.figures.of(Figure::Spent), settled.figures.of(Figure::Refunded));
        let so_far = SpentSoFar { balance: settled.balance(), total: spent.saturating_sub(back), in_period };
        let card_definition_id = held.definition().into();
        self.paying.push(PayingCard { card_definition_id, limits: definition.spending, so_far });
        self.definitions.push(definition);
        self.cards.push(held);
        Ok(())
    }
}

/// What was spent of a card since a moment, and did not come back.
fn spent_since(store: &Store<'_>, card: &Document, since: Instant) -> Result<u64, Fault> {
    let row = store.row(
        "SELECT COALESCE(SUM(json_extract(body, '$.kept.spent') - json_extract(body, '$.kept.back')), 0) FROM document
         WHERE kind IN (?1, ?2) AND parent = ?3 AND created_at >= ?4 AND json_extract(body, '$.card_id') = ?5",
        &[
            REWARD_TRANSACTION.into(),
            ORDER_TRANSACTION.into(),
            card.parent.clone().into(),
            since.millis().into(),
            card.id.as_str().into(),
        ],
    )?;
    Ok(row.map_or(Ok(0), |row| sql::int(&row, 0))?.unsigned_abs())
}

/// The customer and the member as rules and formulas look at them.
pub fn people(customer: &Document, member: &Document) -> Result<(Customer, Metadata), CallError> {
    let fault = |_| Fault(format!("the member `{}` does not read", member.id));
    let customer = read_held("customer", customer, read_customer).map_err(fault)?;
    let metadata = read_held("member", member, |at| at.option("metadata", read::metadata)).map_err(fault)?;
    Ok((customer, metadata.unwrap_or_default()))
}

/// A transaction as it is told before anybody has read it: what came of it is told by whoever reads it first.
pub fn undecided(transaction: Document) -> Map<String, Json> {
    let mut body = transaction.body;
    body.remove("kept");
    body.insert("status".into(), "PENDING".into());
    for told in body.get_mut("details").and_then(Json::as_object_mut).into_iter().flatten() {
        if matches!(told.0.as_str(), "rejection" | "result") {
            *told.1 = Json::Null;
        }
    }
    body
}
