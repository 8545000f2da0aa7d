//! Derives webhook events from changes of documents, by comparing the states before and after.
//!
//! Two published events have no cause here: `customer.confirmed` (there is no confirmation) and `campaign.referral_tier.*`
//! (referral programs have no tiers).

use crate::domain::webhooks::event::{
    ChangeKind, EventBuilder, EventNames, IsSubscribed, ParsedChange, ParsedDocument, WebhookEvent, read,
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
pub fn events_for(
    store: &Store<'_>,
    changes: &[DocumentChange],
    now: Instant,
    is_subscribed: IsSubscribed<'_>,
) -> Result<Vec<WebhookEvent>, Fault> {
    let mut builder =
        EventBuilder { store, changes, now: timestamp::text(now.millis()), at: now, is_subscribed, events: Vec::new() };
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
        let current = builder.events.len();
        builder.add_change(&ParsedChange { kind: &change.kind, id: &change.id, before, after })?;
        let details = builder.events.get(current..).unwrap_or_default();
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
    fn add_change(&mut self, parsed: &ParsedChange<'_>) -> Result<(), Fault> {
        let Some(current) = parsed.current() else { return Ok(()) };
        match parsed.kind {
            "customer" => self
                .add_change_event(parsed, CUSTOMER, "evcus_", parsed.id, |_| Ok(json!({ "customer": current.body }))),
            "voucher" => self.voucher(parsed, current),
            "campaign" => self.campaign(parsed, current),
            "async_action" => self.generation(parsed, current),
            "order" => self.order(parsed, current),
            "publication" => self.publication(parsed, current),
            "redemption" => self.redemption(parsed, current),
            "voucher_transaction" => self.transaction(parsed, current),
            "pending_points_change" => self.add_pending_points(parsed, current),
            "promotion_tier" => self.of_campaign(parsed, current, PROMOTION_TIER, "promotion_tier"),
            "promotion_stack" => self.of_campaign(parsed, current, PROMOTION_STACK, "promotion_stack"),
            "campaign_tier" => self.of_campaign(parsed, current, LOYALTY_TIER, "loyalty_tier"),
            "earning_rule" => self.of_campaign(parsed, current, EARNING_RULE, "earning_rule"),
            "reward_assignment" => self.reward_assignment(parsed, current),
            "validation_rules" => self.rule(parsed, current),
            "validation_rules_assignment" => self.rule_assignment(parsed, current),
            "granted" => self.add_referral_reward(current),
            _ => Ok(()),
        }
    }

    fn campaign(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let change_kind = parsed.change_kind();
        self.add_change_event(parsed, CAMPAIGN, "evcam_", parsed.id, |builder| {
            Ok(match change_kind {
                Some(ChangeKind::Created) => json!({ "campaign": current.body, "created_at": builder.now }),
                Some(ChangeKind::Deleted) => json!({ "campaign": current.body, "deleted_at": builder.now }),
                _ => json!({ "campaign": current.body }),
            })
        })?;
        let status = |read: &ParsedDocument| CampaignRecord::of(&read.body).generation_status().map(str::to_owned);
        let (Some(before), Some(after)) = (&parsed.before, &parsed.after) else { return Ok(()) };
        let (was, is) = (status(before), status(after));
        let (event, at) = match is.as_deref() {
            Some("DONE") if was != is => ("campaign.vouchers.generation.completed", "completed_at"),
            Some("FAILED") if was != is => ("campaign.vouchers.generation.failed", "failed_at"),
            _ => return Ok(()),
        };
        self.add(event, "evcam_", parsed.id, parsed.id, |builder| {
            let count = CampaignRecord::of(&after.body).vouchers_count();
            let mut data = json!({ "campaign": current.body, "count": count });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), builder.now.clone().into());
            }
            Ok(data)
        })
    }

    /// Adds the events of an order with its customer, and with the return if part of it was returned.
    fn order(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let before = parsed.before.as_ref().map_or(0, |before| OrderRecord::of(&before.body).returns().len());
        let returned = OrderRecord::of(&current.body).returns().get(before);
        self.add_change_event(parsed, &[(ChangeKind::Updated, "order.updated")], "evord_", parsed.id, |builder| {
            let customer = builder.document_json("customer", current.holder.as_deref())?;
            Ok(json!({ "order": current.body, "customer": customer, "return": returned }))
        })
    }

    /// Adds the event for the start of code generation: a new async action whose job names the campaign.
    fn generation(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let is_it = AsyncActionRecord::of(&current.body).action_type() == Some("CAMPAIGN.VOUCHERS_GENERATE");
        if !is_it || parsed.change_kind() != Some(ChangeKind::Created) {
            return Ok(());
        }
        let Some(creation) = jobs::find_code_creation(self.store, parsed.id)? else { return Ok(()) };
        let (campaign, count) = (creation.campaign_id.as_str(), creation.wanted);
        self.add("campaign.vouchers.generation.started", "evcam_", campaign, campaign, |builder| {
            let campaign = builder.document_json("campaign", Some(campaign))?;
            Ok(json!({ "campaign": campaign, "count": count, "started_at": builder.now }))
        })
    }

    /// Adds the event for a document of a campaign; deletion with the campaign raises none.
    fn of_campaign(
        &mut self,
        parsed: &ParsedChange<'_>,
        current: &ParsedDocument,
        words: &EventNames,
        name: &str,
    ) -> Result<(), Fault> {
        let campaign = current.parent.as_deref();
        self.add_change_event(parsed, words, "evcam_", campaign.unwrap_or(parsed.id), |builder| {
            let mut data = json!({ "campaign": builder.document_json("campaign", campaign)? });
            if let Some(data) = data.as_object_mut() {
                data.insert(name.to_owned(), Json::Object(current.body.clone()));
            }
            Ok(data)
        })
    }

    fn reward_assignment(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let campaign = current.holder.as_deref();
        self.add_change_event(parsed, REWARD_ASSIGNMENT, "evcam_", campaign.unwrap_or(parsed.id), |builder| {
            Ok(json!({
                "campaign": builder.document_json("campaign", campaign)?, "reward": builder.document_json("reward", current.parent.as_deref())?,
                "reward_assignment": current.body,
            }))
        })
    }

    fn rule(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let at = match parsed.change_kind() {
            Some(ChangeKind::Created) => "created_at",
            Some(ChangeKind::Deleted) => "deleted_at",
            _ => "updated_at",
        };
        self.add_change_event(parsed, RULE, "evbvr_", parsed.id, |builder| {
            let mut data = json!({ "rule": current.body });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), builder.now.clone().into());
            }
            Ok(data)
        })
    }

    fn rule_assignment(&mut self, parsed: &ParsedChange<'_>, current: &ParsedDocument) -> Result<(), Fault> {
        let rule = current.holder.as_deref();
        self.add_change_event(parsed, RULE_ASSIGNMENT, "evbvr_", rule.unwrap_or(parsed.id), |builder| {
            let mut data =
                json!({ "rule": builder.document_json("validation_rules", rule)?, "assignment": current.body });
            let related = current.parent.as_deref();
            for kind in ["voucher", "campaign", "promotion_tier", "earning_rule"] {
                let found = builder.document_json(kind, related)?;
                if let Some(data) = data.as_object_mut().filter(|_| found.is_object()) {
                    data.insert(kind.to_owned(), found);
                }
            }
            Ok(data)
        })
    }
}
