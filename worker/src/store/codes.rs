//! Codes: their key, their generators and those without a holder.

pub mod generators;
pub mod unassigned_codes;
