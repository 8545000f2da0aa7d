//! Decides what a rule gets to look at, and which line is which goods. It must not know what any rule says.

use std::ops::Deref;

use crate::model::order::{Item, Metadata};
use crate::model::scope::{GoodsObject, GoodsRef, symbols_of};
use crate::money::Money;
use crate::rules::ast::Needs;
use crate::rules::compare::Clock;
pub use crate::rules::names::Membership;
use crate::rules::names::{Counter, Period};
use crate::text::{Symbol, Text};

/// What is fetched only when a test asks. Whoever answers notes what only the server knows.
pub trait Asks {
    /// What is left of the order amount.
    fn amount(&self) -> Option<Money>;
    /// The figures of a line as it stands now.
    fn figures(&self, line: usize) -> Figures;
    /// Custom data of the SKU and the product of a line, the first that has a property counts.
    fn goods_data(&self, line: usize) -> [Option<&Metadata>; 4];
    /// Whether the customer belongs to this segment or tier.
    fn belongs(&self, to: Membership, id: &str) -> bool;
    /// What is counted, this attempt included; `None` when only the server knows: then a limit holds.
    fn count(&self, counter: Counter, period: Period) -> Option<u64>;
    /// Custom data of a custom event or of a member, which only earning has.
    fn earning_data(&self, _member: bool) -> Option<&Metadata> {
        None
    }
}

/// A line as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// Unit price.
    pub price: Option<Money>,
    /// Units.
    pub quantity: u64,
    /// What is left to pay, discounts of the line off; `None` when nothing says the amount.
    pub subtotal: Option<Money>,
}

/// What stays as it is while a request is decided.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// What time it is, and where.
    pub clock: Clock<'a>,
    /// The customer's custom data; `None` when there is no customer.
    pub customer: Option<&'a Metadata>,
    /// The order's custom data; `None` when there is no order.
    pub order: Option<&'a Metadata>,
    /// The order amount before any discount.
    pub initial_amount: Option<Money>,
    /// Custom data of the redemption.
    pub redemption: &'a Metadata,
    /// The id of the caller's key, and the login of its user.
    pub channel: [Option<&'a str>; 2],
}

/// What a rule can look at while one redeemable is checked.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// What does not depend on the redeemable.
    pub setting: &'a Setting<'a>,
    /// Whether the code was published to the customer.
    pub linked: bool,
    /// What is left of the order amount after the redeemable itself; only there when rules are checked for the second time.
    pub after: Option<Money>,
    /// The lines; none when there is no order.
    pub items: &'a [SceneItem<'a>],
    /// Which goods there are, when it was worth to write them down.
    pub index: Option<&'a GoodsIndex>,
    /// Tests that look at any of these hold without being asked; qualifications pass over some.
    pub passes: Needs,
    /// What is fetched when it is needed.
    pub asks: &'a dyn Asks,
}

impl<'a> Deref for Scene<'a> {
    type Target = Setting<'a>;

    fn deref(&self) -> &Setting<'a> {
        self.setting
    }
}

/// A line as a rule sees it.
#[derive(Debug, Clone, Default)]
pub struct SceneItem<'a> {
    /// The line itself.
    item: Option<&'a Item>,
    /// The symbols of its names.
    symbols: [Symbol; 4],
    /// What it is, unless its own ids say everything.
    told: Option<Box<Told<'a>>>,
}

/// What a line is that more than its own ids name.
#[derive(Debug, Clone, Default)]
struct Told<'a> {
    /// The product by id and by the caller's identifier, the SKU by id and by the caller's identifier.
    names: [Option<&'a Text>; 4],
    /// The collections that it is in, as far as anything of the request names them.
    collections: Vec<Symbol>,
}

