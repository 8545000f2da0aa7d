//! Publications of vouchers.

pub mod client_policy;
pub mod legacy_query;
pub mod list;
pub mod publications;
