//! Decides what belongs to a redeemable, and what of it can be known before any request: where it acts, what its rules look
//! at. It must not know a request.

use std::sync::Arc;

use crate::facts::candidates::Terms;
use crate::facts::known::Fact;
use crate::model::discount::{Discount, UnitEffect};
use crate::model::incentive::{Campaign, CampaignType, Category, Grant, Incentive, IncentiveObject};
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::scope::Scope;
use crate::rules::{Needs, Rule};
use crate::text::Text;

/// A reward that a request names, with its price for this card.
#[derive(Debug, Clone)]
pub struct Exchange<'a> {
    /// What one gets.
    pub reward: Fact<'a, Reward>,
    /// What it costs.
    pub assignment: Fact<'a, RewardAssignment>,
}

/// A redeemable with everything that belongs to it. Facts that stay the same put it together once, beforehand.
#[derive(Debug, Clone)]
pub struct Offer<'a> {
    /// The voucher or tier.
    pub incentive: Fact<'a, Incentive>,
    /// Its campaign.
    pub campaign: Option<Fact<'a, Campaign>>,
    /// Its category, or its campaign's.
    pub category: Option<Fact<'a, Category>>,
    /// The rules assigned to it and to its campaign, and to the reward that it is exchanged for.
    pub rules: Vec<Fact<'a, Rule>>,
    /// What points of a loyalty card are exchanged for.
    pub exchange: Option<Box<Exchange<'a>>>,
    /// What its rules look at.
    pub needs: Needs,
    /// When it holds; plain when nothing else but its rules says so.
    pub terms: Terms,
    /// Which of its rules has the scope, if any names goods.
    scoped: Option<usize>,
    /// Whether units in its scope are counted over the life of a campaign or tier.
    pub capped: bool,
    /// How many goods its rules name.
    pub goods: usize,
}

impl<'a> Offer<'a> {
    /// An incentive with what belongs to it.
    pub fn new(
        incentive: Fact<'a, Incentive>,
        (campaign, category): (Option<Fact<'a, Campaign>>, Option<Fact<'a, Category>>),
        mut rules: Vec<Fact<'a, Rule>>,
        exchange: Option<Box<Exchange<'a>>>,
    ) -> Offer<'a> {
        join_scopes(&mut rules);
        let bundles = |rule: &Rule| if rule.bundle.is_some() { Needs::BUNDLE } else { Needs::default() };
        let needs = rules.iter().fold(Needs::default(), |needs, rule| needs.and(rule.needs).and(bundles(rule)));
        let terms = Terms::of(&incentive, campaign.as_deref());
        let scoped = rules.iter().position(|rule| rule.scope.names_goods());
        let (capped, mut goods) = (false, 0_usize);
        rules.iter().for_each(|rule| rule.each_goods(&mut |_| goods = goods.saturating_add(1)));
        let mut offer = Offer { incentive, campaign, category, rules, exchange, needs, terms, scoped, capped, goods };
        let selective = offer.scope().filter(|scope| scope.selective);
        offer.capped = selective.is_some_and(|scope| scope.included.iter().any(|entry| !entry.terms.caps.is_empty()));
        // Cards have balances, and whoever passes a code on may not use it.
        if offer.same_items().is_some() {
            offer.needs = offer.needs.and(Needs::COLLECTIONS);
        }
        offer.terms.plain &= matches!(offer.incentive.grant, Grant::Discount(_)) && offer.referrer().is_none();
        offer
    }

    /// The collection whose products a unit discount adds more of, if it is one of that kind.
    pub fn same_items(&self) -> Option<&Text> {
        match &self.incentive.grant {
            Grant::Discount(Discount::Unit(unit)) if unit.effect == UnitEffect::AddSameItems => Some(&unit.unit_type),
            _ => None,
        }
    }

    /// Who passes it on: of a code that says so or belongs to a referral program, whoever it was published to (objects.md
    /// section 9).
    pub fn referrer(&self) -> Option<&Text> {
        let campaign = self.campaign.as_deref();
        let is_referral = campaign.is_some_and(|campaign| campaign.campaign_type == CampaignType::ReferralProgram);
        self.incentive.referrer_id.as_ref().or(self.incentive.holder_id.as_ref().filter(|_| is_referral))
    }

    /// Whether anybody may know of it: a tier, or a code that its campaign has for everybody.
    pub fn is_public(&self) -> bool {
        self.incentive.object == IncentiveObject::PromotionTier
            || self.campaign.as_deref().is_some_and(|campaign| campaign.public)
    }

    /// The lines it is about: the scope of the first rule that names any goods, which has that of the others in it.
    pub fn scope(&self) -> Option<&Scope> {
        self.rules.get(self.scoped?).map(|rule| &rule.scope)
    }
}

/// Of several rules that name goods the first has the scope of all: what the first of them includes, without what any of
/// them excludes (calculation.md section 7.2, validation-rules.md section 6). `[inferred]`
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
        *first = Fact::Own(Arc::new(Rule {
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
