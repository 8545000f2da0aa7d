//! Tests the effects of a new setup: rows that were created through the API stay with those of the setup.

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::access::auth::{self, KeyLookup, Record, key_name};
use scrip_worker::directory;
use scrip_worker::domain::webhooks::subscriptions;
use scrip_worker::http::caller::{CredentialClass, UserRole, WebhookSecret};
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::routes::TABLE;
use scrip_worker::store::Store;
use scrip_worker::store::sqlite::Sqlite;
use scrip_worker::store::webhooks::outbox::TOKEN;
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
        let context = Context { now: Instant::from_millis(now_ms).unwrap(), seed, first_number: None };
        let reply = self.sql.transaction(|sql| {
            let mut store = if fresh { Store::open(sql, now_ms)? } else { Store::new(sql) };
            directory::serve_directory(request, &mut store, &context, setup)
        });
        reply.unwrap()
    }

    /// The record of a key under a setup.
    fn record(&self, setup: &str, class: CredentialClass, id: &str) -> Option<Record> {
        let path = format!("/internal/keys/{}", key_name(class, id));
        let reply = self.event(&Request { method: "GET".into(), path, ..Request::default() }, setup);
        (reply.status == 200).then(|| serde_json::from_slice(&reply.body).unwrap())
    }

    /// A call with credentials: its status and its body.
    fn call(&self, setup: &str, headers: &[(&str, &str)], call: &str, body: &Json) -> (u16, Json) {
        let reply = self.reply((setup, NOW), headers, call, body);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    /// Makes a call under a setup at an instant.
    fn reply(&self, (setup, now_ms): (&str, i64), headers: &[(&str, &str)], call: &str, body: &Json) -> Reply {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let mut request = Request { method, path, query, headers, body };
        let found = TABLE.find(&request.method, &request.path);
        let Ok(KeyLookup::Key { matched, path, .. }) = auth::lookup_key(&found, &request, "v-1") else {
            return Reply::default();
        };
        let found = self.event_at(&Request { method: "GET".into(), path, ..Request::default() }, setup, now_ms);
        let record: Option<Record> = (found.status == 200).then(|| serde_json::from_slice(&found.body).unwrap());
        let caller = match auth::admit(matched, &request, record.as_ref(), now_ms, "v-1") {
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
fn a_new_setup_deletes_only_its_own_rows() {
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
    let signs = directory.record(&first, CredentialClass::Management, "desk").unwrap().signing;
    assert!(signs.is_some());

    assert_eq!(directory.call(&second, &desk("first"), "GET /management/v1/projects", &Json::Null).0, 401);
    let (status, listed) = directory.call(&second, &desk("second"), "GET /management/v1/projects", &Json::Null);
    assert_eq!((status, &listed["total"], &listed["data"][2]["id"]), (200, &json!(3), &json!(id)));
    let record = directory.record(&second, CredentialClass::Server, app).unwrap();
    assert_eq!((record.project.as_str(), record.settings.currency.as_str()), (id, "PLN"));
    assert!(directory.record(&second, CredentialClass::Server, own_key["app_id"].as_str().unwrap()).is_some());
    let desk_now = directory.record(&second, CredentialClass::Management, "desk").unwrap();
    assert_eq!((desk_now.signing, desk_now.role.is_some()), (signs, true), "the secret and the role stay");
    assert!(desk_now.manages.contains_key(id));
    let ask = |token: &Json| {
        let introspect = format!("POST /v1/oauth/introspect?access_token={}", token.as_str().unwrap());
        let answer = directory.call(&second, &[("x-app-id", app), ("x-app-token", secret)], &introspect, &Json::Null);
        answer.1["active"].clone()
    };
    assert_eq!((ask(&kept["access_token"]), ask(&ended["access_token"])), (json!(true), json!(false)));
}

#[test]
fn a_setup_may_take_over_created_rows() {
    let first = setup("first", &json!({}));
    let directory = Directory::new();
    let desk = [("x-management-id", "desk"), ("x-management-token", "first")];
    let body = serde_json::from_str(PROJECT).unwrap();
    let (_, made) = directory.call(&first, &desk, "POST /management/v1/projects", &body);
    let (id, app) = (made["id"].as_str().unwrap(), made["server_side_key"]["app_id"].as_str().unwrap());
    let mut second: Json = serde_json::from_str(&first).unwrap();
    let key = json!({ "class": "server", "id": app, "token": "said by the setup alone" });
    second["projects"].as_array_mut().unwrap().push(json!({ "id": id, "currency": "USD", "keys": [key] }));
    let record = directory.record(&second.to_string(), CredentialClass::Server, app).unwrap();
    assert_eq!((record.project.as_str(), record.settings.currency.as_str()), (id, "USD"));
    assert_eq!(record.token_sha256, scrip_worker::constant_time::sha256_hex(b"said by the setup alone"));
    let page = made["client_side_key"]["app_id"].as_str().unwrap();
    assert!(
        directory.record(&second.to_string(), CredentialClass::Client, page).is_some(),
        "its other keys stay as they are"
    );
    let listed = directory.call(&second.to_string(), &desk, "GET /management/v1/projects", &Json::Null).1;
    assert_eq!(listed["total"], 1, "the setup's own project manages it no more");
}

#[test]
fn a_webhook_secret_comes_from_the_setup_or_is_generated_once() {
    let directory = Directory::new();
    let token =
        |setup: &str| directory.record(setup, CredentialClass::Management, "desk").unwrap().signing.unwrap().token;
    let drawn = token(&setup("first", &json!({})));
    assert_eq!(drawn.len(), 50);
    assert_eq!(token(&setup("second", &json!({}))), drawn);
    let named = setup("second", &json!({ "webhook_token": "said by the setup alone" }));
    assert_eq!(token(&named), "said by the setup alone");
    let again = token(&setup("third", &json!({})));
    assert!(again != "said by the setup alone" && again != drawn, "what the setup says no more signs no more");
    let server = directory.record(&named, CredentialClass::Server, "shop").unwrap();
    assert_eq!(server.signing, None, "a shop's server does not learn it");
}

#[test]
fn the_later_webhook_secret_signs_in_every_order_of_arrival() {
    let sql = Sqlite::memory().unwrap();
    let mut store = Store::open(&sql, NOW).unwrap();
    for (token, since_ms, signs) in [("second", 2, "second"), ("first", 1, "second"), ("third", 3, "third")] {
        subscriptions::store_secret(&mut store, "proj", &WebhookSecret { token: token.into(), since_ms }, NOW);
        store.flush().unwrap();
        let kept = store.document("secret", TOKEN).unwrap().unwrap();
        assert_eq!((&kept.body["secret"], &kept.body["project"]), (&json!(signs), &json!("proj")));
    }
}

#[test]
fn rows_of_the_former_format_are_replaced() {
    let directory = Directory::new();
    let said = setup("first", &json!({}));
    assert!(directory.record(&said, CredentialClass::Server, "shop").is_some());
    // Data as the service left it before it had projects: an applied setup, and keys that are whole records.
    use scrip_worker::store::sql::Sql;
    let mark = scrip_worker::constant_time::sha256_hex(said.as_bytes());
    directory.sql.run("DELETE FROM document WHERE kind IN ('project', 'webhook_token')", &[]).unwrap();
    directory.sql.run("UPDATE document SET key = ?1 WHERE kind = 'setup'", &[mark.as_str().into()]).unwrap();
    directory.sql.run("UPDATE document SET parent = NULL WHERE kind = 'key'", &[]).unwrap();
    let record = directory.record(&said, CredentialClass::Server, "shop").unwrap();
    assert_eq!(record.project, "proj_one");
}

#[test]
fn a_key_has_a_hundred_tokens_and_replaces_its_oldest() {
    let keys = json!({ "keys": [
        { "class": "server", "id": "shop", "token": "first" },
        { "class": "server", "id": "viewer", "token": "first", "user": "vera@shop.example" },
        { "class": "management", "id": "desk", "token": "first" },
    ] });
    let (setup, directory) = (setup("first", &keys), Directory::new());
    let desk = [("x-management-id", "desk"), ("x-management-token", "first")];
    let invited = json!({ "email": "vera@shop.example", "first_name": "V", "last_name": "V", "projects": { "proj_one": "VIEWER" } });
    assert_eq!(directory.call(&setup, &desk, "POST /management/v1/projects/users/invite", &invited).0, 204);
    let issue = |key: &str, now_ms: i64| {
        let call = "POST /v1/oauth/token?grant_type=client_credentials&scope=api";
        let reply =
            directory.reply((&setup, now_ms), &[("x-app-id", key), ("x-app-token", "first")], call, &Json::Null);
        assert_eq!(reply.status, 200);
        let body: Json = serde_json::from_slice(&reply.body).unwrap();
        let forgotten = reply.headers.into_iter().find(|(name, _)| name == "scrip-forget").map(|(_, names)| names);
        (body["access_token"].as_str().unwrap().to_owned(), forgotten)
    };
    let is_active = |token: &str, now_ms: i64| {
        let call = format!("POST /v1/oauth/introspect?access_token={token}");
        let credentials = [("x-app-id", "shop"), ("x-app-token", "first")];
        let reply = directory.reply((&setup, now_ms), &credentials, &call, &Json::Null);
        serde_json::from_slice::<Json>(&reply.body).unwrap()["active"] == true
    };
    let (of_shop, _) = issue("shop", NOW);
    let (oldest, _) = issue("viewer", NOW + 1);
    let (second, _) = issue("viewer", NOW + 2);
    for count in 2..100 {
        assert_eq!(issue("viewer", NOW + 1 + count).1, None);
    }
    assert!(is_active(&oldest, NOW + 200));
    let name = format!("token:{}", scrip_worker::constant_time::sha256_hex(oldest.as_bytes()));
    assert_eq!(issue("viewer", NOW + 200).1, Some(name), "what the entry keeps of it is forgotten");
    assert!(!is_active(&oldest, NOW + 200));
    assert!(is_active(&second, NOW + 200));
    for count in 0..900 {
        issue("viewer", NOW + 300 + count);
    }
    assert!(!is_active(&second, NOW + 2_000));
    assert!(is_active(&of_shop, NOW + 2_000), "the tokens of other keys stay");
    issue("shop", NOW + 2_000);
}

#[test]
fn old_tokens_of_a_key_are_deleted_independently_of_other_keys() {
    let keys = json!({ "keys": [
        { "class": "server", "id": "shop", "token": "first" },
        { "class": "server", "id": "vera", "token": "first", "user": "vera@shop.example" },
        { "class": "management", "id": "desk", "token": "first" },
    ] });
    let (setup, directory) = (setup("first", &keys), Directory::new());
    let desk = [("x-management-id", "desk"), ("x-management-token", "first")];
    let invited = json!({ "email": "vera@shop.example", "first_name": "V", "last_name": "V", "projects": { "proj_one": "USER" } });
    assert_eq!(directory.call(&setup, &desk, "POST /management/v1/projects/users/invite", &invited).0, 204);
    let own = "/management/v1/projects/proj_one";
    let (_, made) = directory.call(&setup, &desk, &format!("POST {own}/keys"), &json!({ "class": "server" }));
    let (app, secret) = (made["app_id"].as_str().unwrap(), made["app_token"].as_str().unwrap());
    let issue = |id: &str, secret: &str, now_ms: i64| {
        let call = "POST /v1/oauth/token?grant_type=client_credentials&scope=api";
        let reply = directory.reply((&setup, now_ms), &[("x-app-id", id), ("x-app-token", secret)], call, &Json::Null);
        let body: Json = serde_json::from_slice(&reply.body).unwrap();
        format!("token:{}", scrip_worker::constant_time::sha256_hex(body["access_token"].as_str().unwrap().as_bytes()))
    };
    let (of_vera, of_made) = (issue("vera", "first", NOW), issue(app, secret, NOW));
    for count in 1..=100 {
        issue("shop", "first", NOW + count);
    }
    let forgotten = |call: &str, body: &Json| {
        let reply = directory.reply((&setup, NOW + 200), &desk, call, body);
        assert!(reply.status < 300);
        let names = reply.headers.into_iter().find(|(name, _)| name == "scrip-forget").unwrap().1;
        names.split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let (_, users) = directory.call(&setup, &desk, &format!("GET {own}/users"), &Json::Null);
    let user = users["data"][0]["id"].as_str().unwrap();
    let role = json!({ "role": "VIEWER" });
    let names = forgotten(&format!("PUT {own}/users/{user}"), &role);
    assert_eq!(names, [format!("key:{}", key_name(CredentialClass::Server, "vera")), of_vera]);
    let key = made["id"].as_str().unwrap();
    let of_key = [format!("key:{}", key_name(CredentialClass::Server, app)), of_made];
    assert_eq!(forgotten(&format!("POST {own}/keys/{key}/regenerate"), &Json::Null), of_key);
    assert_eq!(forgotten(&format!("DELETE {own}/keys/{key}"), &Json::Null), of_key);
}

#[test]
fn a_project_that_the_setup_takes_over_keeps_the_roles_of_its_users() {
    let first = setup("first", &json!({ "keys": [{ "class": "management", "id": "desk", "token": "first" }] }));
    let directory = Directory::new();
    let desk = [("x-management-id", "desk"), ("x-management-token", "first")];
    let body = serde_json::from_str(PROJECT).unwrap();
    let (_, made) = directory.call(&first, &desk, "POST /management/v1/projects", &body);
    let id = made["id"].as_str().unwrap();
    let invite = |login: &str, projects: Json| {
        let invited = json!({ "email": login, "first_name": "F", "last_name": "L", "projects": projects });
        assert_eq!(directory.call(&first, &desk, "POST /management/v1/projects/users/invite", &invited).0, 204);
    };
    invite("vera@shop.example", json!({ "proj_one": "ADMIN", id: "VIEWER" }));
    invite("gone@shop.example", json!({ "proj_one": "ADMIN", id: "USER" }));
    invite("else@shop.example", json!({ "proj_one": "ADMIN" }));
    let key = |login: &str| {
        let path = format!("POST /management/v1/projects/{id}/keys");
        let (status, key) = directory.call(&first, &desk, &path, &json!({ "class": "server", "user": login }));
        assert_eq!(status, 200, "{key}");
        key["app_id"].as_str().unwrap().to_owned()
    };
    let (vera, gone) = (key("vera@shop.example"), key("gone@shop.example"));
    let users = format!("/management/v1/projects/{id}/users");
    let (_, listed) = directory.call(&first, &desk, &format!("GET {users}"), &Json::Null);
    let left = listed["data"][0]["id"].as_str().unwrap();
    assert_eq!(listed["data"][0]["login"], "gone@shop.example");
    assert_eq!(directory.call(&first, &desk, &format!("DELETE {users}/{left}"), &Json::Null).0, 204);
    let mut second: Json = serde_json::from_str(&first).unwrap();
    let own = json!({ "class": "management", "id": "own", "token": "own secret" });
    second["projects"].as_array_mut().unwrap().push(json!({ "id": id, "currency": "PLN", "keys": [own] }));
    let second = second.to_string();
    assert_eq!(directory.record(&second, CredentialClass::Server, &vera).unwrap().role, Some(UserRole::Viewer));
    assert_eq!(directory.record(&second, CredentialClass::Server, &gone).unwrap().role, Some(UserRole::None));
    let credentials = [("x-management-id", "own"), ("x-management-token", "own secret")];
    let (_, listed) = directory.call(&second, &credentials, &format!("GET {users}"), &Json::Null);
    assert_eq!((&listed["total"], &listed["data"][0]["login"]), (&json!(1), &json!("vera@shop.example")));
    assert_eq!(listed["data"][0]["projects"], json!({ id: "VIEWER" }));
    let assigned = |login: &str| {
        let body = json!({ "login": login, "role": "USER" });
        directory.call(&second, &credentials, &format!("POST {users}"), &body).0
    };
    assert_eq!((assigned("gone@shop.example"), assigned("else@shop.example")), (200, 404));
}
