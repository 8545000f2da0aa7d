//! Changes of promotion tiers after their creation: of one tier by its own route, or of the tiers of a promotion together
//! with the promotion.

use crate::api::promotions::tiers;
use crate::api::promotions::tiers::{ACTION, ASSIGNMENTS, RULES_MAX};
use crate::documents::common_fields::{KEY, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME};
use crate::documents::merge;
use crate::domain::clock;
use crate::domain::metadata::schemas;
use crate::domain::promotions::tiers::{TIER, envelope, list_of_campaign, to_json};
use crate::domain::validation_rules::assignments;
use crate::domain::vouchers::definition;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, put};
use crate::http::shape::{self, Field, FieldType, INT_MAX, Nulls, may};
use crate::store::document::Document;
use crate::store::records::PromotionTierRecord;
use scrip::wire::Problem;
use scrip::wire::voucher::VISIBILITY;
use serde_json::{Map, Value as Json};

const UPDATE: &[Field] = &[
    may("name", KEY).description("Name of the tier. `null` leaves the name as is."),
    may("banner", FieldType::Text).description("Text that presents the tier to customers. `null` removes the text."),
    may("action", ACTION).description("Grant of the tier. Replaces the present grant; `null` leaves the grant as is."),
    may("metadata", FieldType::Map),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the tier in its promotion; a lower number comes first. `null` leaves the rank as is."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the tier can be redeemed, in UTC. `null` removes this bound."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the tier can no longer be redeemed, in UTC. `null` means no end."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the tier can be redeemed, counted from its `start_date`, which is required then. `null` means at any time."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the tier can be redeemed, from 0 for Sunday to 6 for Saturday, in the project's time zone. `null` means every day."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the tier can be redeemed, in the project's time zone. `null` means at any time."),
    may("category", KEY)
        .description("Name of the category of the tier. A category that does not exist is created; `null` removes the tier from its category."),
    may("category_id", KEY)
        .description("ID of the category of the tier. The category must exist; `null` removes the tier from its category."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of the tier while it is in force: `public` for everything, `server` for nothing. A promotion that is `server` has precedence. `null` means `public`; `sealed` is refused, because a tier has no code."),
    may("validation_rule_assignments", ASSIGNMENTS)
        .description("Validation rules of the tier in the form in which a tier contains them. Replaces all present assignments of the tier."),
];

/// Tier in a change of its promotion: with the id of the tier to change, or without one for a new tier.
const OF_PROMOTION: &[Field] = &[
    may("id", KEY).description("ID of the tier to change. A tier without an ID is added to the promotion."),
    may("name", KEY).description("Name of the tier. `null` leaves the name as is."),
    may("banner", FieldType::Text).description("Text that presents the tier to customers. `null` removes the text."),
    may("action", ACTION).description("Grant of the tier. Replaces the present grant; `null` leaves the grant as is."),
    may("metadata", FieldType::Map),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the tier in its promotion; a lower number comes first. `null` leaves the rank as is."),
    may("active", FieldType::Bool).description("`true` if the tier can be redeemed. `null` leaves the state as is."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the tier can be redeemed, in UTC. `null` removes this bound."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the tier can no longer be redeemed, in UTC. `null` means no end."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the tier can be redeemed, counted from its `start_date`, which is required then. `null` means at any time."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the tier can be redeemed, from 0 for Sunday to 6 for Saturday, in the project's time zone. `null` means every day."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the tier can be redeemed, in the project's time zone. `null` means at any time."),
    may("category", KEY)
        .description("Name of the category of the tier. A category that does not exist is created; `null` removes the tier from its category."),
    may("category_id", KEY)
        .description("ID of the category of the tier. The category must exist; `null` removes the tier from its category."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of the tier while it is in force: `public` for everything, `server` for nothing. A promotion that is `server` has precedence. `null` means `public`; `sealed` is refused, because a tier has no code."),
    may("validation_rules", FieldType::List(&KEY, 0, RULES_MAX))
        .description("IDs of the validation rules of the tier. Replaces all present assignments of the tier."),
    may("validation_rule_assignments", ASSIGNMENTS)
        .description("Validation rules of the tier in the form in which a tier contains them. Replaces all present assignments of the tier."),
];

/// Tiers in a change of a promotion. Tiers that it does not name stay unchanged.
pub const PROMOTION_CHANGE: FieldType = FieldType::Object(&[may(
    "tiers",
    FieldType::List(&FieldType::Map, 0, tiers::TIERS_MAX),
)
.description(
    "Tiers to change or to add, with the fields of a promotion tier. A tier with `id` is changed, one without is added; other tiers stay as they are.",
)]);

/// The routes of the area.
pub const ROUTES: &[Route] = &[put("/v1/promotions/tiers/{promotionTierId}", "Update a promotion tier", update)
    .describe(
        "updatePromotionTier",
        "Changes the fields that are sent; `null` clears a field, and metadata is merged key by key. Rule assignments that are sent replace the present ones in the same transaction. The webhook event `campaign.promotion_tier.updated` follows. An unknown ID is refused with `not_found`, an inconsistent discount or validity with `invalid_payload`.",
    )
    .returns("The tier after the change.")
    .of(&TIER)
    .scope("promotions")
    .body(UPDATE)];

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::KeptOnTop)?;
    let tier = TIER.find(call)?;
    Ok(Response::json(change_tier(call, tier, sent, "")?))
}

/// Queues the change of a tier as sent at a path of the body. Returns its future JSON.
fn change_tier(
    call: &mut Call<'_, '_>,
    mut tier: Document,
    mut sent: Map<String, Json>,
    path: &str,
) -> Result<Json, CallError> {
    tiers::assignments_to_rules(&mut sent);
    let has_rules = sent.contains_key("validation_rules");
    let rules = assignments::find_rules(call, sent.remove("validation_rules").as_ref())?;
    let zone = clock::zone(call)?;
    definition::normalise_dates(&mut sent, &zone);
    definition::normalise_category(call, &mut sent)?;
    for name in ["name", "action", "hierarchy", "active"] {
        if sent.get(name).is_some_and(Json::is_null) {
            sent.remove(name);
        }
    }
    let is_changed = sent.contains_key("action");
    merge::merge_cleared(&mut tier.body, sent);
    tiers::with_path(path, definition::check_validity(&tier.body, &zone))?;
    tiers::check_tier(&tier.body, path)?;
    if is_changed {
        tiers::check_free_goods(call, &tier.body, path)?;
    }
    schemas::check_body(call.store, TIER.object, &tier.body)?;
    call.touch(&mut tier);
    call.store.update(TIER.object, &tier);
    let id = tier.id.clone();
    let mut json = TIER.one_to_json(call, tier)?;
    if has_rules {
        let assigned = assignments::replace(call, rules, &id, TIER.object)?;
        if let Some(json) = json.as_object_mut() {
            json.insert("validation_rule_assignments".into(), assignments::list_json(assigned));
        }
    }
    Ok(json)
}

/// Queues the changes of a promotion's tiers that were sent with an id, and adds those without. Returns the future JSON of all its tiers.
pub fn change_all(call: &mut Call<'_, '_>, campaign: &Document, sent: Vec<Json>) -> Result<Json, CallError> {
    let stored = list_of_campaign(call, &campaign.id)?;
    let mut last = tiers::find_last_hierarchy(call, &campaign.id)?;
    let (mut changed, mut added) = (Vec::new(), Vec::new());
    for (index, tier) in sent.into_iter().enumerate() {
        let path = format!("promotion.tiers[{index}]");
        let tier = tier.as_object().cloned().unwrap_or_default();
        let read = shape::read(OF_PROMOTION, tier, Nulls::KeptOnTop);
        let mut tier = read.map_err(|problem| problem.within(&path))?;
        match tier.remove("id") {
            Some(Json::String(id)) => {
                let tier_document = stored.iter().find(|stored| stored.id == id);
                let message = || {
                    Problem::at(
                        format!("{path}.id"),
                        format!("must be the id of a tier of this promotion (actual value is `{id}`)"),
                    )
                };
                let tier_document = tier_document.ok_or_else(message)?;
                if changed.iter().any(|(known, _)| *known == id) {
                    let message = format!("must NOT be given twice (actual value is `{id}`)");
                    return Err(Problem::at(format!("{path}.id"), message).into());
                }
                let json = change_tier(call, tier_document.clone(), tier, &path)?;
                changed.push((id, json));
            }
            Some(_) | None => {
                tier.retain(|_, value| !value.is_null());
                if !tier.contains_key("name") {
                    return Err(Problem::missing(path, "name").into());
                }
                let draft = tiers::new_draft(call, tier, last, &path)?;
                last = last.max(draft.hierarchy);
                added.push(tiers::insert(call, campaign, draft)?);
            }
        }
    }
    let unchanged = stored.into_iter().filter(|stored| changed.iter().all(|(id, _)| *id != stored.id)).collect();
    let mut json = to_json(call, unchanged)?;
    json.extend(changed.into_iter().map(|(_, json)| json));
    json.extend(added);
    json.sort_by_key(|tier| PromotionTierRecord::of_value(tier).hierarchy().unwrap_or(0));
    Ok(envelope(json))
}
