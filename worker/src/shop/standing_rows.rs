//! What is told of tiers: what happened to a member's tier, and the way through the tiers. It must not know how any of it is found or
//! written.

use crate::moment;
use crate::shop::cards::{Held, Present};
use crate::shop::standings::{Stood, derived};
use crate::store::document::Document;
use scrip::text::Text;
use scrip::tiers::{Deferred, Opportunity, Position, Progress, Risk, Tier, Transition};
use scrip::time::Instant;
use scrip::wire::loyalty::tiers::passage_type;
use serde_json::{Value as Json, json};

/// The kind of the rows of what happened to tiers, whose parent is their member.
pub const TIER_TRANSACTION: &str = "tier_transaction";

/// What made a tier change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Points of the card moved.
    Card,
    /// Time passed, or somebody came into a segment or left one.
    Time,
    /// The member got the card.
    Joining,
    /// The card is gone with the member.
    Leaving,
}

impl Origin {
    fn word(self) -> &'static str {
        match self {
            Origin::Card => "card_operations",
            Origin::Time => "daily_task_operations",
            Origin::Joining => "member_card_created",
            Origin::Leaving => "member_card_deleted",
        }
    }
}

/// The id of what happened to a standing at a moment: there is one thing at most.
pub fn transaction_id(card: &str, stood: &Stood, at: Instant) -> String {
    derived("lttx_", &[card, &stood.structure.id, &at.to_string()])
}

fn text(text: Option<&Text>) -> Json {
    text.map_or(Json::Null, |text| text.as_str().into())
}

fn date(at: Option<Instant>) -> Json {
    at.map_or(Json::Null, |at| at.to_string().into())
}

/// The row of what happened.
pub fn transaction(card: &Document, stood: &Stood, told: &Transition, origin: (Origin, &[String])) -> Document {
    let id = transaction_id(&card.id, stood, told.at);
    let own = |name: &str| card.body.get(name).cloned().unwrap_or(Json::Null);
    let at = told.at.millis();
    let body = json!({
        "id": id, "card_id": card.id, "program_id": own("program_id"), "member_id": card.parent,
        "card_definition_id": own("card_definition_id"), "tier_structure_id": stood.structure.id.as_str(),
        "tier_id": text(told.to.as_ref()), "type": passage_type(told.passage),
        "details": {
            "points": told.points, "tier_from": text(told.from.as_ref()), "tier_to": text(told.to.as_ref()),
            "origin": { "type": origin.0.word(), "card_transaction_ids": origin.1 }, "rejection": null,
            "start_at": told.to.as_ref().map(|_| told.since.to_string()), "expires_at": date(told.until),
        },
        "status": "APPROVED", "created_at": moment::text(at), "updated_at": null, "object": "tier_transaction",
    });
    let mut row = Document::new(id, None, at, body.as_object().cloned().unwrap_or_default());
    (row.parent, row.holder) = (card.parent.clone(), card.holder.clone());
    row
}

fn tier(tier: &Tier) -> Json {
    json!({ "id": tier.id.as_str(), "name": tier.name.as_str() })
}

/// The way of a card through the tiers, on which nothing is due.
pub fn progress(held: &Held, present: &Present) -> Json {
    let standing = held.stood.as_ref().and_then(|stood| Some((stood, stood.standing.as_ref()?)));
    let Some((stood, standing)) = standing else {
        return json!({
            "current": null, "tier_structure": null, "deferred": [], "risks": [], "opportunities": [],
            "object": "member_tier_progress",
        });
    };
    let structure = &stood.structure;
    let coming = structure.coming(&held.card, &standing.now.facts, &present.now());
    let told = structure.progress(standing, &coming, present.now().at, &present.zone);
    json!({
        "current": current(&told, &standing.now),
        "tier_structure": { "id": structure.id.as_str(), "object": "tier_structure" },
        "deferred": told.deferred.iter().map(deferred).collect::<Vec<_>>(),
        "risks": told.risk.iter().map(risk).collect::<Vec<_>>(),
        "opportunities": told.opportunities.iter().map(opportunity).collect::<Vec<_>>(),
        "object": "member_tier_progress",
    })
}

fn current(told: &Progress<'_>, position: &Position) -> Json {
    let Some(current) = &told.current else { return Json::Null };
    let mut points = json!({ "current": current.points, "min": current.tier.min });
    if let (Some(max), Some(points)) = (current.tier.max, points.as_object_mut()) {
        points.insert("max".into(), max.into());
    }
    json!({
        "tier": tier(current.tier), "start_at": position.since.to_string(), "expires_at": date(current.until),
        "points": points,
    })
}

fn deferred(told: &Deferred<'_>) -> Json {
    json!({ "tier": tier(told.tier), "start_at": told.since.to_string(), "expires_at": date(told.until) })
}

fn risk(told: &Risk<'_>) -> Json {
    let kind = if told.to.is_some() { "TIER_DOWNGRADE" } else { "TIER_LEFT" };
    json!({ "type": kind, "date": told.at.to_string(), "tier": told.to.map(tier) })
}

fn opportunity(told: &Opportunity<'_>) -> Json {
    json!({ "valid_until": date(told.until), "tier": tier(told.tier), "points": told.points })
}
