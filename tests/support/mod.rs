//! Shares ordered JSON, vector files, complete facts and test reports between the test programs.
#![allow(dead_code, reason = "every test program includes the whole module and uses a part of it")]

pub mod json;
pub mod service_facts;
pub mod templates;
pub mod test_report;
pub mod vector;
