//! Promotion tiers: create, get, list, update, delete, enable, disable. A tier is a document whose parent is its campaign.
//! It must not know how a tier is decided, nor how tiers are stacked.

use crate::document::clause::Clause;
use crate::document::fields::{DISCOUNT, KEY, LIMIT, PAGE, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::shapes;
use crate::document::{merge, resource};
use crate::http::caller::Class;
use crate::http::reply::{CallError, error, in_use};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, INT_MAX, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::tiers::{TIER, brief, listed, of_campaign, show, whole};
use crate::shop::{assignments, categories, metadata_schemas, voucher_grant, windows, zone};
use crate::store::document::Document;
use crate::store::sql;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_tier;
use serde_json::{Map, Value as Json, json};

const ACTION: Kind = Kind::Object(&[must("discount", DISCOUNT)]);

/// Assignments as answers show them; of what a caller sends back, only the rules are read.
const ASSIGNMENTS: Kind = Kind::Object(&[
    may("object", Kind::Text),
    may("data_ref", Kind::Text),
    may(
        "data",
        Kind::List(
            &Kind::Object(&[
                may("id", KEY),
                must("rule_id", KEY),
                may("related_object_id", KEY),
                may("related_object_type", Kind::Text),
                may("created_at", Kind::DateTime),
                may("object", Kind::Text),
            ]),
            0,
            RULES_MAX,
        ),
    ),
    may("total", Kind::Int(0, INT_MAX)),
]);

/// Rules that a tier may have.
const RULES_MAX: usize = 10;

/// A tier as it is created, with its promotion or after it.
pub const CREATE: &[Field] = &[
    must("name", KEY),
    may("banner", Kind::Text),
    may("action", ACTION),
    may("metadata", Kind::Map),
    may("hierarchy", Kind::Int(0, INT_MAX)),
    may("active", Kind::Bool),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("category", KEY),
    may("category_id", KEY),
    may("validation_rules", Kind::List(&KEY, 0, RULES_MAX)),
    may("validation_rule_assignments", ASSIGNMENTS),
];

const UPDATE: &[Field] = &[
    may("name", KEY),
    may("banner", Kind::Text),
    may("action", ACTION),
    may("metadata", Kind::Map),
    may("hierarchy", Kind::Int(0, INT_MAX)),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("category", KEY),
    may("category_id", KEY),
    may("validation_rule_assignments", ASSIGNMENTS),
];

const LISTED: &[Field] = &[
    may("is_available", Kind::Bool),
    LIMIT,
    PAGE,
    may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/promotions/tiers", "List promotion tiers", list)
        .of(&TIER)
        .listed(shapes::TOTAL_AND_MORE)
        .scope("promotions")
        .query(LISTED),
    get("/client/v1/promotions/tiers", "List promotion tiers from a page", list)
        .of(&TIER)
        .listed(shapes::TOTAL_AND_MORE)
        .for_classes(&[Class::Client, Class::OAuth])
        .scope("promotions")
        .query(LISTED),
    get("/v1/promotions/{campaignId}/tiers", "List the tiers of a promotion", list_campaign)
        .of(&TIER)
        .listed(shapes::TOTAL_AND_MORE)
        .scope("promotions"),
    post("/v1/promotions/{campaignId}/tiers", "Add a tier to a promotion", create)
        .of(&TIER)
        .scope("promotions")
        .body(CREATE),
    get("/v1/promotions/tiers/{promotionTierId}", "Get a promotion tier", resource::get).of(&TIER).scope("promotions"),
    put("/v1/promotions/tiers/{promotionTierId}", "Update a promotion tier", update)
        .of(&TIER)
        .scope("promotions")
        .body(UPDATE),
    delete("/v1/promotions/tiers/{promotionTierId}", "Delete a promotion tier that no stack uses", remove)
        .of(&TIER)
        .scope("promotions")
        .answers(204, shapes::EMPTY),
    post("/v1/promotions/tiers/{promotionTierId}/enable", "Enable a promotion tier", enable)
        .of(&TIER)
        .scope("promotions"),
    post("/v1/promotions/tiers/{promotionTierId}/disable", "Disable a promotion tier", disable)
        .of(&TIER)
        .scope("promotions"),
];

/// A page of all tiers, or of those that can be used now: their windows are more than a statement can evaluate.
fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(TIER.object);
    let page = if call.query.is_true("is_available") {
        clause.and("COALESCE(json_extract(body, '$.active'), 1) = {}", 1_i64);
        let (now, zone) = (call.context.now, zone::of(call)?);
        let closed = windows::closed_promotions(call, now, &zone)?;
        let is_open = |tier: &Document| {
            Ok(windows::is_open(&tier.body, now, &zone)
                && !tier.parent.as_ref().is_some_and(|parent| closed.contains(parent)))
        };
        TIER.list.select_where(call.store, &call.query, clause, &is_open)?
    } else {
        TIER.list.select(call.store, &call.query, clause)?
    };
    let number = read_int(&call.query, "page", 1, TIER.list.page_max)?.unwrap_or(1);
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let shown = show(call, page.documents)?;
    let mut envelope = TIER.list.envelope(shown, page.total);
    envelope.insert("has_more".into(), (number.saturating_mul(limit) < page.total).into());
    Ok(Answer::json(Json::Object(envelope)))
}

