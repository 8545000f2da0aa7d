//! Decides from the setup of a project whether the entry may answer its clients, by rules of which age.

use scrip::wire::problem::shortened;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// Minimum and maximum age in seconds that a project may allow. With the minimum each instance of the entry asks the object once a second.
const AGE_SECONDS_MIN: u32 = 1;
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
    /// The entry answers by rules that were the present ones at most this many seconds ago.
    Within(u32),
}

/// Rules by which the entry may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RulesBound {
    /// The present ones, as the objects report them in the process of the entry.
    Present {
        /// Maximum age in seconds before the first report, while the object does not answer; `None` for any age.
        else_within: Option<u32>,
    },
    /// Those that were the present ones at most this many seconds ago.
    Within(u32),
}

impl EdgePolicy {
    /// Returns the rules by which the entry may answer, if any; `has_objects` is true where the objects are in its process.
    pub fn bound(self, has_objects: bool) -> Option<RulesBound> {
        match (self, has_objects) {
            (EdgePolicy::Off, _) | (EdgePolicy::Unset, false) => None,
            (EdgePolicy::Unset, true) => Some(RulesBound::Present { else_within: None }),
            (EdgePolicy::Within(seconds), true) => Some(RulesBound::Present { else_within: Some(seconds) }),
            (EdgePolicy::Within(seconds), false) => Some(RulesBound::Within(seconds)),
        }
    }
}

impl TryFrom<Json> for EdgePolicy {
    type Error = String;

    fn try_from(value: Json) -> Result<EdgePolicy, String> {
        let seconds = value.as_u64().and_then(|seconds| u32::try_from(seconds).ok());
        match (&value, seconds) {
            (Json::Null, _) => Ok(EdgePolicy::Unset),
            (Json::Bool(false), _) => Ok(EdgePolicy::Off),
            (_, Some(seconds)) if (AGE_SECONDS_MIN..=AGE_SECONDS_MAX).contains(&seconds) => {
                Ok(EdgePolicy::Within(seconds))
            }
            _ => {
                let bound =
                    format!("must be `false` or a number of seconds from {AGE_SECONDS_MIN} to {AGE_SECONDS_MAX}");
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
    use super::{EdgePolicy, RulesBound};
    use serde_json::json;

    #[test]
    fn a_policy_is_off_or_a_number_of_seconds() {
        let read = |value: serde_json::Value| EdgePolicy::try_from(value);
        assert_eq!(read(json!(false)), Ok(EdgePolicy::Off));
        assert_eq!(read(json!(null)), Ok(EdgePolicy::Unset));
        assert_eq!([1, 86_400].map(|seconds| read(json!(seconds))), [1, 86_400].map(|one| Ok(EdgePolicy::Within(one))));
        for wrong in [json!(true), json!(0), json!(86_401), json!(-1), json!("on"), json!(75.5), json!([])] {
            let message = format!(
                "has an `edge` that must be `false` or a number of seconds from 1 to 86400 (actual value is `{wrong}`)"
            );
            assert_eq!(read(wrong), Err(message));
        }
    }

    #[test]
    fn without_the_objects_in_its_process_the_entry_answers_only_within_seconds() {
        assert_eq!([true, false].map(|here| EdgePolicy::Off.bound(here)), [None, None]);
        let present = |else_within| Some(RulesBound::Present { else_within });
        assert_eq!([true, false].map(|here| EdgePolicy::Unset.bound(here)), [present(None), None]);
        let within = EdgePolicy::Within(5);
        assert_eq!([true, false].map(|here| within.bound(here)), [present(Some(5)), Some(RulesBound::Within(5))]);
    }
}
