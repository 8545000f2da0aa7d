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
    balances: OrderedMap<AccountSums>,
    holds: Vec<Hold>,
    transfers: OrderedMap<Transfer>,
}

/// What moved on an account.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AccountSums {
    account: AccountId,
    balance: i64,
    /// The units of counted transfers: for the instant of each, its own and those before.
    counted: Vec<(Instant, u64)>,
}

impl AccountSums {
    /// Returns the units of counted transfers from an instant until another, both included.
    fn counted_within(&self, since: Instant, until: Instant) -> u64 {
        let sum_before =
            |place: usize| place.checked_sub(1).and_then(|last| self.counted.get(last)).map_or(0, |(_, sum)| *sum);
        let before = sum_before(self.counted.partition_point(|(at, _)| *at < since));
        // A period that ends before it begins has none.
        sum_before(self.counted.partition_point(|(at, _)| *at <= until)).remaining_after(before)
    }

    /// Counts units at an instant, or at that of the last ones if these were later; `None` beyond 64 bits.
    fn add_counted(&mut self, at: Instant, units: u64) -> Option<()> {
        let (last, sum) = self.counted.last().copied().unwrap_or_default();
        self.counted.push((last.max(at), sum.checked_add(units)?));
        Some(())
    }
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
        self.balances.get(account.as_str()).map_or(0, |sums| sums.balance)
    }

    /// Returns the net of the transfers of an account until an instant, which is included; `None` beyond 64 bits. Counted transfers are all
    /// earlier.
    pub fn balance_until(&self, account: &AccountId, until: Instant) -> Option<i64> {
        self.transfers.iter().filter(|one| one.at > until).try_fold(self.balance(account), |balance, one| {
            let balance = if one.debit == *account { balance.checked_add_unsigned(one.amount)? } else { balance };
            if one.credit == *account { balance.checked_sub_unsigned(one.amount) } else { Some(balance) }
        })
    }

    /// Returns every account with transfers, and its balance.
    pub fn balances(&self) -> impl Iterator<Item = (&AccountId, i64)> {
        self.balances.iter().map(|sums| (&sums.account, sums.balance))
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
        of_chain.map(|one| Transfer { amount: self.rest(one, Instant::LATEST), ..one.clone() }).collect()
    }

    /// Returns the amount of a transfer without the parts that were reversed until an instant.
    fn rest(&self, transfer: &Transfer, until: Instant) -> u64 {
        let parts =
            self.transfers.iter().filter(|part| part.at <= until && part.part_of.as_ref() == Some(&transfer.id));
        parts.fold(transfer.amount, |rest, part| rest.remaining_after(part.amount))
    }

    /// Units that left or reached an account from an instant until another, both included, by transfers that were not
    /// undone by the second one; `None` beyond 64 bits.
    pub fn moved(&self, account: &AccountId, since: Instant, until: Instant) -> Option<u64> {
        let reversals = self.transfers.iter().filter(|transfer| transfer.at <= until);
        let undone: Vec<&Text> = reversals.filter_map(|transfer| transfer.reverses.as_ref()).collect();
        let since_then = self
            .transfers
            .iter()
            .filter(|one| one.at >= since && one.at <= until && (one.debit == *account || one.credit == *account))
            .filter(|one| one.reverses.is_none() && one.part_of.is_none() && !undone.contains(&&one.id));
        let counted = self.balances.get(account.as_str()).map(|sums| sums.counted_within(since, until));
        total(since_then.map(|one| self.rest(one, until)).chain(counted))
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

    /// Counts transfers, in the order of time, without storing them, so that the time to read a balance or a period does not grow with them.
    pub fn count(&mut self, entries: &[Entry]) -> Result<(), JournalError> {
        let mut transfers = entries.iter().filter_map(|entry| match entry {
            Entry::Post(transfer) => Some(transfer),
            Entry::Hold(_) | Entry::Release(_) => None,
        });
        transfers.try_for_each(|transfer| {
            self.move_units(transfer)?;
            self.count_units(&transfer.debit, transfer)?;
            match transfer.credit == transfer.debit {
                true => Ok(()),
                false => self.count_units(&transfer.credit, transfer),
            }
        })
    }

    fn count_units(&mut self, account: &AccountId, transfer: &Transfer) -> Result<(), JournalError> {
        let counted = self.sums(account).map(|sums| sums.add_counted(transfer.at, transfer.amount));
        counted.flatten().ok_or_else(|| JournalError::Overflow(account.clone()))
    }

    fn move_units(&mut self, transfer: &Transfer) -> Result<(), JournalError> {
        self.change(&transfer.debit, |balance| balance.checked_sub_unsigned(transfer.amount))?;
        self.change(&transfer.credit, |balance| balance.checked_add_unsigned(transfer.amount))
    }

    fn change(&mut self, account: &AccountId, change: impl FnOnce(i64) -> Option<i64>) -> Result<(), JournalError> {
        if let Some(sums) = self.sums(account) {
            sums.balance = change(sums.balance).ok_or_else(|| JournalError::Overflow(account.clone()))?;
        }
        Ok(())
    }

    /// Returns the sums of an account, which are zero before its first transfer.
    fn sums(&mut self, account: &AccountId) -> Option<&mut AccountSums> {
        let none = || AccountSums { account: account.clone(), balance: 0, counted: Vec::new() };
        self.balances.get_or(&Text::from(account.as_str()), none)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests {
    use super::*;

    fn transfer_of(id: &str, amount: u64) -> Transfer {
        Transfer {
            id: id.into(),
            chain: id.into(),
            debit: AccountId::new("from"),
            credit: AccountId::new("to"),
            amount,
            reverses: None,
            part_of: None,
            at: Instant::default(),
        }
    }

    fn transfer(id: &str, amount: u64) -> Entry {
        Entry::Post(transfer_of(id, amount))
    }

    #[test]
    fn a_counted_transfer_changes_balances_and_periods_and_is_not_stored() {
        let mut journal = Journal::default();
        let (account, begin) = (AccountId::new("to"), Instant::default());
        journal.apply(&[transfer("t_1", 3)]).unwrap();
        journal.count(&[transfer("t_2", 4)]).unwrap();
        assert_eq!((journal.balance(&account), journal.moved(&account, begin, begin)), (7, Some(7)));
        assert_eq!(journal.transfers.iter().count(), 1, "what is scanned does not grow");
        let overflow = journal.count(&[transfer("t_3", i64::MAX.unsigned_abs())]).unwrap_err();
        assert_eq!(overflow, JournalError::Overflow(AccountId::new("from")), "its units leave first");
    }

    /// Counted transfers and stored ones are the same units in each period.
    #[test]
    fn a_period_has_the_units_of_counted_transfers_as_of_stored_ones() {
        let at = |hour: i64| Instant::default().later(hour * 3_600_000);
        let posted = |id: &str, hour: i64, change: fn(&mut Transfer)| {
            let mut one = Transfer { at: at(hour), ..transfer_of(id, 10) };
            change(&mut one);
            Entry::Post(one)
        };
        let before = [
            posted("t_1", 5, |_| ()),
            posted("t_2", 6, |_| ()),
            posted("t_3", 7, |one| one.reverses = Some("t_2".into())),
            posted("t_4", 8, |one| (one.part_of, one.amount) = (Some("t_1".into()), 4)),
        ];
        let later = [
            posted("t_5", 3, |one| one.credit = AccountId::new("other")),
            posted("t_6", 3, |one| one.credit = one.debit.clone()),
            posted("t_7", 4, |_| ()),
            posted("t_8", 9, |_| ()),
            posted("t_9", 9, |_| ()),
        ];
        let (mut stored, mut counted) = (Journal::default(), Journal::default());
        stored.apply(&before).unwrap();
        counted.apply(&before).unwrap();
        stored.apply(&later).unwrap();
        later.iter().for_each(|one| counted.count(std::slice::from_ref(one)).unwrap());
        for (since, until) in (0..11).flat_map(|since| (0..11).map(move |until| (at(since), at(until)))) {
            for account in ["from", "to", "other", "none"].map(AccountId::new) {
                let of = |journal: &Journal| journal.moved(&account, since, until);
                assert_eq!(of(&counted), of(&stored), "{account} from {since} until {until}");
            }
        }
        assert_eq!(counted.moved(&AccountId::new("to"), at(4), at(9)), Some(36));
    }

    /// Both the balance and the period of an instant know nothing of later transfers, nor of what these undo.
    #[test]
    fn an_instant_has_the_counts_of_its_own_time() {
        let at = |hour: i64| Instant::default().later(hour * 3_600_000);
        let posted = |id: &str, hour: i64, amount: u64| Transfer { at: at(hour), ..transfer_of(id, amount) };
        let back = |id: &str, hour: i64, amount: u64| {
            let Transfer { debit, credit, .. } = transfer_of(id, amount);
            Transfer { debit: credit, credit: debit, ..posted(id, hour, amount) }
        };
        let transfers = [
            posted("t_1", 1, 10),
            posted("t_2", 2, 5),
            Transfer { reverses: Some("t_2".into()), ..back("t_3", 3, 5) },
            Transfer { part_of: Some("t_1".into()), ..back("t_4", 4, 3) },
            Transfer { credit: AccountId::new("from"), ..posted("t_5", 5, 2) },
        ];
        let mut journal = Journal::default();
        journal.apply(&transfers.map(Entry::Post)).unwrap();
        for (hour, expected) in [0, 10, 15, 10, 7, 7].into_iter().enumerate() {
            let until = at(i64::try_from(hour).unwrap());
            let of = |name: &str| journal.balance_until(&AccountId::new(name), until);
            assert_eq!((of("to"), of("from"), of("none")), (Some(expected), Some(-expected), Some(0)), "{hour}");
            let moved = journal.moved(&AccountId::new("to"), at(0), until);
            assert_eq!(moved, u64::try_from(expected).ok(), "{hour}");
        }
        assert_eq!(
            journal.balance_until(&AccountId::new("to"), Instant::LATEST),
            Some(journal.balance(&AccountId::new("to")))
        );
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
