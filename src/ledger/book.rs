//! Decides whether transfers and holds may happen, over the standings that the caller has opened, and collects
//! what is to be written down. It must not know where standings come from or where entries go.

use super::{AccountId, Entry, Hold, Session, Standing, Transfer};
use crate::text::{Text, joined};
use crate::time::Instant;

/// An account has fewer units than were asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    /// The account.
    pub account: AccountId,
    /// Units asked for.
    pub wanted: u64,
    /// Units there are.
    pub available: u64,
}

/// One request's view of the ledger. Accounts that were never opened are without limit.
#[derive(Debug, Clone, Default)]
pub struct Book {
    // A request touches a handful of accounts, so that a list is enough.
    accounts: Vec<(AccountId, Standing)>,
    entries: Vec<Entry>,
}

impl Book {
    /// Makes an account known with its standing; the first opening counts.
    pub fn open(&mut self, account: AccountId, standing: Standing) {
        if self.standing(&account).is_none() {
            self.accounts.push((account, standing));
        }
    }

    /// Units that may be taken from an account; `None` is without limit.
    pub fn available(&self, account: &AccountId) -> Option<u64> {
        self.standing(account).and_then(Standing::available)
    }

    /// Posts a chain: every transfer, or none and the first shortfall.
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

    /// Sets units aside, or says what is missing.
    pub fn hold(&mut self, hold: Hold) -> Result<(), Shortfall> {
        self.check(&hold.account, hold.amount)?;
        self.change(&hold.account, |standing| standing.held = standing.held.saturating_add(hold.amount));
        self.entries.push(Entry::Hold(hold));
        Ok(())
    }

    /// Gives back all holds of a session. The standings were opened without them, so nothing else changes.
    pub fn release(&mut self, session: Session) {
        self.entries.push(Entry::Release(session));
    }

    /// Posts the reverse of a chain. Giving back can never fall short of a limit.
    pub fn reverse(&mut self, transfers: &[Transfer], chain: &Text, at: Instant) {
        for (count, transfer) in transfers.iter().enumerate() {
            let back = Transfer {
                id: joined(&[chain, ".", &count.to_string()]),
                chain: chain.clone(),
                debit: transfer.credit.clone(),
                credit: transfer.debit.clone(),
                amount: transfer.amount,
                reverses: Some(transfer.id.clone()),
                at,
            };
            self.add(&back.debit, back.amount, false);
            self.add(&back.credit, back.amount, true);
            self.entries.push(Entry::Post(back));
        }
    }

    /// What is to be written down, in order.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    fn move_units(&mut self, transfer: &Transfer) -> Result<(), Shortfall> {
        self.check(&transfer.debit, transfer.amount)?;
        self.add(&transfer.debit, transfer.amount, false);
        self.add(&transfer.credit, transfer.amount, true);
        Ok(())
    }

    fn check(&self, account: &AccountId, wanted: u64) -> Result<(), Shortfall> {
        match self.available(account) {
            Some(available) if available < wanted => Err(Shortfall { account: account.clone(), wanted, available }),
            _ => Ok(()),
        }
    }

    fn add(&mut self, account: &AccountId, amount: u64, gain: bool) {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.change(account, |standing| {
            standing.balance = match gain {
                true => standing.balance.saturating_add(amount),
                false => standing.balance.saturating_sub(amount),
            }
        });
    }

    fn standing(&self, account: &AccountId) -> Option<&Standing> {
        self.accounts.iter().find(|(known, _)| known == account).map(|(_, standing)| standing)
    }

    fn change(&mut self, account: &AccountId, change: impl FnOnce(&mut Standing)) {
        self.open(account.clone(), Standing::default());
        if let Some((_, standing)) = self.accounts.iter_mut().find(|(known, _)| known == account) {
            change(standing);
        }
    }
}
