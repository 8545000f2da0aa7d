//! Defines and parses instants, days, durations and time zones. It never reads a clock: an instant always comes from
//! the caller. The calendar is that of `chrono`.
//!
//! docs/spec/validation-rules.md#10.

mod day;
mod duration;
mod instant;
mod window;
mod zone;

pub use day::Day;
pub use duration::Duration;
pub use instant::Instant;
pub use window::{DailyHours, Timeframe};
pub use zone::{DayBound, TimeZone};
