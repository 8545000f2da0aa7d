//! Defines ISO 8601 durations: calendar months and an exact rest.

const DAY: i64 = 86_400_000;

/// The designators of the two halves of a duration, with the months or milliseconds of each unit.
const DATES: [(char, DurationPart); 4] = [
    ('Y', DurationPart::Months(12)),
    ('M', DurationPart::Months(1)),
    ('W', DurationPart::Millis(7 * DAY)),
    ('D', DurationPart::Millis(DAY)),
];
const TIMES: [(char, DurationPart); 3] =
    [('H', DurationPart::Millis(3_600_000)), ('M', DurationPart::Millis(60_000)), ('S', DurationPart::Millis(1_000))];

#[derive(Clone, Copy)]
enum DurationPart {
    Months(u32),
    Millis(i64),
}

/// An ISO 8601 duration such as `P1M`, `P2D` or `PT1H30M`. Years and months follow the calendar, the rest is exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Duration {
    pub(super) months: u32,
    pub(super) millis: i64,
}

impl Duration {
    /// Returns an exact duration.
    pub fn of_millis(millis: i64) -> Duration {
        Duration { months: 0, millis }
    }

    /// Returns a duration of calendar months.
    pub fn of_months(months: u32) -> Duration {
        Duration { months, millis: 0 }
    }

    /// Parses a duration longer than 0.
    ///
    /// ```
    /// use scrip::time::Duration;
    /// assert!(Duration::parse("P24D").is_some());
    /// assert!(Duration::parse("PT0S").is_none());
    /// assert!(Duration::parse("24 days").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Duration> {
        let body = text.strip_prefix('P')?;
        let (dates, times) = body.split_once('T').map_or((body, None), |(dates, times)| (dates, Some(times)));
        if times == Some("") {
            return None;
        }
        let mut duration = Duration::default();
        duration.add_parts(dates, &DATES)?;
        duration.add_parts(times.unwrap_or_default(), &TIMES)?;
        (duration.months > 0 || duration.millis > 0).then_some(duration)
    }

    /// Adds the numbers of one half, each designator at most once and in this order.
    fn add_parts(&mut self, text: &str, designators: &[(char, DurationPart)]) -> Option<()> {
        let mut rest = text;
        for (designator, part) in designators {
            let Some((number, after)) = rest.split_once(*designator) else { continue };
            // The library would also accept a sign.
            let count: u32 = number.parse().ok().filter(|_| number.bytes().all(|byte| byte.is_ascii_digit()))?;
            match part {
                DurationPart::Months(months) => self.months = self.months.checked_add(count.checked_mul(*months)?)?,
                DurationPart::Millis(millis) => {
                    self.millis = self.millis.checked_add(millis.checked_mul(count.into())?)?
                }
            }
            rest = after;
        }
        rest.is_empty().then_some(())
    }

    /// Returns this duration multiplied by `count`.
    pub(super) fn times(&self, count: i64) -> Option<Duration> {
        Some(Duration {
            months: self.months.checked_mul(u32::try_from(count).ok()?)?,
            millis: self.millis.checked_mul(count)?,
        })
    }

    /// Returns the sum of two durations.
    pub(super) fn and(&self, other: &Duration) -> Option<Duration> {
        Some(Duration {
            months: self.months.checked_add(other.months)?,
            millis: self.millis.checked_add(other.millis)?,
        })
    }

    /// Returns the maximum length in milliseconds: no month has more than 31 days.
    pub(super) fn at_most(&self) -> Option<i64> {
        i64::from(self.months).checked_mul(31 * DAY)?.checked_add(self.millis)
    }
}
