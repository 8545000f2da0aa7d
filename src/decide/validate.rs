//! Decides whether redeemables apply to an order, and their discounts. A redemption runs the same evaluation and
//! commits it.
//!
//! docs/spec/calculation.md sections 11 and 12.

mod lock;

use std::borrow::Cow;
use std::ops::Deref;

use crate::count::Countable;
use crate::decide::case::{Case, Offer, ResolvedName};
use crate::decide::finding::Findings;
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
use crate::decide::order_return::changed_order::{DecideChange, change_order};
pub use crate::decide::validate::lock::SessionAnswer;
pub(in crate::decide) use crate::decide::validate::lock::quantity_exceeded;
use crate::decide::validate::lock::{lock, requested_lock};
use crate::decide::{Decision, Effects};
use crate::facts::{Facts, Known};
use crate::id::{Context, Ids};
use crate::model::order::{Order, RelatedObject};
use crate::model::request::{Redeemables, RequestedRedeemable};
use crate::model::stacking::{ApplicationMode, StackingRules};
use crate::pricing::Cart;
use crate::refusal::{Refusal, SkipReason};
use crate::stacking::{
    ApplyOutcome, ClaimTrial, ClassNames, StackingCandidate, TrialOrder, Walk, WalkStep, first_refusal, select,
};
use crate::text::Text;

/// The customers of an order.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderParties<'a> {
    /// The id of the customer.
    pub customer_id: Option<&'a Text>,
    /// The id of the customer who referred them.
    pub referrer_id: Option<&'a Text>,
}

/// A request tried from end to end. It is filled in place and passed by reference, because it has half a kilobyte and
/// fresh writes are slow to copy.
#[derive(Clone)]
pub struct Evaluation<'a> {
    /// The request with its names resolved.
    pub case: Case<'a>,
    /// The findings of the checks, in the order of the request.
    pub found: Findings,
    /// Every redeemable once, in the order of trying, and the order at the end.
    pub walk: Walk,
    /// `true` if the request as a whole is valid.
    pub valid: bool,
    /// The tracking id that identifies the customer.
    pub tracking_id: Option<Text>,
    /// `true` if only the server can make the tracking id, so that the answer leaves it out.
    pub omits_tracking_id: bool,
}

impl<'a> Deref for Evaluation<'a> {
    type Target = Case<'a>;

    fn deref(&self) -> &Case<'a> {
        &self.case
    }
}

