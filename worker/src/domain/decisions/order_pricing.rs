//! Prices an order with the engine.

use crate::domain::decisions::facts;
use crate::http::reply::CallError;
use crate::http::route::Call;
use scrip::model::order::Order;
use scrip::money::Money;
use scrip::pricing::lines::{PriceSource, PricedOrder, price};
use scrip::time::Instant;
use scrip::wire::redemptions::stored_order::write_order;

/// Returns the priced order as it is stored and returned (docs/spec/calculation.md sections 2 and 3), and its total.
pub fn price_order(
    call: &Call<'_, '_>,
    order: &Order,
    updated_at: Option<Instant>,
) -> Result<(String, Option<Money>), CallError> {
    let facts = facts::facts(call)?;
    // Orders of a server are trusted, and the catalogue is complete: no fact can be missing.
    let mut priced = PricedOrder::default();
    let document = price(order, &facts, PriceSource::Sent, &mut |_| {}, &mut priced)
        .map(|()| (write_order(order, &priced, updated_at), priced.cart.total()));
    facts.end()?;
    Ok(document?)
}
