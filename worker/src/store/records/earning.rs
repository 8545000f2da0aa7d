//! Earning rules of loyalty campaigns, and what they granted.

use super::Members;
use super::members::record;
use crate::store::sql::Fault;
use scrip::points::campaign_tiers::Mapping;
use scrip::time::Instant;
use serde_json::{Map, Value as Json};

record!("An earning rule of a loyalty campaign.", EarningRuleRecord, as_earning_rule);
record!("An event that earned points.", EarningRowRecord, as_earning_row);
record!("A tier of a loyalty campaign.", CampaignTierRecord, as_campaign_tier);

impl<'a> EarningRuleRecord<'a> {
    /// Returns the event that the rule waits for.
    pub fn event(self) -> Option<&'a str> {
        self.0.text("event")
    }

    /// Returns the ID of the event schema.
    pub fn schema_id(self) -> Option<&'a str> {
        self.0.object("custom_event").text("schema_id")
    }

    /// Returns the ID of the segment.
    pub fn segment_id(self) -> Option<&'a str> {
        self.0.object("segment").text("id")
    }

    /// Returns the definition of the points.
    pub fn points(self) -> Option<&'a Json> {
        self.0.value("loyalty")
    }

    /// Returns a member of the definition of the points.
    pub fn points_member(self, name: &str) -> Option<&'a Json> {
        self.0.object("loyalty").value(name)
    }

    /// Returns the rules by which the points expire.
    pub fn expiration_rules(self) -> Option<&'a Json> {
        self.0.value("expiration_rules")
    }

    /// Returns the number of days that points are pending.
    pub fn pending_days(self) -> Option<u64> {
        self.0.object("pending_points").count("period_value")
    }

    /// Returns the banner.
    pub fn banner(self) -> Option<&'a Json> {
        self.0.object("source").value("banner")
    }
}

impl<'a> EarningRowRecord<'a> {
    /// Returns the entries of points.
    pub fn points(self) -> &'a [Json] {
        self.0.list("points")
    }

    /// Returns the amount of the order as it was paid; `None` for rows that are older than the amount.
    pub fn order_amount(self) -> Result<Option<u64>, Fault> {
        self.0.amount("bought")
    }
}

impl<'a> CampaignTierRecord<'a> {
    /// Returns the range of points; `null` if absent.
    pub fn points(self) -> Json {
        self.0.copy("points")
    }

    /// Returns the IDs of the earning rules with an adjustment.
    pub fn earning_rule_ids(self) -> impl Iterator<Item = &'a str> {
        self.names("earning_rules")
    }

    /// Returns the IDs of the rewards with an adjustment.
    pub fn reward_ids(self) -> impl Iterator<Item = &'a str> {
        self.names("rewards")
    }

    fn names(self, mapped: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        self.0.object(mapped).map().into_iter().flatten().map(|(name, _)| name.as_str())
    }
}

/// An entry of points that a rule granted.
#[derive(Debug, Clone, Copy)]
pub struct EarnedPointsRecord<'a>(Members<'a>);

impl<'a> EarnedPointsRecord<'a> {
    /// Reads an entry of a list.
    pub fn of_value(entry: &'a Json) -> EarnedPointsRecord<'a> {
        EarnedPointsRecord(Members::of_value(Some(entry)))
    }

    /// Returns the number of points.
    pub fn points(self) -> Result<u64, Fault> {
        self.0.required_amount("points")
    }

    /// Returns the ID of the row in which the points are pending.
    pub fn pending(self) -> Option<&'a str> {
        self.0.text("pending")
    }

