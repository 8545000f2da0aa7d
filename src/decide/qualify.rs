//! Decides which redeemables of a project apply to a customer and an order. Each is validated separately, without the
//! tests that qualification leaves out.
//!
//! docs/spec/calculation.md#13. Only results that are shown or sorted are priced.

mod page;
mod scenario;
mod single;
mod stack;

use crate::count::Countable;
use crate::decide::Decision;
use crate::decide::case::{Case, ResolvedName};
use crate::decide::finding::Findings;
use crate::decide::order_return::changed_order::{DecideChange, change_order};
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{CHANNEL, Items, OfferFacts, RunningOrder, request_facts};
use crate::decide::validate::Evaluation;
use crate::facts::{Assignment, CandidateFilter, Candidates, Fact, Facts, Known, credits_account};
use crate::id::Context;
use crate::model::qualification::{Candidate, CandidateObject, PageEnd, QualificationSort, Qualify, Scenario};
use crate::model::redeemable::Grant;
use crate::model::request::{RedeemableObject, RequestedRedeemable};
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::{Reason, Refusal};
use crate::rules::{RequiredFacts, subject};
use crate::stacking::{ApplyOutcome, Walk, WalkStep};
use crate::text::Text;
use page::Match;
pub use scenario::Products;

/// The result of a qualification.
#[derive(Clone)]
pub struct QualificationAnswer<'a> {
    /// The request.
    pub asked: &'a Qualify,
    /// The results of this page, in order: one step each, separately on the order.
    pub evaluated: Box<Evaluation<'a>>,
    /// The candidate of each step.
    pub shown: Vec<QualifiedItem<'a>>,
    /// The number of results on all pages. Candidates that were not evaluated count as applicable.
    pub total: usize,
    /// The cursor of the next page, when there is one.
    pub more_starting_after: Option<PageEnd>,
    /// The rule assignments of the shown results, if the request asked for them.
    pub assignments: Vec<Assignment>,
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
    set: Fact<'a, Candidates>,
    hits: Vec<Match<'a>>,
}

impl CandidateQuery<'_> {
    /// Returns their ids, newest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.hits.iter().filter_map(|hit| self.set.list.get(hit.place)).map(|candidate| candidate.id.as_str())
    }
}

/// Finds the redeemables that apply to a customer and an order. A refusal concerns the whole request.
pub fn qualify<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    qualify_with(facts, asked, context, Some(change_order))
}

/// Qualifies without the redemptions of stored orders: only the server can decide how the request changes a stored
/// order.
pub fn qualify_offline<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    qualify_with(facts, asked, context, None)
}

fn qualify_with<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
    decide_change: Option<DecideChange>,
) -> Result<Decision<QualificationAnswer<'a>>, Refusal> {
    // A candidate that can only apply is not evaluated before it is shown. If it is refused then, because a part of it
    // cannot be read, all are evaluated before counting.
    let mut thorough = false;
    loop {
        let (answer, counted_rightly) = try_all(search(facts, asked, context, decide_change)?, asked, thorough)?;
        if counted_rightly || thorough {
            return Ok(answer);
        }
        thorough = true;
    }
}

/// Returns the results, and whether every counted one was found applicable when evaluated.
fn try_all<'a>(
    search: CandidateQuery<'a>,
    asked: &'a Qualify,
    thorough: bool,
) -> Result<(Decision<QualificationAnswer<'a>>, bool), Refusal> {
    let CandidateQuery { mut evaluated, set, mut hits } = search;
    let case = &mut evaluated.case;
    let mut found = Findings::default();
    let all = asked.sorting != QualificationSort::Default || asked.scenario.products() != Products::Any;
    let plain = |hit: &Match<'_>| set.terms.get(hit.place).is_some_and(|terms| terms.plain);
    let skips = case.stacking.skips_no_effect();
    let mut total = hits.len();
    let size = part_size(case, asked.scenario);
    let from = page::part(asked, &hits, size);
    let mut after = asked.starting_after;
    let page = loop {
        let until = from.saturating_add(size).min(hits.len());
        let next = hits.get(until).map(|hit| hit.end);
        let mut part: Vec<Match<'a>> = hits.drain(from..until).collect();
        total = total.remaining_after(part.len());
        let last = part.last().map(|hit| hit.end);
        look(case, asked, &set, &mut part, &|hit| thorough || all || skips || !plain(hit), &mut found);
        part.retain(|hit| hit.looked.as_ref().is_none_or(|looked| matches!(looked.1, ApplyOutcome::Applied(_))));
        total = total.saturating_add(part.len());
        let mut page = page::cut(asked, part, after, next);
        if !page.hits.is_empty() || next.is_none() {
            break page;
        }
        // All matches of a part may be on earlier pages, and then the next part has the page. At most two parts are
        // evaluated.
        if after.take().is_none() {
            page.more_starting_after = last;
            break page;
        }
    };
    let mut hits = page.hits;
    look(case, asked, &set, &mut hits, &|hit| hit.looked.is_none(), &mut found);
    let illegible = |outcome: &ApplyOutcome| matches!(outcome, ApplyOutcome::Refused(refusal) if refusal.reason == Reason::Unreadable);
    let works = |hit: &Match<'_>| hit.looked.as_ref().is_none_or(|looked| !illegible(&looked.1));
    let counted_rightly = hits.iter().all(works);
    let mut steps = Vec::with_capacity(hits.len());
    let mut shown = Vec::with_capacity(hits.len());
    for hit in hits {
        let (Some(looked), Some(candidate)) = (hit.looked, set.list.get(hit.place)) else { continue };
        let (at, outcome) = *looked;
        let locked_credits = locked_credits(case, at);
        shown.push(QualifiedItem { candidate: candidate.clone(), end: hit.end, locked_credits, stack: hit.stack });
        steps.push(WalkStep { place: at, outcome });
    }
    case.count_answers(steps.iter().map(|step| step.place));
    case.within_bounds()?;
    let assignments = if asked.expand_rules { assignments(case, &shown) } else { Vec::new() };
    let walk = Walk { steps, cart: case.priced.cart.clone() };
    (evaluated.walk, evaluated.found, evaluated.valid) = (walk, found, true);
    evaluated.track();
    let answer = QualificationAnswer {
        asked,
        evaluated,
        shown,
        total,
        more_starting_after: page.more_starting_after,
        assignments,
    };
    Ok((Decision { answer, changes: None }, counted_rightly))
}

