//! Decides what of a whole project would work for a customer and an order: each redeemable alone, as a validation of it
//! would find, apart from the tests that qualification leaves out. It must not know JSON or how candidates are stored.
//!
//! calculation.md section 13. Only what is shown, or what the sorting needs to know, is priced.

mod alone;
mod page;
mod scenario;
mod stack;

use crate::decide::Decision;
use crate::decide::case::{Case, Resolved};
use crate::decide::finding::Findings;
use crate::decide::rule_input::{Items, OfferFacts, RunningOrder, request_facts};
use crate::decide::running::Running;
use crate::decide::validate::Evaluated;
use crate::facts::{Assignment, Candidates, Fact, Facts, Known, Seek, credits_account};
use crate::id::Context;
use crate::model::incentive::Grant;
use crate::model::qualification::{Candidate, CandidateObject, PageEnd, Qualify, Scenario, SortingRule};
use crate::model::request::{Redeemable, RedeemableObject};
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::{Reason, Refusal};
use crate::rules::{Needs, about};
use crate::stacking::{Outcome, Step, Walk};
use crate::text::Text;
use page::Hit;
pub use scenario::Products;

/// What qualifies.
#[derive(Clone)]
pub struct Qualified<'a> {
    /// What was asked.
    pub asked: &'a Qualify,
    /// The results of this page, in order: a step each, alone on the order.
    pub evaluated: Box<Evaluated<'a>>,
    /// What each step is about.
    pub shown: Vec<Shown<'a>>,
    /// How many there are on all pages.
    pub total: usize,
    /// The cursor of the next page, when there is one.
    pub more_starting_after: Option<PageEnd>,
    /// Which rules were assigned to what is shown, when the request asked for them.
    pub assignments: Vec<Assignment>,
}

/// One result.
#[derive(Clone)]
pub struct Shown<'a> {
    /// What it is.
    pub candidate: Candidate,
    /// Credits of a gift card that sessions hold, when the request has a session.
    pub locked_credits: Option<u64>,
    /// What became of the tiers of a stack.
    pub stack: Option<Box<Evaluated<'a>>>,
}

/// What qualifies by rules and moments alone, before anything is priced.
pub struct Search<'a> {
    evaluated: Box<Evaluated<'a>>,
    set: Fact<'a, Candidates>,
    hits: Vec<Hit<'a>>,
}

impl Search<'_> {
    /// Their ids, newest first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.hits.iter().filter_map(|hit| self.set.list.get(hit.place)).map(|candidate| candidate.id.as_str())
    }
}

/// Finds what works for a customer and an order. A refusal is of the request as a whole.
pub fn qualify<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
) -> Result<Decision<Qualified<'a>>, Refusal> {
    // What looks as if it could only hold is not looked at before it is shown. Should it be refused then, because something
    // of it cannot be read, everything is looked at before it is counted.
    let (answer, counted_rightly) = try_all(facts, asked, context, false)?;
    if counted_rightly { Ok(answer) } else { Ok(try_all(facts, asked, context, true)?.0) }
}

