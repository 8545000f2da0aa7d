//! Provides the facts of earning as a service has them: documents that were read, and records of earnings.

use std::collections::BTreeMap;

use scrip::Context;
use scrip::bundle::facts::RuleSetFacts;
use scrip::decide::earn::{
    EarningEvent, EarningRequest, Earnings, GrantedContent, PointsCorrection, decide_corrections, earn,
};
use scrip::facts::earning::{
    CurrentTier, EarningCard, EarningFacts, EarningKey, EarningStatus, Incentive, Membership, StoredEarning,
};
use scrip::facts::{Fact, Known};
use scrip::model::customer::Customer;
use scrip::points::limits::{EarnedSoFar, EarningLimits, FireCount};
use scrip::points::{EarnedPoints, Revocation};
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::customer::read_customer;
use scrip::wire::document::read_document;
use scrip::wire::loyalty::earning_rule::read_earning_rule;
use scrip::wire::loyalty::incentive::read_incentive;
use scrip::wire::loyalty::program::read_program;
use scrip::wire::order::read_order;
use scrip::wire::rule_set::RuleSet;
use serde_json::{Value, json};

/// A card definition with the settings that a test chooses.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terms {
    pub limits: EarningLimits,
    pub revocation: Option<Revocation>,
}

/// A customer with memberships.
pub struct Shop {
    engine: RuleSetFacts,
    pub customer: Customer,
    programs: Vec<(Value, Vec<Value>)>,
    /// Tiers of the customer: the program, the structure and the tier.
    pub tiers: Vec<(usize, &'static str, &'static str)>,
    pub terms: BTreeMap<&'static str, Terms>,
    incentives: BTreeMap<String, Value>,
    pub taken: BTreeMap<String, u64>,
    fired: Vec<(Text, Text, Instant)>,
    earned: Vec<(Text, Instant, u64)>,
    stored_earnings: BTreeMap<EarningKey, (EarningStatus, Vec<StoredEarning>)>,
}

pub fn at(text: &str) -> Instant {
    Instant::parse(text).unwrap()
}

/// A rule that is active, with these earnings.
pub fn rule(id: &str, trigger: Value, earnings: Value) -> Value {
    json!({ "id": id, "status": "ACTIVE", "trigger": trigger, "earnings": earnings })
}

/// A program that is active.
pub fn program(id: &str) -> Value {
    json!({ "id": id, "status": "ACTIVE", "validity_hours": { "type": "ANY_TIME" } })
}

fn overlaid(document: &Value, with: Value) -> Value {
    let mut document = document.clone();
    document.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    document
}

impl Shop {
    pub fn new(rules: Value, customer: Value, programs: Vec<(Value, Vec<Value>)>) -> Shop {
        let rules = RuleSet::read(crate::support::service_facts::world(&rules.to_string()).as_bytes()).unwrap();
        Shop {
            engine: RuleSetFacts::new(rules),
            customer: read_document(&customer.to_string(), read_customer).unwrap(),
            programs,
            tiers: Vec::new(),
            terms: [("gold", Terms::default()), ("blue", Terms::default())].into(),
            incentives: BTreeMap::new(),
            taken: BTreeMap::new(),
            fired: Vec::new(),
            earned: Vec::new(),
            stored_earnings: BTreeMap::new(),
        }
    }

    pub fn stock(&mut self, incentive: Value) {
        self.incentives.insert(incentive["id"].as_str().unwrap().to_owned(), incentive);
    }

    /// Returns the earnings of an event without recording them.
    pub fn estimate(&self, event: EarningEvent<'_>, now: Instant) -> Earnings {
        let event = EarningRequest { customer: &self.customer, event, key: None };
        earn(&self.engine, self, event, &Context { now, seed: [7; 32], first_number: None })
    }

    /// Returns the earnings of an event and records them.
    pub fn earn(&mut self, event: EarningEvent<'_>, key: &EarningKey, now: Instant) -> Earnings {
        let event = EarningRequest { customer: &self.customer, event, key: Some(key) };
        let earnings = earn(&self.engine, self, event, &Context { now, seed: [7; 32], first_number: None });
        let mut stored_earnings = Vec::new();
        for (member, rule, fired) in earnings.fired_rules() {
            self.fired.push((member.member_id.clone(), rule.rule_id.clone(), now));
            for granted in fired.effects.iter().flatten() {
                if let Some(id) = &granted.incentive_id {
                    *self.taken.entry(id.to_string()).or_default() += 1;
                }
                if let GrantedContent::Points(given) = &granted.content {
                    self.earned.push((given.card_id.clone(), now, given.points));
                    stored_earnings.push(StoredEarning {
                        card_id: given.card_id.clone(),
                        card_definition_id: given.card_definition_id.clone(),
                        earned: EarnedPoints { pending: None, lot: Some("lot".into()), points: given.points },
                        revoked_due: 0,
                        revoked: 0,
                        position: stored_earnings.len(),
                        basis: given.basis.clone(),
                    });
                }
            }
        }
        if earnings.fired_rules().next().is_some() {
            self.stored_earnings.insert(key.clone(), (EarningStatus::Earned, stored_earnings));
        }
        earnings
    }

