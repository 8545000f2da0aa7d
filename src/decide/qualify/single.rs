//! Decides the gain of one redeemable when no other is redeemed with it.
//!
//! It runs the walk of a validation with one redeemable, so that a qualification agrees with a validation. Only its
//! rules are not checked again, because the scenario has checked them.

use super::scenario::is_related_to;
use crate::decide::case::Case;
use crate::decide::check::{check_bundles, check_free_goods, check_readable, check_terms};
use crate::decide::finding::{Finding, Findings};
use crate::decide::judge::CaseJudge;
use crate::decide::loyalty::find_available_points;

use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{Items, PaidOrder, RunningOrder, check_rules, request_facts};
use crate::model::qualification::QualificationRequest;
use crate::model::redeemable::Grant;
use crate::model::request::RequestedRedeemable;
use crate::pricing::{Cart, DiscountBase, Gain};
use crate::refusal::{Reason, Refusal, SkipReason};
use crate::rules::{RequestFacts, RequiredFacts, Rule, subject};
use crate::stacking::{ApplyOutcome, CategoryRules, ClaimTrial, Judge, StackingCandidate, TrialOrder, Walk};
use crate::text::Text;

/// Tries every redeemable resolved from position `from` on, and returns the outcome and the findings of each.
pub(super) fn try_each(case: &Case<'_>, query: &QualificationRequest, from: usize) -> Vec<(ApplyOutcome, Finding)> {
    if from == case.resolved.len() {
        return Vec::new();
    }
    let items = Items::new(case);
    let redeemable = RequestedRedeemable::named(Text::default());
    let mut found = Findings::default();
    let (judge, request_facts) = (CaseJudge::new(case, &items, &mut found), request_facts(case));
    let mut single =
        SingleTrial { case, query, items: &items, request_facts, judge, redeemable, usage: RequestUsage::default() };
    let mut trials = Vec::new();
    for at in from..case.resolved.len() {
        let is_related =
            case.offer(at).is_none_or(|offer| is_related_to(query.scenario.products(), offer, items.order_lines()));
        let outcome = if is_related { single.outcome(at) } else { ApplyOutcome::Skipped(SkipReason::NoEffect) };
        let mut one = single.judge.found.get(at).cloned().unwrap_or_default();
        // Its rules are not checked again, and its scope may depend on collections that only the server knows.
        if case.offer(at).is_some_and(|offer| offer.needs.meets(RequiredFacts::COLLECTIONS)) {
            one.missing.extend_from_slice(items.missing());
        }
        trials.push((outcome, one));
    }
    trials
}

struct SingleTrial<'c> {
    case: &'c Case<'c>,
    query: &'c QualificationRequest,
    items: &'c Items<'c>,
    request_facts: RequestFacts<'c>,
    judge: CaseJudge<'c>,
    redeemable: RequestedRedeemable,
    /// Usage of the request: none, because each is tried separately.
    usage: RequestUsage,
}

impl SingleTrial<'_> {
    fn outcome(&mut self, at: usize) -> ApplyOutcome {
        let case = self.case;
        let category = case.offer(at).and_then(|offer| offer.category.as_deref());
        let plain = CategoryRules::of(category, &case.stacking);
        let candidates =
            vec![StackingCandidate { position: at, class: None, valid: true, exists: true, excluded: false }];
        let mut selection = TrialOrder { count: 1, plain, classes: Vec::new(), candidates };
        let mut walk = Walk::default();
        walk.run(&mut selection, &case.stacking, &case.priced.cart, &ClaimTrial::default(), self);
        match walk.steps.into_iter().next().map(|step| step.outcome) {
            // If the whole order does not matter, missing data of the order is no reason.
            Some(ApplyOutcome::Refused(refusal)) if !self.query.scenario.uses_order() && is_missing_order(&refusal) => {
                ApplyOutcome::Applied(Box::default())
            }
            Some(outcome) => outcome,
            None => ApplyOutcome::Skipped(SkipReason::Undecided),
        }
    }
}

fn is_missing_order(refusal: &Refusal) -> bool {
    matches!(
        refusal.reason,
        Reason::MissingOrder | Reason::MissingAmount | Reason::MissingOrderItems | Reason::MissingOrderItemsAmount
    )
}

impl Judge for SingleTrial<'_> {
    fn is_undecided(&self, position: usize) -> bool {
        self.judge.is_undecided(position)
    }

    fn refusal(&mut self, position: usize, cart: &Cart) -> Option<Refusal> {
        let Some(offer) = self.case.offer(position) else { return self.judge.refusal(position, cart) };
        let mut found = Finding::default();
        let request_facts = &self.request_facts;
        let paid = PaidOrder::of(self.case, cart, request_facts);
        let running_order =
            RunningOrder { cart, items: self.items, request_facts, usage: &self.usage, paid: paid.as_ref() };
        let mut verdict = check_readable(offer, self.items)
            .and_then(|()| check_terms(self.case, &self.redeemable, offer, &running_order, &mut found));
        // Tests of the redeemable itself could not be evaluated for all candidates together.
        let own = |rule: &Rule| rule.tests.leaves.iter().any(|leaf| leaf.test.subject() == subject::OWN);
        if verdict.is_ok() && self.query.scenario.uses_order() && offer.rules.iter().any(|rule| own(rule)) {
            verdict = check_rules(self.case, offer, &running_order, &mut found);
        }
        if verdict.is_ok() {
            // If the whole order does not matter, a missing bundle is a finding and not a reason.
            verdict = check_bundles(self.case, offer, cart, self.items, &mut found);
            verdict = if self.query.scenario.uses_order() { verdict } else { Ok(()) };
        }
        verdict = verdict.and_then(|()| check_free_goods(self.case, offer, self.items, &mut found));
        if let (Some(Reason::MissingReward), Grant::Loyalty(card)) =
            (verdict.as_ref().err().map(|refusal| refusal.reason), &offer.incentive.grant)
        {
            found.points = Some(find_available_points(self.case, &offer.incentive, card, &running_order, &mut found));
        }
        self.judge.found.insert(position, &mut found);
        // A card is returned with its balance; its reward is chosen only when it is redeemed.
        verdict.err().filter(|refusal| refusal.reason != Reason::MissingReward)
    }

    fn refusal_after(
        &mut self,
        position: usize,
        before: &Cart,
        gain: &Gain,
        after: &dyn Fn() -> Option<Cart>,
    ) -> Option<Refusal> {
        self.judge.refusal_after(position, before, gain, after)
    }

    fn gives_reward(&self, position: usize) -> bool {
        self.judge.gives_reward(position)
    }

    fn gain(
        &mut self,
        position: usize,
        cart: &Cart,
        visible_cart: Option<&Cart>,
        base: DiscountBase<'_>,
        once: bool,
    ) -> Result<Box<Gain>, Refusal> {
        self.judge.gain(position, cart, visible_cart, base, once)
    }
}
