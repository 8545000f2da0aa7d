//! Answers requests from a prepared set of rules, JSON in and JSON out. It must not know how its rules came here.

use crate::bundle::facts::RuleSetFacts;
use crate::decide;
use crate::id::Context;
use crate::model::request::{Channel, Redeemables};
use crate::refusal::Refusal;
use crate::text::sha256_hex;
use crate::wire::decision::write_validation;
use crate::wire::error;
use crate::wire::problem::Problem;
use crate::wire::qualification::{read_qualification, write_qualification};
use crate::wire::redemption::write_redemption;
use crate::wire::request::{read_redeemables, read_rollback};
use crate::wire::rollback::{Service, write_rollback};
use crate::wire::rule_set::RuleSet;

/// A set of rules, read once.
#[derive(Debug, Clone)]
pub struct Prepared {
    facts: RuleSetFacts,
    hash: String,
}

/// An answer with its HTTP status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// 200, or what the error body says.
    pub status: u16,
    /// JSON.
    pub body: Vec<u8>,
}

impl Answer {
    fn refused(refusal: &Refusal, context: &Context) -> Answer {
        Answer { status: refusal.reason.code(), body: error::write(refusal, &context.request_id()) }
    }

    fn unreadable(problem: &Problem, context: &Context) -> Answer {
        Answer { status: 400, body: error::write_problem(problem, &context.request_id()) }
    }
}

impl Prepared {
    /// Reads a set of rules.
    ///
    /// ```
    /// use scrip::{Context, bundle::Prepared, time::Instant};
    /// let rules = br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }] }"#;
    /// let prepared = Prepared::new(rules).unwrap();
    /// let context = Context { now: Instant::parse("2026-03-01").unwrap(), seed: [7; 32] };
    /// let basket = br#"{ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1005 } }"#;
    /// let answer = String::from_utf8(prepared.validate(basket, &context).body).unwrap();
    /// assert!(answer.contains(r#""total_discount_amount":101,"total_amount":904"#));
    /// ```
    pub fn new(rules: &[u8]) -> Result<Prepared, Problem> {
        let facts = RuleSetFacts::new(RuleSet::read(rules)?);
        Ok(Prepared { facts, hash: sha256_hex(rules) })
    }

    /// The SHA-256 of the rules as they were read: the name of a bundle.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The facts, for deciding without JSON.
    pub fn facts(&self) -> &RuleSetFacts {
        &self.facts
    }

    /// Compiles what all qualifications have in common, once; without this the first of them does.
    pub fn look_through(&self) {
        self.facts.look_through();
    }

    /// Reads a request as it comes through whoever has the rules; `Err` is the answer to one that is wrong.
    fn read(&self, request: &[u8], context: &Context) -> Result<Redeemables, Answer> {
        let mut request = read_redeemables(request).map_err(|problem| Answer::unreadable(&problem, context))?;
        self.receive(&mut request, context)?;
        Ok(request)
    }

    fn receive(&self, request: &mut Redeemables, context: &Context) -> Result<(), Answer> {
        let channel = Channel { page: self.facts.page(), ..Channel::default() };
        decide::receive(request, channel).map_err(|refusal| Answer::refused(&refusal, context))
    }

    /// Validates the request in this JSON.
    pub fn validate(&self, request: &[u8], context: &Context) -> Answer {
        let request = match self.read(request, context) {
            Ok(request) => request,
            Err(answer) => return answer,
        };
        match decide::validate(&self.facts, &request, context) {
            Ok(decision) => Answer { status: 200, body: write_validation(&decision.answer, context) },
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }

    /// Finds what of the rules would work for the customer and the order in this JSON.
    pub fn qualify(&self, request: &[u8], context: &Context) -> Answer {
        let mut asked = match read_qualification(request) {
            Ok(asked) => asked,
            Err(problem) => return Answer::unreadable(&problem, context),
        };
        if let Err(answer) = self.receive(&mut asked.request, context) {
            return answer;
        }
        match decide::qualify(&self.facts, &asked, context) {
            Ok(decision) => Answer { status: 200, body: write_qualification(&decision.answer, context) },
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }

    /// Redeems the request in this JSON, without writing anything down.
    pub fn redeem(&self, request: &[u8], context: &Context) -> Answer {
        let request = match self.read(request, context) {
            Ok(request) => request,
            Err(answer) => return answer,
        };
        match decide::redeem(&self.facts, &request, context) {
            Ok(decision) => {
                let written = write_redemption(&decision.answer, context);
                Answer { status: written.status, body: written.answer }
            }
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }

    /// Undoes a redemption of the rules, without writing anything down.
    pub fn rollback(&self, redemption_id: &str, stack: bool, request: &[u8], context: &Context) -> Answer {
        let request = match read_rollback(redemption_id, stack, request) {
            Ok(request) => request,
            Err(problem) => return Answer::unreadable(&problem, context),
        };
        match decide::rollback(&self.facts, &request, context) {
            Ok(decision) => {
                let written = write_rollback(&decision.answer, &request, &Service::default());
                Answer { status: written.status, body: written.answer }
            }
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }
}
