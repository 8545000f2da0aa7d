//! Validations, redemptions, rollbacks and sessions.

pub mod admission;
pub mod failures;
pub mod redemptions;
pub mod rollbacks;
pub mod sessions;
