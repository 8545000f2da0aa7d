//! Writes an order with its running amounts, and decides which amounts are omitted.
//!
//! docs/spec/calculation.md#3.

mod shapes;

pub use shapes::{ITEM, ORDER, STORED};

use crate::count::Countable;
use crate::decide::validate::OrderParties;
use crate::model::order::{Goods, Item, Order, OrderStatus, RelatedObject};
use crate::money::Money;
use crate::pricing::lines::PricedOrder;
use crate::pricing::{Cart, Gain, Line, Replacement};
use crate::text::Text;
use crate::wire::writer::{Writer, is_visible};

/// The discounts in the `applied_*` members.
#[derive(Debug, Clone, Copy)]
pub enum AppliedScope<'a> {
    /// All discounts of this request.
    Everything,
    /// The discounts of one redeemable.
    Gain(&'a Gain),
    /// None: the order as it is stored.
    Nothing,
}

impl AppliedScope<'_> {
    fn on_order(&self, cart: &Cart) -> Option<Money> {
        match self {
            AppliedScope::Everything => cart.applied,
            AppliedScope::Gain(gain) => gain.order,
            AppliedScope::Nothing => None,
        }
    }

    fn on_items(&self, cart: &Cart) -> Option<Money> {
        match self {
            AppliedScope::Everything => cart.items_applied(),
            AppliedScope::Gain(gain) => gain.on_lines(),
            AppliedScope::Nothing => None,
        }
    }

    fn on_line(&self, position: usize, line: &Line) -> Option<Money> {
        match self {
            AppliedScope::Everything => line.applied,
            AppliedScope::Gain(gain) => gain.line_discount(position),
            AppliedScope::Nothing => None,
        }
    }

    /// Returns the units added to a line or removed from it, their amount in minor units, and how many became free.
    fn units_of(&self, position: usize, cart: &Cart) -> Option<(i64, Option<i64>, u64)> {
        match self {
            AppliedScope::Everything => {
                cart.changed_at(position).map(|changed| (changed.units, changed.amount, changed.free))
            }
            AppliedScope::Gain(gain) => gain.units_at(position),
            AppliedScope::Nothing => None,
        }
    }

    /// Returns the replacements.
    fn replaced<'a>(&'a self, cart: &'a Cart) -> &'a [Replacement] {
        match self {
            AppliedScope::Everything => cart.replaced(),
            AppliedScope::Gain(gain) => gain.units.as_ref().map_or(&[], |units| &units.replaced),
            AppliedScope::Nothing => &[],
        }
    }
}

/// The lines as the answer contains them already. It writes the order after each redeemable, and few lines change:
/// unchanged text is copied.
#[derive(Debug, Default)]
pub struct WrittenLines(Vec<LineSpan>);

/// A written line, with its position in the output.
#[derive(Debug, Default, Clone, Copy)]
struct LineSpan {
    line: Line,
    applied: Option<Money>,
    start: usize,
    /// The start of the amounts that discounts change.
    amounts: usize,
    /// The start of the goods and the metadata.
    rest: usize,
    end: usize,
}

/// An order with its amounts.
pub struct OrderView<'a> {
    /// The order as sent or stored.
    pub order: &'a Order,
    /// The catalogue's goods of its lines.
    pub priced: &'a PricedOrder<'a>,
    /// Its amounts.
    pub cart: &'a Cart,
    /// The discounts in the `applied_*` members.
    pub applied: AppliedScope<'a>,
    /// The customers of the order that the caller may see.
    pub parties: OrderParties<'a>,
    /// The ids of the lines by their positions, including those that unit effects added; empty to use the lines' own
    /// ids.
    pub line_ids: &'a [Text],
    /// The keys of public metadata of goods that unit effects added, which come from the catalogue and not from the
    /// request; `None` for all.
    pub public: Option<&'a [Text]>,
}

impl<'a> OrderView<'a> {
    /// Returns an order with its amounts, without customers.
    pub fn new(
        order: &'a Order,
        priced: &'a PricedOrder<'a>,
        cart: &'a Cart,
        applied: AppliedScope<'a>,
    ) -> OrderView<'a> {
        OrderView { order, priced, cart, applied, parties: OrderParties::default(), line_ids: &[], public: None }
    }
}

