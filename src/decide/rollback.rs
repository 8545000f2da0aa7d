//! Decides whether a redemption may be rolled back, and the effect on counts and on the order.
//!
//! docs/spec/calculation.md#15.

use crate::budget::StepBudget;
use crate::count::length;
use crate::decide::order_return::reward_return::{RewardReturn, RewardReturns};
use crate::decide::order_return::settled::Redemptions;
use crate::decide::order_return::undone::undo;
use crate::decide::order_return::with_remaining_spending;
use crate::decide::summary_delta::{CountedAs, recount};
use crate::decide::{Decision, Effects, SummaryDelta};
use crate::facts::{Facts, Known};
use crate::id::{Context, Ids};
use crate::ledger::{Book, Transfer};
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order, OrderStatus};
use crate::model::redemption::{RedemptionState, StoredRedemption};
use crate::model::stacking::RollbackMode;
use crate::pricing::Cart;
use crate::refusal::{Reason, Refusal};
use crate::text::Text;
use crate::time::Instant;

/// The period after a redemption in which it can be rolled back: 3 months, counted as 92 days
/// (docs/spec/calculation.md#15).
const ROLLBACK_MILLIS: i64 = 92 * 86_400_000;

/// A request to roll a redemption back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RollbackRequest {
    /// The redemption, by id.
    pub redemption_id: Text,
    /// `true` if the request used the route for stacks.
    pub stack: bool,
    /// The reason, as text of the caller.
    pub reason: Option<String>,
    /// The tracking id of the customer.
    pub tracking_id: Option<Text>,
    /// The customer, who must be the redemption's.
    pub customer: Option<Customer>,
    /// The order, which must be the redemption's; its status becomes the status of the stored order.
    pub order: Option<Order>,
    /// Metadata of the rollback.
    pub metadata: Metadata,
}

/// One redemption that is rolled back.
#[derive(Debug, Clone, PartialEq)]
pub struct UndonePart {
    /// The id of the rollback.
    pub id: Text,
    /// The redemption.
    pub redemption: StoredRedemption,
}

/// The answer to a rollback.
#[derive(Debug, Clone)]
pub struct RollbackDecision {
    /// The instant of the rollback.
    pub date: Instant,
    /// The redemptions rolled back, in the order of redemption: one, or the children of a stack.
    pub parts: Vec<UndonePart>,
    /// The rollback of the stack itself.
    pub parent: Option<UndonePart>,
    /// The order after the rollback.
    pub order: Option<Order>,
    /// The effect on the order.
    pub mode: RollbackMode,
    /// The bought rewards that are taken back.
    pub rewards: Vec<RewardReturn>,
}

/// Rolls a redemption back, or refuses with the reason.
pub fn rollback(
    facts: &dyn Facts,
    request: &RollbackRequest,
    context: &Context,
) -> Result<Decision<RollbackDecision>, Refusal> {
    let id = &request.redemption_id;
    let redemption = facts.redemption(id).found().ok_or_else(|| Refusal::not_found("redemption", id))?.into_owned();
    let mut ids = Ids::new(context);
    check(facts, request, &redemption, context.now, &mut ids)?;
    let parent = (!redemption.children.is_empty()).then(|| ids.record_after(redemption.children.len(), "rr_"));
    let undone: Vec<StoredRedemption> = match &parent {
        None => vec![redemption.clone()],
        Some(_) => {
            let children = redemption.children.iter().map(|child| facts.redemption(child));
            children.filter_map(Known::found).map(|child| child.into_owned()).collect()
        }
    };
    let order_id = redemption.order.as_ref().and_then(|order| order.id.as_deref());
    let stored = order_id.and_then(|order| facts.order(order).found());
    let transfers = facts.chain(id).found().unwrap_or_default();
    let redemptions = stored.as_deref().map(|order| Redemptions::find(facts, order)).transpose()?.unwrap_or_default();
    let as_remains = |part: StoredRedemption| match stored.as_deref() {
        Some(order) => with_remaining_spending(part, order, &transfers),
        None => part,
    };
    let rewards = RewardReturns::find(facts, undone.iter(), &transfers);
    let parts: Vec<UndonePart> = undone
        .into_iter()
        .map(|redemption| UndonePart { id: ids.record("rr_"), redemption: rewards.lower_spent(as_remains(redemption)) })
        .collect();
    let transfers: Vec<Transfer> = transfers
        .into_iter()
        .map(|transfer| Transfer { amount: rewards.returned_amount(&transfer), ..transfer })
        .collect();
    let chain = parent.clone().or_else(|| parts.first().map(|part| part.id.clone())).unwrap_or_default();
    let mut book = Book::default();
    if book.reverse(&transfers, &chain, context.now).is_err() {
        return Err(Refusal::out_of_bounds());
    }
    let mode = facts.stacking_rules().redeemables_rollback_order_mode;
    let counted = stored.as_deref().and_then(CountedAs::stored);
    let budget = facts.budget();
    let undone: Vec<&StoredRedemption> = parts.iter().map(|part| &part.redemption).collect();
    let status = request.order.as_ref().and_then(|order| order.status).unwrap_or(OrderStatus::Canceled);
    let order = stored.map(|order| match mode {
        RollbackMode::WithOrder => {
            let before = order.into_owned();
            let after = undo(before.clone(), &redemptions, &undone, status, &budget);
            settle_uncovered(&before, after, &budget)
        }
        RollbackMode::WithoutOrder => order.into_owned(),
    });
    let orders = recount(counted, order.as_ref().and_then(CountedAs::stored));
    let refunded = SummaryDelta::refunded(parts.iter().filter_map(|part| part.redemption.spent));
    let summary_delta = SummaryDelta { rolled_back: length(&parts), ..budget.checked(refunded) };
    if budget.has_overflow() {
        return Err(Refusal::out_of_bounds());
    }
    let changes = Effects { entries: book.into_entries(), summary_delta, orders, ..Effects::default() };
    let parent = parent.map(|id| UndonePart { id, redemption });
    let rewards = rewards.vouchers;
    let answer = RollbackDecision { date: context.now, parts, parent, order, mode, rewards };
    Ok(Decision { answer, changes: Some(Box::new(changes)) })
}

