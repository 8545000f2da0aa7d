//! Campaigns and the templates that are made from them.

use super::Members;
use super::members::record;
use serde_json::{Map, Value as Json};

record!("A campaign, or a request that creates one.", CampaignRecord, as_campaign);
record!("A template of campaigns and tiers.", TemplateRecord, as_template);

impl<'a> CampaignRecord<'a> {
    /// Returns the name.
    pub fn name(self) -> Option<&'a str> {
        self.0.text("name")
    }

    /// Returns what clients may know of the offers of the campaign, as set.
    pub fn visibility(self) -> Option<&'a str> {
        self.0.text("visibility")
    }

    /// Returns the type of campaign; empty if absent.
    pub fn campaign_type(self) -> &'a str {
        self.0.text("campaign_type").unwrap_or_default()
    }

    /// Returns true for promotions.
    pub fn is_promotion(self) -> bool {
        self.campaign_type() == "PROMOTION"
    }

    /// Returns true for loyalty campaigns.
    pub fn is_loyalty_campaign(self) -> bool {
        self.campaign_type() == "LOYALTY_PROGRAM"
    }

    /// Returns true for referral programs.
    pub fn is_referral_program(self) -> bool {
        self.campaign_type() == "REFERRAL_PROGRAM"
    }

    /// Returns true if the campaign's vouchers are gift cards.
    pub fn has_gift_vouchers(self) -> bool {
        self.campaign_type() == "GIFT_VOUCHERS"
    }

    /// Returns the configuration by which cards qualify for tiers.
    pub fn tier_qualification(self) -> Option<&'a Map<String, Json>> {
        self.0.object("loyalty_tiers_expiration").map()
    }

    /// Returns the supply of vouchers: `AUTO_UPDATE`, `STATIC` or `STANDALONE`.
    pub fn supply(self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// Returns true if the campaign has a single public voucher.
    pub fn is_standalone(self) -> bool {
        self.supply() == Some("STANDALONE")
    }

    /// Returns true if publications generate missing vouchers.
    pub fn generates_vouchers(self) -> bool {
        self.supply() == Some("AUTO_UPDATE") && !self.is_promotion()
    }

    /// Returns true if a customer receives at most one voucher.
    pub fn joins_once(self) -> bool {
        self.0.flag("join_once") == Some(true)
    }

    /// Returns true if earning points creates a card.
    pub fn joins_automatically(self) -> bool {
        self.0.flag("auto_join") == Some(true)
    }

    /// Returns true if the metadata of vouchers follows the schema of vouchers.
    pub fn uses_voucher_schema(self) -> bool {
        self.0.flag("use_voucher_metadata_schema") == Some(true)
    }

    /// Returns the duration of a voucher's validity from its publication on.
    pub fn activity_duration(self) -> Option<&'a str> {
        self.0.text("activity_duration_after_publishing")
    }

    /// Returns the number of vouchers.
    pub fn vouchers_count(self) -> u64 {
        self.0.count("vouchers_count").unwrap_or(0)
    }

    /// Returns the status of the generation of vouchers.
    pub fn generation_status(self) -> Option<&'a str> {
        self.0.text("vouchers_generation_status")
    }

    /// Returns the configuration of the vouchers.
    pub fn vouchers(self) -> VoucherConfig<'a> {
        VoucherConfig(self.0.object("voucher"))
    }
}

/// The configuration of vouchers in a campaign or in a request.
#[derive(Debug, Clone, Copy)]
pub struct VoucherConfig<'a>(Members<'a>);

impl<'a> VoucherConfig<'a> {
    /// Reads a configuration.
    pub fn of(config: &'a Map<String, Json>) -> VoucherConfig<'a> {
        VoucherConfig(Members::of(config))
    }

    /// Returns the configuration itself.
    pub fn map(self) -> Option<&'a Map<String, Json>> {
        self.0.map()
    }

    /// Returns a part of the configuration.
    pub fn part(self, name: &str) -> Option<&'a Json> {
        self.0.value(name)
    }

    /// Returns the type of the vouchers.
    pub fn voucher_type(self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// Returns the discount.
    pub fn discount(self) -> Option<&'a Json> {
        self.0.value("discount")
    }

    /// Returns the form of generated codes.
    pub fn code_config(self) -> CodeConfig<'a> {
        CodeConfig(self.0.object("code_config"))
    }

    /// Returns true if the configuration has a form of generated codes.
    pub fn has_code_config(self) -> bool {
        self.0.value("code_config").is_some()
    }

    /// Returns the limit on redemptions, which may be `null`.
    pub fn quantity(self) -> Option<&'a Json> {
        self.0.object("redemption").value("quantity")
    }

    /// Returns the flag of referral codes.
    pub fn is_referral_code(self) -> Option<bool> {
        self.0.flag("is_referral_code")
    }

    /// Returns the items that a gift card pays for.
    pub fn gift_effect(self) -> Option<&'a Json> {
        self.0.object("gift").value("effect")
    }

    /// Returns the expiration rules of loyalty cards.
    pub fn expiration_rules(self) -> Option<&'a Json> {
        self.0.object("loyalty_card").value("expiration_rules")
    }
}

impl<'a> TemplateRecord<'a> {
    /// Returns a part of the campaign or tier that the template was made from.
    pub fn part(self, name: &str) -> Option<&'a Json> {
        self.0.object("json_template").value(name)
    }

    /// Returns the name.
    pub fn name(self) -> Option<&'a str> {
        self.0.text("name")
    }

    /// Returns the description, which may be `null`.
    pub fn description(self) -> Option<&'a Json> {
        self.0.value("description")
    }
}

/// The form of generated codes. Without members, codes have the form of the project.
#[derive(Debug, Clone, Copy)]
pub struct CodeConfig<'a>(Members<'a>);

impl<'a> CodeConfig<'a> {
    /// Reads a form.
    pub fn of_value(value: Option<&'a Json>) -> CodeConfig<'a> {
        CodeConfig(Members::of_value(value))
    }

    /// Reads the members of a form.
    pub fn of(config: &'a Map<String, Json>) -> CodeConfig<'a> {
        CodeConfig(Members::of(config))
    }

    /// Returns the characters of generated codes.
    pub fn charset(self) -> Option<&'a str> {
        self.0.text("charset")
    }

    /// Returns the number of generated characters.
    pub fn length(self) -> Option<u64> {
        self.0.count("length")
    }

    /// Returns the pattern; empty if absent.
    pub fn pattern(self) -> &'a str {
        self.0.text("pattern").unwrap_or_default()
    }

    /// Returns the text at the beginning; empty if absent.
    pub fn prefix(self) -> &'a str {
        self.0.text("prefix").unwrap_or_default()
    }

    /// Returns the text at the end; empty if absent.
    pub fn postfix(self) -> &'a str {
        self.0.text("postfix").unwrap_or_default()
    }
}
