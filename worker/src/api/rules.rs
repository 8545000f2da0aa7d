//! Rules: who may use what, what guards it, and what is used together. No area imports another's handlers.

pub mod assignments;
pub mod stacking_rules;
pub mod validation_rules;
