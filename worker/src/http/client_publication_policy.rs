//! Decides from the setup of a project which campaigns its clients may publish from.

use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Publications that clients may make, as configured: `true`, `false`, or a list of campaigns by name or id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum ClientPublicationPolicy {
    /// All publications, or none.
    Any(bool),
    /// Codes of these campaigns.
    Campaigns(Vec<String>),
}

impl Default for ClientPublicationPolicy {
    fn default() -> ClientPublicationPolicy {
        ClientPublicationPolicy::Any(false)
    }
}

impl TryFrom<Json> for ClientPublicationPolicy {
    type Error = String;

    fn try_from(value: Json) -> Result<ClientPublicationPolicy, String> {
        let name = |name: &Json| {
            name.as_str().filter(|name| !name.is_empty() && !is_longer(name, LONGEST_NAME)).map(str::to_owned)
        };
        let read = match &value {
            Json::Bool(any) => Some(ClientPublicationPolicy::Any(*any)),
            Json::Array(names) => {
                names.iter().map(name).collect::<Option<Vec<String>>>().map(ClientPublicationPolicy::Campaigns)
            }
            _ => None,
        };
        read.ok_or_else(|| {
            let bound = "must be `true`, `false` or a list of campaigns by name or id";
            format!("has a `publish` that {bound} (actual value is `{}`)", shortened(&value.to_string()))
        })
    }
}

impl From<ClientPublicationPolicy> for Json {
    fn from(publishing: ClientPublicationPolicy) -> Json {
        match publishing {
            ClientPublicationPolicy::Any(any) => any.into(),
            ClientPublicationPolicy::Campaigns(names) => names.into(),
        }
    }
}

impl ClientPublicationPolicy {
    /// Returns true if clients may not publish at all.
    pub fn is_off(&self) -> bool {
        match self {
            ClientPublicationPolicy::Any(any) => !any,
            ClientPublicationPolicy::Campaigns(names) => names.is_empty(),
        }
    }

    /// Returns true if codes of a campaign with these names may be published. Codes without a campaign pass no names.
    pub fn allows(&self, names: &[&str]) -> bool {
        match self {
            ClientPublicationPolicy::Any(any) => *any,
            ClientPublicationPolicy::Campaigns(allowed) => {
                names.iter().any(|name| allowed.iter().any(|allowed| allowed == name))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ClientPublicationPolicy;
    use serde_json::json;

    #[test]
    fn publications_of_clients_are_yes_no_or_a_list() {
        let read = |value: serde_json::Value| -> Result<ClientPublicationPolicy, String> {
            ClientPublicationPolicy::try_from(value)
        };
        assert_eq!(read(json!(true)), Ok(ClientPublicationPolicy::Any(true)));
        let listed = read(json!(["Welcome", "camp_1"]));
        assert!(listed.as_ref().is_ok_and(|listed| listed.allows(&["camp_1", "First"]) && !listed.allows(&["Staff"])));
        assert!(listed.is_ok_and(|listed| !listed.allows(&[]) && !listed.is_off()));
        assert!(read(json!([])).is_ok_and(|listed| listed.is_off()));
        for (wrong, shown) in [(json!("yes"), "\"yes\""), (json!(1), "1"), (json!([""]), "[\"\"]"), (json!([7]), "[7]")]
        {
            let bound = "must be `true`, `false` or a list of campaigns by name or id";
            let message = format!("has a `publish` that {bound} (actual value is `{shown}`)");
            assert_eq!(read(wrong), Err(message));
        }
    }
}
