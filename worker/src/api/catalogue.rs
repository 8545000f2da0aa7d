//! What a shop sells: products, their variants, and collections of them. No area imports another's handlers.

pub mod product_collections;
pub mod products;
pub mod sheets;
pub mod skus;
