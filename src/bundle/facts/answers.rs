//! Implements the facts of a decision with rules in memory.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bundle::facts::goods::{CoreGoods, GoodsCoverage, ListedGoods};
use crate::bundle::facts::{RuleSetFacts, add_email, voucher_position};
use crate::facts::{Assignment, CandidateFilter, Candidates, Fact, Facts, Known, KnownSettings, Offer, SummaryCounts};
use crate::id::is_tracking_id;
use crate::json::Node;
use crate::ledger::{AccountId, HoldOwner, Transfer};
use crate::model::client::PublicMetadata;
use crate::model::customer::{Customer, ProfilePart};
use crate::model::order::{Goods, Metadata, Order};
use crate::model::promotion::PromotionStack;
use crate::model::redeemable::{Campaign, Category, RedeemableTerms};
use crate::model::redemption::StoredRedemption;
use crate::model::request::{RedeemableObject, RequestedRedeemable};
use crate::model::reward::{BoughtReward, Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::rules::{Collection, Rule, Segment};
use crate::text::{Text, fold};
use crate::time::{Instant, TimeZone};
use crate::wire::rule_set::RuleSet;

/// The member of a customer with the numbers of the conditions that the customer meets.
const CONDITIONS: &str = "conditions";
/// The members with the numbers of those whose results stay the same if a request sends metadata, or other fields of the profile.
const INDEPENDENT_OF_METADATA: &str = "conditions_beside_metadata";
const INDEPENDENT_OF_FIELDS: &str = "conditions_beside_fields";
/// The member of a customer with the tracking id.
const TRACKING_ID: &str = "tracking_id";

impl RuleSetFacts {
    /// Adds the goods of buckets.
    pub fn add_goods(&mut self, buckets: RuleSet) {
        self.core_goods.get_or_insert_with(|| {
            Box::new(CoreGoods {
                products: self.products.clone(),
                skus: self.skus.clone(),
                names: self.goods_names.clone(),
                unreadable: self.unreadable.clone(),
            })
        });
        self.products.add(buckets.products);
        self.skus.add(buckets.skus);
        self.unreadable.join(buckets.unreadable);
        if let Some(names) = buckets.goods_names {
            self.goods_names.get_or_insert_default().join(names);
        }
    }

    /// Forgets the buckets that were added.
    pub fn forget_goods(&mut self) {
        if let Some(core) = self.core_goods.take() {
            let CoreGoods { products, skus, names, unreadable } = *core;
            (self.products, self.skus, self.goods_names, self.unreadable) = (products, skus, names, unreadable);
        }
    }

    /// Returns goods of the catalogue. If the catalogue is complete, unlisted ones do not exist.
    fn listed<'a>(
        &'a self,
        kind: &str,
        name: &str,
        goods: &'a ListedGoods,
        is_complete: bool,
    ) -> Known<Fact<'a, Goods>> {
        let is_unreadable = self.unreadable.has(kind, name);
        goods.find(name, GoodsCoverage { is_unreadable, is_complete, names: self.goods_names.as_ref() })
    }

    /// Returns whether a list of numbers in the document of a customer has a number; `None` without such a list.
    fn has_number(&self, customer: &str, member: &str, number: &str) -> Option<bool> {
        match self.customers.get(customer)?.document.get(member) {
            Some(Node::List(numbers)) => Some(numbers.iter().any(|known| known.as_str() == Some(number))),
            Some(_) | None => None,
        }
    }

    /// Returns the normal form of a code that the rules do not list: the form in which codes are compared.
    pub fn unlisted_code<'c>(&self, code: &'c str) -> Option<Cow<'c, str>> {
        let is_listed = voucher_position(&self.vouchers, self.folded.as_ref(), code).is_some();
        let compared = || if self.folded.is_some() { fold(code) } else { Cow::Borrowed(code) };
        (!is_listed).then(compared)
    }
}

impl Facts for RuleSetFacts {
    fn in_force_at(&self) -> Option<Instant> {
        self.past.map(|past| past.in_force_at)
    }

