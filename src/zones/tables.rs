//! Reads the offsets of a zone from `chrono-tz`.

use chrono::{DateTime, Offset, TimeZone};
use chrono_tz::{TZ_VARIANTS, Tz};

/// The offsets of one zone.
pub(super) struct TableOffsets(Tz);

impl TableOffsets {
    /// Returns the offsets of a zone. Names are compared without case, as runtimes do.
    pub(super) fn of(name: &str) -> Option<TableOffsets> {
        TZ_VARIANTS.iter().find(|zone| zone.name().eq_ignore_ascii_case(name)).copied().map(TableOffsets)
    }

    /// Returns the seconds east of UTC at a second since 1970.
    pub(super) fn at(&self, second: u32) -> Option<i32> {
        let instant = DateTime::from_timestamp(second.into(), 0)?.naive_utc();
        Some(self.0.offset_from_utc_datetime(&instant).fix().local_minus_utc())
    }
}
