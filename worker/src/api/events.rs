//! Custom events and their schemas.

pub mod events;
pub mod schemas;
