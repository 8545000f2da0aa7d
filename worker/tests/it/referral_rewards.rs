//! Tests that a referral counts once and rewards once, for every sequence of redemptions, rollbacks, events, additions and deletions.
//! Random histories are compared with a naive second model, which replays the list of events.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

const NOW: i64 = 1_772_366_400_000;
const HISTORIES: u64 = 150;
const STEPS: u64 = 30;
const PEOPLE: usize = 6;

/// Codes: the referrer of each, and a flag if its program counts an event.
const CODES: [(usize, bool); 4] = [(0, false), (1, false), (1, true), (2, true)];
/// Rewards of the programs: the one that counts redemptions, and the one that counts an event.
const GIVEN: [i64; 2] = [10, 7];

/// An event: its code and its customer.
#[derive(Debug, Clone, Copy)]
enum ReferralEvent {
    Redeemed(usize, usize),
    Published(usize, usize),
    Added(usize, usize),
    Removed(usize, usize),
}

/// The expected state: the customers of each code, and the counted referrals.
#[derive(Default, PartialEq, Debug)]
struct Model {
    referees: BTreeSet<(usize, usize)>,
    counted: BTreeSet<(usize, usize)>,
}

impl Model {
    fn of(history: &[ReferralEvent]) -> Model {
        let mut model = Model::default();
        for happened in history {
            match *happened {
                ReferralEvent::Redeemed(code, customer_index) => {
                    model.referees.insert((code, customer_index));
                    if !CODES[code].1 {
                        model.counted.insert((code, customer_index));
                    }
                }
                ReferralEvent::Published(code, customer_index) if CODES[code].1 => {
                    model.referees.insert((code, customer_index));
                    model.counted.insert((code, customer_index));
                }
                ReferralEvent::Published(..) => {}
                ReferralEvent::Added(code, customer_index) => drop(model.referees.insert((code, customer_index))),
                ReferralEvent::Removed(code, customer_index) => drop(model.referees.remove(&(code, customer_index))),
            }
        }
        model
    }

    fn points(&self, customer_index: usize) -> i64 {
        let is_granted =
            |by_event: bool| self.counted.iter().any(|(code, by)| *by == customer_index && CODES[*code].1 == by_event);
        [false, true].iter().zip(GIVEN).filter(|(by_event, _)| is_granted(**by_event)).map(|(_, points)| points).sum()
    }
}

struct Shop {
    edge: Edge,
    redemptions: Vec<String>,
}

