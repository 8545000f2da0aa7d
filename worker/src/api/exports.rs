//! Exports of documents.

pub mod exports;
pub mod scopes;
