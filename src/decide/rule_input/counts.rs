//! Decides the counts that rules test: units that moved, units that others hold, and the share of the request itself.
//!
//! docs/spec/validation-rules.md sections 4.5 and 4.6.

use crate::count::{Countable, total};
use crate::decide::case::Offer;
use crate::decide::rule_input::offer_facts::OfferFacts;
use crate::facts::{
    Known, channel_account, customer_account, discounted_account, incentive_account, orders_account, redeemed_account,
    spent_account, user_account,
};
use crate::ledger::AccountId;
use crate::model::redeemable::Grant;
use crate::model::reward::RewardKind;
use crate::refusal::Refusal;
use crate::rules::{CountPeriod, Counter};
use crate::text::Text;

impl OfferFacts<'_> {
    /// Returns the count of a rule in a period, with the share of the current redeemable; `None` when it is not known.
    pub(super) fn counted(&self, counter: Counter, period: CountPeriod) -> Option<u64> {
        let Some(offer) = self.offer else { return Some(0) };
        let incentive = &offer.incentive;
        let campaign = incentive.campaign_id.as_deref();
        let customer = self.case.request_customer.counted_name().map(Text::as_str);
        if matches!(counter, Counter::IncentiveOfCustomer | Counter::CampaignOfCustomer)
            && let Some(unknown) = &self.case.request_customer.counted().unknown
        {
            self.add_missing(unknown.clone());
        }
        let channel = &self.case.request.channel;
        // Before the redeemable is applied it has granted nothing.
        let gained = || self.effect.map_or(0, |effect| self.case.budget.checked(effect.gain.total()).minor());
        let is_gift = |offer: &Offer<'_>| matches!(offer.incentive.grant, Grant::Gift(_));
        // Redeemables of the same campaign that were applied earlier in this request count, too.
        let offers = self
            .running_order
            .usage
            .applied
            .iter()
            .filter_map(|(position, granted)| Some((self.case.offer(*position)?, *granted)));
        let earlier =
            offers.filter(|(other, _)| campaign.is_some() && other.incentive.campaign_id.as_deref() == campaign);
        let (mut times, mut granted, mut credits) = (1_u64, gained(), if is_gift(offer) { gained() } else { 0 });
        for (other, amount) in earlier {
            times = times.plus_one();
            granted = self.case.budget.checked(granted.checked_add(amount));
            let more = if is_gift(other) { amount } else { 0 };
            credits = self.case.budget.checked(credits.checked_add(more));
        }
        let (account, own, held) = match counter {
            Counter::Incentive => (Some(incentive_account(incentive)), 1, true),
            Counter::IncentiveOfCustomer => (customer.map(|id| customer_account(id, &incentive.id)), 1, true),
            Counter::IncentiveOfKey => (Some(channel_account(&channel.id, &incentive.id)), 1, false),
            Counter::IncentiveOfUser => {
                (channel.user.as_deref().map(|user| user_account(user, &incentive.id)), 1, false)
            }
            Counter::Campaign => (campaign.map(|id| redeemed_account(Some(id))), times, false),
            Counter::CampaignOfCustomer => {
                (customer.zip(campaign).map(|(customer, campaign)| customer_account(customer, campaign)), times, false)
            }
            Counter::Orders => {
                let value = self.case.order_value(self.running_order.cart).minor();
                (campaign.map(|id| orders_account(Some(id))), value, false)
            }
            Counter::Discounted => (campaign.map(|id| discounted_account(Some(id))), granted, false),
            Counter::GiftAmount => (Some(spent_account(campaign)), credits, false),
            // A cap on the points of one order, not of all orders: the ledger has nothing to add.
            Counter::Points => (None, self.points_for_order(offer), false),
        };
        let before = account.map_or(Some(0), |account| self.moved(&account, period, held))?;
        let locked = if counter == Counter::IncentiveOfCustomer { self.locked_before(&incentive.id) } else { 0 };
        Some(self.case.budget.checked(total([before, locked, own])))
    }

    /// Returns the points by which the assignment of a `COIN` reward pays for the order, with those of earlier cards of the
    /// request; 0 for other rewards, which pay for no order.
    fn points_for_order(&self, offer: &Offer<'_>) -> u64 {
        let Some(reward) = offer.exchange.as_ref().map(|exchange| &exchange.reward) else { return 0 };
        if !matches!(reward.kind, RewardKind::Coin(_)) {
            return 0;
        }
        let earlier = self.running_order.usage.points_paid(offer.incentive.campaign_id.as_deref(), &reward.id);
        self.case.budget.checked(total(earlier.chain([self.paid])))
    }

    /// Returns the amount moved on an account in a period; with `held`, including the holds of other sessions.
    fn moved(&self, account: &AccountId, period: CountPeriod, held: bool) -> Option<u64> {
        let facts = self.case.facts;
        let moved = match (period, self.start_of(period)) {
            (CountPeriod::Ever, _) | (_, None) => match self.case.balance(account) {
                Known::Is(balance) => Known::Is(balance.unsigned_abs()),
                Known::Absent => Known::Absent,
                Known::Unknown => Known::Unknown,
                Known::Unreadable => Known::Unreadable,
            },
            (_, Some(since)) => facts.moved(account, since),
        };
        let moved = match moved {
            Known::Is(moved) => moved,
            Known::Absent => 0,
            Known::Unknown => {
                self.add_missing(Text::from(account.as_str()));
                return None;
            }
            Known::Unreadable => {
                let code = self.offer.map_or("", |offer| &offer.incentive.code);
                self.unreadable.replace(Some(Refusal::unreadable("account", code)));
                return None;
            }
        };
        let others = if held { self.held_by_others(account) } else { Some(0) };
        Some(self.case.budget.checked(others.and_then(|others| moved.checked_add(others))))
    }

    /// Returns the holds of other sessions on an account; `None` when they cannot be read.
    fn held_by_others(&self, account: &AccountId) -> Option<u64> {
        match self.case.facts.held(account, self.case.context.now, self.case.own_session().as_ref()) {
            Known::Is(held) => Some(held),
            Known::Absent | Known::Unknown => Some(0),
            Known::Unreadable => None,
        }
    }

    /// Returns the holds of other sessions on a redeemable for the customer, from before the customer was stored.
    fn locked_before(&self, incentive_id: &str) -> u64 {
        let request_customer = self.case.request_customer.counted();
        let Some(customer) = request_customer.customer.as_ref().filter(|_| request_customer.stored) else { return 0 };
        let add = |sum: u64, name: &Text| sum.checked_add(self.held_by_others(&customer_account(name, incentive_id))?);
        let names = [customer.source_id.as_ref(), request_customer.email.as_ref()];
        self.case.budget.checked(names.into_iter().flatten().try_fold(0, add))
    }

    /// When the present day, week or month began in the project's zone.
    fn start_of(&self, period: CountPeriod) -> Option<crate::time::Instant> {
        self.case.zone_use.set(period != CountPeriod::Ever || self.case.zone_use.get());
        let today = self.case.zone.day(self.case.context.now)?;
        self.case.zone.start_of(match period {
            CountPeriod::Ever => return None,
            CountPeriod::Day => today,
            CountPeriod::Week => today.first_of_week()?,
            CountPeriod::Month => today.first_of_month()?,
        })
    }
}
