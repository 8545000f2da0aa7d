//! Documents: how they are found, listed, filtered and shown, and what their metadata may be. It must not know any kind of document.

pub mod behind;
pub mod cells;
pub mod choice;
pub mod clause;
pub mod columns;
pub mod condition;
pub mod cursors;
pub mod days;
pub mod definition;
pub mod fields;
pub mod filter;
pub mod index;
pub mod list;
pub mod merge;
pub mod metadata;
pub mod onward;
pub mod part;
pub mod resource;
pub mod selection;
pub mod shapes;
pub mod sheet;
pub mod span;
