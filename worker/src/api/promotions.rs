//! Campaigns, the tiers of promotions, stacks of tiers, and categories. No area imports another's handlers.

pub mod campaign_changes;
pub mod campaign_creation;
pub mod campaign_summary;
pub mod campaigns;
pub mod categories;
pub mod loyalty_campaigns;
pub mod promotion_stacks;
pub mod template_setups;
pub mod templates;
pub mod tiers;