impl Shop {
    fn call(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let keys: [(&str, &str); 2] = match path.starts_with("/management") {
            true => [("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")],
            false => [("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
        };
        let headers = keys.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
        let reply = self.edge.send(request, NOW, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    fn create(&self, path: &str, body: &Json) -> Json {
        let (status, made) = self.call("POST", path, body);
        assert_eq!(status, 200, "{path}: {made}");
        made
    }

    fn open() -> Shop {
        let shop = Shop { edge: Edge::new(), redemptions: Vec::new() };
        for name in ["signed_up", "looked"] {
            let schema = json!({ "name": name, "schema": { "properties": {} } });
            shop.create("/management/v1/projects/proj_dev/custom-event-schemas", &schema);
        }
        let card = json!({ "loyalty_card": { "points": 0 } });
        shop.create("/v1/campaigns", &json!({ "name": "Club", "campaign_type": "LOYALTY_PROGRAM", "voucher": card }));
        for (name, counts, points) in [("P", "redemption", GIVEN[0]), ("Q", "custom_event", GIVEN[1])] {
            let reward =
                json!({ "type": "LOYALTY_CARD", "amount": points, "related_object_parent": { "name": "Club" } });
            shop.create("/v1/campaigns", &json!({
                "name": name, "campaign_type": "REFERRAL_PROGRAM",
                "referral_program": { "conversion_event_type": counts, "custom_event": { "name": "signed_up" }, "referee_reward": reward },
                "voucher": { "discount": { "type": "AMOUNT", "amount_off": 1 }, "redemption": { "quantity": 1000 } },
            }));
        }
        for (number, (referrer, by_event)) in CODES.iter().enumerate() {
            let program = if *by_event { "Q" } else { "P" };
            shop.create(&format!("/v1/campaigns/{program}/vouchers/C{number}"), &json!({}));
            let customer = json!({ "source_id": format!("p{referrer}") });
            shop.create("/v1/publications", &json!({ "voucher": format!("C{number}"), "customer": customer }));
        }
        shop
    }

    /// Makes one random attempt; its result is added to the history.
    fn step(&mut self, random: &mut Random, history: &mut Vec<ReferralEvent>) {
        let code = usize::try_from(random.below(4)).unwrap();
        let customer_index = usize::try_from(random.below(PEOPLE as u64)).unwrap();
        let customer = json!({ "source_id": format!("p{customer_index}") });
        let is_own = CODES[code].0 == customer_index;
        match random.below(6) {
            0 | 1 => {
                let request = json!({
                    "redeemables": [{ "object": "voucher", "id": format!("C{code}") }], "order": { "amount": 10 }, "customer": customer,
                });
                let (status, answer) = self.call("POST", "/v1/redemptions", &request);
                assert_eq!(status, if is_own { 400 } else { 200 }, "{answer}");
                if !is_own {
                    self.redemptions.push(answer["redemptions"][0]["id"].as_str().unwrap().to_owned());
                    history.push(ReferralEvent::Redeemed(code, customer_index));
                }
            }
            2 => {
                let event = if random.below(4) == 0 { "looked" } else { "signed_up" };
                let request =
                    json!({ "event": event, "customer": customer, "referral": { "code": format!("C{code}") } });
                let (status, answer) = self.call("POST", "/v1/events", &request);
                assert_eq!(status, if is_own { 400 } else { 200 }, "{answer}");
                if !is_own && event == "signed_up" {
                    history.push(ReferralEvent::Published(code, customer_index));
                }
            }
            3 => {
                let other = (customer_index + 1) % PEOPLE;
                let holders = json!({ "holders": [customer, { "source_id": format!("p{other}") }] });
                let (status, answer) = self.call("POST", &format!("/v1/referrals/members/C{code}/holders"), &holders);
                let known = Model::of(history).referees;
                let is_free =
                    |customer_index: usize| CODES[code].0 != customer_index && !known.contains(&(code, customer_index));
                assert_eq!(status, if is_free(customer_index) && is_free(other) { 200 } else { 409 }, "{answer}");
                if status == 200 {
                    history.extend([ReferralEvent::Added(code, customer_index), ReferralEvent::Added(code, other)]);
                }
            }
            4 => {
                if let Some(id) = self.redemptions.pop() {
                    self.create(&format!("/v1/redemptions/{id}/rollback"), &json!({}));
                }
            }
            _ => {
                let Some(&(code, customer_index)) = Model::of(history).referees.iter().next() else { return };
                let (_, customer) = self.call("GET", &format!("/v1/customers/p{customer_index}"), &Json::Null);
                let filter = format!("filters[customer_id][conditions][$is]={}", customer["id"].as_str().unwrap());
                let (_, list) =
                    self.call("GET", &format!("/v1/referrals/members/C{code}/holders?{filter}"), &Json::Null);
                let id = list["data"][0]["id"].as_str().unwrap().to_owned();
                let path = format!("/v1/referrals/members/C{code}/holders/{id}");
                assert_eq!(self.call("DELETE", &path, &Json::Null).0, 204);
                history.push(ReferralEvent::Removed(code, customer_index));
            }
        }
    }

    /// Compares the service with the model.
    fn check(&self, history: &[ReferralEvent]) {
        let model = Model::of(history);
        for customer_index in 0..PEOPLE {
            let (status, customer) = self.call("GET", &format!("/v1/customers/p{customer_index}"), &Json::Null);
            let number = |path: &str| customer.pointer(path).and_then(Json::as_i64).unwrap_or(0);
            let total = model.counted.iter().filter(|(_, by)| *by == customer_index).count();
            let referred = model.counted.iter().filter(|(code, _)| CODES[*code].0 == customer_index).count();
            let message = format!("p{customer_index} ({status}) after {history:?}: {customer}");
            assert_eq!(number("/referrals/total"), i64::try_from(total).unwrap(), "{message}");
            assert_eq!(number("/loyalty/referred_customers"), i64::try_from(referred).unwrap(), "{message}");
            assert_eq!(
                number("/summary/redemptions/loyalty_card/points_to_go"),
                model.points(customer_index),
                "{message}"
            );
        }
        for code in 0..CODES.len() {
            let (_, list) = self.call("GET", &format!("/v1/referrals/members/C{code}/holders?limit=100"), &Json::Null);
            let referees = model.referees.iter().filter(|(of, _)| *of == code).count();
            assert_eq!(list["total"], json!(referees + 1), "C{code} after {history:?}: {list}");
        }
    }
}

#[test]
fn a_referral_counts_once_in_every_history() {
    for seed in 0..HISTORIES {
        let mut random = Random::new(seed);
        let mut shop = Shop::open();
        let mut history = Vec::new();
        for _ in 0..STEPS {
            shop.step(&mut random, &mut history);
        }
        shop.check(&history);
    }
}
