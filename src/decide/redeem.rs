//! Decides a redemption: the same evaluation as a validation, and the one chain of transfers that posts it.
//!
//! docs/spec/calculation.md#14.

use std::sync::Arc;

use crate::count::{Countable, length};
use crate::decide::case::{Case, Offer};
use crate::decide::judge::caps::cap_postings;
use crate::decide::order_return::answer::ReturnOutcome;
use crate::decide::order_return::changed_order::change_order;
use crate::decide::postings::{counted_postings, reserved_postings, spent_units};
use crate::decide::referral;
use crate::decide::summary_delta::{CountedAs, recount};
use crate::decide::validate::{Evaluation, quantity_exceeded};
use crate::decide::{Decision, Effects, RewardGrant, SummaryDelta};
use crate::facts::{Fact, Facts, Known, credits_account, incentive_account, points_account};
use crate::id::{Context, Ids};
use crate::ledger::{AccountId, AccountState, Book, Entry, Transfer};
use crate::model::customer::Customer;
use crate::model::order::{LINE_ID, Metadata, Order, OrderStatus};
use crate::model::redeemable::Grant;
use crate::model::redemption::SpentUnits;
use crate::model::request::Redeemables;
use crate::model::reward::RewardKind;
use crate::pricing::Cart;
use crate::refusal::{Reason, Refusal};
use crate::stacking::{ApplyOutcome, WalkStep};
use crate::text::{Text, joined};
use crate::time::Instant;

/// The redemption of one redeemable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedeemedPart {
    /// The id of its redemption.
    pub id: Text,
    /// Its position in the request.
    pub position: usize,
    /// Gift credits spent, in minor units.
    pub credits: Option<u64>,
    /// The redemptions of its voucher so far, including this one.
    pub redeemed_quantity: u64,
    /// All credits spent of its gift card, including these, in minor units.
    pub redeemed_amount: Option<u64>,
    /// Points of a loyalty card spent.
    pub points: Option<u64>,
    /// All points spent of its loyalty card, including these.
    pub redeemed_points: Option<u64>,
}

/// The answer to a redemption.
#[derive(Clone)]
pub struct RedemptionDecision<'a> {
    /// The evaluation of all tried redeemables.
    pub evaluated: Box<Evaluation<'a>>,
    /// The instant of the redemption.
    pub date: Instant,
    /// The redeemed parts, in the order of application; empty when it failed.
    pub parts: Vec<RedeemedPart>,
    /// The id of the stack, if there is more than one part.
    pub parent: Option<Text>,
    /// The ids of the order's lines, including those that unit effects added.
    pub line_ids: Vec<Text>,
    /// The id of the order.
    pub order_id: Option<Text>,
    /// The id of the redeeming customer.
    pub customer_id: Option<Text>,
    /// The reason why nothing was redeemed.
    pub failure: Option<RedemptionFailure>,
    /// The return by this redemption of units that the request leaves out of a stored order; the host writes its
    /// changes first.
    pub returned: Option<Box<ReturnOutcome>>,
}

/// The reason why nothing was redeemed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedemptionFailure {
    /// The id of the failed redemption.
    pub id: Text,
    /// The refusal for the caller.
    pub visible_refusal: Refusal,
    /// The real reason, for the merchant.
    pub reason: Reason,
}

impl RedemptionDecision<'_> {
    /// Returns the id under which the whole redemption is rolled back.
    pub fn parent_id(&self) -> Option<&Text> {
        let single = || self.parts.first().map(|part| &part.id);
        self.parent.as_ref().or_else(single)
    }
}

