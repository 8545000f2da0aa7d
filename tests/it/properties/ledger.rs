//! Tests invariants 13 to 18 and 21: the ledger against a second model that stores plain lists and adds them up each time. Two sessions and
//! an unlocked caller act in random order while time passes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use scrip::ledger::{AccountId, Book, Entry, Hold, HoldOwner, Journal, Transfer};
use scrip::text::Text;
use scrip::time::Instant;

use crate::properties::holds;

/// The total that may ever be taken from each account; the last has no limit.
const QUOTAS: [Option<u64>; 3] = [Some(10), Some(5_000), None];

/// Amounts by account.
type Amounts = BTreeMap<usize, u64>;

#[derive(Debug, Clone)]
enum Act {
    /// Spend with a session, or without one.
    Spend(Option<usize>, Amounts),
    /// Set holds for a session; they replace the previous ones.
    Lock(usize, Amounts, i64),
    /// Release the holds of a session.
    Release(usize),
    /// Reverse one of the chains so far.
    Undo(usize),
    /// Post one of the chains so far again.
    Repeat(usize),
    /// Post different transfers under the id of one of the chains so far.
    Forge(usize),
    /// Let time pass.
    Wait(i64),
}

fn amounts() -> impl Strategy<Value = Amounts> {
    let amount = prop_oneof![3 => 1..4_u64, 2 => 1..3_000_u64, 1 => 4_000..6_000_u64];
    prop::collection::btree_map(0..QUOTAS.len(), amount, 1..3)
}

fn act() -> impl Strategy<Value = Act> {
    let owner = prop_oneof![Just(None), Just(Some(0)), Just(Some(1))];
    prop_oneof![
        4 => (owner, amounts()).prop_map(|(owner, amounts)| Act::Spend(owner, amounts)),
        4 => (0..2_usize, amounts(), 1..5_000_i64).prop_map(|(owner, amounts, ttl)| Act::Lock(owner, amounts, ttl)),
        1 => (0..2_usize).prop_map(Act::Release),
        2 => any::<u8>().prop_map(|position| Act::Undo(usize::from(position))),
        1 => any::<u8>().prop_map(|position| Act::Repeat(usize::from(position))),
        1 => any::<u8>().prop_map(|position| Act::Forge(usize::from(position))),
        2 => (1..4_000_i64).prop_map(Act::Wait),
    ]
}

fn account(position: usize) -> AccountId {
    AccountId::new(format!("account/{position}"))
}

/// Both sessions use the same key; each reaches only its own holds.
fn owner(session: usize) -> Text {
    Text::from(format!("customer/{session}"))
}

fn own(session: usize) -> HoldOwner {
    HoldOwner { key: Text::from("ssn"), owner: Some(owner(session)), servers: false }
}

/// Returns a server's owner, which reaches all holds under the key.
fn server() -> HoldOwner {
    HoldOwner { key: Text::from("ssn"), owner: None, servers: true }
}

/// The second model: every chain and every hold, unchanged.
#[derive(Default)]
struct LedgerModel {
    chains: Vec<(Amounts, bool)>,
    holds: Vec<(usize, usize, u64, i64)>,
}

impl LedgerModel {
    fn spent(&self, position: usize) -> u64 {
        self.chains.iter().filter(|(_, undone)| !undone).filter_map(|(amounts, _)| amounts.get(&position)).sum()
    }

    fn held_by_others(&self, position: usize, session: Option<usize>, now: i64) -> u64 {
        let counts = |hold: &&(usize, usize, u64, i64)| hold.1 == position && Some(hold.0) != session && hold.3 > now;
        self.holds.iter().filter(counts).map(|hold| hold.2).sum()
    }

    fn is_possible(&self, amounts: &Amounts, session: Option<usize>, now: i64) -> bool {
        amounts.iter().all(|(position, amount)| {
            let used = self.spent(*position) + self.held_by_others(*position, session, now) + amount;
            QUOTAS[*position].is_none_or(|quota| used <= quota)
        })
    }
}

/// The tested ledger with its model.
struct LedgerTest {
    journal: Journal,
    plain: LedgerModel,
    written: Vec<Vec<Entry>>,
    now: i64,
    count: usize,
}

