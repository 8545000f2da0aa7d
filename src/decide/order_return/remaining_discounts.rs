//! Decides which part of each redemption's discounts remains on an order, and which part a return takes.

use crate::count::Countable;
use crate::decide::order_return::free_units::{
    fit_free_discounts, free_units_discount_on, move_free_units, remove_free_units,
};
use crate::decide::order_return::line_goods::OrderGoods;
use crate::decide::order_return::share::OrderShare;
use crate::model::order::Order;
use crate::model::order_return::{RemainingDiscount, RemainingLineDiscount};
use crate::model::redemption::{LineEffect, StoredRedemption};
use crate::money::Money;
use crate::pricing::spread::{SpreadShare, spread};
use crate::refusal::Refusal;
use crate::text::Text;

/// Returns the remaining discounts of a redemption on an order.
pub fn find_remaining_discount(redemption: &StoredRedemption, order: &Order) -> RemainingDiscount {
    let known = order
        .returns
        .iter()
        .rev()
        .find_map(|one| one.remaining_discounts.iter().find(|remaining| remaining.id == redemption.id));
    if let Some(known) = known {
        let mut remaining = known.clone();
        remaining.lines.iter_mut().for_each(|line| line.earlier = earlier_of(redemption, line));
        return remaining;
    }
    let mut remaining = RemainingDiscount { id: redemption.id.clone(), ..RemainingDiscount::default() };
    let Some(own) = redemption.order.as_ref().filter(|own| own.id.is_some() && own.id == order.id) else {
        return remaining;
    };
    remaining.discount = own.discount;
    for (line, line_id) in own.lines.iter().zip(&own.line_ids) {
        if *line != LineEffect::default() && !line_id.is_empty() {
            let LineEffect { discount, units, free_units, worth, earlier } = *line;
            remaining.lines.push(RemainingLineDiscount {
                line_id: line_id.clone(),
                discount,
                units,
                free_units,
                worth,
                earlier,
            });
        }
    }
    remaining
}

/// Returns the part of the price of the remaining free units that earlier discounts had taken.
fn earlier_of(redemption: &StoredRedemption, line: &RemainingLineDiscount) -> Money {
    let own = redemption.order.iter().flat_map(|own| own.lines.iter().zip(&own.line_ids));
    let Some((own, _)) = own.into_iter().find(|(_, id)| **id == line.line_id) else { return Money::ZERO };
    // Removed units, whose number is negative, are not free.
    let units = |units: i64| u64::try_from(units).unwrap_or(0);
    // Without free units no part of their price was discounted.
    own.earlier.portion(units(line.free_units), units(own.free_units)).unwrap_or_default().min(own.earlier)
}

/// Takes from the redemptions the discounts that a share gives up. Discounts that no redemption granted bear their part
/// too.
pub fn remove_returned(order: &Order, back: &OrderShare, remaining_discounts: &mut [RemainingDiscount]) {
    if back.is_full {
        for remaining in remaining_discounts.iter_mut() {
            *remaining = RemainingDiscount { id: remaining.id.clone(), ..RemainingDiscount::default() };
        }
        return;
    }
    let of_order = remaining_discounts.iter_mut().map(|remaining| &mut remaining.discount).collect();
    lower(back.order_discount, order.discount_amount.unwrap_or_default(), of_order);
    for line in &back.lines {
        let Some(item) = order.items.get(line.position) else { continue };
        let Some(id) = &item.id else { continue };
        let others =
            item.discount_amount.unwrap_or_default().remaining_after(free_units_discount_on(remaining_discounts, id));
        let of_paid = remaining_discounts
            .iter_mut()
            .filter_map(|remaining| remaining.line_mut(id))
            .filter(|own| own.free_units <= 0);
        lower(line.paid_discount, others, of_paid.map(|own| &mut own.discount).collect());
        let left = item.quantity.remaining_after(line.paid).remaining_after(line.free);
        remove_free_units(line, left, id, remaining_discounts);
    }
    for remaining in remaining_discounts.iter_mut() {
        let empty = |line: &RemainingLineDiscount| line.discount.is_zero() && line.units == 0 && line.free_units == 0;
        remaining.lines.retain(|line| !empty(line));
    }
}

/// Takes an amount from the parts of a whole by largest remainder.
fn lower(amount: Money, total: Money, parts: Vec<&mut Money>) {
    let granted = Money::capped_sum(parts.iter().map(|part| **part));
    let others = total.remaining_after(granted);
    let amounts = parts.iter().map(|part| **part).chain([others]);
    let mut shares: Vec<SpreadShare> =
        amounts.enumerate().map(|(position, part)| SpreadShare::new(position, part.minor(), part)).collect();
    spread(amount, &mut shares);
    for (part, share) in parts.into_iter().zip(shares) {
        *part = part.remaining_after(share.given);
    }
}

/// Moves the effects of redemptions to the present lines of an order: units move to another line of the same goods when
/// a line is split or merged. Only the order determines the amount of each line. Numbers out of bounds end the decision.
pub fn settle_on_lines(
    order: &Order,
    goods: &OrderGoods<'_>,
    remaining_discounts: &mut [RemainingDiscount],
) -> Result<(), Refusal> {
    let mut line_ids: Vec<Text> =
        remaining_discounts.iter().flat_map(|remaining| &remaining.lines).map(|line| line.line_id.clone()).collect();
    line_ids.sort_unstable();
    line_ids.dedup();
    line_ids.retain(|id| !goods.is_fixed(id));
    let free = line_ids.iter().try_for_each(|id| move_free_units(order, goods, id, remaining_discounts));
    free.ok_or_else(Refusal::out_of_bounds)?;
    let moved = line_ids.iter().try_for_each(|id| move_discounts(order, goods, id, remaining_discounts));
    moved.ok_or_else(Refusal::out_of_bounds)?;
    fit_free_discounts(order, goods, remaining_discounts);
    Ok(())
}

