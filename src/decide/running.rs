//! Decides what redeemables of one request leave for those after them: units of an account that several of them take from,
//! and what their campaigns count. It must not know why one of them may be used.
//!
//! A validation and a redemption walk with this, so that both see the same last piece of goods go to the same card.

use crate::decide::case::{Case, Offer};
use crate::decide::check::{Finding, standing};
use crate::decide::postings::reserved;
use crate::facts::Known;
use crate::ledger::{AccountId, Standing};
use crate::model::reward::RewardKind;
use crate::text::Text;

/// What those before have taken.
#[derive(Debug, Clone, Default)]
pub struct Running {
    /// What has been applied of campaigns: its place, and how much it gave.
    pub applied: Vec<(usize, u64)>,
    /// Units of accounts that end, by account.
    taken: Vec<(AccountId, u64)>,
    /// Customers who get a card of a campaign, to which a later reward adds: the campaign and the customer.
    cards: Vec<(Text, Text)>,
}

impl Running {
    /// How an account stands for the next one, and whether only the server knows.
    pub fn standing(&self, case: &Case<'_>, account: &AccountId, allotment: Option<u64>) -> Known<Standing> {
        let taken = self.taken.iter().filter(|(known, _)| known == account);
        let taken = taken.fold(0_u64, |sum, (_, units)| sum.saturating_add(*units));
        standing(case, account, allotment)
            .map(|standing| Standing { held: standing.held.saturating_add(taken), ..standing })
    }

    /// Whether a reward before gives this customer a card of this campaign.
    pub fn has_card(&self, campaign_id: &str, customer_id: &str) -> bool {
        self.cards.iter().any(|(campaign, customer)| campaign == campaign_id && customer == customer_id)
    }

    /// Notes what an applied redeemable takes, of which it gives `given`.
    pub fn note(&mut self, place: usize, offer: &Offer<'_>, found: Option<&Finding>, given: u64) {
        if offer.incentive.campaign_id.is_some() {
            self.applied.push((place, given));
        }
        // The plainest discounts take nothing that ends.
        if offer.terms.plain {
            return;
        }
        let taken = reserved(offer, found, given, None).into_iter().filter(|posting| posting.allotment.is_some());
        self.taken.extend(taken.map(|posting| (posting.debit, posting.amount)));
        if let Some(exchange) = &offer.exchange
            && let RewardKind::Campaign { campaign_id, balance: Some(_) } = &exchange.reward.kind
            && let Some(holder) = &offer.incentive.holder_id
        {
            self.cards.push((campaign_id.clone(), holder.clone()));
        }
    }
}
