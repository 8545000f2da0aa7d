//! Answers requests from a prepared set of rules, JSON in and JSON out. It must not know how its rules came here.

use serde::Deserializer;

use crate::bundle::facts::RuleSetFacts;
use crate::decide;
use crate::id::Context;
use crate::json::Node;
use crate::model::qualification::Qualify;
use crate::model::request::{Channel, Redeemables};
use crate::refusal::Refusal;
use crate::text::sha256_hex;
use crate::wire::decision::write_validation;
use crate::wire::error;
use crate::wire::problem::{MOST_VALUES, Problem};
use crate::wire::qualification::{read_qualification, read_qualification_node, write_qualification};
use crate::wire::redemption::write_redemption;
use crate::wire::request::{read_redeemables, read_redeemables_node, read_rollback};
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
    fn read(&self, request: Result<Redeemables, Problem>, context: &Context) -> Result<Redeemables, Answer> {
        let mut request = request.map_err(|problem| Answer::unreadable(&problem, context))?;
        self.receive(&mut request, context)?;
        Ok(request)
    }

    fn receive(&self, request: &mut Redeemables, context: &Context) -> Result<(), Answer> {
        let channel = Channel { page: self.facts.page(), ..Channel::default() };
        decide::receive(request, channel).map_err(|refusal| Answer::refused(&refusal, context))
    }

    /// Validates the request in this JSON.
    pub fn validate(&self, request: &[u8], context: &Context) -> Answer {
        self.say_valid(read_redeemables(request), context)
    }

    /// Validates the request that another library holds, such as the values of a page or of the service.
    ///
    /// ```
    /// # use scrip::{Context, bundle::Prepared, time::Instant};
    /// # let prepared = Prepared::new(br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }] }"#);
    /// # let (prepared, context) = (prepared.unwrap(), Context { now: Instant::default(), seed: [7; 32] });
    /// let basket = serde_json::json!({ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1005 } });
    /// let answer = prepared.validate_held(&basket, &context);
    /// assert_eq!(answer, prepared.validate(basket.to_string().as_bytes(), &context));
    /// let said: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    /// assert_eq!(said["order"]["total_amount"], 904);
    /// ```
    pub fn validate_held<'de, D: Deserializer<'de>>(&self, request: D, context: &Context) -> Answer {
        let request = Node::of(request, MOST_VALUES).and_then(|request| read_redeemables_node(&request));
        self.say_valid(request, context)
    }

    fn say_valid(&self, request: Result<Redeemables, Problem>, context: &Context) -> Answer {
        let request = match self.read(request, context) {
            Ok(request) => request,
            Err(said) => return said,
        };
        match decide::validate(&self.facts, &request, context) {
            Ok(decision) => Answer { status: 200, body: write_validation(&decision.answer, context) },
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }

    /// Finds what of the rules would work for the customer and the order in this JSON.
    pub fn qualify(&self, request: &[u8], context: &Context) -> Answer {
        self.say_qualified(read_qualification(request), context)
    }

    /// The same for a request that another library holds.
    pub fn qualify_held<'de, D: Deserializer<'de>>(&self, request: D, context: &Context) -> Answer {
        let asked = Node::of(request, MOST_VALUES).and_then(|asked| read_qualification_node(&asked));
        self.say_qualified(asked, context)
    }

    fn say_qualified(&self, asked: Result<Qualify, Problem>, context: &Context) -> Answer {
        let mut asked = match asked {
            Ok(asked) => asked,
            Err(problem) => return Answer::unreadable(&problem, context),
        };
        if let Err(said) = self.receive(&mut asked.request, context) {
            return said;
        }
        match decide::qualify(&self.facts, &asked, context) {
            Ok(decision) => Answer { status: 200, body: write_qualification(&decision.answer, context) },
            Err(refusal) => Answer::refused(&refusal, context),
        }
    }

    /// Redeems the request in this JSON, without writing anything down.
    pub fn redeem(&self, request: &[u8], context: &Context) -> Answer {
        let request = match self.read(read_redeemables(request), context) {
            Ok(request) => request,
            Err(said) => return said,
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
