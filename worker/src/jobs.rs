//! Deferred work in slices: async actions, bulk items, deliveries, retention.

pub mod async_actions;
pub mod bulk_items;
pub mod count_transfers;
pub mod free_pages;
pub mod job_caller;
pub mod outbox;
pub mod queue;
pub mod queue_metrics;
pub mod record_move;
pub mod replay_setting;
pub mod retention;
pub mod transfer_move;
pub mod webhook_url;
