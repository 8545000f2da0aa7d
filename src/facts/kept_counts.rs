//! Decides which accounts have a stored balance. Transfers are always stored, so balances that were not kept so far are made from them when
//! the first rule asks for one.

use std::collections::BTreeSet;

use crate::rules::{Counter, FactKind, Group};

/// A kind of counts that only rules ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleCount {
    /// Redemptions of a redeemable by a customer.
    Customer,
    /// Redemptions of a campaign by a customer.
    CampaignOfCustomer,
    /// Redemptions of a redeemable through a key.
    Channel,
    /// Redemptions of a redeemable by a user.
    User,
    /// Redemptions of a campaign.
    Campaign,
    /// The value of the orders of a campaign.
    Orders,
    /// The discounts of a campaign.
    Discounted,
    /// The gift credits that were spent in a campaign, or without one.
    Spent,
}

impl RuleCount {
    /// All kinds.
    pub const ALL: &[RuleCount] = &[
        RuleCount::Customer,
        RuleCount::CampaignOfCustomer,
        RuleCount::Channel,
        RuleCount::User,
        RuleCount::Campaign,
        RuleCount::Orders,
        RuleCount::Discounted,
        RuleCount::Spent,
    ];

    /// Returns the kind of a counter; `None` for one that is kept in any case, or that the ledger has nothing to add to.
    fn of(counter: Counter) -> Option<RuleCount> {
        Some(match counter {
            Counter::IncentiveOfCustomer => RuleCount::Customer,
            Counter::CampaignOfCustomer => RuleCount::CampaignOfCustomer,
            Counter::IncentiveOfKey => RuleCount::Channel,
            Counter::IncentiveOfUser => RuleCount::User,
            Counter::Campaign => RuleCount::Campaign,
            Counter::Orders => RuleCount::Orders,
            Counter::Discounted => RuleCount::Discounted,
            Counter::GiftAmount => RuleCount::Spent,
            // Quotas need the redemptions of each redeemable.
            Counter::Incentive | Counter::Points => return None,
        })
    }

    /// Returns the kind of an account; `None` for one that is no count of rules.
    fn of_account(account: &str) -> Option<RuleCount> {
        let (kind, rest) = account.split_once('/')?;
        let last = rest.rsplit_once('/').map(|(_, last)| last);
        match kind {
            // Caps and publications are counts of their own, and the names of their goods are any text.
            "customer" if rest.contains("/units/") || rest.contains("/published/") => None,
            "customer" => rest.rsplit_once("/of/").map(|(_, of)| match of.starts_with("camp_") {
                true => RuleCount::CampaignOfCustomer,
                false => RuleCount::Customer,
            }),
            "channel" if rest.contains("/of/") => Some(RuleCount::Channel),
            "user" if rest.contains("/of/") => Some(RuleCount::User),
            "campaign" if last == Some("redeemed") => Some(RuleCount::Campaign),
            "campaign" if last == Some("spent") => Some(RuleCount::Spent),
            "project" if rest == "spent" => Some(RuleCount::Spent),
            "orders" if rest.starts_with("camp_") => Some(RuleCount::Orders),
            "discounted" if rest.starts_with("camp_") => Some(RuleCount::Discounted),
            _ => None,
        }
    }

    /// Returns the name under which a store remembers that it keeps counts of this kind.
    pub const fn name(self) -> &'static str {
        match self {
            RuleCount::Customer => "customer",
            RuleCount::CampaignOfCustomer => "campaign_of_customer",
            RuleCount::Channel => "channel",
            RuleCount::User => "user",
            RuleCount::Campaign => "campaign",
            RuleCount::Orders => "orders",
            RuleCount::Discounted => "discounted",
            RuleCount::Spent => "spent",
        }
    }
}

/// Condition under which a store keeps the balance of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// In any case.
    Always,
    /// Not at all, because no request asks for it.
    Never,
    /// From the first rule on that asks for these counts.
    Asked(RuleCount),
}

/// Returns whether the balance of an account is kept.
///
/// That of an account that exists because units must come from or go to one is asked for by no request.
///
/// ```
/// use scrip::facts::{Keeping, keeping_of_balance};
/// assert_eq!(keeping_of_balance("voucher/v_1/redemptions"), Keeping::Always);
/// assert_eq!(keeping_of_balance("orders/promo_1"), Keeping::Always);
/// assert_eq!(keeping_of_balance("customer/cust_1/units/camp_1/cup/of/tea"), Keeping::Always);
/// assert_eq!(keeping_of_balance("channel/key"), Keeping::Never);
/// let Keeping::Asked(count) = keeping_of_balance("channel/key/of/v_1") else { panic!() };
/// assert_eq!(count.name(), "channel");
/// ```
pub fn keeping_of_balance(account: &str) -> Keeping {
    if let Some(count) = RuleCount::of_account(account) {
        return Keeping::Asked(count);
    }
    match account.split_once('/') {
        Some(("project", "redeemed" | "orders" | "discounted" | "units")) => Keeping::Never,
        Some(("channel" | "user", _)) => Keeping::Never,
        Some(("customer", rest)) if !rest.contains('/') => Keeping::Never,
        _ => Keeping::Always,
    }
}

/// Returns the counts that tests ask for. One of a period asks for the sum of all times too: that decides where the calendar of the project's
/// zone has no such day.
pub fn asked_counts(tests: &Group) -> BTreeSet<RuleCount> {
    let mut asked = BTreeSet::new();
    tests.each_leaf(&mut |leaf| {
        if let FactKind::Count(counter, _) = leaf.test.name.kind {
            asked.extend(RuleCount::of(counter));
        }
    });
    asked
}
