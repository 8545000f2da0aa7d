//! Whom a shop knows: customers, and segments of them. No area imports another's handlers.

pub mod activity;
pub mod consents;
pub mod customer_redeemables;
pub mod customer_removal;
pub mod customer_sheets;
pub mod customers;
pub mod events;
pub mod page_customers;
pub mod segments;
