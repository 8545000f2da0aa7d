//! Makes the calls of a shop to the service in process, and records them so that a fault can be repeated by hand.

use crate::in_process::Edge;
use scrip::time::Instant;
use scrip_worker::http::request::{Reply, Request};
use serde_json::Value as Json;

/// 1 March 2026.
const NOW: i64 = 1_772_323_200_000;

pub struct ServiceCalls {
    edge: Edge,
    /// The project of the keys, as `tests/stories/setup.json` names it: projects disclose different data to clients.
    pub project: &'static str,
    now: i64,
    /// The calls so far.
    pub log: Vec<String>,
}

/// The answer to a call.
pub struct Answer {
    pub status: u16,
    pub bytes: Vec<u8>,
    pub json: Json,
    pub headers: Vec<(String, String)>,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        let json = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
        let headers = reply.headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Answer { status: reply.status, bytes: reply.body, json, headers }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl ServiceCalls {
    pub fn new(project: &'static str) -> ServiceCalls {
        ServiceCalls { edge: Edge::new(), project, now: NOW, log: Vec::new() }
    }

    /// Returns the time of the last call.
    pub fn now(&self) -> Instant {
        Instant::from_millis(self.now).unwrap()
    }

    /// Makes a call that changes nothing and that a story need not repeat.
    pub fn ask(&mut self, call: &str, body: &Json) -> Answer {
        self.ask_as(call, body, None)
    }

    /// Derives the keys that the sealed codes of the last bundle await.
    pub fn derive_box_keys(&self) {
        self.edge.derive_box_keys(&format!("proj_{}", self.project), self.now);
    }

    /// Makes such a call with a customer token.
    pub fn ask_as(&mut self, call: &str, body: &Json, customer_token: Option<&str>) -> Answer {
        let (method, path) = call.split_once(' ').unwrap();
        let (kind, [id, token]) = match path.split('/').nth(1) {
            Some("client") => ("client", ["x-client-application-id", "x-client-token"]),
            Some("management") => ("management", ["x-management-id", "x-management-token"]),
            _ => ("app", ["x-app-id", "x-app-token"]),
        };
        let project = self.project;
        let secret = if kind == "app" { format!("{project}-token") } else { format!("{project}-{kind}-token") };
        let mut headers = vec![(id.to_owned(), format!("{project}-{kind}")), (token.to_owned(), secret)];
        headers.push(("origin".into(), "http://localhost:3000".into()));
        headers.push(("content-type".into(), "application/json".into()));
        headers.extend(customer_token.map(|token| ("x-customer-token".to_owned(), token.to_owned())));
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.now += 1;
        let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
        self.edge.send(request, self.now, None).into()
    }

    /// Creates an object with a call that must succeed.
    pub fn make(&mut self, call: &str, body: &Json) -> Json {
        self.log.push(format!("{call} {body}"));
        let answer = self.ask(call, body);
        assert_eq!(answer.status, 200, "{}\n{}", self.log.join("\n"), answer.json);
        answer.json
    }
}
