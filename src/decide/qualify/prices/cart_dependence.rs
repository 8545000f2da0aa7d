//! Decides whether the price of a product is the same in every cart, as far as the conditions and the effects of promotions decide that.
//!
//! A promotion that applies to the product alone is steady if its rules only require that product, and its discount takes the same from each
//! unit. Every other one that may give this product something makes the price depend on the cart.

use crate::decide::case::{Case, Offer, ResolvedName};
use crate::decide::items::Items;
use crate::decide::qualify::offers::resolve;
use crate::decide::qualify::prices::stack_room::{StackMember, StackRoom};
use crate::decide::qualify::scenario::discounts;
use crate::decide::qualify::{SoughtCandidates, check_rules};
use crate::facts::Candidates;
use crate::model::discount::{AmountEffect, Discount, PercentEffect, UnitEffect};
use crate::model::redeemable::Grant;
use crate::model::stacking::StackingRules;
use crate::rules::kind::{FactKind, GoodsQuantifier, LineQuantifier, MetadataOwner};
use crate::rules::{Rule, Test, subject};
use crate::text::Text;

/// The promotion tiers that may apply, and how each depends on a cart.
pub(super) struct CartDependence<'a> {
    /// A case with the tiers resolved, at their ranks.
    case: Case<'a>,
    tiers: Vec<ListedTier>,
    /// The subjects of tests that a cart with the product cannot change.
    barring: u8,
    /// The candidates with such tests; `None` if there are none.
    barred: Option<Vec<bool>>,
}

/// A promotion tier that may apply.
struct ListedTier {
    /// Its position among the candidates, in ascending order.
    position: usize,
    id: Text,
    /// `true` if it gives a product the same in every cart, once it applies.
    is_steady: bool,
    /// `true` if it gives two products of one price the same, once it applies to them.
    is_by_amount: bool,
    /// `true` if it gives units, also of other products.
    gives_units: bool,
    reach: Reach,
    /// `None` if it cannot be redeemed or is not known.
    member: Option<StackMember>,
}

/// The goods that a discount can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// The order as a whole, or goods that are not known.
    Everything,
    /// The lines in its scope.
    Lines,
    /// None: it gives no discount.
    Nothing,
}

/// For each tier, by rank, `true` if it can reach the line of a product.
#[derive(Debug)]
pub(super) struct ReachedTiers(Vec<bool>);

