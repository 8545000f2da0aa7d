//! Decides the cart that an order starts as: which product a line is, what a unit costs, what the line and the order
//! amount to. It must not know discounts.
//!
//! calculation.md section 2.

use std::borrow::Cow;

use crate::facts::{Facts, Known};
use crate::model::order::{Goods, Item, Order, RelatedObject};
use crate::money::Money;
use crate::pricing::cart::{Cart, Line};
use crate::refusal::{Reason, Refusal};
use crate::text::{Symbol, Text, digits, joined};

/// SKU and product of the catalogue beside a line.
type Beside<'a> = [Option<Cow<'a, Goods>>; 2];

/// An order with the catalogue's goods beside its lines, and the amounts that follow.
#[derive(Debug, Clone, Default)]
pub struct Priced<'a> {
    /// Goods of the catalogue by the line that they stand beside, in order. Most lines have none: they carry their own
    /// price.
    listed: Vec<(usize, Beside<'a>)>,
    /// Whether their own ids say what goods all lines are, as far as pricing found out.
    pub are_bare: bool,
    /// The amounts before this request.
    pub cart: Cart,
}

impl Priced<'_> {
    /// Whether no line has goods of the catalogue beside it.
    pub fn lists_nothing(&self) -> bool {
        self.listed.is_empty()
    }

    /// The SKU beside the line at this place.
    pub fn sku(&self, place: usize) -> Option<&Goods> {
        self.beside(place)?.first()?.as_deref()
    }

    /// The product beside the line at this place.
    pub fn product(&self, place: usize) -> Option<&Goods> {
        self.beside(place)?.last()?.as_deref()
    }

    #[inline(never)]
    fn beside(&self, place: usize) -> Option<&Beside<'_>> {
        let found = self.listed.binary_search_by_key(&place, |(beside, _)| *beside).ok()?;
        self.listed.get(found).map(|(_, goods)| goods)
    }
}

/// Prices an order. `catalogue_first` is for pages, whose prices nobody vouches for (calculation.md section 19, D13);
/// `lacks` is told which goods only the server knows.
pub fn price<'a>(
    order: &Order,
    facts: &'a dyn Facts,
    catalogue_first: bool,
    lacks: &mut dyn FnMut(Text),
    priced: &mut Priced<'a>,
) -> Result<(), Refusal> {
    let mut lines = Vec::with_capacity(order.items.len());
    let plain = if catalogue_first { None } else { plain_lines(&order.items, &mut lines) };
    let mut cart = match plain {
        Some(sum) => {
            let sum = Money::of(sum).ok_or_else(|| too_large("order.amount"))?;
            Cart::of(lines, Some(sum), order.discount_amount, order.discount_amount.unwrap_or_default())
        }
        None => {
            lines.clear();
            for (place, item) in order.items.iter().enumerate() {
                let line = price_listed(place, item, facts, catalogue_first, lacks, priced);
                lines.push(line.ok_or_else(|| too_large(&["order.items[", &digits(place), "]"].concat()))?);
            }
            Cart::new(lines, order.discount_amount).map_err(too_large)?
        }
    };
    // A page's word for the whole counts only where it has a say in a line (calculation.md section 19, D13).
    let all_listed = catalogue_first && !order.items.is_empty() && all_listed(order.items.len(), priced);
    cart.amount = order.amount.filter(|_| !all_listed).or(cart.amount);
    cart.initial_amount = order.initial_amount.or(cart.amount);
    priced.are_bare = plain.is_some();
    priced.cart = cart;
    Ok(())
}

/// Prices lines that say their product by its id, price and quantity, and nothing else of goods and amounts: nearly all.
/// What they amount to; nothing when one of them says something else, or there are none.
#[inline(never)]
fn plain_lines(items: &[Item], lines: &mut Vec<Line>) -> Option<u64> {
    let (mut sum, mut are_plain) = (0_u64, !items.is_empty());
    lines.extend(items.iter().map(|item| {
        let says_more = item.amount.is_some() | item.discount_amount.is_some() | item.discount_quantity.is_some();
        let price = item.price.filter(|_| !says_more && item.symbols[0] != Symbol::default());
        match price.and_then(|price| Some((price, price.times(item.quantity)?))) {
            Some((price, amount)) => {
                sum = sum.saturating_add(amount.minor());
                Line { quantity: item.quantity, price: Some(price), amount: Some(amount), ..Line::default() }
            }
            None => {
                are_plain = false;
                Line::default()
            }
        }
    }));
    are_plain.then_some(sum)
}

