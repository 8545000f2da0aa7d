//! Tests invariants 13 to 18 and 21: the ledger against a second model that keeps plain lists and adds them up each time. Two sessions and
//! an unlocked caller act in random order while time passes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::TestCaseResult;
use scrip::ledger::{AccountId, Book, Entry, Hold, HoldOwner, Journal, Transfer};
use scrip::text::Text;
use scrip::time::Instant;

use crate::properties::holds;

/// The total that may ever be taken from each account; the last has no limit.
const ALLOTMENTS: [Option<u64>; 3] = [Some(10), Some(5_000), None];

/// Amounts by account.
type Legs = BTreeMap<usize, u64>;

#[derive(Debug, Clone)]
enum Act {
    /// Spend with a session, or without one.
    Spend(Option<usize>, Legs),
    /// Set holds for a session; they replace the previous ones.
    Lock(usize, Legs, i64),
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

fn legs() -> impl Strategy<Value = Legs> {
    let amount = prop_oneof![3 => 1..4_u64, 2 => 1..3_000_u64, 1 => 4_000..6_000_u64];
    prop::collection::btree_map(0..ALLOTMENTS.len(), amount, 1..3)
}

fn act() -> impl Strategy<Value = Act> {
    let who = prop_oneof![Just(None), Just(Some(0)), Just(Some(1))];
    prop_oneof![
        4 => (who, legs()).prop_map(|(who, legs)| Act::Spend(who, legs)),
        4 => (0..2_usize, legs(), 1..5_000_i64).prop_map(|(who, legs, ttl)| Act::Lock(who, legs, ttl)),
        1 => (0..2_usize).prop_map(Act::Release),
        2 => any::<u8>().prop_map(|place| Act::Undo(usize::from(place))),
        1 => any::<u8>().prop_map(|place| Act::Repeat(usize::from(place))),
        1 => any::<u8>().prop_map(|place| Act::Forge(usize::from(place))),
        2 => (1..4_000_i64).prop_map(Act::Wait),
    ]
}

fn account(place: usize) -> AccountId {
    AccountId::new(format!("account/{place}"))
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
    chains: Vec<(Legs, bool)>,
    holds: Vec<(usize, usize, u64, i64)>,
}

impl LedgerModel {
    fn spent(&self, place: usize) -> u64 {
        self.chains.iter().filter(|(_, undone)| !undone).filter_map(|(legs, _)| legs.get(&place)).sum()
    }

    fn held_by_others(&self, place: usize, session: Option<usize>, now: i64) -> u64 {
        let counts = |hold: &&(usize, usize, u64, i64)| hold.1 == place && Some(hold.0) != session && hold.3 > now;
        self.holds.iter().filter(counts).map(|hold| hold.2).sum()
    }