impl<'a> CartDependence<'a> {
    /// Finds the dependence of the considered candidates.
    pub(super) fn new(opened: &Case<'a>, sought: &SoughtCandidates<'a>, considered: &[bool]) -> CartDependence<'a> {
        let mut case = opened.clone();
        let is_anonymous = case.request_customer.customer.is_none();
        // A customer who is not known may still meet the tests of the customer.
        let barring = if is_anonymous { subject::EXCLUSION } else { subject::EXCLUSION | subject::CUSTOMER };
        let candidates = &sought.candidates;
        let is_considered = |position: usize| considered.get(position) == Some(&true);
        let (mut tiers, mut barred) = (Vec::new(), vec![false; candidates.list.len()]);
        for (position, candidate) in candidates.list.iter().enumerate().filter(|(position, _)| is_considered(*position))
        {
            let resolved = resolve(&mut case, candidate);
            let is_refined = matches!(&resolved, ResolvedName::Offer(offer) if refines_tests(offer, barring));
            if let Some(barred) = barred.get_mut(position).filter(|_| !is_refined) {
                *barred = candidates.index.subjects_of(position) & barring != 0;
            }
            tiers.push(ListedTier::new(position, candidate.id.clone(), &resolved, &case.stacking));
            case.push_resolved(resolved);
        }
        let barred = barred.contains(&true).then_some(barred);
        CartDependence { case, tiers, barring, barred }
    }

    /// Returns the tiers that can reach the line of a case. A scope of goods that only the server knows may have it.
    pub(super) fn reached(&mut self, line: &Case<'a>) -> ReachedTiers {
        if !self.tiers.iter().any(|tier| tier.reach == Reach::Lines) {
            return ReachedTiers(self.tiers.iter().map(|tier| tier.reach == Reach::Everything).collect());
        }
        (self.case.order, self.case.priced) = (line.order.clone(), line.priced.clone());
        self.case.budget.continue_as(&line.budget);
        let items = Items::new(&self.case);
        let is_unknown = !items.missing().is_empty() || self.case.budget.is_over();
        line.budget.continue_as(&self.case.budget);
        line.zone_use.set(line.zone_use.get() || self.case.zone_use.get());
        let is_in_scope =
            |rank: usize| self.case.offer(rank).is_some_and(|offer| discounts(offer, items.order_lines()));
        let is_reached = |rank: usize, tier: &ListedTier| match tier.reach {
            Reach::Everything => true,
            Reach::Lines => is_unknown || is_in_scope(rank),
            Reach::Nothing => false,
        };
        ReachedTiers(self.tiers.iter().enumerate().map(|(rank, tier)| is_reached(rank, tier)).collect())
    }

    /// Returns the rank of the tier that is the candidate at a position.
    fn rank_of(&self, position: usize) -> Option<usize> {
        self.tiers.binary_search_by_key(&position, |tier| tier.position).ok()
    }

    /// Returns whether the candidate at a position is a tier that can give a cart of the line alone something.
    pub(super) fn may_give(&self, reached: &ReachedTiers, position: usize) -> bool {
        let gives_units = |rank: usize| self.tiers.get(rank).is_some_and(|tier| tier.gives_units);
        self.rank_of(position).is_some_and(|rank| reached.has(rank) || gives_units(rank))
    }

    /// Returns whether the candidate at a position gives two products of one price the same.
    pub(super) fn is_by_amount(&self, position: usize) -> bool {
        self.rank_of(position).and_then(|rank| self.tiers.get(rank)).is_some_and(|tier| tier.is_by_amount)
    }

    /// Returns whether the price of the line of a case, to which these tiers were applied, may be another one in another cart.
    pub(super) fn may_change(
        &self,
        line: &Case<'a>,
        candidates: &Candidates,
        reached: &ReachedTiers,
        applied: &[Text],
    ) -> bool {
        if !self.is_dependent(reached, applied, &|_| true) {
            return false;
        }
        let Some(barred) = self.barred.as_deref() else { return true };
        let mut trial = line.clone();
        let (holding, _) = check_rules(&mut trial, candidates, self.barring, Some(barred));
        // Rules that were not checked may hold.
        if trial.budget.is_over() {
            return true;
        }
        // A test whose facts are missing may pass.
        let is_known = trial.missing.len() == line.missing.len();
        let may_hold = |tier: &ListedTier| {
            let has_tests = barred.get(tier.position) == Some(&true);
            !has_tests || !is_known || holding.binary_search(&tier.position).is_ok()
        };
        self.is_dependent(reached, applied, &may_hold)
    }

    /// Returns whether a cart may change the price to which these tiers were applied, if only those may apply for which `may_hold` is `true`.
    fn is_dependent(&self, reached: &ReachedTiers, applied: &[Text], may_hold: &dyn Fn(&ListedTier) -> bool) -> bool {
        let (mut own, mut all) = (Vec::new(), Vec::new());
        for (rank, tier) in self.tiers.iter().enumerate().filter(|(_, tier)| may_hold(tier)) {
            let is_own = reached.has(rank);
            if is_own && !(tier.is_steady && applied.contains(&tier.id)) {
                return true;
            }
            own.extend(tier.member.as_ref().filter(|_| is_own));
            all.extend(&tier.member);
        }
        StackRoom { rules: &self.case.stacking, all }.may_displace(&own)
    }
}

impl ListedTier {
    fn new(position: usize, id: Text, resolved: &ResolvedName<'_>, rules: &StackingRules) -> ListedTier {
        let is_unknown = matches!(resolved, ResolvedName::Unknown);
        let reach = if is_unknown { Reach::Everything } else { Reach::Nothing };
        let tier =
            ListedTier { position, id, is_steady: false, is_by_amount: false, gives_units: false, reach, member: None };
        let ResolvedName::Offer(offer) = resolved else { return tier };
        ListedTier {
            is_steady: is_steady(offer),
            is_by_amount: is_by_amount(offer),
            gives_units: gives_units(offer),
            reach: Reach::of(offer),
            member: Some(StackMember::new(offer, is_of_product(offer), rules)),
            ..tier
        }
    }
}

