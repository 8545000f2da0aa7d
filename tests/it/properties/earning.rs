//! Tests what events earn: each calculation, each reason for no earning, and histories against a naive second model that reads the stored
//! documents itself.

mod examples;
mod fixtures;
mod histories;
mod model;
mod unreadable_documents;
