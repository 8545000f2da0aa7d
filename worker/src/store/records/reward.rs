//! Rewards, and their assignments to campaigns and programs.

use super::members::record;
use serde_json::{Map, Value as Json};

record!("A reward, stored or as a request sends one.", RewardRecord, as_reward);
record!("An assignment of a reward to a loyalty campaign, stored or as a request sends one.", RewardAssignmentRecord);
record!("The codes, points or money that a reward gives.", RewardContentRecord);
record!("Points or an amount that a referral gave.", ReferralGrantRecord);
record!(
    "An assignment of a reward to a program, or of a validation rule to an object.",
    AssignmentRecord,
    as_assignment
);

impl<'a> RewardRecord<'a> {
    /// Returns the type of reward; empty if absent.
    pub fn reward_type(self) -> &'a str {
        self.0.text("type").unwrap_or_default()
    }

    /// Returns true for points that become money.
    pub fn is_coin(self) -> bool {
        self.reward_type() == "COIN"
    }

    /// Returns true for goods.
    pub fn is_material(self) -> bool {
        self.reward_type() == "MATERIAL"
    }

    /// Returns true if the reward has a stock.
    pub fn has_stock(self) -> bool {
        self.0.value("stock").is_some_and(|stock| !stock.is_null())
    }

    /// Returns true if a request sets the attributes to `null`.
    pub fn clears_attributes(self) -> bool {
        self.0.value("attributes").is_some_and(Json::is_null)
    }

    /// Returns the parameters of the type; `null` if absent.
    pub fn parameters(self) -> Json {
        self.0.copy("parameters")
    }
}

impl<'a> AssignmentRecord<'a> {
    /// Returns the ID of the validation rule.
    pub fn rule_id(self) -> Option<&'a Json> {
        self.0.value("rule_id")
    }

    /// Returns the stock of a reward in a program; `None` if unlimited.
    pub fn stock_limit(self) -> Option<u64> {
        self.0.object("stock").object("limited").count("quantity")
    }
}

impl<'a> RewardAssignmentRecord<'a> {
    /// Returns the ID of the reward.
    pub fn reward_id(self) -> Option<&'a str> {
        self.0.text("reward_id")
    }

    /// Returns the reward that a request names.
    pub fn reward(self) -> Option<&'a str> {
        self.0.text("reward")
    }

    /// Returns the campaign that a request names.
    pub fn campaign(self) -> Option<&'a str> {
        self.0.text("campaign")
    }

    /// Returns true if the assignment has parameters.
    pub fn has_parameters(self) -> bool {
        self.0.value("parameters").is_some()
    }

    /// Returns the members of the price.
    pub fn price(self) -> Option<&'a Map<String, Json>> {
        self.0.object("parameters").object("loyalty").map()
    }
}

impl<'a> RewardContentRecord<'a> {
    /// Returns the points or gift credits on each card.
    pub fn balance(self) -> Option<i64> {
        self.0.number("balance")
    }

    /// Returns the amount in major units, as a number or a text.
    pub fn exchange_ratio(self) -> Option<&'a Json> {
        self.0.value("exchange_ratio").filter(|ratio| !ratio.is_null())
    }

    /// Returns the points for this amount, as a number or a text.
    pub fn points_ratio(self) -> Option<&'a Json> {
        self.0.value("points_ratio").filter(|ratio| !ratio.is_null())
    }
}

impl<'a> ReferralGrantRecord<'a> {
    /// Returns the ID of the customer.
    pub fn customer_id(self) -> Option<&'a str> {
        self.0.text("customer_id").filter(|id| !id.is_empty())
    }

    /// Returns the ID of the campaign of the card.
    pub fn campaign_id(self) -> Option<&'a str> {
        self.0.text("campaign_id").filter(|id| !id.is_empty())
    }

    /// Returns the ID of the redemption that was granted.
    pub fn redemption_id(self) -> Option<&'a str> {
        self.0.text("redemption_id").filter(|id| !id.is_empty())
    }

    /// Returns the points or the amount; `null` if absent.
    pub fn balance(self) -> Json {
        self.0.copy("balance")
    }
}
