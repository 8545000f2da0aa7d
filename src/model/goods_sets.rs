//! Defines the sets of goods of a bundle: each stands for a condition on goods, or for a collection, that clients know only by its number.

/// The sets that a product or SKU is in, as its entry in a bundle lists them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownSets {
    /// The numbers of the sets that it is in, sorted.
    within: Vec<u64>,
    /// The numbers of the sets that it is not in because of its own data, sorted.
    outside: Vec<u64>,
}

impl KnownSets {
    /// Returns the sets of these numbers.
    pub fn new(mut within: Vec<u64>, mut outside: Vec<u64>) -> KnownSets {
        within.sort_unstable();
        outside.sort_unstable();
        KnownSets { within, outside }
    }

    /// Returns the numbers of the sets that the goods are in.
    pub fn included_sets(&self) -> &[u64] {
        &self.within
    }

    /// Returns the numbers of the sets that the goods are not in because of their own data.
    pub fn excluded_sets(&self) -> &[u64] {
        &self.outside
    }

    /// Returns whether the goods are in a set. `None` if they have no data that the condition of the set compares.
    pub fn state(&self, number: u64) -> Option<bool> {
        match self.within.binary_search(&number).is_ok() {
            true => Some(true),
            false => self.outside.binary_search(&number).is_ok().then_some(false),
        }
    }
}

/// A set in place of a collection, or of the goods with some metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoodsSet {
    /// Its number.
    pub number: u64,
    /// Rule for goods that the catalogue does not have, and for goods without data.
    pub others: OtherGoods,
    /// The steps that the service takes to find its members in an order: one for each listed member, or for each field on each line.
    pub steps: usize,
}

/// The goods that no entry of a bundle puts into a set, or out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherGoods {
    /// None of them is in it: all listed names are names of the catalogue.
    Out,
    /// Goods with a listed name are in it. Only the server has the names.
    ByName,
    /// Their data, as sent, are compared. Only the server has the filter.
    #[default]
    ByData,
    /// Goods without the property are in it or not; `None` if only the server knows. Of the property, only the server knows the values.
    ByProperty(Option<bool>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goods_are_in_a_set_or_not_or_unknown() {
        let sets = KnownSets::new(vec![9, 2], vec![4]);
        assert_eq!([2, 9, 4, 3].map(|number| sets.state(number)), [Some(true), Some(true), Some(false), None]);
    }
}
