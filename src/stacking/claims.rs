//! Tracks the units of the order that redeemables make free, and hides them from the others. It repeats the walk until
//! these claims are settled.
//!
//! docs/spec/calculation.md#19, D19.

use crate::count::Countable;
use crate::model::stacking::ApplicationMode;
use crate::pricing::{Cart, Gain};

/// Units of a line that were in the order and that a redeemable makes free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Claim {
    /// The position of the redeemable in the request.
    claimer: usize,
    /// The line.
    line: usize,
    /// The number of units.
    units: u64,
}

/// The units of an order that redeemables make free; nearly always none.
#[derive(Debug, Clone, Default)]
pub struct Claims(Vec<Claim>);

impl Claims {
    /// Returns the claims of the gains of redeemables at these positions.
    #[expect(clippy::arithmetic_side_effects, reason = "with each change the units of a line are within bounds")]
    pub fn of<'g>(gains: impl Iterator<Item = (usize, &'g Gain)>) -> Claims {
        let mut claims = Claims::default();
        for (position, gain) in gains {
            for change in gain.units.iter().flat_map(|units| &units.changes) {
                let units = claims.units(position, change.position) + change.claimed_units();
                claims.raise(Claim { claimer: position, line: change.position, units });
            }
        }
        claims
    }

    /// Returns the order without the units of these claimers; `None` if nothing is hidden.
    pub fn hide(&self, cart: &Cart, is_hidden: &dyn Fn(usize) -> bool) -> Option<Cart> {
        let hidden = || self.0.iter().filter(|claim| is_hidden(claim.claimer));
        hidden().next()?;
        Some(cart.with_free(hidden().map(|claim| (claim.line, claim.units))))
    }

    /// Returns the redeemables with claims.
    pub fn claimers(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(|claim| claim.claimer)
    }

    fn units(&self, claimer: usize, line: usize) -> u64 {
        let known = self.0.iter().find(|known| (known.claimer, known.line) == (claimer, line));
        // A redeemable without a claim on a line has no units of it.
        known.map_or(0, |known| known.units)
    }

    /// Raises the claim of a redeemable on a line.
    fn raise(&mut self, claim: Claim) {
        match self.0.iter_mut().find(|known| (known.claimer, known.line) == (claim.claimer, claim.line)) {
            Some(known) => known.units = known.units.max(claim.units),
            None if claim.units > 0 => self.0.push(claim),
            None => {}
        }
    }

    fn join(&mut self, other: &Claims) {
        other.0.iter().for_each(|claim| self.raise(*claim));
    }

    fn is_same(&self, other: &Claims) -> bool {
        self.cover(other) && other.cover(self)
    }

    fn cover(&self, other: &Claims) -> bool {
        other.0.iter().all(|claim| self.units(claim.claimer, claim.line) >= claim.units)
    }
}

/// The repeated walks over the redeemables of a request: one, or more until the hidden units are those that are
/// claimed.
///
/// A redeemable that claims units hides them from the earlier ones in the next walk. That may change which are applied,
/// and their claims. Claims are collected beyond refusals, in every mode; under ALL a last walk ends with the first
/// refusal. Each walk settles one more redeemable unless one depends on itself. If claims do not settle after one walk
/// more than there are redeemables, one does. Then the cautious result counts: all claims of any walk stay hidden, and
/// every redeemable must apply with and without them.
#[derive(Debug, Clone, Default)]
pub struct ClaimTrial {
    /// The hidden claims.
    claims: Claims,
    /// The claims of all walks so far.
    all: Claims,
    /// The number of walks so far.
    walks: usize,
    /// Set when the claims do not settle.
    is_unsettled: bool,
    /// `true` if redeemables are tried after a refusal, to collect their claims.
    continues_after_refusals: bool,
}

impl ClaimTrial {
    /// Returns a trial of redeemables of which some may claim units.
    pub fn with_claimers() -> ClaimTrial {
        ClaimTrial { continues_after_refusals: true, ..ClaimTrial::default() }
    }

    /// Returns the hidden claims.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// Returns whether a refusal ends the walk.
    pub fn ends_with_refusal(&self, mode: ApplicationMode) -> bool {
        mode == ApplicationMode::All && !self.continues_after_refusals
    }

    /// Returns an order without the units that other redeemables make free; `None` if it does not differ. Units of
    /// earlier claimers are in the order already.
    pub fn visible_cart(&self, position: usize, cart: &Cart, is_earlier: &dyn Fn(usize) -> bool) -> Option<Cart> {
        self.claims.hide(cart, &|claimer| claimer != position && !is_earlier(claimer))
    }

    /// Returns whether a redeemable must apply with the hidden units as well.
    pub fn is_unsettled(&self) -> bool {
        self.is_unsettled
    }

    /// Returns whether another walk may be needed.
    pub fn is_open(&self) -> bool {
        self.continues_after_refusals
    }

    /// Records the claims of a walk over `count` redeemables, and whether a refusal would have ended it. Returns
    /// whether another walk is needed.
    pub fn should_repeat(&mut self, count: usize, made: Claims, has_end: bool) -> bool {
        let is_settled = if self.is_unsettled { self.claims.cover(&made) } else { self.claims.is_same(&made) };
        self.walks = self.walks.plus_one();
        let most = count.plus_one();
        // Unsettled claims only grow; more than twice as many walks do not change a verdict.
        if is_settled || self.walks.div_ceil(2) > most {
            self.continues_after_refusals = false;
            return has_end;
        }
        self.all.join(&made);
        self.is_unsettled = self.walks >= most;
        self.claims = if self.is_unsettled { self.all.clone() } else { made };
        true
    }
}
