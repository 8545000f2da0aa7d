//! Validation rules and their assignments.

pub mod assignments;
pub mod rules;
