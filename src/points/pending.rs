//! Decides when earned points can be spent, or when they are cancelled.
//!
//! docs/spec/loyalty.md#3. An activation date is the first day on which points can be spent, from its start in the
//! project's zone. A cancellation date is the last day for the event that they wait for: they are cancelled at its end.

use super::calendar::{DateOfYear, Period, end_of, start_of};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// The delay of earned points, from a card definition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Delay {
    /// No delay.
    #[default]
    Immediate,
    /// A period after the day of earning.
    Period(Period),
    /// The first of these dates after the day of earning.
    FixedDates(Vec<DateOfYear>),
    /// A custom event of one of these types.
    Event {
        /// The types.
        types: Vec<Text>,
        /// The maximum waiting period, to the end of its last day.
        cancel: Period,
    },
}

/// The condition that pending points wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PendingUntil {
    /// An instant, a period after earning.
    Period(Instant),
    /// The start of a yearly date.
    FixedDate(Instant),
    /// A custom event of one of these types, before an instant.
    Event {
        /// The types.
        types: Vec<Text>,
        /// The instant from which an event is too late.
        until: Instant,
    },
}

impl Delay {
    /// Returns the condition for points that are earned now; `None` if they can be spent at once.
    pub fn earned(&self, now: Instant, zone: &TimeZone) -> Option<PendingUntil> {
        let today = zone.day(now);
        match self {
            Delay::Immediate => None,
            Delay::Period(period) => {
                Some(PendingUntil::Period(start_of(today.and_then(|today| period.after(today)), zone)))
            }
            Delay::FixedDates(dates) => {
                let tomorrow = today.and_then(|today| today.plus(1));
                Some(PendingUntil::FixedDate(start_of(tomorrow.and_then(|day| DateOfYear::next(dates, day)), zone)))
            }
            Delay::Event { types, cancel } => {
                let until = end_of(today.and_then(|today| cancel.after(today)), zone);
                Some(PendingUntil::Event { types: types.clone(), until })
            }
        }
    }
}

impl PendingUntil {
    /// Returns the instant at which they are activated by time.
    pub fn activates_at(&self) -> Option<Instant> {
        match self {
            PendingUntil::Period(at) | PendingUntil::FixedDate(at) => Some(*at),
            PendingUntil::Event { .. } => None,
        }
    }

    /// Returns the instant at which they are cancelled by time.
    pub fn cancels_at(&self) -> Option<Instant> {
        match self {
            PendingUntil::Period(_) | PendingUntil::FixedDate(_) => None,
            PendingUntil::Event { until, .. } => Some(*until),
        }
    }

    /// Returns whether they wait for a custom event of this type.
    pub fn is_for(&self, event: &str) -> bool {
        match self {
            PendingUntil::Period(_) | PendingUntil::FixedDate(_) => false,
            PendingUntil::Event { types, .. } => types.iter().any(|known| known == event),
        }
    }
}
