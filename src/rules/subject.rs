//! Defines the subjects of tests, by which a qualification selects the tests to evaluate. Sets of them are sums.

/// The customer.
pub const CUSTOMER: u8 = 1;
/// Amounts and metadata of the order, the instant, the request.
pub const ORDER: u8 = 2;
/// Goods that must be present.
pub const GOODS: u8 = 4;
/// Goods that must be absent.
pub const EXCLUSION: u8 = 8;
/// Counts of redemptions, and campaign budgets: a qualification never tests them (docs/spec/calculation.md#13).
pub const COUNTED: u8 = 16;
/// Properties of the redeemable itself: no two lists share the result.
pub const OWN: u8 = 32;
/// All subjects.
pub const EVERYTHING: u8 = 63;
