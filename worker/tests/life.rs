//! Every cell of the table of states, kind by verb by state, through the routes: what leads somewhere does, what leads nowhere is refused
//! with its status, key and details, and then nothing is written.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/edge.rs"]
mod edge;

use edge::Edge;
use scrip::lifecycle::{Kind, State, Verb, transition, transitions};
use scrip_worker::http::request::Request;
use scrip_worker::table::TABLE;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const PROJECT: &str = "proj_dev";

/// A shop whose clock goes on with every call.
struct Shop {
    edge: Edge,
    now: Cell<i64>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { edge: Edge::new(), now: Cell::new(1_772_323_200_000) };
        // The first call of a project writes what it begins with.
        shop.send("GET", "/v1/campaigns", &Json::Null);
        shop
    }

    fn send(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        self.now.set(self.now.get() + 1);
        let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request = Request { method: method.into(), path: path.into(), query: String::new(), headers, body };
        let reply = self.edge.send(request, self.now.get(), None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    fn made(&self, path: &str, body: &Json) -> String {
        let (status, made) = self.send("POST", path, body);
        assert_eq!(status, 200, "POST {path}: {made}");
        made["id"].as_str().unwrap().to_owned()
    }
}

/// The path of a kind, if it is served, and what one is made of that every transition is open to.
fn served(kind: Kind, shop: &Shop) -> Option<(&'static str, Json)> {
    let card = || shop.made(CARDS, &json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE" }));
    let rule = |card: &str, status: &str| {
        json!({ "name": "Rule", "status": status, "trigger": { "event": "customer.order.paid" },
            "earnings": [{ "effects": [{ "points": { "value": 1, "card_definition_id": card } }] }] })
    };
    match kind {
        Kind::CardDefinition => Some((CARDS, json!({ "name": "Card", "type": "INDIVIDUAL" }))),
        Kind::EarningRule => Some((RULES, rule(&card(), "DRAFT"))),
        Kind::Program => {
            let card = card();
            let rule = shop.made(RULES, &rule(&card, "ACTIVE"));
            Some((
                PROGRAMS,
                json!({ "name": "Club", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }] }),
            ))
        }
        Kind::Incentive | Kind::Benefit => {
            let path = if kind == Kind::Benefit { BENEFITS } else { INCENTIVES };
            let points = json!({ "value": 1, "card_definition_id": card() });
            Some((path, json!({ "name": "Gift", "type": "POINTS", "stock": 1, "points": points })))
        }
        Kind::TierStructure => {
            Some((TIERS, json!({ "name": "Club", "type": "POINT_BALANCE", "card_definition_id": card() })))
        }
        Kind::Reward => {
            let product = shop.made("/v1/products", &json!({ "name": "Mug" }));
            let cost = json!({ "spending": [{ "points": 1, "card_definition_id": card() }] });
            let material = json!({ "type": "PRODUCT", "product": { "id": product } });
            Some((REWARDS, json!({ "name": "Mug", "type": "MATERIAL", "material": material, "costs": [cost] })))
        }
        Kind::Member => None,
    }
}

/// What one must have that no call which makes it sends: a structure has a tier.
fn furnish(kind: Kind, shop: &Shop, path: &str, id: &str) {
    if kind == Kind::TierStructure {
        let tier = json!({ "name": "All", "qualification_rules": { "type": "POINTS", "min_value": 0 } });
        shop.made(&format!("{path}/{id}/tiers"), &tier);
    }
}

const CARDS: &str = "/v2/loyalties/card-definitions";
const RULES: &str = "/v2/loyalties/earning-rules";
const PROGRAMS: &str = "/v2/loyalties/programs";
const INCENTIVES: &str = "/v2/loyalties/incentives";
const BENEFITS: &str = "/v2/loyalties/benefits";
const TIERS: &str = "/v2/loyalties/tier-structures";
const REWARDS: &str = "/v2/loyalties/rewards";

/// The call of a verb on a document; nothing where there is no such route.
fn call(path: &str, id: &str, verb: Verb) -> Option<(&'static str, String)> {
    let (method, path) = match verb {
        Verb::Delete => ("DELETE", format!("{path}/{id}")),
        Verb::Activate | Verb::Deactivate | Verb::Draft => ("POST", format!("{path}/{id}/{}", verb.word())),
    };
    TABLE.find(method, &path).is_ok().then_some((method, path))
}

/// The calls that lead from DRAFT to a state; nothing where none do.
fn way(kind: Kind, to: State) -> Option<&'static [Verb]> {
    let way: &[Verb] = match to {
        State::Draft => &[],
        State::Active => &[Verb::Activate],
        State::Inactive => &[Verb::Activate, Verb::Deactivate],
        State::Deleted => &[Verb::Delete],
    };
    let leads = way.iter().all(|verb| transitions(kind, *verb).next().is_some());
    leads.then_some(way)
}

#[test]
fn every_cell_through_the_routes() {
    let (mut led, mut refused, mut gone) = (0, 0, 0);
    for kind in Kind::ALL {
        for verb in Verb::ALL {
            for state in State::ALL {
                let shop = Shop::new();
                let (Some((path, body)), Some(way)) = (served(kind, &shop), way(kind, state)) else { continue };
                let id = shop.made(path, &body);
                furnish(kind, &shop, path, &id);
                for step in way {
                    let (method, path) = call(path, &id, *step).unwrap();
                    let (status, told) = shop.send(method, &path, &Json::Null);
                    assert_eq!(status, 200, "{method} {path}: {told}");
                }
                let Some((method, path)) = call(path, &id, verb) else {
                    assert!(transitions(kind, verb).next().is_none(), "{verb:?} of {kind:?} has no route");
                    continue;
                };
                let before = shop.edge.rows(PROJECT);
                let (status, told) = shop.send(method, &path, &Json::Null);
                let cell = format!("{verb:?} {kind:?} from {state:?}: {told}");
                match transition(kind, verb, state) {
                    Ok(row) => {
                        led += 1;
                        assert_eq!((status, told["status"].as_str()), (200, Some(row.to.word())), "{cell}");
                        assert_ne!(shop.edge.rows(PROJECT), before, "{cell}");
                    }
                    Err(_) if state == State::Deleted => {
                        gone += 1;
                        assert_eq!((status, told["key"].as_str()), (404, Some("not_found")), "{cell}");
                        assert_eq!(shop.edge.rows(PROJECT), before, "{cell}");
                    }
                    Err(denial) => {
                        refused += 1;
                        assert_eq!(status, denial.code, "{cell}");
                        assert_eq!(told["key"], denial.key, "{cell}");
                        assert_eq!(told["message"], denial.message, "{cell}");
                        assert_eq!(told["details"], denial.details, "{cell}");
                        assert_eq!(shop.edge.rows(PROJECT), before, "{cell}");
                    }
                }
            }
        }
    }
    println!("{led} cells lead on, {refused} are refused, {gone} are of what is gone");
    assert!(led >= 38 && refused >= 22 && gone >= 24, "{led} {refused} {gone}");
}
