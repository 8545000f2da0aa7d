//! Work that is done later, in pieces. It must not know what any piece means.

pub mod actions;
pub mod asker;
pub mod batch;
pub mod figures;
pub mod jobs;
pub mod outbox;
pub mod sweep;
pub mod target;
