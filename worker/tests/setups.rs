//! What a new setup takes away and what it leaves: rows that were made by the interface stay beside those of the setup.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::access::auth::{self, Record, Wanted, key_name};
use scrip_worker::directory;
use scrip_worker::http::caller::{Class, Signing};
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::shop::webhooks;
use scrip_worker::store::Store;
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::table::TABLE;
use scrip_worker::work::outbox::TOKEN;
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;

struct Directory {
    sql: Sqlite,
    count: Cell<u64>,
}

impl Directory {
    fn new() -> Directory {
        Directory { sql: Sqlite::memory().unwrap(), count: Cell::new(0) }
    }

    fn event(&self, request: &Request, setup: &str) -> Reply {
        self.event_at(request, setup, NOW)
    }

    fn event_at(&self, request: &Request, setup: &str, now_ms: i64) -> Reply {
        let fresh = self.count.replace(self.count.get() + 1) == 0;
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.count.get().to_be_bytes());
        let context = Context { now: Instant::from_millis(now_ms).unwrap(), seed };
        let reply = self.sql.transaction(|sql| {
            let mut store = if fresh { Store::open(sql, now_ms)? } else { Store::new(sql) };
            directory::serve_directory(request, &mut store, &context, setup)
        });
        reply.unwrap()
    }

    /// The record of a key under a setup.
    fn record(&self, setup: &str, class: Class, id: &str) -> Option<Record> {
        let path = format!("/internal/keys/{}", key_name(class, id));
        let reply = self.event(&Request { method: "GET".into(), path, ..Request::default() }, setup);
        (reply.status == 200).then(|| serde_json::from_slice(&reply.body).unwrap())
    }

    /// A call with credentials: its status and its body.
    fn call(&self, setup: &str, headers: &[(&str, &str)], call: &str, body: &Json) -> (u16, Json) {
        let reply = self.reply((setup, NOW), headers, call, body);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    /// A call under a setup at a moment.
    fn reply(&self, (setup, now_ms): (&str, i64), headers: &[(&str, &str)], call: &str, body: &Json) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let mut request = Request { method, path, query, headers, body };
        let Ok(Wanted::Key { path, .. }) = auth::lookup_key(&TABLE, &request, "v-1") else { return Reply::default() };
        let found = self.event_at(&Request { method: "GET".into(), path, ..Request::default() }, setup, now_ms);
        let record = (found.status == 200).then(|| String::from_utf8(found.body).unwrap());
        let caller = match auth::admit(&TABLE, &request, record.as_deref(), now_ms, "v-1") {
            Ok(caller) => caller,
            Err(reply) => return reply,
        };
        request.headers.push(("scrip-caller".into(), caller.header()));
        self.event_at(&request, setup, now_ms)
    }
}

fn setup(secret: &str, more: &Json) -> String {
    let keys = json!([
        { "class": "server", "id": "shop", "token": secret },
        { "class": "management", "id": "desk", "token": secret, "user": "ada@shop.example" },
    ]);
    let mut project = json!({ "id": "proj_one", "currency": "EUR", "keys": keys });
    project.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({ "projects": [project] }).to_string()
}

const PROJECT: &str = r#"{"name":"Made","timezone":"UTC","currency":"PLN","case_sensitive_codes":true}"#;

#[test]
fn what_was_made_stays_and_what_the_setup_said_goes() {
    let (first, second) = (setup("first", &json!({})), setup("second", &json!({})));
    let directory = Directory::new();
    let desk = |secret| [("x-management-id", "desk"), ("x-management-token", secret)];
    let body = serde_json::from_str(PROJECT).unwrap();
    let (status, made) = directory.call(&first, &desk("first"), "POST /management/v1/projects", &body);
    assert_eq!(status, 200, "{made}");
    let (id, key) = (made["id"].as_str().unwrap(), &made["server_side_key"]);
    let (app, secret) = (key["app_id"].as_str().unwrap(), key["app_token"].as_str().unwrap());
    let issue = "POST /v1/oauth/token?grant_type=client_credentials&scope=api";
    let (_, kept) = directory.call(&first, &[("x-app-id", app), ("x-app-token", secret)], issue, &Json::Null);
    let (_, ended) = directory.call(&first, &[("x-app-id", "shop"), ("x-app-token", "first")], issue, &Json::Null);
    let own = "/management/v1/projects/proj_one/keys";
    let (_, own_key) = directory.call(&first, &desk("first"), &format!("POST {own}"), &json!({ "class": "server" }));
    let invited = json!({ "email": "ada@shop.example", "first_name": "Ada", "last_name": "L", "projects": { "proj_one": "ADMIN", id: "ADMIN" } });
    let (status, _) = directory.call(&first, &desk("first"), "POST /management/v1/projects/users/invite", &invited);
    assert_eq!(status, 204);
    let (_, hers) = directory.call(&first, &desk("first"), "POST /management/v1/projects", &body);
    let path = format!("GET /management/v1/projects/{}/users", hers["id"].as_str().unwrap());
    let (_, users) = directory.call(&first, &desk("first"), &path, &Json::Null);
    assert_eq!(
        (&users["total"], &users["data"][0]["login"]),
        (&json!(1), &json!("ada@shop.example")),
        "who makes one is in it"
    );
    let signs = directory.record(&first, Class::Management, "desk").unwrap().signing;
    assert!(signs.is_some());

    assert_eq!(directory.call(&second, &desk("first"), "GET /management/v1/projects", &Json::Null).0, 401);
    let (status, listed) = directory.call(&second, &desk("second"), "GET /management/v1/projects", &Json::Null);
    assert_eq!((status, &listed["total"], &listed["data"][2]["id"]), (200, &json!(3), &json!(id)));
    let record = directory.record(&second, Class::Server, app).unwrap();
    assert_eq!((record.project.as_str(), record.settings.currency.as_str()), (id, "PLN"));
    assert!(directory.record(&second, Class::Server, own_key["app_id"].as_str().unwrap()).is_some());
    let desk_now = directory.record(&second, Class::Management, "desk").unwrap();
    assert_eq!((desk_now.signing, desk_now.role.is_some()), (signs, true), "the secret and the role stay");
    assert!(desk_now.manages.contains_key(id));
    let ask = |token: &Json| {
        let introspect = format!("POST /v1/oauth/introspect?access_token={}", token.as_str().unwrap());
        let told = directory.call(&second, &[("x-app-id", app), ("x-app-token", secret)], &introspect, &Json::Null);
        told.1["active"].clone()
    };
    assert_eq!((ask(&kept["access_token"]), ask(&ended["access_token"])), (json!(true), json!(false)));
}

