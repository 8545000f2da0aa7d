//! Defines a promotion stack: its tiers and their order.
//!
//! docs/spec/objects.md#7.

use crate::text::Text;

/// Tiers of one promotion that are redeemed together under one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromotionStack {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The promotion that its tiers belong to.
    pub campaign_id: Option<Text>,
    /// Its own category, for listing. The stacking rules use the categories of its tiers.
    pub category_id: Option<Text>,
    /// The tiers by id, in the order in which they are tried.
    pub tiers: Vec<Text>,
}
