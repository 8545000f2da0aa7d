//! Decides which time zone a project has, from what its setup says: a name, or the zone itself. It must not know what is asked
//! of one.

use crate::store::sql::Fault;
use scrip::time::TimeZone;
use scrip::wire::document::read_fields;
use scrip::wire::time_zone::read_time_zone;
use scrip::zones;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The zones that projects of this instance have, by name: to ask a runtime for the transitions of one takes longer than to serve
/// a hundred requests, and they are the same as long as it lives.
static KNOWN: Mutex<BTreeMap<String, Arc<TimeZone>>> = Mutex::new(BTreeMap::new());

/// The zone that a setup says; UTC where it says nothing.
pub fn of_setup(said: &Json) -> Result<Arc<TimeZone>, Fault> {
    match said {
        Json::Null => Ok(Arc::default()),
        Json::String(name) if name.is_empty() => Ok(Arc::default()),
        Json::String(name) => named(name).ok_or_else(|| Fault(format!("`{name}` {}", zones::NAMES))),
        Json::Object(fields) => {
            let read = read_fields(fields, read_time_zone);
            read.map(Arc::new).map_err(|problem| Fault(format!("`{said}`: {problem}")))
        }
        _ => Err(Fault(format!("`{said}` {}, or a zone with `name`, `offset` and `transitions`", zones::NAMES))),
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
