//! Decides how an order with its running amounts is written, and which amounts are left out. It must not know how
//! they came about.
//!
//! calculation.md section 3.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::model::order::{Goods, Item, Order};
use crate::money::Money;
use crate::pricing::lines::Priced;
use crate::pricing::{Cart, Gain, Line};
use crate::text::Text;

/// Whose discounts `applied_*` speak of.
#[derive(Debug, Clone, Copy)]
pub enum Applied<'a> {
    /// All of this request.
    Everything,
    /// One redeemable's.
    Gain(&'a Gain),
    /// Nobody's: the order as it is stored.
    Nothing,
}

impl Applied<'_> {
    fn on_order(&self, cart: &Cart) -> Option<Money> {
        match self {
            Applied::Everything => cart.applied,
            Applied::Gain(gain) => gain.order,
            Applied::Nothing => None,
        }
    }

    fn on_items(&self, cart: &Cart) -> Option<Money> {
        match self {
            Applied::Everything => cart.items_applied(),
            Applied::Gain(gain) => gain.on_lines(),
            Applied::Nothing => None,
        }
    }

    fn on_line(&self, place: usize, line: &Line) -> Option<Money> {
        match self {
            Applied::Everything => line.applied,
            Applied::Gain(gain) => gain.lines.get(place).copied().flatten(),
            Applied::Nothing => None,
        }
    }
}

/// An order with its amounts.
pub struct OrderView<'a> {
    /// As sent or stored.
    pub order: &'a Order,
    /// The catalogue's goods beside its lines.
    pub priced: &'a Priced<'a>,
    /// Its amounts.
    pub cart: &'a Cart,
    /// Whose discounts `applied_*` speak of.
    pub applied: Applied<'a>,
    /// Whether lines show `subtotal_amount`; orders inside redemptions do not (calculation.md section 3.3).
    pub subtotals: bool,
}

/// Writes the entry when there is something to write.
pub(crate) fn entry<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

impl OrderView<'_> {
    /// The amounts of section 3.1, without those that section 3.3 leaves out.
    pub(crate) fn write_amounts<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let cart = self.cart;
        entry(map, "amount", &cart.amount)?;
        entry(map, "initial_amount", &self.order.initial_amount)?;
        entry(map, "discount_amount", &cart.discount)?;
        entry(map, "items_discount_amount", &cart.items_discount())?;
        entry(map, "total_discount_amount", &cart.total_discount())?;
        entry(map, "total_amount", &cart.total())?;
        let on_order = self.applied.on_order(cart);
        let on_items = self.applied.on_items(cart);
        entry(map, "applied_discount_amount", &on_order)?;
        entry(map, "items_applied_discount_amount", &on_items)?;
        let both = on_order.is_some() || on_items.is_some();
        let total = both.then(|| Money::sum(on_order.into_iter().chain(on_items))).flatten();
        entry(map, "total_applied_discount_amount", &total)
    }

    /// The lines, when there are any.
    pub(crate) fn write_items<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.order.items.is_empty() {
            return Ok(());
        }
        map.serialize_entry("items", &ItemsView(self))
    }
}

impl Serialize for OrderView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entry(&mut map, "id", &self.order.id)?;
        entry(&mut map, "source_id", &self.order.source_id)?;
        entry(&mut map, "status", &self.order.status)?;
        self.write_amounts(&mut map)?;
        self.write_items(&mut map)?;
        if !self.order.metadata.is_empty() {
            map.serialize_entry("metadata", &self.order.metadata)?;
        }
        map.serialize_entry("object", "order")?;
        map.end()
    }
}

struct ItemsView<'a>(&'a OrderView<'a>);

impl Serialize for ItemsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = self.0;
        let lines = view.order.items.iter().zip(&view.cart.lines).enumerate();
        serializer.collect_seq(lines.map(|(place, (item, line))| ItemView { view, place, item, line }))
    }
}

struct ItemView<'a> {
    view: &'a OrderView<'a>,
    place: usize,
    item: &'a Item,
    line: &'a Line,
}

impl Serialize for ItemView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (item, line, priced) = (self.item, self.line, self.view.priced);
        let sku = listed(&priced.skus, self.place);
        let product = listed(&priced.products, self.place);
        let sku_id = item.sku_id.as_ref().or_else(|| sku?.id.as_ref());
        let parent = || sku?.product_id.as_ref();
        let product_id = item.product_id.as_ref().or_else(|| product?.id.as_ref()).or_else(parent);
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("object", "order_item")?;
        entry(&mut map, "source_id", &item.source_id)?;
        entry(&mut map, "related_object", &item.related_object.map(related_name))?;
        entry(&mut map, "product_id", &product_id)?;
        entry(&mut map, "sku_id", &sku_id)?;
        map.serialize_entry("quantity", &line.quantity)?;
        entry(&mut map, "initial_quantity", &item.initial_quantity)?;
        entry(&mut map, "discount_quantity", &item.discount_quantity)?;
        entry(&mut map, "amount", &line.amount)?;
        entry(&mut map, "initial_amount", &item.initial_amount)?;
        entry(&mut map, "discount_amount", &line.discount)?;
        entry(&mut map, "applied_discount_amount", &self.view.applied.on_line(self.place, line))?;
        entry(&mut map, "price", &line.price)?;
        if self.view.subtotals && line.amount.is_some() {
            map.serialize_entry("subtotal_amount", &line.subtotal())?;
        }
        entry(&mut map, "product", &GoodsView::of(item.product.as_deref(), product, "name"))?;
        entry(&mut map, "sku", &GoodsView::of(item.sku.as_deref(), sku, "sku"))?;
        if !item.metadata.is_empty() {
            map.serialize_entry("metadata", &item.metadata)?;
        }
        map.end()
    }
}

fn listed<'a>(goods: &'a [Option<Cow<'_, Goods>>], place: usize) -> Option<&'a Goods> {
    goods.get(place)?.as_deref()
}

fn related_name(object: crate::model::order::RelatedObject) -> &'static str {
    match object {
        crate::model::order::RelatedObject::Product => "product",
        crate::model::order::RelatedObject::Sku => "sku",
    }
}

/// A product or SKU beside a line: what was sent over what the catalogue has.
struct GoodsView<'a> {
    sent: Option<&'a Goods>,
    listed: Option<&'a Goods>,
    name: &'static str,
}

impl<'a> GoodsView<'a> {
    fn of(sent: Option<&'a Goods>, listed: Option<&'a Goods>, name: &'static str) -> Option<GoodsView<'a>> {
        (sent.is_some() || listed.is_some()).then_some(GoodsView { sent, listed, name })
    }

    fn text(&self, read: impl Fn(&'a Goods) -> Option<&'a Text>) -> Option<&'a Text> {
        self.sent.and_then(&read).or_else(|| self.listed.and_then(&read))
    }
}

impl Serialize for GoodsView<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        entry(&mut map, "id", &self.text(|goods| goods.id.as_ref()))?;
        entry(&mut map, "source_id", &self.text(|goods| goods.source_id.as_ref()))?;
        entry(&mut map, self.name, &self.text(|goods| goods.name.as_ref()))?;
        let price = |goods: Option<&Goods>| goods.and_then(|goods| goods.price);
        entry(&mut map, "price", &price(self.sent).or_else(|| price(self.listed)))?;
        let overrides = self.sent.and_then(|goods| goods.overrides);
        entry(&mut map, "override", &overrides)?;
        let metadata = self.sent.map(|goods| &goods.metadata).filter(|metadata| !metadata.is_empty());
        entry(&mut map, "metadata", &metadata)?;
        map.end()
    }
}
