//! Models earning in the simple way: the documents as JSON, and a log of grants that is read from its beginning each time.

use chrono::DateTime;
use chrono_tz::Europe::Warsaw;
use serde_json::{Value, json};

/// The result of one effect: points for a card, an incentive, both, or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRecord {
    pub incentive: Option<String>,
    pub card: Option<(String, u64)>,
}

/// A rule with its grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    pub member: usize,
    pub rule: String,
    pub earning: String,
    pub effects: Vec<Option<GrantRecord>>,
}

/// The documents of a history and the grants so far.
pub struct EarningModel<'a> {
    pub programs: &'a [(Value, Vec<Value>)],
    pub incentives: &'a Value,
    pub cards: &'a Value,
    pub customer: &'a Value,
    pub tiers: &'a [(usize, &'static str, &'static str)],
    pub log: Vec<(i64, Fired)>,
    pub earned_names: Vec<String>,
}

fn day(millis: i64) -> String {
    DateTime::from_timestamp_millis(millis).unwrap().with_timezone(&Warsaw).date_naive().to_string()
}

impl EarningModel<'_> {
    /// Applies an event, which counts once for each name.
    pub fn happens(&mut self, name: &str, event: &Value, now: i64) -> Vec<Fired> {
        if self.earned_names.iter().any(|known| known == name) {
            return Vec::new();
        }
        let before = self.log.len();
        for (member, (program, rules)) in self.programs.iter().enumerate() {
            if program["status"] != "ACTIVE" {
                continue;
            }
            for rule in rules.iter().filter(|rule| rule["trigger"] == event["trigger"] && rule["status"] == "ACTIVE") {
                if self.rests(member, rule, now) {
                    continue;
                }
                let earnings = rule["earnings"].as_array().unwrap();
                let Some(earning) = earnings.iter().find(|earning| self.matches(member, program, earning, event))
                else {
                    continue;
                };
                let mut fired = Fired {
                    member,
                    rule: rule["id"].as_str().unwrap().to_owned(),
                    earning: earning["id"].as_str().unwrap().to_owned(),
                    effects: Vec::new(),
                };
                for effect in earning["effects"].as_array().unwrap() {
                    let gave = self.effect(member, effect, event, now, &fired);
                    fired.effects.push(gave);
                }
                if fired.effects.iter().any(Option::is_some) {
                    self.log.push((now, fired));
                }
            }
        }
        let fired: Vec<Fired> = self.log[before..].iter().map(|(_, fired)| fired.clone()).collect();
        if !fired.is_empty() {
            self.earned_names.push(name.to_owned());
        }
        fired
    }

    fn rests(&self, member: usize, rule: &Value, now: i64) -> bool {
        let limits = &rule["trigger_limits"];
        let earlier = || {
            let own = |fired: &Fired| fired.member == member && fired.rule == rule["id"].as_str().unwrap();
            self.log.iter().filter(move |(_, fired)| own(fired)).map(|(at, _)| *at)
        };
        let hours = limits["cooldown"]["fixed_cooldown"]["period"]["value"].as_i64();
        let too_soon = hours.is_some_and(|hours| earlier().any(|at| now - at < hours * 3_600_000));
        let most = limits["frequency"]["limits"][0]["triggers"]["max"].as_u64();
        let today = earlier().filter(|at| day(*at) == day(now)).count() as u64;
        too_soon || most.is_some_and(|most| today >= most)
    }

    fn matches(&self, member: usize, program: &Value, earning: &Value, event: &Value) -> bool {
        let held = |structure: &Value, tier: &Value| {
            self.tiers.iter().any(|(of, own, held)| *of == member && structure == own && tier == held)
        };
        if let Some(any_of) = earning["tier_rules"]["any_of"].as_array() {
            let one =
                |of: &Value| of["tier_ids"].as_array().unwrap().iter().any(|tier| held(&of["tier_structure_id"], tier));
            if !any_of.iter().any(one) {
                return false;
            }
        }
        let test = &earning["rules"]["1"];
        if test.is_null() {
            return true;
        }
        let (operator, expected) = test["conditions"].as_object().unwrap().iter().next().unwrap();
        let expected = &expected[0];
        match test["name"].as_str().unwrap() {
            "member.metadata" => (program["member"]["band"] == *expected) == (operator == "$is"),
            "customer.loyalty.tier" => {
                let is = self.tiers.iter().any(|(.., held)| expected == held);
                is == (operator == "$is")
            }
            "order.amount" => event["order"]["amount"].as_u64().unwrap() > expected.as_u64().unwrap(),
            "order.total_amount" => total(&event["order"]) > expected.as_u64().unwrap(),
            "custom_event.metadata" => {
                event["metadata"]["km"].as_i64().is_some_and(|km| km < expected.as_i64().unwrap())
            }
            other => panic!("{other}"),
        }
    }

    fn effect(&self, member: usize, effect: &Value, event: &Value, now: i64, current: &Fired) -> Option<GrantRecord> {
        if effect["type"] != "INCENTIVE" {
            let card = self.points(member, effect, event, now, current)?;
            return Some(GrantRecord { incentive: None, card: Some(card) });
        }
        let id = effect["incentive"]["id"].as_str().unwrap();
        let incentive = &self.incentives[id];
        if incentive["status"] != "ACTIVE" {
            return None;
        }
        let all = self.log.iter().map(|(_, fired)| fired).chain([current]);
        let gone =
            all.flat_map(|fired| &fired.effects).flatten().filter(|gave| gave.incentive.as_deref() == Some(id)).count();
        if incentive["stock"].as_u64().is_some_and(|stock| gone as u64 >= stock) {
            return None;
        }
        let card = match incentive["type"].as_str().unwrap() {
            "MATERIAL" => None,
            _ => Some(self.points(member, incentive, event, now, current)?),
        };
        Some(GrantRecord { incentive: Some(id.to_owned()), card })
    }

    /// Returns the points within the limit, one after the other.
    fn points(&self, member: usize, effect: &Value, event: &Value, now: i64, current: &Fired) -> Option<(String, u64)> {
        let (definition, capped) = match effect["type"].as_str().unwrap() {
            "POINTS" => (&effect["points"]["card_definition_id"], effect["points"]["value"].as_u64().unwrap()),
            _ => {
                let block = &effect["points_proportional"];
                (&block["card_definition_id"], proportional(block, event, self.customer)?)
            }
        };
        let limits = self.cards.get(definition.as_str().unwrap())?;
        let card = format!("card_{member}_{}", definition.as_str().unwrap());
        let all = self.log.iter().map(|(at, fired)| (*at, fired)).chain([(now, current)]);
        let there = all.flat_map(|(at, fired)| fired.effects.iter().flatten().map(move |gave| (at, gave)));
        let there: Vec<(i64, u64)> = there
            .filter_map(|(at, gave)| {
                gave.card.as_ref().filter(|(known, _)| *known == card).map(|(_, points)| (at, *points))
            })
            .collect();
        if let (Some(least), Some(order)) = (limits["least"].as_u64(), event.get("order"))
            && total(order) < least
        {
            return None;
        }
        let mut given = 0;
        while given < capped {
            let balance: u64 = there.iter().map(|(_, points)| points).sum();
            let today: u64 = there.iter().filter(|(at, _)| day(*at) == day(now)).map(|(_, points)| points).sum();
            let full = limits["balance"].as_u64().is_some_and(|most| balance + given >= most)
                || limits["daily"].as_u64().is_some_and(|most| today + given >= most)
                || limits["most"].as_u64().is_some_and(|most| given >= most);
            if full {
                break;
            }
            given += 1;
        }
        (given > 0).then_some((card, given))
    }
}

