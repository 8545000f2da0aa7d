//! Defines the names of accounts; no other file does. They are paths that are independent of the location of an
//! account.

use crate::ledger::AccountId;
use crate::model::redeemable::{IncentiveObject, RedeemableTerms};
use crate::text::Text;
use crate::text::joined;

/// Returns the account of a voucher's redemptions.
pub fn redemptions_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "redemptions")
}

/// Returns the account of the redemptions of a voucher or a tier.
pub fn incentive_account(incentive: &RedeemableTerms) -> AccountId {
    match incentive.object {
        IncentiveObject::Voucher => redemptions_account(&incentive.id),
        IncentiveObject::PromotionTier => tier_account(&incentive.id),
    }
}

/// Returns the account of a tier's redemptions.
pub fn tier_account(tier_id: &str) -> AccountId {
    account("promotion_tier", tier_id, "redemptions")
}

/// Returns the account of a voucher's publications.
pub fn publications_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "publications")
}

/// Returns the account that counts publications of a campaign; the project's, for vouchers without a campaign.
pub fn published_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "published")
}

/// Returns the account of the codes of a campaign, or of a voucher without one, that clients published to a customer
/// named without proof.
pub fn named_publications_account(customer_id: &str, position: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id, "/published/", position]))
}

/// Returns the account that counts the codes that clients published to customers named without proof.
pub fn published_by_name_account() -> AccountId {
    AccountId::new("project/published_by_name")
}

/// Returns the prefix of the names of a voucher's own accounts, and the suffix of those of its redemptions by
/// customers.
pub fn voucher_accounts(voucher_id: &str) -> (Text, Text) {
    (joined(&["voucher/", voucher_id, "/"]), joined(&["/of/", voucher_id]))
}

/// Returns the object and part of an account that locks hold: the object's type, its id and the part. `None` for a
/// customer's share.
pub fn part_of(account: &str) -> Option<(&str, &str, &str)> {
    let (object, rest) = account.split_once('/')?;
    let (id, name) = rest.rsplit_once('/')?;
    matches!(object, "voucher" | "promotion_tier" | "reward" | "campaign").then_some((object, id, name))
}

/// Returns the account of a gift card's credits, in minor units.
pub fn credits_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "credits")
}

/// Returns whether an account counts redemptions, and not amounts, units, credits or points.
pub fn counts_redemptions(account: &str) -> bool {
    let counts_one = ["customer/", "channel/", "user/"].iter().any(|kind| account.starts_with(kind));
    counts_one && !account.contains("/units/") && !account.contains("/published/")
        || account.ends_with("/redemptions")
        || account.ends_with("/redeemed") && !account.starts_with("reward/")
}

/// The way in which the movements of an account are found by time: for a limit of a day, a report, or a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeIndex<'a> {
    /// Not at all, because nothing asks for them. So are accounts that exist because units must come from or go to an account: the
    /// project's, but for credits spent, and the totals of a channel, a user or a customer. A card's lots, pending points and debt are in
    /// its lifetime totals.
    None,
    /// By the account.
    Own,
    /// By the chain in which a redemption of the code, tier or campaign with this id is counted at the same time; by the account where none is.
    Redemptions(&'a str),
}

/// Returns how the movements of an account are found by time.
///
/// ```
/// use scrip::facts::{TimeIndex, time_index};
/// for own in ["voucher/v_1/redemptions", "campaign/camp_1/redeemed", "customer/c/of/v_1", "project/spent", "card/m/earned"] {
///     assert_eq!(time_index(own), TimeIndex::Own);
/// }
/// for of_one in ["voucher/x/credits", "channel/k/of/x", "user/u/of/x", "orders/x", "discounted/x", "campaign/x/points_spent"] {
///     assert_eq!(time_index(of_one), TimeIndex::Redemptions("x"));
/// }
/// for none in ["project/redeemed", "channel/k", "user/u", "customer/c", "card/m/lot/l", "card/m/pending/p", "card/m/debt"] {
///     assert_eq!(time_index(none), TimeIndex::None);
/// }
/// ```
pub fn time_index(account: &str) -> TimeIndex<'_> {
    let parts: Vec<&str> = account.split('/').collect();
    match parts.as_slice() {
        ["project", "spent"] => TimeIndex::Own,
        ["project", ..] | ["channel" | "user" | "customer", _] | ["card", _, "lot" | "pending" | "debt", ..] => {
            TimeIndex::None
        }
        ["voucher", id, "credits" | "points"]
        | ["campaign", id, "spent" | "points_spent"]
        | ["channel" | "user", _, "of", id]
        | ["orders" | "discounted", id] => TimeIndex::Redemptions(id),
        _ => TimeIndex::Own,
    }
}

