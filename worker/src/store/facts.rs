//! Facts of a decision from the store. None of them is unknown: a document that is not stored is absent. A fact cannot return
//! an error, so a fault of the store is recorded and must be checked at the end ([`StoreFacts::finish`]).

mod cache;
mod goods;
mod statements;
mod voucher_details;
mod vouchers;

pub use cache::{Catalogue, DecisionSettings, DocumentsById, FactFinders, StoreFacts};
pub use voucher_details::VoucherDetails;

use super::candidates::CandidateRows;
use super::sql::Fault;
use scrip::budget::StepBudget;
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
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::reward::read_reward;
use scrip::wire::rules::{read_collection, read_segment};
use scrip::wire::stored_redemption::read_stored_redemption;
use scrip::wire::voucher::{read_category, read_stack};
use std::sync::Arc;

impl Facts for StoreFacts<'_, '_> {
    fn budget(&self) -> StepBudget {
        self.work.borrow().clone()
    }

    fn stacking_rules(&self) -> Fact<'_, StackingRules> {
        Fact::own(match self.known(self.find_rules_of_project()) {
            Known::Is(rules) => rules,
            Known::Absent | Known::Unknown => StackingRules::default(),
            // Without readable rules it is unknown which redeemables may be combined, so only one may be used.
            Known::Unreadable => StackingRules { redeemables_limit: 1, ..StackingRules::default() },
        })
    }

    fn time_zone(&self) -> Fact<'_, TimeZone> {
        Fact::Borrowed(&self.zone)
    }

    fn expect_redeemables(&self, redeemables: &[RequestedRedeemable]) {
        self.record_fault(self.read_expected(redeemables).map(Some));
    }

    fn voucher(&self, code: &str) -> Known<Fact<'_, RedeemableTerms>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.incentives.get(code)) {
            return Known::Is(Fact::Borrowed(known));
        }
        self.known(self.find_voucher(code)).map(Fact::own)
    }

    fn tier(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.incentives.get(id)) {
            return Known::Is(Fact::Borrowed(known));
        }
        self.known(self.find_tier(id)).map(Fact::own)
    }

    fn stack(&self, id: &str) -> Known<Fact<'_, PromotionStack>> {
        self.find("promotion_stack", id, read_stack)
    }

    fn reward(&self, id: &str) -> Known<Fact<'_, Reward>> {
        self.find("reward", id, read_reward)
    }

    fn reward_assignment(&self, reward_id: &str, campaign_id: &str) -> Known<Fact<'_, RewardAssignment>> {
        self.known(self.find_reward_assignment(reward_id, campaign_id)).map(Fact::own)
    }

    fn campaign_tier(&self, card: &RedeemableTerms) -> Known<Fact<'_, CampaignTier>> {
        self.record_fault((self.find_card_tier)(&card.id)).map(Fact::own).into()
    }

    fn campaign(&self, id: &str) -> Known<Fact<'_, Campaign>> {
        if let Some(known) = self.offered.get().and_then(|offered| offered.campaigns.get(id)) {
            return Known::Is(Fact::Borrowed(known));
        }
        self.known(self.find_campaign(id)).map(Fact::own)
    }

    fn category(&self, id: &str) -> Known<Fact<'_, Category>> {
        self.find("category", id, read_category)
    }

    fn rules_of(&self, id: &str) -> Known<Vec<Fact<'_, Rule>>> {
        self.rules_named(&[id])
    }

    fn rules(&self, voucher: &RedeemableTerms) -> Known<Vec<Fact<'_, Rule>>> {
        let Some(offered) = self.offered.get().filter(|offered| offered.has(&voucher.id)) else {
            return self.rules_of_voucher(voucher);
        };
        let names = [Some(&voucher.id), Some(&voucher.code), voucher.campaign_id.as_ref()];
        offered.rules_of(&names.into_iter().flatten().map(Text::as_str).collect::<Vec<_>>())
    }

    fn segment(&self, id: &str) -> Known<Fact<'_, Segment>> {
        if let Some(segment) = self.cache.borrow().segments.get(id) {
            return Known::Is(Fact::Shared(Arc::clone(segment)));
        }
        let found = self.find("segment", id, read_segment);
        if let Known::Is(Fact::Shared(segment)) = &found {
            self.cache.borrow_mut().segments.insert(id.to_owned(), Arc::clone(segment));
        }
        found
    }

    fn collection(&self, id: &str) -> Known<Fact<'_, Collection>> {
        self.find("products_collection", id, read_collection)
    }

    fn customer(&self, key: &str) -> Known<Fact<'_, Customer>> {
        self.known(self.find_customer(key)).map(Fact::own)
    }

    fn customer_by_email(&self, email: &str) -> Known<Fact<'_, Customer>> {
        self.known(self.find_customer_by_email(email)).map(Fact::own)
    }

    fn card_balances(&self, customer: &str) -> Known<Fact<'_, Node<'static>>> {
        let found = self.record_fault((self.find_balances)(customer));
        let read = found.as_ref().and_then(|members| Some(Node::of(members, usize::MAX).ok()?.owned()));
        read.map(Fact::own).into()
    }

    fn tiers(&self, customer: &str) -> Known<Vec<Text>> {
        self.record_fault(self.tiers_of(customer).map(Some)).map_or(Known::Unknown, Known::Is)
    }

    fn event_count(&self, customer: &str, event: &str) -> Known<u64> {
        self.record_fault(self.store.event_count(customer, event).map(Some)).map_or(Known::Unknown, Known::Is)
    }

    fn publication(&self, voucher_id: &str, customer_id: &str) -> Known<Fact<'_, Metadata>> {
        self.record_fault(self.find_publication(voucher_id, customer_id)).map(Fact::own).into()
    }

    fn order(&self, key: &str) -> Known<Fact<'_, Order>> {
        self.known(self.find_order(key)).map(Fact::own)
    }

    fn expect_goods(&self, order: &Order) {
        self.record_fault(self.find_goods_of(order).map(Some));
    }

    fn product(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.record_fault(self.find_goods("product", key)).map(Fact::Shared).into()
    }

    fn sku(&self, key: &str) -> Known<Fact<'_, Goods>> {
        self.record_fault(self.find_goods("sku", key)).map(Fact::Shared).into()
    }

    fn balance(&self, account: &AccountId) -> Known<i64> {
        // Zero stands for a fault, which is recorded and ends the call.
        Known::Is(self.record_fault(self.find_balance(account).map(Some)).unwrap_or(0))
    }

    fn moved(&self, account: &AccountId, since: Instant) -> Known<u64> {
        // Zero stands for a fault, which is recorded and ends the call.
        Known::Is(self.record_fault(self.find_moved(account, since).map(Some)).unwrap_or(0))
    }

    fn later_counts(&self, customer_id: &str, after: Instant) -> Known<SummaryCounts> {
        // The default stands for a fault, which is recorded and ends the call.
        Known::Is(self.record_fault(self.find_later_counts(customer_id, after).map(Some)).unwrap_or_default())
    }

    fn held(&self, account: &AccountId, now: Instant, own: Option<&HoldOwner>) -> Known<u64> {
        // Zero stands for a fault, which is recorded and ends the call.
        Known::Is(self.record_fault(self.find_held(account, now, own).map(Some)).unwrap_or(0))
    }

    fn redemption(&self, id: &str) -> Known<Fact<'_, StoredRedemption>> {
        let stored = self.record_fault(self.store.stored_document("redemption", id));
        let stored = stored.and_then(|stored| Some((self.record_fault(stored.members().map(Some))?, stored.parent)));
        // A rollback has the same kind, but is no redemption.
        let stored = stored.filter(|(members, _)| members.get("object").and_then(Node::as_str) == Some("redemption"));
        let damaged = |problem| Fault(format!("the stored redemption `{id}` cannot be read: {problem}"));
        let redemption = stored.and_then(|(members, parent)| {
            let redemption = self.record_fault(read_stored_redemption(members).map(Some).map_err(damaged))?;
            // The record of a promotion stack has its subject only as its parent.
            let redeemed = redemption.redeemed.clone().or(parent.map(Text::from));
            Some(Fact::own(StoredRedemption { redeemed, ..redemption }))
        });
        redemption.into()
    }

    fn chain(&self, id: &str) -> Known<Vec<Transfer>> {
        Known::Is(self.record_fault(self.find_chain(id).map(Some)).unwrap_or_default())
    }

    fn bought_reward(&self, redemption: &StoredRedemption) -> Known<BoughtReward> {
        self.record_fault(self.store.find_bought_reward(redemption, self.now)).into()
    }

    fn candidates(&self, seek: &CandidateFilter<'_>) -> Known<Fact<'_, Candidates>> {
        if self.offered.get().is_none() {
            let read = self.record_fault(CandidateRows::read(self.store, seek, self.now).map(Some)).unwrap_or_default();
            // The cell was empty above, and there is no concurrent writer.
            let _ = self.offered.set(read);
        }
        self.offered.get().map(|offered| Fact::Borrowed(&offered.set)).into()
    }

    fn free_codes(&self, campaign_id: &str, now: Instant) -> Known<Option<u64>> {
        self.known(self.find_free_codes(campaign_id, now).map(Some))
    }

    fn has_card(&self, campaign_id: &str, customer_id: &str) -> Known<bool> {
        Known::Is(self.record_fault(self.store.card_of(campaign_id, customer_id)).is_some())
    }

    fn campaign_voucher(&self, id: &str) -> Known<Fact<'_, RedeemableTerms>> {
        self.offered.get().and_then(|offered| offered.campaign_vouchers.get(id)).map(Fact::Borrowed).into()
    }

    fn assignments(&self, objects: &[&str]) -> Known<Vec<Assignment>> {
        Known::Is(self.record_fault(self.find_assignments(objects).map(Some)).unwrap_or_default())
    }

    fn tracking_id(&self, source_id: &str) -> Known<Text> {
        if !self.tracked {
            return Known::Absent;
        }
        let tracking_id = self.tracker().and_then(|tracker| tracker.tracking_id_of_name(source_id));
        self.record_fault(tracking_id.map(|tracking_id| Some(Text::from(tracking_id)))).into()
    }
}
