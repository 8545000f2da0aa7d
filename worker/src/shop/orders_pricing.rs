//! What an order comes to: the engine's pricing and its view of an order, and nothing else of the engine's room for prices.
//! It must not know how orders are stored.

use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::shop::decision;
use scrip::model::order::Order;
use scrip::money::Money;
use scrip::pricing::lines::{Priced, Trust, price};
use scrip::time::Instant;
use scrip::wire::stored_order::write_order;

/// The order with its prices and amounts, as it is stored and shown (calculation.md sections 2 and 3), and what it comes to.
pub fn priced(
    call: &Call<'_, '_>,
    order: &Order,
    updated_at: Option<Instant>,
) -> Result<(String, Option<Money>), CallError> {
    let facts = decision::facts(call)?;
    // The server's orders are believed, and its catalogue knows all: there is nothing that it lacks.
    let mut priced = Priced::default();
    let written = price(order, &facts, Trust::Sent, &mut |_| {}, &mut priced)
        .map(|()| (write_order(order, &priced, updated_at), priced.cart.total()));
    facts.end()?;
    Ok(written?)
}
