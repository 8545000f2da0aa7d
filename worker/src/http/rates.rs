//! How often somebody may call, as a setup or a project says it: data alone. It must not know who counts.

use serde::{Deserialize, Serialize};

/// So many calls in so many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// How many calls.
    pub calls: u32,
    /// In how many seconds.
    pub seconds: u32,
}

/// The longest span of a rate: a day, as counts are in memory.
pub const SECONDS_MAX: i64 = 86_400;
/// The most calls of a rate.
pub const CALLS_MAX: i64 = 1_000_000_000;

/// The rates that are held at once; what is not said is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bounds {
    /// Of all calls of the project with keys of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Rate>,
    /// Of each key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Rate>,
    /// Of each address that calls with a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<Rate>,
}

/// How often keys of one class may call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rates {
    /// Calls of one thing.
    pub api_calls: Bounds,
    /// Calls of many things at once, which are counted by themselves.
    pub bulk_api_calls: Bounds,
}

/// What a page's address may do where nothing is said: one call a second over a minute, as is published for five seconds; a page that
/// opens asks several things at once, and a household has one address.
const OF_PAGES: Bounds = Bounds { project: None, key: None, address: Some(Rate { calls: 60, seconds: 60 }) };

/// What an address may do that asks for images, where nothing is said: those who carry letters fetch them for all whose letters they carry.
const OF_IMAGES: Bounds = Bounds { project: None, key: None, address: Some(Rate { calls: 600, seconds: 60 }) };

/// How often the keys of a project may call, and whoever asks for its images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// Servers, and tokens made with their keys.
    pub server: Rates,
    /// Pages.
    pub client: Rates,
    /// The operator's desk.
    pub management: Rates,
    /// Whoever has the address of an image.
    pub images: Rates,
}

impl Default for RateLimits {
    fn default() -> RateLimits {
        let client = Rates { api_calls: OF_PAGES, bulk_api_calls: Bounds::default() };
        let images = Rates { api_calls: OF_IMAGES, bulk_api_calls: Bounds::default() };
        RateLimits { server: Rates::default(), client, management: Rates::default(), images }
    }
}
