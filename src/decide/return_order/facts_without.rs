//! Provides the facts of a decision as if some redemptions of an order had not happened. Their transfers do not count,
//! nor does the order for its customer.
//!
//! Later orders and redemptions count for no customer. Budgets, caps, card balances, campaigns and rules are as stored.

use std::sync::Arc;

use crate::budget::StepBudget;
use crate::count::Countable;
use crate::facts::{Assignment, CandidateFilter, Candidates, Fact, Facts, Known, SummaryCounts, counts_redemptions};
use crate::json::{JsonMembers, Node};
use crate::ledger::{AccountId, HoldOwner, Transfer};
use crate::model::client::PublicMetadata;
use crate::model::customer::Customer;
use crate::model::order::{Goods, Metadata, Order};
use crate::model::promotion::PromotionStack;
use crate::model::redeemable::{Campaign, Category, RedeemableTerms};
use crate::model::redemption::StoredRedemption;
use crate::model::request::RequestedRedeemable;
use crate::model::reward::{BoughtReward, Reward, RewardAssignment};
use crate::model::stacking::StackingRules;
use crate::points::campaign_tiers::CampaignTier;
use crate::rules::{Collection, Rule, Segment};
use crate::text::Text;
use crate::time::{Instant, TimeZone};

/// The facts of a decision without some redemptions.
pub struct FactsWithout<'a> {
    /// All facts.
    pub facts: &'a dyn Facts,
    /// The remaining amounts of the transfers that do not count.
    pub transfers: &'a [Transfer],
    /// The customer whose summary the order counts in.
    pub customer_id: Option<&'a Text>,
    /// The part of the summary that comes from the order.
    pub summary: SummaryCounts,
    /// The instant of the first of the redemptions.
    pub since: Instant,
}

impl FactsWithout<'_> {
    fn without(&self, mut customer: Customer) -> Customer {
        let mut summary = customer.document.take_members("summary");
        let later = customer.id.as_ref().map_or(Known::Absent, |id| self.facts.later_counts(id, self.since));
        // A customer without later counts has none.
        let later = later.found().unwrap_or_default();
        let own = &self.summary;
        let counts = [
            ("orders", "total_count", own.orders, later.orders),
            ("orders", "total_amount", own.order_total, later.order_total),
            ("redemptions", "total_redeemed", own.redeemed, later.redeemed),
            ("redemptions", "total_succeeded", own.succeeded, later.succeeded),
        ];
        for (group, name, own, later) in counts {
            let mut members: JsonMembers = summary.take_members(group);
            if let Some(count) = members.get(name).and_then(Node::as_i64) {
                let before = count.checked_sub(own).and_then(|count| count.checked_sub(later));
                // A count below the increments was corrected meanwhile, and is at least 0.
                members.insert(name, Node::Integer(before.map_or(0, |count| count.max(0))));
            }
            summary.insert(group, Node::Object(owned(&members)));
        }
        customer.document.insert("summary", Node::Object(owned(&summary)));
        customer
    }

    /// Returns the customer of the order as they were before it, and any other as stored.
    fn before_order<'f>(&self, found: Known<Fact<'f, Customer>>) -> Known<Fact<'f, Customer>> {
        match found {
            Known::Is(customer) if customer.id.is_some() && customer.id.as_ref() == self.customer_id => {
                Known::Is(Fact::Shared(Arc::new(self.without(customer.into_owned()))))
            }
            other => other,
        }
    }
}

fn owned(members: &JsonMembers) -> Vec<(std::borrow::Cow<'static, str>, Node<'static>)> {
    members.iter().map(|(name, value)| (name.to_owned().into(), value.clone())).collect()
}

