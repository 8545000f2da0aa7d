//! Runs every vector of tiers against the native engine: a member's tier events and the final tier state. `UPDATE=1` pins the exact
//! answers, and `worker/tests/it/tier_vectors.rs` runs the same vectors through the service. Answers are compared as bytes, and with claims
//! that were written by hand.

use crate::support::test_report;
use crate::support::vector::{self, Vector};
use scrip::points::{Activity, CardDefinition, CardOutcome, Credit, DebitReason, Now, PointsCard};
use scrip::text::Text;
use scrip::tiers::{
    CardProgress, PriorPoints, TierChange, TierFacts, TierInputChange, TierOutcome, TierState, TierStructure,
};
use scrip::time::{Instant, TimeZone};
use scrip::wire::document::read_document;
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::tiers::{change_kind_name, read_tier, read_tier_structure};
use scrip::zones::named;
use serde_json::{Value, json};

fn instant_of(text: &Value) -> Instant {
    Instant::parse(text.as_str().unwrap()).unwrap()
}

/// The structure of a vector with its tiers, whose names are their ids.
fn structure(given: &Value) -> TierStructure {
    let mut document = given["structure"].clone();
    document["id"] = json!("lts_1");
    document["card_definition_id"] = json!("lcdef_1");
    let mut structure = read_document(&document.to_string(), read_tier_structure).unwrap();
    for tier in given["tiers"].as_array().unwrap() {
        let mut tier = tier.clone();
        tier["id"] = tier["name"].clone();
        structure.tiers.push(read_document(&tier.to_string(), read_tier).unwrap());
    }
    structure
}

/// A member with one card while its history runs.
struct Member<'a> {
    structure: &'a TierStructure,
    definition: CardDefinition,
    zone: &'a TimeZone,
    card: PointsCard,
    lots: usize,
    segments: Vec<Text>,
    state: TierState,
    changes: Vec<TierChange>,
}

impl Member<'_> {
    /// Moves on to an instant after a change of the card, with the other changes.
    fn advance_to(&mut self, at: Instant, outcome: CardOutcome, acts: bool) {
        let facts = TierFacts::of(&self.card, self.state.now.facts.segments.clone());
        let steps = [outcome.due, outcome.steps].concat();
        let mut changes = self.structure.changes(&facts, &steps);
        self.card = outcome.card;
        if acts || self.segments != facts.segments {
            let facts = TierFacts::of(&self.card, self.segments.clone());
            changes.push(TierInputChange { at, facts, is_active: acts });
        }
        self.apply_outcome(self.structure.advance(&self.state, &changes, at, self.zone));
    }

    fn apply_outcome(&mut self, moved: TierOutcome) {
        self.changes.retain(|change| Some(change.at) != moved.again);
        self.changes.extend(moved.transitions);
        self.state = moved.state;
    }

    fn apply_event(&mut self, event: &Value) {
        let at = instant_of(&event["at"]);
        let now = Now { at, zone: self.zone };
        self.lots += 1;
        let lot: Text = format!("lot{}", self.lots).as_str().into();
        let expiration = self.definition.expiration.clone();
        let arrival = Credit { lot: &lot, expiration: &expiration };
        let segment = |name: &str| event[name].as_str().map(Text::from);
        let mut acts = false;
        let outcome = if let Some(points) = event["earns"].as_u64() {
            self.card.earn(points, arrival, &self.definition.delay, &lot, &now)
        } else if let Some(points) = event["gets"].as_u64() {
            self.card.add(points, arrival, &now)
        } else if let Some(points) = event["loses"].as_u64() {
            self.card.take(DebitReason::Subtract { below_zero: false }, points, &now)
        } else if let Some(name) = event["sends"].as_str() {
            acts = self.structure.is_postponed_by(Activity::Custom(name));
            self.card.event(name, &now)
        } else {
            self.segments.extend(segment("enters"));
            self.segments.retain(|known| Some(known) != segment("leaves").as_ref());
            self.card.settle(&now)
        };
        self.advance_to(at, outcome.unwrap(), acts);
    }
}

