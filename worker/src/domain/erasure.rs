//! Erasure of a customer's personal data: the removal from a document, and the job that finds the documents.

pub mod documents;
pub mod job;
pub mod redaction;
