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
use std::collections::BTreeSet;

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

/// The path of a kind, and what one is made of that every transition is open to.
fn served(kind: Kind, shop: &Shop) -> (String, Json) {
    let card = || shop.made(CARDS, &json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE" }));
    let rule = |card: &str, status: &str| {
        json!({ "name": "Rule", "status": status, "trigger": { "event": "customer.order.paid" },
            "earnings": [{ "effects": [{ "points": { "value": 1, "card_definition_id": card } }] }] })
    };
    match kind {
        Kind::CardDefinition => (CARDS.into(), json!({ "name": "Card", "type": "INDIVIDUAL" })),
        Kind::EarningRule => (RULES.into(), rule(&card(), "DRAFT")),
        Kind::Program => {
            let card = card();
            let rule = shop.made(RULES, &rule(&card, "ACTIVE"));
            let club =
                json!({ "name": "Club", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }] });
            (PROGRAMS.into(), club)
        }
        Kind::Incentive | Kind::Benefit => {
            let path = if kind == Kind::Benefit { BENEFITS } else { INCENTIVES };
            let points = json!({ "value": 1, "card_definition_id": card() });
            (path.into(), json!({ "name": "Gift", "type": "POINTS", "stock": 1, "points": points }))
        }
        Kind::TierStructure => {
            (TIERS.into(), json!({ "name": "Club", "type": "POINT_BALANCE", "card_definition_id": card() }))
        }
        Kind::Reward => {
            let product = shop.made("/v1/products", &json!({ "name": "Mug" }));
            let cost = json!({ "spending": [{ "points": 1, "card_definition_id": card() }] });
            let material = json!({ "type": "PRODUCT", "product": { "id": product } });
            (REWARDS.into(), json!({ "name": "Mug", "type": "MATERIAL", "material": material, "costs": [cost] }))
        }
        Kind::Member => {
            let card = card();
            let rule = shop.made(RULES, &rule(&card, "ACTIVE"));
            let club = json!({ "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }] });
            let club = shop.made(PROGRAMS, &club);
            let customer = shop.made("/v1/customers", &json!({ "source_id": "ann" }));
            (format!("{PROGRAMS}/{club}/members"), json!({ "customer_id": customer }))
        }
    }
}

/// What one must have that no call which makes it sends: a structure has a tier.
fn furnish(kind: Kind, shop: &Shop, path: &str, id: &str) {
    if kind == Kind::TierStructure {
        let tier = json!({ "name": "All", "qualification_rules": { "type": "POINTS", "min_value": 0 } });
        shop.made(&format!("{path}/{id}/tiers"), &tier);
    }
}

const TIERS_GONE: &str = "SELECT COUNT(*) FROM document
    WHERE kind = 'activity' AND json_extract(body, '$.type') = 'vl.tier_structure.tier.deleted'";
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

/// The calls that lead to a state from the one that a document begins in; nothing where none do.
fn way(kind: Kind, to: State) -> Option<&'static [Verb]> {
    let way: &[Verb] = match (kind, to) {
        // A member is never a draft.
        (Kind::Member, State::Draft) => return None,
        (Kind::Member, State::Active) | (_, State::Draft) => &[],
        (Kind::Member, State::Inactive) => &[Verb::Deactivate],
        (_, State::Active) => &[Verb::Activate],
        (_, State::Inactive) => &[Verb::Activate, Verb::Deactivate],
        (_, State::Deleted) => &[Verb::Delete],
    };
    let leads = way.iter().all(|verb| transitions(kind, *verb).next().is_some());
    leads.then_some(way)
}

#[test]
fn every_cell_through_the_routes() {
    let (mut led, mut refused, mut gone) = (0, 0, 0);
    let (mut unreached, mut routeless) = (BTreeSet::new(), BTreeSet::new());
    for kind in Kind::ALL {
        for verb in Verb::ALL {
            for state in State::ALL {
                let shop = Shop::new();
                let Some(way) = way(kind, state) else {
                    unreached.insert((kind.thing(), state.word()));
                    continue;
                };
                let (path, body) = served(kind, &shop);
                let id = shop.made(&path, &body);
                furnish(kind, &shop, &path, &id);
                for step in way {
                    let (method, path) = call(&path, &id, *step).unwrap();
                    let (status, told) = shop.send(method, &path, &Json::Null);
                    assert_eq!(status, 200, "{method} {path}: {told}");
                }
                let Some((method, path)) = call(&path, &id, verb) else {
                    assert!(transitions(kind, verb).next().is_none(), "{verb:?} of {kind:?} has no route");
                    routeless.insert((verb.word(), kind.thing()));
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
                        // Its one tier goes with a structure, and that is told.
                        let gone = shop.edge.count(PROJECT, TIERS_GONE);
                        let goes = (kind, verb) == (Kind::TierStructure, Verb::Delete);
                        assert_eq!(gone, i64::from(goes), "{cell}");
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
    // The table is whole: what is not tried is in no state that there is, or of a call that there is not.
    let never =
        [("benefit", "INACTIVE"), ("card definition", "INACTIVE"), ("incentive", "INACTIVE"), ("member", "DRAFT")];
    assert_eq!(unreached, BTreeSet::from(never));
    let no_calls = [
        ("deactivate", "benefit"),
        ("deactivate", "card definition"),
        ("deactivate", "incentive"),
        ("draft", "member"),
        ("draft", "program"),
    ];
    assert_eq!(routeless, BTreeSet::from(no_calls));
    assert_eq!((led, refused, gone), (43, 26, 27));
}
