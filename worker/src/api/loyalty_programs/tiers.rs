//! The tiers of a structure: their ranges of points and their segments. Ranges never overlap.

use crate::api::loyalty_programs::grant_checks;
use crate::api::loyalty_programs::tier_structures::STRUCTURE;
use crate::documents::common_fields::LIMIT;
use crate::documents::cursor_list;
use crate::documents::merge::{merge, reset_nulls};
use crate::documents::resource::bodies_to_json;
use crate::documents::shapes::tiers as shapes;
use crate::domain::loyalty_programs::kinds::{EARNING_RULE, TIER, TIER_STRUCTURE, state_of};
use crate::domain::loyalty_programs::{activities, kinds, lifecycle, requirements};
use crate::domain::metadata::schemas;
use crate::http::list_options::{CURSOR_PARAMETER, List, column, order_parameter};
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, value_text};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::TierConditionsRecord;
use crate::timestamp;
use scrip::lifecycle::{EntityState, Precondition};
use scrip::text::Decimal;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Maximum number of tiers of one structure.
const TIERS_MAX: usize = 100;
/// Maximum number of decimals in bounds of points.
const DECIMALS: i64 = 6;
const RULES: &str = "qualification_rules";

const ALL: &str = "/v2/loyalties/tier-structures/{tierStructureId}/tiers";
const ONE: &str = "/v2/loyalties/tier-structures/{tierStructureId}/tiers/{tierId}";

/// List options of tiers.
const LIST: List = List::by_cursor(&[column::AGE, column::NAME], &[]);

const LISTED: &[Field] = &[LIMIT, ORDER, CURSOR_PARAMETER];
const ORDER: Field = order_parameter(&FieldType::OneOf(&["created_at", "-created_at", "name", "-name"]));

const fn tier(route: Route) -> Route {
    route.with_lifecycle(&STRUCTURE, &TIER_STRUCTURE).scope("loyalties").answers(200, shapes::TIER)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    tier(get(ALL, "List tiers of a tier structure", list))
        .describe(
            "listTiers",
            "Returns the tiers of one tier structure, the newest first by default. Lists continue with `cursor`, which is valid for 24 hours; an older one, or one of another list, is refused with `invalid_or_expired_cursor`. An unknown tier structure is refused with `not_found`.",
        )
        .returns("The tiers of this page and the cursor of the next page.")
        .pages(shapes::TIER)
        .query(LISTED),
    tier(post(ALL, "Create a tier", create))
        .describe(
            "createTier",
            "Adds a tier to a tier structure that is a draft; in other statuses the call is refused with `invalid_state_transition`. A structure has at most 100 tiers. Ranges of points of tiers with the same segment must not overlap, and only the highest may be open at the top (`invalid_payload`).",
        )
        .returns("The created tier.")
        .body(shapes::TIER_CREATED),
    tier(put(ONE, "Update a tier", update))
        .describe(
            "updateTier",
            "Changes the fields that are sent; metadata is merged. Once the tier structure is no longer a draft, only `name` and `metadata` can change. Other fields, and a range of points that overlaps another tier, are refused with `invalid_payload`. An unknown tier or segment is refused with `not_found`.",
        )
        .returns("The tier after the change.")
        .body(shapes::TIER_CHANGED),
    tier(delete(ONE, "Delete a tier", remove))
        .describe(
            "deleteTier",
            "Deletes a tier of a tier structure that is a draft; in other statuses the call is refused with `invalid_state_transition`. Refused with `resource_in_use` while an earning rule names the tier.",
        )
        .returns("The deleted tier in its last state."),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let structure = kinds::find(call)?;
    let mut clause = Clause::of_kind(TIER).at(call.now_ms());
    clause.within(&structure.id);
    cursor_list::page(call, &LIST, "lcrst_", clause, bodies_to_json)
}