/// Returns the accounts of which one counts a redemption of the code, tier or campaign with this id.
pub fn redemption_accounts(id: &str) -> [AccountId; 3] {
    [redemptions_account(id), tier_account(id), redeemed_account(Some(id))]
}

/// Returns the account of a loyalty card's points.
pub fn points_account(voucher_id: &str) -> AccountId {
    account("voucher", voucher_id, "points")
}

/// Returns the account of the stock of a reward.
pub fn stock_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "stock")
}

/// Returns the account of the codes of a campaign that rewards give out. The codes themselves are counted, so it has
/// holds and no transfers.
pub fn codes_account(campaign_id: &str) -> AccountId {
    account("campaign", campaign_id, "codes")
}

/// Returns the account that counts redeemed goods of a reward.
pub fn rewarded_account(reward_id: &str) -> AccountId {
    account("reward", reward_id, "redeemed")
}

/// Returns the account that counts redemptions of a campaign; the project's, for vouchers without a campaign.
pub fn redeemed_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "redeemed")
}

/// Returns the account that counts spent credits of a campaign, in minor units.
pub fn spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "spent")
}

/// Returns the account of units discounted in the lifetime of a campaign or tier, of all customers or of one
/// (docs/spec/calculation.md section 7.1). `goods` is the counted unit: an entry of a scope, or one product of it.
pub fn units_account(owner: &str, goods: &str, customer: Option<&str>) -> AccountId {
    AccountId::new(match customer {
        Some(customer) => joined(&["customer/", customer, "/units/", owner, "/", goods]),
        None => joined(&["units/", owner, "/", goods]),
    })
}

/// Returns the account that counts all discounted units.
pub fn discounted_units_account() -> AccountId {
    AccountId::new("project/units")
}

/// Returns the account that counts spent points of a campaign.
pub fn points_spent_account(campaign_id: Option<&str>) -> AccountId {
    counterpart(campaign_id, "points_spent")
}

/// Returns the account of redemptions by one customer of one redeemable or, with the id of a campaign, of all of it
/// (docs/spec/validation-rules.md#4.5).
pub fn customer_account(customer_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id, "/of/", of]))
}

/// Returns the account of redemptions by one customer of redeemables without a campaign.
pub fn customer_total_account(customer_id: &str) -> AccountId {
    AccountId::new(joined(&["customer/", customer_id]))
}

/// Returns the account of redemptions of one redeemable through one channel.
pub fn channel_account(channel_id: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id, "/of/", of]))
}

/// Returns the account of all redemptions through one channel.
pub fn channel_total_account(channel_id: &str) -> AccountId {
    AccountId::new(joined(&["channel/", channel_id]))
}

/// Returns the account of redemptions of one redeemable by one user, regardless of the key.
pub fn user_account(login: &str, of: &str) -> AccountId {
    AccountId::new(joined(&["user/", login, "/of/", of]))
}

/// Returns the account of all redemptions by one user.
pub fn user_total_account(login: &str) -> AccountId {
    AccountId::new(joined(&["user/", login]))
}

/// Returns the account of the value of orders made with a campaign, in minor units (docs/spec/validation-rules.md#4.6);
/// without a campaign, the source of that value.
pub fn orders_account(campaign_id: Option<&str>) -> AccountId {
    budget("orders", campaign_id)
}

/// Returns the account of the discounts granted in a campaign, in minor units; without a campaign, their source.
pub fn discounted_account(campaign_id: Option<&str>) -> AccountId {
    budget("discounted", campaign_id)
}

fn account(kind: &str, id: &str, name: &str) -> AccountId {
    AccountId::new(joined(&[kind, "/", id, "/", name]))
}

fn counterpart(campaign_id: Option<&str>, name: &str) -> AccountId {
    match campaign_id {
        Some(id) => account("campaign", id, name),
        None => AccountId::new(joined(&["project/", name])),
    }
}

fn budget(name: &str, campaign_id: Option<&str>) -> AccountId {
    AccountId::new(match campaign_id {
        Some(id) => joined(&[name, "/", id]),
        None => joined(&["project/", name]),
    })
}
