//! Walks over the redeemables: applies each to the running order, skips it or refuses it.
//!
//! docs/spec/calculation.md#11.2, steps 7 and 8.

use crate::count::Countable;
use crate::model::stacking::{CalculationMode, ProductsMode, StackingRules};
use crate::pricing::{Cart, DiscountBase, Gain};
use crate::refusal::{Refusal, SkipReason};
use crate::stacking::claims::{ClaimTrial, Claims};
use crate::stacking::select::{CategoryRules, StackingCandidate, TrialOrder};

/// Decides for each redeemable its gain and whether it may be used.
pub trait Judge {
    /// Returns whether only the server can decide.
    fn is_undecided(&self, position: usize) -> bool;
    /// Returns why it may not be used on this order, if so.
    fn refusal(&mut self, position: usize, cart: &Cart) -> Option<Refusal>;
    /// Returns why it may not be used either on the whole order or on the order as it sees it.
    fn refusal_of_either(&mut self, position: usize, full_cart: &Cart, visible_cart: &Cart) -> Option<Refusal> {
        self.refusal(position, full_cart).or_else(|| self.refusal(position, visible_cart))
    }
    /// Returns why it may not be used because of the resulting order (docs/spec/calculation.md#11.2, step 7.6).
    fn refusal_after(
        &mut self,
        _position: usize,
        _before: &Cart,
        _gain: &Gain,
        _after: &dyn Fn() -> Option<Cart>,
    ) -> Option<Refusal> {
        None
    }
    /// Records that it was applied with this gain.
    fn record_applied(&mut self, _position: usize, _gain: &Gain) {}
    /// Returns whether it gives a reward, which is an effect without an amount.
    fn gives_reward(&self, position: usize) -> bool;
    /// Returns its gain on the running order, which it sees as `visible_cart` if units of it are free for others. With `once`,
    /// lines that were discounted in this request are excluded.
    fn gain(
        &mut self,
        position: usize,
        cart: &Cart,
        visible_cart: Option<&Cart>,
        base: DiscountBase<'_>,
        once: bool,
    ) -> Result<Box<Gain>, Refusal>;
}

/// The outcome of one redeemable.
#[derive(Debug, Clone, PartialEq)]
pub enum ApplyOutcome {
    /// It was applied with this gain. The resulting order is the earlier one plus the gain; writers repeat the
    /// addition.
    Applied(Box<Gain>),
    /// It was skipped.
    Skipped(SkipReason),
    /// It cannot be used.
    Refused(Refusal),
}

impl WalkStep {
    /// Returns its total gain, if it was applied.
    pub fn total(&self) -> Option<crate::money::Money> {
        match &self.outcome {
            ApplyOutcome::Applied(gain) => gain.total(),
            _ => None,
        }
    }
}

/// One step of the walk.
#[derive(Debug, Clone, PartialEq)]
pub struct WalkStep {
    /// The redeemable's position in the request.
    pub position: usize,
    /// The outcome.
    pub outcome: ApplyOutcome,
}

/// The whole walk: every redeemable once, in the order of trying, and the order at the end.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Walk {
    /// The steps.
    pub steps: Vec<WalkStep>,
    /// The order after all applied redeemables.
    pub cart: Cart,
}

impl Walk {
    /// Tries every candidate in turn. The walk is written in place, because it is read immediately.
    pub fn run(
        &mut self,
        selection: &mut TrialOrder,
        rules: &StackingRules,
        initial: &Cart,
        trial: &ClaimTrial,
        judge: &mut dyn Judge,
    ) {
        self.cart = initial.clone();
        self.steps = Vec::with_capacity(selection.count);
        let mut state =
            WalkState { rules, initial, trial, cart: &mut self.cart, total: 0, exclusive: 0, failed: false };
        for turn in 0..selection.count {
            let StackingCandidate { position, class, excluded, .. } = selection.at(turn);
            let outcome = match excluded {
                true => ApplyOutcome::Skipped(SkipReason::Exclusion),
                false => state.step(WalkTurn { position, steps: &self.steps }, selection.class(class), judge),
            };
            self.steps.push(WalkStep { position, outcome });
        }
    }
}

/// A walk that has applied all its redeemables so far, and that any other redeemable can continue. None of them may
/// claim units of the order.
#[derive(Debug, Clone)]
pub struct OpenWalk {
    /// The order after the redeemables so far.
    pub cart: Cart,
    /// The number of redeemables so far.
    pub total: u64,
    /// The number of exclusive ones.
    exclusive: u64,
    /// The category rules with the number of redeemables of each so far: those without a category, then those of each.
    classes: (CategoryRules, Vec<CategoryRules>),
}

