//! Computes the available units of an account.

use std::fmt;

use crate::text::Text;

/// The name of an account: a path such as `voucher/v_1/redemptions`. It is independent of the location of the account.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(Text);

impl AccountId {
    /// Returns the account of this name.
    pub fn new(path: impl Into<Text>) -> AccountId {
        AccountId(path.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The state of an account for one request: its quota, its balance, and the holds of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountState {
    /// The units that may be spent in total; `None` without a limit.
    pub quota: Option<u64>,
    /// The net of all transfers: negative when units have been taken.
    pub balance: i64,
    /// Units under unexpired holds of other keys.
    pub held: u64,
}

impl AccountState {
    /// Returns the units that may be taken; `None` without a limit.
    #[expect(clippy::arithmetic_side_effects, reason = "three numbers of 64 bits stay far within 128")]
    pub fn available(&self) -> Option<u64> {
        let left = i128::from(self.quota?) + i128::from(self.balance) - i128::from(self.held);
        // No transfer can take more than that at once.
        Some(u64::try_from(left.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns the units that have been taken and not returned.
    pub fn taken(&self) -> u64 {
        self.balance.min(0).unsigned_abs()
    }
}
