//! Keeps a ledger in memory: what has moved and what is held. It is the store of a prepared engine and the plain
//! reference for the one in SQL. It decides nothing: whether an entry may be written was decided in the book.

use super::{AccountId, Entry, Hold, Session, Standing, Transfer};
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

/// A transfer was written under an id that another one has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict(pub Text);

impl Journal {
    /// How an account stands at a moment for whoever has a session.
    pub fn standing(
        &self,
        account: &AccountId,
        allotment: Option<u64>,
        now: Instant,
        own: Option<&Session>,
    ) -> Standing {
        Standing { allotment, balance: self.balance(account), held: self.held(account, now, own) }
    }

    /// The net of all transfers of an account.
    pub fn balance(&self, account: &AccountId) -> i64 {
        self.balances.get(account.as_str()).map_or(0, |(_, balance)| *balance)
    }

    /// Every account that has moved, with its balance.
    pub fn balances(&self) -> impl Iterator<Item = (&AccountId, i64)> {
        self.balances.iter().map(|(account, balance)| (account, *balance))
    }

    /// Units of an account under unexpired holds of other sessions than one's own.
    pub fn held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> u64 {
        let is_own = |hold: &Hold| own.is_some_and(|own| own.has(hold));
        self.holds
            .iter()
            .filter(|hold| hold.account == *account && hold.expires_at > now && !is_own(hold))
            .fold(0, |total, hold| total.saturating_add(hold.amount))
    }

    /// The transfers of a chain, in order.
    pub fn chain(&self, chain: &str) -> Vec<Transfer> {
        let of_chain = self.transfers.iter().filter(|transfer| transfer.chain == chain);
        of_chain.cloned().collect()
    }

    /// Units that left or reached an account since a moment, by transfers that have not been undone.
    pub fn moved(&self, account: &AccountId, since: Instant) -> u64 {
        let undone: Vec<&Text> = self.transfers.iter().filter_map(|transfer| transfer.reverses.as_ref()).collect();
        self.transfers
            .iter()
            .filter(|one| one.at >= since && (one.debit == *account || one.credit == *account))
            .filter(|one| one.reverses.is_none() && !undone.contains(&&one.id))
            .fold(0, |total, one| total.saturating_add(one.amount))
    }

    /// Writes entries down. A transfer that is there already is not written again.
    pub fn apply(&mut self, entries: &[Entry]) -> Result<(), Conflict> {
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

    fn write(&mut self, transfer: &Transfer) -> Result<(), Conflict> {
        match self.transfers.get(&transfer.id) {
            Some(known) if known == transfer => return Ok(()),
            Some(_) => return Err(Conflict(transfer.id.clone())),
            None => {}
        }
        let amount = i64::try_from(transfer.amount).unwrap_or(i64::MAX);
        self.add(&transfer.debit, amount.saturating_neg());
        self.add(&transfer.credit, amount);
        self.transfers.put(transfer.id.clone(), transfer.clone());
        Ok(())
    }

    fn add(&mut self, account: &AccountId, amount: i64) {
        let name = Text::from(account.as_str());
        if let Some((_, balance)) = self.balances.get_or(&name, || (account.clone(), 0)) {
            *balance = balance.saturating_add(amount);
        }
    }
}
