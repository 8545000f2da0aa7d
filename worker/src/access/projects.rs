//! Projects as the directory stores them: those of the setup, and those that were created through the API.

use crate::http::caller::{Settings, WebhookSecret};
use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::rate_limits::RateLimits;
use crate::store::Store;
use crate::store::access::credentials;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Kind of the rows of projects.
pub const PROJECT: &str = "project";
/// Kind of the rows that remember deleted projects for a time: their objects can be emptied again.
pub const DELETED: &str = "deleted_project";
/// Kind of the rows of webhook secrets.
const WEBHOOK_TOKEN: &str = "webhook_token";
/// Length of a generated webhook secret.
pub const WEBHOOK_TOKEN_LENGTH: usize = 50;

/// Settings of a project that every record of its keys contains.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProjectSettings {
    /// Settings of the project.
    pub settings: Settings,
    /// Origins that clients may call from.
    #[serde(default)]
    pub origins: Vec<String>,
    /// True if clients may redeem.
    #[serde(default)]
    pub redeem: bool,
    /// Campaigns that clients may publish from.
    #[serde(default)]
    pub publish: ClientPublicationPolicy,
    /// True if clients may send events.
    #[serde(default)]
    pub events: bool,
    /// True if clients may create and update their customers.
    #[serde(default)]
    pub create_customers: bool,
    /// True if clients may list codes.
    #[serde(default)]
    pub list_vouchers: bool,
    /// Rate limits of its keys.
    #[serde(default)]
    pub rate_limits: RateLimits,
}

/// A project.
#[derive(Debug, Clone)]
pub struct Project {
    /// Id of the project.
    pub id: String,
    /// The project of the setup with whose key it was created; `None` if the setup defines it.
    pub created_by: Option<String>,
    /// Creation time in the directory, in milliseconds.
    pub created_at: i64,
    /// Members that responses contain.
    pub members: Map<String, Json>,
    /// Settings that the records of its keys contain.
    pub terms: ProjectSettings,
}

impl Project {
    /// Reads a row.
    fn of(document: Document) -> Result<Project, Fault> {
        let Document { id, parent, created_at, mut body, .. } = document;
        let members = body.remove("shown").and_then(|members| members.as_object().cloned()).unwrap_or_default();
        let terms = serde_json::from_value(body.remove("terms").unwrap_or_default());
        let terms = terms.map_err(|error| Fault(format!("the terms of the project `{id}`: {error}")))?;
        Ok(Project { id, created_by: parent, created_at, members, terms })
    }

    /// Returns the row of the project.
    pub fn row(&self) -> Document {
        let body = json!({ "shown": self.members, "terms": self.terms });
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(self.id.clone(), None, self.created_at, body);
        row.parent.clone_from(&self.created_by);
        row
    }

    /// Returns the project with keys that also manage it, which may be itself.
    pub fn organisation(&self) -> &str {
        self.created_by.as_deref().unwrap_or(&self.id)
    }

    /// Returns true if the setup defines it, so that only the setup may change it.
    pub fn is_set_up(&self) -> bool {
        self.created_by.is_none()
    }
}

/// Finds a project. A project that was created takes the environment settings of the project that created it.
pub fn find(store: &Store<'_>, id: &str) -> Result<Option<Project>, Fault> {
    let Some(mut project) = store.document(PROJECT, id)?.map(Project::of).transpose()? else { return Ok(None) };
    if let Some(organisation) = project.created_by.as_deref()
        && let Some(organisation) = store.document(PROJECT, organisation)?.map(Project::of).transpose()?
    {
        project.terms.settings.address_header = organisation.terms.settings.address_header;
    }
    Ok(Some(project))
}

/// Lists the projects that were created with keys of one, the newest first.
pub fn list_created_by(store: &Store<'_>, id: &str) -> Result<Vec<Project>, Fault> {
    credentials::list_projects_created_by(store, id)?.into_iter().map(Project::of).collect()
}

/// Returns the secret that signs the webhooks of a project.
pub fn webhook_token(store: &Store<'_>, id: &str) -> Result<Option<String>, Fault> {
    Ok(find_webhook_secret(store, id)?.map(|secret| secret.token))
}

/// Returns the webhook secret of a project with the start of its use.
pub fn find_webhook_secret(store: &Store<'_>, id: &str) -> Result<Option<WebhookSecret>, Fault> {
    let row = store.document(WEBHOOK_TOKEN, id)?;
    let secret = row.and_then(|row| {
        let since_ms = row.body.get("since_ms").and_then(Json::as_i64).unwrap_or(0);
        Some(WebhookSecret { token: row.body.get("token")?.as_str()?.to_owned(), since_ms })
    });
    Ok(secret)
}

/// Returns true if the setup defines the webhook secret of a project.
pub fn is_webhook_token_set_up(store: &Store<'_>, id: &str) -> Result<bool, Fault> {
    let row = store.document(WEBHOOK_TOKEN, id)?;
    Ok(row.is_some_and(|row| row.body.get("set_up") == Some(&Json::Bool(true))))
}

/// Stores the webhook secret of a project.
pub fn update_webhook_token(store: &mut Store<'_>, id: &str, token: &str, set_up: bool, now_ms: i64) {
    let body = json!({ "token": token, "set_up": set_up, "since_ms": now_ms }).as_object().cloned().unwrap_or_default();
    store.upsert(WEBHOOK_TOKEN, &Document::new(id.to_owned(), None, now_ms, body));
}

/// Deletes a project from the directory, and records the deletion.
pub fn delete(store: &mut Store<'_>, project: &Project, now_ms: i64) {
    store.delete(PROJECT, &project.id);
    store.delete(WEBHOOK_TOKEN, &project.id);
    credentials::delete_keys_of_project(store, &project.id);
    credentials::delete_tokens_of_project(store, &project.id);
    let mut row = Document::new(project.id.clone(), None, now_ms, Map::new());
    row.parent.clone_from(&project.created_by);
    store.upsert(DELETED, &row);
}

/// Returns the visible members of a project without settings.
pub fn initial_members() -> Map<String, Json> {
    let quiet = json!({ "enabled": false, "value": 80, "in_app": false, "emails": [] });
    let silent = json!({ "email": false, "in_app": false, "emails": [] });
    let members = json!({
        "id": "", "name": "", "description": "", "timezone": "UTC", "currency": "", "dial_code": null, "webhook_version": "v2024-01-01",
        "client_trusted_domains": [], "client_redeem_enabled": false, "client_publish_enabled": false,
        "client_list_vouchers_enabled": false, "client_create_customer_enabled": false, "client_loyalty_events_enabled": false,
        "client_set_voucher_expiration_date_enabled": false,
        "webhooks_callout_notifications": { "distributions": silent, "webhooks": silent },
        "api_usage_notifications": {
            "redemptions": quiet, "messages": quiet, "api_calls": quiet, "bulk_api_calls": quiet, "webhook_calls": quiet,
            "cycle_calls": quiet,
        },
        "cluster_id": "default", "case_sensitive_codes": true, "api_version": "v2018-08-01", "is_sandbox": false,
        "default_code_config": { "charset": null }, "replay_days": 0,
    });
    members.as_object().cloned().unwrap_or_default()
}
