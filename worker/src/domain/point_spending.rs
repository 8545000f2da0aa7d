//! Points spent on rewards and orders (v2), and their refunds.

pub mod moved_points;
pub mod order_payments;
pub mod order_snapshot;
pub mod purchases;
pub mod refunds;
pub mod reward_stock;
pub mod spendable_cards;
