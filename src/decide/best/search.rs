//! Finds the best stack by branch and bound: depth first, from the candidate with the largest discount, without the
//! parts that cannot be better than the best stack so far.

use std::collections::BTreeSet;

use crate::budget::StepCost;
use crate::count::Countable;
use crate::decide::best::candidates::{GainBound, StackCandidate, StackCandidates, find_candidates};
use crate::decide::best::stack::{FoundStack, Incumbent, STEPS_PER_LINE, saved_between};
use crate::decide::case::{Case, MissingFacts};
use crate::decide::finding::Findings;
use crate::decide::items::Items;
use crate::decide::judge::{CaseJudge, JudgeRecord};
use crate::money::Money;
use crate::rules::RequiredFacts;
use crate::stacking::{ApplyOutcome, OpenWalk, StackingCandidate, TrialOrder, select};
use crate::text::sha256;

/// Finds the best stack of the offers of a trial in at most `most_steps`.
pub(super) fn find_stack(trial: &Case<'_>, most_steps: usize, missing: &mut MissingFacts) -> FoundStack {
    let (items, mut found) = (Items::new(trial), Findings::default());
    let mut judge = CaseJudge::new(trial, &items, &mut found);
    let StackCandidates { list: candidates, selection, is_complete } = find_candidates(trial, &mut judge, missing);
    let start = SearchNode {
        ranks: Vec::new(),
        walk: OpenWalk::new(&trial.priced.cart, &selection),
        record: judge.record(),
        saved: Money::ZERO,
    };
    let is_bounded = candidates.iter().all(|candidate| candidate.bound != GainBound::Unknown);
    // Counts of campaigns and units depend on what each offer gave, and not only on the order after them.
    let is_counted = trial.needs.0.meets(RequiredFacts::BUDGET)
        || candidates.iter().any(|candidate| trial.offer(candidate.position).is_some_and(|offer| offer.capped));
    let most_steps = if is_complete { most_steps.remaining_after(trial.resolved.len()) } else { 0 };
    let mut search = Search {
        trial,
        judge,
        selection,
        is_bounded,
        visited: (is_bounded && !is_counted).then(BTreeSet::new),
        // Not all offers are candidates, so nothing is known about the others.
        steps: most_steps,
        best: Incumbent::of_single(candidates.iter().map(|candidate| candidate.saved)),
        left_out: if is_complete { Money::ZERO } else { Money::MAX },
        candidates,
        missing,
    };
    let most: Vec<Money> = search.candidates.iter().map(StackCandidate::most).collect();
    search.descend_greedily(&start, &most);
    search.search(&start, &most);
    let Search { best, left_out, candidates, steps, .. } = search;
    let positions = best.ranks.iter().filter_map(|rank| candidates.get(*rank)).map(|one| one.position).collect();
    let is_known = left_out.is_zero() || is_bounded && is_complete && !trial.budget.has_overflow();
    let unproven = is_known.then(|| left_out.remaining_after(best.saved));
    let steps = trial.resolved.len().add_steps(most_steps.remaining_after(steps));
    FoundStack { positions, saved: best.saved, unproven, steps }
}

impl StackCandidate {
    /// Returns the most that it can give after others.
    fn most(&self) -> Money {
        match self.bound {
            GainBound::Steady => self.alone,
            GainBound::Varying | GainBound::Unknown => Money::MAX,
        }
    }
}

/// A stack that applies as a whole, and that others can follow.
#[derive(Clone)]
struct SearchNode {
    /// The ranks of its candidates, in order.
    ranks: Vec<usize>,
    walk: OpenWalk,
    record: JudgeRecord,
    saved: Money,
}

struct Search<'s, 'c> {
    trial: &'c Case<'c>,
    judge: CaseJudge<'c>,
    /// The rules of the categories.
    selection: TrialOrder,
    candidates: Vec<StackCandidate>,
    /// `true` if the gains of all candidates have known bounds.
    is_bounded: bool,
    /// Hashes of the visited stacks without their order, with the order's amounts after them: another order with the same amounts has the
    /// same continuations. `None` if more than the amounts matters.
    visited: Option<BTreeSet<[u8; 32]>>,
    /// The fold steps that are left.
    steps: usize,
    best: Incumbent,
    /// The most that a stack can save in the parts that were left out because the steps were over.
    left_out: Money,
    missing: &'s mut MissingFacts,
}

