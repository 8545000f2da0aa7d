//! Tests every cell of the state table, kind by verb by state, through the routes. Permitted transitions succeed; others are refused with
//! status, key and details and write nothing.

use crate::in_process::Edge;
use scrip::lifecycle::{Entity, EntityState, TransitionAction, transition, transitions};
use scrip_worker::http::request::Request;
use scrip_worker::routes::TABLE;
use serde_json::{Value as Json, json};
use std::cell::Cell;
use std::collections::BTreeSet;

const PROJECT: &str = "proj_dev";

/// A project whose clock advances with every call.
struct Shop {
    edge: Edge,
    now: Cell<i64>,
}

impl Shop {
    fn new() -> Shop {
        let shop = Shop { edge: Edge::new(), now: Cell::new(1_772_323_200_000) };
        // The first call of a project writes its initial rows.
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

/// Returns the path of a kind, and a body whose object allows every transition.
fn served(kind: Entity, shop: &Shop) -> (String, Json) {
    let card = || shop.made(CARDS, &json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE" }));
    let rule = |card: &str, status: &str| {
        json!({ "name": "Rule", "status": status, "trigger": { "event": "customer.order.paid" },
            "earnings": [{ "effects": [{ "points": { "value": 1, "card_definition_id": card } }] }] })
    };
    match kind {
        Entity::CardDefinition => (CARDS.into(), json!({ "name": "Card", "type": "INDIVIDUAL" })),
        Entity::EarningRule => (RULES.into(), rule(&card(), "DRAFT")),
        Entity::Program => {
            let card = card();
            let rule = shop.made(RULES, &rule(&card, "ACTIVE"));
            let club =
                json!({ "name": "Club", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }] });
            (PROGRAMS.into(), club)
        }
        Entity::Incentive | Entity::Benefit => {
            let path = if kind == Entity::Benefit { BENEFITS } else { INCENTIVES };
            let points = json!({ "value": 1, "card_definition_id": card() });
            (path.into(), json!({ "name": "Gift", "type": "POINTS", "stock": 1, "points": points }))
        }
        Entity::TierStructure => {
            (TIERS.into(), json!({ "name": "Club", "type": "POINT_BALANCE", "card_definition_id": card() }))
        }
        Entity::Reward => {
            let product = shop.made("/v1/products", &json!({ "name": "Mug" }));
            let cost = json!({ "spending": [{ "points": 1, "card_definition_id": card() }] });
            let material = json!({ "type": "PRODUCT", "product": { "id": product } });
            (REWARDS.into(), json!({ "name": "Mug", "type": "MATERIAL", "material": material, "costs": [cost] }))
        }
        Entity::Member => {
            let card = card();
            let rule = shop.made(RULES, &rule(&card, "ACTIVE"));
            let club = json!({ "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": card }], "earning_rules": [{ "id": rule }] });
            let club = shop.made(PROGRAMS, &club);
            let customer = shop.made("/v1/customers", &json!({ "source_id": "ann" }));
            (format!("{PROGRAMS}/{club}/members"), json!({ "customer_id": customer }))
        }
    }
}

/// Adds a required part that the creating call does not send: a structure needs a tier.
fn furnish(kind: Entity, shop: &Shop, path: &str, id: &str) {
    if kind == Entity::TierStructure {
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

/// Returns the call of a verb on a document; none where there is no such route.
fn call(path: &str, id: &str, action: TransitionAction) -> Option<(&'static str, String)> {
    let (method, path) = match action {
        TransitionAction::Delete => ("DELETE", format!("{path}/{id}")),
        TransitionAction::Activate | TransitionAction::Deactivate | TransitionAction::Draft => {
            ("POST", format!("{path}/{id}/{}", action.name()))
        }
    };
    TABLE.find(method, &path).is_ok().then_some((method, path))
}

/// Returns the calls that lead from the initial state to a state; none where it cannot be reached.
fn way(kind: Entity, to: EntityState) -> Option<&'static [TransitionAction]> {
    let way: &[TransitionAction] = match (kind, to) {
        // A member is never a draft.
        (Entity::Member, EntityState::Draft) => return None,
        (Entity::Member, EntityState::Active) | (_, EntityState::Draft) => &[],
        (Entity::Member, EntityState::Inactive) => &[TransitionAction::Deactivate],
        (_, EntityState::Active) => &[TransitionAction::Activate],
        (_, EntityState::Inactive) => &[TransitionAction::Activate, TransitionAction::Deactivate],
        (_, EntityState::Deleted) => &[TransitionAction::Delete],
    };
    let leads = way.iter().all(|action| transitions(kind, *action).next().is_some());
    leads.then_some(way)
}

#[test]
fn every_transition_is_permitted_or_refused_as_declared() {
    let (mut led, mut refused, mut gone) = (0, 0, 0);
    let (mut unreached, mut routeless) = (BTreeSet::new(), BTreeSet::new());
    for kind in Entity::ALL {
        for action in TransitionAction::ALL {
            for state in EntityState::ALL {
                let shop = Shop::new();
                let Some(way) = way(kind, state) else {
                    unreached.insert((kind.noun(), state.name()));
                    continue;
                };
                let (path, body) = served(kind, &shop);
                let id = shop.made(&path, &body);
                furnish(kind, &shop, &path, &id);
                for step in way {
                    let (method, path) = call(&path, &id, *step).unwrap();
                    let (status, answer) = shop.send(method, &path, &Json::Null);
                    assert_eq!(status, 200, "{method} {path}: {answer}");
                }
                let Some((method, path)) = call(&path, &id, action) else {
                    assert!(transitions(kind, action).next().is_none(), "{action:?} of {kind:?} has no route");
                    routeless.insert((action.name(), kind.noun()));
                    continue;
                };
                let before = shop.edge.rows(PROJECT);
                let (status, answer) = shop.send(method, &path, &Json::Null);
                let cell = format!("{action:?} {kind:?} from {state:?}: {answer}");
                match transition(kind, action, state) {
                    Ok(row) => {
                        led += 1;
                        assert_eq!((status, answer["status"].as_str()), (200, Some(row.to.name())), "{cell}");
                        assert_ne!(shop.edge.rows(PROJECT), before, "{cell}");
                        // Its only tier is deleted with a structure, and that has an event.
                        let gone = shop.edge.count(PROJECT, TIERS_GONE);
                        let goes = (kind, action) == (Entity::TierStructure, TransitionAction::Delete);
                        assert_eq!(gone, i64::from(goes), "{cell}");
                    }
                    Err(_) if state == EntityState::Deleted => {
                        gone += 1;
                        assert_eq!((status, answer["key"].as_str()), (404, Some("not_found")), "{cell}");
                        assert_eq!(shop.edge.rows(PROJECT), before, "{cell}");
                    }
                    Err(denial) => {
                        refused += 1;
                        assert_eq!(status, denial.code, "{cell}");
                        assert_eq!(answer["key"], denial.key, "{cell}");
                        assert_eq!(answer["message"], denial.message, "{cell}");
                        assert_eq!(answer["details"], denial.details, "{cell}");
                        assert_eq!(shop.edge.rows(PROJECT), before, "{cell}");
                    }
                }
            }
        }
    }
    println!("{led} cells lead on, {refused} are refused, {gone} are of what is gone");
    // The table is complete: an untried cell has an unreachable state or a verb without a call.
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
