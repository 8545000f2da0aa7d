//! What is asked of the engine: validations, qualifications, redemptions, rollbacks, and the locks that validations set. No area imports another's handlers.

pub mod admission;
pub mod failures;
pub mod older_operations;
mod older_query;
pub mod older_requests;
pub mod qualifications;
pub mod redemptions;
pub mod rollbacks;
pub mod sessions;
