//! Cards of a member with the points that can be spent, for purchases and payments.

use crate::domain::clock::LocalTime;
use crate::domain::due::settlement_fault;
use crate::domain::loyalty_members::card::{LoadedCard, list_cards, load};
use crate::domain::loyalty_members::card_checks::find_definition;
use crate::http::reply::CallError;
use crate::store::Store;
use crate::store::document::{Document, read_loaded};
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::facts::purchase::PayingCard;
use scrip::model::customer::Customer;
use scrip::model::order::Metadata;
use scrip::points::limits::SpentTotals;
use scrip::points::{CardDefinition, LifetimeTotal};
use scrip::time::Instant;
use scrip::wire::cursor::read;
use scrip::wire::customer::read_customer;

/// Kind of the transactions of reward purchases and refunds; their parent is the member.
pub const REWARD_TRANSACTION: &str = "reward_transaction";
/// Kind of the transactions of payments; their parent is the member.
pub const ORDER_TRANSACTION: &str = "order_transaction";

/// Cards of a member with their definitions and spendable points; the three lists have the same order.
pub struct SpendableCards {
    /// The cards.
    pub cards: Vec<LoadedCard>,
    /// Definitions of the cards.
    pub definitions: Vec<CardDefinition>,
    /// Spendable points of the cards.
    pub paying: Vec<PayingCard>,
}

impl SpendableCards {
    /// Loads the cards of a member.
    pub fn of(store: &Store<'_>, present: &LocalTime, member: &str) -> Result<SpendableCards, CallError> {
        let mut spendable = SpendableCards { cards: Vec::new(), definitions: Vec::new(), paying: Vec::new() };
        for row in list_cards(store, member)? {
            spendable.add(store, present, load(store, row, &[])?)?;
        }
        Ok(spendable)
    }

    /// Returns a set of one card.
    pub fn with(store: &Store<'_>, present: &LocalTime, card: LoadedCard) -> Result<SpendableCards, CallError> {
        let mut spendable = SpendableCards { cards: Vec::new(), definitions: Vec::new(), paying: Vec::new() };
        spendable.add(store, present, card)?;
        Ok(spendable)
    }

    fn add(&mut self, store: &Store<'_>, present: &LocalTime, loaded: LoadedCard) -> Result<(), CallError> {
        let definition = find_definition(store, &loaded)?;
        let settled =
            loaded.card.settle(&present.now()).map_err(|refused| settlement_fault(&loaded.row.id, &refused))?.card;
        let since = definition.spending.global.since(present.now().at, &present.zone);
        let in_period = since.map_or(Ok(0), |since| sum_spent_since(store, &loaded.row, since))?;
        let (spent, refunded) =
            (settled.lifetime_totals.of(LifetimeTotal::Spent), settled.lifetime_totals.of(LifetimeTotal::Refunded));
        let so_far = SpentTotals { balance: settled.balance(), total: spent.remaining_after(refunded), in_period };
        let card_definition_id = loaded.definition_id().into();
        self.paying.push(PayingCard { card_definition_id, limits: definition.spending, so_far });
        self.definitions.push(definition);
        self.cards.push(loaded);
        Ok(())
    }
}

/// Returns the points of a card that were spent since `since` and not refunded.
fn sum_spent_since(store: &Store<'_>, card: &Document, since: Instant) -> Result<u64, Fault> {
    Ok(store.sum_spent_points(card.parent.as_deref(), &card.id, since.millis())?.unsigned_abs())
}

/// Parses customer and member for rules and formulas.
pub fn read_member_customer(customer: &Document, member: &Document) -> Result<(Customer, Metadata), CallError> {
    let fault = |_| Fault(format!("the member `{}` cannot be read", member.id));
    let customer = read_loaded("customer", customer, read_customer).map_err(fault)?;
    let metadata = read_loaded("member", member, |at| at.option("metadata", read::metadata)).map_err(fault)?;
    Ok((customer, metadata.unwrap_or_default()))
}
