//! The directory of projects, keys, users and tokens: applies the setup, answers lookups of the entry, checks the health,
//! and serves the management API.

mod setup;
mod setup_checks;

use crate::access::auth::{BUNDLES, IMAGES, Record};
use crate::access::images;
use crate::access::keys::{self, ApiKey};
use crate::access::projects::{self, WEBHOOK_TOKEN_LENGTH};
use crate::access::users;
use crate::commit;
use crate::constant_time::sha256_hex;
use crate::directory::setup::SetupProject;
use crate::http::caller::CredentialClass;
use crate::http::health::{self, HealthProblem};
use crate::http::reply::{bytes_reply, empty_reply, json_reply};
use crate::http::request::{Reply, Request};
use crate::service;
use crate::store::Store;
use crate::store::access::credentials;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::id::Ids;
use serde_json::{Map, json};

/// Path of the request for the ids of all projects.
pub const PROJECTS: &str = "/internal/projects";
/// Maximum number of projects in one response.
const PROJECTS_MAX: i64 = 1_000;

/// Answers a request in the directory's object: lookups below `/internal/`, and management calls that the entry forwards.
pub fn serve_directory(
    request: &Request,
    store: &mut Store<'_>,
    context: &Context,
    setup: &str,
) -> Result<Reply, Fault> {
    if request.path == health::PROBE_PATH {
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
    for (prefix, class) in [(IMAGES, CredentialClass::Image), (BUNDLES, CredentialClass::Bundle)] {
        if let Some(name) = request.path.strip_prefix(prefix) {
            apply(setup, store, context)?;
            let project = images::project_of(name).unwrap_or_default();
            return found(keys::record_of_addresses(store, class, &project)?);
        }
    }
    service::serve_call(request, store, context)
}

fn found(record: Option<Record>) -> Result<Reply, Fault> {
    let Some(record) = record else { return Ok(empty_reply(404)) };
    Ok(bytes_reply(200, serde_json::to_vec(&record).map_err(|error| Fault(error.to_string()))?))
}

/// Returns the ids of projects with at least one key; without a key a project has no calls.
fn projects(store: &Store<'_>) -> Result<Reply, Fault> {
    let ids = credentials::list_projects_with_keys(store, PROJECTS_MAX)?;
    Ok(json_reply(200, &json!(ids)))
}

/// Checks that the setup is valid and that a row can be written. A fault of the write is undone, and the entry reports it.
fn health(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<Reply, Fault> {
    if !is_applied(setup, store)?
        && let Err(fault) = setup_checks::read(setup)
    {
        store.warn(format!("is not healthy: {}", fault.0));
        return Ok(health::reply(&[HealthProblem::Setup], &context.request_id()));
    }
    apply(setup, store, context)?;
    // This row only tests that the database accepts writes.
    store.upsert("health", &Document::new("health".into(), None, context.now.millis(), Map::new()));
    commit::run_internal(store, context)?;
    Ok(health::reply(&[], &context.request_id()))
}

/// Version of the rows of a setup: a change of it applies the setup again.
const FORM: &str = "2";

fn setup_digest(setup: &str) -> String {
    sha256_hex(format!("{FORM}\n{setup}").as_bytes())
}

fn is_applied(setup: &str, store: &Store<'_>) -> Result<bool, Fault> {
    let applied = store.document("setup", "setup")?;
    Ok(applied.is_some_and(|applied| applied.key.as_deref() == Some(&setup_digest(setup))))
}

/// Applies a new setup: its projects and keys replace those of the setup before. Projects and keys of the management API
/// stay, unless the setup declares them now.
fn apply(setup: &str, store: &mut Store<'_>, context: &Context) -> Result<(), Fault> {
    if is_applied(setup, store)? {
        return Ok(());
    }
    let read = setup_checks::read(setup)?;
    let address_header = read.address_header.map(|name| name.to_ascii_lowercase());
    let now_ms = context.now.millis();
    let mut ids = Ids::new(context);
    credentials::delete_applied(store)?;
    for mut project in read.projects {
        let client = setup::take_client(&mut project)?;
        project.settings.address_header.clone_from(&address_header);
        part_from_maker(store, &project, &mut ids)?;
        credentials::delete_project(store, &project.id)?;
        sign(store, &project, &mut ids, now_ms)?;
        for key in project.keys.drain(..) {
            let key = ApiKey {
                project: project.id.clone(),
                class: key.class,
                id: key.id,
                token_sha256: sha256_hex(key.token.as_bytes()),
                user: key.user,
                name: None,
                former: None,
            };
            let row = key.row(false, now_ms)?;
            credentials::delete_key(store, &row.id)?;
            store.insert(keys::KEY, &row);
        }
        store.insert(projects::PROJECT, &setup::to_project(project, client, now_ms).row());
    }
    let applied = Document::new("setup".into(), Some(setup_digest(setup)), now_ms, Map::new());
    store.insert("setup", &applied);
    commit::run_internal(store, context)?;
    // A token lives as long as its key; the setup may have changed the key's secret.
    credentials::delete_tokens_of_setup(store)
}

/// Moves a project that the management API created, and that the setup declares now, into an organisation of its own.
fn part_from_maker(store: &mut Store<'_>, project: &SetupProject, ids: &mut Ids) -> Result<(), Fault> {
    let Some(before) = projects::find(store, &project.id)?.filter(|before| !before.is_set_up()) else { return Ok(()) };
    let mut logins: Vec<String> = project.keys.iter().filter_map(|key| key.user.clone()).collect();
    for row in keys::of_project(store, &project.id)? {
        logins.extend(ApiKey::of(&row)?.user);
    }
    users::copy_to_project(store, ids, &before, &logins)
}

/// Stores the secret that signs a project's webhooks: that of the setup, else one that is generated once.
fn sign(store: &mut Store<'_>, project: &SetupProject, ids: &mut Ids, now_ms: i64) -> Result<(), Fault> {
    let id = &project.id;
    match &project.webhook_token {
        Some(token) => projects::update_webhook_token(store, id, token, true, now_ms),
        None if projects::webhook_token(store, id)?.is_some() && !projects::is_webhook_token_set_up(store, id)? => {}
        None => projects::update_webhook_token(store, id, &ids.alphanumeric("", WEBHOOK_TOKEN_LENGTH), false, now_ms),
    }
    Ok(())
}
