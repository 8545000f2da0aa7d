//! What the setup says: projects, their keys, and the terms of their pages. It must not know what any of it is used for.

use crate::http::caller::{Class, Settings};
use crate::http::publishing::Publishing;
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
    #[serde(default)]
    pub(super) keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Client {
    pub(super) origins: Vec<String>,
    pub(super) redeem: bool,
    pub(super) publish: Publishing,
    pub(super) events: bool,
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
