//! Finds the transitions of a time zone by its name.
//!
//! The tables of the world's zones change a few times a year, and they are too large for the package. Natively they come
//! from `chrono-tz`, in a browser and in the Worker from the runtime's `Intl`. They are read once, when rules are read
//! or a project is opened, and never during a decision. Decisions and bundles contain the transitions, so client and
//! service agree even with tables of different years.

use crate::time::{Instant, TimeZone};

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod intl;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use intl::RuntimeOffsets as Offsets;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod tables;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
use tables::TableOffsets as Offsets;

/// The start of the year 2100, in seconds since 1970. The offset of a zone does not change after it.
const END: u32 = 4_102_444_800;
/// Six days in seconds. No zone ever changed its offset and changed back within them since 1970.
const STEP: usize = 518_400;

/// The message for an unknown name.
pub const NAMES: &str =
    "must be `UTC` or the IANA name of a time zone that this runtime knows, such as `Europe/Warsaw`";

/// Returns the zone of an IANA name (`Europe/Warsaw`), with its transitions from 1970 to 2099; `None` for any other
/// text. Except for `UTC` and `GMT`, a name has a slash: those without one are old abbreviations, which differ between
/// tables.
///
/// ```
/// let warsaw = scrip::zones::named("Europe/Warsaw").unwrap();
/// let noon = scrip::time::Instant::parse("2026-07-01T12:00:00Z").unwrap();
/// assert_eq!(warsaw.minute_of_day(noon), Some(14 * 60));
/// assert!(scrip::zones::named("Europe/Atlantis").is_none());
/// ```
pub fn named(name: &str) -> Option<TimeZone> {
    if matches!(name, "UTC" | "Etc/UTC" | "GMT") {
        return Some(TimeZone { name: "UTC".into(), ..TimeZone::default() });
    }
    let offsets = Offsets::of(name).filter(|_| name.contains('/'))?;
    let (offset, transitions) = transitions(|second| offsets.at(second))?;
    Some(TimeZone { name: name.into(), offset, transitions })
}

/// Returns the offset of 1970, and every second at which another one starts.
fn transitions(at: impl Fn(u32) -> Option<i32>) -> Option<(i32, Vec<(Instant, i32)>)> {
    let first_offset = at(0)?;
    let (mut earlier, mut offset, mut found) = (0, first_offset, Vec::new());
    for second in (0..END).step_by(STEP) {
        while at(second)? != offset {
            // The offset applies at `earlier`, and another one at `next`: a binary search finds the transition.
            let mut next = second;
            // `past` is before `next`.
            while next.saturating_sub(earlier) > 1 {
                let between = earlier.midpoint(next);
                if at(between)? == offset {
                    earlier = between;
                } else {
                    next = between;
                }
            }
            (earlier, offset) = (next, at(next)?);
            found.push((Instant::from_millis(i64::from(next).checked_mul(1_000)?)?, offset));
        }
        earlier = second;
    }
    Some((first_offset, found))
}
