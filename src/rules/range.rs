//! Decides which amounts meet conditions, where that is two comparisons: nearly always. It must not know what the amounts
//! are of.

use crate::money::LARGEST;
use crate::rules::compare::Condition;
use crate::rules::operand::Operand;
use crate::rules::operator::Operator;

/// The amounts that are wanted. [`Range::NO_AMOUNT`] stands for an amount that nothing says: only what is not bounded
/// at all holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Range {
    least: u64,
    most: u64,
}

impl Range {
    pub(super) const NO_AMOUNT: u64 = u64::MAX;
    pub(super) const ANY: Range = Range { least: 0, most: Range::NO_AMOUNT };

    #[inline]
    pub(super) fn holds(self, found: u64) -> bool {
        (self.least <= found) & (found <= self.most)
    }

    /// Both this and what the conditions want; `None` when that is no range.
    pub(super) fn within(self, conditions: &[Condition]) -> Option<Range> {
        let mut range = Range { most: self.most.min(LARGEST.unsigned_abs()), ..self };
        for condition in conditions {
            let [Operand::Number(wanted)] = &*condition.operands else { return None };
            let wanted = wanted.as_whole().and_then(|wanted| u64::try_from(wanted).ok())?;
            let (least, most) = match condition.operator {
                Operator::In => (wanted, wanted),
                Operator::Less if wanted == 0 => (1, 0),
                Operator::Less => (0, wanted.saturating_sub(1)),
                Operator::AtMost => (0, wanted),
                Operator::More => (wanted.saturating_add(1), range.most),
                Operator::AtLeast => (wanted, range.most),
                _ => return None,
            };
            range = Range { least: range.least.max(least), most: range.most.min(most) };
        }
        Some(range)
    }
}
