//! Erasure of a customer's personal data: what is removed from a document, and the job that finds the documents.

pub mod job;
pub mod redaction;
