//! What the setup says: projects, their keys, and the terms of their pages. It must not know what any of it is used for.

use crate::access::projects::{self, Terms};
use crate::http::caller::{Class, Settings};
use crate::http::publishing::Publishing;
use crate::http::rates::RateLimits;
use crate::store::sql::Fault;
use scrip::wire::page;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

/// The setup: the text binding `SCRIP_SETUP`.
#[derive(Debug, Deserialize)]
pub(super) struct Setup {
    pub(super) projects: Vec<Project>,
    /// The header in which a proxy of one's own says where a request came from.
    #[serde(default)]
    pub(super) address_header: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Project {
    pub(super) id: String,
    #[serde(flatten)]
    pub(super) settings: Settings,
    /// The secret by which the receivers of its webhooks know it; drawn where it says nothing.
    #[serde(default)]
    pub(super) webhook_token: Option<String>,
    #[serde(default)]
    pub(super) keys: Vec<Key>,
    /// How often its keys may call.
    #[serde(default)]
    pub(super) rate_limits: RateLimits,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Client {
    pub(super) origins: Vec<String>,
    pub(super) redeem: bool,
    pub(super) publish: Publishing,
    pub(super) events: bool,
    pub(super) create_customers: bool,
    pub(super) list_vouchers: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Key {
    pub(super) class: Class,
    pub(super) id: String,
    pub(super) token: String,
    /// The login of the user whose key it is.
    #[serde(default)]
    pub(super) user: Option<String>,
}

/// What a project says of its pages: where they are and what they may call, and, left in its settings, the terms on which the
/// engine serves them.
pub(super) fn take_client(project: &mut Project) -> Result<Client, Fault> {
    let wrong = |what: String| Fault(format!("`client` of the project `{}`: {what}", project.id));
    let Json::Object(said) = std::mem::take(&mut project.settings.client) else {
        project.settings.client = Json::Bool(true);
        return Ok(Client::default());
    };
    let (terms, switches): (Map<String, Json>, Map<String, Json>) =
        said.into_iter().partition(|(name, _)| page::NAMES.contains(&name.as_str()));
    let client = serde_path_to_error::deserialize(Json::Object(switches)).map_err(|error| wrong(error.to_string()))?;
    let terms = Json::Object(terms);
    page::terms_of(&terms).map_err(|problem| wrong(problem.to_string()))?;
    project.settings.client = terms;
    Ok(client)
}

/// A project of the setup as the directory keeps it, with what is shown of it.
pub(super) fn shown(project: Project, client: Client, now_ms: i64) -> projects::Project {
    let settings = project.settings;
    let zone = settings.time_zone.get("name").unwrap_or(&settings.time_zone).as_str().filter(|name| !name.is_empty());
    let mut shown = projects::shown_from_the_beginning();
    for (name, value) in [
        ("id", Json::from(project.id.as_str())),
        ("name", settings.name.as_str().into()),
        ("timezone", zone.unwrap_or("UTC").into()),
        ("currency", settings.currency.as_str().into()),
        ("case_sensitive_codes", settings.case_sensitive_codes.into()),
        ("client_trusted_domains", client.origins.clone().into()),
        ("client_redeem_enabled", client.redeem.into()),
        ("client_publish_enabled", (!client.publish.is_off()).into()),
        ("client_loyalty_events_enabled", client.events.into()),
        ("client_create_customer_enabled", client.create_customers.into()),
        ("client_list_vouchers_enabled", client.list_vouchers.into()),
    ] {
        shown.insert(name.to_owned(), value);
    }
    let terms = Terms {
        settings,
        origins: client.origins,
        redeem: client.redeem,
        publish: client.publish,
        events: client.events,
        create_customers: client.create_customers,
        list_vouchers: client.list_vouchers,
        rate_limits: project.rate_limits,
    };
    projects::Project { id: project.id, made_by: None, created_at: now_ms, shown, terms }
}
