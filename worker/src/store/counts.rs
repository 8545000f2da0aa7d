//! Counts that triggers keep, and the counts of events.

pub mod document_counts;
pub mod event_counts;
