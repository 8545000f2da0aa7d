//! Campaigns and their summaries.

pub mod campaign;
pub mod summary;