/// Finds the candidates whose rules and validity are met, newest first.
pub fn search<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
    decide_change: Option<DecideChange>,
) -> Result<CandidateQuery<'a>, Refusal> {
    let mut evaluated = Evaluation::open(facts, &asked.request, context, decide_change)?;
    let case = &mut evaluated.case;
    if let Some(unknown) = case.buyer.unknown.clone().or_else(|| case.claimed()) {
        case.missing.add(unknown);
    }
    let customer = case.buyer.customer.as_ref().and_then(|customer| customer.id.clone());
    let seek = CandidateFilter {
        customer: customer.as_deref(),
        wallet: asked.scenario == Scenario::CustomerWallet,
        stacks: asked.scenario == Scenario::PromotionStacks,
        client: asked.request.channel.page.as_ref().is_some_and(|page| !page.is_open()),
    };
    let set = match facts.candidates(&seek) {
        Known::Is(set) => set,
        Known::Absent | Known::Unknown | Known::Unreadable => Fact::own(Candidates::default()),
    };
    if !set.has_all(&seek) {
        case.missing.add("candidates".into());
    }
    if set.index.channel && !case.facts.knows_channel() {
        case.missing.add(CHANNEL.into());
    }
    let facts = asked.scenario.facts();
    case.passes = asked.scenario.passes();
    case.work.takes(set.list.len());
    let is_public = |place: usize, candidate: &Candidate| match seek.client {
        true => set.is_listed(place, context.now),
        false => is_public(candidate, asked),
    };
    let is_considered = |(place, candidate): (usize, &Candidate)| {
        asked.scenario.looks_at(candidate, customer.as_deref(), is_public(place, candidate))
    };
    // The other scenarios consider nearly all candidates.
    let considered: Option<Vec<bool>> =
        (seek.wallet || seek.stacks).then(|| set.list.iter().enumerate().map(is_considered).collect());
    let (holding, missing, if_new) = {
        let items = Items::for_index(case, &set.index);
        let request_facts = request_facts(case);
        let running = RequestUsage::default();
        let whole = &case.priced.cart;
        let paid = whole.has_free_units().then(|| whole.without_free_units());
        let cart = paid.as_ref().unwrap_or(whole);
        let running_order =
            RunningOrder { cart, items: &items, request_facts: &request_facts, running: &running, paid: None };
        let view = OfferFacts::new(case, None, &running_order);
        let holding = set.index.holding(&view.input(RequiredFacts::default()), facts, considered.as_deref());
        let (mut missing, if_new) = (items.missing().to_vec(), view.missing_customer());
        missing.extend(view.into_missing());
        (holding, missing, if_new)
    };
    missing.into_iter().for_each(|fact| case.missing.add(fact));
    case.lack_time_zone();
    // If the request itself cannot be read, nothing applies.
    let holding = if case.unreadable.is_some() { Vec::new() } else { holding };
    // Without a customer, every candidate with a test of the customer is out, even if the test would pass.
    let is_anonymous = case.buyer.customer.is_none();
    let mut hits = Vec::with_capacity(holding.len());
    for place in holding {
        let (Some(candidate), Some(terms)) = (set.list.get(place), set.terms.get(place)) else { continue };
        let out = is_anonymous && set.index.about(place) & facts & subject::CUSTOMER != 0;
        let in_time = !terms.plain || terms.cover(context.now);
        if !out
            && in_time
            && is_considered((place, candidate))
            && asked.wants(candidate, customer.as_deref())
        {
            let end = PageEnd { created_at: candidate.created_at, of_moment: 0 };
            hits.push(Match { place, end, looked: None, stack: None });
        }
    }
    if_new.filter(|_| has_tested_customer(&set, &hits, facts)).into_iter().for_each(|fact| case.missing.add(fact));
    page::number(&mut hits);
    evaluated.case.within_bounds()?;
    Ok(CandidateQuery { evaluated, set, hits })
}

