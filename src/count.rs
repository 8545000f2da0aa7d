//! Arithmetic of counts: units, points and minor units. A result that leaves 64 bits is `None` and never the nearest number
//! that fits. Only [`Countable::remaining_after`] saturates, at zero.

/// A number of units that can be subtracted until none is left.
pub trait Countable: Sized {
    /// Returns what remains after `taken` was taken away, and zero when that is more than there was.
    ///
    /// ```
    /// use scrip::count::Countable;
    /// assert_eq!((7_u64.remaining_after(5), 5_u64.remaining_after(7)), (2, 0));
    /// ```
    #[must_use]
    fn remaining_after(self, taken: Self) -> Self;

    /// Returns the next count or place. Nothing is counted one by one up to the end of the type.
    #[must_use]
    fn plus_one(self) -> Self;
}

impl Countable for u64 {
    #[inline]
    fn remaining_after(self, taken: u64) -> u64 {
        // Nothing remains when more is taken than there is.
        self.saturating_sub(taken)
    }

    #[inline]
    #[expect(clippy::arithmetic_side_effects, reason = "nothing is counted one by one up to 2^64")]
    fn plus_one(self) -> u64 {
        self + 1
    }
}

impl Countable for usize {
    #[inline]
    fn remaining_after(self, taken: usize) -> usize {
        // Nothing remains when more is taken than there is.
        self.saturating_sub(taken)
    }

    #[inline]
    #[expect(clippy::arithmetic_side_effects, reason = "a place or a number of things is below the end of memory")]
    fn plus_one(self) -> usize {
        self + 1
    }
}

/// Returns the sum of some counts, or `None` beyond 64 bits.
///
/// ```
/// use scrip::count::total;
/// assert_eq!((total([1, 2, 3]), total([1, u64::MAX])), (Some(6), None));
/// ```
pub fn total(counts: impl IntoIterator<Item = u64>) -> Option<u64> {
    counts.into_iter().try_fold(0_u64, u64::checked_add)
}

/// Returns the sum of some differences, or `None` beyond 64 bits.
pub fn net(differences: impl IntoIterator<Item = i64>) -> Option<i64> {
    differences.into_iter().try_fold(0_i64, i64::checked_add)
}

/// Returns the length of a list, with a sign. No list has 2^63 entries.
#[inline]
pub fn length<T>(list: &[T]) -> i64 {
    list.len().cast_signed() as i64
}

/// Returns the product of two counts. 128 bits hold each.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "the product of two numbers of 64 bits has at most 128")]
pub fn product(count: u64, times: u64) -> u128 {
    u128::from(count) * u128::from(times)
}

/// Returns the part of a count that `part` has in `total`, rounded down; zero of a total of zero, and `None` beyond 64 bits.
///
/// ```
/// use scrip::count::share;
/// assert_eq!((share(10, 1, 3), share(10, 1, 0), share(u64::MAX, 2, 1)), (Some(3), Some(0), None));
/// ```
#[inline]
pub fn share(count: u64, part: u64, total: u64) -> Option<u64> {
    // Nothing has a part of a total of zero.
    u64::try_from(product(count, part).checked_div(total.into()).unwrap_or(0)).ok()
}
