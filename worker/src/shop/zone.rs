//! In which time zone a call is looked at. It must not know what is looked at.

use crate::document::clause::Clause;
use crate::http::route::Call;
use crate::http::time_zone;
use crate::store::sql::Fault;
use scrip::time::TimeZone;
use serde_json::Value as Json;
use std::sync::Arc;

/// The project's time zone.
pub fn of(call: &Call<'_, '_>) -> Result<Arc<TimeZone>, Fault> {
    time_zone::of_setup(&said(call)?)
}

/// A clause with the moment of a call, and with its zone.
pub fn asked(call: &Call<'_, '_>, clause: Clause) -> Result<Clause, Fault> {
    Ok(clause.at(call.now_ms()).in_zone(of(call)?))
}

/// The same as the project's setup says it: work that is done later reads it again.
pub fn said(call: &Call<'_, '_>) -> Result<Json, Fault> {
    #[cfg(feature = "rehearsal")]
    if let Some(given) = call.store.document("given", "time_zone")? {
        return Ok(given.body.get("time_zone").cloned().unwrap_or(Json::Null));
    }
    Ok(call.caller.settings.time_zone.clone())
}
