//! Provides the facts of a decision from a set of rules in memory.

mod answers;
mod goods;
mod past;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::bundle::facts::goods::{CoreGoods, ListedGoods};
use crate::facts::{
    Assignment, CandidateEntry, Candidates, Fact, Known, KnownSettings, Offer, listed_time_of_stack, part_of,
};
use crate::json::Node;
use crate::ledger::{AccountId, Journal};
use crate::model::client::{ClientContext, ClientPolicy, CustomerTrust};
use crate::model::customer::Customer;
use crate::model::goods_buckets::KnownGoodsNames;
use crate::model::order::Order;
use crate::model::promotion::PromotionStack;
use crate::model::qualification::{Candidate, CandidateObject};
use crate::model::redeemable::{Campaign, Category, RedeemableTerms};
use crate::model::redemption::StoredRedemption;
use crate::model::reward::{Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::model::visibility::ListedTime;
use crate::ordered_map::OrderedMap;
use crate::rules::{Collection, Rule, Segment};
use crate::text::{Text, fold};
use crate::time::{Instant, TimeZone};
use crate::wire::readability::UnreadableDocuments;
use crate::wire::rule_set::{Coverage, NewCustomerConditions, OwnFacts, RuleSet};

/// The content of a set of rules, indexed by name.
#[derive(Debug, Clone, Default)]
pub struct RuleSetFacts {
    complete: bool,
    coverage: Coverage,
    has_history: bool,
    settings: KnownSettings,
    /// `true` if the set states whether codes that differ only by case are equal.
    states_case: bool,
    /// `true` if all offers are listed that every client sees.
    lists_public_offers: bool,
    /// The promotions that no qualification examines.
    unexamined_offers: BTreeSet<Text>,
    terms: Option<Arc<ClientPolicy>>,
    proven: Option<Text>,
    own: OwnFacts,
    new_customer: NewCustomerConditions,
    /// `true` if unlisted products do not exist, and `true` if unlisted SKUs do not. Every line of an order needs them.
    has_all_products: bool,
    has_all_skus: bool,
    /// The known names of goods, where these are apart from the core.
    goods_names: Option<KnownGoodsNames>,
    /// The goods without added buckets, once one was added.
    core_goods: Option<Box<CoreGoods>>,
    metadata_schemas: Vec<Text>,
    stacking_rules: StackingRules,
    time_zone: TimeZone,
    vouchers: OrderedMap<Arc<RedeemableTerms>>,
    /// The positions of vouchers by their folded codes, if case is ignored.
    folded: Option<OrderedMap<usize>>,
    tiers: OrderedMap<Arc<RedeemableTerms>>,
    stacks: OrderedMap<PromotionStack>,
    rewards: OrderedMap<Reward>,
    reward_assignments: Vec<RewardAssignment>,
    campaigns: OrderedMap<Arc<Campaign>>,
    categories: OrderedMap<Arc<Category>>,
    customers: OrderedMap<Customer>,
    /// For each folded e-mail address, the position of the first customer with it; filled on first use.
    emails: OnceLock<BTreeMap<Text, usize>>,
    orders: OrderedMap<Order>,
    products: ListedGoods,
    skus: ListedGoods,
    rules: Vec<Arc<Rule>>,
    segments: OrderedMap<Segment>,
    collections: OrderedMap<Collection>,
    assigned: OrderedMap<AssignedRules>,
    assignments: Vec<Assignment>,
    listed: Vec<Candidate>,
    campaign_vouchers: OrderedMap<RedeemableTerms>,
    /// The candidates of qualifications, prepared on first use.
    candidates: OnceLock<Candidates>,
    redemptions: OrderedMap<StoredRedemption>,
    journal: Option<Journal>,
    /// The time of decisions about the past.
    past: Option<PastDecisions>,
    /// The documents that cannot be read.
    unreadable: UnreadableDocuments,
    /// The offer of each voucher and each tier; `None` if a part of it is not in the set.
    offers: [Vec<Option<Offer<'static>>>; 2],
}

/// The time of decisions about the past.
#[derive(Debug, Clone, Copy)]
struct PastDecisions {
    /// Their instant: periods have no later transfers.
    now: Instant,
    /// The instant at which offers must have started and not ended.
    in_force_at: Instant,
}

/// The kinds of candidates.
const CANDIDATES: [&str; 4] = ["campaign", "voucher", "promotion_tier", "promotion_stack"];

/// The account of a voucher whose balance is not in its document.
const PUBLICATIONS: &str = "publications";

/// The rules assigned to one object.
#[derive(Debug, Clone, Default)]
struct AssignedRules {
    /// Their positions.
    positions: Vec<usize>,
    /// `true` if one of them is not in the set.
    unknown: bool,
    /// `true` if one of them cannot be read.
    unreadable: bool,
}

/// Returns the position of the voucher that a request names by its code or its id.
fn voucher_position(
    vouchers: &OrderedMap<Arc<RedeemableTerms>>,
    folded: Option<&OrderedMap<usize>>,
    name: &str,
) -> Option<usize> {
    let by_code = folded.and_then(|folded| folded.get(&fold(name)).copied());
    by_code.or_else(|| vouchers.position(name))
}

/// Returns the positions of vouchers by their folded codes; the first of equal codes counts.
fn positions_without_case(vouchers: &OrderedMap<Arc<RedeemableTerms>>) -> OrderedMap<usize> {
    let mut positions = OrderedMap::default();
    for (position, voucher) in vouchers.iter().enumerate().filter(|(_, voucher)| !voucher.code.is_empty()) {
        positions.get_or(&Text::from(fold(&voucher.code).as_ref()), || position);
    }
    positions
}

impl RuleSetFacts {
    /// Builds the indexes of a set of rules.
    pub fn new(given: RuleSet) -> RuleSetFacts {
        let mut by_id: OrderedMap<usize> = OrderedMap::default();
        // The first rule of an id counts.
        given.rules.iter().enumerate().for_each(|(position, rule)| _ = by_id.get_or(&rule.id, || position));
        let vouchers = OrderedMap::new(given.vouchers, |voucher: &Arc<RedeemableTerms>| {
            [Some(&voucher.code).filter(|code| !code.is_empty()), Some(&voucher.id)]
        });
        let folded = given.ignores_case.then(|| positions_without_case(&vouchers));
        let mut assigned: OrderedMap<AssignedRules> = OrderedMap::default();
        let mut assign = |object: &Text, rule: &Text| {
            let Some(rules) = assigned.get_or(object, AssignedRules::default) else { return };
            match by_id.get(rule) {
                Some(position) if rules.positions.contains(position) => {}
                Some(position) => rules.positions.push(*position),
                None if given.unreadable.has("validation_rules", rule) => rules.unreadable = true,
                None => rules.unknown = true,
            }
        };
        for Assignment { related_object_id: object, rule_id: rule, .. } in &given.assignments {
            assign(object, rule);
        }
        let campaigns = OrderedMap::new(given.campaigns, |campaign| [Some(&campaign.id), Some(&campaign.name)]);
        for Assignment { related_object_id: object, rule_id: rule, .. } in &given.assignments {
            // Rules assigned to a code or a name are assigned to the id of its object too, so that one lookup by id
            // finds all.
            let position = voucher_position(&vouchers, folded.as_ref(), object);
            let named = position.and_then(|position| vouchers.at(position)).map(|voucher| &voucher.id);
            if let Some(id) = named.or(campaigns.get(object).map(|campaign| &campaign.id)).filter(|id| *id != object) {
                assign(id, rule);
            }
        }
        for object in &given.unguarded {
            assigned.get_or(object, AssignedRules::default).into_iter().for_each(|rules| rules.unknown = true);
        }
        let mut facts = RuleSetFacts {
            complete: given.complete,
            coverage: given.coverage,
            has_history: given.has_history,
            settings: given.settings,
            states_case: given.states_case,
            lists_public_offers: given.lists_public_offers,
            unexamined_offers: given.unexamined_offers.into_iter().collect(),
            terms: given.client,
            proven: given.proven,
            own: given.own,
            new_customer: given.new_customer,
            has_all_products: given.whole_catalogue || given.complete && given.coverage.has("product"),
            has_all_skus: given.whole_catalogue || given.complete && given.coverage.has("sku"),
            goods_names: given.goods_names,
            metadata_schemas: given.metadata_schemas,
            stacking_rules: given.stacking_rules,
            time_zone: given.time_zone,
            folded,
            vouchers,
            tiers: OrderedMap::new(given.tiers, |tier| [Some(&tier.id), None]),
            stacks: OrderedMap::new(given.stacks, |stack| [Some(&stack.id), None]),
            rewards: OrderedMap::new(given.rewards, |reward| [Some(&reward.id), None]),
            reward_assignments: given.reward_assignments,
            campaigns,
            categories: OrderedMap::new(given.categories, |category| [Some(&category.id), None]),
            customers: OrderedMap::new(given.customers, |customer| [customer.id.as_ref(), customer.source_id.as_ref()]),
            orders: OrderedMap::new(given.orders, |order| [order.id.as_ref(), order.source_id.as_ref()]),
            products: ListedGoods::new(given.products),
            skus: ListedGoods::new(given.skus),
            rules: given.rules,
            segments: OrderedMap::new(given.segments, |segment| [Some(&segment.id), None]),
            collections: OrderedMap::new(given.collections, |collection| [Some(&collection.id), None]),
            assigned,
            assignments: given.assignments,
            listed: given.listed.candidates,
            campaign_vouchers: OrderedMap::new(given.listed.campaign_vouchers, |voucher| [Some(&voucher.id), None]),
            redemptions: OrderedMap::new(given.redemptions, |redemption| [Some(&redemption.id), None]),
            journal: given.journal,
            unreadable: given.unreadable,
            ..RuleSetFacts::default()
        };
        facts.offers =
            [&facts.vouchers, &facts.tiers].map(|offers| offers.iter().map(|one| facts.resolve_offer(one)).collect());
        facts
    }

    /// Returns the offer of a voucher or tier; `None` if a part of it is not in the set.
    fn resolve_offer(&self, incentive: &Arc<RedeemableTerms>) -> Option<Offer<'static>> {
        fn part<T>(id: Option<&Text>, offers: &OrderedMap<Arc<T>>) -> Option<Option<Fact<'static, T>>> {
            id.map(|id| offers.get(id).map(|part| Fact::Shared(Arc::clone(part))))
                .map_or(Some(None), |part| part.map(Some))
        }
        let campaign = part(incentive.campaign_id.as_ref(), &self.campaigns)?;
        let inherited = || campaign.as_ref()?.category_id.as_ref();
        let category = part(incentive.category_id.as_ref().or_else(inherited), &self.categories)?;
        let mut rules = Vec::new();
        let positions = self.positions_named([Some(&incentive.id), incentive.campaign_id.as_ref()]).found()?;
        for position in positions {
            rules.extend(self.rules.get(position).map(|rule| Fact::Shared(Arc::clone(rule))));
        }
        Some(Offer::new(Fact::Shared(Arc::clone(incentive)), campaign, category, rules, None))
    }

    /// Returns whether unlisted objects of a kind do not exist.
    fn covers(&self, kind: &str) -> bool {
        self.complete && self.coverage.has(kind)
    }

    /// Returns an object that a request names. If it is not in the set, it does not exist, or only the server knows.
    fn known<'a, T>(&self, kind: &str, name: &str, found: Option<&'a T>) -> Known<Fact<'a, T>> {
        match found {
            Some(fact) => Known::Is(Fact::Borrowed(fact)),
            None if self.unreadable.has(kind, name) => Known::Unreadable,
            None if self.covers(kind) => Known::Absent,
            None => Known::Unknown,
        }
    }

    /// Returns an object that documents name. If it is not in the set, only the server knows it, unless the set is the
    /// whole project.
    fn named<'a, T>(&self, kind: &str, name: &str, found: Option<&'a T>) -> Known<Fact<'a, T>> {
        match found {
            Some(fact) => Known::Is(Fact::Borrowed(fact)),
            None if self.unreadable.has(kind, name) => Known::Unreadable,
            None if self.is_complete() => Known::Absent,
            None => Known::Unknown,
        }
    }

    /// Returns whether a code differs from a known one only by case, and only the server knows whether that matters.
    fn is_known_in_other_case(&self, code: &str) -> bool {
        let is_same = |voucher: &Arc<RedeemableTerms>| !voucher.code.is_empty() && fold(&voucher.code) == fold(code);
        !self.states_case && !self.is_complete() && self.vouchers.iter().any(is_same)
    }

    /// Returns whether the set is the whole project: all kinds complete, and all counts.
    fn is_complete(&self) -> bool {
        self.complete && self.coverage.is_complete() && self.has_history
    }

    /// Returns the candidates of all qualifications, prepared once.
    pub fn prepare_candidates(&self) -> &Candidates {
        self.candidates.get_or_init(|| self.prepare())
    }

    /// Prepares the candidates. Those that are listed and do not resolve are evaluated in full, and refused then.
    fn prepare(&self) -> Candidates {
        let mut entries = Vec::with_capacity(self.listed.len());
        let mut resolved = true;
        for candidate in self.listed.iter().filter(|candidate| self.may_be_listed(candidate)) {
            let incentive = match candidate.object {
                CandidateObject::Campaign => self.campaign_vouchers.get(&candidate.id),
                CandidateObject::Voucher => self.vouchers.get(&candidate.id).map(|voucher| &**voucher),
                CandidateObject::PromotionTier => self.tiers.get(&candidate.id).map(|tier| &**tier),
                CandidateObject::PromotionStack => None,
            };
            let campaign =
                candidate.campaign_id.as_ref().and_then(|id| self.campaigns.get(id)).map(|campaign| &**campaign);
            resolved &= candidate.campaign_id.is_none() || campaign.is_some();
            let rules = match incentive
                .map(|incentive| self.rules_named([Some(&incentive.id), incentive.campaign_id.as_ref()]))
            {
                Some(Known::Is(rules)) => rules,
                Some(Known::Unreadable) => continue,
                Some(Known::Absent | Known::Unknown) => {
                    resolved = false;
                    Vec::new()
                }
                None => Vec::new(),
            };
            let listed = match candidate.object {
                CandidateObject::PromotionTier => incentive.and_then(|tier| tier.listed_time(campaign)),
                CandidateObject::PromotionStack => self
                    .stacks
                    .get(&candidate.id)
                    .and_then(|stack| listed_time_of_stack(stack.tiers.iter().map(|id| self.listed_time_of_tier(id)))),
                CandidateObject::Campaign | CandidateObject::Voucher => None,
            };
            entries.push(CandidateEntry { candidate, incentive, campaign, rules, listed });
        }
        let complete = resolved && CANDIDATES.iter().all(|kind| self.covers(kind));
        let listed_complete = complete || resolved && self.lists_public_offers;
        let own_complete = complete || resolved && self.own.has_candidates;
        Candidates { complete, listed_complete, own_complete, ..Candidates::new(&entries) }
    }

    /// Returns whether a qualification may list a candidate. A client's lists only promotions and its customer's codes.
    fn may_be_listed(&self, candidate: &Candidate) -> bool {
        if self.unexamined_offers.contains(&candidate.id) {
            return false;
        }
        let is_open = self.terms.as_ref().is_none_or(|terms| terms.customers == CustomerTrust::Open);
        is_open
            || match candidate.object {
                CandidateObject::Campaign => false,
                CandidateObject::Voucher => candidate.holder_id.is_some(),
                CandidateObject::PromotionTier | CandidateObject::PromotionStack => true,
            }
    }

    fn listed_time_of_tier(&self, id: &str) -> Option<ListedTime> {
        let tier = self.tiers.get(id)?;
        let campaign = tier.campaign_id.as_ref().and_then(|id| self.campaigns.get(id));
        tier.listed_time(campaign.map(|campaign| &**campaign))
    }

    /// Returns the objects for whose metadata the project has a schema.
    pub fn metadata_schemas(&self) -> &[Text] {
        &self.metadata_schemas
    }

    /// Sets the customer proven by a token.
    pub fn prove(&mut self, customer: Text) {
        self.proven = Some(customer);
    }

    /// Returns the customer proven by a token, by id or `source_id`.
    pub fn proven(&self) -> Option<&Text> {
        self.proven.as_ref()
    }

    /// Returns the client, if the rules contain a client policy.
    pub fn client(&self) -> Option<ClientContext> {
        self.terms.as_ref().map(|terms| ClientContext {
            policy: Arc::clone(terms),
            proven: self.proven.clone(),
            ..ClientContext::default()
        })
    }

    fn with_journal<T>(&self, read: impl FnOnce(&Journal) -> T) -> Known<T> {
        self.journal.as_ref().map_or(Known::Unknown, |journal| Known::Is(read(journal)))
    }

    /// Returns the result for facts that no list contains: members of programs, events, publications.
    fn unlisted<T>(&self) -> Known<T> {
        if self.is_complete() { Known::Absent } else { Known::Unknown }
    }

    /// Returns whether the document of a voucher contains the balance of an account.
    fn is_summed(&self, account: &AccountId) -> bool {
        let summed = |id: &str, counter: &str| counter != PUBLICATIONS && self.vouchers.get(id).is_some();
        matches!(part_of(account.as_str()), Some(("voucher", id, counter)) if summed(id, counter))
    }

    /// Returns the rules assigned to any of these.
    fn rules_named(&self, names: [Option<&Text>; 2]) -> Known<Vec<Fact<'_, Rule>>> {
        self.positions_named(names).map(|positions| {
            positions
                .into_iter()
                .filter_map(|position| self.rules.get(position))
                .map(|rule| Fact::Borrowed(&**rule))
                .collect()
        })
    }

    /// Returns the positions of the rules assigned to any of these; unknown if one of them is not in the set.
    fn positions_named(&self, names: [Option<&Text>; 2]) -> Known<Vec<usize>> {
        let mut positions: Vec<usize> = Vec::new();
        if names.into_iter().flatten().any(|name| self.unreadable.guards(name)) {
            return Known::Unreadable;
        }
        for assigned in names.into_iter().flatten().filter_map(|name| self.assigned.get(name)) {
            if assigned.unreadable {
                return Known::Unreadable;
            }
            if assigned.unknown {
                return Known::Unknown;
            }
            for position in &assigned.positions {
                // A rule of a voucher and of its campaign counts once.
                if !positions.contains(position) {
                    positions.push(*position);
                }
            }
        }
        Known::Is(positions)
    }
}

/// Adds the e-mail address of the customer at a position, unless another one with it was created before.
fn add_email(emails: &mut BTreeMap<Text, usize>, customers: &OrderedMap<Customer>, position: usize) {
    // Times of the service have one text format, in the order of time.
    let created_at =
        |customer: &Customer| customer.document.get("created_at").and_then(Node::as_str).map(str::to_owned);
    let Some(customer) = customers.at(position) else { return };
    let Some(email) = customer.email() else { return };
    let first = emails.entry(Text::from(fold(email))).or_insert(position);
    if customers.at(*first).is_some_and(|first| created_at(customer) < created_at(first)) {
        *first = position;
    }
}