impl<'a> SceneItem<'a> {
    /// The line of a product and a SKU, each by its id and by the caller's identifier.
    pub fn new(product: [Option<&'a Text>; 2], sku: [Option<&'a Text>; 2]) -> SceneItem<'a> {
        let ([one, two], [three, four]) = (product, sku);
        let [first, third] = symbols_of(one.map(Text::as_str), three.map(Text::as_str));
        let [second, fourth] = symbols_of(two.map(Text::as_str), four.map(Text::as_str));
        let told = Told { names: [one, two, three, four], collections: Vec::new() };
        SceneItem { item: None, symbols: [first, second, third, fourth], told: Some(Box::new(told)) }
    }

    /// A line that its own ids name, and nothing else.
    #[inline]
    pub fn bare(item: &'a Item) -> SceneItem<'a> {
        let made = || symbols_of(item.product_id.as_deref(), item.sku_id.as_deref());
        let [product, sku] = item.symbols.unwrap_or_else(made);
        let nothing = Symbol::default();
        SceneItem { item: Some(item), symbols: [product, nothing, sku, nothing], told: None }
    }

    /// The same, of this line.
    #[must_use]
    pub fn of(self, item: &'a Item) -> SceneItem<'a> {
        SceneItem { item: Some(item), ..self }
    }

    /// The line's own custom data.
    pub fn data(&self) -> Option<&'a Metadata> {
        self.item.map(|item| &item.metadata)
    }

    /// Puts it into a collection.
    pub fn join(&mut self, collection: Symbol) {
        let names = self.texts();
        let told = self.told.get_or_insert_with(|| Box::new(Told { names, collections: Vec::new() }));
        told.collections.push(collection);
    }

    fn texts(&self) -> [Option<&'a Text>; 4] {
        match (&self.told, self.item) {
            (Some(told), _) => told.names,
            (None, Some(item)) => [item.product_id.as_ref(), None, item.sku_id.as_ref(), None],
            (None, None) => [None; 4],
        }
    }

    /// The symbols of its names and collections.
    fn all_symbols(&self) -> impl Iterator<Item = Symbol> {
        let named = self.symbols.into_iter().zip(self.texts()).filter(|(_, name)| name.is_some());
        named.map(|(symbol, _)| symbol).chain(self.told.iter().flat_map(|told| told.collections.iter().copied()))
    }

    /// Whether the line is this product or SKU, or in this collection. A product is also each of its SKUs.
    #[inline]
    pub fn is(&self, goods: &GoodsRef) -> bool {
        // Symbols tell kinds of goods apart, and lines are told apart by them alone; where one agrees, the names have
        // the last word.
        let [one, two, three, four] = self.symbols;
        let has = |symbol: Symbol| (one == symbol) | (two == symbol) | (three == symbol) | (four == symbol);
        match goods.object {
            GoodsObject::Collection => self.is_in(goods),
            _ => {
                (has(goods.symbol) || (goods.source_symbol != goods.symbol && has(goods.source_symbol)))
                    && self.is_named(goods)
            }
        }
    }

    #[inline(never)]
    fn is_in(&self, collection: &GoodsRef) -> bool {
        self.told.as_ref().is_some_and(|told| told.collections.contains(&collection.symbol))
    }

    #[inline(never)]
    fn is_named(&self, goods: &GoodsRef) -> bool {
        let is =
            |name: Option<&Text>| name.is_some_and(|name| *name == goods.id || goods.source_id.as_ref() == Some(name));
        let is_product = goods.object == GoodsObject::Product;
        match (&self.told, self.item) {
            (Some(told), _) => {
                let [product, product_source, sku, sku_source] = told.names;
                if is_product { is(product) || is(product_source) } else { is(sku) || is(sku_source) }
            }
            (None, Some(item)) => is(if is_product { item.product_id.as_ref() } else { item.sku_id.as_ref() }),
            (None, None) => false,
        }
    }

    /// Whether it is any of these.
    pub fn is_any(&self, goods: &[GoodsRef]) -> bool {
        goods.iter().any(|goods| self.is(goods))
    }

    /// The product's id and its identifier, the SKU's id and its identifier.
    pub fn names(&self) -> [Option<&'a str>; 4] {
        self.texts().map(|name| name.map(Text::as_str))
    }
}

/// Which goods the lines are, by symbol: one look instead of one at every line.
#[derive(Debug, Clone, Default)]
pub struct GoodsIndex {
    /// Symbols by their lower bits, each with its line; an empty slot has no line.
    slots: Vec<(Symbol, Option<u32>)>,
    mask: usize,
}