    fn can(&self, legs: &Legs, session: Option<usize>, now: i64) -> bool {
        legs.iter().all(|(place, amount)| {
            let used = self.spent(*place) + self.held_by_others(*place, session, now) + amount;
            ALLOTMENTS[*place].is_none_or(|allotment| used <= allotment)
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
        for (place, allotment) in ALLOTMENTS.iter().enumerate() {
            let standing = self.journal.standing(&account(place), *allotment, self.instant(), own.as_ref()).unwrap();
            book.open(account(place), standing);
        }
        book
    }

    fn chain(&mut self, legs: &Legs) -> Vec<Transfer> {
        self.count += 1;
        let name = Text::from(format!("chain_{}", self.count));
        let leg = |(place, amount): (&usize, &u64)| Transfer {
            id: format!("{name}.{place}").into(),
            chain: name.clone(),
            debit: account(*place),
            credit: AccountId::new(format!("account/{place}/used")),
            amount: *amount,
            reverses: None,
            part_of: None,
            at: self.instant(),
        };
        legs.iter().map(leg).collect()
    }

    fn spend(&mut self, session: Option<usize>, legs: &Legs) -> TestCaseResult {
        let mut book = self.book(session);
        let chain = self.chain(legs);
        let before: Vec<Option<u64>> = (0..ALLOTMENTS.len()).map(|place| book.available(&account(place))).collect();
        let posted = book.post(chain);
        prop_assert_eq!(posted.is_ok(), self.plain.can(legs, session, self.now), "spending {:?}", legs);
        if posted.is_err() {
            let after: Vec<Option<u64>> = (0..ALLOTMENTS.len()).map(|place| book.available(&account(place))).collect();
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
        self.plain.chains.push((legs.clone(), false));
        Ok(())
    }

    fn lock(&mut self, session: usize, legs: &Legs, ttl: i64) -> TestCaseResult {
        let mut book = self.book(Some(session));
        book.release(own(session));
        let expires_at = Instant::from_millis(self.now + ttl).unwrap();
        let holds = legs.iter().map(|(place, amount)| Hold {
            key: own(session).key,
            owner: owner(session),
            account: account(*place),
            amount: *amount,
            expires_at,
        });
        let held: Result<Vec<()>, _> = holds.map(|hold| book.hold(hold)).collect();
        prop_assert_eq!(held.is_ok(), self.plain.can(legs, Some(session), self.now), "holding {:?}", legs);
        if held.is_ok() {
            self.journal.apply(&book.into_entries()).unwrap();
            self.plain.holds.retain(|hold| hold.0 != session);
            self.plain.holds.extend(legs.iter().map(|(place, amount)| (session, *place, *amount, self.now + ttl)));
        }
        Ok(())
    }

    fn undo(&mut self, place: usize) {
        let open: Vec<usize> = (0..self.plain.chains.len()).filter(|place| !self.plain.chains[*place].1).collect();
        if open.is_empty() {
            return;
        }
        let chosen = open[place % open.len()];
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

    fn repeat(&mut self, place: usize, forged: bool) -> TestCaseResult {
        if self.written.is_empty() {
            return Ok(());
        }
        let posts = |entry: &&Entry| matches!(entry, Entry::Post(_));
        let mut entries: Vec<Entry> = self.written[place % self.written.len()].iter().filter(posts).cloned().collect();
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
            Act::Spend(session, legs) => self.spend(*session, legs)?,
            Act::Lock(session, legs, ttl) => self.lock(*session, legs, *ttl)?,
            Act::Release(session) => {
                let mut book = Book::default();
                book.release(own(*session));
                self.journal.apply(&book.into_entries()).unwrap();
                self.plain.holds.retain(|hold| hold.0 != *session);
            }
            Act::Undo(place) => self.undo(*place),
            Act::Repeat(place) => self.repeat(*place, false)?,
            Act::Forge(place) => self.repeat(*place, true)?,
            Act::Wait(millis) => self.now += millis,
        }
        self.audit()
    }

    /// Checks the conditions that must be true after every operation.
    fn audit(&self) -> TestCaseResult {
        let sum: i64 = self.journal.balances().map(|(_, balance)| balance).sum();
        prop_assert_eq!(sum, 0, "units were made or lost");
        for (place, allotment) in ALLOTMENTS.iter().enumerate() {
            let taken = self.plain.spent(place);
            prop_assert_eq!(self.journal.balance(&account(place)), -i64::try_from(taken).unwrap());
            prop_assert!(allotment.is_none_or(|allotment| taken <= allotment), "more was taken than there was");
            for session in [None, Some(0), Some(1)] {
                let held = self.journal.held(&account(place), self.instant(), session.map(own).as_ref());
                prop_assert_eq!(held, Some(self.plain.held_by_others(place, session, self.now)));
            }
            let beyond = self.journal.held(&account(place), self.instant(), Some(&server()));
            prop_assert_eq!(beyond, Some(0), "a server does not reach what is held under its key");
            let all = self.plain.held_by_others(place, None, self.now);
            prop_assert!(allotment.is_none_or(|allotment| taken + all <= allotment), "more is held than there is");
            let standing = self.journal.standing(&account(place), *allotment, self.instant(), None).unwrap();
            prop_assert_eq!(standing.taken(), taken);
            prop_assert_eq!(standing.available(), allotment.map(|allotment| allotment - taken - all));
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
    holds(1_000, (legs(), legs(), 0..3_u8), |(held, spent, end)| {
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
        for place in 0..ALLOTMENTS.len() {
            prop_assert_eq!(locked.journal.balance(&account(place)), plain.journal.balance(&account(place)));
        }
        Ok(())
    });
}
