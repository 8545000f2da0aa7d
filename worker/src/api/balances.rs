//! Adjustments and transactions of the balances of gift cards and loyalty cards.

pub mod adjustments;
pub mod transactions;
