//! Decides how the settings of a project are read: what clients may do, the time zone, the stacking rules.

pub mod client;
pub mod stacking;
pub mod time_zone;
