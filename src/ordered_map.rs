//! Keeps values in the order of insertion, and finds them by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::count::Countable;
use crate::text::Text;

/// Named values; one may have several names.
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
    /// Builds a map of values with their names; the first value of a name counts.
    pub fn new(things: Vec<T>, names: impl Fn(&T) -> [Option<&Text>; 2]) -> OrderedMap<T> {
        let mut places = BTreeMap::new();
        for (place, thing) in things.iter().enumerate() {
            keep(&mut places, names(thing), place);
        }
        OrderedMap { things, places }
    }

    /// Adds a value under a name, which then refers to this value.
    pub fn put(&mut self, name: Text, thing: T) {
        self.places.insert(name, self.things.len());
        self.things.push(thing);
    }

    /// Returns the value of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.at(self.place(name)?)
    }

    /// Returns the position of the value of this name.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// Returns the value at this position.
    pub fn at(&self, place: usize) -> Option<&T> {
        self.things.get(place)
    }

    /// Returns the value of this name, and creates it if there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let place = match self.places.entry(name.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.things.push(make());
                *free.insert(self.things.len().remaining_after(1))
            }
        };
        self.things.get_mut(place)
    }

    /// Returns all values, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.things.is_empty()
    }
}

/// Adds a position under the names that have none yet. It is one function for all types of values.
fn keep(places: &mut BTreeMap<Text, usize>, names: [Option<&Text>; 2], place: usize) {
    for name in names.into_iter().flatten() {
        places.entry(name.clone()).or_insert(place);
    }
}
