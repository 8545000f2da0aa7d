//! What several areas do to documents: who belongs to a set, what a voucher grants, how an order is priced. It must not know any route.

pub mod assignments;
pub mod balances;
pub mod campaigns;
pub mod categories;
pub mod codes;
pub mod customers;
pub mod decision;
pub mod generation;
pub mod membership;
pub mod metadata_schemas;
pub mod orders_pricing;
pub mod overrides;
pub mod products;
pub mod publications;
pub mod purses;
pub mod reward_assignments;
pub mod reward_fulfilment;
pub mod rewards;
pub mod skus;
pub mod stacking_rules;
pub mod tiers;
pub mod validation_rules;
pub mod voucher_grant;
pub mod voucher_work;
pub mod vouchers;
pub mod windows;
