//! Keys as the directory stores them, and the record of one that a call needs. A record is composed on every request for it, so that
//! changes of the project, the user or the key take effect at once.

use crate::access::auth::{PreviousSecret, Record, fingerprint_of, key_name};
use crate::access::images;
use crate::access::projects::{self, ProjectSettings};
use crate::access::users;
use crate::http::caller::{Caller, CredentialClass, ManagedProject, Settings, UserRole, WebhookSecret};
use crate::http::rate_limits::Rates;
use crate::http::route::Response;
use crate::store::Store;
use crate::store::access::credentials;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Kind of the rows of keys.
pub const KEY: &str = "key";
/// Mark in the rows of keys that were created through the API: a new setup does not change them.
pub const CREATED_BY_API: &str = "made";
/// Header in which the directory names the records that the entry must evict from its caches. No caller sees it.
/// Stored responses contain the text of this header.
pub const EVICT_RECORDS: &str = "scrip-forget";
/// Header in which the directory names the project that the entry must empty. No caller sees it.
pub const EMPTY_PROJECT: &str = "scrip-empty-project";
/// Header in which the directory sends the entry a new webhook secret, as a `WebhookSecretUpdate`. No caller sees it.
pub const UPDATE_WEBHOOK_SECRET: &str = "scrip-signed";
/// Header in which the directory sends the entry changed settings of a project, as a `SettingsUpdate`. No caller sees it.
pub const CHANGED: &str = "scrip-changed";

/// A key, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ApiKey {
    /// Id of the project.
    pub project: String,
    /// Class of the credentials.
    pub class: CredentialClass,
    /// Public id.
    pub id: String,
    /// SHA-256 of the secret.
    pub token_sha256: String,
    /// Login of the user who owns the key.
    #[serde(default)]
    pub user: Option<String>,
    /// Name that its owners gave it.
    #[serde(default)]
    pub name: Option<String>,
    /// The previous secret.
    #[serde(default)]
    pub former: Option<PreviousSecret>,
}

impl ApiKey {
    /// Reads a row.
    pub fn of(row: &Document) -> Result<ApiKey, Fault> {
        let key = serde_json::from_value(serde_json::Value::Object(row.body.clone()));
        key.map_err(|error| Fault(format!("the key `{}`: {error}", row.id)))
    }

    /// Returns the row of the key.
    pub fn row(&self, made: bool, now_ms: i64) -> Result<Document, Fault> {
        let body = serde_json::to_value(self).map_err(|error| Fault(error.to_string()))?;
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(key_name(self.class, &self.id), None, now_ms, body);
        row.parent = Some(self.project.clone());
        row.holder = made.then(|| CREATED_BY_API.to_owned());
        Ok(row)
    }
}

/// Lists the rows of the keys of a project, the newest first.
pub fn of_project(store: &Store<'_>, project: &str) -> Result<Vec<Document>, Fault> {
    credentials::list_keys_of_project(store, project)
}

/// Lists the rows of the keys with a login in an organisation: those of the project itself, and of the projects that it made.
pub fn with_login(store: &Store<'_>, organisation: &str, login: &str) -> Result<Vec<Document>, Fault> {
    credentials::list_keys_with_login(store, organisation, login)
}

/// Returns the record under the name of a key.
pub fn record(store: &Store<'_>, name: &str) -> Result<Option<Record>, Fault> {
    let Some(key) = store.document(KEY, name)?.map(|row| ApiKey::of(&row)).transpose()? else { return Ok(None) };
    let Some(project) = projects::find(store, &key.project)? else { return Ok(None) };
    let role = users::role(store, key.user.as_deref(), &project)?;
    let (mut signing, mut manages) = (None, BTreeMap::new());
    if key.class == CredentialClass::Management {
        signing = projects::find_webhook_secret(store, &key.project)?;
        for other in projects::list_created_by(store, &key.project)? {
            let role = users::role(store, key.user.as_deref(), &other)?;
            let signing = projects::find_webhook_secret(store, &other.id)?;
            manages.insert(other.id, ManagedProject { settings: other.terms.settings, role, signing });
        }
    }
    Ok(Some(Record { signing, manages, ..build_record(key, project.terms, role) }))
}

/// Returns the record of a project for addresses that need no key: its images, the parts of its bundle. `None` if there is no
/// such project.
pub fn record_of_addresses(store: &Store<'_>, class: CredentialClass, project: &str) -> Result<Option<Record>, Fault> {
    let Some(found) = projects::find(store, project)? else { return Ok(None) };
    let key = ApiKey {
        project: found.id,
        class,
        id: String::new(),
        token_sha256: String::new(),
        user: None,
        name: None,
        former: None,
    };
    Ok(Some(build_record(key, found.terms, None)))
}

