//! Changes that webhooks report, and the queue of their deliveries.

pub mod dead_letters;
pub(super) mod observed;
pub mod outbox;
