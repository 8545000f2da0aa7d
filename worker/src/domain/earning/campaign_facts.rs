//! Facts for earning in loyalty campaigns (v1): campaigns with matching rules, the customer's cards, and earlier earnings of
//! the same event.

use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::clock::LocalTime;
use crate::store::Store;
use crate::store::document::{Document, read_loaded, readable};
use crate::store::facts::StoreFacts;
use crate::store::loyalty::earning::CampaignRuleTrigger;
use crate::store::sql::Fault;
use scrip::decide::earn::EarningEvent;
use scrip::facts::earning::{
    EarningCard, EarningFacts, EarningKey, EarningRule, EarningStatus, Incentive, LoyaltyProgram, Membership,
    StoredEarning,
};
use scrip::facts::{Fact, Facts, Known};
use scrip::model::order::Metadata;
use scrip::points::Revocation;
use scrip::points::limits::{EarnedSoFar, EarningLimits, FireCount};
use scrip::rules::Rule;
use scrip::text::Text;
use scrip::time::{Instant, TimeZone};
use scrip::wire::loyalty::loyalty_campaign_rule::read_loyalty_campaign_rule;
use scrip::wire::voucher::{read_campaign, read_voucher};

/// A loyalty campaign in which a customer may earn.
pub struct JoinedCampaign {
    /// The campaign.
    pub campaign: Document,
    /// Card of the customer; `None` when the customer has none.
    pub card: Option<Document>,
    /// Rules with a matching trigger: the stored documents, and their parsed form; `None` for a rule that cannot be read.
    pub rules: Vec<(Document, Option<EarningRule>)>,
    is_open: bool,
    state: LoyaltyProgram,
}

/// Reason why a campaign grants no points now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignClosed {
    /// The campaign is inactive or outside of its validity.
    Campaign,
    /// The card is inactive or outside of its validity.
    Card,
    /// The customer has no card, and the campaign does not assign one by earning.
    NoMember,
}

impl JoinedCampaign {
    /// Returns the reason why no points can be earned at `now`; `None` when they can.
    pub fn closed_reason(&self, now: Instant, zone: &TimeZone) -> Option<CampaignClosed> {
        let is_running = self.state.is_active && self.state.validity.holds(now, zone);
        match (is_running, self.is_open, &self.card) {
            (false, _, _) => Some(CampaignClosed::Campaign),
            (true, true, _) => None,
            (true, false, Some(_)) => Some(CampaignClosed::Card),
            (true, false, None) => Some(CampaignClosed::NoMember),
        }
    }

    /// Returns the rule with an id.
    pub fn rule(&self, id: &str) -> Option<&Document> {
        self.rules.iter().map(|(rule, _)| rule).find(|rule| rule.id == id)
    }
}

/// Returns the campaigns in which a customer may earn by an event: those with a card of the customer, and those that assign
/// cards by earning.
pub fn find_joined_campaigns(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    customer_id: &str,
    event: EarningEvent<'_>,
    present: &LocalTime,
) -> Result<Vec<JoinedCampaign>, Fault> {
    let mut rules = list_matching_rules(store, facts, event)?;
    let mut names: Vec<&str> = rules.iter().filter_map(|(rule, _)| rule.parent.as_deref()).collect();
    names.dedup();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let campaigns = store.documents_by_names(CAMPAIGN.object, &[], &names)?;
    let mut found = Vec::new();
    for campaign in campaigns {
        if !campaign.as_campaign().is_loyalty_campaign() {
            continue;
        }
        let campaign_rules = rules.extract_if(.., |(rule, _)| rule.parent.as_ref() == Some(&campaign.id)).collect();
        found.push(load_joined_campaign(store, campaign, Some(customer_id), campaign_rules, present)?);
    }
    Ok(found)
}

/// Returns one campaign in which a customer may earn by an event; a customer that is not stored has no card.
pub fn find_joined_campaign(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    campaign: &Document,
    customer_id: Option<&str>,
    event: EarningEvent<'_>,
    present: &LocalTime,
) -> Result<JoinedCampaign, Fault> {
    let mut rules = list_matching_rules(store, facts, event)?;
    rules.retain(|(rule, _)| rule.parent.as_ref() == Some(&campaign.id));
    load_joined_campaign(store, campaign.clone(), customer_id, rules, present)
}

fn load_joined_campaign(
    store: &Store<'_>,
    campaign: Document,
    customer_id: Option<&str>,
    rules: Vec<(Document, Option<EarningRule>)>,
    present: &LocalTime,
) -> Result<JoinedCampaign, Fault> {
    let card = match customer_id {
        Some(customer_id) => store.card_of(&campaign.id, customer_id)?,
        None => None,
    };
    let is_open = match &card {
        Some(card) => is_usable(store, card, present)?,
        None => campaign.as_campaign().joins_automatically(),
    };
    let read = readable(store, read_loaded(CAMPAIGN.object, &campaign, read_campaign))?;
    // A campaign that cannot be read grants no points.
    let state = match read {
        Some(read) => LoyaltyProgram { id: read.id, is_active: read.active, validity: read.validity },
        None => LoyaltyProgram { id: campaign.id.as_str().into(), is_active: false, ..LoyaltyProgram::default() },
    };
    Ok(JoinedCampaign { campaign, card, rules, is_open, state })
}

