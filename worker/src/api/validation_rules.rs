//! Validation rules and their assignments.

pub mod assignments;
pub mod counts;
pub mod rules;
