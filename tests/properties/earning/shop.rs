//! Facts of earning as a service has them: documents that were read, and what was written down of what was earned.

use std::collections::BTreeMap;

use scrip::Context;
use scrip::bundle::facts::RuleSetFacts;
use scrip::decide::earn::{Earnings, Event, Gift, GiveBack, What, earn, give_back};
use scrip::decide::returned::Share;
use scrip::facts::earning::{
    EarningCard, EarningFacts, HeldTier, Incentive, Membership, Occasion, PastEarning, Standing,
};
use scrip::facts::{Fact, Known};
use scrip::model::customer::Customer;
use scrip::points::limits::{EarnedSoFar, EarningLimits, Fired};
use scrip::points::{Earned, Revocation};
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

/// A card definition, as far as a trial says what it is like.
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
    /// Which tiers the customer holds: the program, the structure and the tier.
    pub tiers: Vec<(usize, &'static str, &'static str)>,
    pub terms: BTreeMap<&'static str, Terms>,
    incentives: BTreeMap<String, Value>,
    pub taken: BTreeMap<String, u64>,
    fired: Vec<(Text, Text, Instant)>,
    earned: Vec<(Text, Instant, u64)>,
    past: BTreeMap<Occasion, (Standing, Vec<PastEarning>)>,
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
        let rules = RuleSet::read(rules.to_string().as_bytes()).unwrap();
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
            past: BTreeMap::new(),
        }
    }

    pub fn stock(&mut self, incentive: Value) {
        self.incentives.insert(incentive["id"].as_str().unwrap().to_owned(), incentive);
    }

    /// What an event earns, and nothing is written down.
    pub fn examine(&self, what: What<'_>, now: Instant) -> Earnings {
        let event = Event { customer: &self.customer, what, occasion: None };
        earn(&self.engine, self, event, &Context { now, seed: [7; 32] })
    }

    /// What an event earns, written down.
    pub fn earn(&mut self, what: What<'_>, occasion: &Occasion, now: Instant) -> Earnings {
        let event = Event { customer: &self.customer, what, occasion: Some(occasion) };
        let earnings = earn(&self.engine, self, event, &Context { now, seed: [7; 32] });
        let mut past = Vec::new();
        for (member, rule, firing) in earnings.firings() {
            self.fired.push((member.member_id.clone(), rule.rule_id.clone(), now));
            for granted in firing.effects.iter().flatten() {
                if let Some(id) = &granted.incentive_id {
                    *self.taken.entry(id.to_string()).or_default() += 1;
                }
                if let Gift::Points(given) = &granted.gift {
                    self.earned.push((given.card_id.clone(), now, given.points));
                    past.push(PastEarning {
                        card_id: given.card_id.clone(),
                        card_definition_id: given.card_definition_id.clone(),
                        earned: Earned { pending: None, lot: Some("lot".into()), points: given.points },
                        back: 0,
                        place: past.len(),
                    });
                }
            }
        }
        if earnings.firings().next().is_some() {
            self.past.insert(occasion.clone(), (Standing::Earned, past));
        }
        earnings
    }

    /// An order that is paid.
    pub fn pay(&mut self, order: &Value, now: Instant) -> Earnings {
        let read = read_document(&order.to_string(), read_order).unwrap();
        self.earn(What::OrderPaid(&read), &Occasion::order(order["id"].as_str().unwrap()), now)
    }

    /// An order that is called off.
    pub fn call_off(&mut self, id: &str) -> Vec<GiveBack> {
        let occasion = Occasion::order(id);
        let back = give_back(self, &occasion, Share::WHOLE).unwrap();
        if let Some((standing, _)) = self.past.get_mut(&occasion) {
            *standing = Standing::GivenBack;
        }
        back
    }
}

impl EarningFacts for Shop {
    fn standing(&self, occasion: &Occasion) -> Known<Standing> {
        self.past.get(occasion).map(|(standing, _)| *standing).into()
    }

    fn memberships(&self, _customer_id: &str) -> Known<Vec<Membership<'_>>> {
        let member = |(place, (program, rules)): (usize, &(Value, Vec<Value>))| {
            let read = |rule: &Value| match read_document(&rule.to_string(), read_earning_rule) {
                Ok(rule) => (rule.id.clone(), Known::Is(Fact::own(rule))),
                Err(_) => (Text::from(rule["id"].as_str().unwrap()), Known::Unreadable),
            };
            let card = |(definition, terms): (&&'static str, &Terms)| EarningCard {
                id: format!("card_{place}_{definition}").into(),
                card_definition_id: Text::from(*definition),
                limits: terms.limits,
            };
            let held = self.tiers.iter().filter(|(of, ..)| *of == place);
            let metadata = program["member"].to_string();
            let metadata = overlaid(
                &json!({ "id": "m" }),
                json!({ "metadata": serde_json::from_str::<Value>(&metadata).unwrap() }),
            );
            Membership {
                member_id: format!("member_{place}").into(),
                is_active: program["member_is_away"] != json!(true),
                metadata: read_document(&metadata.to_string(), read_customer).unwrap().metadata,
                program: Fact::own(read_document(&program.to_string(), read_program).unwrap()),
                rules: rules.iter().map(read).collect(),
                tiers: held
                    .map(|(_, structure, tier)| HeldTier {
                        structure_id: Text::from(*structure),
                        tier_id: Text::from(*tier),
                    })
                    .collect(),
                cards: self.terms.iter().map(card).collect(),
            }
        };
        Known::Is(self.programs.iter().enumerate().map(member).collect())
    }

    fn fired(&self, member_id: &str, rule_id: &str, since: Option<Instant>) -> Known<Fired> {
        let own = || self.fired.iter().filter(|(member, rule, _)| member == member_id && rule == rule_id);
        let in_period = own().filter(|(.., at)| since.is_some_and(|since| *at >= since)).count();
        Known::Is(Fired { last: own().map(|(.., at)| *at).max(), in_period: u64::try_from(in_period).unwrap() })
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

    fn past(&self, occasion: &Occasion) -> Known<Vec<PastEarning>> {
        self.past.get(occasion).map(|(_, past)| past.clone()).into()
    }

    fn revocation(&self, card_definition_id: &str) -> Known<Option<Revocation>> {
        self.terms.get(card_definition_id).map(|terms| terms.revocation).into()
    }
}
