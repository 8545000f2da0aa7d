//! Vouchers: creation, changes, imports, images, lists and holders of referral codes.

pub mod changes;
pub mod client_list;
pub mod csv_import;
pub mod images;
pub mod imports;
pub mod referral_holders;
pub mod vouchers;
