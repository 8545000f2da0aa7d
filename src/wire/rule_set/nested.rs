//! Reads documents in the format of answers: with their rules, the tiers of a campaign, and names instead of ids.

use std::sync::Arc;

use crate::facts::Assignment;
use crate::model::qualification::CandidateObject;
use crate::rules::{Contents, SegmentMembers};
use crate::text::Text;
use crate::wire::cursor::{JsonCursor, read};
use crate::wire::order::read_goods;
use crate::wire::rule_set::stated_facts::{RuleSet, count, document};
use crate::wire::rules::{read_collection, read_rule, read_segment};
use crate::wire::voucher::{read_campaign, read_stack, read_tier, read_voucher};

/// The members that contain the assignments of a document: answers with tiers use a second name.
const ASSIGNMENTS: [&str; 2] = ["validation_rules_assignments", "validation_rule_assignments"];

/// The document that nested parts are added for.
struct NestedDocument<'s> {
    given: &'s mut RuleSet,
    /// The id of the document.
    of: Text,
    /// The kind of the document.
    kind: &'static str,
}

impl RuleSet {
    pub(super) fn add_campaign(&mut self, at: &JsonCursor<'_>) {
        let mut campaign = read_campaign(at);
        campaign.category_id = self.category_of(at, campaign.category_id);
        self.add_guards(at, "campaign", &campaign.id);
        self.listed.add_campaign(at);
        self.campaigns.push(Arc::new(campaign));
    }

    /// Adds the tiers in a campaign's document.
    pub(super) fn add_tiers_of(&mut self, campaign: &JsonCursor<'_>) {
        let Some(promotion) = campaign.get("promotion") else { return };
        let id = campaign.option("id", read::name).or_else(|| campaign.option("name", read::name)).unwrap_or_default();
        let mut part = NestedDocument { given: self, of: id, kind: "promotion_tier" };
        promotion.object();
        if let Some(tiers) = promotion.get("tiers") {
            tiers.each(&mut part, |NestedDocument { given, of, .. }, tier| given.add_tier_of(tier, Some(of)));
        }
    }

    pub(super) fn add_tier(&mut self, at: &JsonCursor<'_>) {
        self.add_tier_of(at, None);
    }

    fn add_tier_of(&mut self, at: &JsonCursor<'_>, campaign: Option<&Text>) {
        let mut tier = read_tier(at, &document(at));
        if campaign.is_some() && self.tiers.iter().any(|known| known.id == tier.id) {
            return;
        }
        tier.campaign_id = tier.campaign_id.or_else(|| campaign.cloned());
        tier.category_id = self.category_of(at, tier.category_id);
        self.add_guards(at, "promotion_tier", &tier.id);
        self.listed.add(at, CandidateObject::PromotionTier, tier.campaign_id.as_ref());
        self.tiers.push(Arc::new(tier));
    }

    pub(super) fn add_stack(&mut self, at: &JsonCursor<'_>) {
        self.stacks.push(read_stack(at));
        self.listed.add(at, CandidateObject::PromotionStack, None);
    }

    pub(super) fn add_voucher(&mut self, at: &JsonCursor<'_>) {
        let mut voucher = read_voucher(at, &document(at));
        voucher.campaign_id = self.campaign_of(at, voucher.campaign_id);
        voucher.category_id = self.category_of(at, voucher.category_id);
        self.add_entries(&count(&voucher, at), at);
        self.add_guards(at, "voucher", &voucher.id);
        self.listed.add(at, CandidateObject::Voucher, voucher.campaign_id.as_ref());
        self.vouchers.push(Arc::new(voucher));
    }

    /// Adds a product with the SKUs in its document.
    pub(super) fn add_product(&mut self, at: &JsonCursor<'_>) {
        self.products.push(read_goods(at));
        if let Some(skus) = at.get("skus") {
            skus.each_listed(self, |given, sku| given.skus.push(read_goods(sku)));
        }
    }

    /// Adds a segment. Answers omit the customers of a static one: then only the server knows it.
    pub(super) fn add_segment(&mut self, at: &JsonCursor<'_>) {
        let segment = read_segment(at);
        if !matches!(segment.members, SegmentMembers::Listed(_)) || at.get("customers").is_some() {
            self.segments.push(segment);
        }
    }

    /// Adds a collection. Answers may omit the goods of a static one.
    pub(super) fn add_collection(&mut self, at: &JsonCursor<'_>) {
        let collection = read_collection(at);
        if !matches!(collection.goods, Contents::Listed(_)) || at.get("products").is_some() {
            self.collections.push(collection);
        }
    }

    /// Returns the campaign of a voucher without a campaign id. It is found by its name, which also serves as the id of
    /// a campaign that is not listed.
    fn campaign_of(&self, at: &JsonCursor<'_>, id: Option<Text>) -> Option<Text> {
        let name = match id {
            None => name_in(at, "campaign")?,
            id => return id,
        };
        let found = self.campaigns.iter().find(|campaign| campaign.id == name || campaign.name == name);
        Some(found.map_or(name, |campaign| campaign.id.clone()))
    }

    /// Returns the category of a document without a category id, by its name.
    fn category_of(&self, at: &JsonCursor<'_>, id: Option<Text>) -> Option<Text> {
        let name = match id {
            None => name_in(at, "category")?,
            id => return id,
        };
        let found = self.categories.iter().find(|category| category.id == name || category.name == name);
        Some(found.map_or(name, |category| category.id.clone()))
    }

    /// Adds the rules in a document. If an answer omits them, or contains only a part of a longer list, only the server
    /// knows them.
    pub(super) fn add_guards(&mut self, at: &JsonCursor<'_>, kind: &'static str, id: &Text) {
        let mut has_rules = false;
        let mut part = NestedDocument { given: self, of: id.clone(), kind };
        for name in ASSIGNMENTS {
            if let Some(assignments) = at.get(name) {
                assignments.each_listed(&mut part, |part, assignment| {
                    assignment.object();
                    let own = assignment.option("id", read::name).unwrap_or_default();
                    let rule = assignment.need("rule_id", read::name);
                    part.assign(own, rule);
                });
                has_rules |= assignments.is_complete();
            }
        }
        if let Some(rules) = at.get("validation_rules") {
            rules.each_listed(&mut part, |part, rule| {
                let id = match rule.node.as_str() {
                    Some(_) => rule.name(),
                    None => {
                        let id = rule.need("id", read::name);
                        part.given.rules.push(Arc::new(read_rule(rule)));
                        id
                    }
                };
                part.assign(Text::default(), id);
            });
            has_rules |= rules.is_complete();
        }
        if !has_rules && at.get("object").is_some() {
            self.unguarded.push(id.clone());
        }
    }
}

impl NestedDocument<'_> {
    /// Assigns a rule to the document, once.
    fn assign(&mut self, id: Text, rule_id: Text) {
        let NestedDocument { given, of, kind } = self;
        let is_known = |known: &Assignment| known.rule_id == rule_id && known.related_object_id == *of;
        if !given.assignments.iter().any(is_known) {
            let (related_object_id, related_object_type) = (of.clone(), Text::from(*kind));
            given.assignments.push(Assignment { id, rule_id, related_object_id, related_object_type });
        }
    }
}

/// Returns a name in a member, which is a text or an object.
fn name_in(at: &JsonCursor<'_>, name: &str) -> Option<Text> {
    let member = at.get(name)?;
    match member.node.as_str() {
        Some(_) => Some(member.name()),
        None => member.option("id", read::name).or_else(|| member.option("name", read::name)),
    }
}
