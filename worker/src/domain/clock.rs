//! The time of a call: its instant and its project's time zone.

use crate::documents::clause::Clause;
use crate::http::route::Call;
use crate::http::time_zone;
use crate::store::sql::Fault;
use scrip::points::Now;
use scrip::rules::Clock;
use scrip::time::{Instant, TimeZone};
use serde_json::Value as Json;
use std::sync::Arc;

/// An instant and the time zone of its project.
pub struct LocalTime {
    at: Instant,
    /// The zone.
    pub zone: Arc<TimeZone>,
    /// Zone setting of the project.
    pub setting: Json,
}

impl LocalTime {
    /// Returns the instant of a call in the zone of its project.
    pub fn of(call: &Call<'_, '_>) -> Result<LocalTime, Fault> {
        LocalTime::read(call.context.now, zone_setting(call)?)
    }

    /// Returns an instant in the zone of a setting.
    pub fn read(at: Instant, setting: Json) -> Result<LocalTime, Fault> {
        Ok(LocalTime { at, zone: time_zone::of_setup(&setting)?, setting })
    }

    /// Returns another instant in the same zone.
    pub fn as_of(&self, at: Instant) -> LocalTime {
        LocalTime { at, zone: Arc::clone(&self.zone), setting: self.setting.clone() }
    }

    /// Returns the instant in milliseconds, as rows store it.
    pub fn millis(&self) -> i64 {
        self.at.millis()
    }

    /// Returns the time for the engine's points module.
    pub fn now(&self) -> Now<'_> {
        Now { at: self.at, zone: &self.zone }
    }

    /// Returns the time for the engine's rules.
    pub fn clock(&self) -> Clock<'_> {
        Clock { now: self.at, zone: &self.zone, zone_use: None, budget: None }
    }
}

/// Returns the project's time zone.
pub fn zone(call: &Call<'_, '_>) -> Result<Arc<TimeZone>, Fault> {
    time_zone::of_setup(&zone_setting(call)?)
}

/// Completes a clause with the instant of a call, its zone, and the case sensitivity of its project's codes.
pub fn at_call(call: &Call<'_, '_>, clause: Clause) -> Result<Clause, Fault> {
    let ignores_case = !call.caller.settings.case_sensitive_codes;
    Ok(clause.at(call.now_ms()).in_zone(zone(call)?).ignoring_case(ignores_case))
}

/// Returns true if a test sets the time of a request: then no alarm runs at that time.
#[cfg(feature = "test-hooks")]
pub fn is_set_by_test(call: &Call<'_, '_>) -> bool {
    crate::http::request_checks::header(call.request, "scrip-test-now").is_some()
}

/// Returns the zone setting of the project: a job stores it to read it later.
pub fn zone_setting(call: &Call<'_, '_>) -> Result<Json, Fault> {
    #[cfg(feature = "test-hooks")]
    if let Some(given) = call.store.document("given", "time_zone")? {
        return Ok(given.body.get("time_zone").cloned().unwrap_or(Json::Null));
    }
    Ok(call.caller.settings.time_zone.clone())
}
