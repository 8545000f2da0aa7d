//! What it means that documents changed, in the words of events: found by holding each as it was against what it is. It must not know
//! who changed them, nor who is told.
//!
//! Of the published events these have no cause here: `customer.confirmed` (nobody confirms anything), `campaign.referral_tier.*` (programs
//! have no tiers of referrals).

use crate::moment;
use crate::shop::teller::{Chosen, Happening, Read, Seen, Teller, Turn, Words, read};
use crate::store::Store;
use crate::store::changes::{Change, leads_to};
use crate::store::sql::{self, Fault};
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// What happened by changes that are in the tables by now, in their order.
pub fn happened(
    store: &Store<'_>,
    changes: &[Change],
    now: Instant,
    chosen: Chosen<'_>,
) -> Result<Vec<Happening>, Fault> {
    let mut teller = Teller { store, changes, now: moment::text(now.millis()), chosen, told: Vec::new() };
    for (place, change) in changes.iter().enumerate() {
        // A document that changed twice is told of once, as it was at first and as it is.
        let is_same = |other: &&Change| other.kind == change.kind && other.id == change.id;
        if change.kind != "granted" && changes.iter().take(place).any(|other| is_same(&other)) {
            continue;
        }
        let last = changes.iter().rev().find(is_same).unwrap_or(change);
        let before = change.before.as_ref().map(read).transpose()?;
        let after = last.after.as_ref().filter(|_| change.kind != "granted").or(change.after.as_ref());
        let after = after.map(read).transpose()?;
        let known = teller.told.len();
        teller.tell(&Seen { kind: &change.kind, id: &change.id, before, after })?;
        let told = teller.told.get(known..).unwrap_or_default();
        // Whoever had chosen this event alone would not be told.
        debug_assert!(told.iter().all(|told| leads_to(&change.kind, told.event)), "{} tells {told:?}", change.kind);
    }
    Ok(teller.told)
}

const CUSTOMER: &Words =
    &[(Turn::Created, "customer.created"), (Turn::Updated, "customer.updated"), (Turn::Deleted, "customer.deleted")];
const CAMPAIGN: &Words = &[
    (Turn::Created, "campaign.created"),
    (Turn::Updated, "campaign.updated"),
    (Turn::Enabled, "campaign.enabled"),
    (Turn::Disabled, "campaign.disabled"),
    (Turn::Deleted, "campaign.deleted"),
];
const PROMOTION_TIER: &Words = &[
    (Turn::Created, "campaign.promotion_tier.created"),
    (Turn::Updated, "campaign.promotion_tier.updated"),
    (Turn::Enabled, "campaign.promotion_tier.enabled"),
    (Turn::Disabled, "campaign.promotion_tier.disabled"),
    (Turn::Deleted, "campaign.promotion_tier.deleted"),
];
const PROMOTION_STACK: &Words =
    &[(Turn::Created, "campaign.promotion_stack.created"), (Turn::Updated, "campaign.promotion_stack.updated")];
const LOYALTY_TIER: &Words = &[
    (Turn::Created, "campaign.loyalty_tier.created"),
    (Turn::Updated, "campaign.loyalty_tier.updated"),
    (Turn::Deleted, "campaign.loyalty_tier.deleted"),
];
const EARNING_RULE: &Words = &[
    (Turn::Created, "campaign.earning_rule.assigned"),
    (Turn::Updated, "campaign.earning_rule.updated"),
    (Turn::Enabled, "campaign.earning_rule.enabled"),
    (Turn::Disabled, "campaign.earning_rule.disabled"),
    (Turn::Deleted, "campaign.earning_rule.deleted"),
];
const REWARD_ASSIGNMENT: &Words = &[
    (Turn::Created, "campaign.reward.assignment.created"),
    (Turn::Updated, "campaign.reward.assignment.updated"),
    (Turn::Deleted, "campaign.reward.assignment.deleted"),
];
const RULE: &Words = &[
    (Turn::Created, "business_validation_rule.created"),
    (Turn::Updated, "business_validation_rule.updated"),
    (Turn::Deleted, "business_validation_rule.deleted"),
];
const RULE_ASSIGNMENT: &Words = &[
    (Turn::Created, "business_validation_rule.assignment.created"),
    (Turn::Deleted, "business_validation_rule.assignment.deleted"),
];

