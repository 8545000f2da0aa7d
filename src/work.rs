//! Decides how much work one decision may do. It must not know what is done: whoever goes through something long says how long
//! it is, before going through it.
//!
//! Steps are counted, not time: the same request over the same facts takes the same steps everywhere, so that a page and the
//! service refuse the same requests.

use std::cell::Cell;

/// Steps of one decision, at most: a line looked at by a test, a value compared, an entry of a scope, a value of the order
/// written. Thirty redeemables with scopes on five hundred lines take a fifth of it; natively it is some 30 ms of work.
pub const MOST_STEPS: usize = 6_000_000;

/// Counts the steps of one decision.
#[derive(Debug, Clone)]
pub struct Work {
    left: Cell<usize>,
}

impl Default for Work {
    fn default() -> Work {
        Work { left: Cell::new(MOST_STEPS) }
    }
}

impl Work {
    /// Whether so many steps more may be taken. Once they may not, none may any more: what is decided then is not told to
    /// anybody.
    #[inline]
    pub fn takes(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether more was asked for than may be done.
    pub fn is_over(&self) -> bool {
        self.left.get() == 0
    }
}
