//! Decides which transitions the name of a time zone stands for. It must not know whose zone it is.
//!
//! The world's zones are a table that changes a few times a year, and the package has no room for it: natively it is
//! `chrono-tz`'s, in a page and in the Worker that of the runtime, behind `Intl`. It is asked once, when rules are read or a
//! project is met, and never while something is decided: a decision has the transitions, and so has a bundle, so that a page
//! says what the service says also where the tables are of different years.

use crate::time::{Instant, TimeZone};

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
mod intl;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
use intl::Offsets;

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
mod tables;
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
use tables::Offsets;

/// The year 2100 begins here, in seconds since 1970. The clocks of a zone stay as they are then.
const END: u32 = 4_102_444_800;
/// Six days. No zone ever went to another time and back within them since 1970.
const STEP: usize = 518_400;

/// What must be said instead of a name that is none.
pub const NAMES: &str =
    "must be `UTC` or the IANA name of a time zone that this runtime knows, such as `Europe/Warsaw`";

/// The zone of an IANA name (`Europe/Warsaw`), with its transitions from 1970 to 2099; nothing for any other text. `UTC` and
/// `GMT` aside, a name has a slash: those without one are the abbreviations of old, of which every table has others.
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

/// The offset of 1970, and every second at which another begins.
fn transitions(at: impl Fn(u32) -> Option<i32>) -> Option<(i32, Vec<(Instant, i32)>)> {
    let begin = at(0)?;
    let (mut past, mut offset, mut found) = (0, begin, Vec::new());
    for second in (0..END).step_by(STEP) {
        while at(second)? != offset {
            // The offset holds at `past`, and another one at `next`: they are brought together.
            let mut next = second;
            while next.saturating_sub(past) > 1 {
                let between = past.midpoint(next);
                if at(between)? == offset {
                    past = between;
                } else {
                    next = between;
                }
            }
            (past, offset) = (next, at(next)?);
            found.push((Instant::from_millis(i64::from(next).checked_mul(1_000)?)?, offset));
        }
        past = second;
    }
    Some((begin, found))
}
