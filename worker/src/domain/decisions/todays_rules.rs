//! Facts of a redemption that is decided again under today's rules: the state of counts, customer and order as the redemption read
//! them, and everything that the project configures as it is now.

use crate::store::Store;
use crate::store::facts::StoreFacts;
use crate::store::kept_reads::KeptReads;
use crate::store::sql::Fault;
use scrip::count::Countable;
use scrip::facts::{Assignment, CandidateFilter, Candidates, Fact, Facts, Known, SummaryCounts};
use scrip::json::Node;
use scrip::ledger::{AccountId, HoldOwner, Transfer};
use scrip::model::customer::Customer;
use scrip::model::order::{Goods, Metadata, Order};
use scrip::model::promotion::PromotionStack;
use scrip::model::redeemable::{Campaign, Category, RedeemableTerms};
use scrip::model::redemption::StoredRedemption;
use scrip::model::request::RequestedRedeemable;
use scrip::model::reward::{BoughtReward, Reward, RewardAssignment};
use scrip::model::stacking::StackingRules;
use scrip::points::campaign_tiers::CampaignTier;
use scrip::rules::{Collection, Rule, Segment};
use scrip::shape::INT_MAX;
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use std::cell::RefCell;

/// The facts. What the redemption did not read comes from today, counts without what was counted since.
pub struct TodaysRules<'f, 's> {
    /// The facts as the redemption read them.
    pub kept: &'f StoreFacts<'f, 'f>,
    /// The driver of these.
    pub driver: &'f KeptReads<'s>,
    /// The facts of today.
    pub today: &'f StoreFacts<'f, 's>,
    /// The database of today.
    pub store: &'f Store<'s>,
    /// Instant of the redemption.
    pub at: Instant,
    /// The first fault of the database, which ends the replay.
    pub fault: RefCell<Option<Fault>>,
}

impl<'f> TodaysRules<'f, '_> {
    /// Returns a fact as the redemption read it; `None` if it did not read it.
    fn kept<T>(&self, read: impl FnOnce(&'f StoreFacts<'f, 'f>) -> T) -> Option<T> {
        self.driver.take_missed();
        let fact = read(self.kept);
        (!self.driver.take_missed()).then_some(fact)
    }

    /// Returns the balance of an account before the redemption: without the transfers from then on.
    fn former_balance(&self, account: &AccountId) -> Known<i64> {
        let since = self.at.millis()..INT_MAX;
        let taken = match self.store.sum_debits_less_credits(account.as_str(), account.as_str(), &since) {
            Ok(taken) => taken,
            Err(fault) => {
                self.fault.borrow_mut().get_or_insert(fault);
                return Known::Is(0);
            }
        };
        // Both are sums of amounts, and a balance out of bounds is refused by the engine.
        self.today.balance(account).map(|balance| balance.saturating_add(taken))
    }
}

