//! The shapes of products, SKUs and collections, which are declared next to the engine's readers.

/// Products and SKUs, also contained in the rewards of redemptions.
pub use scrip::wire::goods::{PRODUCT, SKU};
pub use scrip::wire::rules::COLLECTION;