impl ReachedTiers {
    fn has(&self, rank: usize) -> bool {
        self.0.get(rank) == Some(&true)
    }
}

impl Reach {
    fn of(offer: &Offer<'_>) -> Reach {
        let Grant::Discount(discount) = &offer.incentive.grant else { return Reach::Nothing };
        let replaces = discount.units().iter().any(|unit| unit.effect == UnitEffect::ReplaceItems);
        match discount.acts_on_lines(offer.scope().is_some()) && !replaces {
            true => Reach::Lines,
            false => Reach::Everything,
        }
    }
}

fn gives_units(offer: &Offer<'_>) -> bool {
    matches!(&offer.incentive.grant, Grant::Discount(discount) if !discount.units().is_empty())
}

/// Returns whether an offer that applies to a product alone takes the same from each of its units in every cart.
fn is_steady(offer: &Offer<'_>) -> bool {
    let Grant::Discount(discount) = &offer.incentive.grant else { return false };
    let scope = offer.scope();
    let on_lines = discount.acts_on_lines(scope.is_some());
    let takes_same = match discount {
        Discount::Percent { amount_limit: None, aggregated_amount_limit: None, .. } => true,
        Discount::Amount {
            effect: Some(AmountEffect::ApplyToItemsByQuantity), aggregated_amount_limit: None, ..
        } => true,
        Discount::Fixed { effect: None | Some(PercentEffect::ApplyToItems), .. } => on_lines,
        _ => false,
    };
    let is_plain_scope =
        scope.is_none_or(|scope| !scope.selective && scope.included.iter().all(|entry| entry.price.formula.is_none()));
    takes_same && is_plain_scope && !discount.is_dynamic() && is_of_product(offer)
}

/// Returns whether an offer gives two products of one price the same, once it applies to both: neither its rules nor its discount depend on
/// anything else of them.
fn is_by_amount(offer: &Offer<'_>) -> bool {
    let Grant::Discount(discount) = &offer.incentive.grant else { return false };
    let is_plain_scope = offer.scope().is_none_or(|scope| {
        let prices = scope.included.iter().map(|entry| &entry.price);
        !scope.selective && prices.into_iter().all(|price| price.formula.is_none() && price.plain.is_none())
    });
    let is_plain = !gives_units(offer) && !discount.is_dynamic() && !offer.capped;
    is_plain && is_plain_scope && is_of_product(offer)
}

/// Returns whether the rules of an offer that a product alone meets are met by every cart with it: they only require goods, for this customer.
fn is_of_product(offer: &Offer<'_>) -> bool {
    let is_met = |rule: &Rule| {
        let mut is_met = rule.bundle.is_none();
        rule.tests.each_leaf(&mut |leaf| is_met &= requires_goods(&leaf.test));
        is_met
    };
    offer.rules.iter().all(|rule| is_met(rule))
}

/// Returns whether nested tests refine a test of one of these subjects. They may depend on units, so that such a test fails for one unit
/// and passes for two.
fn refines_tests(offer: &Offer<'_>, subjects: u8) -> bool {
    let leaves = offer.rules.iter().flat_map(|rule| &rule.tests.leaves);
    leaves.map(|leaf| &leaf.test).any(|test| test.rules.is_some() && test.subject() & subjects != 0)
}

fn requires_goods(test: &Test) -> bool {
    match test.name.kind {
        FactKind::Goods(GoodsQuantifier::Any | GoodsQuantifier::Product | GoodsQuantifier::Sku)
        | FactKind::GoodsSet
        | FactKind::GoodsData
        | FactKind::Lines(_, LineQuantifier::Any) => {
            test.conditions.iter().all(|condition| !condition.operator.is_negative())
        }
        FactKind::Segment
        | FactKind::Tier
        | FactKind::CustomerCondition
        | FactKind::Data(MetadataOwner::Customer)
        | FactKind::Scopes => true,
        _ => false,
    }
}