/// The engine's answer.
fn answer(vector: &Vector) -> String {
    let (given, request): (Value, Value) =
        (serde_json::from_str(&vector.given).unwrap(), serde_json::from_str(&vector.request).unwrap());
    let zone = given["time_zone"].as_str().map_or(TimeZone::default(), |name| named(name).unwrap());
    let structure = structure(&given);
    let mut definition = json!({ "id": "lcdef_1" });
    if let Some(expiration) = given.get("points_expiration") {
        definition["points_expiration"] = expiration.clone();
    }
    let begin = instant_of(&given["begin"]);
    let mut member = Member {
        structure: &structure,
        definition: read_document(&definition.to_string(), read_card_definition).unwrap(),
        zone: &zone,
        card: PointsCard::default(),
        lots: 0,
        segments: Vec::new(),
        state: structure.start(begin, &TierFacts::default(), PriorPoints::default(), &zone),
        changes: Vec::new(),
    };
    let joins = TierInputChange { at: begin, facts: TierFacts::default(), is_active: false };
    member.apply_outcome(structure.advance(&member.state, &[joins], begin, &zone));
    for event in request["history"].as_array().unwrap() {
        member.apply_event(event);
    }
    let now = Now { at: Instant::parse(&vector.now).unwrap(), zone: &zone };
    let settled = member.card.settle(&now).unwrap();
    member.advance_to(now.at, settled, false);
    let future_changes = structure.future_changes(&member.card, &member.state.now.facts, &now);
    let progress = structure.progress(&member.state, &future_changes, now.at, &zone);
    let transactions: Vec<Value> = member.changes.iter().map(transition).collect();
    plain(json!({ "transactions": transactions, "progress": progress_to_json(&progress) })).to_string()
}

fn transition(change: &TierChange) -> Value {
    json!({
        "at": change.at.to_string(), "type": change_kind_name(change.change_kind), "from": change.from.as_deref(), "to": change.to.as_deref(),
        "points": change.points, "start_at": change.to.as_ref().map(|_| change.since.to_string()),
        "expires_at": change.until.map(|until| until.to_string()),
    })
}

fn progress_to_json(progress: &CardProgress<'_>) -> Value {
    let date = |at: Option<Instant>| at.map(|at| at.to_string());
    let current = progress.current.as_ref().map(|current| {
        json!({ "tier": current.tier.id.as_str(), "start_at": current.since.to_string(), "expires_at": date(current.until),
            "points": { "current": current.points, "min": current.tier.min, "max": current.tier.max } })
    });
    let deferred = progress.deferred.iter().map(|deferred| {
        json!({ "tier": deferred.tier.id.as_str(), "start_at": deferred.since.to_string(), "expires_at": date(deferred.until) })
    });
    let risks = progress.risk.iter().map(|risk| {
        let kind = if risk.to.is_some() { "TIER_DOWNGRADE" } else { "TIER_LEFT" };
        json!({ "type": kind, "date": risk.at.to_string(), "tier": risk.to.map(|tier| tier.id.as_str()) })
    });
    let opportunities = progress
        .opportunities
        .iter()
        .map(|one| json!({ "valid_until": date(one.until), "tier": one.tier.id.as_str(), "points": one.points }));
    json!({
        "current": current, "deferred": deferred.collect::<Vec<_>>(), "risks": risks.collect::<Vec<_>>(),
        "opportunities": opportunities.collect::<Vec<_>>(),
    })
}

/// Returns the value without its empty members.
fn plain(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            members.into_iter().filter(|(_, one)| !one.is_null()).map(|(name, one)| (name, plain(one))).collect()
        }
        Value::Array(items) => items.into_iter().map(plain).collect(),
        other => other,
    }
}

#[test]
fn every_tier_vector_gives_the_pinned_answer() {
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let vectors = vector::within(vector::TIERS, "");
    let check = |vector: &Vector| {
        let answer = answer(vector);
        if update { vector.pin(&answer).err() } else { vector.fault("tiers", &answer) }
    };
    let failures: Vec<String> = vectors.iter().filter_map(check).collect();
    let ran = vectors.len();
    assert!(failures.is_empty(), "{} of {ran} vectors fail\n  {}", failures.len(), failures.join("\n  "));
    test_report::record(&json!({ "kind": "vectors", "subject": "tiers", "ran": ran, "skipped": [] }));
}
