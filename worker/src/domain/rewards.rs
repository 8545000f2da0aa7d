//! Rewards, their assignments, fulfilment and return.

pub mod assignments;
pub mod fulfilment;
pub mod returns;
pub mod reward;
pub mod v1_fulfilment;
