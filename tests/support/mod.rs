//! What the trials share: ordered JSON, vector files, the tally. Each trial uses some of it.
#![allow(dead_code, reason = "every test program includes the whole module and uses a part of it")]

pub mod extremes;
pub mod json;
pub mod tally;
pub mod vector;
