//! Answers a decision's questions from a set of rules in memory. It must not know what the decision is.

use std::sync::{Arc, OnceLock};

use crate::facts::{Assignment, Candidates, Entry, Fact, Facts, Known, Offer, Seek};
use crate::ledger::{AccountId, Journal, Session, Transfer};
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Incentive};
use crate::model::order::{Goods, Metadata, Order};
use crate::model::page::{Page, PublicMetadata, Terms};
use crate::model::promotion::Stack;
use crate::model::qualification::{Candidate, CandidateObject};
use crate::model::redemption::PastRedemption;
use crate::model::request::{Redeemable, RedeemableObject};
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::ordered_map::OrderedMap;
use crate::rules::{Collection, Rule, Segment};
use crate::text::{Text, sha256_hex};
use crate::time::{Instant, TimeZone};
use crate::wire::legible::Illegible;
use crate::wire::rule_set::RuleSet;

/// Everything that was given, by what it is asked for.
#[derive(Debug, Clone, Default)]
pub struct RuleSetFacts {
    complete: bool,
    terms: Option<Arc<Terms>>,
    proven: Option<Text>,
    whole_catalogue: bool,
    stacking_rules: StackingRules,
    time_zone: TimeZone,
    vouchers: OrderedMap<Arc<Incentive>>,
    by_hash: OrderedMap<Text>,
    tiers: OrderedMap<Arc<Incentive>>,
    stacks: OrderedMap<Stack>,
    rewards: OrderedMap<Reward>,
    reward_assignments: Vec<RewardAssignment>,
    campaigns: OrderedMap<Arc<Campaign>>,
    categories: OrderedMap<Arc<Category>>,
    customers: OrderedMap<Customer>,
    orders: OrderedMap<Order>,
    products: OrderedMap<Goods>,
    skus: OrderedMap<Goods>,
    rules: Vec<Arc<Rule>>,
    segments: OrderedMap<Segment>,
    collections: OrderedMap<Collection>,
    assigned: OrderedMap<Assigned>,
    assignments: Vec<Assignment>,
    listed: Vec<Candidate>,
    campaign_vouchers: OrderedMap<Incentive>,
    /// What may qualify, prepared when it is first asked for.
    candidates: OnceLock<Candidates>,
    redemptions: OrderedMap<PastRedemption>,
    journal: Option<Journal>,
    /// What there is besides and cannot be read.
    illegible: Illegible,
    /// Each voucher and each tier with all that belongs to it; nothing when a part of it was not given.
    offers: [Vec<Option<Offer<'static>>>; 2],
}

/// The rules that are assigned to one thing.
#[derive(Debug, Clone, Default)]
struct Assigned {
    /// Their places.
    places: Vec<usize>,
    /// Whether there is one that was not given.
    unknown: bool,
    /// Whether there is one that cannot be read.
    unreadable: bool,
}

impl RuleSetFacts {
    /// Files everything under the names it is asked for.
    pub fn new(given: RuleSet) -> RuleSetFacts {
        let mut by_id: OrderedMap<usize> = OrderedMap::default();
        for (place, rule) in given.rules.iter().enumerate() {
            // The first rule of an id has it.
            by_id.get_or(&rule.id, || place);
        }
        let vouchers = OrderedMap::new(given.vouchers, |voucher: &Arc<Incentive>| {
            [Some(&voucher.code).filter(|code| !code.is_empty()), Some(&voucher.id)]
        });
        let mut assigned: OrderedMap<Assigned> = OrderedMap::default();
        let mut assign = |object: &Text, rule: &Text| {
            let Some(rules) = assigned.get_or(object, Assigned::default) else { return };
            match by_id.get(rule) {
                Some(place) if rules.places.contains(place) => {}
                Some(place) => rules.places.push(*place),
                None if given.illegible.has("validation_rules", rule) => rules.unreadable = true,
                None => rules.unknown = true,
            }
        };
        for Assignment { related_object_id: object, rule_id: rule, .. } in &given.assignments {
            assign(object, rule);
        }
        for Assignment { related_object_id: object, rule_id: rule, .. } in &given.assignments {
            // What is assigned to a code is assigned to its voucher, so that one look by id finds everything.
            if let Some(voucher) = vouchers.get(object).filter(|voucher| voucher.id != *object) {
                assign(&voucher.id, rule);
            }
        }
        let mut facts = RuleSetFacts {
            complete: given.complete,
            terms: given.client,
            proven: given.proven,
            whole_catalogue: given.whole_catalogue,
            stacking_rules: given.stacking_rules,
            time_zone: given.time_zone,
            vouchers,
            by_hash: given.by_hash,
            tiers: OrderedMap::new(given.tiers, |tier| [Some(&tier.id), None]),
            stacks: OrderedMap::new(given.stacks, |stack| [Some(&stack.id), None]),
            rewards: OrderedMap::new(given.rewards, |reward| [Some(&reward.id), None]),
            reward_assignments: given.reward_assignments,
            campaigns: OrderedMap::new(given.campaigns, |campaign| [Some(&campaign.id), None]),
            categories: OrderedMap::new(given.categories, |category| [Some(&category.id), None]),
            customers: OrderedMap::new(given.customers, |customer| [customer.id.as_ref(), customer.source_id.as_ref()]),
            orders: OrderedMap::new(given.orders, |order| [order.id.as_ref(), order.source_id.as_ref()]),
            products: OrderedMap::new(given.products, |goods| [goods.id.as_ref(), goods.source_id.as_ref()]),
            skus: OrderedMap::new(given.skus, |goods| [goods.id.as_ref(), goods.source_id.as_ref()]),
            rules: given.rules,
            segments: OrderedMap::new(given.segments, |segment| [Some(&segment.id), None]),
            collections: OrderedMap::new(given.collections, |collection| [Some(&collection.id), None]),
            assigned,
            assignments: given.assignments,
            listed: given.listed.candidates,
            campaign_vouchers: OrderedMap::new(given.listed.campaign_vouchers, |voucher| [Some(&voucher.id), None]),
            candidates: OnceLock::new(),
            redemptions: OrderedMap::new(given.redemptions, |past| [Some(&past.id), None]),
            journal: given.journal,
            illegible: given.illegible,
            offers: Default::default(),
        };
        facts.offers = [&facts.vouchers, &facts.tiers].map(|shelf| shelf.iter().map(|one| facts.whole(one)).collect());
        facts
    }