impl Teller<'_, '_> {
    fn tell(&mut self, seen: &Seen<'_>) -> Result<(), Fault> {
        let Some(known) = seen.known() else { return Ok(()) };
        match seen.kind {
            "customer" => self.say(seen, CUSTOMER, "evcus_", seen.id, |_| Ok(json!({ "customer": known.body }))),
            "voucher" => self.voucher(seen, known),
            "campaign" => self.campaign(seen, known),
            "async_action" => self.generation(seen, known),
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

    fn campaign(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let turn = seen.turn();
        self.say(seen, CAMPAIGN, "evcam_", seen.id, |teller| {
            Ok(match turn {
                Some(Turn::Created) => json!({ "campaign": known.body, "created_at": teller.now }),
                Some(Turn::Deleted) => json!({ "campaign": known.body, "deleted_at": teller.now }),
                _ => json!({ "campaign": known.body }),
            })
        })?;
        let status =
            |read: &Read| read.body.get("vouchers_generation_status").and_then(Json::as_str).map(str::to_owned);
        let (Some(before), Some(after)) = (&seen.before, &seen.after) else { return Ok(()) };
        let (was, is) = (status(before), status(after));
        let (event, at) = match is.as_deref() {
            Some("DONE") if was != is => ("campaign.vouchers.generation.completed", "completed_at"),
            Some("FAILED") if was != is => ("campaign.vouchers.generation.failed", "failed_at"),
            _ => return Ok(()),
        };
        self.add((event, "evcam_"), (seen.id, seen.id), |teller| {
            let count = after.body.get("vouchers_count").cloned().unwrap_or_default();
            let mut data = json!({ "campaign": known.body, "count": count });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), teller.now.clone().into());
            }
            Ok(data)
        })
    }

    /// The making of codes begins as an async action, whose job says of which campaign.
    fn generation(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let is_it = known.body.get("type").and_then(Json::as_str) == Some("CAMPAIGN.VOUCHERS_GENERATE");
        if !is_it || seen.turn() != Some(Turn::Created) {
            return Ok(());
        }
        let row = self.store.row(
            "SELECT json_extract(cursor, '$.campaign_id'), CAST(json_extract(cursor, '$.wanted') AS INTEGER) FROM due WHERE id = +?1",
            &[seen.id.into()],
        )?;
        let Some(row) = row else { return Ok(()) };
        let (campaign, count) = (sql::text(&row, 0)?, sql::int(&row, 1)?);
        self.add(("campaign.vouchers.generation.started", "evcam_"), (campaign, campaign), |teller| {
            let campaign = teller.shown("campaign", Some(campaign))?;
            Ok(json!({ "campaign": campaign, "count": count, "started_at": teller.now }))
        })
    }

    /// A document that belongs to a campaign; of one that goes with its campaign nothing is told.
    fn of_campaign(&mut self, seen: &Seen<'_>, known: &Read, words: &Words, name: &str) -> Result<(), Fault> {
        let campaign = known.parent.as_deref();
        self.say(seen, words, "evcam_", campaign.unwrap_or(seen.id), |teller| {
            let mut data = json!({ "campaign": teller.shown("campaign", campaign)? });
            if let Some(data) = data.as_object_mut() {
                data.insert(name.to_owned(), Json::Object(known.body.clone()));
            }
            Ok(data)
        })
    }

    fn reward_assignment(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let campaign = known.holder.as_deref();
        self.say(seen, REWARD_ASSIGNMENT, "evcam_", campaign.unwrap_or(seen.id), |teller| {
            Ok(json!({
                "campaign": teller.shown("campaign", campaign)?, "reward": teller.shown("reward", known.parent.as_deref())?,
                "reward_assignment": known.body,
            }))
        })
    }

    fn rule(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let at = match seen.turn() {
            Some(Turn::Created) => "created_at",
            Some(Turn::Deleted) => "deleted_at",
            _ => "updated_at",
        };
        self.say(seen, RULE, "evbvr_", seen.id, |teller| {
            let mut data = json!({ "rule": known.body });
            if let Some(data) = data.as_object_mut() {
                data.insert(at.to_owned(), teller.now.clone().into());
            }
            Ok(data)
        })
    }

    fn rule_assignment(&mut self, seen: &Seen<'_>, known: &Read) -> Result<(), Fault> {
        let rule = known.holder.as_deref();
        self.say(seen, RULE_ASSIGNMENT, "evbvr_", rule.unwrap_or(seen.id), |teller| {
            let mut data = json!({ "rule": teller.shown("validation_rules", rule)?, "assignment": known.body });
            let related = known.parent.as_deref();
            for kind in ["voucher", "campaign", "promotion_tier", "earning_rule"] {
                let found = teller.shown(kind, related)?;
                if let Some(data) = data.as_object_mut().filter(|_| found.is_object()) {
                    data.insert(kind.to_owned(), found);
                }
            }
            Ok(data)
        })
    }
}
