//! What several areas do to documents: who belongs to a set, what a voucher grants, how an order is priced. It must not know any route.

pub mod codes;
pub mod deciding;
pub mod generation;
pub mod grants;
pub mod handing;
pub mod membership;
pub mod orders_pricing;
pub mod overrides;
pub mod windows;
