//! Decides when points that were earned can be spent, or that they never can. It must not know lots or how many points
//! there are.
//!
//! loyalty-v2.md section 3. A date of activation is the first day on which points can be spent, from its first moment in the
//! project's zone. A date of cancellation is the last day on which what they wait for may come: they are cancelled at its
//! end.

use super::calendar::{DateOfYear, Period, end_of, start_of};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// What earned points wait for: what a card definition says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Delay {
    /// Nothing.
    #[default]
    Immediate,
    /// The day that is so much after that on which they were earned.
    Period(Period),
    /// The first of these dates after the day on which they were earned.
    FixedDates(Vec<DateOfYear>),
    /// A custom event of one of these types.
    Event {
        /// The types.
        types: Vec<Text>,
        /// How long they wait: to the end of the day that is so much after that on which they were earned.
        cancel: Period,
    },
}

/// What points wait for that were earned at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    /// A moment, so long after they were earned.
    Period(Instant),
    /// The first moment of a date of the year.
    FixedDate(Instant),
    /// A custom event of one of these types, before a moment.
    Event {
        /// The types.
        types: Vec<Text>,
        /// From then on it is too late.
        until: Instant,
    },
}

impl Delay {
    /// What points wait for that are earned now; nothing when they can be spent at once.
    pub fn earned(&self, now: Instant, zone: &TimeZone) -> Option<Wait> {
        let today = zone.day(now);
        match self {
            Delay::Immediate => None,
            Delay::Period(period) => Some(Wait::Period(start_of(today.and_then(|today| period.after(today)), zone))),
            Delay::FixedDates(dates) => {
                let tomorrow = today.and_then(|today| today.plus(1));
                Some(Wait::FixedDate(start_of(tomorrow.and_then(|day| DateOfYear::next(dates, day)), zone)))
            }
            Delay::Event { types, cancel } => {
                let until = end_of(today.and_then(|today| cancel.after(today)), zone);
                Some(Wait::Event { types: types.clone(), until })
            }
        }
    }
}

impl Wait {
    /// The moment at which they become active by themselves.
    pub fn activates_at(&self) -> Option<Instant> {
        match self {
            Wait::Period(at) | Wait::FixedDate(at) => Some(*at),
            Wait::Event { .. } => None,
        }
    }

    /// The moment at which they are cancelled by themselves.
    pub fn cancels_at(&self) -> Option<Instant> {
        match self {
            Wait::Period(_) | Wait::FixedDate(_) => None,
            Wait::Event { until, .. } => Some(*until),
        }
    }

    /// Whether they wait for a custom event of this type.
    pub fn is_for(&self, event: &str) -> bool {
        match self {
            Wait::Period(_) | Wait::FixedDate(_) => false,
            Wait::Event { types, .. } => types.iter().any(|known| known == event),
        }
    }
}
