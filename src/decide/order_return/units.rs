//! Decides which units of an order a request returns, or why it cannot return them.

use crate::count::{Countable, share, total};
use crate::decide::order_return::share::{free_units, paid_units};
use crate::model::order::{Item, Order, RelatedObject};
use crate::refusal::{Reason, Refusal};
use crate::text::Text;

/// Units that a request returns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestedUnits {
    /// The line, by id.
    pub line_id: Option<Text>,
    /// The goods, named as on an order line.
    pub goods: Item,
    /// The number of units.
    pub quantity: u64,
}

/// Returns the number of paid units to return of each line.
pub fn requested_units(order: &Order, request: &[RequestedUnits]) -> Result<Vec<u64>, Refusal> {
    let mut back = vec![0_u64; order.items.len()];
    for (number, units) in request.iter().enumerate() {
        if units.line_id.is_none() && names(&units.goods).next().is_none() && units.goods.source_id.is_none() {
            let details =
                format!("Property .items[{number}] should have required property 'id', or fields that name goods");
            return Err(Refusal::new(Reason::InvalidPayload, details));
        }
        let lines = lines_of(order, units);
        if lines.is_empty() {
            let name = units.line_id.as_ref().or_else(|| names(&units.goods).next());
            return Err(wrong(number, "", "must name an item of the order", name.map_or("", Text::as_str)));
        }
        let left = |position: usize, back: &[u64]| {
            // Lines beyond the ends of these lists have no units.
            let paid = order.items.get(position).map_or(0, paid_units);
            // Lines beyond the end return nothing.
            paid.remaining_after(back.get(position).copied().unwrap_or(0))
        };
        let has_paid = lines.iter().any(|position| order.items.get(*position).is_some_and(|item| paid_units(item) > 0));
        if !has_paid {
            let free = lines.iter().filter_map(|position| order.items.get(*position)).map(free_units);
            let free = total(free).ok_or_else(Refusal::out_of_bounds)?;
            return Err(wrong(number, "", "must NOT name units that were free", &free.to_string()));
        }
        let most = total(lines.iter().map(|position| left(*position, &back))).ok_or_else(Refusal::out_of_bounds)?;
        if units.quantity > most {
            let bound = format!("must be <= {most}");
            return Err(wrong(number, ".quantity", &bound, &units.quantity.to_string()));
        }
        let mut missing = units.quantity;
        for position in lines {
            let taken = left(position, &back).min(missing);
            if let Some(count) = back.get_mut(position) {
                *count = count.checked_add(taken).ok_or_else(Refusal::out_of_bounds)?;
            }
            missing = missing.remaining_after(taken);
        }
    }
    Ok(back)
}

/// Units that a line loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LostUnits {
    /// Units that were paid.
    pub paid: u64,
    /// Units that were free.
    pub free: u64,
}

/// Decides which units are returned when the lines of an order have fewer. As many paid ones are returned as fit
/// together with the free units that belong to them; the rest were free. `left` has the units that each line keeps.
pub fn lost_units(order: &Order, left: &[u64]) -> Vec<LostUnits> {
    let of_line = |position: usize, item: &Item| {
        let gone = item.quantity.remaining_after(left.get(position).copied().unwrap_or(item.quantity));
        let (paid, free) = (paid_units(item), free_units(item));
        let has_capacity = |back: u64| share(free, back, paid).is_some_and(|free| free <= gone.remaining_after(back));
        // The sum grows with the number, so binary search finds the largest.
        let (mut low, mut high) = (0, paid.min(gone));
        while low < high {
            let middle = high.remaining_after(high.remaining_after(low) >> 1);
            match has_capacity(middle) {
                true => low = middle,
                false => high = middle.remaining_after(1),
            }
        }
        LostUnits { paid: low, free: gone.remaining_after(low) }
    };
    order.items.iter().enumerate().map(|(position, item)| of_line(position, item)).collect()
}

/// Returns the lines that requested units name.
fn lines_of(order: &Order, units: &RequestedUnits) -> Vec<usize> {
    let is_named = |item: &Item| match &units.line_id {
        Some(id) => item.id.as_ref() == Some(id),
        None => is_same(&units.goods, item),
    };
    let named = order.items.iter().enumerate().filter(|(_, item)| is_named(item));
    named.map(|(position, _)| position).collect()
}

/// Returns whether a line has the SKU of goods or, if they have none, their product or `source_id`.
pub fn is_same(goods: &Item, item: &Item) -> bool {
    let same = |kind| goods.names(kind).any(|name| item.names(kind).any(|known| known == name));
    match goods.names(RelatedObject::Sku).next() {
        Some(_) => same(RelatedObject::Sku),
        None => same(RelatedObject::Product) || goods.source_id.is_some() && goods.source_id == item.source_id,
    }
}

fn names(goods: &Item) -> impl Iterator<Item = &Text> {
    goods.names(RelatedObject::Sku).chain(goods.names(RelatedObject::Product))
}

fn wrong(number: usize, field: &str, bound: &str, value: &str) -> Refusal {
    let details = format!("Property .items[{number}]{field} {bound} (actual value is `{value}`)");
    Refusal::new(Reason::InvalidPayload, details)
}