fn defaults() -> Map<String, Json> {
    let defaults = json!({ "downgrade": { "type": "INHERIT" }, "metadata": {} });
    defaults.as_object().cloned().unwrap_or_default()
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    let structure = kinds::find(call)?;
    check_draft(&structure, "create")?;
    let others = list_tiers(call, &structure.id)?;
    if others.len() >= TIERS_MAX {
        let message = format!("Tier structure must NOT have more than {TIERS_MAX} tiers");
        return Err(invalid_payload(message).into());
    }
    to_stored_form(&mut sent)?;
    check_rules(call, &sent, &others)?;
    let id = call.ids.hex18("lt_").to_string();
    let mut body = defaults();
    merge(&mut body, sent);
    body.insert("id".into(), id.as_str().into());
    body.insert("tier_structure_id".into(), structure.id.as_str().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "tier".into());
    let mut tier = Document::new(id, None, call.now_ms(), body);
    tier.parent = Some(structure.id.clone());
    schemas::check_body(call.store, "tier", &tier.body)?;
    call.store.insert(TIER, &tier);
    respond(call, &structure, tier, "created")
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Kept)?;
    let structure = kinds::find(call)?;
    let mut tier = find(call, &structure)?;
    lifecycle::check_edits(call, &TIER_STRUCTURE, &structure, &sent)?;
    reset_nulls(&mut sent, &defaults());
    to_stored_form(&mut sent)?;
    let mut others = list_tiers(call, &structure.id)?;
    others.retain(|other| other.id != tier.id);
    check_rules(call, &sent, &others)?;
    merge(&mut tier.body, sent);
    call.touch(&mut tier);
    schemas::check_body(call.store, "tier", &tier.body)?;
    call.store.update(TIER, &tier);
    respond(call, &structure, tier, "updated")
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let structure = kinds::find(call)?;
    let mut tier = find(call, &structure)?;
    check_draft(&structure, "delete")?;
    check_unused(call, &tier)?;
    call.touch(&mut tier);
    call.store.archive(TIER, &tier);
    respond(call, &structure, tier, "deleted")
}

/// Returns the response with a tier, and records the change as an activity of its structure.
fn respond(call: &mut Call<'_, '_>, structure: &Document, tier: Document, change: &str) -> HandlerResult {
    let data = json!({ "tier_structure": structure.body, "tier": tier.body });
    activities::record(call, &TIER_STRUCTURE, &structure.id, &format!("tier.{change}"), data);
    Ok(Response::json(Json::Object(tier.body)))
}

fn find(call: &Call<'_, '_>, structure: &Document) -> Result<Document, CallError> {
    let id = call.param("tierId");
    let tier = call.store.document(TIER, id)?.filter(|tier| tier.parent.as_ref() == Some(&structure.id));
    Ok(tier.ok_or_else(|| not_found("vl_tier", id))?)
}

/// Lists every tier of a structure.
fn list_tiers(call: &Call<'_, '_>, structure: &str) -> Result<Vec<Document>, CallError> {
    Ok(call.store.list_children(TIER, structure)?)
}

/// Refuses to add or delete a tier unless its structure is in DRAFT: an active structure has members in its tiers.
fn check_draft(structure: &Document, action: &str) -> Result<(), CallError> {
    match state_of(structure)? {
        EntityState::Draft => Ok(()),
        state => {
            let message = format!("Cannot {action} tier of tier structure from current state: '{}'", state.name());
            Err(error(400, "invalid_state_transition", "Invalid state transition", message).into())
        }
    }
}

/// Refuses to delete a tier that an earning rule names.
fn check_unused(call: &Call<'_, '_>, tier: &Document) -> Result<(), CallError> {
    let rules = requirements::list_rules_for_tier(call.store, &tier.id)?;
    if rules.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = rules.into_iter().map(|rule| rule.id).collect();
    let mut body =
        ErrorBody::from(Precondition::NoRule.refusal_if_unmet("delete tier", &ids)).about("vl_tier", &tier.id);
    body.related_object_total = i64::try_from(ids.len()).ok();
    body.related_object_ids = ids.into_iter().take(10).collect();
    body.related_object_type = Some(EARNING_RULE.resource_type());
    Err(body.into())
}

