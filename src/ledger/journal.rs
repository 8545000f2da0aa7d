//! Stores a ledger in memory: transfers and holds. It is the store of a prepared engine and the reference for the one in
//! SQL. It checks no limits: the book has done that.

use super::{AccountId, AccountState, Entry, Hold, HoldOwner, Transfer};
use crate::count::{Countable, total};
use crate::ordered_map::OrderedMap;
use crate::text::Text;
use crate::time::Instant;

/// All transfers and holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    balances: OrderedMap<(AccountId, i64)>,
    holds: Vec<Hold>,
    transfers: OrderedMap<Transfer>,
}

/// Why an entry cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalError {
    /// A transfer was written under this id, which another one has.
    Conflict(Text),
    /// The balance of this account would leave 64 bits.
    Overflow(AccountId),
}

impl Journal {
    /// Returns the state of an account at an instant for the owner of a session; `None` when its holds leave 64 bits.
    pub fn account_state(
        &self,
        account: &AccountId,
        quota: Option<u64>,
        now: Instant,
        own: Option<&HoldOwner>,
    ) -> Option<AccountState> {
        Some(AccountState { quota, balance: self.balance(account), held: self.held(account, now, own)? })
    }

    /// Returns the net of all transfers of an account.
    pub fn balance(&self, account: &AccountId) -> i64 {
        // An account without transfers has a balance of zero.
        self.balances.get(account.as_str()).map_or(0, |(_, balance)| *balance)
    }

    /// Returns every account with transfers, and its balance.
    pub fn balances(&self) -> impl Iterator<Item = (&AccountId, i64)> {
        self.balances.iter().map(|(account, balance)| (account, *balance))
    }

    /// Units of an account under unexpired holds of other sessions than one's own; `None` beyond 64 bits.
    pub fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Option<u64> {
        let is_own = |hold: &Hold| own.is_some_and(|own| own.has(hold));
        let others =
            self.holds.iter().filter(|hold| hold.account == *account && hold.expires_at > now && !is_own(hold));
        total(others.map(|hold| hold.amount))
    }

    /// Returns the transfers of a chain that were not reversed, in order, with their remaining amounts.
    pub fn chain(&self, chain: &str) -> Vec<Transfer> {
        let is_undone = |one: &Transfer| self.transfers.iter().any(|other| other.reverses.as_ref() == Some(&one.id));
        let of_chain = self.transfers.iter().filter(|one| one.chain == chain && !is_undone(one));
        of_chain.map(|one| Transfer { amount: self.rest(one), ..one.clone() }).collect()
    }

    /// Returns the amount of a transfer without its reversed parts.
    fn rest(&self, transfer: &Transfer) -> u64 {
        let parts = self.transfers.iter().filter(|part| part.part_of.as_ref() == Some(&transfer.id));
        parts.fold(transfer.amount, |rest, part| rest.remaining_after(part.amount))
    }

    /// Units that left or reached an account since an instant, by transfers that have not been undone; `None` beyond 64
    /// bits.
    pub fn moved(&self, account: &AccountId, since: Instant) -> Option<u64> {
        let undone: Vec<&Text> = self.transfers.iter().filter_map(|transfer| transfer.reverses.as_ref()).collect();
        let since_then = self
            .transfers
            .iter()
            .filter(|one| one.at >= since && (one.debit == *account || one.credit == *account))
            .filter(|one| one.reverses.is_none() && one.part_of.is_none() && !undone.contains(&&one.id));
        total(since_then.map(|one| self.rest(one)))
    }

    /// Stores entries. A transfer that is stored already is skipped.
    pub fn apply(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        for entry in entries {
            match entry {
                Entry::Post(transfer) => self.write(transfer)?,
                Entry::Hold(hold) => {
                    let same = |held: &Hold| {
                        (&held.key, &held.owner, &held.account) == (&hold.key, &hold.owner, &hold.account)
                    };
                    self.holds.retain(|held| !same(held));
                    self.holds.push(hold.clone());
                }
                Entry::Release(session) => self.holds.retain(|held| !session.has(held)),
            }
        }
        Ok(())
    }

    fn write(&mut self, transfer: &Transfer) -> Result<(), JournalError> {
        match self.transfers.get(&transfer.id) {
            Some(known) if known == transfer => return Ok(()),
            Some(_) => return Err(JournalError::Conflict(transfer.id.clone())),
            None => {}
        }
        self.move_units(transfer)?;
        self.transfers.insert(transfer.id.clone(), transfer.clone());
        Ok(())
    }

    /// Adds transfers to the balances alone. No period contains them, and the time to read one does not grow with them.
    pub fn count(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let mut transfers = entries.iter().filter_map(|entry| match entry {
            Entry::Post(transfer) => Some(transfer),
            Entry::Hold(_) | Entry::Release(_) => None,
        });
        transfers.try_for_each(|transfer| self.move_units(transfer))
    }

    fn move_units(&mut self, transfer: &Transfer) -> Result<(), JournalError> {
        self.change(&transfer.debit, |balance| balance.checked_sub_unsigned(transfer.amount))?;
        self.change(&transfer.credit, |balance| balance.checked_add_unsigned(transfer.amount))
    }

    fn change(&mut self, account: &AccountId, change: impl FnOnce(i64) -> Option<i64>) -> Result<(), JournalError> {
        let name = Text::from(account.as_str());
        if let Some((_, balance)) = self.balances.get_or(&name, || (account.clone(), 0)) {
            *balance = change(*balance).ok_or_else(|| JournalError::Overflow(account.clone()))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn transfer(id: &str, amount: u64) -> Entry {
        Entry::Post(Transfer {
            id: id.into(),
            chain: id.into(),
            debit: AccountId::new("from"),
            credit: AccountId::new("to"),
            amount,
            reverses: None,
            part_of: None,
            at: Instant::default(),
        })
    }

    #[test]
    fn a_counted_transfer_changes_balances_and_no_period() {
        let mut journal = Journal::default();
        let (account, begin) = (AccountId::new("to"), Instant::default());
        journal.apply(&[transfer("t_1", 3)]).unwrap();
        journal.count(&[transfer("t_2", 4)]).unwrap();
        assert_eq!((journal.balance(&account), journal.moved(&account, begin)), (7, Some(3)));
        assert_eq!(journal.transfers.iter().count(), 1, "what is scanned does not grow");
        let overflow = journal.count(&[transfer("t_3", i64::MAX.unsigned_abs())]).unwrap_err();
        assert_eq!(overflow, JournalError::Overflow(AccountId::new("from")), "its units leave first");
    }

    #[test]
    fn sums_do_not_leave_64_bits() {
        let mut journal = Journal::default();
        let most = i64::MAX.unsigned_abs();
        journal.apply(&[transfer("t_1", most)]).unwrap();
        let overflow = journal.apply(&[transfer("t_2", most)]).unwrap_err();
        assert_eq!(overflow, JournalError::Overflow(AccountId::new("from")));
        let hold = |key: &str| {
            let (key, account) = (key.into(), AccountId::new("from"));
            Entry::Hold(Hold { key, owner: Text::default(), account, amount: u64::MAX, expires_at: Instant::LATEST })
        };
        journal.apply(&[hold("s_1")]).unwrap();
        let held = |journal: &Journal| journal.held(&AccountId::new("from"), Instant::default(), None);
        assert_eq!(held(&journal), Some(u64::MAX));
        journal.apply(&[hold("s_2")]).unwrap();
        assert_eq!(held(&journal), None);
        assert_eq!(journal.account_state(&AccountId::new("from"), None, Instant::default(), None), None);
    }
}
