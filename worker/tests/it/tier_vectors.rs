//! Runs every vector of tiers through the whole service in process: orders give points, customers enter segments, and the tier events equal
//! the engine's byte for byte. Also tests that a customer who leaves a program loses the tier.
#![cfg(feature = "test-hooks")]

use crate::in_process::Edge;
use crate::support::test_report;
use crate::support::vector::{self, Vector};
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

const PROJECT: &str = "proj_dev";
const EVENTS: &str = "/management/v1/projects/proj_dev/custom-event-schemas";

/// A project with one customer.
struct Shop {
    edge: Edge,
    now_ms: i64,
}

impl Shop {
    fn new(begin: &str) -> Shop {
        Shop { edge: Edge::new(), now_ms: scrip_worker::timestamp::parse(begin).unwrap() }
    }

    fn request(&self, method: &str, target: &str, body: &Json) -> (u16, Json) {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let keys = match path.starts_with("/management") {
            true => [("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")],
            false => [("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
        };
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: keys.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        let reply = self.edge.send(request, self.now_ms, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    fn post(&self, path: &str, body: &Json) -> Json {
        let (status, answer) = self.request("POST", path, body);
        assert_eq!(status, 200, "{path} {body}: {answer}");
        answer
    }

    fn get(&self, path: &str) -> Json {
        let (status, answer) = self.request("GET", path, &Json::Null);
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }
}

/// A member in the program of a vector.
struct Member {
    shop: Shop,
    customer: String,
    program: String,
    id: String,
    card: String,
    /// Ids with their names in the vector.
    names: Vec<(String, String)>,
}

fn id(answer: &Json) -> String {
    answer["id"].as_str().unwrap().to_owned()
}

/// Creates the segments that the tiers of a vector name.
fn segments(shop: &Shop, given: &Json) -> Vec<(String, String)> {
    let mut made: Vec<(String, String)> = Vec::new();
    for tier in given["tiers"].as_array().unwrap() {
        let Some(name) = tier["qualification_rules"]["segment"]["id"].as_str() else { continue };
        if made.iter().all(|(_, known)| known != name) {
            let field = format!("metadata.{name}");
            let filter = json!({ "junction": "and", field: { "conditions": { "$is": [true] } } });
            let body = json!({ "name": name, "type": "auto-update", "filter": filter });
            made.push((id(&shop.post("/v1/segments", &body)), name.to_owned()));
        }
    }
    made
}

/// The tier structure of a vector, ACTIVE, with the names of its tiers.
fn structure(shop: &Shop, given: &Json, definition: &str, names: &mut Vec<(String, String)>) -> String {
    let mut body = given["structure"].clone();
    body["name"] = json!("Levels");
    body["card_definition_id"] = json!(definition);
    if let Some(types) = body.pointer_mut("/expiration/sliding_expiration/custom_activity_types") {
        for kind in types.as_array_mut().unwrap() {
            *kind = json!(id(&shop.post(EVENTS, &json!({ "name": kind, "schema": { "properties": {} } }))));
        }
    }
    let levels = id(&shop.post("/v2/loyalties/tier-structures", &body));
    for tier in given["tiers"].as_array().unwrap() {
        let mut body = tier.clone();
        if let Some(segment) = body.pointer_mut("/qualification_rules/segment/id") {
            let (known, _) = names.iter().find(|(_, name)| segment.as_str() == Some(name)).unwrap();
            *segment = json!(known);
        }
        let made = shop.post(&format!("/v2/loyalties/tier-structures/{levels}/tiers"), &body);
        names.push((id(&made), tier["name"].as_str().unwrap().to_owned()));
    }
    shop.post(&format!("/v2/loyalties/tier-structures/{levels}/activate"), &Json::Null);
    levels
}

fn join(given: &Json) -> Member {
    let shop = Shop::new(given["begin"].as_str().unwrap());
    let zone = given.get("time_zone").cloned().unwrap_or_else(|| json!("UTC"));
    shop.post("/test-hooks/given", &json!({ "complete": true, "time_zone": zone }));
    let customer = id(&shop.post("/v1/customers", &json!({ "source_id": "ann" })));
    let mut body = json!({ "name": "Card", "type": "INDIVIDUAL", "status": "ACTIVE" });
    if let Some(expiration) = given.get("points_expiration") {
        body["points_expiration"] = expiration.clone();
    }
    let definition = id(&shop.post("/v2/loyalties/card-definitions", &body));
    let mut names = segments(&shop, given);
    let levels = structure(&shop, given, &definition, &mut names);
    let points = json!({ "calculation_type": "PRE_DISCOUNT_ORDER_AMOUNT", "card_definition_id": definition,
        "order": { "amount": { "every": 1, "value": 1 } } });
    let rule = json!({ "name": "Rule", "status": "ACTIVE", "trigger": { "event": "customer.order.paid" },
        "earnings": [{ "effects": [{ "points_proportional": points }] }] });
    let rule = id(&shop.post("/v2/loyalties/earning-rules", &rule));
    let club = json!({ "name": "Club", "status": "ACTIVE", "card_definitions": [{ "id": definition }],
        "earning_rules": [{ "id": rule }], "tier_structures": [{ "id": levels }] });
    let program = id(&shop.post("/v2/loyalties/programs", &club));
    let member = shop.post(&format!("/v2/loyalties/programs/{program}/members"), &json!({ "customer_id": customer }));
    let card = id(&member["cards"][0]["card"]);
    Member { id: id(&member), shop, customer, program, card, names }
}

impl Member {
    fn path(&self) -> String {
        format!("/v2/loyalties/programs/{}/members/{}", self.program, self.id)
    }

    fn send_event(&mut self, event: &Json) {
        self.shop.now_ms = scrip_worker::timestamp::parse(event["at"].as_str().unwrap()).unwrap();
        let set_member = |field: &str, is: bool| {
            let body = json!({ "metadata": { field: is } });
            let (status, answer) = self.shop.request("PUT", &format!("/v1/customers/{}", self.customer), &body);
            assert_eq!(status, 200, "{answer}");
        };
        let adjust = |points: i64| {
            let path = format!("{}/cards/{}/points", self.path(), self.card);
            self.shop.post(&path, &json!({ "points": points }));
        };
        if let Some(amount) = event["earns"].as_i64() {
            let order = json!({ "status": "PAID", "amount": amount, "customer": { "id": self.customer } });
            self.shop.post("/v1/orders", &order);
        } else if let Some(points) = event["gets"].as_i64() {
            adjust(points);
        } else if let Some(points) = event["loses"].as_i64() {
            adjust(-points);
        } else if let Some(name) = event["sends"].as_str() {
            self.shop.post("/v1/events", &json!({ "event": name, "customer": { "id": self.customer } }));
        } else if let Some(name) = event["enters"].as_str() {
            set_member(name, true);
        } else {
            set_member(event["leaves"].as_str().unwrap(), false);
        }
    }

    fn name(&self, id: &Json) -> Json {
        let known = self.names.iter().find(|(known, _)| id.as_str() == Some(known));
        known.map_or(Json::Null, |(_, name)| json!(name))
    }

    /// Returns the service's tier events in the form of the engine's answer. The progress is read first, because that settles nothing for
    /// the list.
    fn transactions(&self) -> String {
        let membership =
            self.shop.get(&format!("/v2/loyalties/programs/{}/memberships/{}", self.program, self.customer));
        let listed = self.shop.get(&format!("{}/tiers/transactions?limit=100&order=created_at", self.path()));
        assert_eq!(listed["cursor"], Json::Null, "a vector has a hundred transactions at most");
        let transaction = |one: &Json| {
            let details = &one["details"];
            json!({
                "at": one["created_at"], "type": one["type"], "from": self.name(&details["tier_from"]),
                "to": self.name(&details["tier_to"]), "points": details["points"], "start_at": details["start_at"],
                "expires_at": details["expires_at"],
            })
        };
        let transactions: Vec<Json> = listed["data"].as_array().unwrap().iter().map(transaction).collect();
        let mut progress = membership["cards"][0]["tier_progress"].clone();
        let members = progress.as_object_mut().unwrap();
        members.remove("tier_structure");
        members.remove("object");
        plain(json!({ "transactions": transactions, "progress": progress })).to_string()
    }
}

/// Returns the value without empty members, and with tiers by name.
fn plain(value: Json) -> Json {
    match value {
        Json::Object(members) if members.contains_key("id") => members["name"].clone(),
        Json::Object(members) => {
            members.into_iter().filter(|(_, one)| !one.is_null()).map(|(name, one)| (name, plain(one))).collect()
        }
        Json::Array(items) => items.into_iter().map(plain).collect(),
        other => other,
    }
}

fn difference(vector: &Vector) -> Option<String> {
    let (given, request): (Json, Json) =
        (serde_json::from_str(&vector.given).unwrap(), serde_json::from_str(&vector.request).unwrap());
    let mut member = join(&given);
    for event in request["history"].as_array().unwrap() {
        member.send_event(event);
    }
    member.shop.now_ms = scrip_worker::timestamp::parse(&vector.now).unwrap();
    vector.fault("tiers-service", &member.transactions())
}

#[test]
fn vectors() {
    let vectors = vector::within(vector::TIERS, "");
    let wrong: Vec<String> = vectors.iter().filter_map(difference).collect();
    let ran = vectors.len();
    test_report::record(&json!({ "kind": "vectors", "subject": "tiers-service", "ran": ran, "skipped": [] }));
    assert!(wrong.is_empty(), "{} of {ran}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Creates a program with one tier for all members, and returns the events after the end of the membership.
fn final_transactions(send_event: impl Fn(&mut Member)) -> Vec<(String, Json)> {
    let given = json!({
        "begin": "2026-03-01T10:00:00Z", "structure": { "type": "POINT_BALANCE", "downgrade": { "type": "MULTI_LEVEL" } },
        "tiers": [{ "name": "bronze", "qualification_rules": { "type": "POINTS", "min_value": 1 } }],
    });
    let mut member = join(&given);
    send_event(&mut member);
    let (status, answer) = member.shop.request("DELETE", &member.path(), &Json::Null);
    assert_eq!(status, 200, "{answer}");
    let rows = member.shop.edge.run(
        PROJECT,
        "SELECT json_extract(body, '$.type') || ' ' || created_at, json_extract(body, '$.details') FROM document
         WHERE kind = 'tier_transaction' ORDER BY created_at",
        &[],
    );
    let read = |row: &scrip_worker::store::sql::SqlRow| {
        let text = |index| scrip_worker::store::sql::text(row, index).unwrap().to_owned();
        (text(0), serde_json::from_str(&text(1)).unwrap())
    };
    rows.iter().map(read).collect()
}

#[test]
fn leaving_a_program_ends_the_tier() {
    let transactions = final_transactions(|member| {
        member.send_event(&json!({ "at": "2026-03-02T10:00:00Z", "gets": 5 }));
        member.shop.now_ms += 1_000;
    });
    let types: Vec<&str> = transactions.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(types, ["JOINED 1772445600000", "LEFT 1772445601000"]);
    let leaving = &transactions[1].1;
    assert_eq!((&leaving["tier_to"], &leaving["points"], &leaving["start_at"]), (&Json::Null, &json!(5), &Json::Null));
    assert_eq!(leaving["origin"], json!({ "type": "member_card_deleted", "card_transaction_ids": [] }));
    let outsider =
        final_transactions(|member| member.send_event(&json!({ "at": "2026-03-02T10:00:00Z", "enters": "x" })));
    assert!(outsider.is_empty(), "a member without a tier leaves none: {outsider:?}");
    let at_once = final_transactions(|member| member.send_event(&json!({ "at": "2026-03-02T10:00:00Z", "gets": 5 })));
    assert!(at_once.is_empty(), "of a moment only the end counts: {at_once:?}");
}