    /// A voucher or tier with all that belongs to it; nothing when a part of it was not given.
    fn whole(&self, incentive: &Arc<Incentive>) -> Option<Offer<'static>> {
        fn part<T>(id: Option<&Text>, shelf: &OrderedMap<Arc<T>>) -> Option<Option<Fact<'static, T>>> {
            id.map(|id| shelf.get(id).map(|part| Fact::Own(Arc::clone(part)))).map_or(Some(None), |part| part.map(Some))
        }
        let campaign = part(incentive.campaign_id.as_ref(), &self.campaigns)?;
        let inherited = || campaign.as_ref()?.category_id.as_ref();
        let category = part(incentive.category_id.as_ref().or_else(inherited), &self.categories)?;
        let mut rules = Vec::new();
        let places = self.places_named([Some(&incentive.id), incentive.campaign_id.as_ref()], false).found()?;
        for place in places {
            rules.extend(self.rules.get(place).map(|rule| Fact::Own(Arc::clone(rule))));
        }
        Some(Offer::new(Fact::Own(Arc::clone(incentive)), (campaign, category), rules, None))
    }

    /// What is not here does not exist, or only the server knows.
    fn known<'a, T>(&self, kind: &str, name: &str, found: Option<&'a T>) -> Known<Fact<'a, T>> {
        match found {
            Some(fact) => Known::Is(Fact::Lent(fact)),
            None if self.illegible.has(kind, name) => Known::Unreadable,
            None if self.complete => Known::Absent,
            None => Known::Unknown,
        }
    }

    /// What all qualifications have in common; it is made once.
    pub fn look_through(&self) -> &Candidates {
        self.candidates.get_or_init(|| self.prepare())
    }

    /// Everything that may qualify. What is listed and does not resolve is looked at in full, and is refused then.
    fn prepare(&self) -> Candidates {
        let mut entries = Vec::with_capacity(self.listed.len());
        for candidate in &self.listed {
            let incentive = match candidate.object {
                CandidateObject::Campaign => self.campaign_vouchers.get(&candidate.id),
                CandidateObject::Voucher => self.vouchers.get(&candidate.id).map(|voucher| &**voucher),
                CandidateObject::PromotionTier => self.tiers.get(&candidate.id).map(|tier| &**tier),
                CandidateObject::PromotionStack => None,
            };
            let campaign =
                candidate.campaign_id.as_ref().and_then(|id| self.campaigns.get(id)).map(|campaign| &**campaign);
            let rules = match incentive.map(|incentive| self.rules(incentive)) {
                Some(Known::Is(rules)) => rules,
                Some(Known::Unreadable) => continue,
                Some(Known::Absent | Known::Unknown) | None => Vec::new(),
            };
            entries.push(Entry { candidate, incentive, campaign, rules });
        }
        Candidates::new(&entries, self.complete)
    }

    /// What a whole catalogue does not list does not exist.
    fn listed<'a>(&self, kind: &str, name: &str, found: Option<&'a Goods>) -> Known<Fact<'a, Goods>> {
        match found {
            Some(goods) => Known::Is(Fact::Lent(goods)),
            None if self.illegible.has(kind, name) => {
                let goods = Goods { id: Some(Text::from(name)), unreadable: true, ..Goods::default() };
                Known::Is(Fact::Own(Arc::new(goods)))
            }
            None if self.whole_catalogue || self.complete => Known::Absent,
            None => Known::Unknown,
        }
    }

    /// The page that asks, when the rules are a page's.
    pub fn page(&self) -> Option<Page> {
        self.terms.as_ref().map(|terms| Page { terms: Arc::clone(terms), proven: self.proven.clone() })
    }

    fn counted<T>(&self, read: impl FnOnce(&Journal) -> T) -> Known<T> {
        self.journal.as_ref().map_or(Known::Unknown, |journal| Known::Is(read(journal)))
    }

    /// The rules assigned to any of these.
    fn rules_named(&self, names: [Option<&Text>; 2]) -> Known<Vec<Fact<'_, Rule>>> {
        self.places_named(names, self.complete).map(|places| {
            places.into_iter().filter_map(|place| self.rules.get(place)).map(|rule| Fact::Lent(&**rule)).collect()
        })
    }

    /// The places of the rules assigned to any of these; unknown when one of them was not given, unless those `pass`.
    fn places_named(&self, names: [Option<&Text>; 2], pass: bool) -> Known<Vec<usize>> {
        let mut places: Vec<usize> = Vec::new();
        if names.into_iter().flatten().any(|name| self.illegible.guards(name)) {
            return Known::Unreadable;
        }
        for assigned in names.into_iter().flatten().filter_map(|name| self.assigned.get(name)) {
            if assigned.unreadable {
                return Known::Unreadable;
            }
            if assigned.unknown && !pass {
                return Known::Unknown;
            }
            for place in &assigned.places {
                // A rule of a voucher and of its campaign counts once.
                if !places.contains(place) {
                    places.push(*place);
                }
            }
        }
        Known::Is(places)
    }
}

