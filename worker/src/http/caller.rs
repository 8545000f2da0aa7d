//! An authenticated caller and the project settings that travel with its call, as data.

use crate::http::client_publication_policy::ClientPublicationPolicy;
use crate::http::edge_policy::EdgePolicy;
use crate::http::rate_limits::Rates;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Class of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialClass {
    /// `X-App-Id` and `X-App-Token`.
    Server,
    /// `X-Client-Application-Id` and `X-Client-Token`, with an `Origin`.
    Client,
    /// `X-Management-Id` and `X-Management-Token`.
    Management,
    /// `Authorization: Bearer`.
    OAuth,
    /// A signed link, `?token=`: it names the key that made it, and the project's object checks the seal.
    Link,
    /// Address of an image: it names the project, and the project's object checks the seal.
    Image,
    /// Address of a part of a bundle: it names the project and the hash of the bytes, which any page may read.
    Bundle,
}

/// Permission that a project may switch on for its client-side keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientSwitch {
    /// Redemptions by clients.
    Redeem,
    /// Publications by clients.
    Publish,
    /// Events from clients.
    Events,
    /// Creation of customers by clients.
    Customers,
    /// Lists of codes for clients.
    Vouchers,
}

/// Role of a user in a project, by the published names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum UserRole {
    /// All permissions.
    Admin,
    /// All permissions except those over keys and users.
    User,
    /// Reading only.
    Viewer,
    /// Permissions of a point of sale.
    Merchant,
    /// No permissions: a user who does not belong to this project. This role cannot be assigned.
    None,
}

/// Roles that can be assigned.
pub const ROLES: &[(&str, UserRole)] = &[
    ("ADMIN", UserRole::Admin),
    ("USER", UserRole::User),
    ("VIEWER", UserRole::Viewer),
    ("MERCHANT", UserRole::Merchant),
];

/// Time after a change of settings for which callers may have the former ones: twice the maximum age of their records.
const FORMER_SETTINGS_MS: u64 = 120_000;

/// Settings of a project that a call needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Name of the project.
    #[serde(default)]
    pub name: String,
    /// A zone's name, or the zone itself with offset and transitions.
    #[serde(default)]
    pub time_zone: Json,
    /// Currency of its amounts.
    #[serde(default)]
    pub currency: String,
    /// True if `ABC` and `abc` are two codes.
    #[serde(default = "yes")]
    pub case_sensitive_codes: bool,
    /// Default characters of its codes, if a campaign or a code sets none. Without them: all alphanumeric characters of ASCII.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub charset: Option<String>,
    /// Client policy, as `scrip::wire::project::client` reads it.
    #[serde(default = "default_client_policy")]
    pub client: Json,
    /// Header with the caller's address that the operator's own proxy sets; the setup names it for all projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address_header: Option<String>,
    /// Number of days for which the input of a redemption is kept for a replay; 0 where none is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub replay_days: i64,
    /// Time of their last change, in milliseconds: of two records of a project, the one with the later settings counts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub changed_ms: i64,
    /// Permission of the entry to answer clients.
    #[serde(default, skip_serializing_if = "is_default")]
    pub client_edge: EdgePolicy,
}

