//! The directory: which projects and keys there are. It applies the setup, answers the look-ups of the entry, says whether it can
//! work, and serves what is about projects, keys, users and tokens. It must not know what is in a project.

mod setup;
mod sound;

use crate::access::auth::{IMAGES, Record};
use crate::access::images;
use crate::access::keys::{self, Key};
use crate::access::projects::{self, WEBHOOK_TOKEN_LENGTH};
use crate::digest::sha256_hex;
use crate::directory::setup::Project;
use crate::http::health::{self, Lack};
use crate::http::reply::{bytes_reply, empty_reply, json_reply};
use crate::http::request::{Reply, Request};
use crate::service;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use scrip::Context;
use scrip::id::Ids;
use serde_json::{Map, json};

/// What the directory is asked for the ids of all projects.
pub const PROJECTS: &str = "/internal/projects";
/// As many projects as are told at once.
const PROJECTS_MAX: i64 = 1_000;

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
    if request.path == PROJECTS {
        apply(setup, store, context)?;
        return projects(store);
    }
    if let Some(name) = request.path.strip_prefix("/internal/keys/") {
        apply(setup, store, context)?;
        return found(keys::record(store, name)?);
    }
    if let Some(sha256) = request.path.strip_prefix("/internal/tokens/") {
        apply(setup, store, context)?;
        return found(keys::record_of_token(store, sha256, context.now.millis())?);
    }
    if let Some(name) = request.path.strip_prefix(IMAGES) {
        apply(setup, store, context)?;
        let project = images::project_of(name).unwrap_or_default();
        return found(keys::record_of_images(store, &project)?);
    }
    service::serve_call(request, store, context)
}

fn found(record: Option<Record>) -> Result<Reply, Fault> {
    let Some(record) = record else { return Ok(empty_reply(404)) };
    Ok(bytes_reply(200, serde_json::to_vec(&record).map_err(|error| Fault(error.to_string()))?))
}

/// The projects that some key opens: nobody else can have asked for anything in one.
fn projects(store: &Store<'_>) -> Result<Reply, Fault> {
    let rows = store.rows(
        "SELECT DISTINCT parent FROM document WHERE kind = 'key' AND parent IS NOT NULL ORDER BY 1 LIMIT +?1",
        &[PROJECTS_MAX.into()],
    )?;
    let ids = rows.iter().map(|row| sql::text(row, 0)).collect::<Result<Vec<_>, Fault>>()?;
    Ok(json_reply(200, &json!(ids)))
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

/// What the rows of a setup look like: when that changes, it is applied again.
const FORM: &str = "2";

fn mark(setup: &str) -> String {
    sha256_hex(format!("{FORM}\n{setup}").as_bytes())
}

fn is_applied(setup: &str, store: &Store<'_>) -> Result<bool, Fault> {
    let applied = store.document("setup", "setup")?;
    Ok(applied.is_some_and(|applied| applied.key.as_deref() == Some(&mark(setup))))
}

/// Applies a setup that has not been applied: its projects and keys take the place of those of the setup before. What was made by the
/// interface stays, but where the setup says it now.
fn apply(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    if is_applied(setup, store)? {
        return Ok(());
    }
    let read = sound::read(setup)?;
    let address_header = read.address_header.map(|name| name.to_ascii_lowercase());
    let now_ms = context.now.millis();
    let mut ids = Ids::new(context);
    store.write_now("DELETE FROM document WHERE kind = 'setup'", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'key' AND holder IS NULL", &[])?;
    store.write_now("DELETE FROM document WHERE kind = 'project' AND parent IS NULL", &[])?;
    for mut project in read.projects {
        let client = setup::take_client(&mut project)?;
        project.settings.address_header.clone_from(&address_header);
        store.write_now("DELETE FROM document WHERE kind = 'project' AND id = +?1", &[project.id.as_str().into()])?;
        sign(store, &project, &mut ids, now_ms)?;
        for key in project.keys.drain(..) {
            let key = Key {
                project: project.id.clone(),
                class: key.class,
                id: key.id,
                token_sha256: sha256_hex(key.token.as_bytes()),
                user: key.user,
                name: None,
                former: None,
            };
            let row = key.row(false, now_ms)?;
            store.write_now("DELETE FROM document WHERE kind = 'key' AND id = +?1", &[row.id.as_str().into()])?;
            store.insert(keys::KEY, &row);
        }
        store.insert(projects::PROJECT, &setup::shown(project, client, now_ms).row());
    }
    let applied = Document::new("setup".into(), Some(mark(setup)), now_ms, Map::new());
    store.insert("setup", &applied);
    store.commit()?;
    // A token lives as long as the key that it was made with; the setup may have given that another secret.
    store.write_now(
        "DELETE FROM token WHERE record ->> 'id' NOT IN
           (SELECT body ->> 'id' FROM document WHERE kind = 'key' AND holder IS NOT NULL AND body ->> 'class' = 'server')",
        &[],
    )
}

/// What signs a project's webhooks is what the setup says, else what was drawn for it once.
fn sign(store: &mut Store<'_>, project: &Project, ids: &mut Ids, now_ms: i64) -> Result<(), Fault> {
    let id = &project.id;
    match &project.webhook_token {
        Some(token) => projects::keep_webhook_token(store, id, token, true, now_ms),
        None if projects::webhook_token(store, id)?.is_some() && !projects::is_webhook_token_set_up(store, id)? => {}
        None => projects::keep_webhook_token(store, id, &ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH), false, now_ms),
    }
    Ok(())
}
