//! Finding, listing and filtering of documents, their conversion to JSON of any kind, and checks of their metadata.

pub mod common_fields;
pub mod condition;
pub mod csv_cells;
pub mod csv_columns;
pub mod csv_file;
pub mod cursor_list;
pub mod definition;
pub mod filter;
pub mod json_members;
pub mod keyset_list;
pub mod list;
pub mod merge;
pub mod metadata;
pub mod report_period;
pub mod resource;
pub mod shapes;
pub mod starting_after;
pub mod tagged_blocks;

pub use crate::store::document_list::{clause, index, voucher_columns};