/// The promotion that a path names.
pub fn find_promotion(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = CAMPAIGN.find(call)?;
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default();
    if kind == "PROMOTION" {
        return Ok(campaign);
    }
    let told = format!("Promotion tiers belong to a PROMOTION campaign (the type of this campaign is `{kind}`)");
    Err(error(400, "invalid_campaign", "Invalid Campaign", told).into())
}

fn list_campaign(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = find_promotion(call)?;
    let tiers = of_campaign(call, &campaign.id)?;
    Ok(Answer::json(listed(call, tiers)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let campaign = find_promotion(call)?;
    let last = last_hierarchy(call, &campaign.id)?;
    let draft = draft(call, sent, last, "")?;
    Ok(Answer::json(insert(call, &campaign, draft)?))
}

/// The highest rank among the tiers of a campaign.
pub fn last_hierarchy(call: &Call<'_, '_>, campaign_id: &str) -> Result<i64, CallError> {
    let row = call.store.row(
        "SELECT COALESCE(MAX(json_extract(body, '$.hierarchy')), 0) FROM document WHERE kind = 'promotion_tier' AND parent = +?1",
        &[campaign_id.into()],
    )?;
    Ok(row.map_or(Ok(0), |row| sql::int(&row, 0))?)
}

/// A tier that is checked and belongs to no campaign yet.
pub struct Draft {
    body: Map<String, Json>,
    rules: Vec<String>,
    /// Its rank among the tiers of its campaign.
    pub hierarchy: i64,
}

/// What a tier does that was sent with no more than a name, as existing clients do (clients.md): nothing yet.
fn no_action() -> Json {
    json!({ "discount": { "type": "AMOUNT", "amount_off": 0 } })
}

/// Checks a tier as it was sent, at a place of the body; without a rank of its own it comes after the last one.
pub fn draft(call: &Call<'_, '_>, mut sent: Map<String, Json>, last: i64, place: &str) -> Result<Draft, CallError> {
    take_assignments(&mut sent);
    let rules = assignments::take_rules(call, &mut sent)?;
    sent.entry("action").or_insert_with(no_action);
    check(&sent, place)?;
    voucher_grant::settle_dates(&mut sent);
    voucher_grant::settle_category(call, &mut sent)?;
    let hierarchy = sent.get("hierarchy").and_then(Json::as_i64).unwrap_or(last.saturating_add(1));
    let defaults = json!({
        "banner": null, "metadata": {}, "hierarchy": hierarchy, "active": true, "start_date": null, "expiration_date": null,
        "validity_timeframe": null, "validity_day_of_week": null, "validity_hours": null, "category": null, "category_id": null,
        "updated_at": null, "object": TIER.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    metadata_schemas::check(call.store, &[(TIER.object, body.get("metadata"))])?;
    Ok(Draft { body, rules, hierarchy })
}

/// Adds a tier to a campaign at the commit; gives it as it will be shown.
pub fn insert(call: &mut Call<'_, '_>, campaign: &Document, draft: Draft) -> Result<Json, CallError> {
    let id = call.ids.alphanumeric("promo_", 24).to_string();
    let mut body = draft.body;
    body.insert("id".into(), id.clone().into());
    body.insert("promotion_id".into(), campaign.id.clone().into());
    body.insert("campaign_id".into(), campaign.id.clone().into());
    body.insert("created_at".into(), moment::text(call.now_ms()).into());
    let (parent, created_at) = (Some(campaign.id.clone()), call.now_ms());
    let tier = Document { id, key: None, parent, holder: None, created_at, updated_at: None, body };
    call.store.insert(TIER.object, &tier);
    let assigned = assignments::assign(call, draft.rules, &tier.id, TIER.object);
    let categories = categories::Shown::of(call, &[tier.clone(), campaign.clone()])?;
    Ok(whole(tier, brief(campaign), [0; 3], assigned, &categories))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut tier = TIER.find(call)?;
    take_assignments(&mut sent);
    let named = sent.contains_key("validation_rules");
    let rules = assignments::take_rules(call, &mut sent)?;
    voucher_grant::settle_dates(&mut sent);
    voucher_grant::settle_category(call, &mut sent)?;
    for name in ["name", "action", "hierarchy"] {
        if sent.get(name).is_some_and(Json::is_null) {
            sent.remove(name);
        }
    }
    merge::merge(&mut tier.body, sent);
    check(&tier.body, "")?;
    metadata_schemas::check(call.store, &[(TIER.object, tier.body.get("metadata"))])?;
    call.touch(&mut tier);
    call.store.update(TIER.object, &tier);
    let id = tier.id.clone();
    let mut shown = TIER.show_one(call, tier)?;
    if named {
        let assigned = assignments::replace(call, rules, &id, TIER.object)?;
        if let Some(shown) = shown.as_object_mut() {
            shown.insert("validation_rule_assignments".into(), assignments::listed(assigned));
        }
    }
    Ok(Answer::json(shown))
}

/// Turns assignments in the form of answers into the rules that they name.
fn take_assignments(sent: &mut Map<String, Json>) {
    let Some(assignments) = sent.remove("validation_rule_assignments") else { return };
    let data = assignments.get("data").and_then(Json::as_array);
    let rules: Vec<Json> =
        data.into_iter().flatten().filter_map(|assignment| assignment.get("rule_id").cloned()).collect();
    sent.entry("validation_rules").or_insert(Json::Array(rules));
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let tier = TIER.find(call)?;
    let rows = call.store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'promotion_stack' AND parent = +?1
           AND ?2 IN (SELECT value FROM json_each(body, '$.tiers.ids')) ORDER BY seq LIMIT 10",
        &[tier.parent.as_deref().unwrap_or_default().into(), tier.id.as_str().into()],
    )?;
    let (stacks, total) = assignments::named(&rows)?;
    if total > 0 {
        return Err(in_use((TIER.object, &tier.id), "promotion_stack", stacks, total).into());
    }
    assignments::detach(call, &tier.id);
    call.store.remove(TIER.object, &tier.id);
    Ok(Answer::empty(204))
}

/// Removes the tiers of a campaign that goes, at the commit.
pub fn remove_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.write(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
           (SELECT id FROM document WHERE kind = 'promotion_tier' AND parent = +?1)",
        vec![campaign_id.into()],
    );
    call.store.write(
        "DELETE FROM document WHERE kind IN ('promotion_tier', 'promotion_stack') AND parent = +?1",
        vec![campaign_id.into()],
    );
}

fn enable(call: &mut Call<'_, '_>) -> Outcome {
    let tier = resource::set_active(call, true)?;
    Ok(Answer::json(TIER.show_one(call, tier)?))
}

fn disable(call: &mut Call<'_, '_>) -> Outcome {
    let tier = resource::set_active(call, false)?;
    Ok(Answer::json(TIER.show_one(call, tier)?))
}

/// Checks a tier: its discount, its dates, and that the engine reads it.
fn check(body: &Map<String, Json>, place: &str) -> Result<(), Problem> {
    let within = |problem: Problem| if place.is_empty() { problem } else { problem.within(place) };
    let action = body.get("action").and_then(Json::as_object).cloned().unwrap_or_default();
    voucher_grant::check_discount(&action, "action").map_err(within)?;
    voucher_grant::check_validity(body).map_err(within)?;
    let mut whole = body.clone();
    whole.entry("id").or_insert_with(|| "new".into());
    read_fields(&whole, |at| read_tier(at, "")).map(drop).map_err(within)
}