    fn stacking_rules(&self) -> Fact<'_, StackingRules> {
        Fact::Borrowed(&self.stacking_rules)
    }

    fn time_zone(&self) -> Fact<'_, TimeZone> {
        Fact::Borrowed(&self.time_zone)
    }

    fn voucher(&self, code: &str) -> Known<Fact<'_, RedeemableTerms>> {
        let position = voucher_position(&self.vouchers, self.folded.as_ref(), code);
        if let Some(voucher) = position.and_then(|position| self.vouchers.at(position)) {
            return Known::Is(Fact::Borrowed(voucher));
        }
        if self.is_known_in_other_case(code) {
            return Known::Unknown;
        }
        self.known("voucher", code, None)
    }

    fn tier(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.known("promotion_tier", id, self.tiers.get(id).map(|tier| &**tier))
    }

    fn offer(&self, named: &RequestedRedeemable) -> Option<&Offer<'_>> {
        let [vouchers, tiers] = &self.offers;
        let (position, offers) = match named.object {
            RedeemableObject::Voucher => (voucher_position(&self.vouchers, self.folded.as_ref(), &named.id), vouchers),
            RedeemableObject::PromotionTier => (self.tiers.position(&named.id), tiers),
            RedeemableObject::PromotionStack => return None,
        };
        offers.get(position?)?.as_ref()
    }

    fn stack(&self, id: &str) -> Known<Fact<'_, PromotionStack>> {
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
        self.named("campaign", id, self.campaigns.get(id).map(|campaign| &**campaign))
    }

    fn category(&self, id: &str) -> Known<Fact<'_, Category>> {
        self.named("category", id, self.categories.get(id).map(|category| &**category))
    }

    fn rules(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named([Some(&voucher.id), voucher.campaign_id.as_ref()])
    }

    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named([Some(&Text::from(id)), None])
    }

    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>> {
        self.named("segment", id, self.segments.get(id))
    }

    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>> {
        self.named("products_collection", id, self.collections.get(id))
    }

    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>> {
        self.known("customer", key, self.customers.get(key))
    }

    fn customer_by_email(&self, email: &str) -> Known<Fact<'_, Customer>> {
        // Without all customers it is unknown whether another one with the address was created before.
        if !self.covers("customer") {
            return Known::Unknown;
        }
        let emails = self.emails.get_or_init(|| {
            let mut emails = BTreeMap::new();
            (0..self.customers.len()).for_each(|position| add_email(&mut emails, &self.customers, position));
            emails
        });
        let first = emails.get(email).and_then(|position| self.customers.at(*position));
        self.known("customer", email, first)
    }

    fn tiers(&self, _customer: &str) -> Known<Vec<Text>> {
        self.unlisted()
    }

    fn customer_condition(&self, customer: &str, number: &str) -> Known<bool> {
        self.has_number(customer, CONDITIONS, number).map_or(Known::Unknown, Known::Is)
    }

    fn is_condition_independent_of(&self, customer: &str, number: &str, part: ProfilePart) -> bool {
        let member = match part {
            ProfilePart::Metadata => INDEPENDENT_OF_METADATA,
            ProfilePart::Fields => INDEPENDENT_OF_FIELDS,
        };
        self.has_number(customer, member, number) == Some(true)
    }

    fn new_customer_condition(&self, number: &str) -> Known<bool> {
        self.new_customer.is_met(number).map_or(Known::Unknown, Known::Is)
    }

    fn knows_profile(&self, customer: &str) -> bool {
        self.customers.get(customer).is_none_or(|customer| customer.document.get(CONDITIONS).is_none())
    }

    fn event_count(&self, _customer: &str, _event: &str) -> Known<u64> {
        self.unlisted()
    }

    fn publication(&self, _voucher_id: &str, _customer_id: &str) -> Known<Fact<'_, Metadata>> {
        self.unlisted()
    }

    fn order(&self, key: &str) -> Known<Fact<'_, Order>> {
        self.known("order", key, self.orders.get(key))
    }

    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.listed("product", key, &self.products, self.has_all_products)
    }

    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.listed("sku", key, &self.skus, self.has_all_skus)
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        if let Some(balance) = self.own.balance(account) {
            return Known::Is(balance);
        }
        if self.own.counts.has(account) {
            // The customer's own use is subtracted from the account.
            let units = self.own.counts.units(account, None).and_then(|units| 0_i64.checked_sub_unsigned(units));
            return units.map_or(Known::Unknown, Known::Is);
        }
        if !self.has_history && !self.is_summed(account) {
            return Known::Unknown;
        }
        match self.past {
            Some(past) => self.with_journal(|journal| journal.balance_until(account, past.now)).readable(),
            None => self.with_journal(|journal| journal.balance(account)),
        }
    }

    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        if self.own.counts.has(account) {
            return self.own.counts.units(account, Some(since)).map_or(Known::Unknown, Known::Is);
        }
        if self.has_history {
            let until = self.past.map_or(Instant::LATEST, |past| past.now);
            self.with_journal(|journal| journal.moved(account, since, until)).readable()
        } else {
            Known::Unknown
        }
    }

    fn later_counts(&self, _: &str, _: Instant) -> Known<SummaryCounts> {
        Known::Absent
    }

    fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Known<u64> {
        self.with_journal(|journal| journal.held(account, now, own)).readable()
    }

    fn redemption(&self, id: &str) -> Known<Fact<'_, StoredRedemption>> {
        self.known("redemption", id, self.redemptions.get(id))
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        self.with_journal(|journal| journal.chain(id))
    }

    /// Returns unknown: only the server knows the rest of a bought voucher.
    fn bought_reward(&self, _redemption: &StoredRedemption) -> Known<BoughtReward> {
        Known::Unknown
    }

    fn candidates(&self, _filter: &CandidateFilter<'_>) -> Known<Fact<'_, Candidates>> {
        Known::Is(Fact::Borrowed(self.prepare_candidates()))
    }

    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        match self.campaigns.get(campaign_id) {
            Some(campaign) if campaign.makes_codes => Known::Is(None),
            Some(_) if self.covers("voucher") => {
                let is_free = |voucher: &Arc<RedeemableTerms>| {
                    voucher.campaign_id.as_deref() == Some(campaign_id) && voucher.is_free(now)
                };
                let free = self.vouchers.iter().filter(|voucher| is_free(voucher)).count();
                Known::Is(u64::try_from(free).ok())
            }
            _ => Known::Unknown,
        }
    }

    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        let is_it = |voucher: &Arc<RedeemableTerms>| {
            voucher.campaign_id.as_deref() == Some(campaign_id) && voucher.holder_id.as_deref() == Some(customer_id)
        };
        match self.vouchers.iter().any(is_it) {
            false if !self.covers("voucher") => Known::Unknown,
            has => Known::Is(has),
        }
    }

    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.known("campaign", id, self.campaign_vouchers.get(id))
    }

    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        let is_requested = |given: &&Assignment| objects.contains(&given.related_object_id.as_str());
        Known::Is(self.assignments.iter().filter(is_requested).cloned().collect())
    }

    fn tracking_id(&self, source_id: &str) -> Known<Text> {
        let stated = self.customers.get(source_id).and_then(|customer| customer.document.get(TRACKING_ID));
        if let Some(tracking_id) = stated.and_then(Node::as_str) {
            return Known::Is(tracking_id.into());
        }
        match self.covers("customer") {
            true => Known::Absent,
            false if is_tracking_id(source_id) => Known::Is(source_id.into()),
            false => Known::Unknown,
        }
    }

    fn knows_channel(&self) -> bool {
        self.is_complete()
    }

    fn knows_settings(&self) -> KnownSettings {
        let is_complete = self.is_complete();
        KnownSettings {
            time_zone: is_complete || self.settings.time_zone,
            stacking_rules: is_complete || self.settings.stacking_rules,
        }
    }

    fn public_metadata(&self) -> Option<&PublicMetadata> {
        // A complete set contains all metadata.
        self.terms.as_ref().filter(|_| !self.complete).map(|terms| &terms.metadata)
    }
}
