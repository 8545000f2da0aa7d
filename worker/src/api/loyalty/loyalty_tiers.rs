//! The tiers of a structure: who is in each, by points and by segments. Ranges never overlap. It must not know who is in one.

use crate::api::loyalty::given;
use crate::api::loyalty::tier_structures::STRUCTURE;
use crate::document::clause::Clause;
use crate::document::cursors;
use crate::document::fields::LIMIT;
use crate::document::merge::{merge, reset_nulls};
use crate::document::resource::show_body;
use crate::document::shapes::tiers as shapes;
use crate::http::listing::{CURSOR_ASKED, List, column, orders_asked};
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, shown};
use crate::moment;
use crate::shop::lives::{EARNING_RULE, TIER, TIER_STRUCTURE, state_of};
use crate::shop::{activities, hindrance, lifecycle, lives, metadata_schemas};
use crate::store::document::Document;
use scrip::lifecycle::{Need, State};
use scrip::text::Decimal;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Tiers of one structure.
const TIERS_MAX: usize = 100;
/// Digits after the point that bounds of points may have.
const DECIMALS: i64 = 6;
const RULES: &str = "qualification_rules";

const ALL: &str = "/v2/loyalties/tier-structures/{tierStructureId}/tiers";
const ONE: &str = "/v2/loyalties/tier-structures/{tierStructureId}/tiers/{tierId}";

/// How tiers are listed.
const LIST: List = List::by_cursor(&[column::AGE, column::NAME], &[]);

const LISTED: &[Field] = &[LIMIT, ORDER, CURSOR_ASKED];
const ORDER: Field = orders_asked(&Kind::OneOf(&["created_at", "-created_at", "name", "-name"]));

const fn tier(route: Route) -> Route {
    route.of_life(&STRUCTURE, &TIER_STRUCTURE).scope("loyalties").answers(200, shapes::TIER)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    tier(get(ALL, "List the tiers of a structure", list)).pages(shapes::TIER).query(LISTED),
    tier(post(ALL, "Create a tier of a structure that is a draft", create)).body(shapes::TIER_CREATED),
    tier(put(ONE, "Update a tier", update)).body(shapes::TIER_CHANGED),
    tier(delete(ONE, "Delete a tier of a structure that is a draft", remove)),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let structure = lives::find(call)?;
    let mut clause = Clause::of_kind(TIER).at(call.now_ms());
    clause.and("parent = {}", structure.id);
    cursors::page(call, &LIST, "lcrst_", clause, show_body)
}

fn defaults() -> Map<String, Json> {
    let defaults = json!({ "downgrade": { "type": "INHERIT" }, "metadata": {} });
    defaults.as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    let structure = lives::find(call)?;
    check_draft(&structure, "create")?;
    let beside = tiers_of(call, &structure.id)?;
    if beside.len() >= TIERS_MAX {
        let told = format!("Tier structure must NOT have more than {TIERS_MAX} tiers");
        return Err(invalid_payload(told).into());
    }
    older(&mut sent)?;
    check_rules(call, &sent, &beside)?;
    let id = call.ids.hex18("lt_").to_string();
    let mut body = defaults();
    merge(&mut body, sent);
    body.insert("id".into(), id.as_str().into());
    body.insert("tier_structure_id".into(), structure.id.as_str().into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "tier".into());
    let mut tier = Document::new(id, None, call.now_ms(), body);
    tier.parent = Some(structure.id.clone());
    metadata_schemas::check(call.store, &[("tier", tier.body.get("metadata"))])?;
    call.store.insert(TIER, &tier);
    answer(call, &structure, tier, "created")
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let structure = lives::find(call)?;
    let mut tier = find(call, &structure)?;
    lifecycle::check_edits(call, &TIER_STRUCTURE, &structure, &sent)?;
    reset_nulls(&mut sent, &defaults());
    older(&mut sent)?;
    let mut beside = tiers_of(call, &structure.id)?;
    beside.retain(|other| other.id != tier.id);
    check_rules(call, &sent, &beside)?;
    merge(&mut tier.body, sent);
    call.touch(&mut tier);
    metadata_schemas::check(call.store, &[("tier", tier.body.get("metadata"))])?;
    call.store.update(TIER, &tier);
    answer(call, &structure, tier, "updated")
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let structure = lives::find(call)?;
    let mut tier = find(call, &structure)?;
    check_draft(&structure, "delete")?;
    check_unused(call, &tier)?;
    call.touch(&mut tier);
    call.store.retire(TIER, &tier);
    answer(call, &structure, tier, "deleted")
}