impl OrderView<'_> {
    /// Writes the order as the next value.
    pub(crate) fn write(&self, out: &mut Writer) {
        self.write_again(out, &mut WrittenLines::default());
    }

    /// Writes the order as the next value into an answer that may contain it already, with other amounts.
    pub(crate) fn write_again(&self, out: &mut Writer, written: &mut WrittenLines) {
        out.object(|out| {
            self.write_plain(out, written);
            if !self.order.metadata.is_empty() {
                out.member("metadata").metadata(&self.order.metadata);
            }
            out.text_if("customer_id", self.parties.customer_id);
            out.text_if("referrer_id", self.parties.referrer_id);
            out.write_constant("object", "order");
        });
    }

    /// Writes its names, its status, its amounts and its lines.
    pub(crate) fn write_plain(&self, out: &mut Writer, written: &mut WrittenLines) {
        out.text_if("id", self.order.id.as_ref());
        out.text_if("source_id", self.order.source_id.as_ref());
        out.constant_if("status", self.order.status.map(OrderStatus::name));
        self.write_amounts(out);
        if !self.cart.lines.is_empty() {
            out.member("items").list(|out| self.write_items(out, &mut written.0));
        }
    }

    /// Returns all discounts so far, and those in the `applied_*` members.
    pub(crate) fn discounts(&self) -> [Option<Money>; 2] {
        let cart = self.cart;
        let all = sum_optional(cart.discount, cart.items_discount()).or(cart.discount);
        [all, sum_optional(self.applied.on_order(cart), self.applied.on_items(cart))]
    }

    /// Writes the amounts of section 3.1, without those that section 3.3 omits.
    fn write_amounts(&self, out: &mut Writer) {
        let cart = self.cart;
        out.money_if("amount", cart.amount);
        // With unit effects the amount before them is written.
        let before = cart.initial_amount.filter(|_| !cart.changed().is_empty());
        out.money_if("initial_amount", self.order.initial_amount.or(before));
        out.money_if("discount_amount", cart.discount);
        // The sums of the cart are computed once: an answer needs them after every redeemable.
        let items_discount = cart.items_discount();
        let total_discount = sum_optional(cart.discount, items_discount).or(cart.discount);
        out.money_if("items_discount_amount", items_discount);
        out.money_if("total_discount_amount", total_discount);
        out.money_if(
            "total_amount",
            // Without discounts the total is the amount.
            cart.amount.map(|amount| amount.remaining_after(total_discount.unwrap_or_default())),
        );
        let on_order = self.applied.on_order(cart);
        let on_items = self.applied.on_items(cart);
        out.money_if("applied_discount_amount", on_order);
        out.money_if("items_applied_discount_amount", on_items);
        out.money_if("total_applied_discount_amount", sum_optional(on_order, on_items));
    }

    fn write_items(&self, out: &mut Writer, written: &mut Vec<LineSpan>) {
        let cart = self.cart;
        // The comparison does not cover changes of units.
        let mut nothing = Vec::new();
        let is_moved = !cart.changed().is_empty() || !self.applied.replaced(cart).is_empty();
        let written = if is_moved { &mut nothing } else { written };
        if written.is_empty() {
            written.reserve(cart.lines.len());
        }
        for (position, line) in cart.lines.iter().enumerate() {
            let added = || cart.added().get(position.checked_sub(self.order.items.len())?);
            let Some(item) = self.order.items.get(position).or_else(added) else { break };
            let applied = self.applied.on_line(position, line);
            let before = written.get(position);
            if let Some(before) = before.filter(|before| before.applied == applied && before.line == *line) {
                out.repeat(before.start, before.end);
                continue;
            }
            let start = out.position();
            match before {
                Some(before) => out.repeat(before.start, before.amounts),
                None => {
                    out.open();
                    self.write_units(out, position, item, line);
                }
            }
            let amounts = out.position();
            out.money_if("discount_amount", line.discount);
            out.money_if("applied_discount_amount", applied);
            out.money_if("price", line.price);
            if line.amount.is_some() {
                out.write_number("subtotal_amount", line.subtotal().minor());
            }
            let rest = out.position();
            match before.filter(|before| before.rest.plus_one() < before.end) {
                Some(before) => out.repeat(before.rest, before.end),
                None => {
                    self.write_remaining(out, position, item);
                    out.close();
                }
            }
            let span = LineSpan { line: *line, applied, start, amounts, rest, end: out.position() };
            match written.get_mut(position) {
                Some(before) => *before = span,
                None => written.push(span),
            }
        }
    }

    /// Writes the names of a line, its units, and their gross amount.
    fn write_units(&self, out: &mut Writer, position: usize, item: &Item, line: &Line) {
        let sku = self.priced.sku(position);
        let product = self.priced.product(position);
        let parent = || sku?.product_id.as_ref();
        out.text_if("id", self.line_ids.get(position).or(item.id.as_ref()));
        out.write_constant("object", "order_item");
        out.text_if("source_id", item.source_id.as_ref());
        out.constant_if("related_object", item.related_object.map(related_name));
        // Found names come before sent ones, which may be the caller's own (docs/spec/calculation.md section 19, D14).
        let product_id = product.and_then(|product| product.id.as_ref()).or_else(parent);
        out.text_if("product_id", product_id.or(item.product_id.as_ref()));
        out.text_if("sku_id", sku.and_then(|sku| sku.id.as_ref()).or(item.sku_id.as_ref()));
        out.write_number("quantity", line.quantity);
        let changed = self.cart.changed_at(position);
        out.number_if("initial_quantity", item.initial_quantity.or(changed.map(|changed| changed.initial_quantity)));
        out.number_if("discount_quantity", changed.map(|_| line.free).or(item.discount_quantity));
        if let Some((units, amount, free)) = self.applied.units_of(position, self.cart) {
            out.write_number("applied_discount_quantity", free);
            out.member("applied_quantity").integer(units);
            if let Some(amount) = amount {
                out.member("applied_quantity_amount").integer(amount);
            }
        }
        out.money_if("amount", line.amount);
        let before = || changed?.initial_value(line.price, item.initial_quantity);
        out.money_if("initial_amount", item.initial_amount.or_else(before));
    }

    /// Writes its replacements, its goods and its metadata.
    fn write_remaining(&self, out: &mut Writer, position: usize, item: &Item) {
        self.write_replaced(out, position);
        let public = self.public.filter(|_| position >= self.order.items.len());
        write_goods(out, "product", [item.product.as_deref(), self.priced.product(position)], public);
        write_goods(out, "sku", [item.sku.as_deref(), self.priced.sku(position)], public);
        if !item.metadata.is_empty() {
            out.member("metadata").metadata(&item.metadata);
        }
    }
}

