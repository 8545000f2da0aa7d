//! Builds offers: a redeemable with its parts, and the properties that are known before any request, such as its scope
//! and needed facts.

use std::sync::Arc;

use crate::count::Countable;
use crate::facts::candidates::ValidityBounds;
use crate::facts::known::Fact;
use crate::model::discount::{Discount, UnitEffect};
use crate::model::redeemable::{Campaign, CampaignType, Category, Grant, IncentiveObject, RedeemableTerms, Validity};
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::scope::Scope;
use crate::rules::{RequiredFacts, Rule};
use crate::text::Text;

/// A requested reward with its price for this card.
#[derive(Debug, Clone)]
pub struct Exchange<'a> {
    /// The reward.
    pub reward: Fact<'a, Reward>,
    /// The assignment with the price.
    pub assignment: Fact<'a, RewardAssignment>,
}

/// A redeemable with all its parts. Immutable facts build it once, beforehand.
#[derive(Debug, Clone)]
pub struct Offer<'a> {
    /// The voucher or tier.
    pub incentive: Fact<'a, RedeemableTerms>,
    /// Its campaign.
    pub campaign: Option<Fact<'a, Campaign>>,
    /// Its category, or its campaign's.
    pub category: Option<Fact<'a, Category>>,
    /// The rules assigned to it and to its campaign, and to the reward that it is exchanged for.
    pub rules: Vec<Fact<'a, Rule>>,
    /// The reward of a loyalty card.
    pub exchange: Option<Box<Exchange<'a>>>,
    /// The facts that its rules need.
    pub needs: RequiredFacts,
    /// Its validity; plain if only its rules need a further check.
    pub terms: ValidityBounds,
    /// The index of the rule with the scope, if any names goods.
    scoped: Option<usize>,
    /// `true` if units in its scope are counted over the lifetime of a campaign or tier.
    pub capped: bool,
    /// The number of goods that its rules name.
    pub goods: usize,
}

impl<'a> Offer<'a> {
    /// Returns a redeemable with its parts.
    pub fn new(
        incentive: Fact<'a, RedeemableTerms>,
        campaign: Option<Fact<'a, Campaign>>,
        category: Option<Fact<'a, Category>>,
        mut rules: Vec<Fact<'a, Rule>>,
        exchange: Option<Box<Exchange<'a>>>,
    ) -> Offer<'a> {
        join_scopes(&mut rules);
        let bundles =
            |rule: &Rule| if rule.bundle.is_some() { RequiredFacts::BUNDLE } else { RequiredFacts::default() };
        let needs = rules.iter().fold(RequiredFacts::default(), |needs, rule| needs.and(rule.needs).and(bundles(rule)));
        let terms = ValidityBounds::of(&incentive, campaign.as_deref());
        let scoped = rules.iter().position(|rule| rule.scope.names_goods());
        let (capped, mut goods) = (false, 0_usize);
        rules.iter().for_each(|rule| rule.each_goods(&mut |_| goods = goods.plus_one()));
        let mut offer = Offer { incentive, campaign, category, rules, exchange, needs, terms, scoped, capped, goods };
        let selective = offer.scope().filter(|scope| scope.selective);
        offer.capped = selective.is_some_and(|scope| scope.included.iter().any(|entry| !entry.terms.caps.is_empty()));
        // Cards have balances, and a referrer may not use their own code.
        if offer.same_items().is_some() {
            offer.needs = offer.needs.and(RequiredFacts::COLLECTIONS);
        }
        offer.terms.plain &= matches!(offer.incentive.grant, Grant::Discount(_)) && offer.referrer().is_none();
        offer
    }

    /// Returns the collection of `ADD_SAME_ITEMS`, if it is such a unit discount.
    pub fn same_items(&self) -> Option<&Text> {
        match &self.incentive.grant {
            Grant::Discount(Discount::Unit(unit)) if unit.effect == UnitEffect::AddSameItems => Some(&unit.unit_type),
            _ => None,
        }
    }

    /// Returns the referrer: of a code that names one or belongs to a referral program, the customer it was published
    /// to (docs/spec/objects.md section 9).
    pub fn referrer(&self) -> Option<&Text> {
        let campaign = self.campaign.as_deref();
        let is_referral = campaign.is_some_and(|campaign| campaign.campaign_type == CampaignType::ReferralProgram);
        self.incentive.referrer_id.as_ref().or(self.incentive.holder_id.as_ref().filter(|_| is_referral))
    }

    /// Returns whether it or its campaign has a recurring window.
    pub fn is_recurring(&self) -> bool {
        let campaign = self.campaign.as_deref().map(|campaign| &campaign.validity);
        [Some(&self.incentive.validity), campaign].into_iter().flatten().any(Validity::is_recurring)
    }

    /// Returns whether it is public: a tier, or a code of a public campaign.
    pub fn is_public(&self) -> bool {
        self.incentive.object == IncentiveObject::PromotionTier
            || self.campaign.as_deref().is_some_and(|campaign| campaign.public)
    }

    /// Returns the scope: that of the first rule that names any goods, into which the others are merged.
    pub fn scope(&self) -> Option<&Scope> {
        self.rules.get(self.scoped?).map(|rule| &rule.scope)
    }
}

/// Merges the scopes of several rules into the first that names goods: the inclusions of the first, without the
/// exclusions of all (docs/spec/calculation.md#7.2, docs/spec/validation-rules.md#6). `[inferred]`
fn join_scopes(rules: &mut [Fact<'_, Rule>]) {
    if rules.iter().filter(|rule| rule.scope.names_goods()).count() < 2 {
        return;
    }
    let including = rules.iter().find(|rule| !rule.scope.included.is_empty()).map(|rule| &rule.scope);
    let included = including.map_or_else(Vec::new, |scope| scope.included.clone());
    let excluded = rules.iter().flat_map(|rule| rule.scope.excluded.iter().cloned()).collect();
    let scope = Scope::new(including.is_some_and(|scope| scope.included_all), included, excluded);
    let collections = rules.iter().flat_map(|rule| rule.own_collections.iter().cloned()).collect();
    if let Some(first) = rules.iter_mut().find(|rule| rule.scope.names_goods()) {
        *first = Fact::Shared(Arc::new(Rule {
            id: first.id.clone(),
            tests: first.tests.clone(),
            message: first.message.clone(),
            scope,
            bundle: first.bundle.clone(),
            needs: first.needs,
            own_collections: collections,
        }));
    }
}
