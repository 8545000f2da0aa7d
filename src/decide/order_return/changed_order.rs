//! Decides the effect of a change of a stored order on the discounts of its redemptions. Lines with fewer units give up
//! their shares, and no discount exceeds the amount that it applies to.

use crate::decide::order_return::answer::ReturnOutcome;
use crate::decide::order_return::line_goods::OrderGoods;
use crate::decide::order_return::moved_lines::{LineDiscounts, LineMoves};
use crate::decide::order_return::remaining_discounts::{discount_on, reduce_discounts, settle_on_lines};
use crate::decide::order_return::settled::{DiscountSettlement, Redemptions, Settlement};
use crate::decide::order_return::share::{OrderShare, share_units};
use crate::decide::order_return::units::lost_units;
use crate::facts::Facts;
use crate::id::Context;
use crate::model::order::{Item, Metadata, Order, OrderStatus};
use crate::model::order_return::ReturnPolicy;
use crate::money::Money;
use crate::pricing::lines::{PriceSource, PricedOrder, price};
use crate::pricing::spread::{SpreadShare, spread};
use crate::pricing::{Cart, Line};
use crate::refusal::Refusal;

/// A change of a stored order.
pub struct OrderChange<'a> {
    /// The order before it.
    pub stored: &'a Order,
    /// The order with the change, without the remaining discounts.
    pub order: Order,
    /// `true` if the change sets the discount of the order to another value than the stored one.
    pub has_discount: bool,
    /// The source of prices: the request or the catalogue.
    pub price_source: PriceSource,
}

/// A function that decides a change of a stored order. Only the server has the redemptions of stored orders; without it
/// a change is not decided.
pub type DecideChange =
    for<'f, 'o, 'c> fn(&'f dyn Facts, OrderChange<'o>, &'c Context) -> Result<ChangedOrder, Refusal>;

/// A changed order.
pub struct ChangedOrder {
    /// The order with the remaining discounts.
    pub order: Order,
    /// The returned part, if there is one.
    pub returned: Option<ReturnOutcome>,
}

/// Puts the remaining discounts onto a changed order, and decides the returned part.
pub fn change_order(facts: &dyn Facts, change: OrderChange<'_>, context: &Context) -> Result<ChangedOrder, Refusal> {
    let OrderChange { stored, mut order, has_discount, price_source } = change;
    if stored.redemptions.is_empty() {
        return Ok(ChangedOrder { order, returned: None });
    }
    let redemptions = Redemptions::find(facts, stored)?;
    if redemptions.parts.is_empty() && !has_discounts(stored) {
        let cart = find_amounts(facts, &order, price_source)?;
        lower_uncovered(stored, &mut order, &cart);
        return Ok(ChangedOrder { order, returned: None });
    }
    let moved = LineMoves::find(stored, &order);
    let lost = lost_units(stored, &moved.remaining_units());
    let paid: Vec<u64> = lost.iter().map(|lost| lost.paid).collect();
    let free: Vec<u64> = lost.iter().map(|lost| lost.free).collect();
    let back = share_units(stored, &paid, &free);
    let mut settled = DiscountSettlement::by_share(stored, &back, &redemptions);
    if !back.lines.is_empty() {
        moved.remove_stale_amounts(stored, &mut order);
    }
    let states_discount = has_discount && order.discount_amount != stored.discount_amount;
    if !states_discount {
        order.discount_amount = settled.order.discount_amount;
    }
    let line_discounts = moved.move_values(stored, &settled.order, &mut order);
    let line_discounts = line_discounts.ok_or_else(Refusal::out_of_bounds)?;
    let mut cart = find_amounts(facts, &order, price_source)?;
    fit_free_units(&mut order, &mut cart, &line_discounts);
    let goods = OrderGoods::of(stored, &redemptions.parts);
    settle_on_lines(&with_amounts(&order, &cart), &goods, &mut settled.remaining_discounts)?;
    let stated =
        StatedDiscounts { order: states_discount, lines: line_discounts.iter().map(|line| line.is_stated).collect() };
    let keeps_stated = !is_lower(stored, &order, &cart);
    let is_cut = cut_to_amounts(&mut order, &mut cart, &stated.only_if(keeps_stated), &redemptions, &mut settled);
    let is_cut = is_cut.ok_or_else(Refusal::out_of_bounds)?;
    let is_less = cut_to_stated(&order, &stated, &redemptions, &mut settled);
    let gross = settled.order.amount;
    let is_returned = (is_cut || is_less || !back.lines.is_empty()) && order.status != Some(OrderStatus::Canceled);
    let returned = is_returned.then(|| {
        settled.cost = cost_without_added(&order, &cart, gross);
        if states_amount(&order, &cart) && cart.total() < Cart::stored(&settled.order).total() {
            settled.order = with_amounts(&order, &cart);
        }
        settle(stored, &back, &redemptions, settled, context)
    });
    let returned = returned.transpose()?;
    match &returned {
        Some(outcome) => order.set_uncovered(outcome.returned.uncovered),
        None => settle_uncovered(stored, &mut order, &cart, gross),
    }
    Ok(ChangedOrder { order, returned })
}

