//! Keeps things in the order in which they came, and finds them by name. It must not know what they are.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::text::Text;

/// Things with names; one may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedMap<T> {
    things: Vec<T>,
    places: BTreeMap<Text, usize>,
}

impl<T> Default for OrderedMap<T> {
    fn default() -> OrderedMap<T> {
        OrderedMap { things: Vec::new(), places: BTreeMap::new() }
    }
}

impl<T> OrderedMap<T> {
    /// Things under their names; the first thing of a name keeps it.
    pub fn new(things: Vec<T>, names: impl Fn(&T) -> [Option<&Text>; 2]) -> OrderedMap<T> {
        let mut places = BTreeMap::new();
        for (place, thing) in things.iter().enumerate() {
            keep(&mut places, names(thing), place);
        }
        OrderedMap { things, places }
    }

    /// Adds a thing under a name; it takes the name over.
    pub fn put(&mut self, name: Text, thing: T) {
        self.places.insert(name, self.things.len());
        self.things.push(thing);
    }

    /// The thing of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.at(self.place(name)?)
    }

    /// The place of the thing of this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The thing at this place.
    pub fn at(&self, place: usize) -> Option<&T> {
        self.things.get(place)
    }

    /// The thing of this name, made when there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let place = match self.places.entry(name.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.things.push(make());
                *free.insert(self.things.len().saturating_sub(1))
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

/// Keeps a place under the names that have none yet: one function for things of all kinds.
fn keep(places: &mut BTreeMap<Text, usize>, names: [Option<&Text>; 2], place: usize) {
    for name in names.into_iter().flatten() {
        places.entry(name.clone()).or_insert(place);
    }
}