/// Redeems a request. If nothing could be redeemed, the answer has a failure; `Err` is returned only for a request that
/// is invalid as a whole.
pub fn redeem<'a>(
    facts: &'a dyn Facts,
    request: &'a Redeemables,
    context: &'a Context,
) -> Result<Decision<RedemptionDecision<'a>>, Refusal> {
    let mut ids = Ids::new(context);
    let mut evaluated = Evaluation::open(facts, request, context, Some(change_order))?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    let applied = evaluated.applied().count();
    if !evaluated.valid || applied == 0 {
        return Ok(fail(evaluated, context.now, &mut ids));
    }
    let case = &evaluated.case;
    // A stack is redeemed as a whole, even when only one of its tiers was applied (docs/spec/calculation.md#14).
    let parent = (applied > 1 || case.stack.is_some()).then(|| ids.record_after(applied, "r_"));
    let parts = parts(&evaluated, &mut ids);
    case.within_bounds()?;
    let chain_id = parent.clone().or_else(|| parts.first().map(|part| part.id.clone())).unwrap_or_default();
    let customer_id = customer_id(case, &mut ids);
    let mut book = Book::default();
    if let Err(refusal) = post(&evaluated, &parts, &chain_id, customer_id.as_deref(), &mut book) {
        return Ok(fail_with(evaluated, context.now, &mut ids, refusal, Reason::QuantityExceeded));
    }
    if let Some(own) = case.own_session() {
        book.release(own);
    }
    let grants = grants(case, &parts);
    let referrals = referral::by_redemption(case, parts.iter().map(|part| (part.position, &part.id)));
    let order = evaluated.case.order.take().map(|order| {
        let order = close(order.into_owned(), &evaluated, customer_id.clone(), context.now, &mut ids);
        let referrer_id = referrals.first().map(|referral| referral.referrer_id.clone());
        Order { referrer_id: order.referrer_id.clone().or(referrer_id), ..order }
    });
    let customer = changed_customer(&evaluated, customer_id.clone());
    let order_id = order.as_ref().and_then(|order| order.id.clone());
    let counted = order.as_ref().and_then(|order| CountedAs::of(order, evaluated.walk.cart.total()));
    let orders = recount(evaluated.case.counted.take(), counted);
    evaluated.case.order = order.map(|order| Fact::Shared(Arc::new(order)));
    let line_ids = line_ids(&evaluated, &mut ids);
    let returned = evaluated.case.returned.take();
    let spent = SummaryDelta::spent(parts.iter().filter_map(spent_by)).ok_or_else(Refusal::out_of_bounds)?;
    let summary_delta = SummaryDelta { succeeded: length(&parts), ..spent };
    let changes = Effects {
        entries: book.into_entries(),
        grants,
        referrals,
        customer: customer.map(Box::new),
        summary_delta,
        orders,
    };
    let answer = RedemptionDecision {
        evaluated,
        date: context.now,
        parts,
        parent,
        line_ids,
        order_id,
        customer_id,
        failure: None,
        returned,
    };
    Ok(Decision { answer, changes: Some(Box::new(changes)) })
}

/// Counts that a redemption changes.
pub struct RedemptionCounts {
    /// The transfers.
    pub entries: Vec<Entry>,
    /// The customer, if the redemption creates one.
    pub new_customer: Option<NewCustomer>,
}

/// A customer that a redemption creates.
pub struct NewCustomer {
    /// The customer, with a new id.
    pub customer: Customer,
    /// The id in the request, if the customer has another name too: later requests may repeat both.
    pub sent_id: Option<Text>,
}

/// Finds what a redemption of a request would count; `None` if it would fail, or if a fact is missing.
pub fn count_redemption(
    facts: &dyn Facts,
    request: &Redeemables,
    context: &Context,
) -> Result<Option<RedemptionCounts>, Refusal> {
    let mut ids = Ids::new(context);
    let mut evaluated = Evaluation::open(facts, request, context, None)?;
    evaluated.evaluate();
    evaluated.case.within_bounds()?;
    if !evaluated.valid || !evaluated.case.missing.is_empty() {
        return Ok(None);
    }
    let case = &evaluated.case;
    let parts = parts(&evaluated, &mut ids);
    let chain_id = ids.record("r_");
    let customer_id = customer_id(case, &mut ids);
    let mut book = Book::default();
    post(&evaluated, &parts, &chain_id, customer_id.as_deref(), &mut book)?;
    case.within_bounds()?;
    let new = case.request_customer.counted();
    let profile = new.customer.as_ref().filter(|_| new.is_new());
    let sent_id = request.customer.as_ref().and_then(|sent| sent.id.clone()).filter(|_| new.is_identified());
    let new_customer = profile
        .map(|profile| NewCustomer { customer: Customer { id: customer_id, ..Customer::clone(profile) }, sent_id });
    Ok(Some(RedemptionCounts { entries: book.into_entries(), new_customer }))
}

/// Returns the spending of a redemption that paid with a card.
fn spent_by(part: &RedeemedPart) -> Option<SpentUnits> {
    part.credits.map(SpentUnits::Credits).or(part.points.map(SpentUnits::Points))
}

fn parts(evaluated: &Evaluation<'_>, ids: &mut Ids) -> Vec<RedeemedPart> {
    let case = &evaluated.case;
    let part = |step: &WalkStep| {
        let ApplyOutcome::Applied(gain) = &step.outcome else { return None };
        let offer = case.offer(step.position)?;
        let incentive = &offer.incentive;
        let given = case.budget.checked(gain.total()).minor();
        let spent = spent_units(offer, evaluated.found.get(step.position), given);
        let taken = |account: &AccountId| {
            // An account without transfers has a balance of zero.
            let balance = case.balance(account).found().unwrap_or(0);
            AccountState { balance, ..AccountState::default() }.taken()
        };
        let add = |taken: u64, spent: u64| case.budget.checked(taken.checked_add(spent));
        let credits = matches!(incentive.grant, Grant::Gift(_)).then_some(spent);
        let points = matches!(incentive.grant, Grant::Loyalty(_)).then_some(spent);
        Some(RedeemedPart {
            id: ids.record("r_"),
            position: step.position,
            credits,
            redeemed_quantity: taken(&incentive_account(incentive)).plus_one(),
            redeemed_amount: credits.map(|spent| add(taken(&credits_account(&incentive.id)), spent)),
            points,
            redeemed_points: points.map(|spent| add(taken(&points_account(&incentive.id)), spent)),
        })
    };
    evaluated.walk.steps.iter().filter_map(part).collect()
}

