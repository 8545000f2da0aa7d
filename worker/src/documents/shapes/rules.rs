//! The shapes of validation rules and stacking rules, which are declared next to the engine's readers.

pub use scrip::wire::project::stacking::STACKING_RULES_DOCUMENT as STACKING_RULES;
pub use scrip::wire::rules::RULE;
