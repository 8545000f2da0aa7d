//! Decides what a tier structure says: who fits which tier, which is higher, how long one is held and what is below it. It must not
//! know in which tier anybody is.
//!
//! loyalty-v2.md section 6.

use super::tracking::Tracking;
use crate::points::calendar::{DateOfYear, Period, Unit, end_of};
use crate::points::expiry::{Rounding, Sliding};
use crate::text::Text;
use crate::time::{Duration, Instant, TimeZone};

/// What a member's tier follows from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Structure {
    /// Its id.
    pub id: Text,
    /// The definition of the cards whose points count.
    pub card_definition: Text,
    /// Which points.
    pub measure: Measure,
    /// How long a tier is held before it is looked at again.
    pub expiration: Expiration,
    /// How far a member falls.
    pub downgrade: Downgrade,
    /// How long a member stays who would fall.
    pub grace: Option<Grace>,
    /// Its tiers.
    pub tiers: Vec<Tier>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Measure {
    /// The points that can be spent.
    #[default]
    Balance,
    /// The points that were earned in a tracking period, whatever became of them.
    Earned {
        /// How long they are counted together.
        tracking: Tracking,
        /// Whether those of the period that goes on count. Otherwise those of the last one do, so that tiers change with periods.
        at_once: bool,
    },
}

/// How long a tier is held, whatever the points are meanwhile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expiration {
    /// Not at all: it is looked at as soon as what the member fits is another tier.
    #[default]
    Never,
    /// So long after it was entered, to the end of that day.
    Rolling(Period),
    /// To the end of the next of these dates.
    Calendar(Vec<DateOfYear>),
    /// So long after the last activity, to the end of that day.
    Sliding(Sliding),
}

/// How far a member falls who does not fit a tier any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Downgrade {
    /// Not at all.
    #[default]
    Never,
    /// To the tier below; from there when the tier is looked at the next time.
    OneLevel,
    /// To the tier that fits.
    ToFit,
}

/// How long a member stays who would fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// How long.
    pub period: Period,
    /// Whether it is put off to the end of its unit: of the day, the month or the year.
    pub round_up: bool,
}

impl Grace {
    /// When it ends that begins now: at the same time of the day, unless it is rounded.
    pub fn end(self, at: Instant, zone: &TimeZone) -> Instant {
        let Period { value, unit } = self.period;
        let exact = match unit {
            Unit::Day => at.days_later(value, zone),
            Unit::Month => at.after(&Duration::of_months(value), zone),
            Unit::Year => value.checked_mul(12).and_then(|months| at.after(&Duration::of_months(months), zone)),
        };
        let last = exact.filter(|_| self.round_up).and_then(|exact| zone.day(exact)).and_then(|day| match unit {
            Unit::Day => Some(day),
            Unit::Month => Rounding::Month.last_day(day),
            Unit::Year => Rounding::Year.last_day(day),
        });
        let rounded = last.map(|day| end_of(Some(day), zone));
        rounded.or(exact).unwrap_or(Instant::LATEST)
    }
}

/// A tier. What has two members fits the higher one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tier {
    /// Its id.
    pub id: Text,
    /// Its name, for people.
    pub name: Text,
    /// The least points that fit it.
    pub min: u64,
    /// The most; without one any more fit.
    pub max: Option<u64>,
    /// The segment in which its members are, if it asks for one.
    pub segment: Option<Text>,
    /// Whether nobody ever leaves it downwards.
    pub is_kept: bool,
}

impl Tier {
    /// What is higher has more: the tiers of a structure by points and, at the same, those of a segment above that for everybody.
    fn height(&self) -> (u64, bool, &Text) {
        (self.min, self.segment.is_some(), &self.id)
    }

    fn is_open_to(&self, segments: &[Text]) -> bool {
        self.segment.as_ref().is_none_or(|segment| segments.contains(segment))
    }

    fn fits(&self, points: i64) -> bool {
        u64::try_from(points).is_ok_and(|points| self.min <= points && self.max.is_none_or(|max| points <= max))
    }
}

impl Structure {
    /// A tier by its id.
    pub fn tier(&self, id: &Text) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.id == *id)
    }

    /// The highest tier that so many points and these segments fit. Points between two tiers fit none.
    pub fn fitting(&self, points: i64, segments: &[Text]) -> Option<&Tier> {
        let fit = self.tiers.iter().filter(|tier| tier.fits(points) && tier.is_open_to(segments));
        fit.max_by_key(|tier| tier.height())
    }

    /// The tiers above one, or all where there is none, that are open to whoever is in these segments, lowest first.
    pub fn above<'a>(&'a self, tier: Option<&Tier>, segments: &[Text]) -> Vec<&'a Tier> {
        let higher = |other: &&Tier| Structure::is_higher(Some(other), tier);
        let mut above: Vec<&Tier> =
            self.tiers.iter().filter(higher).filter(|other| other.is_open_to(segments)).collect();
        above.sort_by_key(|tier| tier.height());
        above
    }

    /// Whether one tier is higher than another. No tier is the lowest.
    pub(super) fn is_higher(one: Option<&Tier>, other: Option<&Tier>) -> bool {
        one.map(Tier::height) > other.map(Tier::height)
    }

    /// Where somebody goes who falls out of a tier and fits a lower one, or none.
    pub(super) fn fall<'a>(&'a self, tier: &Tier, fit: Option<&'a Tier>, segments: &[Text]) -> Option<&'a Tier> {
        match self.downgrade {
            Downgrade::Never => self.tier(&tier.id),
            Downgrade::ToFit => fit,
            Downgrade::OneLevel => {
                let lower = self.tiers.iter().filter(|other| other.height() < tier.height());
                lower.filter(|other| other.is_open_to(segments)).max_by_key(|other| other.height())
            }
        }
    }

    /// Whether members may fall out of a tier.
    pub(super) fn may_fall(&self, tier: &Tier) -> bool {
        self.downgrade != Downgrade::Never && !tier.is_kept
    }

    /// When a tier is looked at again that is held from this moment on.
    pub(super) fn term(&self, from: Instant, zone: &TimeZone) -> Option<Instant> {
        let today = zone.day(from);
        match &self.expiration {
            Expiration::Never => None,
            Expiration::Rolling(period) => Some(end_of(today.and_then(|today| period.after(today)), zone)),
            Expiration::Sliding(sliding) => Some(sliding.end(from, zone)),
            Expiration::Calendar(dates) => Some(end_of(today.and_then(|today| DateOfYear::next(dates, today)), zone)),
        }
    }

    /// The same for one that was held to a moment, and is held on: a term follows the last one without a day between them.
    pub(super) fn next_term(&self, over: Instant, zone: &TimeZone) -> Option<Instant> {
        let from = match self.expiration {
            Expiration::Rolling(_) | Expiration::Sliding(_) => over.later(-1),
            Expiration::Never | Expiration::Calendar(_) => over,
        };
        let end = self.term(from, zone)?;
        // Where the calendar of a zone skips a day, that day's end is its beginning.
        if end > over { Some(end) } else { self.term(over, zone) }
    }
}