/// Answers a tier, and writes down what happened to it as something that happened to its structure.
fn answer(call: &mut Call<'_, '_>, structure: &Document, tier: Document, what: &str) -> Outcome {
    let data = json!({ "tier_structure": structure.body, "tier": tier.body });
    activities::note(call, &TIER_STRUCTURE, &structure.id, &format!("tier.{what}"), data);
    Ok(Answer::json(Json::Object(tier.body)))
}

fn find(call: &Call<'_, '_>, structure: &Document) -> Result<Document, CallError> {
    let id = call.param("tierId");
    let tier = call.store.document(TIER, id)?.filter(|tier| tier.parent.as_ref() == Some(&structure.id));
    Ok(tier.ok_or_else(|| not_found("vl_tier", id))?)
}

/// Every tier of a structure.
fn tiers_of(call: &Call<'_, '_>, structure: &str) -> Result<Vec<Document>, CallError> {
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document WHERE kind = +?1 AND parent = +?2 ORDER BY seq",
        &[TIER.into(), structure.into()],
    )?;
    Ok(found)
}

/// Tiers come and go while their structure is being written: members are in those of one that acts.
fn check_draft(structure: &Document, doing: &str) -> Result<(), CallError> {
    match state_of(structure)? {
        State::Draft => Ok(()),
        state => {
            let told = format!("Cannot {doing} tier of tier structure from current state: '{}'", state.word());
            Err(error(400, "invalid_state_transition", "Invalid state transition", told).into())
        }
    }
}

/// Refuses to take a tier away whose members an earning rule is for.
fn check_unused(call: &Call<'_, '_>, tier: &Document) -> Result<(), CallError> {
    let rules = hindrance::rules_for(call.store, &tier.id)?;
    if rules.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
    let mut body = ErrorBody::from(Need::NoRule.denial("delete tier", &ids)).about("vl_tier", &tier.id);
    body.related_object_total = i64::try_from(ids.len()).ok();
    body.related_object_ids = ids.into_iter().take(10).collect();
    body.related_object_type = Some(EARNING_RULE.resource_type());
    Err(body.into())
}

/// Puts what was sent in the older form.
fn older(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    let Some(rules) = sent.get_mut(RULES).and_then(Json::as_object_mut) else { return Ok(()) };
    if let Some(Json::Object(points)) = rules.remove("points") {
        if let Some(name) = ["min_value", "max_value"].into_iter().find(|name| rules.contains_key(*name)) {
            return Err(Problem::at(format!("{RULES}.{name}"), "must NOT be present together with points"));
        }
        rules.extend(points);
    }
    let kind = given::text(rules, "type").to_owned();
    let has = |name: &str| rules.contains_key(name);
    match (kind.as_str(), has("min_value"), has("segment")) {
        ("POINTS", _, true) => {
            return Err(Problem::at(format!("{RULES}.segment"), "must NOT be present where type is POINTS"));
        }
        ("POINTS", false, _) => return Err(Problem::missing(RULES, "min_value")),
        ("POINTS_AND_SEGMENT", false, _) => return Err(Problem::missing(RULES, "points")),
        ("POINTS", ..) | (_, _, true) => {}
        _ => return Err(Problem::missing(RULES, "segment")),
    }
    if kind == "POINTS_AND_SEGMENT" {
        rules.insert("type".into(), "SEGMENT".into());
    }
    rules.entry("min_value").or_insert(json!(0));
    for name in ["max_value", "segment"] {
        rules.entry(name).or_insert(Json::Null);
    }
    Ok(())
}

