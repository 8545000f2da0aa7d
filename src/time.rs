//! Decides what moments, days, durations and zones are and how they are read. It must not know vouchers, and it never asks
//! what time it is: a moment always comes from outside. The calendar itself is `chrono`'s.
//!
//! validation-rules.md section 10.

mod day;
mod duration;
mod instant;
mod window;
mod zone;

pub use day::Day;
pub use duration::Duration;
pub use instant::Instant;
pub use window::{DailyHours, Timeframe};
pub use zone::TimeZone;
