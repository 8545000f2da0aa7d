//! Tests collections in rules and the bounds of segments, which no story can show.

use scrip::Context;
use scrip::time::Instant;
use scrip_worker::http::request::Request;
use scrip_worker::service::{self};
use scrip_worker::store::Store;
use scrip_worker::store::document::Document;
use scrip_worker::store::sqlite::Sqlite;
use serde_json::{Value as Json, json};
use std::cell::Cell;

struct Project {
    sql: Sqlite,
    count: Cell<u8>,
}

impl Project {
    fn new() -> Project {
        let sql = Sqlite::memory().unwrap();
        Store::open(&sql, 0).unwrap();
        Project { sql, count: Cell::new(0) }
    }

    fn send(&self, call: &str, body: &Json) -> (u16, Json) {
        let (method, target) = call.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: vec![crate::caller::server()],
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        let reply = service::serve(&request, &mut Store::new(&self.sql), &self.context()).unwrap();
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or(Json::Null))
    }

    /// A seed of no other event.
    fn context(&self) -> Context {
        self.count.set(self.count.get().wrapping_add(1));
        let mut seed = [7; 32];
        seed[0] = self.count.get();
        Context { now: Instant::parse("2026-03-01T00:00:00Z").unwrap(), seed, first_number: None }
    }

    fn alarm(&self) {
        service::alarm(&mut Store::new(&self.sql), &self.context(), 2_000).unwrap();
    }

    fn documents(&self, kind: &str) -> i64 {
        let store = Store::new(&self.sql);
        let row = store.row("SELECT COUNT(*) FROM document WHERE kind = ?1", &[kind.into()]).unwrap().unwrap();
        scrip_worker::store::sql::int(&row, 0).unwrap()
    }
}

#[test]
fn a_collection_in_use_is_not_deleted() {
    let project = Project::new();
    let (_, made) = project.send("POST /v1/product-collections", &json!({ "type": "STATIC", "name": "A" }));
    let id = made["id"].as_str().unwrap().to_owned();
    let mut store = Store::new(&project.sql);
    for name in ["val_1", "val_2"] {
        let rule = json!({ "id": name, "rules": { "1": { "conditions": { "$is": [id] } } } });
        store.insert("validation_rules", &Document::new(name.into(), None, 0, rule.as_object().cloned().unwrap()));
    }
    store.flush().unwrap();
    let (status, answer) = project.send(&format!("DELETE /v1/product-collections/{id}"), &Json::Null);
    assert_eq!(status, 400, "{answer}");
    assert_eq!(answer["key"], "resource_in_use");
    assert_eq!(
        answer["details"],
        format!("Resource products_collection with id {id} is in use by validation_ruless with ids [val_1, val_2]")
    );
    assert_eq!(answer["related_object_ids"], json!(["val_1", "val_2"]));
    assert_eq!(
        (&answer["related_object_type"], &answer["related_object_total"]),
        (&json!("validation_rules"), &json!(2))
    );
    store.delete("validation_rules", "val_1");
    store.delete("validation_rules", "val_2");
    store.flush().unwrap();
    assert_eq!(project.send(&format!("DELETE /v1/product-collections/{id}"), &Json::Null).0, 204);
}

#[test]
fn a_project_has_a_hundred_segments_with_filters() {
    let project = Project::new();
    for count in 0..100 {
        let kind = if count % 2 == 0 { "auto-update" } else { "passive" };
        let (status, answer) =
            project.send("POST /v1/segments", &json!({ "type": kind, "filter": { "junction": "and" } }));
        assert_eq!(status, 200, "{answer}");
    }
    let (status, answer) =
        project.send("POST /v1/segments", &json!({ "type": "passive", "filter": { "junction": "and" } }));
    assert_eq!((status, &answer["key"]), (400, &json!("segments_limit_exceeded")), "{answer}");
    assert_eq!(project.send("POST /v1/segments", &json!({ "type": "static", "customers": [] })).0, 200);
}