fn check(
    facts: &dyn Facts,
    request: &RollbackRequest,
    redemption: &StoredRedemption,
    now: Instant,
    ids: &mut Ids,
) -> Result<(), Refusal> {
    let refuse = |reason, details: &str| Err(Refusal::new(reason, details));
    match redemption.state {
        RedemptionState::RolledBack => {
            let details = "Redemption has been already rolled back.";
            let failed = ids.record("rrf_");
            return Err(Refusal::new(Reason::AlreadyRolledBack, details).with_resource("redemption_rollback", &failed));
        }
        RedemptionState::Failed => {
            return refuse(Reason::InvalidRedemption, "You can rollback only a successful redemption.");
        }
        RedemptionState::Succeeded => {}
    }
    if redemption.parent.is_some() {
        let details = "You can rollback only a redemption that does not have parent redemption.";
        return refuse(Reason::InvalidRedemptionParent, details);
    }
    if !request.stack && !redemption.children.is_empty() {
        let details = "You can rollback only a single redemption. Use different endpoint for stacked redemption.";
        return refuse(Reason::InvalidRedemption, details);
    }
    if now >= redemption.date.later(ROLLBACK_MILLIS) {
        return refuse(Reason::InvalidRedemption, "You can rollback a redemption only within 3 months.");
    }
    check_customer(facts, request, redemption)?;
    check_order(facts, request, redemption)
}

fn check_customer(facts: &dyn Facts, request: &RollbackRequest, redemption: &StoredRedemption) -> Result<(), Refusal> {
    let sent = request.customer.as_ref();
    let named = sent.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    let Some(key) = named.or(request.tracking_id.as_deref()) else {
        return Ok(());
    };
    let found = match facts.customer(key) {
        Known::Is(customer) => customer.id.clone(),
        _ if named.is_some() => return Err(Refusal::not_found("customer", key)),
        _ => None,
    };
    if found.is_none() || found != redemption.customer_id {
        return Err(Refusal::new(Reason::InvalidCustomer, "Customer is not related with redemption."));
    }
    Ok(())
}

fn check_order(facts: &dyn Facts, request: &RollbackRequest, redemption: &StoredRedemption) -> Result<(), Refusal> {
    let sent = request.order.as_ref();
    let Some(key) = sent.and_then(|order| order.id.as_deref().or(order.source_id.as_deref())) else {
        return Ok(());
    };
    let found = facts.order(key).found().and_then(|order| order.id.clone());
    let own = redemption.order.as_ref().and_then(|order| order.id.as_ref());
    if found.is_none() || found.as_ref() != own {
        return Err(Refusal::new(Reason::InvalidOrder, "Order is not related with redemption."));
    }
    Ok(())
}

/// Sets the unpaid part of an order that may have been paid and becomes more expensive: refunds of later returns leave
/// it out.
fn settle_uncovered(before: &Order, after: Order, budget: &StepBudget) -> Order {
    if !before.may_be_paid() {
        return after;
    }
    // An order without an amount costs nothing.
    let total = |order: &Order| Cart::stored(order).total().unwrap_or_default();
    let (cost, more) = (total(&after), before.uncovered());
    let more = budget.checked(more.checked_add(cost.remaining_after(total(before))));
    let less = total(before).remaining_after(cost);
    let mut after = after;
    after.set_uncovered(more.remaining_after(less));
    after
}
