//! Decides which line of an order is which goods. It must not know what asks.

use crate::model::order::{Item, Metadata};
use crate::model::scope::{GoodsObject, GoodsRef, symbols_of};
use crate::text::{Symbol, Text, by_words};

/// The lines of an order, as rules and scopes ask what they are.
#[derive(Debug, Clone, Copy)]
pub struct Basket<'a> {
    lines: &'a [ResolvedLine<'a>],
    /// Which goods there are, when it was worth to write them down.
    index: Option<&'a GoodsIndex>,
}

impl<'a> Basket<'a> {
    /// These lines.
    #[inline]
    pub fn of(lines: &'a [ResolvedLine<'a>]) -> Basket<'a> {
        Basket { lines, index: None }
    }

    /// The same with which goods they are written down.
    #[inline]
    #[must_use]
    pub fn with(self, index: Option<&'a GoodsIndex>) -> Basket<'a> {
        Basket { index, ..self }
    }

    /// How many lines there are.
    #[inline]
    pub fn len(self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.lines.is_empty()
    }

    /// The line at this place.
    #[inline]
    pub fn get(self, place: usize) -> Option<&'a ResolvedLine<'a>> {
        self.lines.get(place)
    }

    /// All lines in their order.
    pub fn iter(self) -> impl Iterator<Item = &'a ResolvedLine<'a>> + Clone {
        self.lines.iter()
    }

    /// How many lines are looked at for each of some goods.
    pub fn looks(self) -> usize {
        if self.index.is_some() { 1 } else { self.lines.len() }
    }

    /// Shows the places of these goods in order, until one of them is enough; which that is.
    #[inline(never)]
    pub fn find(self, goods: &GoodsRef, is_enough: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
        if let Some(index) = self.index {
            return index.find(goods, self, is_enough);
        }
        self.lines.iter().enumerate().find(|(place, item)| item.is(goods) && is_enough(*place)).map(|(place, _)| place)
    }

    /// The first line of these goods.
    pub fn first(self, goods: &GoodsRef) -> Option<usize> {
        self.find(goods, &mut |_| true)
    }

    /// Whether any line is one of these goods.
    pub fn has_any(self, goods: &[GoodsRef]) -> bool {
        goods.iter().any(|goods| self.first(goods).is_some())
    }
}

/// A line and the names of the goods that it turned out to be.
#[derive(Debug, Clone, Default)]
pub struct ResolvedLine<'a> {
    /// The line itself, when there is one.
    item: Option<&'a Item>,
    /// The symbols of its names.
    symbols: [Symbol; 4],
    /// The product by id and by the caller's identifier, the SKU by id and by the caller's identifier.
    names: [Option<&'a Text>; 4],
    /// The collections that it is in, as far as anything of the request names them.
    collections: Vec<Symbol>,
}

impl<'a> ResolvedLine<'a> {
    /// The line of a product and a SKU, each by its id and by the caller's identifier.
    pub fn new(product: [Option<&'a Text>; 2], sku: [Option<&'a Text>; 2]) -> ResolvedLine<'a> {
        let ([one, two], [three, four]) = (product, sku);
        let [first, third] = symbols_of(one.map(Text::as_str), three.map(Text::as_str));
        let [second, fourth] = symbols_of(two.map(Text::as_str), four.map(Text::as_str));
        let symbols = [first, second, third, fourth];
        ResolvedLine { item: None, symbols, names: [one, two, three, four], collections: Vec::new() }
    }

    /// The same, of this line.
    #[must_use]
    pub fn of(self, item: &'a Item) -> ResolvedLine<'a> {
        ResolvedLine { item: Some(item), ..self }
    }

    /// Puts it into a collection.
    pub fn join(&mut self, collection: Symbol) {
        self.collections.push(collection);
    }

    /// The product's id and its identifier, the SKU's id and its identifier.
    pub fn names(&self) -> [Option<&'a str>; 4] {
        self.names.map(|name| name.map(Text::as_str))
    }

    /// The line itself, when there is one.
    pub fn item(&self) -> Option<&'a Item> {
        self.item
    }

    /// The line's own custom data.
    pub fn data(&self) -> Option<&'a Metadata> {
        self.item.map(|item| &item.metadata)
    }

    /// The symbols of its names and collections.
    fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let named = self.symbols.into_iter().zip(self.names).filter(|(_, name)| name.is_some());
        named.map(|(symbol, _)| symbol).chain(self.collections.iter().copied())
    }

    /// Whether the line is this product or SKU, or in this collection. A product is also each of its SKUs.
    #[inline]
    pub fn is(&self, goods: &GoodsRef) -> bool {
        // Symbols tell kinds of goods apart, and lines are told apart by them alone; where one agrees, the names have
        // the last word.
        let [one, two, three, four] = self.symbols;
        let has = |symbol: Symbol| (one == symbol) | (two == symbol) | (three == symbol) | (four == symbol);
        match goods.object {
            GoodsObject::Collection => self.collections.contains(&goods.symbol),
            _ => (has(goods.symbol) || has(goods.source_symbol)) && self.is_named(goods),
        }
    }

    #[inline(never)]
    fn is_named(&self, goods: &GoodsRef) -> bool {
        let [product, product_source, sku, sku_source] = self.names;
        match goods.object {
            GoodsObject::Product => names(product, goods) || names(product_source, goods),
            _ => names(sku, goods) || names(sku_source, goods),
        }
    }
}