    /// An order that is paid.
    pub fn pay(&mut self, order: &Value, now: Instant) -> Earnings {
        let read = read_document(&order.to_string(), read_order).unwrap();
        self.earn(EarningEvent::OrderPaid(&read), &EarningKey::order(order["id"].as_str().unwrap()), now)
    }

    /// Returns a cancelled order.
    pub fn cancel_order(&mut self, id: &str) -> Vec<PointsCorrection> {
        let key = EarningKey::order(id);
        let context = Context { now: at("2026-03-02T10:00:00Z"), seed: [7; 32], first_number: None };
        let corrections = decide_corrections(&self.engine, self, &key, None, &context).unwrap();
        if let Some((status, _)) = self.stored_earnings.get_mut(&key) {
            *status = EarningStatus::Revoked;
        }
        corrections
    }
}

impl EarningFacts for Shop {
    fn status(&self, key: &EarningKey) -> Known<EarningStatus> {
        self.stored_earnings.get(key).map(|(status, _)| *status).into()
    }

    fn memberships(&self, _customer_id: &str) -> Known<Vec<Membership<'_>>> {
        let member = |(position, (program, rules)): (usize, &(Value, Vec<Value>))| {
            let read = |rule: &Value| match read_document(&rule.to_string(), read_earning_rule) {
                Ok(rule) => (rule.id.clone(), Known::Is(Fact::own(rule))),
                Err(_) => (Text::from(rule["id"].as_str().unwrap()), Known::Unreadable),
            };
            let card = |(definition, terms): (&&'static str, &Terms)| EarningCard {
                id: format!("card_{position}_{definition}").into(),
                card_definition_id: Text::from(*definition),
                limits: terms.limits,
            };
            let held = self.tiers.iter().filter(|(of, ..)| *of == position);
            let metadata = program["member"].to_string();
            let metadata = overlaid(
                &json!({ "id": "m" }),
                json!({ "metadata": serde_json::from_str::<Value>(&metadata).unwrap() }),
            );
            Membership {
                member_id: format!("member_{position}").into(),
                is_active: program["member_is_away"] != json!(true),
                metadata: read_document(&metadata.to_string(), read_customer).unwrap().metadata,
                program: Fact::own(read_document(&program.to_string(), read_program).unwrap()),
                rules: rules.iter().map(read).collect(),
                tiers: held
                    .map(|(_, structure, tier)| CurrentTier {
                        structure_id: Text::from(*structure),
                        tier_id: Text::from(*tier),
                    })
                    .collect(),
                cards: self.terms.iter().map(card).collect(),
            }
        };
        Known::Is(self.programs.iter().enumerate().map(member).collect())
    }

    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<FireCount> {
        let own = || self.fired.iter().filter(|(member, rule, _)| member == member_id && rule == rule_id);
        let in_period = own().filter(|(.., at)| since.is_some_and(|since| *at >= since)).count();
        Known::Is(FireCount { last: own().map(|(.., at)| *at).max(), in_period: u64::try_from(in_period).unwrap() })
    }

    fn earned(&self, card_id: &str, since: Option<Instant>) -> Known<EarnedSoFar> {
        let own = || self.earned.iter().filter(|(card, ..)| card == card_id);
        let all: u64 = own().map(|(.., points)| points).sum();
        let in_period =
            own().filter(|(_, at, _)| since.is_some_and(|since| *at >= since)).map(|(.., points)| points).sum();
        Known::Is(EarnedSoFar { balance: i64::try_from(all).unwrap(), pending: 0, in_period })
    }

    fn incentive(&self, id: &str) -> Known<Fact<'_, Incentive>> {
        let Some(document) = self.incentives.get(id) else { return Known::Absent };
        let left = document["stock"].as_u64().map(|stock| stock - self.taken.get(id).copied().unwrap_or(0));
        let document = overlaid(document, json!({ "stock": left }));
        read_document(&document.to_string(), read_incentive)
            .map_or(Known::Unreadable, |read| Known::Is(Fact::own(read)))
    }

    fn stored_earnings(&self, key: &EarningKey) -> Known<Vec<StoredEarning>> {
        self.stored_earnings.get(key).map(|(_, stored_earnings)| stored_earnings.clone()).into()
    }

    fn credited_since(&self, _: &EarningKey, _: &str, _: Instant) -> Known<u64> {
        Known::Absent
    }

    fn limits(&self, card_definition_id: &str) -> Known<EarningLimits> {
        self.terms.get(card_definition_id).map(|terms| terms.limits).into()
    }

    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>> {
        self.terms.get(card_definition_id).map(|terms| terms.revocation).into()
    }
}
