//! Decides how many days and months lie between two days. It must not know what the days are.

use chrono::{Datelike, NaiveDate};

/// Days from one day to another, below 0 when it lies before.
pub(crate) fn days(from: NaiveDate, to: NaiveDate) -> i64 {
    i64::from(to.num_days_from_ce()).saturating_sub(i64::from(from.num_days_from_ce()))
}

/// Complete months from one day to another, below 0 when it lies before. A month is complete on the same day of a later
/// month or, where that month is shorter, on its last day.
pub(crate) fn months(from: NaiveDate, to: NaiveDate) -> Option<i64> {
    if to < from {
        return months(to, from)?.checked_neg();
    }
    let count = |day: NaiveDate| i64::from(day.year()).checked_mul(12)?.checked_add(i64::from(day.month0()));
    let begun = count(to)?.checked_sub(count(from)?)?;
    let last = to.succ_opt().is_none_or(|next| next.month() != to.month());
    let complete = to.day() >= from.day() || last;
    if complete { Some(begun) } else { begun.checked_sub(1) }
}
