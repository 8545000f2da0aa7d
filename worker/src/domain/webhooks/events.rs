//! Derives webhook events from changes of documents, by comparing the states before and after.
//!
//! Two published events have no cause here: `customer.confirmed` (there is no confirmation) and `campaign.referral_tier.*`
//! (referral programs have no tiers).

use crate::domain::webhooks::event::{
    ChangeKind, EventBuilder, EventNames, IsSubscribed, ParsedChange, Read, WebhookEvent, read,
};
use crate::store::Store;
use crate::store::change_feed::{DocumentChange, leads_to};
use crate::store::jobs;
use crate::store::records::{AsyncActionRecord, CampaignRecord, OrderRecord};
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// Returns the events of changes that are written already, in their order.
pub fn happened(
    store: &Store<'_>,
    changes: &[DocumentChange],
    now: Instant,
    chosen: IsSubscribed<'_>,
) -> Result<Vec<WebhookEvent>, Fault> {
    let mut builder =
        EventBuilder { store, changes, now: timestamp::text(now.millis()), at: now, chosen, events: Vec::new() };
    for (place, change) in changes.iter().enumerate() {
        // Several changes of a document give one event, from the first state to the last.
        let is_same = |other: &&DocumentChange| other.kind == change.kind && other.id == change.id;
        if change.kind != "granted" && changes.iter().take(place).any(|other| is_same(&other)) {
            continue;
        }
        let last = changes.iter().rev().find(is_same).unwrap_or(change);
        let before = change.before.as_ref().map(read).transpose()?;
        let after = last.after.as_ref().filter(|_| change.kind != "granted").or(change.after.as_ref());
        let after = after.map(read).transpose()?;
        let known = builder.events.len();
        builder.add_change(&ParsedChange { kind: &change.kind, id: &change.id, before, after })?;
        let details = builder.events.get(known..).unwrap_or_default();
        // A webhook that subscribes only to this event would miss it.
        debug_assert!(
            details.iter().all(|details| leads_to(&change.kind, details.event)),
            "{} leads to {details:?}",
            change.kind
        );
    }
    Ok(builder.events)
}

const CUSTOMER: &EventNames = &[
    (ChangeKind::Created, "customer.created"),
    (ChangeKind::Updated, "customer.updated"),
    (ChangeKind::Deleted, "customer.deleted"),
];
const CAMPAIGN: &EventNames = &[
    (ChangeKind::Created, "campaign.created"),
    (ChangeKind::Updated, "campaign.updated"),
    (ChangeKind::Enabled, "campaign.enabled"),
    (ChangeKind::Disabled, "campaign.disabled"),
    (ChangeKind::Deleted, "campaign.deleted"),
];
const PROMOTION_TIER: &EventNames = &[
    (ChangeKind::Created, "campaign.promotion_tier.created"),
    (ChangeKind::Updated, "campaign.promotion_tier.updated"),
    (ChangeKind::Enabled, "campaign.promotion_tier.enabled"),
    (ChangeKind::Disabled, "campaign.promotion_tier.disabled"),
    (ChangeKind::Deleted, "campaign.promotion_tier.deleted"),
];
const PROMOTION_STACK: &EventNames = &[
    (ChangeKind::Created, "campaign.promotion_stack.created"),
    (ChangeKind::Updated, "campaign.promotion_stack.updated"),
];
const LOYALTY_TIER: &EventNames = &[
    (ChangeKind::Created, "campaign.loyalty_tier.created"),
    (ChangeKind::Updated, "campaign.loyalty_tier.updated"),
    (ChangeKind::Deleted, "campaign.loyalty_tier.deleted"),
];
const EARNING_RULE: &EventNames = &[
    (ChangeKind::Created, "campaign.earning_rule.assigned"),
    (ChangeKind::Updated, "campaign.earning_rule.updated"),
    (ChangeKind::Enabled, "campaign.earning_rule.enabled"),
    (ChangeKind::Disabled, "campaign.earning_rule.disabled"),
    (ChangeKind::Deleted, "campaign.earning_rule.deleted"),
];
const REWARD_ASSIGNMENT: &EventNames = &[
    (ChangeKind::Created, "campaign.reward.assignment.created"),
    (ChangeKind::Updated, "campaign.reward.assignment.updated"),
    (ChangeKind::Deleted, "campaign.reward.assignment.deleted"),
];
const RULE: &EventNames = &[
    (ChangeKind::Created, "business_validation_rule.created"),
    (ChangeKind::Updated, "business_validation_rule.updated"),
    (ChangeKind::Deleted, "business_validation_rule.deleted"),
];
const RULE_ASSIGNMENT: &EventNames = &[
    (ChangeKind::Created, "business_validation_rule.assignment.created"),
    (ChangeKind::Deleted, "business_validation_rule.assignment.deleted"),
];

