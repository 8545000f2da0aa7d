//! A project's own affairs: schemas, tokens, long work, and the bundle. No area imports another's handlers.

pub mod async_actions;
pub mod bundle;
pub mod custom_event_schemas;
pub mod customer_tokens;
pub mod export_scopes;
pub mod exports;
pub mod locations;
pub mod metadata_schemas;
pub mod oauth;
#[cfg(feature = "rehearsal")]
pub mod rehearsals;
pub mod trash_bin;
pub mod webhooks;
