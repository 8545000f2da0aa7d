//! Keeps things in the order in which they came, and finds them by name. It must not know what they are.

use crate::text::{Symbol, Text, by_words};

/// Things with names. One index of names serves every kind of thing, which keeps the package small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf<T> {
    things: Vec<T>,
    index: Index,
}

impl<T> Default for Shelf<T> {
    fn default() -> Shelf<T> {
        Shelf { things: Vec::new(), index: Index::default() }
    }
}

impl<T> Shelf<T> {
    /// Things under their names; the first thing of a name keeps it.
    pub fn new(things: Vec<T>, names: impl Fn(&T) -> [Option<&Text>; 2]) -> Shelf<T> {
        let index = Index::of(things.len(), &|place| things.get(place).map_or([None; 2], &names));
        Shelf { things, index }
    }

    /// Adds a thing under a name; it takes the name over.
    pub fn put(&mut self, name: Text, thing: T) {
        self.index.file(&name, self.things.len());
        self.things.push(thing);
    }

    /// The thing of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.at(self.place(name)?)
    }

    /// The place of the thing of this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.index.find(name)
    }

    /// The place of the thing of this name, whose symbol of kind 0 is known.
    #[inline]
    pub fn place_of(&self, symbol: Symbol, name: &str) -> Option<usize> {
        self.index.get(symbol, name)
    }

    /// The thing at this place.
    pub fn at(&self, place: usize) -> Option<&T> {
        self.things.get(place)
    }

    /// The thing of this name, made when there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let place = match self.place(name) {
            Some(place) => place,
            None => {
                self.put(name.clone(), make());
                self.things.len().saturating_sub(1)
            }
        };
        self.things.get_mut(place)
    }

    /// Everything, in the order in which it came.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter()
    }

    /// All names, in the order in which they came.
    pub fn names(&self) -> impl Iterator<Item = &Text> {
        self.index.names.iter().map(|(name, _)| name)
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }
}

/// From names to places: names where their symbol says, or after it. A slot holds the upper half of the symbol and, in
/// its lower half, which name it is, counted from 1; at most half of the slots are taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Index {
    names: Vec<(Text, usize)>,
    slots: Vec<u64>,
}

/// The lower half of a slot, or of a symbol.
const LOWER: u64 = 0xffff_ffff;

impl Index {
    /// The index of so many things; the first thing of a name keeps it.
    #[inline(never)]
    fn of<'n>(count: usize, names: &dyn Fn(usize) -> [Option<&'n Text>; 2]) -> Index {
        let mut index = Index::default();
        for place in 0..count {
            for name in names(place).into_iter().flatten() {
                if index.find(name).is_none() {
                    index.file(name, place);
                }
            }
        }
        index
    }

    /// The place of this name.
    #[inline(never)]
    fn find(&self, name: &str) -> Option<usize> {
        if self.slots.is_empty() { None } else { self.search(Symbol::of(0, name), name) }
    }

    /// The place of the name that has this symbol.
    #[inline]
    fn get(&self, symbol: Symbol, name: &str) -> Option<usize> {
        let number = symbol.number();
        let last = self.slots.len().wrapping_sub(1);
        let mut slot = usize::try_from(number & LOWER).unwrap_or(0) & last;
        while let Some(held) = self.slots.get(slot)
            && let Some(which) = usize::try_from(held & LOWER).unwrap_or(0).checked_sub(1)
        {
            if (held ^ number) & !LOWER == 0
                && let Some((known, place)) = self.names.get(which)
                && by_words(known, name)
            {
                return Some(*place);
            }
            slot = slot.wrapping_add(1) & last;
        }
        // What is not there, and longer names.
        self.search(symbol, name)
    }

    #[inline(never)]
    fn search(&self, symbol: Symbol, name: &str) -> Option<usize> {
        self.slot(symbol, name)?.1.map(|(_, place)| place)
    }

    /// The slot that the name is in, or would be; which name it is, and its place. `None` before there are any.
    #[inline]
    fn slot(&self, symbol: Symbol, name: &str) -> Option<(usize, Option<(usize, usize)>)> {
        let last = self.slots.len().checked_sub(1)?;
        let number = symbol.number();
        let mut slot = usize::try_from(number & LOWER).unwrap_or(0) & last;
        loop {
            let held = *self.slots.get(slot)?;
            let Some(which) = usize::try_from(held & LOWER).unwrap_or(0).checked_sub(1) else {
                return Some((slot, None));
            };
            if (held ^ number) & !LOWER == 0
                && let Some((known, place)) = self.names.get(which)
                && known == name
            {
                return Some((slot, Some((which, *place))));
            }
            slot = slot.wrapping_add(1) & last;
        }
    }

    /// Files a place under a name, in place of the one that it had.
    #[inline(never)]
    fn file(&mut self, name: &str, place: usize) {
        if self.names.len().wrapping_mul(2) >= self.slots.len() {
            self.slots = vec![0; self.slots.len().saturating_mul(2).max(8)];
            for which in 0..self.names.len() {
                self.seat(which);
            }
        }
        let taken = self.slot(Symbol::of(0, name), name).and_then(|(_, taken)| taken);
        match taken.and_then(|(which, _)| self.names.get_mut(which)) {
            Some((_, old)) => *old = place,
            None => {
                self.names.push((Text::from(name), place));
                self.seat(self.names.len().wrapping_sub(1));
            }
        }
    }

    /// Puts one of the names into its slot.
    fn seat(&mut self, which: usize) {
        let Some((name, _)) = self.names.get(which) else { return };
        let symbol = Symbol::of(0, name);
        let held = (symbol.number() & !LOWER) | u64::try_from(which.wrapping_add(1)).unwrap_or(0);
        if let Some(slot) = self.slot(symbol, name).and_then(|(slot, _)| self.slots.get_mut(slot)) {
            *slot = held;
        }
    }
}