/// Whether a name is one of these goods.
#[inline]
fn names(name: Option<&Text>, goods: &GoodsRef) -> bool {
    name.is_some_and(|name| by_words(name, &goods.id) || is_name(name, goods))
}

#[inline(never)]
fn is_name(name: &Text, goods: &GoodsRef) -> bool {
    *name == goods.id || goods.source_id.as_ref() == Some(name)
}

/// Which goods the lines are, by symbol: one look instead of one at every line.
#[derive(Debug, Clone, Default)]
pub struct GoodsIndex {
    /// Symbols by their lower bits, each with the place of its first line in `lines`, counted from 1; 0 in an empty slot.
    slots: Vec<(Symbol, u32)>,
    mask: usize,
    /// A line of a symbol, and the place of the next one.
    lines: Vec<(u32, u32)>,
}

impl GoodsIndex {
    /// Writes the goods of all lines down.
    pub fn new(items: Basket<'_>) -> GoodsIndex {
        let count = items.iter().map(|item| item.symbols().count()).fold(0_usize, usize::saturating_add);
        let size = count.saturating_mul(2).next_power_of_two().max(8);
        let slots = vec![(Symbol::default(), 0); size];
        let mut index = GoodsIndex { slots, mask: size.saturating_sub(1), lines: Vec::with_capacity(count) };
        // Backwards, so that of each symbol the first line comes first.
        let numbered: Vec<(u32, &ResolvedLine<'_>)> = (0..).zip(items.iter()).collect();
        for (line, item) in numbered.into_iter().rev() {
            for symbol in item.symbols() {
                let place = index.place(symbol);
                let Some(slot) = index.slots.get_mut(place) else { continue };
                index.lines.push((line, slot.1));
                *slot = (symbol, u32::try_from(index.lines.len()).unwrap_or(0));
            }
        }
        index
    }

    /// Where a symbol is, or the empty slot where it would be. Half of the slots are empty, so that this ends.
    fn place(&self, symbol: Symbol) -> usize {
        let mut place = usize::try_from(symbol.number() & u64::try_from(self.mask).unwrap_or(0)).unwrap_or(0);
        while let Some((known, 1..)) = self.slots.get(place)
            && *known != symbol
        {
            place = place.wrapping_add(1) & self.mask;
        }
        place
    }

    /// As [`Basket::find`]: the lines of both names of these goods, in order.
    fn find(&self, goods: &GoodsRef, items: Basket<'_>, is_enough: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
        let [mut one, mut other] = [goods.symbol, goods.source_symbol].map(|symbol| self.lines(symbol).peekable());
        let mut last = None;
        loop {
            let next = match (one.peek(), other.peek()) {
                (Some(place), Some(second)) if second < place => other.next(),
                (Some(_), _) => one.next(),
                (None, _) => other.next(),
            };
            let place = next?;
            // A line of several names is shown once.
            let is_new = last.replace(place) != next;
            if is_new && items.get(place).is_some_and(|item| item.is(goods)) && is_enough(place) {
                return next;
            }
        }
    }

    /// The lines of a symbol, in order. Two names of one symbol are next to impossible, and not told apart here.
    fn lines(&self, symbol: Symbol) -> impl Iterator<Item = usize> {
        let mut next = self.slots.get(self.place(symbol)).map_or(0, |(_, first)| *first);
        std::iter::from_fn(move || {
            let (line, after) = self.lines.get((next as usize).checked_sub(1)?)?;
            next = *after;
            Some(*line as usize)
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
    pub(super) fn lines(&self, items: Basket<'_>) -> Vec<u32> {
        let mut lines = vec![0; self.count as usize];
        for (line, item) in (1..).zip(items.iter()) {
            for symbol in item.symbols() {
                let number = self.slots.get(self.slot(symbol)).map_or(0, |(_, number)| *number as usize);
                if let Some(first @ 0) = number.checked_sub(1).and_then(|number| lines.get_mut(number)) {
                    *first = line;
                }
            }
        }
        lines
    }
}
