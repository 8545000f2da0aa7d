//! Models units of the order that a redeemable makes free, and the order without them: section 19, D19.

use super::order::Order;
use std::collections::BTreeMap;

/// Number of units of a line, present before, that each redeemable makes free.
pub type Claims = BTreeMap<(String, usize), i128>;

/// Adds the claims of a redeemable that resulted in this order.
pub fn note(claims: &mut Claims, id: &str, before: &Order, after: &Order) {
    for (at, line) in after.lines.iter().enumerate() {
        let (free, quantity) = before.lines.get(at).map_or((0, 0), |line| (line.free, line.quantity));
        let claimed = (line.free - free) - (line.quantity - quantity);
        if claimed > 0 {
            claims.insert((id.to_owned(), at), claimed);
        }
    }
}

/// Takes the larger of both for each redeemable and line.
pub fn join(claims: &mut Claims, more: &Claims) {
    for (key, units) in more {
        let known = claims.entry(key.clone()).or_insert(0);
        *known = (*known).max(*units);
    }
}

/// Returns true if all claimed units are hidden.
pub fn covers(hidden: &Claims, claims: &Claims) -> bool {
    claims.iter().all(|(key, units)| hidden.get(key).is_some_and(|known| known >= units))
}

/// Change of a line that hides units of it: their number, their discount and their first amount.
struct Hidden {
    line: usize,
    units: i128,
    discount: i128,
    given: i128,
}

/// An order of which some units are free for redeemables other than the current one.
pub struct View {
    pub order: Order,
    hidden: Vec<Hidden>,
}

impl View {
    /// The order without the units of these redeemables.
    pub fn of(order: &Order, claims: &Claims, is_hidden: &dyn Fn(&str) -> bool) -> View {
        let mut view = View { order: order.clone(), hidden: Vec::new() };
        for ((id, at), units) in claims {
            let Some(line) = view.order.lines.get_mut(*at).filter(|_| is_hidden(id)) else { continue };
            let units = (*units).min(line.eligible());
            let price = line.price.filter(|_| line.amount.is_some()).unwrap_or(0);
            let hidden =
                Hidden { line: *at, units, discount: (price * units).min(line.subtotal()), given: price * units };
            line.free += hidden.units;
            line.discount += hidden.discount;
            line.given += hidden.given;
            view.hidden.push(hidden);
        }
        view
    }

    /// Returns the order with those units, after an effect was applied without them.
    pub fn uncovered(&self, mut after: Order) -> Order {
        for hidden in &self.hidden {
            let line = &mut after.lines[hidden.line];
            line.free -= hidden.units;
            line.discount -= hidden.discount;
            line.given -= hidden.given;
        }
        after
    }
}