    /// Returns the ID of the card (v2); empty if absent.
    pub fn card_id(self) -> &'a str {
        self.0.text("card_id").unwrap_or_default()
    }

    /// Returns the ID of the card definition (v2); empty if absent.
    pub fn card_definition_id(self) -> &'a str {
        self.0.text("card_definition_id").unwrap_or_default()
    }

    /// Returns the ID of the loyalty card (v1); empty if absent.
    pub fn voucher_id(self) -> &'a str {
        self.0.text("voucher_id").unwrap_or_default()
    }

    /// Returns the ID of the campaign (v1) in which the customer had no card.
    pub fn campaign_id(self) -> Option<&'a str> {
        self.0.text("campaign_id")
    }

    /// Returns the ID of the earning rule; empty if absent.
    pub fn earning_rule_id(self) -> &'a str {
        self.0.text("earning_rule_id").unwrap_or_default()
    }

    /// Returns the number of points that are due for revocation. An entry has it after the first correction only.
    pub fn revocation_due(self) -> Result<u64, Fault> {
        // Nothing was given back before the first correction.
        Ok(self.0.amount("back")?.unwrap_or(0))
    }

    /// Returns the number of points that were revoked: fewer than due if the card had fewer; `None` before the first correction.
    pub fn revoked(self) -> Result<Option<u64>, Fault> {
        self.0.amount("taken")
    }

    /// Returns the lot of the points.
    pub fn lot(self) -> Option<&'a str> {
        self.0.text("lot")
    }

    /// Returns the expiration of the lot: `null` if never, absent if unknown.
    pub fn expires_at(self) -> Option<&'a Json> {
        self.0.value("lapses_at")
    }

    /// Returns the millionths by which the tier of the card multiplied the points.
    pub fn tier_millionths(self) -> Result<Option<u64>, Fault> {
        self.0.amount("tier_millionths")
    }

    /// Returns the points that the tier of the card gave instead.
    pub fn tier_points(self) -> Result<Option<u64>, Fault> {
        self.0.amount("tier_points")
    }

    /// Returns the facts that the number of points follows.
    pub fn basis(self) -> Option<&'a Map<String, Json>> {
        self.0.object("basis").map()
    }
}

/// An entry of points that a rule granted, to be changed.
#[derive(Debug)]
pub struct EarnedPointsEntry<'a>(&'a mut Map<String, Json>);

impl<'a> EarnedPointsEntry<'a> {
    /// Reads an entry of a list; `None` if it is no object.
    pub fn of_value(entry: &'a mut Json) -> Option<EarnedPointsEntry<'a>> {
        entry.as_object_mut().map(EarnedPointsEntry)
    }

    /// Returns the entry as it is now.
    pub fn record(&self) -> EarnedPointsRecord<'_> {
        EarnedPointsRecord(Members::of(self.0))
    }

    /// Sets the ID of the row in which the points are pending; they can be spent at once without one.
    pub fn set_pending(&mut self, id: Option<&str>) {
        self.0.insert("pending".into(), id.into());
    }

    /// Sets the expiration of points that can be spent at once; `None` if they never expire.
    pub fn set_expiration(&mut self, expires_at: Option<Instant>) {
        self.0.insert("lapses_at".into(), expires_at.map(Instant::millis).into());
    }

    /// Removes the expiration: pending points have none yet.
    pub fn remove_expiration(&mut self) {
        self.0.remove("lapses_at");
    }

    /// Sets the calculation basis of points that depend on the order.
    pub fn set_basis(&mut self, basis: Json) {
        self.0.insert("basis".into(), basis);
    }

    /// Sets the mapping of the points by a tier.
    pub fn set_mapping(&mut self, mapping: Mapping) {
        match mapping {
            Mapping::Multiply(millionths) => self.0.insert("tier_millionths".into(), millionths.into()),
            Mapping::Custom(points) => self.0.insert("tier_points".into(), points.into()),
        };
    }

    /// Sets the loyalty card (v1) of a customer who had none before.
    pub fn set_card(&mut self, id: &str) {
        self.0.insert("voucher_id".into(), id.into());
        self.0.remove("campaign_id");
    }

    /// Sets the number of points.
    pub fn set_points(&mut self, points: u64) {
        self.0.insert("points".into(), points.into());
    }

    /// Sets the number of points due for revocation, and the number that were revoked.
    pub fn set_revocation(&mut self, due: u64, revoked: u64) {
        self.0.insert("back".into(), due.into());
        self.0.insert("taken".into(), revoked.into());
    }
}
