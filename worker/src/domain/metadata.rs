//! Metadata schemas, and metadata in the cells of CSV files.

pub mod csv_cells;
pub mod schemas;