#[test]
fn a_static_segment_has_twenty_thousand_customers() {
    let project = Project::new();
    let mut store = Store::new(&project.sql);
    let names: Vec<String> = (0..20_000).map(|number| format!("cust_{number:024}")).collect();
    for name in &names {
        let body = json!({ "id": name, "object": "customer" });
        store.insert("customer", &Document::new(name.clone(), None, 0, body.as_object().cloned().unwrap()));
    }
    store.flush().unwrap();
    let (status, made) = project.send("POST /v1/segments", &json!({ "type": "static", "customers": names }));
    assert_eq!(status, 200, "{made}");
    let id = made["id"].as_str().unwrap();
    let (_, listed) = project.send(&format!("GET /v1/customers?segment_id={id}&limit=2"), &Json::Null);
    assert_eq!(listed["total"], 20_000);
    let (_, of_one) = project.send(&format!("GET /v1/customers/{}/segments", names[19_999]), &Json::Null);
    assert_eq!(of_one["total"], 1);
}

#[test]
fn a_metadata_schema_has_a_hundred_definitions() {
    let definitions = |from: usize, to: usize| {
        let pairs = (from..to).map(|number| (format!("k{number}"), json!({ "type": "string", "optional": true })));
        Json::Object(pairs.collect())
    };
    let project = Project::new();
    let schemas = "/management/v1/projects/proj_dev/metadata-schemas";
    let send = |call: &str, body: Json| project.send(call, &body);
    let (status, made) =
        send(&format!("POST {schemas}"), json!({ "related_object": "order", "properties": definitions(0, 100) }));
    assert_eq!(status, 200, "{made}");
    let one = format!("PUT {schemas}/{}", made["id"].as_str().unwrap());
    assert_eq!(send(&one, json!({ "properties": definitions(50, 100) })).0, 200);
    let (status, answer) = send(&one, json!({ "properties": definitions(100, 101) }));
    assert_eq!(status, 400);
    assert_eq!(
        answer["details"],
        "Property .properties must NOT have more than 100 definitions (actual number is `101`)"
    );
}

#[test]
fn a_long_list_is_written_slice_by_slice() {
    let project = Project::new();
    let list: Vec<Json> = (0..450).map(|number| json!({ "source_id": format!("p{}", number % 440) })).collect();
    let (status, started) = project.send("POST /v1/products/bulk/async", &Json::from(list));
    assert_eq!(status, 202, "{started}");
    let action = format!("GET /v1/async-actions/{}", started["async_action_id"].as_str().unwrap());
    for (products, slices, progress) in [(200, 2, 44), (400, 1, 88), (440, 0, 100)] {
        project.alarm();
        let (_, answer) = project.send(&action, &Json::Null);
        assert_eq!(answer["progress"], progress, "{answer}");
        assert_eq!((project.documents("product"), project.documents("batch")), (products, slices));
    }
    let (_, answer) = project.send(&action, &Json::Null);
    assert_eq!((&answer["status"], &answer["result"]["done_count"]), (&json!("DONE"), &json!(450)), "{answer}");
}

#[test]
fn an_abandoned_list_leaves_no_slices() {
    let project = Project::new();
    let (_, started) = project.send("POST /v1/products/bulk/async", &json!([{ "source_id": "p" }]));
    for _ in 0..6 {
        let mut store = Store::new(&project.sql);
        store.write("UPDATE due SET at = 0 WHERE kind <> 'SWEEP'", Vec::new());
        store.flush().unwrap();
        service::record_alarm_failure(&mut Store::new(&project.sql), &project.context(), "it broke").unwrap();
    }
    let action = format!("GET /v1/async-actions/{}", started["async_action_id"].as_str().unwrap());
    let (_, answer) = project.send(&action, &Json::Null);
    assert_eq!((&answer["status"], project.documents("batch")), (&json!("FAILED"), 0), "{answer}");
}
