//! Generates reproducible random numbers from a seed.

use serde_json::Value as Json;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5C21_9B0D)
    }

    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        least + i64::try_from(self.below(u64::try_from(most - least + 1).unwrap())).unwrap()
    }

    /// Returns true once in this many calls on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap()
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.index(list.len())]
    }

    /// Returns this many different elements of a list, or all if there are fewer.
    pub fn some<T: Clone>(&mut self, list: &[T], count: usize) -> Vec<T> {
        let mut left = list.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !left.is_empty() {
            let at = self.index(left.len());
            taken.push(left.remove(at));
        }
        taken
    }

    /// Returns a typical price: round, odd, small, and sometimes 0.
    pub fn price(&mut self) -> i64 {
        match self.below(8) {
            0 => self.between(1, 9),
            1 | 2 => self.between(1, 12) * 500,
            3 => self.between(10, 99) * 10 + 9,
            4 if self.once_in(4) => 0,
            _ => self.between(100, 9_999),
        }
    }
}

/// Returns the text of a field that must be present.
pub fn text(json: &Json, field: &str) -> String {
    json[field].as_str().unwrap_or_else(|| panic!("`{field}` is a text of {json}")).to_owned()
}
