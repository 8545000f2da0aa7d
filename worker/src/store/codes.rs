//! Codes without a holder.

pub mod unassigned_codes;
