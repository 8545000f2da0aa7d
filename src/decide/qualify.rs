//! Decides which redeemables of a project apply to a customer and an order. Each is validated separately, without the
//! tests that qualification leaves out.
//!
//! docs/spec/calculation.md#13. Only results that are returned or sorted are priced.

mod offers;
mod page;
pub mod prices;
mod scenario;
mod single;
mod stack;

use crate::budget::StepCost;
use crate::count::Countable;
use crate::decide::Decision;
use crate::decide::best::{BEST_STEPS_MAX, BestStack};
use crate::decide::case::{CANDIDATES, CHANNEL, Case, ResolvedName};
use crate::decide::finding::Findings;
use crate::decide::order_return::changed_order::{DecideChange, change_order};
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{Items, OfferFacts, RunningOrder, request_facts};
use crate::decide::validate::Evaluation;
use crate::facts::{Assignment, CandidateFilter, Candidates, Fact, Facts, Known, credits_account};
use crate::id::Context;
use crate::model::qualification::{
    Candidate, CandidateObject, PageEnd, QualificationRequest, QualificationSort, Scenario,
};
use crate::model::redeemable::Grant;
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::Refusal;
use crate::rules::{RequiredFacts, subject};
use crate::stacking::{ApplyOutcome, Walk, WalkStep};
use crate::text::Text;
use crate::time::Instant;
use offers::{find_best, resolve};
use page::Match;
pub use scenario::Products;

/// The result of a qualification.
#[derive(Clone)]
pub struct QualificationAnswer<'a> {
    /// The request.
    pub query: &'a QualificationRequest,
    /// The results of this page, in order: one step each, separately on the order.
    pub evaluated: Box<Evaluation<'a>>,
    /// The candidate of each step.
    pub items: Vec<QualifiedItem<'a>>,
    /// The number of results on all pages. Candidates that were not evaluated count as applicable.
    pub total: usize,
    /// The cursor of the next page, when there is one.
    pub more_starting_after: Option<PageEnd>,
    /// The rule assignments of the returned results, if the request expands them.
    pub assignments: Vec<Assignment>,
    /// The stack of all results that saves most, if the request optimises.
    pub best: Option<BestStack<'a>>,
}

/// One result.
#[derive(Clone)]
pub struct QualifiedItem<'a> {
    /// The candidate.
    pub candidate: Candidate,
    /// The cursor of a page that ends with this result.
    pub end: PageEnd,
    /// Credits of a gift card that sessions hold in minor units, if the request has a session.
    pub locked_credits: Option<u64>,
    /// The outcome of the tiers of a stack.
    pub stack: Option<Box<Evaluation<'a>>>,
}

/// Candidates that qualify by rules and validity, before anything is priced.
pub struct CandidateQuery<'a> {
    evaluated: Box<Evaluation<'a>>,
    candidates: Fact<'a, Candidates>,
    matches: Vec<Match<'a>>,
}

impl CandidateQuery<'_> {
    /// Returns their ids, newest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.matches
            .iter()
            .filter_map(|matched| self.candidates.list.get(matched.position))
            .map(|candidate| candidate.id.as_str())
    }
}

/// Finds the redeemables that apply to a customer and an order. A refusal concerns the whole request.
pub fn qualify<'a>(
    facts: &'a dyn Facts,
    query: &'a QualificationRequest,
    context: &'a Context,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    qualify_with(facts, query, context, Some(change_order))
}

/// Qualifies without the redemptions of stored orders: only the server can decide how the request changes a stored
/// order.
pub fn qualify_offline<'a>(
    facts: &'a dyn Facts,
    query: &'a QualificationRequest,
    context: &'a Context,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    qualify_with(facts, query, context, None)
}

fn qualify_with<'a>(
    facts: &'a dyn Facts,
    query: &'a QualificationRequest,
    context: &'a Context,
    decide_change: Option<DecideChange>,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    // A candidate that can only apply is not evaluated before it is returned. If it is refused then, because a part of it
    // cannot be read, all are evaluated before counting.
    let mut thorough = false;
    loop {
        let (answer, is_total_exact) = try_all(search(facts, query, context, decide_change)?, query, thorough)?;
        if is_total_exact || thorough {
            return Ok(answer);
        }
        thorough = true;
    }
}