impl<'a> Evaluation<'a> {
    /// Returns a request with its names resolved, or refuses it as a whole.
    pub(super) fn open(
        facts: &'a dyn Facts,
        request: &'a Redeemables,
        context: &'a Context,
        decide_change: Option<DecideChange>,
    ) -> Result<Box<Evaluation<'a>>, Refusal> {
        let mut evaluated = Box::new(Evaluation::of(Case::new(facts, request, context)));
        evaluated.case.decide_change = decide_change;
        evaluated.case.open()?;
        Ok(evaluated)
    }

    /// Returns an evaluation of which nothing has been tried.
    #[inline]
    pub(super) fn of(case: Case<'a>) -> Evaluation<'a> {
        let (found, walk) = (Findings::default(), Walk::default());
        Evaluation { case, found, walk, valid: false, tracking_id: None, omits_tracking_id: false }
    }

    /// Tries every redeemable of the case, to be answered.
    pub(super) fn evaluate(&mut self) {
        self.case.count_answers(0..self.case.resolved.len());
        self.evaluate_unanswered();
        self.track();
    }

    /// Tries every redeemable of the case without the steps to write an answer.
    pub(super) fn evaluate_unanswered(&mut self) {
        let Evaluation { case, found, walk, valid, .. } = self;
        let mut missing = Vec::new();
        {
            let case = &*case;
            let items = Items::new(case);
            let (initial, mode) = (&case.priced.cart, case.stacking.redeemables_application_mode);
            let mut trial = if case.may_claim() { ClaimTrial::with_claimers() } else { ClaimTrial::default() };
            let zone_use = case.zone_use.get();
            loop {
                let mut judge = CaseJudge::new(case, &items, found);
                let mut selection = TrialOrder::new(case.resolved.len(), &case.stacking);
                sort_candidates(&mut selection, case, &trial, &mut judge);
                walk.run(&mut selection, &case.stacking, initial, &trial, &mut judge);
                if !trial.is_open() {
                    break;
                }
                let has_end = mode == ApplicationMode::All && walk.has_refusal();
                if !trial.should_repeat(walk.steps.len(), walk.claims(), has_end) || !case.count_walk() {
                    break;
                }
                // Units hidden in the next walk depend on the findings about the claimers in this one.
                missing = found.missing_of(trial.claims().claimers());
                *found = Findings::default();
                case.zone_use.set(zone_use);
            }
            *valid = is_valid(walk, &case.stacking);
        }
        for fact in found.missing().chain(&missing) {
            case.missing.add(fact.clone());
        }
        case.add_missing_time_zone();
        if !case.facts.knows_settings().stacking_rules && depends_on_stacking(case, walk) {
            case.missing.add("project/stacking_rules".into());
        }
        case.conceal_combinations(walk);
    }

    /// Finds the tracking id that identifies the customer.
    pub(super) fn track(&mut self) {
        self.case.add_missing_customer();
        let tracking_id = tracking_id(&self.case);
        self.omits_tracking_id = matches!(tracking_id, Known::Unknown);
        self.tracking_id = tracking_id.found();
    }

    /// Returns the steps that were applied.
    pub fn applied(&self) -> impl Iterator<Item = &WalkStep> {
        self.walk.steps.iter().filter(|step| matches!(step.outcome, ApplyOutcome::Applied(_)))
    }

    /// Returns the order after one of the applied steps.
    pub fn cart_after(&self, step: &WalkStep) -> Cart {
        let mut cart = self.priced.cart.clone();
        let through = self.walk.steps.iter().position(|one| one.position == step.position).unwrap_or(0);
        for step in self.walk.steps.iter().take(through.plus_one()) {
            if let ApplyOutcome::Applied(gain) = &step.outcome {
                // It was added once before, so it fits.
                let _ = cart.add(gain);
            }
        }
        cart
    }

    /// Returns the order as the caller may see it. A client that may name any stored order must not see its metadata.
    pub fn visible_order(&self) -> Option<Cow<'_, Order>> {
        let order = self.order.as_deref()?;
        let sent = self.request.order.as_ref().filter(|sent| sent.id.is_some() || sent.source_id.is_some());
        let Some(sent) = sent.filter(|_| self.request.channel.is_client()) else {
            return Some(Cow::Borrowed(order));
        };
        let mut order = Order { metadata: sent.metadata.clone(), ..order.clone() };
        for (position, item) in order.items.iter_mut().enumerate() {
            let sent = sent.items.get(position);
            item.metadata = sent.map(|item| item.metadata.clone()).unwrap_or_default();
            for (kind, goods) in [(RelatedObject::Product, &mut item.product), (RelatedObject::Sku, &mut item.sku)] {
                let sent_goods = sent.and_then(|item| item.goods(kind));
                if let Some(goods) = goods {
                    goods.metadata = sent_goods.map(|sent_goods| sent_goods.metadata.clone()).unwrap_or_default();
                }
            }
        }
        Some(Cow::Owned(order))
    }

    /// Returns the keys of the goods' metadata that the caller may see; `None` for all.
    pub fn public_goods(&self) -> Option<&[Text]> {
        Some(self.request.channel.client.as_ref()?.policy.metadata.product.as_slice())
    }

    /// Returns the ids of the order's customers: the stored customer of the request, else the customer of a stored
    /// order. Clients do not see them.
    pub fn parties(&self) -> OrderParties<'_> {
        if self.request.channel.is_client() {
            return OrderParties::default();
        }
        let order = self.order.as_deref();
        let customer_id = match &self.request_customer.customer {
            Some(customer) => customer.id.as_ref().filter(|_| self.request_customer.stored),
            None => order.and_then(|order| order.customer_id.as_ref()),
        };
        OrderParties { customer_id, referrer_id: order.and_then(|order| order.referrer_id.as_ref()) }
    }

    /// Returns the redeemable of a step.
    pub fn redeemable(&self, step: &WalkStep) -> Option<&RequestedRedeemable> {
        self.redeemables.get(step.position)
    }

    /// Returns the first refusal in the order of trying: as the caller gets it, and the real one.
    pub fn first_refusal(&self) -> Option<(&Refusal, &Refusal)> {
        self.walk.steps.iter().find_map(|step| match &step.outcome {
            ApplyOutcome::Refused(details) => Some((details, self.actual_refusal(step)?)),
            _ => None,
        })
    }

    /// Returns the number of failed attempts of a client in the request. Hidden codes count, and redeemables that
    /// failed at the unread profile of an unproven customer.
    pub fn failed_attempts(&self) -> usize {
        let is_withheld = |step: &&WalkStep| self.found.get(step.position).is_some_and(|found| found.withheld);
        let withheld = self.walk.steps.iter().filter(is_withheld).count();
        // Memory bounds both lists.
        self.wrong.len().saturating_add(withheld)
    }

    /// Returns the real refusal of a step, regardless of the client's view.
    pub fn actual_refusal<'s>(&'s self, step: &'s WalkStep) -> Option<&'s Refusal> {
        let ApplyOutcome::Refused(details) = &step.outcome else { return None };
        Some(self.wrong_name_at(step.position).map_or(details, |wrong| &wrong.refusal))
    }

    /// Returns the offer of a step, regardless of the client's view.
    pub fn requested_offer(&self, step: &WalkStep) -> Option<&Offer<'a>> {
        let hidden = || self.wrong_name_at(step.position)?.offer.as_deref();
        self.offer(step.position).or_else(hidden)
    }

    /// Returns whether all redeemables must apply.
    pub fn all_or_nothing(&self) -> bool {
        self.stacking.redeemables_application_mode == ApplicationMode::All
    }
}

