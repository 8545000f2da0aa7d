//! Rate limits as a setup or a project configures them, as data.

use serde::{Deserialize, Serialize};

/// A number of calls in a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// Number of calls.
    pub calls: u32,
    /// Length of the window in seconds.
    pub seconds: u32,
}

/// Maximum window of a rate in seconds: a day, because counts are in memory.
pub const SECONDS_MAX: i64 = 86_400;
/// Maximum number of calls of a rate.
pub const CALLS_MAX: i64 = 1_000_000_000;

/// Rates that apply together; an absent one sets no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateBounds {
    /// Rate of all calls of the project with keys of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Rate>,
    /// Rate of each key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Rate>,
    /// Rate of each address that calls with a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Rate>,
}

/// Rate limits of the keys of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Calls for one object.
    pub api_calls: RateBounds,
    /// Calls for many objects at once, which have a limit of their own.
    pub bulk_api_calls: RateBounds,
}

/// Default limit of a client's address: one call a second over a minute, where the published limit spans five seconds. A page that
/// opens makes several calls at once, and a household shares one address.
const OF_CLIENTS: RateBounds = RateBounds { project: None, key: None, address: Some(Rate { calls: 60, seconds: 60 }) };

/// Default limit of an address that requests images: mail providers fetch them for all recipients of their e-mails.
const OF_IMAGES: RateBounds = RateBounds { project: None, key: None, address: Some(Rate { calls: 600, seconds: 60 }) };

/// Rate limits of the keys of a project, and of requests for its images and the parts of its bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Servers, and tokens made with their keys.
    pub server: Rates,
    /// Clients.
    pub client: Rates,
    /// Management API.
    pub management: Rates,
    /// Limits of requests for images, and for parts of bundles, which need only the address.
    pub images: Rates,
}

impl Default for RateLimits {
    fn default() -> RateLimits {
        let client = Rates { api_calls: OF_CLIENTS, bulk_api_calls: RateBounds::default() };
        let images = Rates { api_calls: OF_IMAGES, bulk_api_calls: RateBounds::default() };
        RateLimits { server: Rates::default(), client, management: Rates::default(), images }
    }
}
