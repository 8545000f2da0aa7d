//! Provides the running order for the check of a redeemable, and the part of it that rules and formulas see.
//!
//! docs/spec/calculation.md#19, D19.

use crate::decide::case::Case;
use crate::decide::items::Items;
use crate::decide::request_usage::RequestUsage;
use crate::pricing::Cart;
use crate::rules::RequestFacts;

/// The running order at the check of a redeemable.
#[derive(Clone, Copy)]
pub struct RunningOrder<'v> {
    /// Its amounts.
    pub cart: &'v Cart,
    /// Its lines.
    pub items: &'v Items<'v>,
    /// The facts that do not depend on a redeemable.
    pub request_facts: &'v RequestFacts<'v>,
    /// Usage of the redeemables applied so far.
    pub usage: &'v RequestUsage,
    /// The order without its free units, if it has any.
    pub paid: Option<&'v PaidOrder<'v>>,
}

impl<'v> RunningOrder<'v> {
    /// Returns the amounts that rules see.
    pub fn visible_cart(&self) -> &'v Cart {
        self.paid.map_or(self.cart, |paid| &paid.cart)
    }

    /// Returns the lines that rules see.
    pub fn visible_items(&self) -> &'v Items<'v> {
        self.paid.map_or(self.items, |paid| &paid.items)
    }

    /// Returns the facts that rules see.
    pub fn visible_facts(&self) -> &'v RequestFacts<'v> {
        self.paid.map_or(self.request_facts, |paid| &paid.request_facts)
    }
}

/// An order without its free units.
pub struct PaidOrder<'v> {
    cart: Cart,
    items: Items<'v>,
    request_facts: RequestFacts<'v>,
}

impl<'v> PaidOrder<'v> {
    /// Returns the order without its free units; `None` if it has none.
    pub fn of(case: &'v Case<'v>, cart: &'v Cart, request_facts: &RequestFacts<'v>) -> Option<PaidOrder<'v>> {
        cart.has_free_units().then(|| {
            let paid = cart.without_free_units();
            let request_facts = RequestFacts { initial_amount: paid.initial_amount, ..*request_facts };
            PaidOrder { cart: paid, items: Items::without_free(case, cart), request_facts }
        })
    }

    /// Returns its amounts. Lines keep their positions.
    pub fn cart(&self) -> &Cart {
        &self.cart
    }
}
