//! Decides what is left on an account. It must not know what the units stand for.

use std::fmt;

use crate::text::Text;

/// The name of an account: a path such as `voucher/v_1/redemptions`. It says nothing of where the account lives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(Text);

impl AccountId {
    /// The account of this name.
    pub fn new(path: impl Into<Text>) -> AccountId {
        AccountId(path.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// How an account stands for one request: what it may ever give, what has moved, what others hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Standing {
    /// What the account was given to spend; `None` is without limit.
    pub allotment: Option<u64>,
    /// The net of all transfers: negative when units have been taken.
    pub balance: i64,
    /// Units under unexpired holds of other keys.
    pub held: u64,
}

impl Standing {
    /// Units that may be taken; `None` is without limit.
    pub fn available(&self) -> Option<u64> {
        let allotment = i128::from(self.allotment?);
        let left = allotment.saturating_add(i128::from(self.balance)).saturating_sub(i128::from(self.held));
        Some(u64::try_from(left.max(0)).unwrap_or(u64::MAX))
    }

    /// Units that have been taken and not given back.
    pub fn taken(&self) -> u64 {
        u64::try_from(self.balance.saturating_neg()).unwrap_or(0)
    }
}
