//! Loyalty programs (v2): the states of their entities, requirements of a transition, activities, incentives and statistics.

pub mod activities;
pub mod incentives;
pub mod kinds;
pub mod lifecycle;
pub mod requirements;
pub mod statistics;
