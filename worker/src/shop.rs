//! What several areas do to documents: who belongs to a set, what a voucher grants, how an order is priced. It must not know any route.

pub mod codes;
pub mod decision;
pub mod generation;
pub mod membership;
pub mod orders_pricing;
pub mod overrides;
pub mod reward_fulfilment;
pub mod voucher_grant;
pub mod windows;
