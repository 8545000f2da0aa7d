//! Answers requests from a prepared set of rules, JSON in and JSON out.

mod back_test;

use serde::Deserializer;
use std::collections::BTreeSet;

use crate::bundle::checked_metadata::is_checked;
use crate::bundle::facts::RuleSetFacts;
use crate::bundle::missing_goods::{missing_names, needed_names};
use crate::bundle::sent_profile::is_refusable;
use crate::decide;
use crate::decide::case::stored::{customer_email, customer_key};
use crate::decide::case::{CUSTOMER, HORIZON, MissingFacts};
use crate::decide::validate::Evaluation;
use crate::facts::{Facts, Known};
use crate::id::{Context, is_tracking_id};
use crate::json::Node;
use crate::model::client::CustomerTrust;
use crate::model::goods_buckets::{bucket_of, hash_prefix};
use crate::model::qualification::QualificationRequest;
use crate::model::request::{Channel, RedeemableObject, Redeemables};
use crate::refusal::Refusal;
use crate::text::{Text, joined, sha256_hex};
use crate::time::Instant;
use crate::wire::decision::write_validation;
use crate::wire::error;
use crate::wire::price::{read_prices, write_prices};
use crate::wire::problem::{Problem, VALUES_MAX};
use crate::wire::qualification::{read_qualification, read_qualification_node, write_qualification};
use crate::wire::redemptions::redemption::write_redemption;
use crate::wire::redemptions::rollback::{StoredObjects, write_rollback};
use crate::wire::request::{read_redeemables, read_redeemables_node, read_rollback};
use crate::wire::rule_set::RuleSet;

/// A set of rules, read once.
#[derive(Debug, Clone)]
pub struct PreparedRules {
    facts: RuleSetFacts,
    hash: String,
    /// The horizon of a bundle: the rules are complete from the first instant until before the second.
    horizon: Option<(Instant, Instant)>,
    /// Facts that are missing for every decision.
    missing: Vec<Text>,
}

/// An answer with its HTTP status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedAnswer {
    /// 200, or the status in the error body.
    pub status: u16,
    /// The body, as JSON.
    pub body: Vec<u8>,
    /// `true` for a verdict that lacks no fact and leaves no field out.
    pub is_final: bool,
    /// The failed attempts of a client in it.
    pub failed_attempts: usize,
}

impl PreparedAnswer {
    /// Returns an answer without a verdict, or with one of the rules' owner.
    fn of(status: u16, body: Vec<u8>) -> PreparedAnswer {
        PreparedAnswer { status, body, is_final: false, failed_attempts: 0 }
    }

    /// Returns the answer with a verdict.
    fn of_verdict(body: Vec<u8>, evaluated: &Evaluation<'_>) -> PreparedAnswer {
        let is_final = evaluated.missing.is_empty() && !evaluated.omits_tracking_id;
        PreparedAnswer { status: 200, body, is_final, failed_attempts: evaluated.failed_attempts() }
    }

    fn refused(refusal: &Refusal, context: &Context) -> PreparedAnswer {
        PreparedAnswer::of(refusal.reason.code(), error::write(refusal, &context.request_id()))
    }

    fn unreadable(problem: &Problem, context: &Context) -> PreparedAnswer {
        PreparedAnswer::of(400, error::write_problem(problem, &context.request_id()))
    }
}

impl PreparedRules {
    /// Reads a set of rules.
    ///
    /// ```
    /// use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// let rules = br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }] }"#;
    /// let prepared = PreparedRules::new(rules).unwrap();
    /// let context = Context { now: Instant::parse("2026-03-01").unwrap(), seed: [7; 32], first_number: None };
    /// let request = br#"{ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1005 } }"#;
    /// let answer = String::from_utf8(prepared.validate(request, &context).body).unwrap();
    /// assert!(answer.contains(r#""total_discount_amount":101,"total_amount":904"#));
    /// ```
    pub fn new(rules: &[u8]) -> Result<PreparedRules, Problem> {
        let facts = RuleSetFacts::new(RuleSet::read(rules)?);
        Ok(PreparedRules { facts, hash: sha256_hex(rules), horizon: None, missing: Vec::new() })
    }