/// Tests if a card can receive points now: it is active and valid.
fn is_usable(store: &Store<'_>, card: &Document, present: &LocalTime) -> Result<bool, Fault> {
    let read = readable(store, read_loaded("voucher", card, |at| read_voucher(at, "")))?;
    let now = present.now();
    Ok(read.is_some_and(|card| card.active && card.validity.holds(now.at, now.zone)))
}

/// Returns the rules with a matching trigger, each with its validation rule; rules of one campaign are adjacent.
fn list_matching_rules(
    store: &Store<'_>,
    facts: &StoreFacts<'_, '_>,
    event: EarningEvent<'_>,
) -> Result<Vec<(Document, Option<EarningRule>)>, Fault> {
    let trigger = match event {
        EarningEvent::OrderPaid(_) => CampaignRuleTrigger::Event("order.paid"),
        EarningEvent::CustomEvent { schema_id, .. } => CampaignRuleTrigger::CustomEvent(schema_id.unwrap_or_default()),
        EarningEvent::SegmentEntered(id) => CampaignRuleTrigger::Segment(id.unwrap_or_default()),
    };
    let mut found = Vec::new();
    for document in store.list_campaign_rules(trigger)? {
        let mut read = readable(store, read_loaded("earning rule", &document, read_loyalty_campaign_rule))?;
        match find_assigned_rule(facts, &document.id) {
            Ok(None) => {}
            Ok(Some(rule)) => {
                let earnings = read.iter_mut().flat_map(|read| &mut read.earnings);
                earnings.for_each(|earning| earning.rule = rule.clone());
            }
            Err(UnknownRule) => read = None,
        }
        found.push((document, read));
    }
    Ok(found)
}

/// The fact is unknown.
struct UnknownRule;

/// Returns the validation rule of an earning rule; there is at most one.
fn find_assigned_rule(facts: &StoreFacts<'_, '_>, id: &str) -> Result<Option<Rule>, UnknownRule> {
    match facts.rules_of(id) {
        Known::Absent => Ok(None),
        Known::Is(rules) => match rules.as_slice() {
            [] => Ok(None),
            [rule] => Ok(Some((**rule).clone())),
            _ => Err(UnknownRule),
        },
        Known::Unknown | Known::Unreadable => Err(UnknownRule),
    }
}

/// Stored facts about the campaigns in which a customer may earn.
pub struct CampaignEarnings<'a> {
    /// The campaigns.
    pub joined: &'a [JoinedCampaign],
    /// State of the event's earnings.
    pub status: EarningStatus,
}

impl EarningFacts for CampaignEarnings<'_> {
    fn status(&self, _: &EarningKey) -> Known<EarningStatus> {
        Known::Is(self.status)
    }

    fn memberships(&self, _: &str) -> Known<Vec<Membership<'_>>> {
        let rule = |(rule, read): &'_ (Document, Option<EarningRule>)| {
            let id = Text::from(rule.id.as_str());
            (id, read.clone().map_or(Known::Unreadable, |read| Known::Is(Fact::own(read))))
        };
        let member = |joined: &JoinedCampaign| {
            let id = Text::from(joined.campaign.id.as_str());
            Membership {
                member_id: id.clone(),
                is_active: joined.is_open,
                metadata: Metadata::default(),
                program: Fact::own(joined.state.clone()),
                rules: joined.rules.iter().map(rule).collect(),
                tiers: Vec::new(),
                cards: vec![EarningCard { id: id.clone(), card_definition_id: id, limits: EarningLimits::default() }],
            }
        };
        Known::Is(self.joined.iter().map(member).collect())
    }

    fn fired(&self, _: &str, _: &str, _: Option<Instant>) -> Known<FireCount> {
        Known::Absent
    }

    fn earned(&self, _: &str, _: Option<Instant>) -> Known<EarnedSoFar> {
        Known::Absent
    }

    fn incentive(&self, _: &str) -> Known<Fact<'_, Incentive>> {
        Known::Absent
    }

    fn stored_earnings(&self, _: &EarningKey) -> Known<Vec<StoredEarning>> {
        Known::Absent
    }

    fn credited_since(&self, _: &EarningKey, _: &str, _: Instant) -> Known<u64> {
        Known::Absent
    }

    fn revocation(&self, _: &str) -> Known<Option<Revocation>> {
        Known::Absent
    }

    fn limits(&self, _: &str) -> Known<EarningLimits> {
        Known::Absent
    }
}
