//! Projects as the directory keeps them: those of the setup, and those that were made by the interface. It must not know what a
//! request says of one.

use crate::http::caller::{Settings, Signing};
use crate::http::publishing::Publishing;
use crate::http::rates::RateLimits;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// The kind of the rows of projects.
pub const PROJECT: &str = "project";
/// The kind of the rows that remember who was deleted, until nobody asks any more: what is in its object can be emptied again.
pub const DELETED: &str = "deleted_project";
/// The kind of the rows with what signs a project's webhooks.
const WEBHOOK_TOKEN: &str = "webhook_token";
/// How long a secret is that signs webhooks, when it is drawn here.
pub const WEBHOOK_TOKEN_LENGTH: usize = 50;

/// On which terms a project is called: what every record of its keys says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Terms {
    /// Its settings.
    pub settings: Settings,
    /// Origins whose pages may call.
    #[serde(default)]
    pub origins: Vec<String>,
    /// Whether pages may redeem.
    #[serde(default)]
    pub redeem: bool,
    /// What pages may publish.
    #[serde(default)]
    pub publish: Publishing,
    /// Whether pages may tell of events.
    #[serde(default)]
    pub events: bool,
    /// Whether pages may write down who their customers are.
    #[serde(default)]
    pub create_customers: bool,
    /// Whether pages may list codes.
    #[serde(default)]
    pub list_vouchers: bool,
    /// How often its keys may call.
    #[serde(default)]
    pub rate_limits: RateLimits,
}

/// A project.
#[derive(Debug, Clone)]
pub struct Project {
    /// Its id.
    pub id: String,
    /// The project of the setup whose key made it; nothing where the setup says it itself.
    pub made_by: Option<String>,
    /// When the directory heard of it.
    pub created_at: i64,
    /// What is shown of it.
    pub shown: Map<String, Json>,
    /// Its terms.
    pub terms: Terms,
}

impl Project {
    /// Reads a row.
    fn of(document: Document) -> Result<Project, Fault> {
        let Document { id, parent, created_at, mut body, .. } = document;
        let shown = body.remove("shown").and_then(|shown| shown.as_object().cloned()).unwrap_or_default();
        let terms = serde_json::from_value(body.remove("terms").unwrap_or_default());
        let terms = terms.map_err(|error| Fault(format!("the terms of the project `{id}`: {error}")))?;
        Ok(Project { id, made_by: parent, created_at, shown, terms })
    }

    /// The row.
    pub fn row(&self) -> Document {
        let body = json!({ "shown": self.shown, "terms": self.terms });
        let body = body.as_object().cloned().unwrap_or_default();
        let mut row = Document::new(self.id.clone(), None, self.created_at, body);
        row.parent.clone_from(&self.made_by);
        row
    }

    /// The project whose keys manage it beside its own, which may be itself.
    pub fn organisation(&self) -> &str {
        self.made_by.as_deref().unwrap_or(&self.id)
    }

    /// Whether the setup says it, so that nothing else may change it.
    pub fn is_set_up(&self) -> bool {
        self.made_by.is_none()
    }
}

/// A project. What one that was made learns of its surroundings, the setup says of the project that made it.
pub fn find(store: &Store<'_>, id: &str) -> Result<Option<Project>, Fault> {
    let Some(mut project) = store.document(PROJECT, id)?.map(Project::of).transpose()? else { return Ok(None) };
    if let Some(organisation) = project.made_by.as_deref()
        && let Some(organisation) = store.document(PROJECT, organisation)?.map(Project::of).transpose()?
    {
        project.terms.settings.address_header = organisation.terms.settings.address_header;
    }
    Ok(Some(project))
}

/// The projects that were made with keys of one, the newest first.
pub fn made_by(store: &Store<'_>, id: &str) -> Result<Vec<Project>, Fault> {
    let rows = store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = 'project' AND parent = +?1
         ORDER BY seq DESC",
        &[id.into()],
    )?;
    rows.into_iter().map(Project::of).collect()
}

/// What signs the webhooks of a project.
pub fn webhook_token(store: &Store<'_>, id: &str) -> Result<Option<String>, Fault> {
    Ok(signing(store, id)?.map(|signing| signing.token))
}

/// The same, with the moment since when it does.
pub fn signing(store: &Store<'_>, id: &str) -> Result<Option<Signing>, Fault> {
    let row = store.document(WEBHOOK_TOKEN, id)?;
    let signing = row.and_then(|row| {
        let since_ms = row.body.get("since_ms").and_then(Json::as_i64).unwrap_or(0);
        Some(Signing { token: row.body.get("token")?.as_str()?.to_owned(), since_ms })
    });
    Ok(signing)
}

/// Whether the setup itself says what signs the webhooks of a project.
pub fn is_webhook_token_set_up(store: &Store<'_>, id: &str) -> Result<bool, Fault> {
    let row = store.document(WEBHOOK_TOKEN, id)?;
    Ok(row.is_some_and(|row| row.body.get("set_up") == Some(&Json::Bool(true))))
}

/// Keeps what signs the webhooks of a project.
pub fn keep_webhook_token(store: &mut Store<'_>, id: &str, token: &str, set_up: bool, now_ms: i64) {
    let body = json!({ "token": token, "set_up": set_up, "since_ms": now_ms }).as_object().cloned().unwrap_or_default();
    store.put(WEBHOOK_TOKEN, &Document::new(id.to_owned(), None, now_ms, body));
}

/// Takes everything that the directory has of a project, and remembers that it was there.
pub fn delete(store: &mut Store<'_>, project: &Project, now_ms: i64) {
    store.remove(PROJECT, &project.id);
    store.remove(WEBHOOK_TOKEN, &project.id);
    store.write("DELETE FROM document WHERE kind = 'key' AND parent = +?1", vec![project.id.as_str().into()]);
    store.write("DELETE FROM token WHERE project = +?1", vec![project.id.as_str().into()]);
    let mut row = Document::new(project.id.clone(), None, now_ms, Map::new());
    row.parent.clone_from(&project.made_by);
    store.put(DELETED, &row);
}

/// What is shown of a project of which nothing has been said.
pub fn shown_from_the_beginning() -> Map<String, Json> {
    let quiet = json!({ "enabled": false, "value": 80, "in_app": false, "emails": [] });
    let silent = json!({ "email": false, "in_app": false, "emails": [] });
    let shown = json!({
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
        "default_code_config": { "charset": null },
    });
    shown.as_object().cloned().unwrap_or_default()
}
