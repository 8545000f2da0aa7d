//! Defines JSON values, and reads and writes them exactly. Nothing here is ever a float: a number is an integer or its
//! own digits.
//!
//! The library (`serde_json`) defines the syntax. The tree is our own, because it borrows its texts and knows the path
//! of each value, so that an error can name it.

mod decimal;
mod members;
mod node;
mod read;
pub mod service;
mod write;

pub use members::JsonMembers;
pub use node::Node;
pub use read::{Bounds, SyntaxError, SyntaxErrorKind, read, read_from};
pub use write::JsonWriter;
