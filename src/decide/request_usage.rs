//! Tracks the effect of earlier redeemables of a request on later ones: units of accounts that several take from, and
//! counts of their campaigns.
//!
//! Validation and redemption both use it, so that both give the last unit of a stock to the same card.

use crate::decide::case::{Case, Offer};
use crate::decide::finding::Finding;
use crate::decide::postings::reserved_postings;
use crate::facts::Known;
use crate::ledger::{AccountId, AccountState};
use crate::model::reward::RewardKind;
use crate::text::Text;

/// The usage of the redeemables applied so far.
#[derive(Debug, Clone, Default)]
pub struct RequestUsage {
    /// The applied redeemables of campaigns: position, and discount in minor units.
    pub applied: Vec<(usize, u64)>,
    /// Taken units of limited accounts, by account.
    taken: Vec<(AccountId, u64)>,
    /// Points by which earlier cards pay for the order: the campaign of the card, the reward, and the points.
    payments: Vec<(Option<Text>, Text, u64)>,
    /// Customers who get a card of a campaign by a reward, to which a later reward adds: the campaign and the customer.
    cards: Vec<(Text, Text)>,
}

impl RequestUsage {
    /// Returns the state of an account for the next redeemable, or that only the server knows it.
    pub fn account_state(&self, case: &Case<'_>, account: &AccountId, quota: Option<u64>) -> Known<AccountState> {
        let taken = self.taken.iter().filter(|(known, _)| known == account);
        let held = |held: u64| case.budget.checked(taken.map(|(_, units)| *units).try_fold(held, u64::checked_add));
        case.account_state(account, quota)
            .map(|account_state| AccountState { held: held(account_state.held), ..account_state })
    }

    /// Returns the points by which earlier cards pay for the order by the assignment of a reward to a campaign.
    pub fn points_paid(&self, campaign_id: Option<&str>, reward_id: &str) -> impl Iterator<Item = u64> {
        let same = self
            .payments
            .iter()
            .filter(move |(campaign, reward, _)| campaign.as_deref() == campaign_id && reward.as_str() == reward_id);
        same.map(|(.., points)| *points)
    }

    /// Returns whether an earlier reward gives this customer a card of this campaign.
    pub fn has_card(&self, campaign_id: &str, customer_id: &str) -> bool {
        self.cards.iter().any(|(campaign, customer)| campaign == campaign_id && customer == customer_id)
    }

    /// Records the amounts that an applied redeemable takes; `given` is its discount in minor units.
    pub fn record(&mut self, position: usize, offer: &Offer<'_>, found: Option<&Finding>, given: u64) {
        if offer.incentive.campaign_id.is_some() {
            self.applied.push((position, given));
        }
        // The simplest discounts take nothing that is limited.
        if offer.terms.plain {
            return;
        }
        let taken = reserved_postings(offer, found, given, None).into_iter().filter(|posting| posting.quota.is_some());
        self.taken.extend(taken.map(|posting| (posting.debit, posting.amount)));
        if let Some(exchange) = &offer.exchange
            && let RewardKind::Coin(_) = &exchange.reward.kind
            && let Some(points) = found.and_then(|found| found.paid)
        {
            self.payments.push((offer.incentive.campaign_id.clone(), exchange.reward.id.clone(), points));
        }
        if let Some(exchange) = &offer.exchange
            && let RewardKind::Campaign { campaign_id, balance: Some(_) } = &exchange.reward.kind
            && let Some(holder) = &offer.incentive.holder_id
        {
            self.cards.push((campaign_id.clone(), holder.clone()));
        }
    }
}
