//! Work that is done later, in pieces. It must not know what any piece means.

pub mod batch;
pub mod jobs;
pub mod sweep;
