//! Vouchers: codes, creation, bulk jobs, deletion, referral holders and images.

pub mod bulk_jobs;
pub mod code_checks;
pub mod code_generator;
pub mod creation;
pub mod definition;
pub mod deletion;
pub mod image_urls;
pub mod images;
pub mod referral_holders;
pub mod voucher;
