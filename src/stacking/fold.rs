//! Decides, one redeemable after the other, whether it is applied to the running order, skipped or refused. It must
//! not know why a redeemable is valid.
//!
//! calculation.md section 11.2, steps 7 and 8.

use crate::model::stacking::{ApplicationMode, CalculationMode, ProductsMode, StackingRules};
use crate::pricing::{Base, Cart, Gain};
use crate::refusal::{Refusal, Skip};
use crate::stacking::select::{Candidate, Class, Selection};

/// Knows what each redeemable is worth and whether it may be used.
pub trait Judge {
    /// Whether only the server could say.
    fn undecided(&self, place: usize) -> bool;
    /// Why it may not be used on this order, if so.
    fn refusal(&mut self, place: usize, cart: &Cart) -> Option<Refusal>;
    /// Why it may not be used because of the order that it would leave behind (calculation.md section 11.2, step 7.6).
    fn objection(&mut self, _place: usize, _before: &Cart, _gain: &Gain) -> Option<Refusal> {
        None
    }
    /// It was applied, and gave this.
    fn applied(&mut self, _place: usize, _gain: &Gain) {}
    /// Whether it gives a reward, which no amount shows and which is an effect all the same.
    fn rewards(&self, place: usize) -> bool;
    /// What it gives. With `once`, lines that were discounted in this request are out of its reach.
    fn gain(&mut self, place: usize, cart: &Cart, base: Base<'_>, once: bool) -> Result<Box<Gain>, Refusal>;
}

/// What became of one redeemable.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It gave this. The order after it is the order before it with this added; writers replay it.
    Applied(Box<Gain>),
    /// It was left out.
    Skipped(Skip),
    /// It cannot be used.
    Refused(Refusal),
}

impl Step {
    /// What it gave in all, if it was applied.
    pub fn total(&self) -> Option<crate::money::Money> {
        match &self.outcome {
            Outcome::Applied(gain) => gain.total(),
            _ => None,
        }
    }
}

/// One step of the walk.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The redeemable's place in the request.
    pub place: usize,
    /// What became of it.
    pub outcome: Outcome,
}

/// The whole walk: every redeemable once, in the order in which they were tried, and the order at the end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Walk {
    /// Step by step.
    pub steps: Vec<Step>,
    /// The order with everything applied.
    pub cart: Cart,
}

impl Walk {
    /// Tries every candidate in turn. The walk is made where it will stand: it is read as soon as it is there.
    pub fn run(&mut self, selection: &mut Selection, rules: &StackingRules, initial: &Cart, judge: &mut dyn Judge) {
        self.cart = initial.clone();
        self.steps = Vec::with_capacity(selection.count);
        let mut state = State { rules, initial, cart: &mut self.cart, total: 0, exclusive: 0, failed: false };
        for turn in 0..selection.count {
            let Candidate { place, class, excluded, .. } = selection.at(turn);
            let outcome = match excluded {
                true => Outcome::Skipped(Skip::Exclusion),
                false => state.step(place, selection.class(class), judge),
            };
            self.steps.push(Step { place, outcome });
        }
    }
}

struct State<'a> {
    rules: &'a StackingRules,
    initial: &'a Cart,
    cart: &'a mut Cart,
    total: u64,
    exclusive: u64,
    failed: bool,
}

impl State<'_> {
    fn step(&mut self, place: usize, class: &mut Class, judge: &mut dyn Judge) -> Outcome {
        if self.failed && self.rules.redeemables_application_mode == ApplicationMode::All {
            return Outcome::Skipped(Skip::PrecedingFailure);
        }
        if judge.undecided(place) {
            return Outcome::Skipped(Skip::Undecided);
        }
        if let Some(skip) = self.limit(class) {
            return Outcome::Skipped(skip);
        }
        match self.attempt(place, class, judge) {
            Err(refusal) => {
                self.failed = true;
                Outcome::Refused(refusal)
            }
            Ok(None) => Outcome::Skipped(Skip::NoEffect),
            Ok(Some(gain)) => {
                self.total = self.total.saturating_add(1);
                self.exclusive = self.exclusive.saturating_add(u64::from(class.exclusive));
                class.applied = class.applied.saturating_add(1);
                Outcome::Applied(gain)
            }
        }
    }

    /// The first limit that one more would exceed. Only what is applied counts.
    fn limit(&self, class: &Class) -> Option<Skip> {
        let same = class.applied;
        if self.total >= self.rules.applicable_redeemables_limit {
            return Some(Skip::Limit);
        }
        if class.limit.is_some_and(|limit| same >= limit) {
            return Some(Skip::CategoryLimit);
        }
        if !class.exclusive {
            return None;
        }
        if self.exclusive >= self.rules.applicable_exclusive_redeemables_limit {
            return Some(Skip::ExclusiveLimit);
        }
        // A class is exclusive as a whole, so that what is applied of it is exclusive.
        let limit = self.rules.applicable_exclusive_redeemables_per_category_limit;
        limit.is_some_and(|limit| same >= limit).then_some(Skip::ExclusiveCategoryLimit)
    }

    /// Validates on the running order, computes the effect and commits it; `None` when it is nothing and is left out.
    fn attempt(&mut self, place: usize, class: &Class, judge: &mut dyn Judge) -> Result<Option<Box<Gain>>, Refusal> {
        if let Some(refusal) = judge.refusal(place, self.cart) {
            return Err(refusal);
        }
        let base = match class.mode {
            CalculationMode::InitialAmount => Base::Initial(self.initial),
            CalculationMode::DiscountedAmount => Base::Discounted,
        };
        let once = self.rules.redeemables_products_application_mode == ProductsMode::Once;
        let gain = judge.gain(place, self.cart, base, once)?;
        if let Some(refusal) = judge.objection(place, self.cart, &gain) {
            return Err(refusal);
        }
        if class.skips_no_effect && gain.is_nothing() && !judge.rewards(place) {
            return Ok(None);
        }
        self.cart.add(&gain).ok_or_else(too_large)?;
        judge.applied(place, &gain);
        Ok(Some(gain))
    }
}

fn too_large() -> Refusal {
    let bound = crate::money::LARGEST;
    Refusal::new(
        crate::refusal::Reason::InvalidAmount,
        ["All discounts together amount to more than ", &bound.to_string()].concat(),
    )
}
