//! Stores values in the order of insertion, and finds them by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::count::Countable;
use crate::text::Text;

/// Named values; one may have several names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderedMap<T> {
    values: Vec<T>,
    positions: BTreeMap<Text, usize>,
}

impl<T> Default for OrderedMap<T> {
    fn default() -> OrderedMap<T> {
        OrderedMap { values: Vec::new(), positions: BTreeMap::new() }
    }
}

impl<T> OrderedMap<T> {
    /// Builds a map of values with their names; the first value of a name counts.
    pub fn new(values: Vec<T>, names: impl Fn(&T) -> [Option<&Text>; 2]) -> OrderedMap<T> {
        let mut positions = BTreeMap::new();
        for (position, value) in values.iter().enumerate() {
            insert_names(&mut positions, names(value), position);
        }
        OrderedMap { values, positions }
    }

    /// Adds a value under a name, which then refers to this value.
    pub fn insert(&mut self, name: Text, value: T) {
        self.positions.insert(name, self.values.len());
        self.values.push(value);
    }

    /// Returns the value of this name.
    pub fn get(&self, name: &str) -> Option<&T> {
        self.at(self.position(name)?)
    }

    /// Returns the position of the value of this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.positions.get(name).copied()
    }

    /// Returns the value at this position.
    pub fn at(&self, position: usize) -> Option<&T> {
        self.values.get(position)
    }

    /// Returns the value of this name, and creates it if there is none.
    pub fn get_or(&mut self, name: &Text, make: impl FnOnce() -> T) -> Option<&mut T> {
        let position = match self.positions.entry(name.clone()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                self.values.push(make());
                *free.insert(self.values.len().remaining_after(1))
            }
        };
        self.values.get_mut(position)
    }

    /// Returns all values, in the order of insertion.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter()
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// Adds a position under the names that have none yet. It is one function for all types of values.
fn insert_names(positions: &mut BTreeMap<Text, usize>, names: [Option<&Text>; 2], position: usize) {
    for name in names.into_iter().flatten() {
        positions.entry(name.clone()).or_insert(position);
    }
}