/// Returns the results, and whether every counted one was found applicable when evaluated.
fn try_all<'a>(
    search: CandidateQuery<'a>,
    query: &'a QualificationRequest,
    thorough: bool,
) -> Result<(Decision<QualificationAnswer<'a>>, bool), Refusal> {
    let CandidateQuery { mut evaluated, candidates, mut matches } = search;
    let case = &mut evaluated.case;
    let most = most_candidates(case, 1);
    let best = query.optimise.then(|| find_best(case, &candidates, &matches, most, BEST_STEPS_MAX));
    let mut found = Findings::default();
    let all = query.sorting != QualificationSort::Default || query.scenario.products() != Products::Any;
    let plain = |matched: &Match<'_>| candidates.terms.get(matched.position).is_some_and(|terms| terms.plain);
    let skips = case.stacking.skips_no_effect();
    let mut total = matches.len();
    let size = part_size(case, query.scenario);
    let from = page::part(query, &matches, size);
    let mut after = query.starting_after;
    let page = loop {
        // A part ends with the list.
        let until = from.saturating_add(size).min(matches.len());
        let next = matches.get(until).map(|matched| matched.end);
        let mut part: Vec<Match<'a>> = matches.drain(from..until).collect();
        total = total.remaining_after(part.len());
        let last = part.last().map(|matched| matched.end);
        try_matches(
            case,
            query,
            &candidates,
            &mut part,
            &|matched| thorough || all || skips || !plain(matched),
            &mut found,
        );
        part.retain(|matched| matched.trial.as_ref().is_none_or(|trial| matches!(trial.1, ApplyOutcome::Applied(_))));
        // Memory bounds lengths of lists.
        total = total.saturating_add(part.len());
        let mut page = page::take_page(query, part, after, next);
        if !page.matches.is_empty() || next.is_none() {
            break page;
        }
        // All matches of a part may be on earlier pages, and then the next part has the page. At most two parts are
        // evaluated.
        if after.take().is_none() {
            page.more_starting_after = last;
            break page;
        }
    };
    let mut matches = page.matches;
    try_matches(case, query, &candidates, &mut matches, &|matched| matched.trial.is_none(), &mut found);
    let is_total_exact = !matches.iter().any(Match::is_unreadable);
    let mut steps = Vec::with_capacity(matches.len());
    let mut items = Vec::with_capacity(matches.len());
    for matched in matches {
        let (Some(trial), Some(candidate)) = (matched.trial, candidates.list.get(matched.position)) else { continue };
        let (at, outcome) = *trial;
        let locked_credits = locked_credits(case, at);
        items.push(QualifiedItem {
            candidate: candidate.clone(),
            end: matched.end,
            locked_credits,
            stack: matched.stack,
        });
        steps.push(WalkStep { position: at, outcome });
    }
    case.count_answers(steps.iter().map(|step| step.position));
    case.within_bounds()?;
    let assignments = if query.expand_rules { assignments(case, &items) } else { Vec::new() };
    let walk = Walk { steps, cart: case.priced.cart.clone() };
    (evaluated.walk, evaluated.found, evaluated.valid) = (walk, found, true);
    evaluated.track();
    let answer = QualificationAnswer {
        query,
        evaluated,
        items,
        total,
        more_starting_after: page.more_starting_after,
        assignments,
        best,
    };
    Ok((Decision { answer, changes: None }, is_total_exact))
}

/// Finds the candidates whose rules and validity are met, newest first.
pub fn search<'a>(
    facts: &'a dyn Facts,
    query: &'a QualificationRequest,
    context: &'a Context,
    decide_change: Option<DecideChange>,
) -> Result<CandidateQuery<'a>, Refusal> {
    let mut evaluated = Evaluation::open(facts, &query.request, context, decide_change)?;
    let case = &mut evaluated.case;
    let sought = SoughtCandidates::new(case, query);
    // The other scenarios consider nearly all candidates: they are examined one by one, after their rules.
    let is_selective = matches!(query.scenario, Scenario::CustomerWallet | Scenario::PromotionStacks);
    let considered = is_selective.then(|| sought.considered(case.in_force_at()));
    let matches = sought.find_matches(case, considered.as_deref());
    evaluated.case.within_bounds()?;
    Ok(CandidateQuery { evaluated, candidates: sought.candidates, matches })
}

/// The candidates that a qualification examines for a customer.
struct SoughtCandidates<'a> {
    query: &'a QualificationRequest,
    candidates: Fact<'a, Candidates>,
    customer: Option<Text>,
    /// `true` for only the promotions that every client may see, and the customer's vouchers.
    client: bool,
}

