//! Keeps things in the order in which they came, and finds them by name. It must not know what they are.

use crate::text::{Symbol, Text};

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
        self.index.get(name)
    }

    /// The thing at this place.
    pub fn at(&self, place: usize) -> Option<&T> {
        self.things.get(place)
    }

    /// The thing of this name, made when there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let place = match self.index.get(name) {
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

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }
}

/// From names to places: names where their number says, or after it. A slot holds which name it is, counted from 1, and
/// at most half of the slots are taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Index {
    names: Vec<(Text, usize)>,
    slots: Vec<usize>,
}

impl Index {
    /// The index of so many things; the first thing of a name keeps it.
    #[inline(never)]
    fn of<'n>(count: usize, names: &dyn Fn(usize) -> [Option<&'n Text>; 2]) -> Index {
        let mut index = Index::default();
        for place in 0..count {
            for name in names(place).into_iter().flatten() {
                if index.get(name).is_none() {
                    index.file(name, place);
                }
            }
        }
        index
    }

    /// The place of this name.
    #[inline(never)]
    fn get(&self, name: &str) -> Option<usize> {
        let which = *self.slots.get(self.slot(name)?)?;
        self.names.get(which.checked_sub(1)?).map(|(_, place)| *place)
    }

    /// The slot that the name is in, or would be; `None` before there are any.
    fn slot(&self, name: &str) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let number = Symbol::of(0, name).number();
        let mut slot = usize::try_from(number & 0xffff_ffff).unwrap_or(0) & last;
        loop {
            let which = *self.slots.get(slot)?;
            let known = which.checked_sub(1).and_then(|which| self.names.get(which));
            if known.is_none_or(|(known, _)| known == name) {
                return Some(slot);
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
        let taken = self.slot(name).and_then(|slot| self.slots.get(slot)).and_then(|which| which.checked_sub(1));
        match taken.and_then(|which| self.names.get_mut(which)) {
            Some((_, old)) => *old = place,
            None => {
                self.names.push((Text::from(name), place));
                self.seat(self.names.len().wrapping_sub(1));
            }
        }
    }

    /// Puts one of the names into its slot.
    fn seat(&mut self, which: usize) {
        let slot = self.names.get(which).and_then(|(name, _)| self.slot(name));
        if let Some(slot) = slot.and_then(|slot| self.slots.get_mut(slot)) {
            *slot = which.wrapping_add(1);
        }
    }
}