impl Facts for TodaysRules<'_, '_> {
    fn stacking_rules(&self) -> Fact<'_, StackingRules> {
        self.today.stacking_rules()
    }

    fn time_zone(&self) -> Fact<'_, TimeZone> {
        self.today.time_zone()
    }

    fn expect_redeemables(&self, redeemables: &[RequestedRedeemable]) {
        // The facts of the customer need the revisions that were read with the redeemables.
        self.kept(|kept| kept.expect_redeemables(redeemables));
        self.today.expect_redeemables(redeemables);
    }

    fn voucher(&self, code: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.today.voucher(code)
    }

    fn tier(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.today.tier(id)
    }

    fn stack(&self, id: &str) -> Known<Fact<'_, PromotionStack>> {
        self.today.stack(id)
    }

    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>> {
        self.today.reward(id)
    }

    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>> {
        self.today.reward_assignment(reward_id, campaign_id)
    }

    fn campaign_tier(&self, card: &RedeemableTerms) -> Known<Fact<'_, CampaignTier>> {
        self.kept(|kept| kept.campaign_tier(card)).unwrap_or_else(|| self.today.campaign_tier(card))
    }

    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>> {
        self.today.campaign(id)
    }

    fn category(&self, id: &str) -> Known<Fact<'_, Category>> {
        self.today.category(id)
    }

    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.today.rules_of(id)
    }

    fn rules(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>> {
        self.today.rules(voucher)
    }

    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>> {
        self.today.segment(id)
    }

    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>> {
        self.today.collection(id)
    }

    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>> {
        self.kept(|kept| kept.customer(key)).unwrap_or_else(|| self.today.customer(key))
    }

    fn customer_by_email(&self, email: &str) -> Known<Fact<'_, Customer>> {
        self.kept(|kept| kept.customer_by_email(email)).unwrap_or_else(|| self.today.customer_by_email(email))
    }

    fn card_balances(&self, customer: &str) -> Known<Fact<'_, Node<'static>>> {
        self.kept(|kept| kept.card_balances(customer)).unwrap_or_else(|| self.today.card_balances(customer))
    }

    fn tiers(&self, customer: &str) -> Known<Vec<Text>> {
        self.kept(|kept| kept.tiers(customer)).unwrap_or_else(|| self.today.tiers(customer))
    }

    fn event_count(&self, customer: &str, event: &str) -> Known<u64> {
        self.kept(|kept| kept.event_count(customer, event)).unwrap_or_else(|| self.today.event_count(customer, event))
    }

    fn order(&self, key: &str) -> Known<Fact<'_, Order>> {
        self.kept(|kept| kept.order(key)).unwrap_or_else(|| self.today.order(key))
    }

    fn expect_goods(&self, order: &Order) {
        self.today.expect_goods(order);
    }

    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.today.product(key)
    }

    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.today.sku(key)
    }

    fn publication(&self, voucher_id: &str, customer_id: &str) -> Known<Fact<'_, Metadata>> {
        let kept = self.kept(|kept| kept.publication(voucher_id, customer_id));
        kept.unwrap_or_else(|| self.today.publication(voucher_id, customer_id))
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        self.kept(|kept| kept.balance(account)).unwrap_or_else(|| self.former_balance(account))
    }

    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        let former = || {
            let later = self.today.moved(account, self.at).found().unwrap_or(0); // The store knows each count.
            self.today.moved(account, since).map(|moved| moved.remaining_after(later))
        };
        self.kept(|kept| kept.moved(account, since)).unwrap_or_else(former)
    }

    fn later_counts(&self, customer_id: &str, after: Instant) -> Known<SummaryCounts> {
        self.kept(|kept| kept.later_counts(customer_id, after))
            .unwrap_or_else(|| self.today.later_counts(customer_id, after))
    }

    fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Known<u64> {
        // Locks that were set since then did not exist.
        self.kept(|kept| kept.held(account, now, own)).unwrap_or(Known::Is(0))
    }

    fn redemption(&self, id: &str) -> Known<Fact<'_, StoredRedemption>> {
        self.kept(|kept| kept.redemption(id)).unwrap_or_else(|| self.today.redemption(id))
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        self.kept(|kept| kept.chain(id)).unwrap_or_else(|| self.today.chain(id))
    }

    fn bought_reward(&self, redemption: &StoredRedemption) -> Known<BoughtReward> {
        self.kept(|kept| kept.bought_reward(redemption)).unwrap_or_else(|| self.today.bought_reward(redemption))
    }

    fn candidates(&self, filter: &CandidateFilter<'_>) -> Known<Fact<'_, Candidates>> {
        self.today.candidates(filter)
    }

    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        self.kept(|kept| kept.free_codes(campaign_id, now)).unwrap_or_else(|| self.today.free_codes(campaign_id, now))
    }

    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        self.kept(|kept| kept.has_card(campaign_id, customer_id))
            .unwrap_or_else(|| self.today.has_card(campaign_id, customer_id))
    }

    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.today.campaign_voucher(id)
    }

    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        self.today.assignments(objects)
    }

    fn tracking_id(&self, source_id: &str) -> Known<Text> {
        self.today.tracking_id(source_id)
    }
}
