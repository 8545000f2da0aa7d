//! Vouchers: made, changed, imported, handed out, and what lies on them. No area imports another's handlers.

pub mod balances;
pub mod holders;
pub mod images;
pub mod loyalty_members;
pub mod member_activity;
pub mod page_vouchers;
pub mod pending_points;
pub mod point_transfers;
pub mod points_expiration;
pub mod publication_list;
pub mod publication_queries;
pub mod publications;
pub mod publishing;
pub mod transactions;
pub mod voucher_changes;
pub mod voucher_imports;
pub mod voucher_sheets;
pub mod vouchers;
