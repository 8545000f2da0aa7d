//! Runs every vector of tiers against the native engine: what is told of a member's way through the tiers, and what is said of it in
//! the end. `UPDATE=1` pins the exact answers; `worker/tests/tiers.rs` plays the same through the service.
//! It must not know how the engine decides: it compares bytes, and claims that were written by hand.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a trial may fail"
)]

mod support;

use scrip::points::{Activity, Arrival, Card, CardDefinition, Now, Outcome, Take};
use scrip::text::Text;
use scrip::tiers::{Change, Earlier, Facts, Moved, Progress, Standing, Structure, Transition};
use scrip::time::{Instant, TimeZone};
use scrip::wire::document::read_document;
use scrip::wire::loyalty::card_definition::read_card_definition;
use scrip::wire::loyalty::tiers::{passage_type, read_tier, read_tier_structure};
use scrip::zones::named;
use serde_json::{Value, json};
use support::tally;
use support::vector::{self, Vector};

fn moment(text: &Value) -> Instant {
    Instant::parse(text.as_str().unwrap()).unwrap()
}

/// The structure of a vector with its tiers, whose names are their ids.
fn structure(given: &Value) -> Structure {
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

/// A member with one card, on the way.
struct Member<'a> {
    structure: &'a Structure,
    definition: CardDefinition,
    zone: &'a TimeZone,
    card: Card,
    lots: usize,
    segments: Vec<Text>,
    standing: Standing,
    told: Vec<Transition>,
}

impl Member<'_> {
    /// Moves on to a moment behind what became of the card, and what changed besides.
    fn go(&mut self, at: Instant, outcome: Outcome, acts: bool) {
        let facts = Facts::of(&self.card, self.standing.now.facts.segments.clone());
        let steps = [outcome.due, outcome.steps].concat();
        let mut changes = self.structure.changes(&facts, &steps);
        self.card = outcome.card;
        if acts || self.segments != facts.segments {
            let facts = Facts::of(&self.card, self.segments.clone());
            changes.push(Change { at, facts, is_active: acts });
        }
        self.take(self.structure.advance(&self.standing, &changes, at, self.zone));
    }

    fn take(&mut self, moved: Moved) {
        self.told.retain(|told| Some(told.at) != moved.again);
        self.told.extend(moved.transitions);
        self.standing = moved.standing;
    }

    fn happen(&mut self, event: &Value) {
        let at = moment(&event["at"]);
        let now = Now { at, zone: self.zone };
        self.lots += 1;
        let lot: Text = format!("lot{}", self.lots).as_str().into();
        let expiration = self.definition.expiration.clone();
        let arrival = Arrival { lot: &lot, expiration: &expiration };
        let segment = |name: &str| event[name].as_str().map(Text::from);
        let mut acts = false;
        let outcome = if let Some(points) = event["earns"].as_u64() {
            self.card.earn(points, arrival, (&self.definition.delay, &lot), &now)
        } else if let Some(points) = event["gets"].as_u64() {
            self.card.add(points, arrival, &now)
        } else if let Some(points) = event["loses"].as_u64() {
            self.card.take(Take::Subtract { below_zero: false }, points, &now)
        } else if let Some(name) = event["tells"].as_str() {
            acts = self.structure.is_put_off_by(Activity::Custom(name));
            self.card.event(name, &now)
        } else {
            self.segments.extend(segment("enters"));
            self.segments.retain(|known| Some(known) != segment("leaves").as_ref());
            self.card.settle(&now)
        };
        self.go(at, outcome.unwrap(), acts);
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
    let begin = moment(&given["begin"]);
    let mut member = Member {
        structure: &structure,
        definition: read_document(&definition.to_string(), read_card_definition).unwrap(),
        zone: &zone,
        card: Card::default(),
        lots: 0,
        segments: Vec::new(),
        standing: structure.begin(begin, &Facts::default(), Earlier::default(), &zone),
        told: Vec::new(),
    };
    let joins = Change { at: begin, facts: Facts::default(), is_active: false };
    member.take(structure.advance(&member.standing, &[joins], begin, &zone));
    for event in request["history"].as_array().unwrap() {
        member.happen(event);
    }
    let now = Now { at: Instant::parse(&vector.now).unwrap(), zone: &zone };
    let settled = member.card.settle(&now).unwrap();
    member.go(now.at, settled, false);
    let coming = structure.coming(&member.card, &member.standing.now.facts, &now);
    let progress = structure.progress(&member.standing, &coming, now.at, &zone);
    let told: Vec<Value> = member.told.iter().map(transition).collect();
    plain(json!({ "transactions": told, "progress": told_of(&progress) })).to_string()
}

fn transition(told: &Transition) -> Value {
    json!({
        "at": told.at.to_string(), "type": passage_type(told.passage), "from": told.from.as_deref(), "to": told.to.as_deref(),
        "points": told.points, "start_at": told.to.as_ref().map(|_| told.since.to_string()),
        "expires_at": told.until.map(|until| until.to_string()),
    })
}

fn told_of(progress: &Progress<'_>) -> Value {
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

/// Without the members that say nothing.
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
fn every_vector_of_tiers_holds() {
    let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
    let vectors = vector::within(vector::TIERS, "");
    let check = |vector: &Vector| {
        let answer = answer(vector);
        if update { vector.pin(&answer).err() } else { vector.fault("tiers", &answer) }
    };
    let failures: Vec<String> = vectors.iter().filter_map(check).collect();
    let ran = vectors.len();
    assert!(failures.is_empty(), "{} of {ran} vectors fail\n  {}", failures.len(), failures.join("\n  "));
    tally::record(&json!({ "kind": "vectors", "subject": "tiers", "ran": ran, "skipped": [] }));
}