#[test]
fn a_setup_may_take_over_what_was_made() {
    let first = setup("first", &json!({}));
    let directory = Directory::new();
    let desk = [("x-management-id", "desk"), ("x-management-token", "first")];
    let body = serde_json::from_str(PROJECT).unwrap();
    let (_, made) = directory.call(&first, &desk, "POST /management/v1/projects", &body);
    let (id, app) = (made["id"].as_str().unwrap(), made["server_side_key"]["app_id"].as_str().unwrap());
    let mut second: Json = serde_json::from_str(&first).unwrap();
    let key = json!({ "class": "server", "id": app, "token": "said by the setup alone" });
    second["projects"].as_array_mut().unwrap().push(json!({ "id": id, "currency": "USD", "keys": [key] }));
    let record = directory.record(&second.to_string(), Class::Server, app).unwrap();
    assert_eq!((record.project.as_str(), record.settings.currency.as_str()), (id, "USD"));
    assert_eq!(record.token_sha256, scrip_worker::digest::sha256_hex(b"said by the setup alone"));
    let page = made["client_side_key"]["app_id"].as_str().unwrap();
    assert!(directory.record(&second.to_string(), Class::Client, page).is_some(), "its other keys stay as they are");
    let listed = directory.call(&second.to_string(), &desk, "GET /management/v1/projects", &Json::Null).1;
    assert_eq!(listed["total"], 1, "the setup's own project manages it no more");
}

#[test]
fn what_signs_webhooks_is_what_the_setup_says_or_what_was_drawn_once() {
    let directory = Directory::new();
    let token = |setup: &str| directory.record(setup, Class::Management, "desk").unwrap().signing.unwrap().token;
    let drawn = token(&setup("first", &json!({})));
    assert_eq!(drawn.len(), 50);
    assert_eq!(token(&setup("second", &json!({}))), drawn);
    let named = setup("second", &json!({ "webhook_token": "said by the setup alone" }));
    assert_eq!(token(&named), "said by the setup alone");
    let again = token(&setup("third", &json!({})));
    assert!(again != "said by the setup alone" && again != drawn, "what the setup says no more signs no more");
    let server = directory.record(&named, Class::Server, "shop").unwrap();
    assert_eq!(server.signing, None, "a shop's server does not learn it");
}

#[test]
fn of_two_secrets_the_later_one_signs_whichever_a_project_is_told_first() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    for (token, since_ms, signs) in [("second", 2, "second"), ("first", 1, "second"), ("third", 3, "third")] {
        webhooks::sign_with(&mut store, "proj", &Signing { token: token.into(), since_ms }, NOW);
        store.commit().unwrap();
        let kept = store.document("secret", TOKEN).unwrap().unwrap();
        assert_eq!((&kept.body["secret"], &kept.body["project"]), (&json!(signs), &json!("proj")));
    }
}

#[test]
fn rows_of_the_form_before_are_replaced() {
    let directory = Directory::new();
    let said = setup("first", &json!({}));
    assert!(directory.record(&said, Class::Server, "shop").is_some());
    // As the service left them before it knew projects: a setup that is applied, and keys that are whole records.
    use scrip_worker::store::sql::Sql;
    let mark = scrip_worker::digest::sha256_hex(said.as_bytes());
    directory.sql.run("DELETE FROM document WHERE kind IN ('project', 'webhook_token')", &[]).unwrap();
    directory.sql.run("UPDATE document SET key = ?1 WHERE kind = 'setup'", &[mark.as_str().into()]).unwrap();
    directory.sql.run("UPDATE document SET parent = NULL WHERE kind = 'key'", &[]).unwrap();
    let record = directory.record(&said, Class::Server, "shop").unwrap();
    assert_eq!(record.project, "proj_one");
}

#[test]
fn who_has_all_tokens_of_a_project_is_told_when_the_first_of_them_ends() {
    let (setup, directory) = (setup("first", &json!({})), Directory::new());
    let issue = |now_ms: i64| {
        let call = "POST /v1/oauth/token?grant_type=client_credentials&scope=api";
        directory.reply((&setup, now_ms), &[("x-app-id", "shop"), ("x-app-token", "first")], call, &Json::Null)
    };
    assert_eq!(issue(NOW).status, 200);
    for _ in 1..1_000 {
        assert_eq!(issue(NOW + 60_000).status, 200);
    }
    let refused = issue(NOW + 60_001);
    let body: Json = serde_json::from_slice(&refused.body).unwrap();
    assert_eq!((refused.status, &body["key"]), (429, &json!("too_many_tokens")));
    assert_eq!(body["details"], "the project has 1000 live tokens; the first of them ends in 840 s");
    assert!(refused.headers.contains(&("retry-after".into(), "840".into())), "{:?}", refused.headers);
    assert_eq!(issue(NOW + 60_001 + 840_000).status, 200);
}
