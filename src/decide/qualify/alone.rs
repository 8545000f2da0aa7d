//! Decides what one redeemable gives when nothing else is redeemed with it. It must not know what else there is.
//!
//! The walk of a validation is taken with one redeemable, so that what qualifies is what a validation would apply; only
//! its rules are not asked again, because they have been, as far as the scenario wants.

use super::scenario::concerns;
use crate::decide::case::Case;
use crate::decide::check::{Finding, Findings, check_bundles, check_readable, check_terms};
use crate::decide::judge::CaseJudge;
use crate::decide::loyalty::points_left;

use crate::decide::rule_input::{Items, RunningOrder, check_rules, request_facts};
use crate::decide::running::Running;
use crate::model::incentive::Grant;
use crate::model::qualification::Qualify;
use crate::model::request::Redeemable;
use crate::pricing::{Base, Cart, Gain};
use crate::refusal::{Reason, Refusal, Skip};
use crate::rules::{RequestFacts, Rule, about};
use crate::stacking::{Candidate, Class, Judge, Outcome, Selection, Walk};
use crate::text::Text;

/// Hears everything that was resolved from this place on: what became of it, and what its checks found.
pub(super) fn hear(case: &Case<'_>, asked: &Qualify, from: usize) -> Vec<(Outcome, Finding)> {
    if from == case.resolved.len() {
        return Vec::new();
    }
    let items = Items::new(case);
    let redeemable = Redeemable::named(Text::default());
    let mut found = Findings::default();
    let (judge, request_facts) = (CaseJudge::new(case, &items, &mut found), request_facts(case));
    let mut alone = Alone { case, asked, items: &items, request_facts, judge, redeemable, running: Running::default() };
    let mut heard = Vec::new();
    for at in from..case.resolved.len() {
        let concerned = case.offer(at).is_none_or(|offer| concerns(asked.scenario.products(), offer, items.basket()));
        let outcome = if concerned { alone.outcome(at) } else { Outcome::Skipped(Skip::NoEffect) };
        heard.push((outcome, alone.judge.found.get(at).cloned().unwrap_or_default()));
    }
    heard
}

struct Alone<'c> {
    case: &'c Case<'c>,
    asked: &'c Qualify,
    items: &'c Items<'c>,
    request_facts: RequestFacts<'c>,
    judge: CaseJudge<'c>,
    redeemable: Redeemable,
    /// Nothing, as each is alone.
    running: Running,
}

impl Alone<'_> {
    fn outcome(&mut self, at: usize) -> Outcome {
        let case = self.case;
        let category = case.offer(at).and_then(|offer| offer.category.as_deref());
        let plain = Class::of(category, &case.stacking);
        let candidates = vec![Candidate { place: at, class: None, valid: true, exists: true, excluded: false }];
        let mut selection = Selection { count: 1, plain, classes: Vec::new(), candidates };
        let mut walk = Walk::default();
        walk.run(&mut selection, &case.stacking, &case.priced.cart, self);
        match walk.steps.into_iter().next().map(|step| step.outcome) {
            // Where the order as a whole does not matter, what it has not is no reason.
            Some(Outcome::Refused(refusal)) if !self.asked.scenario.asks_order() && lacks_order(&refusal) => {
                Outcome::Applied(Box::default())
            }
            Some(outcome) => outcome,
            None => Outcome::Skipped(Skip::Undecided),
        }
    }
}

fn lacks_order(refusal: &Refusal) -> bool {
    matches!(
        refusal.reason,
        Reason::MissingOrder | Reason::MissingAmount | Reason::MissingOrderItems | Reason::MissingOrderItemsAmount
    )
}

impl Judge for Alone<'_> {
    fn undecided(&self, place: usize) -> bool {
        self.judge.undecided(place)
    }

    fn refusal(&mut self, place: usize, cart: &Cart) -> Option<Refusal> {
        let Some(offer) = self.case.offer(place) else { return self.judge.refusal(place, cart) };
        let mut found = Finding::default();
        let running_order =
            RunningOrder { cart, items: self.items, request_facts: &self.request_facts, running: &self.running };
        let mut verdict = check_readable(offer, self.items)
            .and_then(|()| check_terms(self.case, &self.redeemable, offer, &running_order, &mut found));
        // Tests of the incentive itself could not be asked for all together.
        let own = |rule: &Rule| rule.tests.leaves.iter().any(|leaf| leaf.test.about() == about::OWN);
        if verdict.is_ok() && self.asked.scenario.asks_order() && offer.rules.iter().any(|rule| own(rule)) {
            verdict = check_rules(self.case, offer, &running_order, &mut found);
        }
        if verdict.is_ok() {
            // Where the order as a whole does not matter, a bundle that is not there is told and no reason.
            verdict = check_bundles(self.case, offer, (cart, self.items), &mut found);
            verdict = if self.asked.scenario.asks_order() { verdict } else { Ok(()) };
        }
        if let (Some(Reason::MissingReward), Grant::Loyalty(card)) =
            (verdict.as_ref().err().map(|refusal| refusal.reason), &offer.incentive.grant)
        {
            found.points = Some(points_left(self.case, &offer.incentive, card, &running_order, &mut found));
        }
        self.judge.found.put(place, &mut found);
        // A card is shown with what is on it; what it is exchanged for is said when it is redeemed.
        verdict.err().filter(|refusal| refusal.reason != Reason::MissingReward)
    }

    fn objection(&mut self, place: usize, before: &Cart, gain: &Gain) -> Option<Refusal> {
        self.judge.objection(place, before, gain)
    }

    fn rewards(&self, place: usize) -> bool {
        self.judge.rewards(place)
    }

    fn gain(&mut self, place: usize, cart: &Cart, base: Base<'_>, once: bool) -> Result<Box<Gain>, Refusal> {
        self.judge.gain(place, cart, base, once)
    }
}
