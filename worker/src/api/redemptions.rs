//! Validations, redemptions, replays, rollbacks and sessions.

pub mod admission;
pub mod failures;
pub mod redemptions;
pub mod replays;
pub mod rollbacks;
pub mod sessions;
