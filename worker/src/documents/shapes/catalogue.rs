//! The shapes of products, SKUs and collections, which are declared next to the engine's readers.

/// Products and SKUs, as the rewards of redemptions also show them.
pub use scrip::wire::goods::{PRODUCT, SKU};
pub use scrip::wire::rules::COLLECTION;
