//! Builds the initial cart of an order: unit prices, amounts of lines and the amount of the order.
//!
//! docs/spec/calculation.md#2.

use crate::facts::Facts;
use crate::model::order::{Goods, Item, Order};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::goods::{LineGoods, find_goods};
use crate::refusal::{Reason, Refusal};
use crate::rules::ResolvedLine;
use crate::text::Text;

/// An order with the catalogue's goods of its lines, and the resulting amounts.
#[derive(Debug, Clone, Default)]
pub struct PricedOrder<'a> {
    /// The catalogue's goods of each line, in their order.
    goods: Vec<LineGoods<'a>>,
    /// The amounts before this request.
    pub cart: Cart,
}

impl PricedOrder<'_> {
    /// Returns the catalogue's SKU of the line at this position.
    pub fn sku(&self, position: usize) -> Option<&Goods> {
        self.goods.get(position)?.sku.as_deref()
    }

    /// Returns the catalogue's product of the line at this position.
    pub fn product(&self, position: usize) -> Option<&Goods> {
        self.goods.get(position)?.product.as_deref()
    }

    /// Returns the order without the sent fields of goods that the catalogue has; `None` if no fields of goods were
    /// sent.
    pub fn with_catalogue_fields(&self, order: &Order) -> Option<Order> {
        if order.items.iter().all(|item| item.sku.is_none() && item.product.is_none()) {
            return None;
        }
        let mut order = order.clone();
        for (item, goods) in order.items.iter_mut().zip(&self.goods) {
            goods.override_sent_fields(item);
        }
        Some(order)
    }

    /// Returns the resolved line at this position, for rules and scopes. Lines that unit effects added contain all
    /// their data.
    pub fn line<'t>(&'t self, position: usize, item: &'t Item) -> ResolvedLine<'t> {
        const NOTHING: &LineGoods<'_> = &LineGoods { sku: None, product: None };
        self.goods.get(position).unwrap_or(NOTHING).line(item)
    }
}

/// The source of prices (docs/spec/calculation.md#19, D13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// Sent or stored prices first, then the catalogue.
    Sent,
    /// The catalogue, and sent prices for goods that it does not have: the prices of a client are not trusted.
    Catalogue,
}

/// Finds the goods of an order, once for all later steps, and computes its amounts. `missing` receives the goods that
/// only the server knows. Refuses amounts beyond the maximum.
pub fn price<'a>(
    order: &Order,
    facts: &'a dyn Facts,
    price_source: PriceSource,
    missing: &mut dyn FnMut(Text),
    priced: &mut PricedOrder<'a>,
) -> Result<(), Refusal> {
    facts.expect_goods(order);
    let mut lines = Vec::with_capacity(order.items.len());
    let mut goods = Vec::with_capacity(order.items.len());
    for (position, item) in order.items.iter().enumerate() {
        let found = find_goods(item, facts, missing);
        let line = price_line(item, found.price(), price_source);
        lines.push(line.ok_or_else(|| too_large(&format!("order.items[{position}]")))?);
        goods.push(found);
    }
    let mut cart = Cart::new(lines, order.discount_amount).map_err(too_large)?;
    // The order amount of a client counts only if the price of some line is not in the catalogue.
    let all_listed = !goods.is_empty() && goods.iter().all(|goods| goods.price().is_some());
    cart.amount = order.amount.filter(|_| price_source == PriceSource::Sent || !all_listed).or(cart.amount);
    cart.initial_amount = order.initial_amount.or(cart.amount);
    (priced.goods, priced.cart) = (goods, cart);
    Ok(())
}

fn too_large(path: &str) -> Refusal {
    let bound = crate::money::LARGEST;
    Refusal::new(Reason::InvalidAmount, format!("Property .{path} amounts to more than {bound}"))
}

/// Returns the unit price that the line itself has.
fn own_price(item: &Item) -> Option<Money> {
    let inline = |goods: &Option<Box<Goods>>| goods.as_ref().and_then(|goods| goods.price);
    item.price.or_else(|| inline(&item.sku)).or_else(|| inline(&item.product))
}

/// Returns a line with the sent amount, or else with the price of its units. A unit has a price also if the amount was
/// sent (docs/spec/calculation.md#19, D6).
fn price_line(item: &Item, listed: Option<Money>, price_source: PriceSource) -> Option<Line> {
    let (sent, price) = match price_source {
        PriceSource::Sent => (item.amount, own_price(item).or(listed)),
        PriceSource::Catalogue => (item.amount.filter(|_| listed.is_none()), listed.or_else(|| own_price(item))),
    };
    let amount = match (sent, price) {
        (Some(amount), _) => Some(amount),
        (None, Some(price)) => Some(price.checked_mul(item.quantity)?),
        (None, None) => None,
    };
    Some(Line {
        quantity: item.quantity,
        // A line that states no free units has none.
        free: item.discount_quantity.unwrap_or(0).min(item.quantity),
        price,
        amount,
        discount: item.discount_amount,
        applied: None,
    })
}
