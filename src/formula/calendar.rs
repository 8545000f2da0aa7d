//! Decides how many days and months lie between two days. It must not know what the days are.

use crate::time::Day;

/// Days from one day to another, below 0 when it lies before.
pub(crate) fn days(from: Day, to: Day) -> i64 {
    to.number().saturating_sub(from.number())
}

/// Complete months from one day to another, below 0 when it lies before. A month is complete on the same day of a later
/// month or, where that month is shorter, on its last day.
pub(crate) fn months(from: Day, to: Day) -> Option<i64> {
    if to < from {
        return months(to, from)?.checked_neg();
    }
    let ((first, month, day), (last, last_month, last_day)) = (from.date(), to.date());
    let years = last.checked_sub(first)?.checked_mul(12)?;
    let begun = years.checked_add(i64::from(last_month))?.checked_sub(i64::from(month))?;
    let ends = to.plus(1).is_none_or(|next| next.month().1 != last_month);
    if last_day >= day || ends { Some(begun) } else { begun.checked_sub(1) }
}