/// Posts one chain for the whole redemption: all that its parts reserve and count, or nothing.
fn post(
    evaluated: &Evaluation<'_>,
    parts: &[RedeemedPart],
    chain_id: &Text,
    customer_id: Option<&str>,
    book: &mut Book,
) -> Result<(), Refusal> {
    let case = &evaluated.case;
    let mut chain: Vec<Transfer> = Vec::new();
    let mut owners: Vec<(usize, &Offer<'_>)> = Vec::new();
    let mut campaigns: Vec<&Text> = Vec::new();
    let (claims, initial) = (evaluated.walk.claims(), &case.priced.cart);
    for part in parts {
        let Some(offer) = case.offer(part.position) else { continue };
        let step = evaluated.walk.steps.iter().find(|step| step.position == part.position);
        let visible = claims.hide(initial, &|claimer| claimer != part.position);
        let value = case.order_value(visible.as_ref().unwrap_or(initial));
        let (discount, caps) = match step.map(|step| &step.outcome) {
            Some(ApplyOutcome::Applied(gain)) => {
                (case.budget.checked(gain.total()).minor(), cap_postings(case, part.position, gain, customer_id))
            }
            _ => (0, Vec::new()),
        };
        let campaign = offer.incentive.campaign_id.as_ref();
        let is_first = campaign.is_some_and(|campaign| !campaigns.contains(&campaign));
        campaigns.extend(campaign);
        let postings = reserved_postings(offer, evaluated.found.get(part.position), discount, customer_id).into_iter();
        for posting in postings.chain(counted_postings(case, offer, discount, value, is_first)).chain(caps) {
            if let Known::Is(account_state) = case.account_state(&posting.debit, posting.quota) {
                book.open(posting.debit.clone(), account_state);
            }
            if let Some(credit) = posting.credit.filter(|_| posting.amount > 0) {
                owners.push((part.position, offer));
                chain.push(Transfer {
                    id: joined(&[&part.id, ".", &chain.len().to_string()]),
                    chain: chain_id.clone(),
                    debit: posting.debit,
                    credit,
                    amount: posting.amount,
                    reverses: None,
                    part_of: None,
                    at: case.context.now,
                });
            }
        }
    }
    let debits: Vec<AccountId> = chain.iter().map(|transfer| transfer.debit.clone()).collect();
    // The walk took each amount from the rest of the earlier ones, so this refuses only amounts that no check covers.
    book.post(chain).map_err(|shortfall| {
        let mut of = debits.iter().zip(owners).filter(|(debit, _)| **debit == shortfall.account);
        // The last one that takes from the account is the one that exceeded it.
        let details =
            |(_, (position, offer)): (_, (usize, &Offer<'_>))| case.for_client(position, quantity_exceeded(offer));
        of.next_back().map_or_else(|| Refusal::new(Reason::QuantityExceeded, ""), details)
    })
}

/// Returns the rewards for the host to fulfil.
fn grants(case: &Case<'_>, parts: &[RedeemedPart]) -> Vec<RewardGrant> {
    parts.iter().filter_map(|part| grant(case, part.position, &part.id)).collect()
}

/// Returns the rewards that the host would fulfil if the tried redeemables were redeemed.
pub fn expected_grants(evaluated: &Evaluation<'_>) -> Vec<RewardGrant> {
    evaluated.applied().filter_map(|step| grant(&evaluated.case, step.position, &Text::default())).collect()
}

fn grant(case: &Case<'_>, position: usize, redemption_id: &Text) -> Option<RewardGrant> {
    let offer = case.offer(position)?;
    let reward = &offer.exchange.as_ref()?.reward;
    let RewardKind::Campaign { campaign_id, balance } = &reward.kind else { return None };
    Some(RewardGrant {
        redemption_id: redemption_id.clone(),
        reward_id: reward.id.clone(),
        campaign_id: campaign_id.clone(),
        balance: *balance,
        customer_id: offer.incentive.holder_id.clone(),
    })
}

fn fail<'a>(evaluated: Box<Evaluation<'a>>, now: Instant, ids: &mut Ids) -> Decision<RedemptionDecision<'a>> {
    let (refusal, reason) = match evaluated.first_refusal() {
        Some((refusal, actual)) if evaluated.all_or_nothing() => (refusal.clone(), actual.reason),
        _ => {
            let reason = Reason::NoApplicableRedeemables;
            // The custom message of the first refusal's rule is included, as if all had to apply.
            let custom = evaluated.first_refusal().and_then(|(refusal, _)| refusal.custom_message());
            (Refusal::new(reason, reasons(&evaluated)).with_message(custom), reason)
        }
    };
    fail_with(evaluated, now, ids, refusal, reason)
}

/// Returns why nothing was applied, for each redeemable by its name, in the order of trying.
fn reasons(evaluated: &Evaluation<'_>) -> String {
    let details = |step: &WalkStep| {
        let why = match &step.outcome {
            ApplyOutcome::Applied(_) => return None,
            ApplyOutcome::Refused(refusal) => refusal.reason.message(),
            ApplyOutcome::Skipped(skip) => skip.message(),
        };
        Some(format!("{}: {why}", evaluated.redeemable(step)?.id))
    };
    evaluated.walk.steps.iter().filter_map(details).collect::<Vec<_>>().join("; ")
}

fn fail_with<'a>(
    evaluated: Box<Evaluation<'a>>,
    now: Instant,
    ids: &mut Ids,
    visible_refusal: Refusal,
    reason: Reason,
) -> Decision<RedemptionDecision<'a>> {
    let customer_id = evaluated.request_customer.counted().customer.as_ref().and_then(|customer| customer.id.clone());
    let answer = RedemptionDecision {
        evaluated,
        date: now,
        parts: Vec::new(),
        parent: None,
        line_ids: Vec::new(),
        order_id: None,
        customer_id,
        failure: Some(RedemptionFailure { id: ids.record("rf_"), visible_refusal, reason }),
        returned: None,
    };
    Decision { answer, changes: None }
}

