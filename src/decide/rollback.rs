//! Decides whether a redemption may be undone, and what undoing it does to counts and to the order. It must not know
//! how rollbacks are written or stored.
//!
//! calculation.md section 15.

use crate::decide::tally::{Counted, recounted, sum};
use crate::decide::{Changes, Decision, Tally};
use crate::facts::{Facts, Known};
use crate::id::{Context, Ids};
use crate::ledger::Book;
use crate::model::customer::Customer;
use crate::model::order::{Metadata, Order, OrderStatus};
use crate::model::redemption::{PastLine, PastRedemption, PastState, Spent};
use crate::model::stacking::RollbackMode;
use crate::money::Money;
use crate::refusal::{Reason, Refusal};
use crate::text::Text;
use crate::time::Instant;

/// How long after a redemption it can be undone: 3 months, counted as 92 days (calculation.md section 15).
const ROLLBACK_MILLIS: i64 = 92 * 86_400_000;

/// A request to undo a redemption.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RollBack {
    /// The redemption, by id.
    pub redemption_id: Text,
    /// Whether the request came on the route for stacks.
    pub stack: bool,
    /// Why, in the caller's words.
    pub reason: Option<String>,
    /// The customer by another name.
    pub tracking_id: Option<Text>,
    /// The customer, who must be the redemption's.
    pub customer: Option<Customer>,
    /// The order, which must be the redemption's; its status is the one it gets.
    pub order: Option<Order>,
    /// Data of the rollback itself.
    pub metadata: Metadata,
}

/// One redemption that is undone.
#[derive(Debug, Clone, PartialEq)]
pub struct UndonePart {
    /// The id of the rollback.
    pub id: Text,
    /// What it undoes.
    pub redemption: PastRedemption,
}

/// The answer to a rollback.
#[derive(Debug, Clone)]
pub struct RolledBack {
    /// When.
    pub date: Instant,
    /// What was undone, in the order of redemption: one, or the children of a stack.
    pub parts: Vec<UndonePart>,
    /// The rollback of the stack itself.
    pub parent: Option<UndonePart>,
    /// The order afterwards.
    pub order: Option<Order>,
    /// Whether the order was changed.
    pub mode: RollbackMode,
}

/// Undoes a redemption, or says why it cannot be.
pub fn rollback(facts: &dyn Facts, request: &RollBack, context: &Context) -> Result<Decision<RolledBack>, Refusal> {
    let id = &request.redemption_id;
    let past = facts.redemption(id).found().ok_or_else(|| Refusal::not_found("redemption", id))?.into_owned();
    let mut ids = Ids::new(context);
    check(facts, request, &past, context.now, &mut ids)?;
    let parent = (!past.children.is_empty()).then(|| ids.hex18("rr_"));
    let undone: Vec<PastRedemption> = match &parent {
        None => vec![past.clone()],
        Some(_) => {
            let children = past.children.iter().map(|child| facts.redemption(child));
            children.filter_map(Known::found).map(|child| child.into_owned()).collect()
        }
    };
    let parts: Vec<UndonePart> =
        undone.into_iter().map(|redemption| UndonePart { id: ids.hex18("rr_"), redemption }).collect();
    let chain = parent.clone().or_else(|| parts.first().map(|part| part.id.clone())).unwrap_or_default();
    let mut book = Book::default();
    book.reverse(&facts.chain(id).found().unwrap_or_default(), &chain, context.now);
    let mode = facts.stacking_rules().redeemables_rollback_order_mode;
    let order_id = past.order.as_ref().and_then(|order| order.id.as_deref());
    let stored = order_id.and_then(|order| facts.order(order).found());
    let counted = stored.as_deref().and_then(Counted::stored);
    let order = stored.map(|order| match mode {
        RollbackMode::WithOrder => undo_order(order.into_owned(), &past, request),
        RollbackMode::WithoutOrder => order.into_owned(),
    });
    let orders = recounted(counted, order.as_ref().and_then(Counted::stored));
    let given_back =
        |of: fn(Spent) -> Option<u64>| sum(parts.iter().filter_map(|part| of(part.redemption.spent?))).saturating_neg();
    let tally = Tally {
        rolled_back: i64::try_from(parts.len()).unwrap_or(i64::MAX),
        credits: given_back(|spent| if let Spent::Credits(credits) = spent { Some(credits) } else { None }),
        points: given_back(|spent| if let Spent::Points(points) = spent { Some(points) } else { None }),
        ..Tally::default()
    };
    let changes = Changes { entries: book.into_entries(), tally, orders, ..Changes::default() };
    let parent = parent.map(|id| UndonePart { id, redemption: past });
    let answer = RolledBack { date: context.now, parts, parent, order, mode };
    Ok(Decision { answer, changes: Some(Box::new(changes)) })
}

