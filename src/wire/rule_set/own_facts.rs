//! Reads what a bundle's supplement adds for its customer in addition to the lists: counts, balances of the customer's vouchers, and
//! whether all of these are given.

use crate::ledger::AccountId;
use crate::ordered_map::OrderedMap;
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::rule_set::own_counts::OwnCounts;

const COUNTS: &str = "own_counts";
const BALANCES: &str = "own_balances";
const CANDIDATES: &str = "own_candidates";

/// The facts about one customer that are in no list.
#[derive(Debug, Clone, Default)]
pub struct OwnFacts {
    /// The counts of the customer.
    pub counts: OwnCounts,
    /// `true` if all vouchers are listed that only this customer's qualifications list.
    pub has_candidates: bool,
    /// The balances of the accounts of the customer's vouchers, of which no session holds anything.
    balances: OrderedMap<i64>,
}

impl OwnFacts {
    /// Returns whether a member of a set of rules contains such facts.
    pub(super) fn has_member(name: &str) -> bool {
        [COUNTS, BALANCES, CANDIDATES].contains(&name)
    }

    /// Reads the members of a set of rules.
    pub(super) fn read(body: &JsonCursor<'_>) -> OwnFacts {
        let mut own = OwnFacts::default();
        body.fill(COUNTS, &mut own.counts, OwnCounts::read);
        body.fill(CANDIDATES, &mut own.has_candidates, read::flag);
        if let Some(balances) = body.get(BALANCES) {
            balances.object();
            for (account, balance) in balances.members() {
                let read = balance.node.as_i64();
                own.balances.insert(Text::from(account), balance.or_wrong(read, "must be an integer"));
            }
        }
        own
    }

    /// Returns the balance of an account of one of the customer's vouchers, if it is known.
    pub fn balance(&self, account: &AccountId) -> Option<i64> {
        self.balances.get(account.as_str()).copied()
    }
}
