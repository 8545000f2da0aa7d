//! Checks amounts with two comparisons, for conditions that form a range; nearly all do.

use crate::count::Countable;
use crate::money::LARGEST;
use crate::rules::compare::Condition;
use crate::rules::operand::TestOperand;
use crate::rules::operator::Operator;

/// A range of amounts. [`AmountRange::NO_AMOUNT`] is the value of an unknown amount: only an unbounded range
/// contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct AmountRange {
    least: u64,
    most: u64,
}

impl AmountRange {
    pub(super) const NO_AMOUNT: u64 = u64::MAX;
    pub(super) const ANY: AmountRange = AmountRange { least: 0, most: AmountRange::NO_AMOUNT };

    #[inline]
    pub(super) fn holds(self, found: u64) -> bool {
        (self.least <= found) & (found <= self.most)
    }

    /// Returns the intersection with the range of some conditions; `None` if they form no range.
    pub(super) fn within(self, conditions: &[Condition]) -> Option<AmountRange> {
        let mut range = AmountRange { most: self.most.min(LARGEST.unsigned_abs()), ..self };
        for condition in conditions {
            let [TestOperand::Number(operand)] = &*condition.operands else { return None };
            let operand = operand.as_integer().and_then(|operand| u64::try_from(operand).ok())?;
            let (least, most) = match condition.operator {
                Operator::In => (operand, operand),
                Operator::Less if operand == 0 => (1, 0),
                Operator::Less => (0, operand.remaining_after(1)),
                Operator::AtMost => (0, operand),
                Operator::More => (operand.plus_one(), range.most),
                Operator::AtLeast => (operand, range.most),
                _ => return None,
            };
            range = AmountRange { least: range.least.max(least), most: range.most.min(most) };
        }
        Some(range)
    }
}
