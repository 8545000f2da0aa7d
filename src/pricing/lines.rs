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
use crate::text::{Text, digits, joined};

/// Goods of the catalogue by the line that they stand beside. Most lines have none: they carry their own price.
#[derive(Debug, Clone, Default)]
pub struct Listed<'a>(Vec<(usize, Cow<'a, Goods>)>);

impl<'a> Listed<'a> {
    /// The goods beside the line at this place.
    #[inline]
    pub fn beside(&self, place: usize) -> Option<&Goods> {
        if self.0.is_empty() { None } else { self.find(place) }
    }

    #[inline(never)]
    fn find(&self, place: usize) -> Option<&Goods> {
        let found = self.0.binary_search_by_key(&place, |(beside, _)| *beside).ok()?;
        self.0.get(found).map(|(_, goods)| goods.as_ref())
    }

    /// Lines come in order, so that the list stays sorted.
    fn put(&mut self, place: usize, goods: Option<Cow<'a, Goods>>) {
        self.0.extend(goods.map(|goods| (place, goods)));
    }
}

/// An order with the catalogue's goods beside its lines, and the amounts that follow.
#[derive(Debug, Clone, Default)]
pub struct Priced<'a> {
    /// Product of each line, from the catalogue.
    pub products: Listed<'a>,
    /// SKU of each line, from the catalogue.
    pub skus: Listed<'a>,
    /// The amounts before this request.
    pub cart: Cart,
}

/// Prices an order. `catalogue_first` is for pages, whose prices nobody vouches for (calculation.md section 19, D13);
/// `lacks` is told which goods only the server knows.
pub fn price<'a>(
    order: &Order,
    facts: &'a dyn Facts,
    catalogue_first: bool,
    lacks: &mut dyn FnMut(Text),
) -> Result<Priced<'a>, Refusal> {
    let mut priced = Priced::default();
    priced.cart.lines.reserve_exact(order.items.len());
    for (place, item) in order.items.iter().enumerate() {
        let mut find = |kind: &str, key: Option<&str>, found: Known<Cow<'a, Goods>>| match found {
            Known::Is(goods) => Some(goods),
            Known::Absent => None,
            Known::Unknown => {
                lacks(joined(&[kind, "/", key.unwrap_or_default()]));
                None
            }
        };
        // A line that carries its own price is not asked about, unless the catalogue's would win; a SKU without its
        // product always is, because a scope may name the product.
        let asks = catalogue_first || (item.amount.is_none() && own_price(item).is_none());
        if !asks && item.product_id.is_some() {
            let line = price_line(item, None, None, false)
                .ok_or_else(|| too_large(&["order.items[", &digits(place), "]"].concat()))?;
            priced.cart.lines.push(line);
            continue;
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
        let line = price_line(item, sku.as_deref(), product.as_deref(), catalogue_first)
            .ok_or_else(|| too_large(&["order.items[", &digits(place), "]"].concat()))?;
        priced.cart.lines.push(line);
        priced.skus.put(place, sku);
        priced.products.put(place, product);
    }
    let known = priced.cart.lines.iter().filter_map(|line| line.amount);
    let sum = match priced.cart.lines.iter().any(|line| line.amount.is_some()) {
        true => Some(Money::sum(known).ok_or_else(|| too_large("order.amount"))?),
        false => None,
    };
    // A page's word for the whole counts only where it has a say in a line (calculation.md section 19, D13).
    let all_listed = catalogue_first && !order.items.is_empty() && all_listed(order.items.len(), &priced);
    priced.cart.amount = order.amount.filter(|_| !all_listed).or(sum);
    priced.cart.initial_amount = order.initial_amount.or(priced.cart.amount);
    priced.cart.discount = order.discount_amount;
    if !priced.cart.fits() {
        return Err(too_large("order.discount_amount"));
    }
    Ok(priced)
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
    (0..lines).all(|place| price(priced.skus.beside(place)).or(price(priced.products.beside(place))).is_some())
}

fn price_line(item: &Item, sku: Option<&Goods>, product: Option<&Goods>, catalogue_first: bool) -> Option<Line> {
    let listed = sku.and_then(|sku| sku.price).or_else(|| product.and_then(|product| product.price));
    let price = if catalogue_first { listed.or_else(|| own_price(item)) } else { own_price(item).or(listed) };
    let sent = if catalogue_first && listed.is_some() { None } else { item.amount };
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
