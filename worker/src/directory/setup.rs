//! The setup as JSON: projects, their keys and their client settings.

use crate::access::projects::{self, ProjectSettings};
use crate::http::caller::{CredentialClass, Settings};
use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::edge_policy::EdgePolicy;
use crate::http::rate_limits::RateLimits;
use crate::store::sql::Fault;
use scrip::wire::project::client;
use serde::Deserialize;
use serde_json::Value as Json;

/// The setup: the text binding `SCRIP_SETUP`.
#[derive(Debug, Deserialize)]
pub(super) struct Setup {
    pub(super) projects: Vec<SetupProject>,
    /// Header in which the operator's own proxy sends the client address.
    #[serde(default)]
    pub(super) address_header: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SetupProject {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) settings: Settings,
    /// Secret that signs webhook deliveries; generated when absent.
    #[serde(default)]
    pub(super) webhook_token: Option<String>,
    #[serde(default)]
    pub(super) keys: Vec<SetupKey>,
    /// Rate limits of the keys.
    #[serde(default)]
    pub(super) rate_limits: RateLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Client {
    pub(super) origins: Vec<String>,
    pub(super) redeem: bool,
    pub(super) publish: ClientPublicationPolicy,
    pub(super) events: bool,
    pub(super) create_customers: bool,
    pub(super) list_vouchers: bool,
    /// Permission of the entry to answer them.
    pub(super) edge: EdgePolicy,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct SetupKey {
    pub(super) class: CredentialClass,
    pub(super) id: String,
    pub(super) token: String,
    /// Login of the user to whose account the key belongs.
    #[serde(default)]
    pub(super) user: Option<String>,
}

/// Reads the client settings of a project: origins and routes. The members for the engine's client policy stay in its settings.
pub(super) fn take_client(project: &mut SetupProject) -> Result<Client, Fault> {
    let wrong = |what: String| Fault(format!("`client` of the project `{}`: {what}", project.id));
    let Json::Object(members) = std::mem::take(&mut project.settings.client) else {
        project.settings.client = Json::Bool(true);
        return Ok(Client::default());
    };
    let (terms, switches) = members.into_iter().partition(|(name, _)| client::NAMES.contains(&name.as_str()));
    let client = serde_path_to_error::deserialize(Json::Object(switches)).map_err(|error| wrong(error.to_string()))?;
    let terms = Json::Object(terms);
    client::client_policy_of(&terms).map_err(|problem| wrong(problem.to_string()))?;
    project.settings.client = terms;
    Ok(client)
}

/// Returns the stored form of a project of the setup, with the members that the management API returns.
pub(super) fn to_project(project: SetupProject, client: Client, now_ms: i64) -> projects::Project {
    let settings = Settings { changed_ms: now_ms, client_edge: client.edge, ..project.settings };
    let zone = settings.time_zone.get("name").unwrap_or(&settings.time_zone).as_str().filter(|name| !name.is_empty());
    let mut members = projects::initial_members();
    for (name, value) in [
        ("id", Json::from(project.id.as_str())),
        ("name", settings.name.as_str().into()),
        ("timezone", zone.unwrap_or("UTC").into()),
        ("currency", settings.currency.as_str().into()),
        ("case_sensitive_codes", settings.case_sensitive_codes.into()),
        ("replay_days", settings.replay_days.into()),
        ("client_trusted_domains", client.origins.clone().into()),
        ("client_redeem_enabled", client.redeem.into()),
        ("client_publish_enabled", (!client.publish.is_off()).into()),
        ("client_loyalty_events_enabled", client.events.into()),
        ("client_create_customer_enabled", client.create_customers.into()),
        ("client_list_vouchers_enabled", client.list_vouchers.into()),
    ] {
        members.insert(name.to_owned(), value);
    }
    let terms = ProjectSettings {
        settings,
        origins: client.origins,
        redeem: client.redeem,
        publish: client.publish,
        events: client.events,
        create_customers: client.create_customers,
        list_vouchers: client.list_vouchers,
        rate_limits: project.rate_limits,
    };
    projects::Project { id: project.id, created_by: None, created_at: now_ms, members, terms }
}
