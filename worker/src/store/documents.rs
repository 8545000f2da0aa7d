//! Queries of the `document` table, one module for each context. A query names the members of a body that it compares.

pub mod any_kind;
pub mod campaigns;
pub mod customer_activity;
pub mod customers;
pub mod decision_records;
pub mod loyalty_campaigns;
pub mod loyalty_programs;
pub mod orders;
pub mod products;
pub mod publications;
pub mod redemptions;
pub mod validation_rules;
pub mod vouchers;