/// Marks the discounts that a change sets itself: that of the order, and those of its lines.
struct StatedDiscounts {
    order: bool,
    lines: Vec<bool>,
}

impl StatedDiscounts {
    fn only_if(&self, condition: bool) -> StatedDiscounts {
        StatedDiscounts {
            order: self.order && condition,
            lines: self.lines.iter().map(|is_stated| *is_stated && condition).collect(),
        }
    }
}

fn has_discounts(order: &Order) -> bool {
    order.discount_amount.is_some() || order.items.iter().any(|item| item.discount_amount.is_some())
}

/// Returns the cost of a changed order without added units, which are paid for separately; `gross` is the remaining
/// amount before the addition.
fn cost_without_added(order: &Order, cart: &Cart, gross: Option<Money>) -> Option<Money> {
    let (total, amount) = cart.total().zip(cart.amount).filter(|_| states_amount(order, cart))?;
    Some(total.remaining_after(amount.remaining_after(gross?)))
}

fn settle(
    stored: &Order,
    back: &OrderShare,
    redemptions: &Redemptions,
    settled: DiscountSettlement,
    context: &Context,
) -> Result<ReturnOutcome, Refusal> {
    let (policy, metadata) = (ReturnPolicy::Share, Metadata::default());
    Settlement { order: stored, back, redemptions, settled, policy, metadata }.decide(context)
}

/// Returns whether the amount of an order is known: it has one, or all of its lines do.
fn states_amount(order: &Order, cart: &Cart) -> bool {
    order.amount.is_some() || cart.lines.iter().all(|line| line.amount.is_some())
}

/// Returns whether the order or one of its lines has a lower amount than before.
fn is_lower(stored: &Order, order: &Order, cart: &Cart) -> bool {
    let is_lower_line = |item: &Item, line: &Line| {
        let known = item.id.as_deref().and_then(|id| stored.line(id));
        known.is_some_and(|known| line.amount.is_some() && line.amount < known.amount)
    };
    cart.amount < stored.amount || order.items.iter().zip(&cart.lines).any(|(item, line)| is_lower_line(item, line))
}

/// Returns the amounts of an order.
fn find_amounts(facts: &dyn Facts, order: &Order, price_source: PriceSource) -> Result<Cart, Refusal> {
    let mut priced = PricedOrder::default();
    price(order, facts, price_source, &mut |_| {}, &mut priced)?;
    Ok(priced.cart)
}

fn with_amounts(order: &Order, cart: &Cart) -> Order {
    let mut order = Order { amount: cart.amount, ..order.clone() };
    for (item, line) in order.items.iter_mut().zip(&cart.lines) {
        item.amount = line.amount;
    }
    order
}

/// Sets the unpaid part to the cost of an order beyond the payment, without added units. A discount that is lost
/// without a return is no money to refund. `gross` is the remaining amount of the order before the addition.
fn settle_uncovered(stored: &Order, order: &mut Order, cart: &Cart, gross: Option<Money>) {
    if !stored.may_be_paid() {
        return order.set_uncovered(Money::ZERO);
    }
    let Some(cost) = cost_without_added(order, cart, gross) else { return };
    // Nothing was paid for an order without an amount.
    let paid = Cart::stored(stored).total().unwrap_or_default().remaining_after(stored.uncovered());
    order.set_uncovered(cost.remaining_after(paid));
}

/// Lowers the unpaid part when an order costs less.
fn lower_uncovered(stored: &Order, order: &mut Order, cart: &Cart) {
    if !states_amount(order, cart) {
        return;
    }
    // An order without an amount costs nothing.
    let total = |cart: &Cart| cart.total().unwrap_or_default();
    let less = total(&Cart::stored(stored)).remaining_after(total(cart));
    order.set_uncovered(stored.uncovered().remaining_after(less));
}