impl LedgerTest {
    fn instant(&self) -> Instant {
        Instant::from_millis(self.now).unwrap()
    }

    fn book(&self, session: Option<usize>) -> Book {
        let mut book = Book::default();
        let own = session.map(own);
        for (position, quota) in QUOTAS.iter().enumerate() {
            let account_state =
                self.journal.account_state(&account(position), *quota, self.instant(), own.as_ref()).unwrap();
            book.open(account(position), account_state);
        }
        book
    }

    fn chain(&mut self, amounts: &Amounts) -> Vec<Transfer> {
        self.count += 1;
        let name = Text::from(format!("chain_{}", self.count));
        let transfer = |(position, amount): (&usize, &u64)| Transfer {
            id: format!("{name}.{position}").into(),
            chain: name.clone(),
            debit: account(*position),
            credit: AccountId::new(format!("account/{position}/used")),
            amount: *amount,
            reverses: None,
            part_of: None,
            at: self.instant(),
        };
        amounts.iter().map(transfer).collect()
    }

    fn spend(&mut self, session: Option<usize>, amounts: &Amounts) -> TestCaseResult {
        let mut book = self.book(session);
        let chain = self.chain(amounts);
        let before: Vec<Option<u64>> = (0..QUOTAS.len()).map(|position| book.available(&account(position))).collect();
        let posted = book.post(chain);
        prop_assert_eq!(posted.is_ok(), self.plain.is_possible(amounts, session, self.now), "spending {:?}", amounts);
        if posted.is_err() {
            let after: Vec<Option<u64>> =
                (0..QUOTAS.len()).map(|position| book.available(&account(position))).collect();
            prop_assert_eq!(before, after, "a refused chain left something behind");
            prop_assert!(book.into_entries().is_empty(), "a refused chain is to be written");
            return Ok(());
        }
        if let Some(session) = session {
            book.release(own(session));
            self.plain.holds.retain(|hold| hold.0 != session);
        }
        let entries = book.into_entries();
        self.journal.apply(&entries).unwrap();
        self.written.push(entries);
        self.plain.chains.push((amounts.clone(), false));
        Ok(())
    }

    fn lock(&mut self, session: usize, amounts: &Amounts, ttl: i64) -> TestCaseResult {
        let mut book = self.book(Some(session));
        book.release(own(session));
        let expires_at = Instant::from_millis(self.now + ttl).unwrap();
        let holds = amounts.iter().map(|(position, amount)| Hold {
            key: own(session).key,
            owner: owner(session),
            account: account(*position),
            amount: *amount,
            expires_at,
        });
        let held: Result<Vec<()>, _> = holds.map(|hold| book.hold(hold)).collect();
        prop_assert_eq!(
            held.is_ok(),
            self.plain.is_possible(amounts, Some(session), self.now),
            "holding {:?}",
            amounts
        );
        if held.is_ok() {
            self.journal.apply(&book.into_entries()).unwrap();
            self.plain.holds.retain(|hold| hold.0 != session);
            self.plain
                .holds
                .extend(amounts.iter().map(|(position, amount)| (session, *position, *amount, self.now + ttl)));
        }
        Ok(())
    }

    fn undo(&mut self, position: usize) {
        let open: Vec<usize> =
            (0..self.plain.chains.len()).filter(|position| !self.plain.chains[*position].1).collect();
        if open.is_empty() {
            return;
        }
        let chosen = open[position % open.len()];
        let Some(Entry::Post(first)) = self.written[chosen].first() else { return };
        let transfers = self.journal.chain(&first.chain);
        let mut book = self.book(None);
        book.reverse(&transfers, &format!("{}.back", first.chain).into(), self.instant()).unwrap();
        let entries = book.into_entries();
        self.journal.apply(&entries).unwrap();
        let once = self.journal.clone();
        self.journal.apply(&entries).unwrap();
        assert_eq!(once, self.journal, "a reversal written twice counts twice");
        self.plain.chains[chosen].1 = true;
    }

