//! Campaigns, their summaries and templates.

pub mod campaigns;
pub mod changes;
pub mod creation;
pub mod summary;
pub mod template_setups;
pub mod templates;