/// Sets the carried discount of free units to their present price: they stay free when their price changes.
fn fit_free_units(order: &mut Order, cart: &mut Cart, line_discounts: &[LineDiscounts]) {
    for ((item, line), line_discounts) in order.items.iter_mut().zip(&mut cart.lines).zip(line_discounts) {
        let (Some(price), false) = (line.price, line_discounts.is_stated || line_discounts.free_units == 0) else {
            continue;
        };
        // A line without an amount does not limit its discount.
        let most = line.amount.unwrap_or(Money::MAX);
        let of_free = price.capped_mul(line_discounts.free_units).min(most);
        let of_paid = line.discount.unwrap_or_default().remaining_after(line_discounts.free_discount);
        line.discount = of_paid.checked_add(of_free).filter(|off| !off.is_zero());
        item.discount_amount = line.discount;
    }
}

/// Takes from the redemptions the discounts that a change removes; returns whether there are any.
fn cut_to_stated(
    order: &Order,
    stated: &StatedDiscounts,
    redemptions: &Redemptions,
    settled: &mut DiscountSettlement,
) -> bool {
    let is_card = redemptions.are_cards();
    let mut is_less = false;
    let mut cut_to = |off: Option<Money>, line_id: Option<&str>| {
        let granted = discount_on(&settled.remaining_discounts, line_id);
        let excess = granted.remaining_after(off.unwrap_or_default());
        reduce_discounts(excess, granted, &mut settled.remaining_discounts, &is_card, line_id);
        is_less |= !excess.is_zero();
    };
    if stated.order {
        cut_to(order.discount_amount, None);
    }
    for (item, _) in order.items.iter().zip(&stated.lines).filter(|(_, is_stated)| **is_stated) {
        item.id.iter().for_each(|id| cut_to(item.discount_amount, Some(id)));
    }
    is_less
}

/// Limits discounts, except those in `keeps`, to the amounts of the lines and the order; returns whether any was
/// lowered, or `None` if an amount leaves its bounds.
fn cut_to_amounts(
    order: &mut Order,
    cart: &mut Cart,
    keeps: &StatedDiscounts,
    redemptions: &Redemptions,
    settled: &mut DiscountSettlement,
) -> Option<bool> {
    let is_card = redemptions.are_cards();
    let mut is_cut = false;
    let mut excess_of_lines: Vec<Money> = cart.lines.iter().map(excess).collect();
    let amount = cart.amount.filter(|_| states_amount(order, cart));
    if let Some(amount) = amount {
        let off = |line: &Line, excess: &Money| line.discount.unwrap_or_default().remaining_after(*excess);
        let remaining_discounts: Vec<Money> =
            cart.lines.iter().zip(&excess_of_lines).map(|(line, excess)| off(line, excess)).collect();
        // The cart keeps the sum of its discounts within bounds.
        let all = Money::capped_sum(remaining_discounts.iter().copied());
        let remaining_discounts = remaining_discounts.iter().enumerate();
        let mut shares: Vec<SpreadShare> = remaining_discounts
            .map(|(position, remaining)| SpreadShare::new(position, remaining.minor(), *remaining))
            .collect();
        spread(all.remaining_after(amount), &mut shares);
        for (excess, share) in excess_of_lines.iter_mut().zip(shares) {
            *excess = excess.checked_add(share.given)?;
        }
    }
    let lines = order.items.iter_mut().zip(&mut cart.lines).zip(&keeps.lines).zip(excess_of_lines);
    for (((item, line), keeps), excess) in lines {
        let Some(off) = line.discount.filter(|_| !keeps && !excess.is_zero()) else { continue };
        item.id
            .iter()
            .for_each(|id| reduce_discounts(excess, off, &mut settled.remaining_discounts, &is_card, Some(id)));
        line.discount = Some(off.remaining_after(excess)).filter(|off| !off.is_zero());
        item.discount_amount = line.discount;
        is_cut = true;
    }
    if let (Some(amount), Some(off), false) = (amount, cart.discount, keeps.order) {
        let most = amount.remaining_after(cart.items_discount().unwrap_or_default());
        let excess = off.remaining_after(most);
        if !excess.is_zero() {
            reduce_discounts(excess, off, &mut settled.remaining_discounts, &is_card, None);
            cart.discount = Some(most).filter(|off| !off.is_zero());
            order.discount_amount = cart.discount;
            is_cut = true;
        }
    }
    Some(is_cut)
}

/// Returns the part of the discount of a line that exceeds its amount.
fn excess(line: &Line) -> Money {
    match (line.amount, line.discount) {
        (Some(amount), Some(off)) => off.remaining_after(amount),
        (_, Some(_) | None) => Money::ZERO,
    }
}
