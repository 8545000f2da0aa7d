//! Loyalty programs (v2): states of entities, cards, tiers and earning rules.

use super::CodeConfig;
use super::members::record;
use serde_json::{Map, Value as Json};

record!("An entity with a state.", EntityRecord, as_entity);
record!("A card of a member, or the definition or tier structure of cards.", CardRecord, as_card);
record!("A member's tier in a tier structure.", TierStateRecord, as_tier_state);
record!("An earning rule of a program.", ProgramRuleRecord, as_program_rule);
record!("An earning of an earning rule, or one of its effects.", EarningRecord);
record!("A requirement of an earning: tiers, or a tier structure.", TierRequirementRecord);
record!("The conditions of a tier.", TierConditionsRecord);
record!("A test of a rule.", RuleTestRecord);
record!("A cost of a reward.", CostRecord);
record!("A reward of a program.", ProgramRewardRecord, as_program_reward);

/// Stored name of the flag of a tier state that was announced.
pub const IS_ANNOUNCED: &str = "is_told";

impl<'a> EntityRecord<'a> {
    /// Returns the word of the state.
    pub fn status(self) -> Option<&'a str> {
        self.0.text("status")
    }

    /// Returns the metadata, which may be `null` in a request.
    pub fn metadata(self) -> Option<&'a Json> {
        self.0.value("metadata")
    }

    /// Returns the flag of an object that can be disabled.
    pub fn is_active(self) -> Option<bool> {
        self.0.flag("active")
    }

    /// Returns the stock of an incentive; `None` if unlimited.
    pub fn stock(self) -> Option<u64> {
        self.0.count("stock")
    }
}

impl<'a> CardRecord<'a> {
    /// Returns the ID of the card definition.
    pub fn definition_id(self) -> Option<&'a str> {
        self.0.text("card_definition_id")
    }

    /// Returns the ID of the program.
    pub fn program_id(self) -> Option<&'a str> {
        self.0.text("program_id")
    }

    /// Returns the type of card.
    pub fn card_type(self) -> Option<&'a Json> {
        self.0.value("type")
    }

    /// Returns the form of generated codes.
    pub fn code_config(self) -> CodeConfig<'a> {
        CodeConfig::of_value(self.0.value("code_config"))
    }

    /// Returns the time of creation.
    pub fn created_at(self) -> Option<&'a Json> {
        self.0.value("created_at")
    }
}

impl<'a> TierStateRecord<'a> {
    /// Returns the causes of the last change.
    pub fn causes(self) -> impl Iterator<Item = &'a str> {
        self.0.list("causes").iter().filter_map(Json::as_str)
    }

    /// Returns true if the state was announced.
    pub fn is_announced(self) -> bool {
        self.0.flag(IS_ANNOUNCED) == Some(true)
    }
}

impl<'a> ProgramRuleRecord<'a> {
    /// Returns the earnings.
    pub fn earnings(self) -> &'a [Json] {
        self.0.list("earnings")
    }

    /// Returns the event that the rule waits for.
    pub fn event(self) -> Option<&'a str> {
        self.0.object("trigger").text("event")
    }
}

impl<'a> EarningRecord<'a> {
    /// Returns the tiers that a member needs, any of them.
    pub fn tier_requirements(self) -> &'a [Json] {
        self.0.object("tier_rules").list("any_of")
    }

    /// Returns the tests of an earning.
    pub fn rules(self) -> Option<&'a Json> {
        self.0.value("rules").filter(|rules| !rules.is_null())
    }

    /// Returns the type of an effect.
    pub fn effect_type(self) -> Option<&'a str> {
        self.0.text("type")
    }

    /// Returns the expiration of the points of an effect.
    pub fn expiration(self, points: &str) -> Option<&'a Json> {
        self.0.object(points).value("points_expiration")
    }
}

impl<'a> TierRequirementRecord<'a> {
    /// Returns true if the requirement names a tier or a structure by its ID.
    pub fn names(self, id: &str) -> bool {
        let is_id = |named: &Json| named.as_str() == Some(id);
        self.0.text("tier_structure_id") == Some(id) || self.0.list("tier_ids").iter().any(is_id)
    }
}

impl<'a> TierConditionsRecord<'a> {
    /// Returns the segment, which may be `null`.
    pub fn segment(self) -> Option<&'a Json> {
        self.0.value("segment")
    }

    /// Returns the ID of the segment.
    pub fn segment_id(self) -> Option<&'a str> {
        self.0.object("segment").text("id")
    }
}

impl<'a> RuleTestRecord<'a> {
    /// Returns the name of the fact; empty if absent.
    pub fn name(self) -> &'a str {
        self.0.text("name").unwrap_or_default()
    }

    /// Returns the inner tests.
    pub fn rules(self) -> Option<&'a Map<String, Json>> {
        self.0.object("rules").map()
    }
}

impl<'a> CostRecord<'a> {
    /// Returns the prices.
    pub fn spending(self) -> &'a [Json] {
        self.0.list("spending")
    }

    /// Returns the tests.
    pub fn rules(self) -> Option<&'a Map<String, Json>> {
        self.0.object("rules").map()
    }
}

impl<'a> ProgramRewardRecord<'a> {
    /// Returns the costs.
    pub fn costs(self) -> &'a [Json] {
        self.0.list("costs")
    }
}
