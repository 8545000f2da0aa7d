//! Changes that webhooks report, and the queue of their deliveries.

pub(super) mod observed;
pub mod outbox;
