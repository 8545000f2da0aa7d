//! Decides how a set of rules is prepared once, so that each decision costs only its own basket. It must not know
//! where the rules came from or who asks; what it was not given, only the server knows.

pub mod facts;
pub mod prepared;

pub use prepared::Prepared;
