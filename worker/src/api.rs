//! The areas of the interface. A file knows its own documents and nothing of another's handlers.

pub mod catalogue;
pub mod codes;
pub mod decisions;
pub mod loyalty;
pub mod management;
pub mod orders;
pub mod people;
pub mod project;
pub mod promotions;
pub mod rules;
pub mod system;
