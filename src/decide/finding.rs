//! Decides what a check writes down of each redeemable besides a reason against it, and where that is found again. It must not
//! know what is checked.

use crate::model::discount::Discount;
use crate::pricing::Bundles;
use crate::text::Text;

/// What the checks of one voucher found besides a reason against it.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// Credits left on a gift card, other locks counted; `None` when only the server knows.
    pub credits: Option<u64>,
    /// Points left on a loyalty card, other locks counted.
    pub points: Option<u64>,
    /// Points that the reward takes.
    pub paid: Option<u64>,
    /// Codes left of the campaign of which the reward takes one, if they end.
    pub codes: Option<u64>,
    /// Facts that only the server has.
    pub lacks: Vec<Text>,
    /// The bundles in the order, when the rules ask for any.
    pub bundles: Option<Box<Bundles>>,
    /// The discount with the numbers that its formulas came to and the names of the goods that it gives, when it has any.
    pub resolved: Option<Box<Discount>>,
}

/// What the checks of a request found, by the place of the redeemable, in order: of nearly all of them nothing.
#[derive(Debug, Clone, Default)]
pub struct Findings(Vec<(usize, Finding)>);

impl Findings {
    /// What was found of the redeemable at this place, if anything.
    pub fn get(&self, place: usize) -> Option<&Finding> {
        let at = self.at(place).ok()?;
        self.0.get(at).map(|(_, found)| found)
    }

    /// The same, to write into.
    pub fn of(&mut self, place: usize) -> Option<&mut Finding> {
        let at = self.at(place).unwrap_or_else(|at| {
            self.0.insert(at, (place, Finding::default()));
            at
        });
        self.0.get_mut(at).map(|(_, found)| found)
    }

    /// Puts what was found in place of what was found before, and leaves nothing behind.
    #[inline]
    pub fn put(&mut self, place: usize, found: &mut Finding) {
        let Finding { credits, points, paid, codes, lacks, bundles, resolved } = &*found;
        let is_nothing = credits.or(*points).or(*paid).or(*codes).is_none()
            && lacks.is_empty()
            && bundles.is_none()
            && resolved.is_none();
        if !(is_nothing && self.0.is_empty())
            && let Some(slot) = self.of(place)
        {
            *slot = std::mem::take(found);
        }
    }

    /// Adds facts that only the server has.
    #[inline]
    pub fn lack(&mut self, place: usize, lacks: Vec<Text>) {
        if !lacks.is_empty() {
            self.add(place, lacks);
        }
    }

    #[inline(never)]
    fn add(&mut self, place: usize, mut lacks: Vec<Text>) {
        if let Some(found) = self.of(place) {
            found.lacks.append(&mut lacks);
        }
    }

    /// All facts that only the server has.
    pub fn lacks(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().flat_map(|(_, found)| &found.lacks)
    }

    fn at(&self, place: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&place, |(at, _)| *at)
    }
}