fn customer_id(case: &Case<'_>, ids: &mut Ids) -> Option<Text> {
    let request_customer = case.request_customer.counted();
    let customer = request_customer.customer.as_ref()?;
    let known = customer.id.clone().filter(|_| request_customer.stored);
    if case.request_customer.named.is_some() {
        // The ids generated afterwards do not reveal whether the name exists. Without a name there is no customer.
        let new = ids.alphanumeric("cust_", 24);
        return known.or((customer.source_id.is_some() || request_customer.email.is_some()).then_some(new));
    }
    Some(known.unwrap_or_else(|| ids.alphanumeric("cust_", 24)))
}

/// Returns the customer for the host to merge: the sent fields, under the id in the redemption. A customer that a
/// client only names is not changed.
fn changed_customer(evaluated: &Evaluation<'_>, id: Option<Text>) -> Option<Customer> {
    if let Some(named) = &evaluated.request_customer.named {
        let customer = named.customer.as_ref()?;
        let document = if named.stored { Metadata::default() } else { customer.document.clone() };
        return Some(Customer {
            id: Some(id?),
            source_id: customer.source_id.clone(),
            document,
            ..Customer::default()
        });
    }
    let sent = evaluated
        .request
        .customer
        .clone()
        .or_else(|| evaluated.request_customer.customer.clone().map(Fact::into_owned))?;
    Some(Customer { id, ..sent })
}

/// Returns the ids of the lines: a stored line keeps its id, and every other one gets a new id.
fn line_ids(evaluated: &Evaluation<'_>, ids: &mut Ids) -> Vec<Text> {
    let Some(order) = evaluated.case.order.as_ref() else { return Vec::new() };
    let known = |position: usize| order.items.get(position).and_then(|item| item.id.clone());
    let lines = 0..evaluated.walk.cart.lines.len();
    lines.map(|position| known(position).unwrap_or_else(|| ids.hex18(LINE_ID))).collect()
}

/// Returns the order after the redemption: paid, if a client may set that. Its amounts are in the cart.
fn close(order: Order, evaluated: &Evaluation<'_>, customer_id: Option<Text>, now: Instant, ids: &mut Ids) -> Order {
    let sent = evaluated.request.order.as_ref();
    // An order without an amount costs nothing.
    let total = |cart: &Cart| cart.total().unwrap_or_default();
    let less = total(&evaluated.priced.cart).remaining_after(total(&evaluated.walk.cart));
    let mut order = order;
    order.set_uncovered(order.uncovered().remaining_after(less));
    let usual =
        evaluated.request.channel.client.as_ref().map_or(OrderStatus::Paid, |client| client.policy.usual_status());
    Order {
        id: Some(order.id.clone().unwrap_or_else(|| ids.record("ord_"))),
        status: Some(sent.and_then(|sent| sent.status).unwrap_or(usual)),
        customer_id: customer_id.or(order.customer_id.clone()),
        created_at: order.created_at.or(Some(now)),
        ..order
    }
}