    /// Reads the core of a bundle together with documents that came separately: of opened codes, or about the customer.
    pub fn joined(core: &[u8], more: &[&[u8]]) -> Result<PreparedRules, Problem> {
        let facts = RuleSetFacts::new(RuleSet::read_joined(core, more)?);
        Ok(PreparedRules { facts, hash: sha256_hex(core), horizon: None, missing: Vec::new() })
    }

    /// Returns the rules for a customer proven by a token, by id or `source_id`: every request is that customer's.
    ///
    /// ```
    /// # use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// # let prepared = PreparedRules::new(br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }] }"#);
    /// # let context = Context { now: Instant::default(), seed: [7; 32], first_number: None };
    /// let prepared = prepared.unwrap().with_customer("anna");
    /// let answer = prepared.validate(br#"{ "redeemables": [{ "object": "voucher", "id": "TEN" }] }"#, &context);
    /// // Only the server has the profile of anna.
    /// assert!(String::from_utf8(answer.body).unwrap().contains(r#""missing":["customer/anna"#));
    /// ```
    pub fn with_customer(mut self, name: &str) -> PreparedRules {
        self.facts.prove(name.into());
        self
    }

    /// Returns the rules of a bundle with its horizon, from `from` until before `to`: a verdict for another instant misses
    /// `horizon`.
    pub fn with_horizon(mut self, from: Instant, to: Instant) -> PreparedRules {
        self.horizon = Some((from, to));
        self
    }

    /// Returns the rules for a client that misses a fact for every decision, such as `engine`.
    pub fn with_missing(mut self, fact: &str) -> PreparedRules {
        self.missing.push(fact.into());
        self
    }

    /// Adds the facts that are missing for a decision because of the bundle itself.
    fn add_missing(&self, missing: &mut MissingFacts, request: &Redeemables, context: &Context) {
        // The service refuses the tracking id of one customer together with the name of another.
        if let Some(tracking_id) = tracking_id_with_name(request)
            && matches!(self.facts.customer(tracking_id), Known::Unknown)
        {
            missing.add(joined(&["customer/", tracking_id]));
        }
        self.missing.iter().for_each(|fact| missing.add(fact.clone()));
        if self.horizon.is_some_and(|(from, to)| context.now < from || context.now >= to) {
            missing.add(HORIZON.into());
        }
    }

    /// Adds the schemas by which the service may refuse the metadata of a validation. It does not check that of a qualification.
    fn add_metadata_schemas(&self, missing: &mut MissingFacts, request: &Redeemables) {
        for object in self.facts.metadata_schemas().iter().filter(|object| is_checked(object, request)) {
            missing.add(joined(&["metadata_schema/", object]));
        }
    }

    /// Returns the SHA-256 of the rules as they were read, which identifies a bundle.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Returns the facts, for decisions without JSON.
    pub fn facts(&self) -> &RuleSetFacts {
        &self.facts
    }

    /// Returns the goods buckets, of this number of buckets, that contain unknown goods of the order of a request, in ascending order: goods that are
    /// apart from the core. Where these are joined, a SKU of them may name a product of a further one.
    pub fn missing_buckets(&self, request: &[u8], buckets: u32) -> Vec<u32> {
        Node::read(request).map_or_else(|_| Vec::new(), |request| self.missing_buckets_of(&request, buckets))
    }

    /// Returns the goods buckets that a parsed request needs, as `missing_buckets` does.
    pub fn missing_buckets_of(&self, request: &Node<'_>, buckets: u32) -> Vec<u32> {
        buckets_of(&missing_names(request, &self.facts), buckets)
    }

    /// Returns the goods buckets that contain the goods of a request, also those that were joined.
    pub fn needed_buckets(&self, request: &[u8], buckets: u32) -> Vec<u32> {
        Node::read(request)
            .map_or_else(|_| Vec::new(), |request| buckets_of(&needed_names(&request, &self.facts), buckets))
    }

