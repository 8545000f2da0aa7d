//! Members of loyalty programs (v2), their cards and their tiers.

pub mod card;
pub mod card_changes;
pub mod card_checks;
pub mod card_report;
pub mod card_view;
pub mod current_tiers;
pub mod member;
pub mod tier_changes;
pub mod tier_state;
pub mod tier_view;