impl EventBuilder<'_, '_> {
    fn add_change(&mut self, seen: &ParsedChange<'_>) -> Result<(), Fault> {
        let Some(known) = seen.known() else { return Ok(()) };
        match seen.kind {
            "customer" => self.say(seen, CUSTOMER, "evcus_", seen.id, |_| Ok(json!({ "customer": known.body }))),
            "voucher" => self.voucher(seen, known),
            "campaign" => self.campaign(seen, known),
            "async_action" => self.generation(seen, known),
            "order" => self.order(seen, known),
            "publication" => self.publication(seen, known),
            "redemption" => self.redemption(seen, known),
            "voucher_transaction" => self.transaction(seen, known),
            "pending_points_change" => self.pending(seen, known),
            "promotion_tier" => self.of_campaign(seen, known, PROMOTION_TIER, "promotion_tier"),
            "promotion_stack" => self.of_campaign(seen, known, PROMOTION_STACK, "promotion_stack"),
            "campaign_tier" => self.of_campaign(seen, known, LOYALTY_TIER, "loyalty_tier"),
            "earning_rule" => self.of_campaign(seen, known, EARNING_RULE, "earning_rule"),
            "reward_assignment" => self.reward_assignment(seen, known),
            "validation_rules" => self.rule(seen, known),
            "validation_rules_assignment" => self.rule_assignment(seen, known),
            "granted" => self.granted(known),
            _ => Ok(()),
        }
    }

    fn campaign(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let turn = seen.turn();
        self.say(seen, CAMPAIGN, "evcam_", seen.id, |builder| {
            Ok(match turn {
                Some(ChangeKind::Created) => json!({ "campaign": known.body, "created_at": builder.now }),
                Some(ChangeKind::Deleted) => json!({ "campaign": known.body, "deleted_at": builder.now }),
                _ => json!({ "campaign": known.body }),
            })
        })?;
        let status = |read: &Read| CampaignRecord::of(&read.body).generation_status().map(str::to_owned);
        let (Some(before), Some(after)) = (&seen.before, &seen.after) else { return Ok(()) };
        let (was, is) = (status(before), status(after));
        let (event, at) = match is.as_deref() {
            Some("DONE") if was != is => ("campaign.vouchers.generation.completed", "completed_at"),
            Some("FAILED") if was != is => ("campaign.vouchers.generation.failed", "failed_at"),
            _ => return Ok(()),
        };
        self.add(event, "evcam_", seen.id, seen.id, |builder| {
            let count = CampaignRecord::of(&after.body).vouchers_count();
            let mut data = json!({ "campaign": known.body, "count": count });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), builder.now.clone().into());
            }
            Ok(data)
        })
    }

    /// Adds the events of an order with its customer, and with the return if part of it was returned.
    fn order(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let before = seen.before.as_ref().map_or(0, |before| OrderRecord::of(&before.body).returns().len());
        let returned = OrderRecord::of(&known.body).returns().get(before);
        self.say(seen, &[(ChangeKind::Updated, "order.updated")], "evord_", seen.id, |builder| {
            let customer = builder.shown("customer", known.holder.as_deref())?;
            Ok(json!({ "order": known.body, "customer": customer, "return": returned }))
        })
    }

    /// Adds the event for the start of code generation: a new async action whose job names the campaign.
    fn generation(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let is_it = AsyncActionRecord::of(&known.body).action_type() == Some("CAMPAIGN.VOUCHERS_GENERATE");
        if !is_it || seen.turn() != Some(ChangeKind::Created) {
            return Ok(());
        }
        let Some(creation) = jobs::find_code_creation(self.store, seen.id)? else { return Ok(()) };
        let (campaign, count) = (creation.campaign_id.as_str(), creation.wanted);
        self.add("campaign.vouchers.generation.started", "evcam_", campaign, campaign, |builder| {
            let campaign = builder.shown("campaign", Some(campaign))?;
            Ok(json!({ "campaign": campaign, "count": count, "started_at": builder.now }))
        })
    }

    /// Adds the event for a document of a campaign; deletion with the campaign raises none.
    fn of_campaign(
        &mut self,
        seen: &ParsedChange<'_>,
        known: &Read,
        words: &EventNames,
        name: &str,
    ) -> Result<(), Fault> {
        let campaign = known.parent.as_deref();
        self.say(seen, words, "evcam_", campaign.unwrap_or(seen.id), |builder| {
            let mut data = json!({ "campaign": builder.shown("campaign", campaign)? });
            if let Some(data) = data.as_object_mut() {
                data.insert(name.to_owned(), Json::Object(known.body.clone()));
            }
            Ok(data)
        })
    }

    fn reward_assignment(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let campaign = known.holder.as_deref();
        self.say(seen, REWARD_ASSIGNMENT, "evcam_", campaign.unwrap_or(seen.id), |builder| {
            Ok(json!({
                "campaign": builder.shown("campaign", campaign)?, "reward": builder.shown("reward", known.parent.as_deref())?,
                "reward_assignment": known.body,
            }))
        })
    }

    fn rule(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let at = match seen.turn() {
            Some(ChangeKind::Created) => "created_at",
            Some(ChangeKind::Deleted) => "deleted_at",
            _ => "updated_at",
        };
        self.say(seen, RULE, "evbvr_", seen.id, |builder| {
            let mut data = json!({ "rule": known.body });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), builder.now.clone().into());
            }
            Ok(data)
        })
    }

    fn rule_assignment(&mut self, seen: &ParsedChange<'_>, known: &Read) -> Result<(), Fault> {
        let rule = known.holder.as_deref();
        self.say(seen, RULE_ASSIGNMENT, "evbvr_", rule.unwrap_or(seen.id), |builder| {
            let mut data = json!({ "rule": builder.shown("validation_rules", rule)?, "assignment": known.body });
            let related = known.parent.as_deref();
            for kind in ["voucher", "campaign", "promotion_tier", "earning_rule"] {
                let found = builder.shown(kind, related)?;
                if let Some(data) = data.as_object_mut().filter(|_| found.is_object()) {
                    data.insert(kind.to_owned(), found);
                }
            }
            Ok(data)
        })
    }
}
