//! The periods in which an object is valid, and the expiration of points.

use super::members::record;
use serde_json::{Map, Value as Json};

record!("An object that is valid for a time.", ValidityRecord);
record!(
    "Points that expire: those of a loyalty card, an earning rule or a row of pending points.",
    PointsRecord,
    as_points
);

impl<'a> ValidityRecord<'a> {
    /// Returns the beginning.
    pub fn start_date(self) -> Option<&'a str> {
        self.0.text("start_date")
    }

    /// Returns the end.
    pub fn expiration_date(self) -> Option<&'a str> {
        self.0.text("expiration_date")
    }

    /// Returns true if the object has recurring windows.
    pub fn has_timeframe(self) -> bool {
        self.0.object("validity_timeframe").map().is_some()
    }

    /// Returns the hours of the day, each with its weekdays.
    pub fn daily_hours(self) -> Option<&'a Json> {
        self.0.object("validity_hours").value("daily")
    }
}

impl<'a> PointsRecord<'a> {
    /// Returns the rules by which the points expire.
    pub fn expiration_rules(self) -> Option<&'a Json> {
        self.0.value("expiration_rules")
    }

    /// Returns these rules if they are an object.
    pub fn expiration_members(self) -> Option<&'a Map<String, Json>> {
        self.0.object("expiration_rules").map()
    }
}
