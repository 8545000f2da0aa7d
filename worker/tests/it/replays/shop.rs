//! A project that keeps inputs of redemptions, and the calls of the tests of replays.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::store::sql::SqlValue;
use serde_json::{Value as Json, json};
use std::cell::Cell;

pub const NOW: i64 = 1_772_323_200_000;
pub const DAY: i64 = 86_400_000;
const MANAGEMENT: &[(&str, &str)] =
    &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")];

/// A project of its own with its clock.
pub struct Shop {
    pub edge: Edge,
    pub project: String,
    server: [(String, String); 2],
    client: [(String, String); 3],
    pub now: Cell<i64>,
}

impl Shop {
    /// Creates a project that keeps inputs for a number of days.
    pub fn new(replay_days: i64) -> Shop {
        let edge = Edge::new();
        let body = json!({ "name": "Made", "timezone": "Europe/Warsaw", "currency": "EUR", "case_sensitive_codes": true,
            "replay_days": replay_days, "client_trusted_domains": ["http://localhost:*"], "client_redeem_enabled": true });
        let headers = MANAGEMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Request {
            method: "POST".into(),
            path: "/management/v1/projects".into(),
            headers,
            body: body.to_string().into_bytes(),
            ..Request::default()
        };
        let made = json_of(&edge.send(request, NOW, None));
        let key = |of: &str, name: &str| made[of][name].as_str().unwrap().to_owned();
        let server = [("x-app-id", "app_id"), ("x-app-token", "app_token")];
        let client = [("x-client-application-id", "app_id"), ("x-client-token", "app_token")];
        let [client_id, client_token] = client.map(|(header, name)| (header.to_owned(), key("client_side_key", name)));
        Shop {
            server: server.map(|(header, name)| (header.to_owned(), key("server_side_key", name))),
            client: [client_id, client_token, ("origin".to_owned(), "http://localhost:3000".to_owned())],
            project: made["id"].as_str().unwrap().to_owned(),
            edge,
            now: Cell::new(NOW + 1_000),
        }
    }

    pub fn send(&self, call: &str, body: &str) -> Reply {
        let request = self.request(call, body);
        self.edge.send(request, self.now.get(), None)
    }

    pub fn set_days(&self, days: i64) {
        self.call(&format!("PUT /management/v1/projects/{}", self.project), &json!({ "replay_days": days }));
    }

    pub fn request(&self, call: &str, body: &str) -> Request {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = match path {
            _ if path.starts_with("/management") => {
                MANAGEMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
            }
            _ if path.starts_with("/client") => self.client.to_vec(),
            _ => self.server.to_vec(),
        };
        self.now.set(self.now.get() + 1);
        Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers,
            body: body.as_bytes().to_vec(),
        }
    }

    /// A call that succeeds.
    pub fn call(&self, call: &str, body: &Json) -> Json {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let reply = self.send(call, &text);
        assert!(reply.status < 300, "{call}: {} {}", reply.status, String::from_utf8_lossy(&reply.body));
        json_of(&reply)
    }

    /// A call that is refused: its status, key and details.
    pub fn refused(&self, call: &str, body: &Json) -> String {
        let reply = self.send(call, &body.to_string());
        let answer = json_of(&reply);
        let text = |name: &str| answer[name].as_str().unwrap_or_default().to_owned();
        format!("{} {}: {}", reply.status, text("key"), text("details"))
    }

    pub fn replay(&self, id: &str, rules: &str) -> Reply {
        let before = self.edge.rows(&self.project);
        let reply = self.send(&format!("POST /v1/redemptions/{id}/replay"), &json!({ "rules": rules }).to_string());
        assert_eq!(self.edge.rows(&self.project), before, "a replay writes nothing");
        reply
    }

    /// Replays with the kept facts, and demands the bytes that were answered.
    pub fn assert_same(&self, id: &str, answered: &Reply) {
        let reply = self.replay(id, "kept");
        let text = String::from_utf8(reply.body.clone()).unwrap();
        assert_eq!(reply.status, 200, "{text}");
        let bytes = String::from_utf8(answered.body.clone()).unwrap();
        assert!(text.contains(&format!("\"answer\":{bytes},\"differences\":[]")), "{text}\nhas no\n{bytes}");
        let body = json_of(&reply);
        assert_eq!((&body["is_same"], &body["status"]), (&json!(true), &json!(answered.status)), "{id}");
        assert_eq!((&body["redemption_id"], &body["rules"]), (&json!(id), &json!("kept")));
        assert_eq!(body["engine"], body["current_engine"]);
    }

    /// The differences under the rules of today, by path.
    pub fn differences(&self, id: &str) -> Vec<String> {
        let reply = self.replay(id, "today");
        assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
        let body = json_of(&reply);
        assert_eq!((&body["is_same"], &body["rules"]), (&json!(true), &json!("today")));
        let listed = body["differences"].as_array().unwrap();
        assert_eq!(body["difference_count"], listed.len());
        let value = |difference: &Json, name: &str| difference.get(name).map_or("-".to_owned(), Json::to_string);
        let line =
            |one: &Json| format!("{} {} {}", one["path"].as_str().unwrap(), value(one, "kept"), value(one, "today"));
        listed.iter().map(line).collect()
    }

    pub fn count(&self, statement: &str) -> i64 {
        self.edge.count(&self.project, statement)
    }

    pub fn inputs(&self) -> i64 {
        self.count("SELECT COUNT(*) FROM redemption_input")
    }

    /// The rows of each table.
    pub fn rows_by_table(&self) -> Vec<(String, i64)> {
        let tables = self.edge.run(
            &self.project,
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
            &[],
        );
        let name = |row: &Vec<SqlValue>| match &row[0] {
            SqlValue::Text(name) => name.clone(),
            other => panic!("{other:?}"),
        };
        let counted = tables.iter().map(name).map(|name| {
            let count = self.count(&format!("SELECT COUNT(*) FROM {name}"));
            (name, count)
        });
        counted.collect()
    }

    /// Runs the retention sweep at a time until it is done.
    pub fn sweep(&self, now: i64) {
        self.now.set(now);
        self.edge.hasten(&self.project);
        for _ in 0..20 {
            if !self.edge.alarm(&self.project, now) {
                break;
            }
            self.edge.hasten(&self.project);
        }
    }

    pub fn voucher(&self, code: &str, percent: i64) {
        let body =
            json!({ "discount": { "type": "PERCENT", "percent_off": percent }, "redemption": { "quantity": 1 } });
        self.call(&format!("POST /v1/vouchers/{code}"), &body);
    }
}

pub fn json_of(reply: &Reply) -> Json {
    serde_json::from_slice(&reply.body).unwrap_or_default()
}

pub fn id_of(reply: &Reply) -> String {
    let body = json_of(reply);
    assert_eq!(reply.status, 200, "{body}");
    body.pointer("/redemptions/0/id").or(body.get("id")).and_then(Json::as_str).unwrap().to_owned()
}
