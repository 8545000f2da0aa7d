//! Decides from the setup of a project whether the entry may answer its clients, by rules of which age.

use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Age in seconds that a copy of the rules in KV may have on Cloudflare: a minute in its cache, ten seconds for the build, and time for
/// the memory of the entry.
pub const COPY_AGE_SECONDS: u32 = 75;
/// Maximum age in seconds that a project may allow.
const AGE_SECONDS_MAX: u32 = 86_400;

/// Permission of the entry to answer, as configured: `false`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Json", into = "Json")]
pub enum EdgePolicy {
    /// The setup says nothing: the entry answers where it knows the present rules.
    #[default]
    Unset,
    /// Only the object of the project answers.
    Off,
    /// The entry also answers by rules of this age in seconds.
    Within(u32),
}

impl TryFrom<Json> for EdgePolicy {
    type Error = String;

    fn try_from(value: Json) -> Result<EdgePolicy, String> {
        let seconds = value.as_u64().and_then(|seconds| u32::try_from(seconds).ok());
        match (&value, seconds) {
            (Json::Null, _) => Ok(EdgePolicy::Unset),
            (Json::Bool(false), _) => Ok(EdgePolicy::Off),
            (_, Some(seconds)) if (COPY_AGE_SECONDS..=AGE_SECONDS_MAX).contains(&seconds) => {
                Ok(EdgePolicy::Within(seconds))
            }
            _ => {
                let bound =
                    format!("must be `false` or a number of seconds from {COPY_AGE_SECONDS} to {AGE_SECONDS_MAX}");
                Err(format!("has an `edge` that {bound} (actual value is `{}`)", shortened(&value.to_string())))
            }
        }
    }
}

impl From<EdgePolicy> for Json {
    fn from(policy: EdgePolicy) -> Json {
        match policy {
            EdgePolicy::Unset => Json::Null,
            EdgePolicy::Off => false.into(),
            EdgePolicy::Within(seconds) => seconds.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EdgePolicy;
    use serde_json::json;

    #[test]
    fn a_policy_is_off_or_a_number_of_seconds() {
        let read = |value: serde_json::Value| EdgePolicy::try_from(value);
        assert_eq!(read(json!(false)), Ok(EdgePolicy::Off));
        assert_eq!(read(json!(null)), Ok(EdgePolicy::Unset));
        assert_eq!(
            [75, 86_400].map(|seconds| read(json!(seconds))),
            [75, 86_400].map(|one| Ok(EdgePolicy::Within(one)))
        );
        for wrong in [json!(true), json!(74), json!(86_401), json!(-1), json!("on"), json!(75.5), json!([])] {
            let message = format!(
                "has an `edge` that must be `false` or a number of seconds from 75 to 86400 (actual value is `{wrong}`)"
            );
            assert_eq!(read(wrong), Err(message));
        }
    }
}
