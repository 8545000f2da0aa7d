//! Who calls, once let in, and what of the project's settings travels with the call: data alone.
//! It must not know how anybody is let in.

use crate::http::publishing::Publishing;
use crate::http::rates::Rates;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// The kind of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// `X-App-Id` and `X-App-Token`.
    Server,
    /// `X-Client-Application-Id` and `X-Client-Token`, with an `Origin`.
    Client,
    /// `X-Management-Id` and `X-Management-Token`.
    Management,
    /// `Authorization: Bearer`.
    OAuth,
    /// A signed link, `?token=`: it says whose key made it, and the project's object looks at the seal.
    Link,
    /// The address of an image: it names the project, and the project's object looks at the seal.
    Image,
}

/// What a user of a project may do in it, by the published names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    /// Everything.
    Admin,
    /// Everything but who may call.
    User,
    /// Looking.
    Viewer,
    /// What a till does.
    Merchant,
    /// Nothing: somebody who is a user, but not of this project. Nobody can be given it.
    None,
}

/// The roles that can be given.
pub const ROLES: &[(&str, Role)] =
    &[("ADMIN", Role::Admin), ("USER", Role::User), ("VIEWER", Role::Viewer), ("MERCHANT", Role::Merchant)];

/// What a project says about itself, as far as a call needs it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// A zone's name, or the zone itself with offset and transitions.
    #[serde(default)]
    pub time_zone: Json,
    /// The currency of its amounts.
    #[serde(default)]
    pub currency: String,
    /// Whether `ABC` and `abc` are two codes.
    #[serde(default = "yes")]
    pub case_sensitive_codes: bool,
    /// The letters of its codes, where a campaign or a code says none: digits and letters, where it says none either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// The terms on which it serves pages, as `scrip::wire::page` reads them.
    #[serde(default = "no_terms")]
    pub client: Json,
    /// The header with a caller's address that a proxy of one's own sets; the setup names it for all projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_header: Option<String>,
}

/// Where nothing is said, the terms are those of the engine.
fn no_terms() -> Json {
    Json::Bool(true)
}

fn yes() -> bool {
    true
}

/// A project that a management key of another one may manage: the project which made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Managed {
    /// Its settings.
    pub settings: Settings,
    /// What the user whose key it is may do there.
    #[serde(default)]
    pub role: Option<Role>,
    /// What signs its webhooks.
    #[serde(default)]
    pub signing: Option<Signing>,
}

/// The header by which an object tells the entry, and nobody else, that another project's is to answer: that project's id.
pub const ONWARD: &str = "scrip-onward";

/// The header by which the entry tells that project's object that the body comes from the first one.
pub const CARRIED: &str = "scrip-carried";

/// Who calls, once let in. Travels to the object as the header `scrip-caller`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    /// The project.
    pub project: String,
    /// The kind of credentials.
    pub class: Class,
    /// The public id of the key.
    pub key_id: String,
    /// The login of the user whose key it is.
    #[serde(default)]
    pub user: Option<String>,
    /// OAuth scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The origin of the page, where one calls.
    #[serde(default)]
    pub origin: Option<String>,
    /// What the client calls itself.
    #[serde(default)]
    pub channel: Option<String>,
    /// Where the request came from, as far as that can be believed.
    #[serde(default)]
    pub address: Option<String>,
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
    /// What the user whose key it is may do; nothing where the key is nobody's, and may do all that its class may.
    #[serde(default)]
    pub role: Option<Role>,
    /// The secret by which the receivers of webhooks know the project; of those alone who manage it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<Signing>,
    /// The other projects that the key may manage in the same way, by id; for routes alone that go on to one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, Managed>,
    /// How often it may call. The entry counts, and no object is told.
    #[serde(default, skip_serializing)]
    pub rates: Rates,
    /// Whether the service runs where one develops: webhooks may go to the own machine.
    #[serde(default, skip_serializing_if = "is_down")]
    pub local: bool,
    /// The project's settings.
    pub settings: Settings,
}

fn is_down(flag: &bool) -> bool {
    !flag
}

/// The secret by which the receivers of a project's webhooks know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signing {
    /// The secret.
    pub token: String,
    /// Since when it is that one, in milliseconds: who is told of two keeps the later one, whichever is told first.
    pub since_ms: i64,
}

impl Caller {
    /// The same caller in another project that the key manages; nothing where it manages none of this id.
    pub fn in_other(&self, project: &str) -> Option<Caller> {
        let Managed { settings, role, signing } = self.others.get(project)?.clone();
        Some(Caller { project: project.to_owned(), settings, role, signing, others: BTreeMap::new(), ..self.clone() })
    }

    /// The value of the header `scrip-caller`.
    pub fn header(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
