//! The offline bundle: its signing keys.

pub mod signing_keys;