impl OpenWalk {
    /// Returns a walk that has applied nothing to an order. `selection` has the rules of the categories.
    pub fn new(initial: &Cart, selection: &TrialOrder) -> OpenWalk {
        let classes = (selection.plain, selection.classes.clone());
        OpenWalk { cart: initial.clone(), total: 0, exclusive: 0, classes }
    }

    /// Tries the redeemable at this position, of this class, as [`Walk::run`] does at its turn.
    pub fn apply(
        &mut self,
        position: usize,
        class: Option<usize>,
        rules: &StackingRules,
        initial: &Cart,
        judge: &mut dyn Judge,
    ) -> ApplyOutcome {
        let OpenWalk { cart, total, exclusive, classes: (plain, classes) } = self;
        let class = class.and_then(|class| classes.get_mut(class)).unwrap_or(plain);
        let trial = &ClaimTrial::default();
        let mut state = WalkState { rules, initial, trial, cart, total: *total, exclusive: *exclusive, failed: false };
        let outcome = state.step(WalkTurn { position, steps: &[] }, class, judge);
        (*total, *exclusive) = (state.total, state.exclusive);
        outcome
    }

    /// Returns how many more redeemables the limit of the project allows.
    pub fn left(&self, rules: &StackingRules) -> u64 {
        rules.applicable_redeemables_limit.min(rules.redeemables_limit).remaining_after(self.total)
    }

    /// Returns how many more exclusive redeemables the limit of the project allows.
    pub fn exclusive_left(&self, rules: &StackingRules) -> u64 {
        rules.applicable_exclusive_redeemables_limit.remaining_after(self.exclusive)
    }

    /// Returns the rules of a class, with the number of its redeemables so far.
    pub fn class(&self, class: Option<usize>) -> &CategoryRules {
        class.and_then(|class| self.classes.1.get(class)).unwrap_or(&self.classes.0)
    }
}

impl Walk {
    /// Returns the units that were in the order and that redeemables made free.
    pub fn claims(&self) -> Claims {
        Claims::of(self.steps.iter().filter_map(|step| match &step.outcome {
            ApplyOutcome::Applied(gain) => Some((step.position, &**gain)),
            ApplyOutcome::Skipped(_) | ApplyOutcome::Refused(_) => None,
        }))
    }

    /// Returns whether a redeemable was refused.
    pub fn has_refusal(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.outcome, ApplyOutcome::Refused(_)))
    }
}

struct WalkState<'a> {
    rules: &'a StackingRules,
    initial: &'a Cart,
    trial: &'a ClaimTrial,
    cart: &'a mut Cart,
    total: u64,
    exclusive: u64,
    failed: bool,
}

/// The current redeemable and the steps before it.
struct WalkTurn<'a> {
    position: usize,
    steps: &'a [WalkStep],
}

