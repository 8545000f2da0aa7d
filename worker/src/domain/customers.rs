//! Customers, and the counts that a customer document keeps.

pub mod customer;
pub mod referral_summary;
pub mod summary;