impl Facts for FactsWithout<'_> {
    fn budget(&self) -> StepBudget {
        self.facts.budget()
    }
    fn stacking_rules(&self) -> Fact<'_, StackingRules> {
        self.facts.stacking_rules()
    }
    fn time_zone(&self) -> Fact<'_, TimeZone> {
        self.facts.time_zone()
    }
    fn expect_redeemables(&self, redeemables: &[RequestedRedeemable]) {
        self.facts.expect_redeemables(redeemables);
    }
    fn voucher(&self, code: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.facts.voucher(code)
    }
    fn tier(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.facts.tier(id)
    }
    fn stack(&self, id: &str) -> Known<Fact<'_, PromotionStack>> {
        self.facts.stack(id)
    }
    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>> {
        self.facts.reward(id)
    }
    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>> {
        self.facts.reward_assignment(reward_id, campaign_id)
    }
    fn campaign_tier(&self, card: &RedeemableTerms) -> Known<Fact<'_, CampaignTier>> {
        self.facts.campaign_tier(card)
    }
    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>> {
        self.facts.campaign(id)
    }
    fn category(&self, id: &str) -> Known<Fact<'_, Category>> {
        self.facts.category(id)
    }
    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.facts.rules_of(id)
    }
    fn rules(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>> {
        self.facts.rules(voucher)
    }
    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>> {
        self.facts.segment(id)
    }
    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>> {
        self.facts.collection(id)
    }
    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>> {
        self.before_order(self.facts.customer(key))
    }
    fn customer_by_email(&self, email: &str) -> Known<Fact<'_, Customer>> {
        self.before_order(self.facts.customer_by_email(email))
    }
    fn tiers(&self, customer: &str) -> Known<Vec<Text>> {
        self.facts.tiers(customer)
    }
    fn event_count(&self, customer: &str, event: &str) -> Known<u64> {
        self.facts.event_count(customer, event)
    }
    fn order(&self, key: &str) -> Known<Fact<'_, Order>> {
        self.facts.order(key)
    }
    fn expect_goods(&self, order: &Order) {
        self.facts.expect_goods(order);
    }
    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.facts.product(key)
    }
    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.facts.sku(key)
    }
    fn publication(&self, voucher_id: &str, customer_id: &str) -> Known<Fact<'_, Metadata>> {
        self.facts.publication(voucher_id, customer_id)
    }
    fn balance(&self, account: &AccountId) -> Known<i64> {
        if counts_redemptions(account.as_str()) {
            let later = match self.facts.moved(account, self.since) {
                Known::Unreadable => return Known::Unreadable,
                // Nothing known to have moved later counts as nothing.
                later => later.found().unwrap_or(0),
            };
            let before = |balance: i64| {
                let later = later.min(balance.unsigned_abs());
                if balance < 0 { balance.checked_add_unsigned(later) } else { balance.checked_sub_unsigned(later) }
            };
            return self.facts.balance(account).map(before).readable();
        }
        let undo = |net: i64, transfer: &Transfer| match (transfer.debit == *account, transfer.credit == *account) {
            (true, false) => net.checked_add_unsigned(transfer.amount),
            (false, true) => net.checked_sub_unsigned(transfer.amount),
            (true, true) | (false, false) => Some(net),
        };
        self.facts.balance(account).map(|balance| self.transfers.iter().try_fold(balance, undo)).readable()
    }
    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        if counts_redemptions(account.as_str()) {
            let later = match self.facts.moved(account, self.since.max(since)) {
                Known::Unreadable => return Known::Unreadable,
                // Nothing known to have moved later counts as nothing.
                later => later.found().unwrap_or(0),
            };
            return self.facts.moved(account, since).map(|moved| moved.remaining_after(later));
        }
        let own = self.transfers.iter().filter(|one| one.at >= since);
        let own = own.filter(|one| one.debit == *account || one.credit == *account);
        self.facts.moved(account, since).map(|moved| own.fold(moved, |left, one| left.remaining_after(one.amount)))
    }
    fn later_counts(&self, customer_id: &str, after: Instant) -> Known<SummaryCounts> {
        self.facts.later_counts(customer_id, after)
    }
    fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Known<u64> {
        self.facts.held(account, now, own)
    }
    fn redemption(&self, id: &str) -> Known<Fact<'_, StoredRedemption>> {
        self.facts.redemption(id)
    }
    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        self.facts.chain(id)
    }
    fn bought_reward(&self, redemption: &StoredRedemption) -> Known<BoughtReward> {
        self.facts.bought_reward(redemption)
    }
    fn candidates(&self, filter: &CandidateFilter<'_>) -> Known<Fact<'_, Candidates>> {
        self.facts.candidates(filter)
    }
    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        self.facts.free_codes(campaign_id, now)
    }
    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        self.facts.has_card(campaign_id, customer_id)
    }
    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.facts.campaign_voucher(id)
    }
    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        self.facts.assignments(objects)
    }
    fn tracking_id(&self, source_id: &str) -> Known<Text> {
        self.facts.tracking_id(source_id)
    }
    fn public_metadata(&self) -> Option<&PublicMetadata> {
        self.facts.public_metadata()
    }
}
