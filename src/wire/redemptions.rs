//! Decides the JSON of redemptions, of their rollbacks and of returns: as they are answered, and as they are stored.

pub mod failure;
pub mod order_return;
pub mod record;
pub mod redemption;
pub mod rollback;
pub mod stored_order;
