//! JSON of tier transactions and of the progress through tiers.

use crate::domain::clock::LocalTime;
use crate::domain::loyalty_members::card::LoadedCard;
use crate::domain::loyalty_members::tier_state::{StoredTierState, derived_id};
use crate::store::document::Document;
use crate::timestamp;
use scrip::text::Text;
use scrip::tiers::{CardProgress, DeferredTier, DowngradeRisk, LoyaltyTier, NextTier, TierChange, TierPosition};
use scrip::time::Instant;
use scrip::wire::loyalty::tiers::change_kind_name;
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
    fn name(self) -> &'static str {
        match self {
            TierChangeOrigin::Card => "card_operations",
            TierChangeOrigin::Time => "daily_task_operations",
            TierChangeOrigin::Joining => "member_card_created",
            TierChangeOrigin::Leaving => "member_card_deleted",
        }
    }
}

/// Returns the id of the tier transaction at an instant: there is at most one.
pub fn transaction_id(card: &str, tier_state: &StoredTierState, at: Instant) -> String {
    derived_id("lttx_", &[card, &tier_state.structure.id, &at.to_string()])
}

fn text_json(text: Option<&Text>) -> Json {
    text.map_or(Json::Null, |text| text.as_str().into())
}

fn date_json(at: Option<Instant>) -> Json {
    at.map_or(Json::Null, |at| at.to_string().into())
}

/// Returns the row of a tier transaction; `causes` are the ids of the card transactions that led to it.
pub fn transaction_row(
    card: &Document,
    tier_state: &StoredTierState,
    change: &TierChange,
    origin: TierChangeOrigin,
    causes: &[String],
) -> Document {
    let id = transaction_id(&card.id, tier_state, change.at);
    let own = |name: &str| card.body.get(name).cloned().unwrap_or(Json::Null);
    let at = change.at.millis();
    let body = json!({
        "id": id, "card_id": card.id, "program_id": own("program_id"), "member_id": card.parent,
        "card_definition_id": own("card_definition_id"), "tier_structure_id": tier_state.structure.id.as_str(),
        "tier_id": text_json(change.to.as_ref()), "type": change_kind_name(change.change_kind),
        "details": {
            "points": change.points, "tier_from": text_json(change.from.as_ref()), "tier_to": text_json(change.to.as_ref()),
            "origin": { "type": origin.name(), "card_transaction_ids": causes }, "rejection": null,
            "start_at": change.to.as_ref().map(|_| change.since.to_string()), "expires_at": date_json(change.until),
        },
        "status": "APPROVED", "created_at": timestamp::text(at), "updated_at": null, "object": "tier_transaction",
    });
    let mut row = Document::new(id, None, at, body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (card.parent.clone(), card.holder.clone());
    row
}

fn tier_json(tier: &LoyaltyTier) -> Json {
    json!({ "id": tier.id.as_str(), "name": tier.name.as_str() })
}

/// Returns the progress of a card through the tiers. The card must be settled.
pub fn progress_json(loaded: &LoadedCard, present: &LocalTime) -> Json {
    let state = loaded.tier_state.as_ref().and_then(|tier_state| Some((tier_state, tier_state.state.as_ref()?)));
    let Some((tier_state, state)) = state else {
        return json!({
            "current": null, "tier_structure": null, "deferred": [], "risks": [], "opportunities": [],
            "object": "member_tier_progress",
        });
    };
    let structure = &tier_state.structure;
    let forecast = structure.future_changes(&loaded.card, &state.now.facts, &present.now());
    let progress = structure.progress(state, &forecast, present.now().at, &present.zone);
    json!({
        "current": current_json(&progress, &state.now),
        "tier_structure": { "id": structure.id.as_str(), "object": "tier_structure" },
        "deferred": progress.deferred.iter().map(deferred_json).collect::<Vec<_>>(),
        "risks": progress.risk.iter().map(risk_json).collect::<Vec<_>>(),
        "opportunities": progress.opportunities.iter().map(opportunity_json).collect::<Vec<_>>(),
        "object": "member_tier_progress",
    })
}

fn current_json(progress: &CardProgress<'_>, position: &TierPosition) -> Json {
    let Some(current) = &progress.current else { return Json::Null };
    let mut points = json!({ "current": current.points, "min": current.tier.min });
    if let (Some(max), Some(points)) = (current.tier.max, points.as_object_mut()) {
        points.insert("max".into(), max.into());
    }
    json!({
        "tier": tier_json(current.tier), "start_at": position.since.to_string(), "expires_at": date_json(current.until),
        "points": points,
    })
}

fn deferred_json(deferred: &DeferredTier<'_>) -> Json {
    json!({ "tier": tier_json(deferred.tier), "start_at": deferred.since.to_string(), "expires_at": date_json(deferred.until) })
}

fn risk_json(risk: &DowngradeRisk<'_>) -> Json {
    let kind = if risk.to.is_some() { "TIER_DOWNGRADE" } else { "TIER_LEFT" };
    json!({ "type": kind, "date": risk.at.to_string(), "tier": risk.to.map(tier_json) })
}

fn opportunity_json(opportunity: &NextTier<'_>) -> Json {
    json!({ "valid_until": date_json(opportunity.until), "tier": tier_json(opportunity.tier), "points": opportunity.points })
}
