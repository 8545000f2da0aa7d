//! Decides how JSON is held, read and put down, exactly and in few bytes of code. It must not know what the JSON is for,
//! and nothing here is ever a float: a number is whole or it is its own digits.
//!
//! Why not the library's? It makes every number with a fraction a float, or keeps what was written and not what it comes
//! to; and its reader, writer and map of values were a fifth of the package, and half as fast. A property compares this
//! one with it, text by text.

mod decimal;
mod members;
mod node;
mod read;
pub mod service;
mod write;

pub use members::Members;
pub use node::Node;
pub use read::{Bounds, Fault, FaultKind, read};
pub use write::Pen;
