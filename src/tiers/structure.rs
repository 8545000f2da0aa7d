//! Defines the rules of a tier structure: the tier that fits, the order of tiers, the terms and the downgrades.
//!
//! docs/spec/loyalty.md#6.

use super::tracking::TrackingPeriod;
use crate::points::calendar::{DateOfYear, Period, Unit, end_of};
use crate::points::expiry::{Rounding, SlidingExpiry};
use crate::text::Text;
use crate::time::{Duration, Instant, TimeZone};

/// A tier structure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TierStructure {
    /// Its id.
    pub id: Text,
    /// The definition of the cards whose points count.
    pub card_definition: Text,
    /// The points that count.
    pub measure: TierMeasure,
    /// The term of a tier.
    pub expiration: TierExpiration,
    /// The extent of a downgrade.
    pub downgrade: Downgrade,
    /// The grace period before a downgrade.
    pub grace: Option<GracePeriod>,
    /// Its tiers.
    pub tiers: Vec<LoyaltyTier>,
}

/// The points that decide the tier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TierMeasure {
    /// The spendable balance.
    #[default]
    Balance,
    /// The points earned in a tracking period, even if spent or expired.
    Earned {
        /// The tracking period.
        tracking: TrackingPeriod,
        /// `true` if the points of the current period count. Otherwise those of the last one do, so that tiers change
        /// with periods.
        at_once: bool,
    },
}

/// The term of a tier, during which points do not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum TierExpiration {
    /// No term: the tier changes as soon as another one fits.
    #[default]
    Never,
    /// A period after the entry, to the end of its last day.
    Rolling(Period),
    /// To the end of the next of these dates.
    Calendar(Vec<DateOfYear>),
    /// A period after the last activity, to the end of its last day.
    Sliding(SlidingExpiry),
}

/// The extent of a downgrade when a member does not qualify any more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Downgrade {
    /// No downgrade.
    #[default]
    Never,
    /// To the tier below; further at the end of the next term.
    OneLevel,
    /// To the tier that fits.
    ToFit,
}

/// The grace period before a downgrade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GracePeriod {
    /// Its length.
    pub period: Period,
    /// `true` if it is extended to the end of the day, the month or the year.
    pub round_up: bool,
}

impl GracePeriod {
    /// Returns the end of a grace period that starts now: the same local time, unless it is rounded.
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

/// A tier. If two tiers fit, the higher one counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoyaltyTier {
    /// Its id.
    pub id: Text,
    /// Its name, for people.
    pub name: Text,
    /// The lowest points that fit.
    pub min: u64,
    /// The highest points that fit, if limited.
    pub max: Option<u64>,
    /// The segment that its members must belong to, if any.
    pub segment: Option<Text>,
    /// `true` if members never fall from it.
    pub is_permanent: bool,
}

impl LoyaltyTier {
    /// The sort key of tiers: by points and, for equal points, those of a segment above those for all.
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

impl TierStructure {
    /// Returns a tier by its id.
    pub fn tier(&self, id: &Text) -> Option<&LoyaltyTier> {
        self.tiers.iter().find(|tier| tier.id == *id)
    }

    /// Returns the highest tier that these points and segments fit. Points between two tiers fit none.
    pub fn find_fitting_tier(&self, points: i64, segments: &[Text]) -> Option<&LoyaltyTier> {
        let fit = self.tiers.iter().filter(|tier| tier.fits(points) && tier.is_open_to(segments));
        fit.max_by_key(|tier| tier.height())
    }

    /// Returns the tiers above one, or all for `None`, that are open to members of these segments, lowest first.
    pub fn find_higher_tiers<'a>(&'a self, tier: Option<&LoyaltyTier>, segments: &[Text]) -> Vec<&'a LoyaltyTier> {
        let higher = |other: &&LoyaltyTier| TierStructure::is_higher(Some(other), tier);
        let mut above: Vec<&LoyaltyTier> =
            self.tiers.iter().filter(higher).filter(|other| other.is_open_to(segments)).collect();
        above.sort_by_key(|tier| tier.height());
        above
    }

    /// Returns whether one tier is higher than another. No tier is the lowest.
    pub(super) fn is_higher(one: Option<&LoyaltyTier>, other: Option<&LoyaltyTier>) -> bool {
        one.map(LoyaltyTier::height) > other.map(LoyaltyTier::height)
    }

    /// Returns the tier after a downgrade from one that does not fit any more.
    pub(super) fn find_downgraded_tier<'a>(
        &'a self,
        tier: &LoyaltyTier,
        fit: Option<&'a LoyaltyTier>,
        segments: &[Text],
    ) -> Option<&'a LoyaltyTier> {
        match self.downgrade {
            Downgrade::Never => self.tier(&tier.id),
            Downgrade::ToFit => fit,
            Downgrade::OneLevel => {
                let lower = self.tiers.iter().filter(|other| other.height() < tier.height());
                lower.filter(|other| other.is_open_to(segments)).max_by_key(|other| other.height())
            }
        }
    }

    /// Returns whether members may fall from a tier.
    pub(super) fn may_fall(&self, tier: &LoyaltyTier) -> bool {
        self.downgrade != Downgrade::Never && !tier.is_permanent
    }

    /// Returns the end of the term of a tier that starts at this instant.
    pub(super) fn term(&self, from: Instant, zone: &TimeZone) -> Option<Instant> {
        let today = zone.day(from);
        match &self.expiration {
            TierExpiration::Never => None,
            TierExpiration::Rolling(period) => Some(end_of(today.and_then(|today| period.after(today)), zone)),
            TierExpiration::Sliding(sliding) => Some(sliding.end(from, zone)),
            TierExpiration::Calendar(dates) => {
                Some(end_of(today.and_then(|today| DateOfYear::next(dates, today)), zone))
            }
        }
    }

    /// Returns the end of the term after one that ended at an instant: it follows the last one without a gap.
    pub(super) fn next_term(&self, over: Instant, zone: &TimeZone) -> Option<Instant> {
        let from = match self.expiration {
            TierExpiration::Rolling(_) | TierExpiration::Sliding(_) => over.later(-1),
            TierExpiration::Never | TierExpiration::Calendar(_) => over,
        };
        let end = self.term(from, zone)?;
        // If the calendar of a zone skips a day, that day ends when it starts.
        if end > over { Some(end) } else { self.term(over, zone) }
    }
}