impl<'a> SoughtCandidates<'a> {
    /// Returns the candidates of a case with its customer. Facts that only the server has are added to it.
    fn new(case: &mut Case<'a>, query: &'a QualificationRequest) -> SoughtCandidates<'a> {
        if let Some(unknown) = case.request_customer.unknown.clone().or_else(|| case.missing_claimed_customer()) {
            case.missing.add(unknown);
        }
        let customer = case.request_customer.customer.as_ref().and_then(|customer| customer.id.clone());
        let client = query.request.channel.client.as_ref().is_some_and(|client| !client.is_open());
        let filter = CandidateFilter {
            customer: customer.as_deref(),
            only_own: query.scenario == Scenario::CustomerWallet,
            stacks: query.scenario == Scenario::PromotionStacks,
            client,
        };
        let candidates = match case.facts.candidates(&filter) {
            Known::Is(candidates) => candidates,
            Known::Absent | Known::Unknown | Known::Unreadable => Fact::own(Candidates::default()),
        };
        if !candidates.has_all(&filter) {
            case.missing.add(CANDIDATES.into());
        }
        if candidates.index.channel && !case.facts.knows_channel() {
            case.missing.add(CHANNEL.into());
        }
        case.passes = query.scenario.passes();
        case.budget.spend(candidates.list.len());
        SoughtCandidates { query, candidates, customer, client }
    }

    /// Returns for each candidate whether the scenario considers it.
    fn considered(&self, in_force_at: Instant) -> Vec<bool> {
        (0..self.candidates.list.len()).map(|position| self.is_considered(position, in_force_at)).collect()
    }

    /// Returns whether the scenario considers the candidate at a position for this caller and customer.
    fn is_considered(&self, position: usize, in_force_at: Instant) -> bool {
        let Some(candidate) = self.candidates.list.get(position) else { return false };
        let public = match self.client {
            true => self.candidates.is_listed(position, in_force_at),
            false => is_public(candidate, self.query),
        };
        self.query.scenario.considers(candidate, self.customer.as_deref(), public)
    }

    /// Returns the candidates whose rules and validity the order of a case meets, newest first. `considered` are those that the scenario
    /// considers, if the caller has examined all.
    fn find_matches(&self, case: &mut Case<'a>, considered: Option<&[bool]>) -> Vec<Match<'a>> {
        let SoughtCandidates { query, candidates, .. } = self;
        let (facts, in_force_at) = (query.scenario.facts(), case.in_force_at());
        let considers = |position| match considered {
            Some(considered) => considered.get(position).is_some_and(|is_considered| *is_considered),
            None => self.is_considered(position, in_force_at),
        };
        let (holding, if_new) = check_rules(case, candidates, facts, considered);
        case.add_missing_time_zone();
        // If the request itself cannot be read, nothing applies.
        let holding = if case.unreadable.is_some() { Vec::new() } else { holding };
        // Without a customer, every candidate with a test of the customer is out, even if the test would pass.
        let is_anonymous = case.request_customer.customer.is_none();
        let mut matches = Vec::with_capacity(holding.len());
        for position in holding {
            let (Some(candidate), Some(terms)) = (candidates.list.get(position), candidates.terms.get(position)) else {
                continue;
            };
            let out = is_anonymous && candidates.index.subjects_of(position) & facts & subject::CUSTOMER != 0;
            let in_time = !terms.plain || terms.cover(in_force_at);
            if !out && in_time && considers(position) && query.matches(candidate, self.customer.as_deref()) {
                let end = PageEnd { created_at: candidate.created_at, ordinal: 0 };
                matches.push(Match { position, end, trial: None, stack: None });
            }
        }
        if_new
            .filter(|_| has_tested_customer(candidates, &matches, facts))
            .into_iter()
            .for_each(|fact| case.missing.add(fact));
        page::number(&mut matches);
        matches
    }
}

/// Returns the positions of the candidates whose rules pass, and the customer who may be new if a result depends on that. `considered` are
/// the candidates that matter, all if absent.
fn check_rules(
    case: &mut Case<'_>,
    candidates: &Candidates,
    subjects: u8,
    considered: Option<&[bool]>,
) -> (Vec<usize>, Option<Text>) {
    let (holding, missing, if_new) = {
        let items = Items::for_index(case, &candidates.index);
        let request_facts = request_facts(case);
        let usage = RequestUsage::default();
        let full_cart = &case.priced.cart;
        let paid = full_cart.has_free_units().then(|| full_cart.without_free_units());
        let cart = paid.as_ref().unwrap_or(full_cart);
        let running_order =
            RunningOrder { cart, items: &items, request_facts: &request_facts, usage: &usage, paid: None };
        let view = OfferFacts::new(case, None, &running_order);
        let holding = candidates.index.find_passing(&view.input(RequiredFacts::default()), subjects, considered);
        let (mut missing, if_new) = (items.missing().to_vec(), view.missing_customer());
        missing.extend(view.into_missing());
        (holding, missing, if_new)
    };
    missing.into_iter().for_each(|fact| case.missing.add(fact));
    (holding, if_new)
}