impl Facts for RuleSetFacts {
    fn stacking_rules(&self) -> Fact<'_, StackingRules> {
        Fact::Lent(&self.stacking_rules)
    }

    fn time_zone(&self) -> Fact<'_, TimeZone> {
        Fact::Lent(&self.time_zone)
    }

    fn voucher(&self, code: &str) -> Known<Fact<'_, Incentive>> {
        if let Some(voucher) = self.vouchers.get(code) {
            return Known::Is(Fact::Lent(voucher));
        }
        if self.by_hash.is_empty() {
            return self.known("voucher", code, None);
        }
        let id = self.by_hash.get(&sha256_hex(code.as_bytes()));
        match id.and_then(|id| self.vouchers.get(id)) {
            Some(voucher) => Known::Is(Fact::own(Incentive { code: Text::from(code), ..Incentive::clone(voucher) })),
            None => self.known("voucher", id.map_or(code, Text::as_str), None),
        }
    }

    fn tier(&self, id: &str) -> Known<Fact<'_, Incentive>> {
        self.known("promotion_tier", id, self.tiers.get(id).map(|tier| &**tier))
    }

    fn offer(&self, named: &Redeemable) -> Option<&Offer<'_>> {
        let [vouchers, tiers] = &self.offers;
        let (shelf, offers) = match named.object {
            RedeemableObject::Voucher => (&self.vouchers, vouchers),
            RedeemableObject::PromotionTier => (&self.tiers, tiers),
            RedeemableObject::PromotionStack => return None,
        };
        offers.get(shelf.place(&named.id)?)?.as_ref()
    }

    fn stack(&self, id: &str) -> Known<Fact<'_, Stack>> {
        self.known("promotion_stack", id, self.stacks.get(id))
    }

    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>> {
        self.known("reward", id, self.rewards.get(id))
    }

    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>> {
        let these = |one: &&RewardAssignment| one.reward_id == reward_id && one.campaign_id == campaign_id;
        self.known("reward_assignment", reward_id, self.reward_assignments.iter().find(these))
    }

    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>> {
        self.known("campaign", id, self.campaigns.get(id).map(|campaign| &**campaign))
    }

    fn category(&self, id: &str) -> Known<Fact<'_, Category>> {
        self.known("category", id, self.categories.get(id).map(|category| &**category))
    }

    fn rules(&self, voucher: &Incentive) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named([Some(&voucher.id), voucher.campaign_id.as_ref()])
    }

    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named([Some(&Text::from(id)), None])
    }

    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>> {
        self.known("segment", id, self.segments.get(id))
    }

    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>> {
        self.known("products_collection", id, self.collections.get(id))
    }

    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>> {
        self.known("customer", key, self.customers.get(key))
    }

    /// Rules as they are handed over have no members of programs.
    fn tiers(&self, _customer: &str) -> Known<Vec<Text>> {
        if self.complete { Known::Absent } else { Known::Unknown }
    }

    /// Nor have they events that were told of.
    fn event_count(&self, _customer: &str, _event: &str) -> Known<u64> {
        if self.complete { Known::Absent } else { Known::Unknown }
    }

    /// Nor have they publications.
    fn publication(&self, _voucher_id: &str, _customer_id: &str) -> Known<Fact<'_, Metadata>> {
        if self.complete { Known::Absent } else { Known::Unknown }
    }

    fn order(&self, key: &str) -> Known<Fact<'_, Order>> {
        self.known("order", key, self.orders.get(key))
    }

    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.listed("product", key, self.products.get(key))
    }

    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.listed("sku", key, self.skus.get(key))
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        self.counted(|journal| journal.balance(account))
    }

    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        self.counted(|journal| journal.moved(account, since))
    }

    fn held(&self, account: &AccountId, now: Instant, own: Option<&Session>) -> Known<u64> {
        self.counted(|journal| journal.held(account, now, own))
    }

    fn redemption(&self, id: &str) -> Known<Fact<'_, PastRedemption>> {
        self.known("redemption", id, self.redemptions.get(id))
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        self.counted(|journal| journal.chain(id))
    }

    fn candidates(&self, _seek: &Seek<'_>) -> Known<Fact<'_, Candidates>> {
        Known::Is(Fact::Lent(self.look_through()))
    }

    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        match self.campaigns.get(campaign_id) {
            Some(campaign) if campaign.makes_codes => Known::Is(None),
            Some(_) if self.complete => {
                let is_free = |voucher: &Arc<Incentive>| {
                    voucher.campaign_id.as_deref() == Some(campaign_id) && voucher.is_free(now)
                };
                let free = self.vouchers.iter().filter(|voucher| is_free(voucher)).count();
                Known::Is(u64::try_from(free).ok())
            }
            _ => Known::Unknown,
        }
    }

    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        let is_it = |voucher: &Arc<Incentive>| {
            voucher.campaign_id.as_deref() == Some(campaign_id) && voucher.holder_id.as_deref() == Some(customer_id)
        };
        match self.vouchers.iter().any(is_it) {
            false if !self.complete => Known::Unknown,
            has => Known::Is(has),
        }
    }

    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, Incentive>> {
        self.known("campaign", id, self.campaign_vouchers.get(id))
    }

    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        let wanted = |given: &&Assignment| objects.contains(&given.related_object_id.as_str());
        Known::Is(self.assignments.iter().filter(wanted).cloned().collect())
    }

    fn tracking_id(&self, _source_id: &str) -> Known<Text> {
        if self.complete { Known::Absent } else { Known::Unknown }
    }

    fn public_metadata(&self) -> Option<&PublicMetadata> {
        // Whoever has everything was told everything.
        self.terms.as_ref().filter(|_| !self.complete).map(|terms| &terms.metadata)
    }
}
