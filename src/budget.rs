//! Limits the steps of one decision. Code with long loops takes its steps from the budget before it runs.
//!
//! Steps are counted, not time: equal requests over equal facts take equal steps everywhere, so that client and service
//! refuse the same requests.

use std::cell::Cell;

/// The maximum number of steps of one decision. A step is a line checked by a test, a compared value, an entry of a
/// scope, or a written value of the order. Thirty redeemables with scopes on five hundred lines take a fifth of it;
/// natively it is some 30 ms.
pub const STEPS_MAX: usize = 6_000_000;

/// Computes costs in steps. A cost beyond the type is beyond every budget, so these operations saturate.
pub trait StepCost {
    /// Returns the sum of two costs.
    #[must_use]
    fn add_steps(self, steps: usize) -> usize;
    /// Returns the cost of something that is done several times.
    #[must_use]
    fn times_steps(self, steps: usize) -> usize;
}

impl StepCost for usize {
    #[inline]
    fn add_steps(self, steps: usize) -> usize {
        // The largest cost is refused as any that is too large.
        self.saturating_add(steps)
    }

    #[inline]
    fn times_steps(self, steps: usize) -> usize {
        // Likewise.
        self.saturating_mul(steps)
    }
}

/// Counts the steps of one decision.
#[derive(Debug, Clone)]
pub struct StepBudget {
    left: Cell<usize>,
    has_overflow: Cell<bool>,
}

impl Default for StepBudget {
    fn default() -> StepBudget {
        StepBudget { left: Cell::new(STEPS_MAX), has_overflow: Cell::new(false) }
    }
}

impl StepBudget {
    /// Takes steps from the budget, and returns whether they were left. Once they were not, none are left any more: the decision is
    /// refused as a whole. A cost above the budget may be given as the largest number.
    #[inline]
    pub fn spend(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Returns the steps that are left.
    pub fn left(&self) -> usize {
        self.left.get()
    }

    /// Continues with what another budget, which began as this one, has left.
    pub fn continue_as(&self, other: &StepBudget) {
        self.left.set(other.left.get());
        self.has_overflow.set(other.has_overflow.get());
    }

    /// Returns a number that was computed. One that left its bounds ends the decision, as too many steps do: nothing of it is
    /// answered or written.
    #[inline]
    pub fn checked<N: Default>(&self, number: Option<N>) -> N {
        number.unwrap_or_else(|| {
            self.left.set(0);
            self.has_overflow.set(true);
            N::default()
        })
    }

    /// Returns whether the decision has ended because a number left its bounds.
    pub fn has_overflow(&self) -> bool {
        self.has_overflow.get()
    }

    /// Returns whether the budget is exceeded.
    pub fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_out_of_bounds_ends_the_decision() {
        let budget = StepBudget::default();
        assert_eq!(budget.checked(1_u64.checked_add(2)), 3);
        assert!(!budget.is_over() && !budget.has_overflow());
        assert_eq!(budget.checked(u64::MAX.checked_add(2)), 0);
        assert!(budget.is_over() && budget.has_overflow() && !budget.spend(1));
    }
}
