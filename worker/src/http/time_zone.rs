//! Decides which time zone a project has from its setup: a name, or the zone itself.

use crate::store::sql::Fault;
use scrip::time::TimeZone;
use scrip::wire::document::read_fields;
use scrip::wire::project::time_zone::read_time_zone;
use scrip::zones;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Cache of the zones of this instance's projects, by name. To get the transitions of one from the runtime takes longer than
/// a hundred requests, and they never change while the instance runs.
static KNOWN: Mutex<BTreeMap<String, Arc<TimeZone>>> = Mutex::new(BTreeMap::new());

/// Returns the zone of a setup; UTC if it has none.
pub fn of_setup(value: &Json) -> Result<Arc<TimeZone>, Fault> {
    match value {
        Json::Null => Ok(Arc::default()),
        Json::String(name) if name.is_empty() => Ok(Arc::default()),
        Json::String(name) => named(name).ok_or_else(|| Fault(format!("`{name}` {}", zones::NAMES))),
        Json::Object(fields) => {
            let read = read_fields(fields, read_time_zone);
            read.map(Arc::new).map_err(|problem| Fault(format!("`{value}`: {problem}")))
        }
        _ => Err(Fault(format!("`{value}` {}, or a zone with `name`, `offset` and `transitions`", zones::NAMES))),
    }
}

fn named(name: &str) -> Option<Arc<TimeZone>> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(zone) = known.get(name) {
        return Some(Arc::clone(zone));
    }
    let zone = Arc::new(zones::named(name)?);
    known.insert(name.to_owned(), Arc::clone(&zone));
    Some(zone)
}