impl Settings {
    /// Tests if these settings are former ones, where others of the project were changed at a time. The clocks of two machines may differ, so
    /// only a recent change counts.
    pub fn is_former(&self, changed_ms: i64, now_ms: i64) -> bool {
        self.changed_ms < changed_ms && now_ms.abs_diff(changed_ms) < FORMER_SETTINGS_MS
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Returns the client policy of a project without one: the engine's defaults apply.
fn default_client_policy() -> Json {
    Json::Bool(true)
}

fn yes() -> bool {
    true
}

/// Maximum number of days for which the input of a redemption is kept.
pub const REPLAY_DAYS_MAX: i64 = 366;

/// Project that a management key of another one may manage: of the project which created it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManagedProject {
    /// Settings of the project.
    pub settings: Settings,
    /// Role that the user who owns the key has there.
    #[serde(default)]
    pub role: Option<UserRole>,
    /// Secret that signs its webhooks.
    #[serde(default)]
    pub signing: Option<WebhookSecret>,
}

/// Header in which an object sends the entry the id of another project that must answer. No caller sees it.
pub const FORWARD_TO_PROJECT: &str = "scrip-forward-to-project";

/// Header in which the entry marks, for that project's object, a body that comes from the first object.
pub const FORWARDED: &str = "scrip-forwarded";

/// Maximum number of callers that are kept as they were read; above it all are dropped.
const CALLERS_MAX: usize = 200;
/// Maximum length in bytes of the header of a caller that is kept.
const CALLER_BYTES_MAX: usize = 20_000;

thread_local! {
    /// Callers by the text of their header.
    static CALLERS: RefCell<BTreeMap<String, Rc<Caller>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Authenticated caller. It is sent to the object as the header `scrip-caller`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Caller {
    /// Id of the project.
    pub project: String,
    /// Class of the credentials.
    pub class: CredentialClass,
    /// Public id of the key.
    pub key_id: String,
    /// Marks of secrets: for a key or token, the one that was sent or that issued the token; for a link, all valid ones.
    /// A fingerprint does not disclose its secret.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Login of the user who owns the key.
    #[serde(default)]
    pub user: Option<String>,
    /// OAuth scopes.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Origin of a client.
    #[serde(default)]
    pub origin: Option<String>,
    /// Name that the client gives itself.
    #[serde(default)]
    pub channel: Option<String>,
    /// Address that the request came from, if a trusted header names it.
    #[serde(default)]
    pub address: Option<String>,
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
    /// Role of the user who owns the key. A key without a user has none, and may do all that its class may.
    #[serde(default)]
    pub role: Option<UserRole>,
    /// Secret that signs the webhooks of the project; only for callers that manage it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<WebhookSecret>,
    /// Other projects that the key may manage, by id; only for routes that can be forwarded to one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, ManagedProject>,
    /// Rate limit of the key. The entry counts calls; objects do not receive this field.
    #[serde(default, skip_serializing)]
    pub rates: Rates,
    /// End of the token, in milliseconds; `None` for a key. Objects do not receive this field.
    #[serde(default, skip_serializing)]
    pub expires_at: Option<i64>,
    /// True if the service runs for local development: webhooks may be sent to the local machine.
    #[serde(default, skip_serializing_if = "is_down")]
    pub local: bool,
    /// The project's settings.
    pub settings: Settings,
}

fn is_down(flag: &bool) -> bool {
    !flag
}

/// Secret that signs the webhooks of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookSecret {
    /// Secret text.
    pub token: String,
    /// Start of its use, in milliseconds. A receiver of two secrets keeps the later one, in any order of arrival.
    pub since_ms: i64,
}

impl Caller {
    /// Returns this caller as a caller of another project that the key manages, or `None` if it does not manage that id.
    pub fn in_other(&self, project: &str) -> Option<Caller> {
        let ManagedProject { settings, role, signing } = self.others.get(project)?.clone();
        Some(Caller { project: project.to_owned(), settings, role, signing, others: BTreeMap::new(), ..self.clone() })
    }

    /// Reads the value of the header `scrip-caller`; `None` for another text. The calls of a key mostly have the same.
    pub fn of_header(text: &str) -> Option<Rc<Caller>> {
        CALLERS.with_borrow_mut(|all| {
            if let Some(known) = all.get(text) {
                return Some(Rc::clone(known));
            }
            let caller: Rc<Caller> = Rc::new(serde_json::from_str(text).ok()?);
            if text.len() <= CALLER_BYTES_MAX {
                if all.len() >= CALLERS_MAX {
                    all.clear();
                }
                all.insert(text.to_owned(), Rc::clone(&caller));
            }
            Some(caller)
        })
    }

    /// Returns the value of the header `scrip-caller`.
    pub fn header(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
