//! The directory: which projects and keys there are. It applies the setup, answers the look-ups of the entry, says whether it can
//! work, and issues tokens. It must not know what is in a project.

mod setup;
mod sound;

use crate::access::auth::{Record, key_name};
use crate::digest::sha256_hex;
use crate::http::health::{self, Lack};
use crate::http::reply::{empty_reply, json_reply};
use crate::http::request::{Reply, Request};
use crate::service;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use scrip::Context;
use serde_json::{Map, Value as Json, json};

/// Answers a request in the directory's object: look-ups under `/internal/`, and whatever the entry sends there to be served.
pub fn serve_directory(
    request: &Request,
    store: &mut Store<'_>,
    context: &Context,
    setup: &str,
) -> Result<Reply, Fault> {
    if request.path == health::ASKED {
        return health(setup, store, context);
    }
    if let Some(name) = request.path.strip_prefix("/internal/keys/") {
        apply(setup, store, context)?;
        return Ok(found(store.document("key", name)?));
    }
    if let Some(sha256) = request.path.strip_prefix("/internal/tokens/") {
        let now_ms = context.now.millis();
        let row = store
            .row("SELECT record FROM token WHERE sha256 = +?1 AND expires_at > ?2", &[sha256.into(), now_ms.into()])?;
        let Some(row) = row else { return Ok(empty_reply(404)) };
        return Ok(crate::http::reply::bytes_reply(200, sql::text(&row, 0)?.as_bytes().to_vec()));
    }
    service::serve_call(request, store, context)
}

fn found(document: Option<Document>) -> Reply {
    document.map_or_else(|| empty_reply(404), |document| json_reply(200, &Json::Object(document.body)))
}

/// Says whether the setup is one, and writes a row: a fault of that is undone, and the entry says that nothing can be written.
fn health(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    if !is_applied(setup, store)?
        && let Err(fault) = sound::read(setup)
    {
        store.note(format!("is not healthy: {}", fault.0));
        return Ok(health::reply(&[Lack::Setup], &context.request_id()));
    }
    apply(setup, store, context)?;
    // A row whose only use is that it could be written.
    store.put("health", &Document::new("health".into(), None, context.now.millis(), Map::new()));
    store.commit()?;
    Ok(health::reply(&[], &context.request_id()))
}

fn is_applied(setup: &str, store: &Store<'_>) -> Result<bool, Fault> {
    let applied = store.document("setup", "setup")?;
    Ok(applied.is_some_and(|applied| applied.key.as_deref() == Some(&sha256_hex(setup.as_bytes()))))
}

/// Applies a setup that has not been applied: its keys take the place of all keys before.
fn apply(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    if is_applied(setup, store)? {
        return Ok(());
    }
    let read = sound::read(setup)?;
    let address_header = read.address_header.map(|name| name.to_ascii_lowercase());
    let now_ms = context.now.millis();
    store.write_now("DELETE FROM document WHERE kind IN ('key', 'setup')", &[])?;
    store.write_now("DELETE FROM token", &[])?;
    for mut project in read.projects {
        let client = setup::take_client(&mut project)?;
        project.settings.address_header.clone_from(&address_header);
        for key in project.keys {
            let record = Record {
                project: project.id.clone(),
                class: key.class,
                id: key.id.clone(),
                user: key.user,
                token_sha256: sha256_hex(key.token.as_bytes()),
                scopes: Vec::new(),
                origins: client.origins.clone(),
                redeem: client.redeem,
                publish: client.publish.clone(),
                events: client.events,
                expires_at: None,
                settings: project.settings.clone(),
            };
            let body = serde_json::to_value(&record).map_err(|error| Fault(error.to_string()))?;
            insert(store, "key", key_name(key.class, &key.id), None, body, now_ms);
        }
    }
    insert(store, "setup", "setup".into(), Some(sha256_hex(setup.as_bytes())), json!({}), now_ms);
    store.commit()
}

fn insert(store: &mut Store<'_>, kind: &str, id: String, key: Option<String>, body: Json, now_ms: i64) {
    let body: Map<String, Json> = body.as_object().cloned().unwrap_or_default();
    store.insert(kind, &Document { id, key, parent: None, holder: None, created_at: now_ms, updated_at: None, body });
}
