//! The directory: which projects and keys there are. It applies the setup, answers the look-ups of the entry, and issues tokens.
//! It must not know what is in a project.

use crate::address;
use crate::auth::{Class, Record, Settings, key_name};
use crate::digest::sha256_hex;
use crate::reply::{empty_reply, json_reply};
use crate::service::{self, Reply, Request};
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use scrip::Context;
use scrip::wire::page;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

/// The setup: the text binding `SCRIP_SETUP`.
#[derive(Debug, Deserialize)]
struct Setup {
    projects: Vec<Project>,
    /// The header in which a proxy of one's own says where a request came from.
    #[serde(default)]
    address_header: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Project {
    id: String,
    #[serde(flatten)]
    settings: Settings,
    #[serde(default)]
    keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Client {
    origins: Vec<String>,
    redeem: bool,
    publish: bool,
}

#[derive(Debug, Deserialize)]
struct Key {
    class: Class,
    id: String,
    token: String,
    /// The login of the user whose key it is.
    #[serde(default)]
    user: Option<String>,
}

/// Answers a request in the directory's object: look-ups under `/internal/`, and whatever the entry sends there to be served.
pub fn serve_directory(
    request: &Request,
    store: &mut Store<'_>,
    context: &Context,
    setup: &str,
) -> Result<Reply, Fault> {
    if let Some(name) = request.path.strip_prefix("/internal/keys/") {
        apply(setup, store, context)?;
        return Ok(found(store.document("key", name)?));
    }
    if let Some(sha256) = request.path.strip_prefix("/internal/tokens/") {
        let now_ms = context.now.millis();
        let row = store
            .row("SELECT record FROM token WHERE sha256 = ?1 AND expires_at > ?2", &[sha256.into(), now_ms.into()])?;
        let Some(row) = row else { return Ok(empty_reply(404)) };
        return Ok(crate::reply::bytes_reply(200, sql::text(&row, 0)?.as_bytes().to_vec()));
    }
    service::serve_call(request, store, context)
}

fn found(document: Option<Document>) -> Reply {
    document.map_or_else(|| empty_reply(404), |document| json_reply(200, &Json::Object(document.body)))
}

/// Applies a setup that has not been applied: its keys take the place of all keys before.
fn apply(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    let hash = sha256_hex(setup.as_bytes());
    let applied = store.document("setup", "setup")?;
    if applied.as_ref().is_some_and(|applied| applied.key.as_deref() == Some(&hash)) {
        return Ok(());
    }
    let read: Setup =
        serde_json::from_str(setup).map_err(|error| Fault(format!("SCRIP_SETUP does not parse: {error}")))?;
    let address_header = read.address_header.map(|name| name.to_ascii_lowercase());
    if let Some(name) = address_header.as_deref().filter(|name| !address::is_header(name)) {
        return Err(Fault(format!(
            "SCRIP_SETUP has the `address_header` `{name}`, which must be the name of a header: 1 to {} letters, digits, `-` and `_`",
            address::NAME_MAX
        )));
    }
    let now_ms = context.now.millis();
    store.write_now("DELETE FROM document WHERE kind IN ('key', 'setup')", &[])?;
    store.write_now("DELETE FROM token", &[])?;
    for mut project in read.projects {
        if project.id.is_empty()
            || !project.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
        {
            return Err(Fault(format!(
                "SCRIP_SETUP has a project with the id `{}`, which may have letters, digits, `_` and `-` only",
                project.id
            )));
        }
        let client = take_client(&mut project)?;
        project.settings.address_header.clone_from(&address_header);
        for key in project.keys {
            check_login(&key)?;
            let record = Record {
                project: project.id.clone(),
                class: key.class,
                id: key.id.clone(),
                user: key.user,
                token_sha256: sha256_hex(key.token.as_bytes()),
                scopes: Vec::new(),
                origins: client.origins.clone(),
                redeem: client.redeem,
                publish: client.publish,
                expires_at: None,
                settings: project.settings.clone(),
            };
            let body = serde_json::to_value(&record).map_err(|error| Fault(error.to_string()))?;
            insert(store, "key", key_name(key.class, &key.id), None, body, now_ms);
        }
    }
    insert(store, "setup", "setup".into(), Some(hash), json!({}), now_ms);
    store.commit()
}

/// What a project says of its pages: where they are and what they may call, and, left in its settings, the terms on which the
/// engine serves them.
fn take_client(project: &mut Project) -> Result<Client, Fault> {
    let wrong = |what: String| Fault(format!("SCRIP_SETUP has the project `{}`, whose `client` {what}", project.id));
    let Json::Object(said) = std::mem::take(&mut project.settings.client) else {
        project.settings.client = Json::Bool(true);
        return Ok(Client::default());
    };
    let (terms, switches): (Map<String, Json>, Map<String, Json>) =
        said.into_iter().partition(|(name, _)| page::NAMES.contains(&name.as_str()));
    let client = serde_json::from_value(Json::Object(switches)).map_err(|error| wrong(error.to_string()))?;
    let terms = Json::Object(terms);
    page::terms_of(terms.to_string().as_bytes()).map_err(|problem| wrong(problem.to_string()))?;
    project.settings.client = terms;
    Ok(client)
}

/// Logins are parts of the names of accounts, which slashes divide.
fn check_login(key: &Key) -> Result<(), Fault> {
    match key.user.as_deref() {
        Some(login) if login.is_empty() || login.len() > 255 || login.contains('/') => Err(Fault(format!(
            "SCRIP_SETUP has the key `{}` of the user `{login}`, whose login must have 1 to 255 bytes without `/`",
            key.id
        ))),
        Some(_) | None => Ok(()),
    }
}

fn insert(store: &mut Store<'_>, kind: &str, id: String, key: Option<String>, body: Json, now_ms: i64) {
    let body: Map<String, Json> = body.as_object().cloned().unwrap_or_default();
    store.insert(kind, &Document { id, key, parent: None, holder: None, created_at: now_ms, updated_at: None, body });
}
