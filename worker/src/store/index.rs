//! Values of columns and conditions that make lookups cheap: digests, keys of codes, names of responses, validity.

pub mod blind_index;
pub mod code_key;
pub mod response_name;
pub mod validity_sql;
