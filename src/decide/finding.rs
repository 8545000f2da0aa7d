//! Stores what the checks of each redeemable found in addition to a reason against it.

use crate::model::discount::Discount;
use crate::pricing::Bundles;
use crate::text::Text;

/// Findings of the checks of one redeemable in addition to a reason against it.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// Remaining credits of a gift card in minor units, less other locks; `None` if only the server knows.
    pub credits: Option<u64>,
    /// Remaining points of a loyalty card, less other locks.
    pub points: Option<u64>,
    /// Points that the reward costs.
    pub paid: Option<u64>,
    /// Remaining codes of the campaign from which the reward takes one, if they are limited.
    pub codes: Option<u64>,
    /// Facts that only the server has.
    pub missing: Vec<Text>,
    /// `true` if a rule failed because a stored profile is not read.
    pub withheld: bool,
    /// The bundles in the order, if the rules require any.
    pub bundles: Option<Box<Bundles>>,
    /// The discount with the values of its formulas and the names of its free goods, if it has any.
    pub resolved: Option<Box<Discount>>,
}

/// Findings of a request by the position of the redeemable, in order; nearly always empty.
#[derive(Debug, Clone, Default)]
pub struct Findings(Vec<(usize, Finding)>);

impl Findings {
    /// Returns the finding of the redeemable at this position, if any.
    pub fn get(&self, position: usize) -> Option<&Finding> {
        let at = self.at(position).ok()?;
        self.0.get(at).map(|(_, found)| found)
    }

    /// Returns the finding of the redeemable at this position for writing, and creates it if needed.
    pub fn of(&mut self, position: usize) -> Option<&mut Finding> {
        let at = self.at(position).unwrap_or_else(|at| {
            self.0.insert(at, (position, Finding::default()));
            at
        });
        self.0.get_mut(at).map(|(_, found)| found)
    }

    /// Replaces the finding at a position, and leaves `found` empty.
    #[inline]
    pub fn insert(&mut self, position: usize, found: &mut Finding) {
        let Finding { credits, points, paid, codes, missing, withheld, bundles, resolved } = &*found;
        let is_nothing = credits.or(*points).or(*paid).or(*codes).is_none()
            && missing.is_empty()
            && !withheld
            && bundles.is_none()
            && resolved.is_none();
        if !(is_nothing && self.0.is_empty())
            && let Some(slot) = self.of(position)
        {
            *slot = std::mem::take(found);
        }
    }

    /// Adds facts that only the server has.
    #[inline]
    pub fn add_missing(&mut self, position: usize, missing: Vec<Text>) {
        if !missing.is_empty() {
            self.add(position, missing);
        }
    }

    #[inline(never)]
    fn add(&mut self, position: usize, mut missing: Vec<Text>) {
        if let Some(found) = self.of(position) {
            found.missing.append(&mut missing);
        }
    }

    /// Returns all facts that only the server has.
    pub fn missing(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().flat_map(|(_, found)| &found.missing)
    }

    /// Returns the facts of these redeemables that only the server has.
    pub fn missing_of(&self, positions: impl Iterator<Item = usize>) -> Vec<Text> {
        positions.filter_map(|position| self.get(position)).flat_map(|found| found.missing.iter().cloned()).collect()
    }

    fn at(&self, position: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&position, |(at, _)| *at)
    }
}
