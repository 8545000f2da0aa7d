//! Webhook subscriptions, the events that a commit brings about, and their deliveries.

pub mod card_events;
pub mod deliveries;
pub mod event;
pub mod events;
pub mod subscriptions;
pub mod voucher_events;
