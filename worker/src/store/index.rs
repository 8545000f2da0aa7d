//! Values of columns and conditions that make look-ups cheap: digests, keys of codes, validity.

pub mod blind_index;
pub mod code_key;
pub mod validity_sql;
