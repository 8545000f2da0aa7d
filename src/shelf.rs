//! Keeps things in the order in which they came, and finds them by name. It must not know what they are.

use std::collections::BTreeMap;

use crate::text::Text;

/// Things with names. One map from names to places serves every kind of thing, which keeps the package small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelf<T> {
    things: Vec<T>,
    index: BTreeMap<Text, usize>,
}

impl<T> Default for Shelf<T> {
    fn default() -> Shelf<T> {
        Shelf { things: Vec::new(), index: BTreeMap::new() }
    }
}

impl<T> Shelf<T> {
    /// Things under their names; the first thing of a name keeps it.
    pub fn new(things: Vec<T>, names: impl Fn(&T) -> [Option<&Text>; 2]) -> Shelf<T> {
        let mut index = BTreeMap::new();
        for (place, thing) in things.iter().enumerate() {
            for name in names(thing).into_iter().flatten() {
                file(&mut index, name, place);
            }
        }
        Shelf { things, index }
    }

    /// Adds a thing under a name; it takes the name over.
    pub fn put(&mut self, name: Text, thing: T) {
        self.index.remove(&name);
        file(&mut self.index, &name, self.things.len());
        self.things.push(thing);
    }

    /// The thing of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.things.get(*self.index.get(name)?)
    }

    /// The thing of this name, made when there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let place = match self.index.get(name.as_str()) {
            Some(place) => *place,
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

/// Files a place under a name, unless the name is taken. Out of line, because every kind of thing needs the same.
#[inline(never)]
fn file(index: &mut BTreeMap<Text, usize>, name: &Text, place: usize) {
    index.entry(name.clone()).or_insert(place);
}
