//! Vouchers, their publications and redemptions.

use super::members::record;
use serde_json::{Map, Value as Json};

record!("A voucher, stored or as an answer shows it.", VoucherRecord, as_voucher);
record!("A discount, or one of its units.", DiscountRecord);
record!("A promotion tier, stored or as a request sends one.", PromotionTierRecord);
record!("A publication, stored or as a request sends one.", PublicationRecord);
record!("A redemption or a rollback.", RedemptionRecord, as_redemption);

impl<'a> VoucherRecord<'a> {
    /// Returns what clients may know of the voucher, as set.
    pub fn visibility(self) -> Option<&'a str> {
        self.0.text("visibility")
    }

    /// Returns the ID.
    pub fn id(self) -> Option<&'a str> {
        self.0.text("id")
    }

    /// Returns the code.
    pub fn code(self) -> Option<&'a str> {
        self.0.text("code")
    }

    /// Returns the type of voucher.
    pub fn voucher_type(self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// Returns the ID of the campaign.
    pub fn campaign_id(self) -> Option<&'a str> {
        self.0.text("campaign_id")
    }

    /// Returns the ID of the voucher's own category.
    pub fn category_id(self) -> Option<&'a str> {
        self.0.text("category_id")
    }

    /// Returns the ID of the customer who passes a referral code on.
    pub fn referrer_id(self) -> Option<&'a str> {
        self.0.text("referrer_id")
    }

    /// Returns true if the voucher is disabled.
    pub fn is_disabled(self) -> bool {
        self.0.flag("active") == Some(false)
    }

    /// Returns true for gift cards.
    pub fn is_gift_card(self) -> bool {
        self.0.object("gift").map().is_some()
    }

    /// Returns the total ever credited to a gift card.
    pub fn gift_amount(self) -> Option<&'a Json> {
        self.0.object("gift").value("amount")
    }

    /// Returns the metadata, which may be `null`.
    pub fn metadata(self) -> Option<&'a Json> {
        self.0.value("metadata")
    }

    /// Returns true for loyalty cards.
    pub fn is_loyalty_card(self) -> bool {
        self.0.object("loyalty_card").map().is_some()
    }

    /// Returns the discount.
    pub fn discount(self) -> DiscountRecord<'a> {
        DiscountRecord(self.0.object("discount"))
    }

    /// Returns the rule assignments, as an answer contains them.
    pub fn rule_assignments(self) -> &'a [Json] {
        self.0.object("validation_rules_assignments").list("data")
    }

    /// Returns the type of discount.
    pub fn discount_type(self) -> Option<&'a Json> {
        self.0.object("discount").value("type")
    }

    /// Returns the expiration rules of a loyalty card.
    pub fn expiration_rules(self) -> Option<&'a Json> {
        self.0.object("loyalty_card").value("expiration_rules")
    }
}

impl<'a> DiscountRecord<'a> {
    /// Returns the units of a discount of several.
    pub fn units(self) -> Option<&'a [Json]> {
        self.0.value("units")?.as_array().map(Vec::as_slice)
    }

    /// Returns the product or SKU that is given.
    pub fn unit_type(self) -> Option<&'a str> {
        self.0.text("unit_type")
    }

    /// Returns the effect.
    pub fn effect(self) -> Option<&'a Json> {
        self.0.value("effect")
    }

    /// Returns true if the discount adds more of the ordered items.
    pub fn adds_same_items(self) -> bool {
        self.0.text("effect") == Some("ADD_SAME_ITEMS")
    }
}

impl<'a> PromotionTierRecord<'a> {
    /// Returns what clients may know of the tier, as set.
    pub fn visibility(self) -> Option<&'a str> {
        self.0.text("visibility")
    }

    /// Returns the rank.
    pub fn hierarchy(self) -> Option<i64> {
        self.0.number("hierarchy")
    }

    /// Returns the object with the discount.
    pub fn action(self) -> Option<&'a Map<String, Json>> {
        self.0.object("action").map()
    }
}