/// Returns whether a test of the customer found any of the candidates: each counts, whether it is shown or not.
fn has_tested_customer(set: &Candidates, hits: &[Match<'_>], facts: u8) -> bool {
    hits.iter().any(|hit| set.index.about(hit.place) & facts & subject::CUSTOMER != 0)
}

/// Returns whether every caller sees a candidate. A client sees only the codes of its customer, because any page visitor could list
/// the others (docs/spec/errors-and-auth.md, client-side keys are public).
fn is_public(candidate: &Candidate, asked: &Qualify) -> bool {
    candidate.public && !(asked.request.channel.is_page() && candidate.object == CandidateObject::Voucher)
}

/// Steps to load the parts of one candidate.
const LOOK: usize = 100;
/// Steps to evaluate the candidates of one client page: 200 for an order of 500 lines. A client's page costs no more
/// than some validations, however many vouchers a customer has.
const MOST_STEPS_OF_PART: usize = 120_000;
/// Assumed number of tiers of a stack before it is loaded.
const TIERS_OF_STACK: usize = 30;

/// Returns the number of candidates to evaluate together.
fn part_size(case: &Case<'_>, scenario: Scenario) -> usize {
    if !case.request.channel.is_page() {
        return usize::MAX;
    }
    let tiers = if scenario == Scenario::PromotionStacks { TIERS_OF_STACK } else { 1 };
    let steps = case.priced.cart.lines.len().saturating_add(LOOK).saturating_mul(tiers);
    MOST_STEPS_OF_PART.checked_div(steps).unwrap_or(0).max(1)
}

/// Evaluates the selected candidates in full, each separately on the order.
#[inline(never)]
fn look<'a>(
    case: &mut Case<'a>,
    asked: &Qualify,
    set: &Candidates,
    hits: &mut [Match<'a>],
    which: &dyn Fn(&Match<'a>) -> bool,
    found: &mut Findings,
) {
    let from = case.resolved.len();
    let mut hits: Vec<&mut Match<'a>> = hits.iter_mut().filter(|hit| which(hit)).collect();
    for hit in &mut hits {
        let Some(candidate) = set.list.get(hit.place) else { continue };
        let resolved = match candidate.object {
            CandidateObject::PromotionStack => {
                hit.stack = stack::try_stack(case, &candidate.id);
                ResolvedName::Unknown
            }
            _ => resolve(case, candidate),
        };
        case.put(resolved);
        let lines = case.priced.cart.lines.len();
        if !case.work.takes(lines.saturating_add(LOOK)) {
            break;
        }
    }
    let heard = single::try_each(case, asked, from);
    for ((at, (outcome, mut one)), hit) in (from..).zip(heard).zip(hits.iter_mut()) {
        one.missing.iter().for_each(|fact| case.missing.add(fact.clone()));
        // The step of a stack has only the sum; the gains are reported tier by tier.
        let sum = hit.stack.as_ref().and_then(|stack| Money::sum(stack.applied().filter_map(WalkStep::total)));
        let outcome = sum.map_or(outcome, |sum| ApplyOutcome::Applied(Box::new(Gain::of_order(Some(sum)))));
        hit.looked = Some(Box::new((at, outcome)));
        found.put(at, &mut one);
    }
    case.lack_time_zone();
}

fn resolve<'a>(case: &mut Case<'a>, candidate: &Candidate) -> ResolvedName<'a> {
    let object = match candidate.object {
        CandidateObject::Voucher => RedeemableObject::Voucher,
        CandidateObject::PromotionTier => RedeemableObject::PromotionTier,
        CandidateObject::PromotionStack => RedeemableObject::PromotionStack,
        CandidateObject::Campaign => {
            return match case.facts.campaign_voucher(&candidate.id) {
                Known::Is(voucher) => case.complete(voucher, None),
                Known::Absent => ResolvedName::Refused(Refusal::not_found("campaign", &candidate.id)),
                Known::Unknown => {
                    case.lack("campaign", &candidate.id);
                    ResolvedName::Unknown
                }
                Known::Unreadable => ResolvedName::Refused(Refusal::unreadable("campaign", &candidate.id)),
            };
        }
    };
    // A public code in a bundle is known only by its hash; its id finds it as well.
    let name = if candidate.code.is_empty() { &candidate.id } else { &candidate.code };
    case.resolve(&RequestedRedeemable { object, ..RequestedRedeemable::named(name.clone()) })
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

fn assignments(case: &mut Case<'_>, shown: &[QualifiedItem<'_>]) -> Vec<Assignment> {
    let mut names: Vec<&str> = Vec::new();
    for QualifiedItem { candidate, .. } in shown {
        let own = [Some(&candidate.id), Some(&candidate.code), candidate.campaign_id.as_ref()];
        names.extend(own.into_iter().flatten().map(Text::as_str).filter(|name| !name.is_empty()));
    }
    match case.facts.assignments(&names) {
        Known::Is(assignments) => assignments,
        Known::Absent | Known::Unknown | Known::Unreadable => Vec::new(),
    }
}
