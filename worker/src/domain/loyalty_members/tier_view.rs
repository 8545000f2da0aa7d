//! JSON of tier transactions and of the progress through tiers.

use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::tier_state::{StoredTierState, derived};
use crate::store::document::Document;
use crate::timestamp;
use scrip::text::Text;
use scrip::tiers::{CardProgress, DeferredTier, DowngradeRisk, LoyaltyTier, NextTier, TierChange, TierPosition};
use scrip::time::Instant;
use scrip::wire::loyalty::tiers::passage_type;
use serde_json::{Value as Json, json};

/// Kind of the transactions of tiers; their parent is the member.
pub const TIER_TRANSACTION: &str = "tier_transaction";

/// Cause of a tier change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TierChangeOrigin {
    /// Points of the card changed.
    Card,
    /// Time passed, or the customer entered or left a segment.
    Time,
    /// The member got the card.
    Joining,
    /// The card was deleted with the member.
    Leaving,
}

impl TierChangeOrigin {
    fn word(self) -> &'static str {
        match self {
            TierChangeOrigin::Card => "card_operations",
            TierChangeOrigin::Time => "daily_task_operations",
            TierChangeOrigin::Joining => "member_card_created",
            TierChangeOrigin::Leaving => "member_card_deleted",
        }
    }
}

/// Returns the id of the tier transaction at an instant: there is at most one.
pub fn transaction_id(card: &str, stood: &StoredTierState, at: Instant) -> String {
    derived("lttx_", &[card, &stood.structure.id, &at.to_string()])
}

fn text(text: Option<&Text>) -> Json {
    text.map_or(Json::Null, |text| text.as_str().into())
}

fn date(at: Option<Instant>) -> Json {
    at.map_or(Json::Null, |at| at.to_string().into())
}

/// Returns the row of a tier transaction.
pub fn transaction(
    card: &Document,
    stood: &StoredTierState,
    details: &TierChange,
    origin: (TierChangeOrigin, &[String]),
) -> Document {
    let id = transaction_id(&card.id, stood, details.at);
    let own = |name: &str| card.body.get(name).cloned().unwrap_or(Json::Null);
    let at = details.at.millis();
    let body = json!({
        "id": id, "card_id": card.id, "program_id": own("program_id"), "member_id": card.parent,
        "card_definition_id": own("card_definition_id"), "tier_structure_id": stood.structure.id.as_str(),
        "tier_id": text(details.to.as_ref()), "type": passage_type(details.passage),
        "details": {
            "points": details.points, "tier_from": text(details.from.as_ref()), "tier_to": text(details.to.as_ref()),
            "origin": { "type": origin.0.word(), "card_transaction_ids": origin.1 }, "rejection": null,
            "start_at": details.to.as_ref().map(|_| details.since.to_string()), "expires_at": date(details.until),
        },
        "status": "APPROVED", "created_at": timestamp::text(at), "updated_at": null, "object": "tier_transaction",
    });
    let mut row = Document::new(id, None, at, body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (card.parent.clone(), card.holder.clone());
    row
}

fn tier(tier: &LoyaltyTier) -> Json {
    json!({ "id": tier.id.as_str(), "name": tier.name.as_str() })
}

/// Returns the progress of a card through the tiers. The card must be settled.
pub fn progress(held: &LoadedCard, present: &LocalTime) -> Json {
    let standing = held.stood.as_ref().and_then(|stood| Some((stood, stood.standing.as_ref()?)));
    let Some((stood, standing)) = standing else {
        return json!({
            "current": null, "tier_structure": null, "deferred": [], "risks": [], "opportunities": [],
            "object": "member_tier_progress",
        });
    };
    let structure = &stood.structure;
    let coming = structure.future_changes(&held.card, &standing.now.facts, &present.now());
    let details = structure.progress(standing, &coming, present.now().at, &present.zone);
    json!({
        "current": current(&details, &standing.now),
        "tier_structure": { "id": structure.id.as_str(), "object": "tier_structure" },
        "deferred": details.deferred.iter().map(deferred).collect::<Vec<_>>(),
        "risks": details.risk.iter().map(risk).collect::<Vec<_>>(),
        "opportunities": details.opportunities.iter().map(opportunity).collect::<Vec<_>>(),
        "object": "member_tier_progress",
    })
}

fn current(details: &CardProgress<'_>, position: &TierPosition) -> Json {
    let Some(current) = &details.current else { return Json::Null };
    let mut points = json!({ "current": current.points, "min": current.tier.min });
    if let (Some(max), Some(points)) = (current.tier.max, points.as_object_mut()) {
        points.insert("max".into(), max.into());
    }
    json!({
        "tier": tier(current.tier), "start_at": position.since.to_string(), "expires_at": date(current.until),
        "points": points,
    })
}

fn deferred(details: &DeferredTier<'_>) -> Json {
    json!({ "tier": tier(details.tier), "start_at": details.since.to_string(), "expires_at": date(details.until) })
}

fn risk(details: &DowngradeRisk<'_>) -> Json {
    let kind = if details.to.is_some() { "TIER_DOWNGRADE" } else { "TIER_LEFT" };
    json!({ "type": kind, "date": details.at.to_string(), "tier": details.to.map(tier) })
}

fn opportunity(details: &NextTier<'_>) -> Json {
    json!({ "valid_until": date(details.until), "tier": tier(details.tier), "points": details.points })
}