    /// Adds goods buckets to rules that are prepared already. A bucket that is there is to be added once only.
    pub fn add_goods(&mut self, buckets: &[&[u8]]) -> Result<(), Problem> {
        self.facts.add_goods(RuleSet::read_goods_buckets(buckets)?);
        Ok(())
    }

    /// Forgets the goods buckets that were added.
    pub fn forget_goods(&mut self) {
        self.facts.forget_goods();
    }

    /// Prepares the candidates of all qualifications; otherwise the first qualification does.
    pub fn prepare_candidates(&self) {
        self.facts.prepare_candidates();
    }

    /// Returns the customer that a token proves, as a missing fact, if the request has another name too. The service refuses
    /// the name of another customer (`customer_mismatch`), and only it has all names of the proven one.
    fn missing_proof(&self, request: &Redeemables) -> Option<Text> {
        let proven = self.facts.proven()?;
        let customer = request.customer.as_ref();
        let names = [
            customer.and_then(|customer| customer.id.as_ref()),
            customer.and_then(|customer| customer.source_id.as_ref()),
            request.order.as_ref().and_then(|order| order.customer_id.as_ref()),
            request.tracking_id.as_ref(),
        ];
        let names = names.into_iter().chain(request.order_names.iter().map(Option::as_ref));
        let has_other = names.flatten().any(|name| !name.is_empty() && name != proven);
        let is_unknown = match self.facts.customer(proven) {
            // A supplement knows no other names.
            Known::Is(customer) => customer.id.as_deref().is_none_or(|id| !self.facts.knows_profile(id)),
            Known::Unknown => true,
            Known::Absent | Known::Unreadable => false,
        };
        (has_other && is_unknown).then(|| joined(&["customer/", proven]))
    }

    /// Returns the customer as a missing fact, if the service may refuse the request because of the customer that it names.
    fn missing_customer(&self, request: &Redeemables) -> Option<Text> {
        let is_refusable = || self.facts.client().is_some() && request.customer.as_ref().is_some_and(is_refusable);
        self.missing_proof(request).or_else(|| is_refusable().then(|| CUSTOMER.into()))
    }

    /// Reads a request of the rules' owner; `Err` is the answer to an invalid one.
    fn read(&self, request: Result<Redeemables, Problem>, context: &Context) -> Result<Redeemables, PreparedAnswer> {
        let mut request = request.map_err(|problem| PreparedAnswer::unreadable(&problem, context))?;
        self.receive(&mut request, context)?;
        Ok(request)
    }

    fn receive(&self, request: &mut Redeemables, context: &Context) -> Result<(), PreparedAnswer> {
        let mut channel = Channel { client: self.facts.client(), ..Channel::default() };
        if let Some(client) = channel.client.as_mut().filter(|client| client.policy.customers == CustomerTrust::Proven)
        {
            let is_unknown = |found: Known<_>| matches!(found, Known::Unknown);
            let key = customer_key(request).filter(|key| is_unknown(self.facts.customer(key))).map(Text::from);
            let email = || customer_email(request).filter(|email| is_unknown(self.facts.customer_by_email(email)));
            client.claimed = key.or_else(email).filter(|_| client.proven.is_none());
        }
        if let (None, Some(proven)) = (&channel.client, self.facts.proven()) {
            request.customer = Some(decide::with_proven_customer(request.customer.take().unwrap_or_default(), proven));
        }
        decide::receive(request, channel).map_err(|refusal| PreparedAnswer::refused(&refusal, context))
    }

    /// Returns the codes of a request in JSON that the rules do not have, in their normal form and each once: those that a
    /// sealed box may open. A request that cannot be read has none.
    ///
    /// ```
    /// # use scrip::bundle::PreparedRules;
    /// let prepared = PreparedRules::new(br#"{ "case_sensitive_codes": false, "vouchers": [] }"#).unwrap();
    /// let request = br#"{ "redeemables": [{ "object": "voucher", "id": "Ten" }, { "object": "promotion_tier", "id": "promo_1" }] }"#;
    /// assert_eq!(prepared.typed_codes(request), ["ten"]);
    /// ```
    pub fn typed_codes(&self, request: &[u8]) -> Vec<String> {
        let Ok(request) = read_redeemables(request) else { return Vec::new() };
        let mut codes: Vec<String> = Vec::new();
        for named in request.redeemables.iter().filter(|named| named.object == RedeemableObject::Voucher) {
            if let Some(code) =
                self.facts.unlisted_code(&named.id).filter(|code| !codes.iter().any(|known| known == code))
            {
                codes.push(code.into_owned());
            }
        }
        codes
    }

