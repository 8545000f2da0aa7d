//! Keys, tokens, quotas and the stored responses of idempotent requests.

pub mod keys;
pub mod quotas;
pub mod stored_responses;
pub mod tokens;
