//! Decides which states the documents of a loyalty program have, which call leads from which to which, what must hold for it, and
//! what may still be edited. It must not know documents, nor how a fact about one is found.
//!
//! loyalty-v2.md section 2. The tables are the whole of it: who holds documents has one verb for all of them.

mod tables;
mod words;

pub use tables::{Transition, edit, transition, transitions};
pub use words::{Denial, Edit, Kind, Need, State, Verb, bad_transition};
