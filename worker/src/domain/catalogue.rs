//! Products and SKUs, and the catalogue entries that an order brings with `override`.

pub mod collections;
pub mod order_overrides;
pub mod products;
pub mod skus;
