//! Contains the facts of a case for the rules of one redeemable, and records which of them were missing or unreadable.

use std::cell::{Cell, RefCell};

use crate::decide::case::{Case, Offer};
use crate::decide::rule_input::order::RunningOrder;
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::Refusal;
use crate::text::Text;

/// The effect of a redeemable on the running order, for its rules.
#[derive(Clone, Copy)]
pub struct CheckedEffect<'v> {
    /// The effect.
    pub gain: &'v Gain,
    /// The total to pay after it, without the units that are free for others.
    pub total: Option<Money>,
}

/// The facts of a case for the rules of one redeemable on a running order.
pub struct OfferFacts<'v> {
    pub(super) case: &'v Case<'v>,
    pub(super) offer: Option<&'v Offer<'v>>,
    pub(super) running_order: &'v RunningOrder<'v>,
    /// The effect of the redeemable, once it is known.
    pub(super) effect: Option<CheckedEffect<'v>>,
    /// Points that the redeemable takes.
    pub(super) paid: u64,
    /// Facts that only the server has.
    pub(super) missing: RefCell<Vec<Text>>,
    /// The refusal of a rule that needs a fact that cannot be read.
    pub(super) unreadable: RefCell<Option<Refusal>>,
    /// Set when a test passed on the condition that the customer is new. One that fails then fails for a stored customer
    /// too, because a profile that is not read meets no condition.
    pub(super) if_new: Cell<bool>,
    /// Set when a membership was decided on that condition.
    pub(super) member_if_new: Cell<bool>,
    /// Set when a test needed a profile that is not read.
    pub(super) withheld: Cell<bool>,
}

impl<'v> OfferFacts<'v> {
    /// Returns the facts of an offer; without an offer, nothing is counted.
    #[inline]
    pub fn new(
        case: &'v Case<'v>,
        offer: Option<&'v Offer<'v>>,
        running_order: &'v RunningOrder<'v>,
    ) -> OfferFacts<'v> {
        OfferFacts {
            case,
            offer,
            running_order,
            effect: None,
            paid: 0,
            missing: RefCell::default(),
            unreadable: RefCell::default(),
            if_new: Cell::default(),
            member_if_new: Cell::default(),
            withheld: Cell::default(),
        }
    }

    /// Returns the requested facts that only the server has.
    pub fn into_missing(self) -> Vec<Text> {
        self.missing.into_inner()
    }

    /// Returns whether every requested fact was known and readable.
    pub(in crate::decide) fn is_certain(&self) -> bool {
        let is_open = self.if_new.get() || self.member_if_new.get() || self.withheld.get();
        !is_open && self.missing.borrow().is_empty() && self.unreadable.borrow().is_none()
    }

    /// Returns whether a test needed a profile that is not read.
    pub(super) fn is_withheld(&self) -> bool {
        self.withheld.get()
    }

    /// Returns the customer who may be new, if a result depends on that.
    pub(in crate::decide) fn missing_customer(&self) -> Option<Text> {
        self.case.request_customer.counted().unknown.clone().filter(|_| self.if_new.get())
    }

    /// Records a fact that only the server has.
    pub(super) fn add_missing(&self, name: Text) {
        self.missing.borrow_mut().push(name);
    }
}