    /// Validates a request in JSON.
    pub fn validate(&self, request: &[u8], context: &Context) -> PreparedAnswer {
        self.answer_validation(read_redeemables(request), context)
    }

    /// Validates a request of another library, such as values of a browser or of the service.
    ///
    /// ```
    /// # use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// # let prepared = PreparedRules::new(br#"{ "vouchers": [{ "code": "TEN", "discount": { "type": "PERCENT", "percent_off": 10 } }] }"#);
    /// # let (prepared, context) = (prepared.unwrap(), Context { now: Instant::default(), seed: [7; 32], first_number: None });
    /// let request = serde_json::json!({ "redeemables": [{ "object": "voucher", "id": "TEN" }], "order": { "amount": 1005 } });
    /// let answer = prepared.validate_object(&request, &context);
    /// assert_eq!(answer, prepared.validate(request.to_string().as_bytes(), &context));
    /// let answer_json: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    /// assert_eq!(answer_json["order"]["total_amount"], 904);
    /// ```
    pub fn validate_object<'de, D: Deserializer<'de>>(&self, request: D, context: &Context) -> PreparedAnswer {
        let request = Node::of(request, VALUES_MAX).and_then(|request| read_redeemables_node(&request));
        self.answer_validation(request, context)
    }

    /// Validates a request that was parsed before.
    pub fn validate_node(&self, request: &Node<'_>, context: &Context) -> PreparedAnswer {
        self.answer_validation(read_redeemables_node(request), context)
    }

    fn answer_validation(&self, request: Result<Redeemables, Problem>, context: &Context) -> PreparedAnswer {
        let proven = request.as_ref().ok().and_then(|request| self.missing_customer(request));
        let request = match self.read(request, context) {
            Ok(request) => request,
            Err(answer) => return answer,
        };
        match decide::validate_offline(&self.facts, &request, context) {
            Ok(mut decision) => {
                let missing = &mut decision.answer.evaluated.case.missing;
                proven.into_iter().for_each(|fact| missing.add(fact));
                self.add_missing(missing, &request, context);
                self.add_metadata_schemas(missing, &request);
                PreparedAnswer::of_verdict(write_validation(&decision.answer, context), &decision.answer.evaluated)
            }
            Err(refusal) => PreparedAnswer::refused(&refusal, context),
        }
    }

    /// Finds the redeemables that apply to the customer and the order of a request in JSON.
    pub fn qualify(&self, request: &[u8], context: &Context) -> PreparedAnswer {
        self.answer_qualification(read_qualification(request), context)
    }

    /// Finds the redeemables that apply, for a request of another library.
    pub fn qualify_object<'de, D: Deserializer<'de>>(&self, request: D, context: &Context) -> PreparedAnswer {
        let query = Node::of(request, VALUES_MAX).and_then(|query| read_qualification_node(&query));
        self.answer_qualification(query, context)
    }

    /// Finds the redeemables that apply, for a request that was parsed before.
    pub fn qualify_node(&self, request: &Node<'_>, context: &Context) -> PreparedAnswer {
        self.answer_qualification(read_qualification_node(request), context)
    }