impl<'c> Search<'_, 'c> {
    /// Searches the stacks that begin with a node. `most` has the most that each candidate can give after it.
    fn search(&mut self, node: &SearchNode, most: &[Money]) {
        let followers = self.followers(node, most);
        let mut most_after = most.to_vec();
        let children = self.expand(node, &followers, &mut most_after);
        if node.walk.left(&self.trial.stacking) <= 1 {
            return;
        }
        let followers = self.sorted(followers, &most_after);
        for (rank, _) in children {
            let bound = self.bound(node, &followers, &most_after, Some(rank));
            if !self.can_win(bound, node.ranks.len().plus_one()) {
                continue;
            }
            let Some(child) = self.descend(node, rank) else {
                self.leave_out(bound);
                continue;
            };
            let bound = self.bound(&child, &followers, &most_after, None);
            if self.can_win(bound, child.ranks.len().plus_one()) && self.is_new(&child) {
                self.search(&child, &most_after);
            }
        }
    }

    /// Adds the candidate that saves most, until none saves more: a good stack to begin with.
    fn descend_greedily(&mut self, start: &SearchNode, most: &[Money]) {
        let mut node = start.clone();
        loop {
            let followers = self.followers(&node, most);
            let children = self.expand(&node, &followers, &mut most.to_vec());
            // The first of equal ones.
            let Some((rank, saved)) = children.into_iter().rev().max_by_key(|(_, saved)| *saved) else { return };
            if saved <= node.saved {
                return;
            }
            let Some(next) = self.descend(&node, rank) else { return };
            node = next;
        }
    }

    /// Tries each follower of a node that may lead to a better stack, and lowers what each can give later. Returns those that apply, with
    /// the amount that is saved then. Their orders are not kept: a large order with many offers would need too much memory.
    fn expand(&mut self, node: &SearchNode, followers: &[usize], most: &mut [Money]) -> Vec<(usize, Money)> {
        let mut children = Vec::new();
        let mut in_order = followers.to_vec();
        in_order.sort_unstable();
        let most_before = most.to_vec();
        for rank in in_order {
            let bound = self.bound(node, followers, &most_before, Some(rank));
            if !self.can_win(bound, node.ranks.len().plus_one()) {
                continue;
            }
            let Some(found) = self.try_after(node, rank) else {
                self.leave_out(bound);
                continue;
            };
            let Some((gives, saved)) = found else { continue };
            let is_steady = self.candidates.get(rank).is_some_and(|candidate| candidate.bound == GainBound::Steady);
            if let Some(most) = most.get_mut(rank).filter(|_| is_steady) {
                *most = gives.min(*most);
            }
            self.best.challenge(&[node.ranks.as_slice(), &[rank]].concat(), saved);
            children.push((rank, saved));
        }
        children
    }

    /// Returns the node after a candidate that applies; `None` if the steps are over. The comparison of all candidates with the categories
    /// takes steps too.
    fn descend(&mut self, node: &SearchNode, rank: usize) -> Option<SearchNode> {
        let compared = node.ranks.len().add_steps(self.selection.classes.len()).plus_one();
        if !self.trial.budget.spend(compared.times_steps(self.candidates.len())) {
            self.steps = 0;
            return None;
        }
        let (_, walk) = self.apply(node, rank)?;
        let saved = saved_between(&self.trial.priced.cart, &walk.cart);
        let ranks = [node.ranks.as_slice(), &[rank]].concat();
        Some(SearchNode { ranks, walk, record: self.judge.record(), saved })
    }

    /// Returns what a candidate gives after a node and what is saved then, if it applies; `None` if the steps are over. What each gives alone
    /// is known.
    fn try_after(&mut self, node: &SearchNode, rank: usize) -> Option<Option<(Money, Money)>> {
        if node.ranks.is_empty() {
            self.take_step(node)?;
            return self.candidates.get(rank).map(|candidate| Some((candidate.alone, candidate.saved)));
        }
        let (outcome, walk) = self.apply(node, rank)?;
        let ApplyOutcome::Applied(gain) = outcome else { return Some(None) };
        let saved = saved_between(&self.trial.priced.cart, &walk.cart);
        Some(Some((self.trial.budget.checked(gain.total()), saved)))
    }

    /// Takes the steps of one try after a node; `None` if they are over.
    fn take_step(&mut self, node: &SearchNode) -> Option<()> {
        let cost = node.walk.cart.lines.len().times_steps(STEPS_PER_LINE).plus_one();
        if self.steps == 0 || !self.trial.budget.spend(cost) {
            self.steps = 0;
            return None;
        }
        self.steps = self.steps.remaining_after(1);
        Some(())
    }

    /// Tries a candidate after a node; `None` if the steps are over.
    fn apply(&mut self, node: &SearchNode, rank: usize) -> Option<(ApplyOutcome, OpenWalk)> {
        self.take_step(node)?;
        let candidate = self.candidates.get(rank)?;
        let (position, class) = (candidate.position, candidate.class);
        let case = self.trial;
        self.judge.resume(&node.record);
        let mut walk = node.walk.clone();
        let outcome = walk.apply(position, class, &case.stacking, &case.priced.cart, &mut self.judge);
        for fact in self.judge.found.missing_of(std::iter::once(position)) {
            self.missing.add(fact);
        }
        if case.budget.is_over() {
            // What was computed without steps does not count.
            self.steps = 0;
            return None;
        }
        Some((outcome, walk))
    }

    /// Returns the candidates that can follow a node, those that can give most first.
    fn followers(&self, node: &SearchNode, most: &[Money]) -> Vec<usize> {
        match node.walk.left(&self.trial.stacking) {
            0 => Vec::new(),
            _ => self.sorted((0..self.candidates.len()).filter(|rank| self.can_follow(node, *rank)).collect(), most),
        }
    }

    /// Sorts candidates: those that can give most come first.
    fn sorted(&self, mut ranks: Vec<usize>, most: &[Money]) -> Vec<usize> {
        ranks.sort_by_key(|rank| std::cmp::Reverse(most.get(*rank).copied().unwrap_or_default()));
        ranks
    }

    /// Returns whether a request of a node's redeemables and a further one is tried in this order, without excluding
    /// any. If not, that is so after others, too.
    fn can_follow(&self, node: &SearchNode, rank: usize) -> bool {
        if node.ranks.contains(&rank) {
            return false;
        }
        if self.selection.classes.is_empty() {
            return true;
        }
        let listed = node.ranks.iter().chain(std::iter::once(&rank)).filter_map(|rank| self.candidates.get(*rank));
        let is_exclusive = |class| node.walk.class(class).exclusive;
        let stacked = |candidate: &StackCandidate| StackingCandidate {
            position: candidate.position,
            class: candidate.class,
            valid: is_exclusive(candidate.class),
            exists: true,
            excluded: false,
        };
        let candidates: Vec<StackingCandidate> = listed.map(stacked).collect();
        let requested: Vec<usize> = candidates.iter().map(|candidate| candidate.position).collect();
        let mut order = TrialOrder { candidates, ..self.selection.clone() };
        select(&mut order, &self.trial.stacking);
        let tried = order.candidates.iter();
        tried.clone().all(|candidate| !candidate.excluded)
            && tried.map(|candidate| candidate.position).eq(requested.iter().copied())
    }

    /// Returns the most that a stack can save that continues a node, with `next` if given: what the followers can give that the limits allow,
    /// but not more than what is still to pay.
    fn bound(&self, node: &SearchNode, followers: &[usize], most: &[Money], next: Option<usize>) -> Money {
        if !self.is_bounded {
            return Money::MAX;
        }
        let rules = &self.trial.stacking;
        let gives = |rank: usize| most.get(rank).copied().unwrap_or_default();
        let (mut left, mut exclusive_left) = (node.walk.left(rules), node.walk.exclusive_left(rules));
        let mut taken_of_class: Vec<(usize, u64)> = Vec::new();
        let mut sum = Money::ZERO;
        let others = followers.iter().copied().filter(|rank| Some(*rank) != next && !node.ranks.contains(rank));
        for rank in next.into_iter().chain(others) {
            if left == 0 {
                break;
            }
            let Some(candidate) = self.candidates.get(rank) else { continue };
            let rules_of_class = node.walk.class(candidate.class);
            if rules_of_class.exclusive && exclusive_left == 0 {
                continue;
            }
            if let Some((class, limit)) = candidate.class.zip(rules_of_class.limit) {
                let known = taken_of_class.iter_mut().find(|(known, _)| *known == class);
                let taken = known.as_ref().map_or(0, |(_, taken)| *taken);
                if limit.remaining_after(rules_of_class.applied) <= taken {
                    continue;
                }
                match known {
                    Some((_, taken)) => *taken = taken.plus_one(),
                    None => taken_of_class.push((class, 1)),
                }
            }
            left = left.remaining_after(1);
            exclusive_left = exclusive_left.remaining_after(u64::from(rules_of_class.exclusive));
            // A bound above every amount is as good as the largest.
            sum = Money::capped_sum([sum, gives(rank)]);
        }
        let open = node.walk.cart.total().unwrap_or_default();
        // Likewise.
        Money::capped_sum([node.saved, sum.min(open)])
    }

    /// Returns whether a stack of at least this many redeemables that saves at most `bound` can be better than the best.
    fn can_win(&self, bound: Money, fewest: usize) -> bool {
        bound > self.best.saved || bound == self.best.saved && fewest <= self.best.ranks.len()
    }

    /// Returns whether no stack of the same redeemables with the same amounts was visited. The first visited has the
    /// lowest ranks first.
    fn is_new(&mut self, node: &SearchNode) -> bool {
        let Some(visited) = &mut self.visited else { return true };
        let mut ranks = node.ranks.clone();
        ranks.sort_unstable();
        let cart = &node.walk.cart;
        let amount = |amount: Option<Money>| amount.unwrap_or_default().minor();
        let mut amounts = vec![amount(cart.discount)];
        amounts.extend(cart.lines.iter().flat_map(|line| [amount(line.discount), amount(line.applied), line.free]));
        let ranks: Vec<u8> = ranks.into_iter().flat_map(usize::to_be_bytes).collect();
        let amounts: Vec<u8> = amounts.into_iter().flat_map(u64::to_be_bytes).collect();
        visited.insert(sha256(&[&ranks, &amounts]))
    }

    /// Leaves out stacks that can save at most `bound`.
    fn leave_out(&mut self, bound: Money) {
        self.left_out = self.left_out.max(bound);
    }
}