fn build_record(key: ApiKey, terms: ProjectSettings, role: Option<UserRole>) -> Record {
    Record {
        rates: rates(&terms, key.class),
        project: key.project,
        class: key.class,
        id: key.id,
        token_sha256: key.token_sha256,
        made_with: None,
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

fn rates(terms: &ProjectSettings, class: CredentialClass) -> Rates {
    match class {
        CredentialClass::Server | CredentialClass::OAuth | CredentialClass::Link => terms.rate_limits.server,
        CredentialClass::Client => terms.rate_limits.client,
        CredentialClass::Management => terms.rate_limits.management,
        CredentialClass::Image | CredentialClass::Bundle => terms.rate_limits.images,
    }
}

/// Returns the record of a token, which has all settings of its key. It ends with the key and with the secret that issued it;
/// a replaced secret ends with its grace period.
pub fn record_of_token(store: &Store<'_>, sha256: &str, now_ms: i64) -> Result<Option<Record>, Fault> {
    let Some(issued) = credentials::find_token(store, sha256, now_ms)? else { return Ok(None) };
    let issued: IssuedToken = serde_json::from_str(&issued).map_err(|error| Fault(error.to_string()))?;
    let Some(record) = record(store, &key_name(CredentialClass::Server, &issued.id))? else { return Ok(None) };
    // A token without a fingerprint is older than fingerprints, and counts as one of the current secret.
    let secret = issued.secret.unwrap_or_else(|| fingerprint_of(&record.token_sha256));
    let Some(end) = secret_end(&record, &secret).filter(|end| *end > now_ms) else { return Ok(None) };
    if record.project != issued.project {
        return Ok(None);
    }
    Ok(Some(Record {
        class: CredentialClass::OAuth,
        token_sha256: sha256.to_owned(),
        made_with: Some(secret),
        scopes: issued.scopes,
        expires_at: Some(issued.expires_at.min(end)),
        former: None,
        ..record
    }))
}

/// Returns the end of a key's secret by its fingerprint: `i64::MAX` for the current one, the end of grace for the former, else `None`.
fn secret_end(record: &Record, fingerprint: &str) -> Option<i64> {
    if fingerprint == fingerprint_of(&record.token_sha256) {
        return Some(i64::MAX);
    }
    let former = record.former.as_ref().filter(|former| fingerprint == fingerprint_of(&former.token_sha256));
    former.map(|former| former.until)
}

/// Stored row of an issued token.
#[derive(Debug, Serialize, Deserialize)]
pub struct IssuedToken {
    /// Id of the project.
    pub project: String,
    /// Public id of the key that issued it.
    pub id: String,
    /// Mark of the secret that issued it.
    #[serde(default)]
    pub secret: Option<String>,
    /// Scopes that it grants.
    pub scopes: Vec<String>,
    /// End of its validity, in milliseconds.
    pub expires_at: i64,
}

/// Message to a project's object when another secret signs its webhooks.
#[derive(Debug, Serialize, Deserialize)]
pub struct WebhookSecretUpdate {
    /// Id of the project.
    pub project: String,
    /// New secret.
    pub signing: WebhookSecret,
    /// Settings of the project; absent in a message of an earlier version.
    pub settings: Option<Settings>,
}

/// Message to the entry when the settings of a project have changed, on which its bundle depends.
#[derive(Debug, Serialize, Deserialize)]
pub struct SettingsUpdate {
    /// Id of the project.
    pub project: String,
    /// New settings.
    pub settings: Settings,
}

/// Returns a caller as a caller of the project with changed settings.
pub fn with_settings(caller: &Caller, update: &str) -> Result<Caller, Fault> {
    let SettingsUpdate { project, settings } =
        serde_json::from_str(update).map_err(|error| Fault(format!("the settings cannot be read: {error}")))?;
    Ok(Caller { project, settings, ..caller.clone() })
}

/// Maximum number of tokens that an entry evicts at once: each needs a call of the platform. The rest stay valid for a minute.
const EVICTED_TOKENS_MAX: i64 = 100;
/// Maximum number of valid tokens of one key.
pub const TOKENS_MAX: i64 = 100;

/// Returns the names under which an entry caches tokens, in the format of [`EVICT_RECORDS`].
pub fn names_of_tokens(tokens: &[String]) -> String {
    tokens.iter().map(|sha256| format!("token:{sha256}")).collect::<Vec<_>>().join(",")
}

/// Instructs the entry to evict the records of these keys, and of all tokens issued with them.
pub fn evict_keys(store: &Store<'_>, mut answer: Response, rows: &[Document]) -> Result<Response, Fault> {
    let (mut names, mut tokens) = (Vec::new(), Vec::new());
    for row in rows {
        let key = ApiKey::of(row)?;
        names.push(format!("key:{}", row.id));
        if key.class == CredentialClass::Server {
            tokens.extend(credentials::list_tokens_of_key(store, &key.project, &key.id, 0)?);
        }
    }
    tokens.truncate(usize::try_from(EVICTED_TOKENS_MAX).unwrap_or(0));
    names.push(names_of_tokens(&tokens));
    answer.headers.push((EVICT_RECORDS, names.join(",")));
    Ok(answer)
}

/// Instructs the entry to evict the records of a project's keys, of the keys that manage the project, and of its tokens.
pub fn evict_project_keys(store: &Store<'_>, mut answer: Response, project: &str) -> Result<Response, Fault> {
    let organisation = projects::find(store, project)?.map(|found| found.organisation().to_owned());
    let mut rows = of_project(store, project)?;
    if let Some(other) = organisation.filter(|other| other != project) {
        rows.extend(of_project(store, &other)?);
    }
    let mut names: Vec<String> = rows.iter().map(|row| format!("key:{}", row.id)).collect();
    let tokens = credentials::list_tokens_of_project(store, project, EVICTED_TOKENS_MAX)?;
    names.extend(tokens.iter().map(|sha256| format!("token:{sha256}")));
    names.push(images::cache_key(&images::name_of(project)));
    answer.headers.push((EVICT_RECORDS, names.join(",")));
    Ok(answer)
}