/// What works, and whether everything that was counted works when it is looked at.
fn try_all<'a>(
    facts: &'a dyn Facts,
    asked: &'a Qualify,
    context: &'a Context,
    thorough: bool,
) -> Result<(Decision<Qualified<'a>>, bool), Refusal> {
    let Search { mut evaluated, set, mut hits } = search(facts, asked, context)?;
    let case = &mut evaluated.case;
    let mut found = Findings::default();
    let all = asked.sorting != SortingRule::Default || asked.scenario.products() != Products::Any;
    let plain = |hit: &Hit<'_>| set.terms.get(hit.place).is_some_and(|terms| terms.plain);
    let skips = case.stacking.skips_no_effect();
    look(case, asked, &set, &mut hits, &|hit| thorough || all || skips || !plain(hit), &mut found);
    hits.retain(|hit| hit.looked.as_ref().is_none_or(|looked| matches!(looked.1, Outcome::Applied(_))));
    let page = page::cut(asked, hits);
    let mut hits = page.hits;
    look(case, asked, &set, &mut hits, &|hit| hit.looked.is_none(), &mut found);
    let illegible =
        |outcome: &Outcome| matches!(outcome, Outcome::Refused(refusal) if refusal.reason == Reason::Unreadable);
    let works = |hit: &Hit<'_>| hit.looked.as_ref().is_none_or(|looked| !illegible(&looked.1));
    let counted_rightly = hits.iter().all(works);
    let mut steps = Vec::with_capacity(hits.len());
    let mut shown = Vec::with_capacity(hits.len());
    for hit in hits {
        let (Some(looked), Some(candidate)) = (hit.looked, set.list.get(hit.place)) else { continue };
        let (at, outcome) = *looked;
        let locked_credits = locked_credits(case, at);
        shown.push(Shown { candidate: candidate.clone(), locked_credits, stack: hit.stack });
        steps.push(Step { place: at, outcome });
    }
    case.count_answers(steps.iter().map(|step| step.place));
    case.within_bounds()?;
    let assignments = if asked.expand_rules { assignments(case, &shown) } else { Vec::new() };
    let walk = Walk { steps, cart: case.priced.cart.clone() };
    (evaluated.walk, evaluated.found, evaluated.valid) = (walk, found, true);
    evaluated.track();
    let answer = Qualified {
        asked,
        evaluated,
        shown,
        total: page.total,
        more_starting_after: page.more_starting_after,
        assignments,
    };
    Ok((Decision { answer, changes: None }, counted_rightly))
}

/// Finds the candidates whose rules and moments hold, newest first.
pub fn search<'a>(facts: &'a dyn Facts, asked: &'a Qualify, context: &'a Context) -> Result<Search<'a>, Refusal> {
    let mut evaluated = Evaluated::open(facts, &asked.request, context)?;
    let case = &mut evaluated.case;
    if let Some(unknown) = case.buyer.unknown.clone() {
        case.lacks.add(unknown);
    }
    let customer = case.buyer.customer.as_ref().and_then(|customer| customer.id.clone());
    let seek = Seek {
        customer: customer.as_deref(),
        wallet: asked.scenario == Scenario::CustomerWallet,
        stacks: asked.scenario == Scenario::PromotionStacks,
    };
    let set = match facts.candidates(&seek) {
        Known::Is(set) => set,
        Known::Absent | Known::Unknown | Known::Unreadable => Fact::own(Candidates::default()),
    };
    if !set.complete {
        case.lacks.add("candidates".into());
    }
    let facts = asked.scenario.facts();
    case.passes = asked.scenario.passes();
    case.work.takes(set.list.len());
    let (holding, lacks) = {
        let items = Items::for_index(case, &set.index);
        let request_facts = request_facts(case);
        let running = Running::default();
        let running_order =
            RunningOrder { cart: &case.priced.cart, items: &items, request_facts: &request_facts, running: &running };
        let view = OfferFacts::new(case, None, &running_order);
        let holding = set.index.holding(&view.input(Needs::default()), facts);
        (holding, [items.lacks().to_vec(), view.into_lacks()].concat())
    };
    lacks.into_iter().for_each(|lack| case.lacks.add(lack));
    // Where nobody can say what the request is about, nothing works.
    let holding = if case.unreadable.is_some() { Vec::new() } else { holding };
    // Without a customer, whatever looks at one is out, also what would hold for nobody in particular.
    let nobody = case.buyer.customer.is_none();
    let mut hits = Vec::with_capacity(holding.len());
    for place in holding {
        let (Some(candidate), Some(terms)) = (set.list.get(place), set.terms.get(place)) else { continue };
        let out = nobody && set.index.about(place) & facts & about::CUSTOMER != 0;
        let in_time = !terms.plain || terms.cover(context.now);
        if !out
            && in_time
            && asked.scenario.looks_at(candidate, customer.as_deref(), asked.request.channel.is_page())
            && asked.wants(candidate, customer.as_deref())
        {
            hits.push(Hit { place, created_at: candidate.created_at, looked: None, stack: None });
        }
    }
    evaluated.case.within_bounds()?;
    Ok(Search { evaluated, set, hits })
}

