//! Checked arithmetic of stored counts, points, balances and amounts in minor units. A result beyond 64 bits is a fault and
//! never the nearest number that fits: stored numbers stay within 2^53-1, so only a corrupt document or row leads there.

use super::sql::Fault;

/// Number of things, points or minor units.
pub trait CheckedAmount: Sized {
    /// Returns the sum of two numbers of one unit. Fails beyond the bounds of the type.
    fn plus(self, more: Self) -> Result<Self, Fault>;

    /// Returns the difference of two numbers of one unit. Fails beyond the bounds of the type: an unsigned number does not
    /// fall below zero.
    fn minus(self, less: Self) -> Result<Self, Fault>;
}

impl CheckedAmount for i64 {
    fn plus(self, more: i64) -> Result<i64, Fault> {
        self.checked_add(more).ok_or_else(|| out_of_bounds_fault(&format!("{self} + {more}")))
    }

    fn minus(self, less: i64) -> Result<i64, Fault> {
        self.checked_sub(less).ok_or_else(|| out_of_bounds_fault(&format!("{self} - {less}")))
    }
}

impl CheckedAmount for u64 {
    fn plus(self, more: u64) -> Result<u64, Fault> {
        self.checked_add(more).ok_or_else(|| out_of_bounds_fault(&format!("{self} + {more}")))
    }

    fn minus(self, less: u64) -> Result<u64, Fault> {
        self.checked_sub(less).ok_or_else(|| out_of_bounds_fault(&format!("{self} - {less}")))
    }
}

/// Returns the sum of numbers of one unit; zero without any. Fails beyond the bounds of the type.
pub fn total<A: CheckedAmount + Default>(amounts: impl IntoIterator<Item = A>) -> Result<A, Fault> {
    amounts.into_iter().try_fold(A::default(), A::plus)
}

/// Returns a number with a sign, in its unit. Fails from 2^63.
pub fn signed(amount: u64) -> Result<i64, Fault> {
    i64::try_from(amount).map_err(|_| out_of_bounds_fault(&amount.to_string()))
}

/// Returns a number without a sign, in its unit. Fails below zero.
pub fn unsigned(amount: i64) -> Result<u64, Fault> {
    u64::try_from(amount).map_err(|_| out_of_bounds_fault(&amount.to_string()))
}

/// Returns a number with the opposite sign, in its unit. Fails for -2^63.
pub fn negated(amount: i64) -> Result<i64, Fault> {
    0.minus(amount)
}

#[cold]
fn out_of_bounds_fault(result: &str) -> Fault {
    Fault(format!("an amount is out of bounds: {result}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_differences_within_bounds_are_exact() {
        assert_eq!((i64::MAX - 1).plus(1), Ok(i64::MAX));
        assert_eq!((i64::MIN + 1).minus(1), Ok(i64::MIN));
        assert_eq!(3_i64.minus(5), Ok(-2));
        assert_eq!((u64::MAX - 1).plus(1), Ok(u64::MAX));
        assert_eq!(5_u64.minus(5), Ok(0));
        assert_eq!(total([1_u64, 2, 3]), Ok(6));
        assert_eq!(total([i64::MAX, -1, i64::MIN]), Ok(-2));
        assert_eq!(total::<i64>([]), Ok(0));
        assert_eq!(signed(i64::MAX.unsigned_abs()), Ok(i64::MAX));
        assert_eq!((unsigned(0), unsigned(i64::MAX)), (Ok(0), Ok(i64::MAX.unsigned_abs())));
        assert_eq!((negated(i64::MAX), negated(-5)), (Ok(-i64::MAX), Ok(5)));
    }

    #[test]
    fn a_result_beyond_the_bounds_is_a_fault() {
        assert_eq!(i64::MAX.plus(1), Err(Fault::new("an amount is out of bounds: 9223372036854775807 + 1")));
        assert!(i64::MIN.minus(1).is_err() && i64::MIN.plus(-1).is_err() && i64::MAX.minus(-1).is_err());
        assert!(u64::MAX.plus(1).is_err());
        assert_eq!(3_u64.minus(5), Err(Fault::new("an amount is out of bounds: 3 - 5")));
        assert!(total([u64::MAX, 1]).is_err() && total([i64::MAX, 1, -1]).is_err());
        assert!(signed(i64::MAX.unsigned_abs() + 1).is_err() && signed(u64::MAX).is_err());
        assert!(unsigned(-1).is_err() && unsigned(i64::MIN).is_err());
        assert!(negated(i64::MIN).is_err());
    }
}
