//! Asks `chrono-tz` for the offsets of a zone. It must not know what they are for.

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};

/// The offsets of one zone.
pub(super) struct Offsets(Tz);

impl Offsets {
    /// Names are told apart as runtimes do: whatever their case.
    pub(super) fn of(name: &str) -> Option<Offsets> {
        TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name)).copied().map(Offsets)
    }

    /// Seconds east of UTC at a second since 1970.
    pub(super) fn at(&self, second: u32) -> Option<i32> {
        let moment = DateTime::from_timestamp(second.into(), 0)?.naive_utc();
        Some(self.0.offset_from_utc_datetime(&moment).fix().local_minus_utc())
    }
}