fn total(order: &Value) -> u64 {
    let of_lines: u64 =
        order["items"].as_array().unwrap().iter().map(|item| item["discount_amount"].as_u64().unwrap()).sum();
    order["amount"].as_u64().unwrap().saturating_sub(order["discount_amount"].as_u64().unwrap() + of_lines)
}

/// Grants this number for each whole step.
fn proportional(block: &Value, event: &Value, customer: &Value) -> Option<u64> {
    let lines = |block: &Value, of: fn(&Value) -> u64| {
        let all = event["order"]["items"].as_array().unwrap().iter();
        let expected = block["applicable_to"].as_array().unwrap();
        let is = |item: &&Value| expected.iter().any(|goods| goods["product"]["id"] == item["product_id"]);
        Some(all.filter(is).map(of).sum::<u64>())
    };
    let number = |value: &Value| value.as_i64().map(|number| number.max(0) as u64);
    let (of, base) = match block["calculation_type"].as_str().unwrap() {
        "PRE_DISCOUNT_ORDER_AMOUNT" => (&block["order"]["amount"], event["order"]["amount"].as_u64()),
        "POST_DISCOUNT_ORDER_AMOUNT" => (&block["order"]["total_amount"], Some(total(&event["order"]))),
        "ORDER_METADATA_VALUE" => (&block["order"]["metadata"], number(&event["order"]["metadata"]["stars"])),
        "CUSTOMER_METADATA_VALUE" => (&block["customer"]["metadata"], number(&customer["metadata"]["age"])),
        "CUSTOM_EVENT_METADATA_VALUE" => (&block["custom_event"]["metadata"], number(&event["metadata"]["km"])),
        "PRE_DISCOUNT_ORDER_ITEMS_AMOUNT" => {
            let of = &block["order_items"]["amount"];
            (of, lines(of, |item| item["amount"].as_u64().unwrap()))
        }
        "POST_DISCOUNT_ORDER_ITEMS_AMOUNT" => {
            let of = &block["order_items"]["subtotal_amount"];
            let subtotal = |item: &Value| {
                item["amount"].as_u64().unwrap().saturating_sub(item["discount_amount"].as_u64().unwrap())
            };
            (of, lines(of, subtotal))
        }
        "ORDER_ITEMS_QUANTITY" => {
            let of = &block["order_items"]["quantity"];
            (of, lines(of, |item| item["quantity"].as_u64().unwrap()))
        }
        other => panic!("{other}"),
    };
    let mut left = base?;
    let (every, value) = (of["every"].as_u64().unwrap(), of["value"].as_u64().unwrap());
    let mut points = 0;
    while left >= every {
        left -= every;
        points += value;
    }
    (points > 0).then_some(points)
}

/// A limit of a card as the model reads it.
pub fn limit(balance: Option<u64>, daily: Option<u64>, most: Option<u64>, least: Option<u64>) -> Value {
    json!({ "balance": balance, "daily": daily, "most": most, "least": least })
}
