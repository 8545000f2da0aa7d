//! Decides whether transfers and holds may happen, based on the account states that the caller provides, and collects
//! the entries to store.

use super::{AccountId, AccountState, Entry, Hold, HoldOwner, Transfer};
use crate::text::{Text, joined};
use crate::time::Instant;

/// An account has fewer units, or capacity for fewer, than were requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The account.
    pub account: AccountId,
    /// The requested units.
    pub requested: u64,
    /// The available units, or those that still fit.
    pub available: u64,
}

/// The ledger within one request. Accounts that were never opened have no limit.
#[derive(Debug, Clone, Default)]
pub struct Book {
    // A request uses a handful of accounts, so a list is enough.
    accounts: Vec<(AccountId, AccountState)>,
    entries: Vec<Entry>,
}

impl Book {
    /// Opens an account with its state; the first opening counts.
    pub fn open(&mut self, account: AccountId, account_state: AccountState) {
        if self.account_state(&account).is_none() {
            self.accounts.push((account, account_state));
        }
    }

    /// Returns the units that may be taken from an account; `None` without a limit.
    pub fn available(&self, account: &AccountId) -> Option<u64> {
        self.account_state(account).and_then(AccountState::available)
    }

    /// Posts a chain: every transfer, or none. Fails with the first shortfall.
    pub fn post(&mut self, chain: Vec<Transfer>) -> Result<(), Shortfall> {
        let before = self.accounts.clone();
        for transfer in &chain {
            if let Err(shortfall) = self.move_units(transfer) {
                self.accounts = before;
                return Err(shortfall);
            }
        }
        self.entries.extend(chain.into_iter().map(Entry::Post));
        Ok(())
    }

    /// Holds units. Fails with the shortfall.
    pub fn hold(&mut self, hold: Hold) -> Result<(), Shortfall> {
        self.check(&hold.account, hold.amount)?;
        self.change(&hold.account, hold.amount, |account_state| {
            account_state.held = account_state.held.checked_add(hold.amount)?;
            Some(())
        })?;
        self.entries.push(Entry::Hold(hold));
        Ok(())
    }

    /// Releases all holds of a session. The account states exclude them already, so nothing else changes.
    pub fn release(&mut self, session: HoldOwner) {
        self.entries.push(Entry::Release(session));
    }

    /// Posts the reverse of the remaining amounts of a chain. This never exceeds a limit.
    pub fn reverse(&mut self, transfers: &[Transfer], chain: &Text, at: Instant) -> Result<(), Shortfall> {
        for (count, transfer) in transfers.iter().filter(|transfer| transfer.amount > 0).enumerate() {
            let back = Transfer {
                id: joined(&[chain, ".", &count.to_string()]),
                chain: chain.clone(),
                debit: transfer.credit.clone(),
                credit: transfer.debit.clone(),
                amount: transfer.amount,
                reverses: Some(transfer.id.clone()),
                part_of: None,
                at,
            };
            self.add(&back.debit, back.amount, false)?;
            self.add(&back.credit, back.amount, true)?;
            self.entries.push(Entry::Post(back));
        }
        Ok(())
    }

    /// Returns the entries to store, in order.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    fn move_units(&mut self, transfer: &Transfer) -> Result<(), Shortfall> {
        self.check(&transfer.debit, transfer.amount)?;
        self.add(&transfer.debit, transfer.amount, false)?;
        self.add(&transfer.credit, transfer.amount, true)
    }

    fn check(&self, account: &AccountId, requested: u64) -> Result<(), Shortfall> {
        match self.available(account) {
            Some(available) if available < requested => {
                Err(Shortfall { account: account.clone(), requested, available })
            }
            _ => Ok(()),
        }
    }

    fn add(&mut self, account: &AccountId, amount: u64, gain: bool) -> Result<(), Shortfall> {
        self.change(account, amount, |account_state| {
            account_state.balance = match gain {
                true => account_state.balance.checked_add_unsigned(amount)?,
                false => account_state.balance.checked_sub_unsigned(amount)?,
            };
            Some(())
        })
    }

    fn account_state(&self, account: &AccountId) -> Option<&AccountState> {
        self.accounts.iter().find(|(known, _)| known == account).map(|(_, account_state)| account_state)
    }

    /// Changes the state of an account by an amount. Fails if a number of it would exceed 64 bits.
    fn change(
        &mut self,
        account: &AccountId,
        amount: u64,
        change: impl FnOnce(&mut AccountState) -> Option<()>,
    ) -> Result<(), Shortfall> {
        self.open(account.clone(), AccountState::default());
        let account_state =
            self.accounts.iter_mut().find(|(known, _)| known == account).map(|(_, account_state)| account_state);
        let shortfall = || Shortfall { account: account.clone(), requested: amount, available: 0 };
        account_state.and_then(change).ok_or_else(shortfall)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn transfer(amount: u64) -> Transfer {
        Transfer {
            id: "t_1".into(),
            chain: "c_1".into(),
            debit: AccountId::new("from"),
            credit: AccountId::new("to"),
            amount,
            reverses: None,
            part_of: None,
            at: Instant::default(),
        }
    }

    fn with(account: &str, account_state: AccountState) -> Book {
        let mut book = Book::default();
        book.open(AccountId::new(account), account_state);
        book
    }

    #[test]
    fn a_balance_does_not_leave_64_bits() {
        let full = || with("to", AccountState { balance: i64::MAX, ..AccountState::default() });
        assert_eq!(full().post(vec![transfer(1)]).unwrap_err().account, AccountId::new("to"));
        let mut book = with("to", AccountState { balance: i64::MAX - 1, ..AccountState::default() });
        assert!(book.post(vec![transfer(1)]).is_ok());
        assert!(book.post(vec![transfer(1)]).is_err());
        assert_eq!(book.into_entries().len(), 1);
        let mut empty = with("to", AccountState { balance: i64::MIN, ..AccountState::default() });
        assert!(empty.reverse(&[transfer(1)], &"c_2".into(), Instant::default()).is_err());
        assert!(Book::default().post(vec![transfer(u64::MAX)]).is_err());
    }

    #[test]
    fn a_hold_does_not_leave_64_bits() {
        let mut book = with("from", AccountState { held: u64::MAX, ..AccountState::default() });
        let hold = |amount| Hold {
            key: "s_1".into(),
            owner: Text::default(),
            account: AccountId::new("from"),
            amount,
            expires_at: Instant::LATEST,
        };
        assert!(book.hold(hold(1)).is_err());
        assert!(book.hold(hold(0)).is_ok());
    }

    #[test]
    fn availability_is_exact_at_the_limits() {
        let left = |quota, balance, held| AccountState { quota: Some(quota), balance, held }.available();
        assert_eq!(left(u64::MAX, 0, u64::MAX), Some(0));
        assert_eq!(left(u64::MAX, i64::MIN, 0), Some(u64::MAX - (1 << 63)));
        assert_eq!(left(0, i64::MIN, u64::MAX), Some(0));
        let taken = |balance| AccountState { balance, ..AccountState::default() }.taken();
        assert_eq!((taken(i64::MIN), taken(i64::MAX)), (1 << 63, 0));
    }
}
