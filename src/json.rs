//! Decides how JSON is held, filled and put down, exactly. It must not know what the JSON is for, and nothing here is ever
//! a float: a number is whole or it is its own digits.
//!
//! What is JSON the library says (`serde_json`); the tree is ours, because it borrows its texts and knows the way to each
//! value, so that an error can name it.

mod decimal;
mod members;
mod node;
mod read;
pub mod service;
mod write;

pub use members::Members;
pub use node::Node;
pub use read::{Bounds, Fault, FaultKind, read, read_from};
pub use write::JsonWriter;
