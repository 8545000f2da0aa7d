//! Decides what accounts are called: the only file that does. Their ids are paths that say nothing of where an account lives.
//! It must not know what moves on them, or when.

use crate::ledger::AccountId;
use crate::model::incentive::{Incentive, IncentiveObject};
use crate::text::Text;
use crate::text::joined;

/// The account of a voucher's redemptions.
pub fn redemptions_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "redemptions")
}

/// The account of an incentive's redemptions, a voucher's or a tier's.
pub fn incentive_account(incentive: &Incentive) -> AccountId {
    match incentive.object {
        IncentiveObject::Voucher => redemptions_account(&incentive.id),
        IncentiveObject::PromotionTier => tier_account(&incentive.id),
    }
}

/// The account of a tier's redemptions.
pub fn tier_account(tier_id: &str) -> AccountId {
    account("promotion_tier", tier_id, "redemptions")
}

/// The account of how often a voucher was published.
pub fn publications_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "publications")
}

/// Where publications of a campaign are counted; of vouchers without a campaign, in the project.
pub fn published_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "published")
}

/// How the names of a voucher's own accounts begin, and how those of its redemptions by customers end.
pub fn voucher_accounts(voucher_id: &str) -> (Text, Text) {
    (joined(&["voucher/", voucher_id, "/"]), joined(&["/of/", voucher_id]))
}

/// What an account is a part of, which locks hold: a kind of thing, its id and the part. A customer's share is none.
pub fn part_of(account: &str) -> Option<(&str, &str, &str)> {
    let (object, rest) = account.split_once('/')?;
    let (id, what) = rest.rsplit_once('/')?;
    matches!(object, "voucher" | "promotion_tier" | "reward" | "campaign").then_some((object, id, what))
}

/// The account of a gift card's credits, in minor units.
pub fn credits_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "credits")
}

/// The account of a loyalty card's points.
pub fn points_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "points")
}

/// The account of the goods of a reward.
pub fn stock_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "stock")
}

/// The codes of a campaign that rewards hand over. They count themselves, so that nothing is ever posted here; locks hold.
pub fn codes_account(campaign_id: &str) -> AccountId {
    account("campaign", campaign_id, "codes")
}

/// Where redeemed goods of a reward are counted.
pub fn rewarded_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "redeemed")
}

/// Where redemptions of a campaign are counted; of vouchers without a campaign, in the project.
pub fn redeemed_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "redeemed")
}

/// Where spent credits of a campaign are counted, in minor units.
pub fn spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "spent")
}

/// The account of units discounted in the life of a campaign or tier, of all customers or of one (calculation.md
/// section 7.1). `goods` is what is counted together: an entry of a scope, or one product of it.
pub fn units_account(owner: &str, goods: &str, customer: Option<&str>) -> AccountId {
    AccountId::new(match customer {
        Some(customer) => joined(&["customer/", customer, "/units/", owner, "/", goods]),
        None => joined(&["units/", owner, "/", goods]),
    })
}

/// Where all discounted units are counted.
pub fn discounted_units_account() -> AccountId {
    AccountId::new("project/units")
}

/// Where spent points of a campaign are counted.
pub fn points_spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "points_spent")
}

/// Redemptions by one customer of one incentive or, with the id of a campaign, of all of it
/// (validation-rules.md section 4.5).
pub fn customer_account(customer_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id, "/of/", of]))
}

/// Redemptions by one customer of what has no campaign.
pub fn customer_total_account(customer_id: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id]))
}

/// Redemptions of one incentive through one channel.
pub fn channel_account(channel_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id, "/of/", of]))
}

/// All redemptions through one channel.
pub fn channel_total_account(channel_id: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id]))
}

/// Redemptions of one incentive by one user, whatever keys they call with.
pub fn user_account(login: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["user/", login, "/of/", of]))
}

/// All redemptions by one user.
pub fn user_total_account(login: &str) -> AccountId {
    AccountId::new(joined(&["user/", login]))
}

/// The value of orders made with a campaign, in minor units (validation-rules.md section 4.6); without a campaign,
/// where that value comes from.
pub fn orders_account(campaign_id: Option<&str>) -> AccountId {
    budget("orders", campaign_id)
}

/// The discounts granted in a campaign, in minor units; without a campaign, where they come from.
pub fn discounted_account(campaign_id: Option<&str>) -> AccountId {
    budget("discounted", campaign_id)
}

fn account(kind: &str, id: &str, what: &str) -> AccountId {
    AccountId::new(joined(&[kind, "/", id, "/", what]))
}

fn counterpart(campaign_id: Option<&str>, what: &str) -> AccountId {
    match campaign_id {
        Some(id) => account("campaign", id, what),
        None => AccountId::new(joined(&["project/", what])),
    }
}

fn budget(what: &str, campaign_id: Option<&str>) -> AccountId {
    AccountId::new(match campaign_id {
        Some(id) => joined(&[what, "/", id]),
        None => joined(&["project/", what]),
    })
}