    fn repeat(&mut self, position: usize, forged: bool) -> TestCaseResult {
        if self.written.is_empty() {
            return Ok(());
        }
        let posts = |entry: &&Entry| matches!(entry, Entry::Post(_));
        let mut entries: Vec<Entry> =
            self.written[position % self.written.len()].iter().filter(posts).cloned().collect();
        let before = self.journal.clone();
        if forged {
            let Some(Entry::Post(transfer)) = entries.first_mut() else { return Ok(()) };
            transfer.amount += 1;
            prop_assert!(self.journal.apply(&entries).is_err(), "another transfer under a known id was written");
        } else {
            prop_assert!(self.journal.apply(&entries).is_ok());
        }
        prop_assert_eq!(&before, &self.journal, "writing again changed something");
        Ok(())
    }

    fn take(&mut self, act: &Act) -> TestCaseResult {
        match act {
            Act::Spend(session, amounts) => self.spend(*session, amounts)?,
            Act::Lock(session, amounts, ttl) => self.lock(*session, amounts, *ttl)?,
            Act::Release(session) => {
                let mut book = Book::default();
                book.release(own(*session));
                self.journal.apply(&book.into_entries()).unwrap();
                self.plain.holds.retain(|hold| hold.0 != *session);
            }
            Act::Undo(position) => self.undo(*position),
            Act::Repeat(position) => self.repeat(*position, false)?,
            Act::Forge(position) => self.repeat(*position, true)?,
            Act::Wait(millis) => self.now += millis,
        }
        self.audit()
    }

    /// Checks the conditions that must be true after every operation.
    fn audit(&self) -> TestCaseResult {
        let sum: i64 = self.journal.balances().map(|(_, balance)| balance).sum();
        prop_assert_eq!(sum, 0, "units were made or lost");
        for (position, quota) in QUOTAS.iter().enumerate() {
            let taken = self.plain.spent(position);
            prop_assert_eq!(self.journal.balance(&account(position)), -i64::try_from(taken).unwrap());
            prop_assert!(quota.is_none_or(|quota| taken <= quota), "more was taken than there was");
            for session in [None, Some(0), Some(1)] {
                let held = self.journal.held(&account(position), self.instant(), session.map(own).as_ref());
                prop_assert_eq!(held, Some(self.plain.held_by_others(position, session, self.now)));
            }
            let beyond = self.journal.held(&account(position), self.instant(), Some(&server()));
            prop_assert_eq!(beyond, Some(0), "a server does not reach what is held under its key");
            let all = self.plain.held_by_others(position, None, self.now);
            prop_assert!(quota.is_none_or(|quota| taken + all <= quota), "more is held than there is");
            let account_state = self.journal.account_state(&account(position), *quota, self.instant(), None).unwrap();
            prop_assert_eq!(account_state.taken(), taken);
            prop_assert_eq!(account_state.available(), quota.map(|quota| quota - taken - all));
        }
        Ok(())
    }
}

#[test]
fn the_ledger_equals_the_second_model() {
    holds(1_500, prop::collection::vec(act(), 1..60), |acts| {
        let journal = Journal::default();
        let mut trial = LedgerTest {
            journal,
            plain: LedgerModel::default(),
            written: Vec::new(),
            now: 1_772_366_400_000,
            count: 0,
        };
        for act in &acts {
            trial.take(act)?;
        }
        Ok(())
    });
}

/// A hold that is spent under its key is a spending. A released or expired hold has no effect.
#[test]
fn a_hold_has_no_effect_after_its_spending() {
    holds(1_000, (amounts(), amounts(), 0..3_u8), |(held, spent, end)| {
        let fresh = || LedgerTest {
            journal: Journal::default(),
            plain: LedgerModel::default(),
            written: Vec::new(),
            now: 1_772_366_400_000,
            count: 0,
        };
        let (mut locked, mut plain) = (fresh(), fresh());
        locked.take(&Act::Lock(0, held, 1_000))?;
        match end {
            0 => locked.take(&Act::Release(0))?,
            1 => locked.take(&Act::Wait(1_000))?,
            _ => {}
        }
        plain.now = locked.now;
        let spender = Some(0);
        locked.take(&Act::Spend(spender, spent.clone()))?;
        plain.take(&Act::Spend(spender, spent))?;
        for position in 0..QUOTAS.len() {
            prop_assert_eq!(locked.journal.balance(&account(position)), plain.journal.balance(&account(position)));
        }
        Ok(())
    });
}
