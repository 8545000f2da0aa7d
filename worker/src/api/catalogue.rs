//! The catalogue: products, their variants, and collections of them.

pub mod collections;
pub mod csv_import;
pub mod products;
pub mod skus;
