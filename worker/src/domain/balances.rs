//! Balances of gift cards and loyalty cards (v1): adjustments, transactions, points and pending points.

pub mod adjustments;
pub mod customer_loyalty;
pub mod expiring;
pub mod kinds;
pub mod pending;
pub mod point_postings;
pub mod points;
pub mod transactions;
