//! Decides what a stack of promotion tiers is: which tiers, in which order. It must not know what a tier grants.
//!
//! objects.md section 7.

use crate::text::Text;

/// Tiers of one promotion that are redeemed together, by one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack {
    /// Assigned by the service.
    pub id: Text,
    /// Its name.
    pub name: Text,
    /// The promotion that its tiers belong to.
    pub campaign_id: Option<Text>,
    /// Its own category; it says how the stack is listed. What stacks with what is said by its tiers' categories.
    pub category_id: Option<Text>,
    /// The tiers by id, in the order in which they are tried.
    pub tiers: Vec<Text>,
}
