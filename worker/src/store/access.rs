//! Keys, tokens, quotas and the stored responses of idempotent requests.

pub mod credentials;
pub mod quotas;
pub mod stored_responses;
