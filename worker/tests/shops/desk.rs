//! The desk of a shop: calls to the service in process, written down so that a fault can be told again by hand.

use crate::edge::Edge;
use scrip_worker::service::{Reply, Request};
use serde_json::Value as Json;

/// 1 March 2026.
const NOW: i64 = 1_772_323_200_000;

pub struct Desk {
    edge: Edge,
    now: i64,
    /// What was called so far.
    pub log: Vec<String>,
}

/// What came back.
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

impl Desk {
    pub fn new() -> Desk {
        Desk { edge: Edge::new(), now: NOW, log: Vec::new() }
    }

    /// Asks and changes nothing that a story would have to repeat.
    pub fn ask(&mut self, call: &str, body: &Json) -> Answer {
        let (method, path) = call.split_once(' ').unwrap();
        let keys: &[(&str, &str)] = match path.split('/').nth(1) {
            Some("client") => &[
                ("x-client-application-id", "dev-client"),
                ("x-client-token", "dev-client-token"),
                ("origin", "http://localhost:3000"),
            ],
            Some("management") => {
                &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")]
            }
            _ => &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")],
        };
        let mut headers: Vec<(String, String)> =
            keys.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        headers.push(("content-type".into(), "application/json".into()));
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.now += 1;
        let request = Request { method: method.into(), path: path.into(), headers, body, ..Request::default() };
        self.edge.send(request, self.now, None).into()
    }

    /// Makes something: a call of the shop that succeeds and stays.
    pub fn make(&mut self, call: &str, body: &Json) -> Json {
        self.log.push(format!("{call} {body}"));
        let answer = self.ask(call, body);
        assert_eq!(answer.status, 200, "{}\n{}", self.log.join("\n"), answer.json);
        answer.json
    }
}
