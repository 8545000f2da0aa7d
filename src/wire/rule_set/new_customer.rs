//! Reads the results of the conditions in the core of a bundle for a new customer without known data.

use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read};

/// The member of a set of rules with the results.
pub(in crate::wire) const NEW_CUSTOMER: &str = "new_customer";

/// The conditions that a new customer without data meets, by number, and those that the customer does not meet. The
/// result of any other depends on the time, and only the server knows it.
#[derive(Debug, Clone, Default)]
pub struct NewCustomerConditions {
    met: Vec<Text>,
    unmet: Vec<Text>,
}

impl NewCustomerConditions {
    /// Reads `{ "met": [number], "unmet": [number] }`.
    pub(super) fn read(at: &JsonCursor<'_>) -> NewCustomerConditions {
        at.object();
        NewCustomerConditions { met: at.list("met", read::name), unmet: at.list("unmet", read::name) }
    }

    /// Returns the result of a condition, if it is known.
    pub fn is_met(&self, number: &str) -> Option<bool> {
        let has = |list: &[Text]| list.iter().any(|known| known == number);
        if has(&self.met) { Some(true) } else { has(&self.unmet).then_some(false) }
    }
}
