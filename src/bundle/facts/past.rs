//! Lets rules in memory decide about the past, one order after the other, with what the earlier ones have used.

use crate::bundle::facts::{PastDecisions, RuleSetFacts, add_email};
use crate::decide::{NewCustomer, RedemptionCounts};
use crate::time::Instant;

impl RuleSetFacts {
    /// Lets the decisions that follow be those of a past instant, by the offers that are in force at another one.
    pub fn decide_past(&mut self, now: Instant, in_force_at: Instant) {
        self.past = Some(PastDecisions { now, in_force_at });
    }

    /// Adds what a redemption counts to balances and periods, and its new customer under each of their names. Returns `false` if a
    /// balance would leave 64 bits. Rules without counts have nothing to change: a decision that needs one lacks it.
    pub fn add_counts(&mut self, counts: RedemptionCounts) -> bool {
        if self.journal.as_mut().is_some_and(|journal| journal.count(&counts.entries).is_err()) {
            return false;
        }
        if let Some(NewCustomer { customer, sent_id }) = counts.new_customer {
            let names = [customer.id.clone(), customer.source_id.clone(), sent_id];
            let position = self.customers.len();
            for name in names.into_iter().flatten().filter(|name| !name.is_empty()) {
                self.customers.insert(name, customer.clone());
            }
            if let Some(emails) = self.emails.get_mut() {
                add_email(emails, &self.customers, position);
            }
        }
        true
    }
}