/// Converts sent members to the older form.
fn to_stored_form(sent: &mut Map<String, Json>) -> Result<(), Problem> {
    let Some(rules) = sent.get_mut(RULES).and_then(Json::as_object_mut) else { return Ok(()) };
    if let Some(Json::Object(points)) = rules.remove("points") {
        if let Some(name) = ["min_value", "max_value"].into_iter().find(|name| rules.contains_key(*name)) {
            return Err(Problem::at(format!("{RULES}.{name}"), "must NOT be present together with points"));
        }
        rules.extend(points);
    }
    let kind = grant_checks::text(rules, "type").to_owned();
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

/// Checks the members of a tier: the segment exists, and no other tier has a part of its points.
fn check_rules(call: &Call<'_, '_>, sent: &Map<String, Json>, others: &[Document]) -> Result<(), CallError> {
    let Some(rules) = sent.get(RULES).and_then(Json::as_object) else { return Ok(()) };
    if let Some(id) = TierConditionsRecord::of(rules).segment_id() {
        call.store.document("segment", id)?.ok_or_else(|| not_found("segment", id))?;
    }
    Ok(check_range(rules, others)?)
}

/// Range of points in millionths, both ends inclusive; an open range has no last.
struct PointsRange {
    first: u128,
    last: Option<u128>,
}

impl PointsRange {
    fn of(rules: &Map<String, Json>) -> Result<PointsRange, Problem> {
        let bound = |name: &str| match rules.get(name) {
            Some(Json::Number(number)) => {
                let text = number.to_string();
                let read = Decimal::read(&text).filter(|read| {
                    let decimals = i64::try_from(read.decimals()).unwrap_or(i64::MAX);
                    // Saturates: far more decimals than any number may have.
                    decimals.saturating_sub(read.exponent.into()) <= DECIMALS
                });
                let millionths = read.and_then(|read| read.times_ten_to(DECIMALS));
                let message = format!("must NOT have more than {DECIMALS} decimals (actual value is `{text}`)");
                millionths.map(Some).ok_or_else(|| Problem::at(format!("{RULES}.{name}"), message))
            }
            _ => Ok(None),
        };
        Ok(PointsRange { first: bound("min_value")?.unwrap_or(0), last: bound("max_value")? })
    }

    fn overlaps(&self, other: &PointsRange) -> bool {
        let ends_before = |one: &PointsRange, other: &PointsRange| one.last.is_some_and(|last| last < other.first);
        !ends_before(self, other) && !ends_before(other, self)
    }
}

/// Refuses a range that ends before it starts, or that overlaps another one with the same segment, or also without one. An
/// open range overlaps all higher ones, so only the highest tier may be open.
fn check_range(rules: &Map<String, Json>, others: &[Document]) -> Result<(), Problem> {
    let range = PointsRange::of(rules)?;
    if range.last.is_some_and(|last| last < range.first) {
        let message = |name: &str| value_text(rules.get(name).unwrap_or(&Json::Null));
        let bound = format!("must be >= {}", message("min_value"));
        return Err(Problem::bound(format!("{RULES}.max_value"), &bound, &message("max_value")));
    }
    for other in others {
        let Some(other_rules) = other.body.get(RULES).and_then(Json::as_object) else { continue };
        let is_same_path = TierConditionsRecord::of(other_rules).segment() == TierConditionsRecord::of(rules).segment();
        let other_range = PointsRange::of(other_rules)?;
        if !is_same_path || !range.overlaps(&other_range) {
            continue;
        }
        if range.last.is_none() && range.first < other_range.first {
            let message = format!("should have required property 'max_value', because the tier {} is higher", other.id);
            return Err(Problem::at(RULES, message));
        }
        let end = if other_range.last.is_none() { ", which has no end" } else { "" };
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
            PointsRange::of(&rules.as_object().cloned().unwrap_or_default()).ok()
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
