//! Keys as the directory keeps them, and the record of one as a call needs it: put together anew whenever one is asked for, so that
//! whatever changes of the project, the user or the key is true at once. It must not know what a request says of a key.

use crate::access::auth::{Former, Record, key_name};
use crate::access::images;
use crate::access::projects::{self, Terms};
use crate::access::users;
use crate::http::caller::{Class, Managed, Role, Signing};
use crate::http::rates::Rates;
use crate::http::route::Answer;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::{self, Fault};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kind of the rows of keys.
pub const KEY: &str = "key";
/// What stands in the rows of keys that were made by the interface: a new setup leaves them alone.
pub const MADE: &str = "made";
/// The header in which the directory tells the entry which records it should forget. No caller sees it.
pub const FORGET: &str = "scrip-forget";
/// The header in which the directory tells the entry which project's object is to be emptied. No caller sees it.
pub const EMPTIED: &str = "scrip-empty";
/// The header in which the directory tells the entry what signs a project's webhooks from now on, as a `Signed`. No caller sees it.
pub const SIGNED: &str = "scrip-signed";

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Key {
    /// The project that it opens.
    pub project: String,
    /// Its kind.
    pub class: Class,
    /// Its public id.
    pub id: String,
    /// The SHA-256 of its secret.
    pub token_sha256: String,
    /// The login of the user whose key it is.
    #[serde(default)]
    pub user: Option<String>,
    /// What it is called by those who keep it.
    #[serde(default)]
    pub name: Option<String>,
    /// The secret before this one.
    #[serde(default)]
    pub former: Option<Former>,
}

impl Key {
    /// Reads a row.
    pub fn of(row: &Document) -> Result<Key, Fault> {
        let key = serde_json::from_value(serde_json::Value::Object(row.body.clone()));
        key.map_err(|error| Fault(format!("the key `{}`: {error}", row.id)))
    }

    /// The row.
    pub fn row(&self, made: bool, now_ms: i64) -> Result<Document, Fault> {
        let body = serde_json::to_value(self).map_err(|error| Fault(error.to_string()))?;
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(key_name(self.class, &self.id), None, now_ms, body);
        row.parent = Some(self.project.clone());
        row.holder = made.then(|| MADE.to_owned());
        Ok(row)
    }
}

/// The rows of the keys of a project, the newest first.
pub fn of_project(store: &Store<'_>, project: &str) -> Result<Vec<Document>, Fault> {
    store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'key' AND parent = +?1 ORDER BY seq DESC",
        &[project.into()],
    )
}

/// The record under the name of a key.
pub fn record(store: &Store<'_>, name: &str) -> Result<Option<Record>, Fault> {
    let Some(key) = store.document(KEY, name)?.map(|row| Key::of(&row)).transpose()? else { return Ok(None) };
    let Some(project) = projects::find(store, &key.project)? else { return Ok(None) };
    let role = users::role(store, key.user.as_deref(), &key.project)?;
    let (mut signing, mut manages) = (None, BTreeMap::new());
    if key.class == Class::Management {
        signing = projects::signing(store, &key.project)?;
        for other in projects::made_by(store, &key.project)? {
            let role = users::role(store, key.user.as_deref(), &other.id)?;
            let signing = projects::signing(store, &other.id)?;
            manages.insert(other.id, Managed { settings: other.terms.settings, role, signing });
        }
    }
    Ok(Some(Record { signing, manages, ..written(key, project.terms, role) }))
}

/// What opens the images of a project, as long as there is one.
pub fn record_of_images(store: &Store<'_>, project: &str) -> Result<Option<Record>, Fault> {
    let Some(found) = projects::find(store, project)? else { return Ok(None) };
    let key = Key {
        project: found.id,
        class: Class::Image,
        id: String::new(),
        token_sha256: String::new(),
        user: None,
        name: None,
        former: None,
    };
    Ok(Some(written(key, found.terms, None)))
}

fn written(key: Key, terms: Terms, role: Option<Role>) -> Record {
    Record {
        rates: rates(&terms, key.class),
        project: key.project,
        class: key.class,
        id: key.id,
        token_sha256: key.token_sha256,
        user: key.user,
        scopes: Vec::new(),
        origins: terms.origins,
        redeem: terms.redeem,
        publish: terms.publish,
        events: terms.events,
        create_customers: terms.create_customers,
        list_vouchers: terms.list_vouchers,
        expires_at: None,
        former: key.former,
        role,
        signing: None,
        manages: BTreeMap::new(),
        settings: terms.settings,
    }
}

fn rates(terms: &Terms, class: Class) -> Rates {
    match class {
        Class::Server | Class::OAuth | Class::Link => terms.rate_limits.server,
        Class::Client => terms.rate_limits.client,
        Class::Management => terms.rate_limits.management,
        Class::Image => terms.rate_limits.images,
    }
}

/// What a token says: it inherits everything of the key that it was made with, ends with it, and outlives its secret.
pub fn record_of_token(store: &Store<'_>, sha256: &str, now_ms: i64) -> Result<Option<Record>, Fault> {
    let row = store
        .row("SELECT record FROM token WHERE sha256 = +?1 AND expires_at > ?2", &[sha256.into(), now_ms.into()])?;
    let Some(row) = row else { return Ok(None) };
    let issued: Issued = serde_json::from_str(sql::text(&row, 0)?).map_err(|error| Fault(error.to_string()))?;
    let Some(record) = record(store, &key_name(Class::Server, &issued.id))? else { return Ok(None) };
    if record.project != issued.project {
        return Ok(None);
    }
    Ok(Some(Record {
        class: Class::OAuth,
        token_sha256: sha256.to_owned(),
        scopes: issued.scopes,
        expires_at: Some(issued.expires_at),
        former: None,
        ..record
    }))
}

/// What is kept of a token when it is issued.
#[derive(Debug, Serialize, Deserialize)]
pub struct Issued {
    /// The project.
    pub project: String,
    /// The public id of the key that issued it.
    pub id: String,
    /// What it opens.
    pub scopes: Vec<String>,
    /// When it ends, in milliseconds.
    pub expires_at: i64,
}

/// What a project's object is told when another secret signs its webhooks.
#[derive(Debug, Serialize, Deserialize)]
pub struct Signed {
    /// The project.
    pub project: String,
    /// The secret.
    pub signing: Signing,
}

/// Tokens of a project that an entry forgets at once, at most: each is a call of the platform's. The rest are believed for a minute.
const FORGOTTEN_MAX: i64 = 100;

/// Has the entry that asked forget what it keeps of the keys of a project, of those that manage it, and of the project's tokens.
pub fn forgetting(store: &Store<'_>, mut answer: Answer, project: &str) -> Result<Answer, Fault> {
    let organisation = projects::find(store, project)?.map(|found| found.organisation().to_owned());
    let mut rows = of_project(store, project)?;
    if let Some(other) = organisation.filter(|other| other != project) {
        rows.extend(of_project(store, &other)?);
    }
    let mut names: Vec<String> = rows.iter().map(|row| format!("key:{}", row.id)).collect();
    let tokens = "SELECT sha256 FROM token WHERE project = +?1 ORDER BY expires_at DESC LIMIT +?2";
    for row in store.rows(tokens, &[project.into(), FORGOTTEN_MAX.into()])? {
        names.push(format!("token:{}", sql::text(&row, 0)?));
    }
    names.push(images::kept_as(&images::name_of(project)));
    answer.headers.push((FORGET, names.join(",")));
    Ok(answer)
}