/// Returns whether a test of the customer found any of the candidates: each counts, whether it is returned or not.
fn has_tested_customer(candidates: &Candidates, matches: &[Match<'_>], facts: u8) -> bool {
    matches.iter().any(|matched| candidates.index.subjects_of(matched.position) & facts & subject::CUSTOMER != 0)
}

/// Returns whether every caller gets a candidate. A client gets only the codes of its customer, because any visitor could list
/// the others (docs/spec/errors-and-auth.md, client-side keys are public).
fn is_public(candidate: &Candidate, query: &QualificationRequest) -> bool {
    candidate.public && !(query.request.channel.is_client() && candidate.object == CandidateObject::Voucher)
}

/// Steps to load the parts of one candidate.
const STEPS_PER_CANDIDATE: usize = 100;
/// Steps to evaluate the candidates of one page of a client: 200 for an order of 500 lines. A client's page costs no more
/// than some validations, however many vouchers a customer has.
const PART_STEPS_MAX: usize = 120_000;
/// Assumed number of tiers of a stack before it is loaded.
const TIERS_OF_STACK: usize = 30;

/// Returns the number of candidates to evaluate together.
fn part_size(case: &Case<'_>, scenario: Scenario) -> usize {
    if !case.request.channel.is_client() {
        return usize::MAX;
    }
    most_candidates(case, if scenario == Scenario::PromotionStacks { TIERS_OF_STACK } else { 1 })
}

/// Returns the number of candidates, each of this many tiers, that a part may evaluate.
fn most_candidates(case: &Case<'_>, tiers: usize) -> usize {
    let steps = case.priced.cart.lines.len().add_steps(STEPS_PER_CANDIDATE).times_steps(tiers);
    // A candidate takes at least one step.
    PART_STEPS_MAX.checked_div(steps).unwrap_or(0).max(1)
}

/// Evaluates the selected candidates in full, each separately on the order.
#[inline(never)]
fn try_matches<'a>(
    case: &mut Case<'a>,
    query: &QualificationRequest,
    candidates: &Candidates,
    matches: &mut [Match<'a>],
    which: &dyn Fn(&Match<'a>) -> bool,
    found: &mut Findings,
) {
    let from = case.resolved.len();
    let mut matches: Vec<&mut Match<'a>> = matches.iter_mut().filter(|matched| which(matched)).collect();
    for matched in &mut matches {
        let Some(candidate) = candidates.list.get(matched.position) else { continue };
        let resolved = match candidate.object {
            CandidateObject::PromotionStack => {
                matched.stack = stack::try_stack(case, &candidate.id);
                ResolvedName::Unknown
            }
            _ => resolve(case, candidate),
        };
        case.push_resolved(resolved);
        let lines = case.priced.cart.lines.len();
        if !case.budget.spend(lines.add_steps(STEPS_PER_CANDIDATE)) {
            break;
        }
    }
    let trials = single::try_each(case, query, from);
    for ((at, (outcome, mut one)), matched) in (from..).zip(trials).zip(matches.iter_mut()) {
        one.missing.iter().for_each(|fact| case.missing.add(fact.clone()));
        // The step of a stack has only the sum; the gains are reported tier by tier.
        let sum = matched.stack.as_ref().and_then(|stack| Money::sum(stack.applied().filter_map(WalkStep::total)));
        let outcome = sum.map_or(outcome, |sum| ApplyOutcome::Applied(Box::new(Gain::of_order(Some(sum)))));
        matched.trial = Some(Box::new((at, outcome)));
        found.insert(at, &mut one);
    }
    case.add_missing_time_zone();
}

/// Returns the credits of a gift card that sessions hold (docs/spec/calculation.md#12).
fn locked_credits(case: &mut Case<'_>, at: usize) -> Option<u64> {
    if !case.request.session.as_ref().is_some_and(|session| session.lock) {
        return None;
    }
    let voucher = &case.offer(at)?.incentive;
    let account = matches!(voucher.grant, Grant::Gift(_)).then(|| credits_account(&voucher.id))?;
    match case.facts.held(&account, case.context.now, None) {
        Known::Is(held) => Some(held),
        Known::Absent | Known::Unreadable => Some(0),
        Known::Unknown => {
            case.missing.add(Text::from(account.as_str()));
            None
        }
    }
}

fn assignments(case: &mut Case<'_>, items: &[QualifiedItem<'_>]) -> Vec<Assignment> {
    let mut names: Vec<&str> = Vec::new();
    for QualifiedItem { candidate, .. } in items {
        let own = [Some(&candidate.id), Some(&candidate.code), candidate.campaign_id.as_ref()];
        names.extend(own.into_iter().flatten().map(Text::as_str).filter(|name| !name.is_empty()));
    }
    match case.facts.assignments(&names) {
        Known::Is(assignments) => assignments,
        Known::Absent | Known::Unknown | Known::Unreadable => Vec::new(),
    }
}
