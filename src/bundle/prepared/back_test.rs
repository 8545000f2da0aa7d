//! Tries prepared rules on orders of the past, one after the other.

use crate::bundle::PreparedRules;
use crate::decide;
use crate::id::Context;
use crate::time::Instant;
use crate::wire::request::read_redeemables;

impl PreparedRules {
    /// Lets the decisions that follow be those of a past instant, which their contexts have too. Offers count that are in
    /// force at another instant, and transfers after `now` are in no day, week or month.
    ///
    /// ```
    /// # use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// let rules = br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 }, "start_date": "2026-03-01" }] }"#;
    /// let mut prepared = PreparedRules::new(rules).unwrap();
    /// let context = Context { now: Instant::parse("2025-03-01").unwrap(), seed: [7; 32], first_number: None };
    /// let request = br#"{ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1000 } }"#;
    /// let answer = |prepared: &PreparedRules| String::from_utf8(prepared.validate(request, &context).body).unwrap();
    /// let is_valid = |prepared: &PreparedRules| answer(prepared).contains(r#""valid":true"#);
    /// assert!(!is_valid(&prepared));
    /// prepared.decide_past(context.now, Instant::parse("2026-03-02").unwrap());
    /// assert!(is_valid(&prepared));
    /// ```
    pub fn decide_past(&mut self, now: Instant, in_force_at: Instant) {
        self.facts.decide_past(now, in_force_at);
    }

    /// Counts a redemption of a request in JSON: decisions by these rules then find quantities, limits and budgets with it, also those of its
    /// day, week and month. Returns whether it was counted: a request is not that fails, lacks a fact, or leaves 64 bits.
    ///
    /// ```
    /// # use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// # let context = |seed| Context { now: Instant::default(), seed: [seed; 32], first_number: None };
    /// let rules = br#"{ "complete": true, "counted": true, "transfers": [], "vouchers": [{ "id": "v_1", "code": "ONE",
    ///     "discount": { "type": "PERCENT", "percent_off": 10 }, "redemption": { "quantity": 1 } }] }"#;
    /// let mut prepared = PreparedRules::new(rules).unwrap();
    /// let request = br#"{ "redeemables": [{ "object": "voucher", "id": "ONE" }], "order": { "amount": 1000 } }"#;
    /// assert!(prepared.count(request, &context(1)));
    /// assert!(!prepared.count(request, &context(2)), "the code is used up");
    /// ```
    pub fn count(&mut self, request: &[u8], context: &Context) -> bool {
        let Ok(request) = self.read(read_redeemables(request), context) else { return false };
        match decide::count_redemption(&self.facts, &request, context) {
            Ok(Some(counts)) => self.facts.add_counts(counts),
            Ok(None) | Err(_) => false,
        }
    }
}