    fn answer_qualification(&self, query: Result<QualificationRequest, Problem>, context: &Context) -> PreparedAnswer {
        let mut query = match query {
            Ok(query) => query,
            Err(problem) => return PreparedAnswer::unreadable(&problem, context),
        };
        let proven = self.missing_customer(&query.request);
        if let Err(answer) = self.receive(&mut query.request, context) {
            return answer;
        }
        match decide::qualify_offline(&self.facts, &query, context) {
            Ok(mut decision) => {
                let missing = &mut decision.answer.evaluated.case.missing;
                proven.into_iter().for_each(|fact| missing.add(fact));
                self.add_missing(missing, &query.request, context);
                PreparedAnswer::of_verdict(write_qualification(&decision.answer, context), &decision.answer.evaluated)
            }
            Err(refusal) => PreparedAnswer::refused(&refusal, context),
        }
    }

    /// Finds the prices of the goods of a request in JSON, each alone with the promotions that together save most.
    ///
    /// ```
    /// # use scrip::{Context, bundle::PreparedRules, time::Instant};
    /// # let prepared = PreparedRules::new(br#"{ "complete": true, "products": [{ "id": "prod_1", "name": "Mug", "price": 900 }] }"#).unwrap();
    /// # let context = Context { now: Instant::default(), seed: [7; 32], first_number: None };
    /// let answer = String::from_utf8(prepared.prices(br#"{ "ids": ["prod_1"] }"#, &context).body).unwrap();
    /// assert!(answer.contains(r#""price":900,"discounted_price":900,"from":false"#));
    /// ```
    pub fn prices(&self, request: &[u8], context: &Context) -> PreparedAnswer {
        let mut request = match read_prices(request) {
            Ok(request) => request,
            Err(problem) => return PreparedAnswer::unreadable(&problem, context),
        };
        let proven = self.missing_customer(&request.query.request);
        if let Err(answer) = self.receive(&mut request.query.request, context) {
            return answer;
        }
        match decide::find_prices(&self.facts, &request, context) {
            Ok(mut prices) => {
                for price in &mut prices {
                    proven.iter().for_each(|fact| price.missing.add(fact.clone()));
                    self.add_missing(&mut price.missing, &request.query.request, context);
                }
                let is_final = prices.iter().all(|price| price.missing.is_empty());
                PreparedAnswer { status: 200, body: write_prices(&prices, context), is_final, failed_attempts: 0 }
            }
            Err(refusal) => PreparedAnswer::refused(&refusal, context),
        }
    }

    /// Redeems a request in JSON, without storing anything.
    pub fn redeem(&self, request: &[u8], context: &Context) -> PreparedAnswer {
        let request = match self.read(read_redeemables(request), context) {
            Ok(request) => request,
            Err(answer) => return answer,
        };
        match decide::redeem(&self.facts, &request, context) {
            Ok(decision) => {
                let written = write_redemption(&decision.answer, context);
                PreparedAnswer::of(written.status, written.answer)
            }
            Err(refusal) => PreparedAnswer::refused(&refusal, context),
        }
    }

    /// Rolls back a redemption of the rules, without storing anything.
    pub fn rollback(&self, redemption_id: &str, stack: bool, request: &[u8], context: &Context) -> PreparedAnswer {
        let request = match read_rollback(redemption_id, stack, request) {
            Ok(request) => request,
            Err(problem) => return PreparedAnswer::unreadable(&problem, context),
        };
        match decide::rollback(&self.facts, &request, context) {
            Ok(decision) => {
                let written = write_rollback(&decision.answer, &request, &StoredObjects::default());
                PreparedAnswer::of(written.status, written.answer)
            }
            Err(refusal) => PreparedAnswer::refused(&refusal, context),
        }
    }
}

/// Returns the goods buckets of some names, in ascending order.
fn buckets_of(names: &[Text], buckets: u32) -> Vec<u32> {
    let numbers: BTreeSet<u32> = names.iter().map(|name| bucket_of(hash_prefix(name), buckets)).collect();
    numbers.into_iter().collect()
}

/// Returns the tracking id of a request that names a customer otherwise too.
fn tracking_id_with_name(request: &Redeemables) -> Option<&str> {
    let customer = request.customer.as_ref()?;
    let name = customer.id.as_ref().or(customer.source_id.as_ref())?;
    request.tracking_id.as_deref().filter(|tracking_id| is_tracking_id(tracking_id) && *tracking_id != name.as_str())
}