impl WalkState<'_> {
    fn step(&mut self, turn: WalkTurn<'_>, class: &mut CategoryRules, judge: &mut dyn Judge) -> ApplyOutcome {
        let position = turn.position;
        if self.failed && self.trial.ends_with_refusal(self.rules.redeemables_application_mode) {
            return ApplyOutcome::Skipped(SkipReason::PrecedingFailure);
        }
        if judge.is_undecided(position) {
            return ApplyOutcome::Skipped(SkipReason::Undecided);
        }
        if let Some(skip) = self.limit(class) {
            return ApplyOutcome::Skipped(skip);
        }
        match self.attempt(turn, class, judge) {
            Err(refusal) => {
                self.failed = true;
                ApplyOutcome::Refused(refusal)
            }
            Ok(None) => ApplyOutcome::Skipped(SkipReason::NoEffect),
            Ok(Some(gain)) => {
                self.total = self.total.plus_one();
                if class.exclusive {
                    self.exclusive = self.exclusive.plus_one();
                }
                class.applied = class.applied.plus_one();
                ApplyOutcome::Applied(gain)
            }
        }
    }

    /// Returns the first limit that one more would exceed. Only applied redeemables count.
    fn limit(&self, class: &CategoryRules) -> Option<SkipReason> {
        let same = class.applied;
        if self.total >= self.rules.applicable_redeemables_limit {
            return Some(SkipReason::Limit);
        }
        if class.limit.is_some_and(|limit| same >= limit) {
            return Some(SkipReason::CategoryLimit);
        }
        if !class.exclusive {
            return None;
        }
        if self.exclusive >= self.rules.applicable_exclusive_redeemables_limit {
            return Some(SkipReason::ExclusiveLimit);
        }
        // All redeemables of a class are exclusive if the class is.
        let limit = self.rules.applicable_exclusive_redeemables_per_category_limit;
        limit.is_some_and(|limit| same >= limit).then_some(SkipReason::ExclusiveCategoryLimit)
    }

    /// Validates the redeemable on the running order as it sees it, and applies its gain; `None` if it has no effect
    /// and is skipped.
    fn attempt(
        &mut self,
        turn: WalkTurn<'_>,
        class: &CategoryRules,
        judge: &mut dyn Judge,
    ) -> Result<Option<Box<Gain>>, Refusal> {
        let position = turn.position;
        let visible_cart = self.visible_cart(&turn, self.cart);
        if let Some(refusal) = refusal(self.trial, position, self.cart, visible_cart.as_ref(), judge) {
            return Err(refusal);
        }
        let base = match class.mode {
            CalculationMode::InitialAmount => DiscountBase::Initial(self.initial),
            CalculationMode::DiscountedAmount => DiscountBase::Discounted,
        };
        let once = self.rules.redeemables_products_application_mode == ProductsMode::Once;
        let gain = judge.gain(position, self.cart, visible_cart.as_ref(), base, once)?;
        if let Some(refusal) = self.refusal_after(&turn, visible_cart.as_ref(), &gain, judge) {
            return Err(refusal);
        }
        if class.skips_no_effect && gain.is_nothing() && !judge.gives_reward(position) {
            return Ok(None);
        }
        self.cart.add(&gain).ok_or_else(too_large)?;
        judge.record_applied(position, &gain);
        Ok(Some(gain))
    }

    /// Returns an order as the current redeemable sees it, if that differs. Unsettled claims stay hidden until they are
    /// made.
    fn visible_cart(&self, turn: &WalkTurn<'_>, cart: &Cart) -> Option<Cart> {
        self.trial.visible_cart(turn.position, cart, &|claimer| {
            let is_earlier =
                |step: &WalkStep| matches!(step.outcome, ApplyOutcome::Applied(_)) || !self.trial.is_unsettled();
            turn.steps.iter().any(|step| step.position == claimer && is_earlier(step))
        })
    }

    /// Returns why a redeemable may not be used because of the resulting order, as it sees that.
    fn refusal_after(
        &self,
        turn: &WalkTurn<'_>,
        visible_cart: Option<&Cart>,
        gain: &Gain,
        judge: &mut dyn Judge,
    ) -> Option<Refusal> {
        let after = || self.cart.after(gain);
        let visible_after = || {
            let after = after()?;
            Some(self.visible_cart(turn, &after).unwrap_or(after))
        };
        let Some(visible_cart) = visible_cart else {
            return judge.refusal_after(turn.position, self.cart, gain, &after);
        };
        let full_refusal =
            if self.trial.is_unsettled() { judge.refusal_after(turn.position, self.cart, gain, &after) } else { None };
        full_refusal.or_else(|| judge.refusal_after(turn.position, visible_cart, gain, &visible_after))
    }
}

/// Returns why a redeemable may not be used on the order that it sees or, if claims do not settle, on the whole order.
fn refusal(
    trial: &ClaimTrial,
    position: usize,
    full_cart: &Cart,
    visible_cart: Option<&Cart>,
    judge: &mut dyn Judge,
) -> Option<Refusal> {
    match visible_cart {
        Some(visible_cart) if trial.is_unsettled() => judge.refusal_of_either(position, full_cart, visible_cart),
        visible_cart => judge.refusal(position, visible_cart.unwrap_or(full_cart)),
    }
}

/// Returns why a redeemable may not be used on the initial order, without the units that others make free.
pub fn first_refusal(trial: &ClaimTrial, position: usize, initial: &Cart, judge: &mut dyn Judge) -> Option<Refusal> {
    refusal(trial, position, initial, trial.visible_cart(position, initial, &|_| false).as_ref(), judge)
}

fn too_large() -> Refusal {
    let bound = crate::money::LARGEST;
    let details = format!("All discounts together amount to more than {bound}");
    Refusal::new(crate::refusal::Reason::InvalidAmount, details)
}