impl OrderView<'_> {
    /// Writes the replacements of units of this line (docs/spec/calculation.md#5.9). They are on the line that lost the
    /// units; the line that gained units has its own change.
    fn write_replaced(&self, out: &mut Writer, position: usize) {
        let mut has_started = false;
        for replaced in self.applied.replaced(self.cart).iter().filter(|replaced| replaced.source == position) {
            if !has_started {
                out.member("application_details").open_list();
                has_started = true;
            }
            out.item().object(|out| {
                // A position has at most 64 bits.
                let index = |position: usize| u64::try_from(position).unwrap_or(0);
                // Replaced units and their amounts are within bounds.
                let lost = |count: Option<Money>| Money::ZERO.difference_from(count.unwrap_or_default());
                out.write_number("source_index", index(replaced.source));
                out.member("source_applied_quantity").integer(lost(Money::of(replaced.source_units)));
                out.member("source_applied_quantity_amount").integer(lost(Some(replaced.source_amount)));
                out.write_number("target_index", index(replaced.target));
                out.write_number("target_applied_quantity", replaced.target_units);
                out.write_number("target_applied_quantity_amount", replaced.target_amount.minor());
                out.write_number("target_applied_discount_amount", replaced.target_discount.minor());
            });
        }
        if has_started {
            out.close_list();
        }
    }
}

/// Returns the sum of two optional amounts; `None` on overflow.
#[inline(never)]
fn sum_optional(one: Option<Money>, other: Option<Money>) -> Option<Money> {
    match (one, other) {
        (Some(one), Some(other)) => one.checked_add(other),
        (one, other) => one.or(other),
    }
}

/// Returns the name of the type of goods that a `source_id` names.
pub(crate) fn related_name(object: RelatedObject) -> &'static str {
    match object {
        RelatedObject::Product => "product",
        RelatedObject::Sku => "sku",
    }
}

/// Writes a product or SKU of a line: sent fields over those of the catalogue.
pub(crate) fn write_goods<'a>(
    out: &mut Writer,
    kind: &'static str,
    goods: [Option<&'a Goods>; 2],
    public: Option<&[Text]>,
) {
    let [sent, listed] = goods;
    if sent.is_none() && listed.is_none() {
        return;
    }
    let text = |read: fn(&'a Goods) -> Option<&'a Text>| sent.and_then(read).or_else(|| listed.and_then(read));
    out.member(kind).object(|out| {
        out.text_if("id", text(|goods| goods.id.as_ref()));
        out.text_if("source_id", text(|goods| goods.source_id.as_ref()));
        let name = if kind == "sku" { "sku" } else { "name" };
        out.text_if(name, text(|goods| goods.name.as_ref()));
        let price = |goods: Option<&Goods>| goods.and_then(|goods| goods.price);
        out.money_if("price", price(sent).or_else(|| price(listed)));
        if let Some(overrides) = sent.and_then(|goods| goods.overrides) {
            out.write_flag("override", overrides);
        }
        let details = |goods: &&Goods| goods.metadata.iter().any(|(name, _)| is_visible(public, name));
        if let Some(goods) = sent.filter(details) {
            out.member("metadata").metadata_of(&goods.metadata, public);
        }
    });
}
