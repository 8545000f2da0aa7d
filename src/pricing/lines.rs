//! Decides the cart that an order starts as: what a unit costs, what the line and the order amount to. It must not know
//! discounts.
//!
//! calculation.md section 2.

use crate::facts::Facts;
use crate::model::order::{Goods, Item, Order};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::pricing::goods::{LineGoods, find_goods};
use crate::refusal::{Reason, Refusal};
use crate::rules::ResolvedLine;
use crate::text::Text;

/// An order with the catalogue's goods beside its lines, and the amounts that follow.
#[derive(Debug, Clone, Default)]
pub struct Priced<'a> {
    /// What the catalogue has of each line, in their order.
    goods: Vec<LineGoods<'a>>,
    /// The amounts before this request.
    pub cart: Cart,
}

impl Priced<'_> {
    /// The SKU of the catalogue that the line at this place is of.
    pub fn sku(&self, place: usize) -> Option<&Goods> {
        self.goods.get(place)?.sku.as_deref()
    }

    /// The product of the catalogue that the line at this place is of.
    pub fn product(&self, place: usize) -> Option<&Goods> {
        self.goods.get(place)?.product.as_deref()
    }

    /// The order without what it says of goods that the catalogue has; nothing where it says nothing of any goods.
    pub fn overruled(&self, order: &Order) -> Option<Order> {
        if order.items.iter().all(|item| item.sku.is_none() && item.product.is_none()) {
            return None;
        }
        let mut order = order.clone();
        for (item, goods) in order.items.iter_mut().zip(&self.goods) {
            goods.overrule(item);
        }
        Some(order)
    }

    /// The line at this place, as rules and scopes see it. Lines that unit effects added say everything themselves.
    pub fn line<'t>(&'t self, place: usize, item: &'t Item) -> ResolvedLine<'t> {
        const NOTHING: &LineGoods<'_> = &LineGoods { sku: None, product: None };
        self.goods.get(place).unwrap_or(NOTHING).line(item)
    }
}

/// Whose word counts for what an order costs (calculation.md section 19, D13).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// What is sent, or was stored, and then the catalogue.
    Sent,
    /// The catalogue, and what is sent where it says nothing: a page's prices have nobody who vouches for them.
    Catalogue,
}

/// Looks the goods of an order up, once for everything that asks for them later, and prices it. `lacks` is told which
/// goods only the server knows.
pub fn price<'a>(
    order: &Order,
    facts: &'a dyn Facts,
    trust: Trust,
    lacks: &mut dyn FnMut(Text),
    priced: &mut Priced<'a>,
) -> Result<(), Refusal> {
    facts.expect_goods(order);
    let mut lines = Vec::with_capacity(order.items.len());
    let mut goods = Vec::with_capacity(order.items.len());
    for (place, item) in order.items.iter().enumerate() {
        let found = find_goods(item, facts, lacks);
        let line = price_line(item, found.price(), trust);
        lines.push(line.ok_or_else(|| too_large(&["order.items[", &place.to_string(), "]"].concat()))?);
        goods.push(found);
    }
    let mut cart = Cart::new(lines, order.discount_amount).map_err(too_large)?;
    // A page's word for the whole counts only where it has a say in a line.
    let all_listed = !goods.is_empty() && goods.iter().all(|goods| goods.price().is_some());
    cart.amount = order.amount.filter(|_| trust == Trust::Sent || !all_listed).or(cart.amount);
    cart.initial_amount = order.initial_amount.or(cart.amount);
    (priced.goods, priced.cart) = (goods, cart);
    Ok(())
}

fn too_large(path: &str) -> Refusal {
    let bound = crate::money::LARGEST;
    Refusal::new(Reason::InvalidAmount, ["Property .", path, " amounts to more than ", &bound.to_string()].concat())
}

/// What the line itself says that a unit costs.
fn own_price(item: &Item) -> Option<Money> {
    let inline = |goods: &Option<Box<Goods>>| goods.as_ref().and_then(|goods| goods.price);
    item.price.or_else(|| inline(&item.sku)).or_else(|| inline(&item.product))
}

/// A line with the amount that was sent, or else with what its units cost. A unit has a price also where the amount was
/// sent (calculation.md section 19, D6).
fn price_line(item: &Item, listed: Option<Money>, trust: Trust) -> Option<Line> {
    let (sent, price) = match trust {
        Trust::Sent => (item.amount, own_price(item).or(listed)),
        Trust::Catalogue => (item.amount.filter(|_| listed.is_none()), listed.or_else(|| own_price(item))),
    };
    let amount = match (sent, price) {
        (Some(amount), _) => Some(amount),
        (None, Some(price)) => Some(price.checked_mul(item.quantity)?),
        (None, None) => None,
    };
    Some(Line {
        quantity: item.quantity,
        free: item.discount_quantity.unwrap_or(0).min(item.quantity),
        price,
        amount,
        discount: item.discount_amount,
        applied: None,
    })
}