impl GoodsIndex {
    /// Writes the goods of all lines down.
    pub fn new(items: &[SceneItem<'_>]) -> GoodsIndex {
        let count = items.iter().map(|item| item.all_symbols().count()).fold(0_usize, usize::saturating_add);
        let size = count.saturating_mul(2).next_power_of_two().max(8);
        let mut index = GoodsIndex { slots: vec![(Symbol::default(), None); size], mask: size.saturating_sub(1) };
        for (line, item) in (0..).zip(items) {
            for symbol in item.all_symbols() {
                let place = index.place(symbol);
                if let Some(slot @ (_, None)) = index.slots.get_mut(place) {
                    *slot = (symbol, Some(line));
                }
            }
        }
        index
    }

    /// Where a symbol is, or the empty slot where it would be. Half of the slots are empty, so that this ends.
    fn place(&self, symbol: Symbol) -> usize {
        let mut place = usize::try_from(symbol.number() & u64::try_from(self.mask).unwrap_or(0)).unwrap_or(0);
        while let Some((known, Some(_))) = self.slots.get(place)
            && *known != symbol
        {
            place = place.wrapping_add(1) & self.mask;
        }
        place
    }

    fn line(&self, symbol: Symbol) -> Option<usize> {
        let (_, line) = self.slots.get(self.place(symbol))?;
        usize::try_from((*line)?).ok()
    }

    /// Whether any line is one of these.
    pub fn has_any(&self, goods: &[GoodsRef], items: &[SceneItem<'_>]) -> bool {
        goods.iter().any(|goods| {
            let found = self.line(goods.symbol).or_else(|| self.line(goods.source_symbol));
            // Two texts of one symbol are next to impossible; then every line is asked.
            found.is_some_and(|line| {
                items.get(line).is_some_and(|item| item.is(goods)) || items.iter().any(|item| item.is(goods))
            })
        })
    }
}

/// The goods that many tests name, each symbol with a number: one look for each name of a line says which of them it is.
#[derive(Debug, Clone, Default)]
pub(super) struct Symbols {
    /// Symbols by their lower bits, each with its number, counted from 1; at most half of the slots are taken.
    slots: Vec<(Symbol, u32)>,
    count: u32,
}

impl Symbols {
    /// The number of a symbol, counted from 0.
    #[inline(never)]
    pub(super) fn number(&mut self, symbol: Symbol) -> u32 {
        if self.slots.len() <= (self.count as usize).saturating_mul(2) {
            let size = self.slots.len().saturating_mul(2).max(64);
            for old in std::mem::replace(&mut self.slots, vec![(Symbol::default(), 0); size]) {
                let slot = self.slot(old.0);
                self.slots.get_mut(slot).filter(|_| old.1 > 0).into_iter().for_each(|new| *new = old);
            }
        }
        let slot = self.slot(symbol);
        let Some((known, number)) = self.slots.get_mut(slot) else { return 0 };
        if *number == 0 {
            self.count = self.count.saturating_add(1);
            (*known, *number) = (symbol, self.count);
        }
        number.saturating_sub(1)
    }

    /// Where a symbol is, or would be.
    fn slot(&self, symbol: Symbol) -> usize {
        let mask = self.slots.len().saturating_sub(1);
        let mut slot = usize::try_from(symbol.number() & 0xffff_ffff).unwrap_or(0) & mask;
        while let Some((known, 1..)) = self.slots.get(slot)
            && *known != symbol
        {
            slot = slot.wrapping_add(1) & mask;
        }
        slot
    }

    /// The first line that each number is on, counted from 1; 0 for none.
    pub(super) fn lines(&self, items: &[SceneItem<'_>]) -> Vec<u32> {
        let mut lines = vec![0; self.count as usize];
        for (line, item) in (1..).zip(items) {
            for symbol in item.all_symbols() {
                let number = self.slots.get(self.slot(symbol)).map_or(0, |(_, number)| *number as usize);
                if let Some(first @ 0) = number.checked_sub(1).and_then(|number| lines.get_mut(number)) {
                    *first = line;
                }
            }
        }
        lines
    }
}

/// Lines of an order as a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines([u64; 8]);

impl Lines {
    /// No line.
    pub const NONE: Lines = Lines([0; 8]);

    /// Those lines of an order of `count` that pass.
    pub fn of(count: usize, mut test: impl FnMut(usize) -> bool) -> Lines {
        let mut lines = Lines::NONE;
        for (word, start) in lines.0.iter_mut().zip((0..count).step_by(64)) {
            for bit in 0..64_usize.min(count.saturating_sub(start)) {
                if test(start.saturating_add(bit)) {
                    *word |= 1 << bit;
                }
            }
        }
        lines
    }

    /// Whether a line is among them.
    pub fn has(&self, line: usize) -> bool {
        self.0.get(line >> 6).is_some_and(|word| word >> (line & 63) & 1 == 1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}