/// Steps to put together what belongs to a candidate.
const LOOK: usize = 100;

/// Looks at some of the candidates in full, each alone on the order.
#[inline(never)]
fn look<'a>(
    case: &mut Case<'a>,
    asked: &Qualify,
    set: &Candidates,
    hits: &mut [Hit<'a>],
    which: &dyn Fn(&Hit<'a>) -> bool,
    found: &mut Findings,
) {
    let from = case.resolved.len();
    let mut hits: Vec<&mut Hit<'a>> = hits.iter_mut().filter(|hit| which(hit)).collect();
    for hit in &mut hits {
        let Some(candidate) = set.list.get(hit.place) else { continue };
        let resolved = match candidate.object {
            CandidateObject::PromotionStack => {
                hit.stack = stack::try_stack(case, &candidate.id);
                Resolved::Unknown
            }
            _ => resolve(case, candidate),
        };
        case.put(resolved);
        let lines = case.priced.cart.lines.len();
        if !case.work.takes(lines.saturating_add(LOOK)) {
            break;
        }
    }
    let heard = alone::try_each(case, asked, from);
    for ((at, (outcome, mut one)), hit) in (from..).zip(heard).zip(hits.iter_mut()) {
        one.lacks.iter().for_each(|lack| case.lacks.add(lack.clone()));
        // Of a stack only the sum is left to tell; what its tiers gave is told tier by tier.
        let sum = hit.stack.as_ref().and_then(|stack| Money::sum(stack.applied().filter_map(Step::total)));
        let outcome = sum.map_or(outcome, |sum| Outcome::Applied(Box::new(Gain::of_order(Some(sum)))));
        hit.looked = Some(Box::new((at, outcome)));
        found.put(at, &mut one);
    }
}

fn resolve<'a>(case: &mut Case<'a>, candidate: &Candidate) -> Resolved<'a> {
    let object = match candidate.object {
        CandidateObject::Voucher => RedeemableObject::Voucher,
        CandidateObject::PromotionTier => RedeemableObject::PromotionTier,
        CandidateObject::PromotionStack => RedeemableObject::PromotionStack,
        CandidateObject::Campaign => {
            return match case.facts.campaign_voucher(&candidate.id) {
                Known::Is(voucher) => case.complete(voucher, None),
                Known::Absent => Resolved::Refused(Refusal::not_found("campaign", &candidate.id)),
                Known::Unknown => {
                    case.lack("campaign", &candidate.id);
                    Resolved::Unknown
                }
                Known::Unreadable => Resolved::Refused(Refusal::unreadable("campaign", &candidate.id)),
            };
        }
    };
    // A public code of a bundle is known by its hash alone; its id finds it as well.
    let name = if candidate.code.is_empty() { &candidate.id } else { &candidate.code };
    case.resolve(&Redeemable { object, ..Redeemable::named(name.clone()) })
}

/// What sessions hold of a gift card (calculation.md section 12).
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
            case.lacks.add(Text::from(account.as_str()));
            None
        }
    }
}

fn assignments(case: &mut Case<'_>, shown: &[Shown<'_>]) -> Vec<Assignment> {
    let mut names: Vec<&str> = Vec::new();
    for Shown { candidate, .. } in shown {
        let own = [Some(&candidate.id), Some(&candidate.code), candidate.campaign_id.as_ref()];
        names.extend(own.into_iter().flatten().map(Text::as_str).filter(|name| !name.is_empty()));
    }
    match case.facts.assignments(&names) {
        Known::Is(assignments) => assignments,
        Known::Absent | Known::Unknown | Known::Unreadable => Vec::new(),
    }
}
