//! Decides what a test can be about, so that a qualification says by it which tests it asks. Sets of them are sums. It must not
//! know which test is about what.

/// The customer.
pub const CUSTOMER: u8 = 1;
/// Amounts and custom data of the order, the moment, the request.
pub const ORDER: u8 = 2;
/// Goods that must be there.
pub const GOODS: u8 = 4;
/// Goods that must not be there.
pub const BARRED: u8 = 8;
/// What has been counted of redemptions, and campaign budgets: qualification never asks for it
/// (calculation.md section 13).
pub const COUNTED: u8 = 16;
/// Something of the incentive itself: no two lists share the answer.
pub const OWN: u8 = 32;
/// Whatever can be asked.
pub const EVERYTHING: u8 = 63;
