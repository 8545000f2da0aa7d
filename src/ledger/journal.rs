//! Keeps a ledger in memory: what has moved and what is held. It is the store of a prepared engine and the plain
//! reference for the one in SQL. It decides nothing: whether an entry may be written was decided in the book.

use std::collections::BTreeMap;

use super::{AccountId, Entry, Hold, Standing, Transfer};
use crate::text::Text;
use crate::time::Instant;

/// All transfers and holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Journal {
    balances: BTreeMap<AccountId, i64>,
    holds: BTreeMap<(Text, AccountId), Hold>,
    transfers: BTreeMap<Text, Transfer>,
}

/// A transfer was written under an id that another one has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict(pub Text);

impl Journal {
    /// How an account stands at a moment for whoever has `key`.
    pub fn standing(&self, account: &AccountId, allotment: Option<u64>, now: Instant, key: Option<&str>) -> Standing {
        Standing { allotment, balance: self.balance(account), held: self.held(account, now, key) }
    }

    /// The net of all transfers of an account.
    pub fn balance(&self, account: &AccountId) -> i64 {
        self.balances.get(account).copied().unwrap_or(0)
    }

    /// Every account that has moved, with its balance.
    pub fn balances(&self) -> impl Iterator<Item = (&AccountId, i64)> {
        self.balances.iter().map(|(account, balance)| (account, *balance))
    }

    /// Units of an account under unexpired holds of other keys than `key`.
    pub fn held(&self, account: &AccountId, now: Instant, key: Option<&str>) -> u64 {
        self.holds
            .values()
            .filter(|hold| hold.account == *account && hold.expires_at > now && Some(hold.key.as_str()) != key)
            .fold(0, |total, hold| total.saturating_add(hold.amount))
    }

    /// The transfers of a chain, in order.
    pub fn chain(&self, chain: &str) -> Vec<Transfer> {
        let of_chain = self.transfers.values().filter(|transfer| transfer.chain == chain);
        of_chain.cloned().collect()
    }

    /// Writes entries down. A transfer that is there already is not written again.
    pub fn apply(&mut self, entries: &[Entry]) -> Result<(), Conflict> {
        for entry in entries {
            match entry {
                Entry::Post(transfer) => self.write(transfer)?,
                Entry::Hold(hold) => {
                    let place = (hold.key.clone(), hold.account.clone());
                    self.holds.insert(place, hold.clone());
                }
                Entry::Release(key) => self.holds.retain(|(holder, _), _| holder != key),
            }
        }
        Ok(())
    }

    fn write(&mut self, transfer: &Transfer) -> Result<(), Conflict> {
        match self.transfers.get(&transfer.id) {
            Some(known) if known == transfer => return Ok(()),
            Some(_) => return Err(Conflict(transfer.id.clone())),
            None => {}
        }
        let amount = i64::try_from(transfer.amount).unwrap_or(i64::MAX);
        let debit = self.balances.entry(transfer.debit.clone()).or_default();
        *debit = debit.saturating_sub(amount);
        let credit = self.balances.entry(transfer.credit.clone()).or_default();
        *credit = credit.saturating_add(amount);
        self.transfers.insert(transfer.id.clone(), transfer.clone());
        Ok(())
    }
}