/// The answer to a validation.
#[derive(Clone)]
pub struct ValidationDecision<'a> {
    context: &'a Context,
    /// The evaluation of all tried redeemables.
    pub evaluated: Box<Evaluation<'a>>,
    /// The lock, if it was requested and set.
    pub session: Option<SessionAnswer>,
}

impl ValidationDecision<'_> {
    /// Returns its id. It is generated on demand, because that takes longer than many decisions.
    pub fn id(&self) -> Text {
        first_id(self.context).0
    }
}

/// Returns the first identifier of a validation, and the generator of those after it.
fn first_id(context: &Context) -> (Text, Ids) {
    let mut ids = Ids::new(context);
    (ids.hex18("valid_"), ids)
}

/// Validates a request. A refusal of the request as a whole is an `Err`; that of a redeemable is part of the answer.
pub fn validate<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<ValidationDecision<'a>>, Refusal> {
    validate_with(facts, request, context, Some(change_order))
}

/// Validates a request without the redemptions of stored orders: only the server can decide how the request changes a
/// stored order.
pub fn validate_offline<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<ValidationDecision<'a>>, Refusal> {
    validate_with(facts, request, context, None)
}

fn validate_with<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
    decide_change: Option<DecideChange>,
) -> Result<Decision<ValidationDecision<'a>>, Refusal> {
    let requested = requested_lock(request, || first_id(context).1.alphanumeric("ssn_", 32))?;
    let mut evaluated = Evaluation::open(facts, request, context, decide_change)?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let session = requested.filter(|_| evaluated.valid);
    let mut changes = None;
    if let Some(session) = &session {
        let Evaluation { case, walk, found, .. } = &mut *evaluated;
        let entries = lock(case, walk, found, session, context.now)?;
        changes = Some(Box::new(Effects { entries, ..Effects::default() }));
    }
    let answer = ValidationDecision { context, evaluated, session };
    Ok(Decision { answer, changes })
}

/// Arranges the order in which redeemables are tried, and applies the stacking rules to their categories.
fn sort_candidates(selection: &mut TrialOrder, case: &Case<'_>, trial: &ClaimTrial, judge: &mut CaseJudge<'_>) {
    let count = selection.count;
    let category = |position: usize| case.offer(position)?.category.as_deref();
    // Without categories nothing is exclusive, and the order stays as requested.
    if (0..count).all(|position| category(position).is_none()) {
        return;
    }
    let mut names = ClassNames::default();
    for position in 0..count {
        let class = names.class_of(selection, category(position), &case.stacking);
        let exists = !matches!(case.resolved.get(position), Some(ResolvedName::Refused(_)));
        let is_exclusive = class.and_then(|class| selection.classes.get(class)).is_some_and(|class| class.exclusive);
        let valid = is_exclusive && first_refusal(trial, position, &case.priced.cart, judge).is_none();
        selection.candidates.push(StackingCandidate { position, class, valid, exists, excluded: false });
    }
    select(selection, &case.stacking);
}

/// Returns whether stacking rules may change the result of a request. They cannot for one redeemable that has an effect
/// on an order without discounts.
fn depends_on_stacking(case: &Case<'_>, walk: &Walk) -> bool {
    let has_no_effect = |step: &WalkStep| match &step.outcome {
        ApplyOutcome::Applied(gain) => gain.is_nothing(),
        ApplyOutcome::Skipped(_) | ApplyOutcome::Refused(_) => false,
    };
    case.resolved.len() > 1 || case.priced.cart.total_discount().is_some() || walk.steps.iter().any(has_no_effect)
}

/// Returns whether the request is valid. ALL: nothing was refused; PARTIAL: something was applied
/// (docs/spec/calculation.md#11.2, step 8, and 19, D10). A redeemable that only the server knows prevents a valid
/// answer under ALL.
fn is_valid(walk: &Walk, rules: &StackingRules) -> bool {
    let outcomes = || walk.steps.iter().map(|step| &step.outcome);
    match rules.redeemables_application_mode {
        ApplicationMode::All => !outcomes()
            .any(|outcome| matches!(outcome, ApplyOutcome::Refused(_) | ApplyOutcome::Skipped(SkipReason::Undecided))),
        ApplicationMode::Partial => outcomes().any(|outcome| matches!(outcome, ApplyOutcome::Applied(_))),
    }
}

/// Returns the tracking id of the customer's `source_id`, or of the request's tracking id (docs/spec/objects.md#15). For a
/// customer that a client only names it is that of the sent name.
fn tracking_id(case: &Case<'_>) -> Known<Text> {
    let (request, request_customer) = (case.request, &case.request_customer);
    if request_customer.unknown.is_some() {
        // It follows from the `source_id` of a profile that only the server has.
        return Known::Unknown;
    }
    let sent = || request.customer.as_ref()?.source_id.as_ref();
    let found = || request_customer.customer.as_ref()?.source_id.as_ref();
    let source_id = if request_customer.named.is_some() { sent() } else { found() };
    match source_id.or(request.tracking_id.as_ref()) {
        Some(source_id) => case.facts.tracking_id(source_id),
        None => Known::Absent,
    }
}