/// Checks who is in a tier: the segment is there, and no other tier has some of its points.
fn check_rules(call: &Call<'_, '_>, sent: &Map<String, Json>, others: &[Document]) -> Result<(), CallError> {
    let Some(rules) = sent.get(RULES).and_then(Json::as_object) else { return Ok(()) };
    if let Some(id) = rules.get("segment").and_then(|segment| segment.get("id")).and_then(Json::as_str) {
        call.store.document("segment", id)?.ok_or_else(|| not_found("segment", id))?;
    }
    Ok(check_range(rules, others)?)
}

/// A range of points, in millionths; both ends belong to it, and one without an end has no last.
struct Range {
    first: u128,
    last: Option<u128>,
}

impl Range {
    fn of(rules: &Map<String, Json>) -> Result<Range, Problem> {
        let bound = |name: &str| match rules.get(name) {
            Some(Json::Number(number)) => {
                let text = number.to_string();
                let read = Decimal::read(&text).filter(|read| {
                    let decimals = i64::try_from(read.decimals()).unwrap_or(i64::MAX);
                    decimals.saturating_sub(read.exponent.into()) <= DECIMALS
                });
                let millionths = read.and_then(|read| read.times_ten_to(DECIMALS));
                let told = format!("must NOT have more than {DECIMALS} decimals (actual value is `{text}`)");
                millionths.map(Some).ok_or_else(|| Problem::at(format!("{RULES}.{name}"), told))
            }
            _ => Ok(None),
        };
        Ok(Range { first: bound("min_value")?.unwrap_or(0), last: bound("max_value")? })
    }

    fn overlaps(&self, other: &Range) -> bool {
        let ends_before = |one: &Range, other: &Range| one.last.is_some_and(|last| last < other.first);
        !ends_before(self, other) && !ends_before(other, self)
    }
}

/// Refuses a range that ends before it begins, or that overlaps another one of its path: the tiers that ask for the same segment, or
/// for none. What has no end overlaps everything above it, so that only the highest tier has none.
fn check_range(rules: &Map<String, Json>, others: &[Document]) -> Result<(), Problem> {
    let range = Range::of(rules)?;
    if range.last.is_some_and(|last| last < range.first) {
        let told = |name: &str| shown(rules.get(name).unwrap_or(&Json::Null));
        let bound = format!("must be >= {}", told("min_value"));
        return Err(Problem::bound(format!("{RULES}.max_value"), &bound, &told("max_value")));
    }
    for other in others {
        let Some(beside) = other.body.get(RULES).and_then(Json::as_object) else { continue };
        let is_same_path = beside.get("segment") == rules.get("segment");
        let beside = Range::of(beside)?;
        if !is_same_path || !range.overlaps(&beside) {
            continue;
        }
        if range.last.is_none() && range.first < beside.first {
            let told = format!("should have required property 'max_value', because the tier {} is higher", other.id);
            return Err(Problem::at(RULES, told));
        }
        let end = if beside.last.is_none() { ", which has no end" } else { "" };
        return Err(Problem::at(RULES, format!("must NOT overlap the points of the tier {}{end}", other.id)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_where_they_share_a_number_of_points() {
        let range = |text: &str| {
            let rules: Json = serde_json::from_str(text).unwrap_or_default();
            Range::of(&rules.as_object().cloned().unwrap_or_default()).ok()
        };
        let overlap = |one: &str, other: &str| match (range(one), range(other)) {
            (Some(one), Some(other)) => one.overlaps(&other) && other.overlaps(&one),
            _ => false,
        };
        let low = r#"{ "min_value": 0, "max_value": 99.5 }"#;
        assert!(overlap(low, r#"{ "min_value": 99.5 }"#));
        assert!(!overlap(low, r#"{ "min_value": 99.500001, "max_value": 200 }"#));
        assert!(overlap(r#"{ "min_value": 5 }"#, r#"{ "min_value": 1e9 }"#));
        assert!(range(r#"{ "min_value": 0.0000001 }"#).is_none());
    }
}