/// Moves the discounts that redemptions have on a line beyond its own to lines with more than theirs. `None` if one
/// leaves its bounds.
fn move_discounts(
    order: &Order,
    goods: &OrderGoods<'_>,
    line_id: &Text,
    remaining_discounts: &mut [RemainingDiscount],
) -> Option<()> {
    let own = order.line(line_id);
    let off = own.and_then(|item| item.discount_amount).unwrap_or_default();
    let excess = discount_on(remaining_discounts, Some(line_id)).remaining_after(off);
    if excess.is_zero() {
        return Some(());
    }
    let others = order.items.iter().enumerate().filter(|(_, item)| goods.may_move(line_id, item));
    let capacity = others.filter_map(|(position, item)| {
        let known = discount_on(remaining_discounts, Some(item.id.as_ref()?));
        Some((position, item.discount_amount?.remaining_after(known)))
    });
    let capacity: Vec<(usize, Money)> = capacity.filter(|(_, capacity)| !capacity.is_zero()).collect();
    let all = Money::capped_sum(capacity.iter().map(|(_, capacity)| *capacity));
    let own = |position: usize, remaining: &RemainingDiscount| {
        let own = remaining.line(line_id)?.discount;
        Some(SpreadShare::new(position, own.minor(), own))
    };
    let mut parts: Vec<SpreadShare> =
        remaining_discounts.iter().enumerate().filter_map(|(position, remaining)| own(position, remaining)).collect();
    spread(excess.min(all), &mut parts);
    let mut capacity = capacity.into_iter();
    let mut free = capacity.next();
    for part in parts {
        let Some(remaining) = remaining_discounts.get_mut(part.position) else { continue };
        remaining
            .line_mut(line_id)
            .into_iter()
            .for_each(|line| line.discount = line.discount.remaining_after(part.given));
        let mut missing = part.given;
        while let Some((position, left)) = free.filter(|_| !missing.is_zero()) {
            let moved = missing.min(left);
            let to = order.items.get(position).and_then(|item| item.id.as_ref());
            to.map_or(Some(()), |to| add_discount(remaining, to, moved))?;
            missing = missing.remaining_after(moved);
            let left = left.remaining_after(moved);
            free = if left.is_zero() { capacity.next() } else { Some((position, left)) };
        }
    }
    Some(())
}

/// Returns the discount of redemptions on a line, or on the whole order.
pub fn discount_on(remaining_discounts: &[RemainingDiscount], line_id: Option<&str>) -> Money {
    let of = |remaining: &RemainingDiscount| match line_id {
        Some(line_id) => remaining.line(line_id).map(|line| line.discount),
        None => Some(remaining.discount),
    };
    // The cart of the order keeps the sum of its discounts within bounds.
    Money::capped_sum(remaining_discounts.iter().filter_map(of))
}

fn add_discount(remaining: &mut RemainingDiscount, line_id: &Text, amount: Money) -> Option<()> {
    if amount.is_zero() {
        return Some(());
    }
    remaining.change_line(line_id, |line| {
        line.discount = line.discount.checked_add(amount)?;
        Some(())
    })
}

/// Takes an amount from the discounts of redemptions on a line or on the order. Card payments are reduced first, then
/// the other discounts, and free units last. `total` is the discount with the part that no redemption granted.
pub fn reduce_discounts(
    amount: Money,
    total: Money,
    remaining_discounts: &mut [RemainingDiscount],
    is_card: &[bool],
    line_id: Option<&str>,
) {
    let [mut cards, mut free, mut others] = [Vec::new(), Vec::new(), Vec::new()];
    for (remaining, is_card) in remaining_discounts.iter_mut().zip(is_card) {
        match line_id {
            None if *is_card => cards.push(&mut remaining.discount),
            None => others.push(&mut remaining.discount),
            Some(line_id) => match remaining.line_mut(line_id) {
                Some(line) if *is_card => cards.push(&mut line.discount),
                Some(line) if line.free_units > 0 => free.push(&mut line.discount),
                Some(line) => others.push(&mut line.discount),
                None => {}
            },
        }
    }
    let sum = |parts: &[&mut Money]| Money::capped_sum(parts.iter().map(|part| **part));
    let (paid, free_paid) = (sum(&cards), sum(&free));
    let of_cards = amount.min(paid);
    let remaining = total.remaining_after(paid).remaining_after(free_paid);
    let of_others = amount.remaining_after(of_cards).min(remaining);
    lower(of_cards, paid, cards);
    lower(of_others, remaining, others);
    lower(amount.remaining_after(of_cards).remaining_after(of_others), free_paid, free);
}

/// Returns the remaining effect on a line, as a rollback undoes it.
pub fn as_line_effect(line: &RemainingLineDiscount) -> LineEffect {
    let RemainingLineDiscount { discount, units, free_units, worth, earlier, .. } = *line;
    LineEffect { discount, units, free_units, worth, earlier }
}

/// Takes the remaining discounts of a redemption off an order.
pub fn remove_discounts(order: &mut Order, remaining: &RemainingDiscount) {
    let less = |amount: &mut Option<Money>, by: Money| {
        *amount = amount.map(|amount| amount.remaining_after(by)).filter(|amount| !amount.is_zero());
    };
    less(&mut order.discount_amount, remaining.discount);
    for item in &mut order.items {
        let line = item.id.as_ref().and_then(|id| remaining.line(id));
        if let Some(line) = line {
            less(&mut item.discount_amount, line.discount);
        }
    }
}