/// Prices a line, and asks the catalogue about it. A line that carries its own price is not asked about, unless the
/// catalogue's would win; a SKU without its product always is, because a scope may name the product.
#[inline(never)]
fn price_listed<'a>(
    place: usize,
    item: &Item,
    facts: &'a dyn Facts,
    catalogue_first: bool,
    lacks: &mut dyn FnMut(Text),
    priced: &mut Priced<'a>,
) -> Option<Line> {
    let mut find = |kind: &str, key: Option<&str>, found: Known<Cow<'a, Goods>>| match found {
        Known::Is(goods) => Some(goods),
        // Goods that are there and cannot be read say so themselves.
        Known::Absent | Known::Unreadable => None,
        Known::Unknown => {
            lacks(joined(&[kind, "/", key.unwrap_or_default()]));
            None
        }
    };
    let asks = catalogue_first || (item.amount.is_none() && own_price(item).is_none());
    if !asks && item.product_id.is_some() {
        return price_line(item, item.amount, own_price(item));
    }
    let product_key = goods_key(item, RelatedObject::Product);
    let key = goods_key(item, RelatedObject::Sku);
    let sku = match key {
        Some(key) if asks || product_key.is_none() => find("sku", Some(key), facts.sku(key)),
        _ => None,
    };
    let parent = sku.as_ref().and_then(|sku| sku.product_id.clone());
    let key = product_key.map(Text::from).or(parent);
    let product = match &key {
        Some(key) if asks => find("product", Some(key), facts.product(key)),
        _ => None,
    };
    let price = |goods: &Option<Cow<'_, Goods>>| goods.as_ref().and_then(|goods| goods.price);
    let listed = price(&sku).or_else(|| price(&product));
    let line = match catalogue_first {
        true => price_line(item, item.amount.filter(|_| listed.is_none()), listed.or_else(|| own_price(item))),
        false => price_line(item, item.amount, own_price(item).or(listed)),
    };
    if sku.is_some() || product.is_some() {
        // Lines come in order, so that the list stays sorted.
        priced.listed.push((place, [sku, product]));
    }
    line
}

fn too_large(path: &str) -> Refusal {
    let bound = crate::money::LARGEST;
    Refusal::new(Reason::InvalidAmount, ["Property .", path, " amounts to more than ", &digits(bound)].concat())
}

fn own_price(item: &Item) -> Option<Money> {
    let inline = |goods: &Option<Box<Goods>>| goods.as_ref().and_then(|goods| goods.price);
    item.price.or_else(|| inline(&item.sku)).or_else(|| inline(&item.product))
}

/// How a line names its product or SKU.
pub fn goods_key(item: &Item, kind: RelatedObject) -> Option<&str> {
    let (id, inline) = match kind {
        RelatedObject::Product => (&item.product_id, &item.product),
        RelatedObject::Sku => (&item.sku_id, &item.sku),
    };
    let by_source = || (item.related_object == Some(kind)).then_some(item.source_id.as_deref())?;
    let by_inline = || {
        let goods = inline.as_ref()?;
        goods.id.as_deref().or(goods.source_id.as_deref())
    };
    id.as_deref().or_else(by_source).or_else(by_inline)
}

/// Whether the catalogue says the price of every line.
fn all_listed(lines: usize, priced: &Priced<'_>) -> bool {
    let price = |listed: Option<&Goods>| listed.and_then(|goods| goods.price);
    (0..lines).all(|place| price(priced.sku(place)).or(price(priced.product(place))).is_some())
}

/// A line with the amount that was sent, or else with what its units cost.
#[inline]
fn price_line(item: &Item, sent: Option<Money>, price: Option<Money>) -> Option<Line> {
    let amount = match (sent, price) {
        (Some(amount), _) => Some(amount),
        (None, Some(price)) => Some(price.times(item.quantity)?),
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
