//! Lists of documents: clauses, filters and orders as one statement over the document table, and the choice of its index.
//!
//! The names of filters and orders, as published, belong to the lists themselves; here are columns and operators.

pub mod clause;
pub mod column;
pub mod condition;
pub mod cursor;
pub mod days;
pub mod filter;
pub mod index;
pub mod index_choice;
pub mod list_conditions;
pub mod made_indexes;
pub mod selection;
pub mod sort_order;
pub mod term;
pub mod voucher_columns;
