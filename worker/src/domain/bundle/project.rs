//! The project whose bundle is built, with what a core contains of it beside documents.

use crate::http::caller::Settings;
use scrip::bundle::{DECIDES, WRITES};
use scrip::text::sha256_hex;
use serde_json::{Value as Json, json};

/// Format of the bundle.
pub const FORMAT: u32 = 2;

/// Project whose bundle is built, with the settings that a core contains in addition to documents.
#[derive(Debug)]
pub struct BundleProject<'c> {
    /// Id of the project.
    pub id: &'c str,
    /// Its settings.
    pub settings: &'c Settings,
    /// Its zone setting, which tests may replace.
    pub time_zone: Json,
}

impl BundleProject<'_> {
    /// Returns the setting of its zone: a name, or the zone itself.
    pub fn zone(&self) -> &Json {
        let own = &self.settings.time_zone;
        if own.is_object() { own } else { &self.time_zone }
    }
}

/// Returns the hash of all that a head depends on in addition to documents and time: another version of the service may write another core.
pub fn hash_settings(project: &BundleProject<'_>) -> String {
    let version = json!([env!("CARGO_PKG_VERSION"), FORMAT, DECIDES, WRITES]);
    // Settings that were changed back are those of before.
    let settings = Settings { changed_ms: 0, ..project.settings.clone() };
    let inputs = json!([version, project.id, settings, project.time_zone]);
    sha256_hex(inputs.to_string().as_bytes())
}