impl<'a> PublicationRecord<'a> {
    /// Returns true if the publication failed.
    pub fn is_failed(self) -> bool {
        self.0.text("result") == Some("FAILURE")
    }

    /// Returns the IDs of the published vouchers.
    pub fn voucher_ids(self) -> impl Iterator<Item = &'a str> {
        self.0.list("vouchers_id").iter().filter_map(Json::as_str)
    }

    /// Returns the campaign that a request names.
    pub fn campaign_name(self) -> Option<&'a str> {
        self.0.object("campaign").text("name")
    }

    /// Returns the number of vouchers that a request specifies.
    pub fn count(self) -> Option<u64> {
        self.0.object("campaign").count("count")
    }

    /// Returns the voucher that a request names.
    pub fn voucher(self) -> Option<&'a str> {
        self.0.text("voucher")
    }

    /// Returns the caller's ID of the publication.
    pub fn source_id(self) -> Option<&'a str> {
        self.0.text("source_id")
    }

    /// Returns the channel.
    pub fn channel(self) -> Option<&'a str> {
        self.0.text("channel")
    }

    /// Returns the metadata, which may be `null`.
    pub fn metadata(self) -> Option<&'a Json> {
        self.0.value("metadata")
    }

    /// Returns the members of the customer.
    pub fn customer_members(self) -> Option<&'a Map<String, Json>> {
        self.0.object("customer").map()
    }

    /// Returns the customer as the request named the customer; `null` if absent.
    pub fn customer(self) -> Json {
        self.0.copy("customer")
    }
}

impl<'a> RedemptionRecord<'a> {
    /// Returns true if the redemption or the rollback failed.
    pub fn is_failed(self) -> bool {
        self.0.text("result") == Some("FAILURE")
    }

    /// Returns true for a rollback.
    pub fn is_rollback(self) -> bool {
        self.0.text("object") == Some("redemption_rollback")
    }

    /// Returns the ID of the redemption that a rollback reverses.
    pub fn rolled_back(self) -> Option<&'a str> {
        self.0.text("redemption").filter(|_| self.is_rollback())
    }

    /// Returns the ID of the redemption of the stack that a redemption belongs to.
    pub fn parent(self) -> Option<&'a str> {
        self.0.text("redemption").filter(|_| !self.is_rollback())
    }

    /// Returns the time of the redemption.
    pub fn date(self) -> Option<&'a str> {
        self.0.text("date")
    }

    /// Returns the order.
    pub fn order(self) -> Option<&'a Map<String, Json>> {
        self.0.object("order").map()
    }

    /// Returns the reward that was bought.
    pub fn reward(self) -> Option<&'a Map<String, Json>> {
        self.0.object("reward").map()
    }

    /// Returns the ID of the channel.
    pub fn channel_id(self) -> Option<&'a Json> {
        self.0.object("channel").value("channel_id")
    }

    /// Returns the reason of a rollback.
    pub fn reason(self) -> Option<&'a Json> {
        self.0.value("reason")
    }

    /// Returns the ID of the promotion stack that was requested.
    pub fn requested_stack(self) -> Option<Option<&'a str>> {
        let requested = self.0.object("redeemable");
        (requested.text("object") == Some("promotion_stack")).then(|| requested.text("id"))
    }

    /// Returns true if the record belongs to the redemption of a stack.
    pub fn is_part(self) -> bool {
        self.0.text("related_object_type") == Some("redemption")
    }

    /// Returns the ID of the redemption that the record belongs to.
    pub fn whole(self) -> Option<&'a str> {
        self.0.text("redemption")
    }

    /// Returns the ID of the campaign of a promotion tier.
    pub fn tier_campaign_id(self) -> Option<&'a str> {
        self.0.value("promotion_tier")?;
        self.0.text("related_object_parent_id")
    }
}
