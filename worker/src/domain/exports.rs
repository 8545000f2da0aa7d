//! Exports: kinds, columns, filters and the job that writes them.

pub mod filters;
pub mod job;
pub mod kind;
pub mod kinds;
pub mod request;
pub mod rows;