fn check(
    facts: &dyn Facts,
    request: &RollBack,
    past: &PastRedemption,
    now: Instant,
    ids: &mut Ids,
) -> Result<(), Refusal> {
    let refuse = |reason, details: &str| Err(Refusal::new(reason, details));
    match past.state {
        PastState::RolledBack => {
            let details = "Redemption has been already rolled back.";
            let failed = ids.hex18("rrf_");
            return Err(Refusal::new(Reason::AlreadyRolledBack, details).about("redemption_rollback", &failed));
        }
        PastState::Failed => {
            return refuse(Reason::InvalidRedemption, "You can rollback only a successful redemption.");
        }
        PastState::Succeeded => {}
    }
    if past.parent.is_some() {
        let details = "You can rollback only a redemption that does not have parent redemption.";
        return refuse(Reason::InvalidRedemptionParent, details);
    }
    if !request.stack && !past.children.is_empty() {
        let details = "You can rollback only a single redemption. Use different endpoint for stacked redemption.";
        return refuse(Reason::InvalidRedemption, details);
    }
    if now >= past.date.later(ROLLBACK_MILLIS) {
        return refuse(Reason::InvalidRedemption, "You can rollback a redemption only within 3 months.");
    }
    check_customer(facts, request, past)?;
    check_order(facts, request, past)
}

fn check_customer(facts: &dyn Facts, request: &RollBack, past: &PastRedemption) -> Result<(), Refusal> {
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
    if found.is_none() || found != past.customer_id {
        return Err(Refusal::new(Reason::InvalidCustomer, "Customer is not related with redemption."));
    }
    Ok(())
}

fn check_order(facts: &dyn Facts, request: &RollBack, past: &PastRedemption) -> Result<(), Refusal> {
    let sent = request.order.as_ref();
    let Some(key) = sent.and_then(|order| order.id.as_deref().or(order.source_id.as_deref())) else {
        return Ok(());
    };
    let found = facts.order(key).found().and_then(|order| order.id.clone());
    let own = past.order.as_ref().and_then(|order| order.id.as_ref());
    if found.is_none() || found.as_ref() != own {
        return Err(Refusal::new(Reason::InvalidOrder, "Order is not related with redemption."));
    }
    Ok(())
}

/// The order without what this redemption took off; what other redemptions took off stays.
fn undo_order(order: Order, past: &PastRedemption, request: &RollBack) -> Order {
    let rest = |now: Option<Money>, off: Money| now.map(|now| now.saturating_sub(off)).filter(|left| !left.is_zero());
    let off = past.order.as_ref();
    let mut order = order;
    order.discount_amount = rest(order.discount_amount, off.map(|off| off.discount).unwrap_or_default());
    for (place, item) in order.items.iter_mut().enumerate() {
        let line = off.and_then(|off| off.lines.get(place)).copied().unwrap_or_default();
        item.discount_amount = rest(item.discount_amount, line.discount);
        // A line that was sent anew since has no first quantity: the units that came or went are not in it any more.
        let line = if item.initial_quantity.is_some() { line } else { PastLine::default() };
        item.quantity = without(item.quantity, line.units);
        item.discount_quantity =
            item.discount_quantity.map(|free| without(free, line.free_units)).filter(|free| *free > 0);
        item.amount = item.amount.map(|amount| undo(amount, line.worth));
        order.amount = order.amount.map(|amount| undo(amount, line.worth));
        // Units that went took with them what others gave on them.
        let most = item.amount.unwrap_or(Money::MAX);
        item.discount_amount = item.discount_amount.map(|off| off.min(most)).filter(|off| !off.is_zero());
        item.discount_quantity = item.discount_quantity.map(|free| free.min(item.quantity)).filter(|free| *free > 0);
    }
    // Lines that were added for free units stand last. One without units is nobody's any more.
    while order.items.last().is_some_and(|item| item.quantity == 0 && item.initial_quantity == Some(0)) {
        order.items.pop();
    }
    let status = request.order.as_ref().and_then(|order| order.status);
    order.status = Some(status.unwrap_or(OrderStatus::Canceled));
    order
}

/// A count before units were added to it, or taken from it when `change` is negative.
fn without(count: u64, change: i64) -> u64 {
    let before = i64::try_from(count).unwrap_or(i64::MAX).saturating_sub(change);
    u64::try_from(before).unwrap_or(0)
}

fn undo(amount: Money, change: i64) -> Money {
    Money::from_wide(u128::from(without(amount.minor(), change))).unwrap_or(amount)
}
