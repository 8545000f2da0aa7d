//! Promotion tiers: create, get, list, delete, enable, disable. A tier is a document whose parent is its campaign.

use crate::documents::common_fields::{
    DISCOUNT, KEY, LIMIT, PAGE, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, ListPage, read_int};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::metadata::schemas;
use crate::domain::promotions::open_tiers;
use crate::domain::promotions::tiers::{TIER, campaign_json, full_json, list_json, list_of_campaign, to_json};
use crate::domain::validation_rules::assignments;
use crate::domain::visibility::{JudgedOffers, is_public};
use crate::domain::vouchers::definition;
use crate::domain::{categories, clock, visibility};
use crate::http::caller::CredentialClass;
use crate::http::reply::{CallError, error, in_use};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, INT_MAX, Nulls, below, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind::CountedIds;
use crate::store::documents::campaigns;
use crate::store::records::{AssignmentRecord, PromotionTierRecord};
use crate::timestamp;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::{VISIBILITY, read_tier};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

/// Action of a tier.
pub const ACTION: FieldType =
    FieldType::Object(&[must("discount", DISCOUNT).description("Discount that the tier grants.")]);

/// Assignments as responses contain them; in requests only the rules are read.
pub const ASSIGNMENTS: FieldType = FieldType::Object(&[
    may("object", FieldType::Text),
    may("data_ref", FieldType::Text)
        .description("Name of the member that contains the assignments. Ignored in requests."),
    may(
        "data",
        FieldType::List(
            &FieldType::Object(&[
                may("id", KEY),
                must("rule_id", KEY).description("ID of the validation rule."),
                may("related_object_id", KEY).description("ID of the tier. Ignored in requests."),
                may("related_object_type", FieldType::Text)
                    .description("Type of the object with the rule. Ignored in requests."),
                may("created_at", FieldType::DateTime),
                may("object", FieldType::Text),
            ]),
            0,
            RULES_MAX,
        ),
    )
    .description("Assignments of the tier. Only their validation rules are read."),
    may("total", FieldType::Int(0, INT_MAX)).description("Number of assignments. Ignored in requests."),
]);

/// Maximum number of rules of a tier.
pub const RULES_MAX: usize = 10;

/// Maximum number of tiers in the creation of a promotion.
pub const TIERS_MAX: usize = 100;

/// Fields of a new tier, with its promotion or later.
pub const CREATE: &[Field] = &[
    must("name", KEY).description("Name of the tier."),
    may("banner", FieldType::Text).description("Text that presents the tier to customers."),
    may("action", ACTION).description("Grant of the tier. Default is a discount of amount 0."),
    may("metadata", FieldType::Map),
    may("hierarchy", FieldType::Int(0, INT_MAX))
        .description("Rank of the tier in its promotion; a lower number comes first. Default is the rank after the last tier."),
    may("active", FieldType::Bool).description("`true` if the tier can be redeemed. Default `true`."),
    may("start_date", FieldType::DateTime)
        .description("Moment from which the tier can be redeemed, in UTC. A date without a time means the start of that day in the project's time zone."),
    may("expiration_date", FieldType::DateTime)
        .description("Moment after which the tier can no longer be redeemed, in UTC. A date without a time means the end of that day in the project's time zone."),
    may("validity_timeframe", VALIDITY_TIMEFRAME)
        .description("Recurring windows in which the tier can be redeemed, counted from its `start_date`, which is required then. Absent means at any time."),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK)
        .description("Weekdays on which the tier can be redeemed, from 0 for Sunday to 6 for Saturday, in the project's time zone. Absent means every day."),
    may("validity_hours", VALIDITY_HOURS)
        .description("Hours of the day in which the tier can be redeemed, in the project's time zone. Absent means at any time."),
    may("category", KEY)
        .description("Name of the category of the tier. A category that does not exist is created. Default is the category of the promotion."),
    may("category_id", KEY)
        .description("ID of the category of the tier. The category must exist. Default is the category of the promotion."),
    may("visibility", VISIBILITY)
        .description("Disclosure to clients of the tier while it is in force: `public` for everything, `server` for nothing. A promotion that is `server` has precedence. Absent means `public`; `sealed` is refused, because a tier has no code."),
    may("validation_rules", FieldType::List(&KEY, 0, RULES_MAX))
        .description("IDs of the validation rules that are assigned to the tier."),
    may("validation_rule_assignments", ASSIGNMENTS)
        .description("Validation rules of the tier in the form in which a tier contains them. Ignored if `validation_rules` is present."),
];

const LISTED: &[Field] = &[
    may("is_available", FieldType::Bool).description(
        "`true` to list only tiers that are enabled and valid now, together with their promotion. Default `false`.",
    ),
    LIMIT,
    PAGE,
    may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
        .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/promotions/tiers", "List promotion tiers", list)
        .describe(
            "listPromotionTiers",
            "Returns the tiers of all promotions with their campaign, rule assignments and redemption counts, the newest first by default. With `is_available` only tiers that are valid at this moment are listed; validation rules are not evaluated. An unknown order is refused with `invalid_query_params`.",
        )
        .returns("The tiers of this page and the total.")
        .of(&TIER)
        .lists_resource(shapes::TOTAL_AND_MORE)
        .scope("promotions")
        .query(LISTED),
    get("/client/v1/promotions/tiers", "List promotion tiers from a client", list)
        .describe(
            "listClientPromotionTiers",
            "Returns the tiers that every client may know, the newest first by default: those in force whose `visibility`, and that of their promotion, is `public` or not set. A project whose customer trust is `open` lists all tiers. Redemption counts and the contents of validation rules are left out, and metadata is reduced to what the project discloses to clients. An unknown order is refused with `invalid_query_params`.",
        )
        .returns("The tiers of this page, reduced to fields that a client may see, and the total.")
        .of(&TIER)
        .lists_resource(shapes::TOTAL_AND_MORE)
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .scope("promotions")
        .query(LISTED),
    get("/v1/promotions/{campaignId}/tiers", "List the tiers of a promotion", list_campaign)
        .describe(
            "listCampaignPromotionTiers",
            "Returns all tiers of one promotion in the order of their `hierarchy`, without pages. An unknown campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("All tiers of the promotion and their number.")
        .of(&TIER)
        .lists_resource(shapes::TOTAL_AND_MORE)
        .scope("promotions"),
    post("/v1/promotions/{campaignId}/tiers", "Add a tier to a promotion", create)
        .describe(
            "createPromotionTier",
            "Adds a tier to a promotion and assigns validation rules to the tier, in one transaction. The webhook event `campaign.promotion_tier.created` follows. A campaign of another type is refused with `invalid_campaign`, an inconsistent discount or validity with `invalid_payload`.",
        )
        .returns("The new tier.")
        .of(&TIER)
        .scope("promotions")
        .body(CREATE),
    get("/v1/promotions/tiers/{promotionTierId}", "Get a promotion tier", resource::get)
        .describe(
            "getPromotionTier",
            "Returns one promotion tier with its campaign, rule assignments and redemption counts. An unknown ID is refused with `not_found`.",
        )
        .returns("The tier.")
        .of(&TIER)
        .scope("promotions"),
    delete("/v1/promotions/tiers/{promotionTierId}", "Delete a promotion tier", remove)
        .describe(
            "deletePromotionTier",
            "Deletes the tier and its rule assignments; earlier redemptions stay on record. The webhook event `campaign.promotion_tier.deleted` follows. A tier that belongs to a promotion stack is refused with `resource_in_use`, an unknown ID with `not_found`.",
        )
        .returns("No content. The tier is deleted.")
        .of(&TIER)
        .scope("promotions")
        .answers(204, shapes::EMPTY),
    post("/v1/promotions/tiers/{promotionTierId}/enable", "Enable a promotion tier", enable)
        .describe(
            "enablePromotionTier",
            "Enables the tier, so that the tier can be redeemed while its promotion is enabled and valid. The webhook event `campaign.promotion_tier.enabled` follows. An unknown ID is refused with `not_found`.",
        )
        .returns("The enabled tier.")
        .of(&TIER)
        .scope("promotions"),
    post("/v1/promotions/tiers/{promotionTierId}/disable", "Disable a promotion tier", disable)
        .describe(
            "disablePromotionTier",
            "Disables the tier: the tier cannot be redeemed until the tier is enabled again. The webhook event `campaign.promotion_tier.disabled` follows. An unknown ID is refused with `not_found`.",
        )
        .returns("The disabled tier.")
        .of(&TIER)
        .scope("promotions"),
];

/// Selects a page of all tiers, or of those that can be used now, or that a client may know: a statement cannot evaluate their windows.
fn select(call: &Call<'_, '_>) -> Result<ListPage, CallError> {
    let mut clause = Clause::of_kind(TIER.object);
    let is_limited = call.client.as_ref().is_some_and(|client| !client.is_open());
    let is_available = call.query.is_true("is_available");
    if !is_limited && !is_available {
        return TIER.list.select(call.store, &call.query, clause);
    }
    clause.active();
    let (now, zone) = (call.context.now, clock::zone(call)?);
    let promotions = campaigns::list_promotions(call.store)?;
    let closed = if is_available { open_tiers::closed_promotions(&promotions, now, &zone) } else { BTreeSet::new() };
    let offers = JudgedOffers::new(&promotions, now);
    let is_open = |tier: &Document| {
        open_tiers::is_open(tier, now, &zone) && !tier.parent.as_deref().is_some_and(|parent| closed.contains(parent))
    };
    let is_selected =
        |tier: &Document| Ok((!is_limited || is_public(offers.of_tier(tier))) && (!is_available || is_open(tier)));
    TIER.list.select_where(call.store, &call.query, clause, &is_selected)
}

/// Lists a page of tiers.
fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let page = select(call)?;
    let number = read_int(&call.query, "page", 1, TIER.list.page_max)?.unwrap_or(1);
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let json = to_json(call, page.documents)?;
    let mut envelope = TIER.list.envelope(json, page.total);
    // Saturates: no page comes after the end of the type.
    envelope.insert("has_more".into(), (number.saturating_mul(limit) < page.total).into());
    Ok(Response::json(Json::Object(envelope)))
}

/// Finds the promotion that a path names.
pub fn find_promotion(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = CAMPAIGN.find(call)?;
    let kind = campaign.as_campaign().campaign_type();
    if kind == "PROMOTION" {
        return Ok(campaign);
    }
    let message = format!("Promotion tiers belong to a PROMOTION campaign (the type of this campaign is `{kind}`)");
    Err(error(400, "invalid_campaign", "Invalid Campaign", message).into())
}

fn list_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_promotion(call)?;
    let tiers = list_of_campaign(call, &campaign.id)?;
    Ok(Response::json(list_json(call, tiers)?))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let campaign = find_promotion(call)?;
    let last = find_last_hierarchy(call, &campaign.id)?;
    let draft = new_draft(call, sent, last, "")?;
    Ok(Response::json(insert(call, &campaign, draft)?))
}

/// Returns the highest rank among the tiers of a campaign.
pub fn find_last_hierarchy(call: &Call<'_, '_>, campaign_id: &str) -> Result<i64, CallError> {
    Ok(campaigns::find_last_hierarchy(call.store, campaign_id)?)
}

/// Checked tier that has no campaign yet.
pub struct TierDraft {
    body: Map<String, Json>,
    rules: Vec<String>,
    /// Its rank among the tiers of its campaign.
    pub hierarchy: i64,
}

/// Returns the action of a tier that was sent with only a name, as existing clients do (docs/spec/clients.md): none yet.
fn no_action() -> Json {
    json!({ "discount": { "type": "AMOUNT", "amount_off": 0 } })
}

/// Returns the rank after the last one. A tier that has the highest possible rank leaves none: then a rank must be sent.
fn next_rank(last: i64, path: &str) -> Result<i64, Problem> {
    let next = last.checked_add(1).filter(|next| *next <= INT_MAX);
    let message = || format!("must be sent: the last tier of the promotion has the highest rank {INT_MAX}");
    next.ok_or_else(|| Problem::at(below(path, "hierarchy"), message()))
}

/// Checks a tier as sent at a path of the body; without a rank it comes after the last one.
pub fn new_draft(
    call: &mut Call<'_, '_>,
    mut sent: Map<String, Json>,
    last: i64,
    path: &str,
) -> Result<TierDraft, CallError> {
    assignments_to_rules(&mut sent);
    let rules = assignments::find_rules(call, sent.remove("validation_rules").as_ref())?;
    sent.entry("action").or_insert_with(no_action);
    let zone = clock::zone(call)?;
    with_path(path, definition::check_validity(&sent, &zone))?;
    definition::normalise_dates(&mut sent, &zone);
    check_tier(&sent, path)?;
    check_free_goods(call, &sent, path)?;
    definition::normalise_category(call, &mut sent)?;
    let hierarchy = match PromotionTierRecord::of(&sent).hierarchy() {
        Some(hierarchy) => hierarchy,
        None => next_rank(last, path)?,
    };
    let defaults = json!({
        "banner": null, "metadata": {}, "hierarchy": hierarchy, "active": true, "start_date": null, "expiration_date": null,
        "validity_timeframe": null, "validity_day_of_week": null, "validity_hours": null, "category": null, "category_id": null,
        "updated_at": null, "object": TIER.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    schemas::check_body(call.store, TIER.object, &body)?;
    Ok(TierDraft { body, rules, hierarchy })
}

/// Queues a new tier of a campaign; returns its future JSON.
pub fn insert(call: &mut Call<'_, '_>, campaign: &Document, draft: TierDraft) -> Result<Json, CallError> {
    let id = call.ids.alphanumeric("promo_", 24).to_string();
    let mut body = draft.body;
    body.insert("id".into(), id.clone().into());
    body.insert("promotion_id".into(), campaign.id.clone().into());
    body.insert("campaign_id".into(), campaign.id.clone().into());
    body.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    let (parent, created_at) = (Some(campaign.id.clone()), call.now_ms());
    let tier = Document { id, key: None, parent, holder: None, created_at, updated_at: None, body };
    call.store.insert(TIER.object, &tier);
    let assigned = assignments::assign(call, draft.rules, &tier.id, TIER.object);
    let categories = categories::CategoryLookup::of(call, &[tier.clone(), campaign.clone()])?;
    Ok(full_json(tier, campaign_json(campaign), [0; 3], assigned, &categories))
}

/// Converts assignments in the form of responses to the rules that they name.
pub fn assignments_to_rules(sent: &mut Map<String, Json>) {
    let Some(assignments) = sent.remove("validation_rule_assignments") else { return };
    let data = assignments.get("data").and_then(Json::as_array);
    let rules: Vec<Json> = data
        .into_iter()
        .flatten()
        .filter_map(|assignment| AssignmentRecord::of_value(assignment).rule_id().cloned())
        .collect();
    sent.entry("validation_rules").or_insert(Json::Array(rules));
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = TIER.find(call)?;
    let parent = tier.parent.as_deref().unwrap_or_default();
    let CountedIds { ids: stacks, total } = campaigns::list_stacks_with_tier(call.store, parent, &tier.id)?;
    if total > 0 {
        return Err(in_use(TIER.object, &tier.id, "promotion_stack", stacks, total).into());
    }
    assignments::delete_all(call, &tier.id);
    call.store.delete(TIER.object, &tier.id);
    Ok(Response::empty(204))
}

/// Removes the tiers of a deleted campaign when the call commits.
pub fn delete_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    campaigns::delete_tiers_of(call.store, campaign_id);
}

fn enable(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = resource::set_active(call, true)?;
    Ok(Response::json(TIER.one_to_json(call, tier)?))
}

fn disable(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = resource::set_active(call, false)?;
    Ok(Response::json(TIER.one_to_json(call, tier)?))
}

/// Checks that the free units of a tier are goods of the catalogue.
pub fn check_free_goods(call: &Call<'_, '_>, body: &Map<String, Json>, path: &str) -> Result<(), CallError> {
    let action = PromotionTierRecord::of(body).action().cloned().unwrap_or_default();
    definition::check_free_goods(call.store, &action, &below(path, "action"))
}

/// Checks a tier: its discount, and that the engine can read it.
pub fn check_tier(body: &Map<String, Json>, path: &str) -> Result<(), Problem> {
    let action = PromotionTierRecord::of(body).action().cloned().unwrap_or_default();
    with_path(path, definition::check_discount(&action, "action"))?;
    with_path(path, visibility::check_promotion(PromotionTierRecord::of(body).visibility()))?;
    let mut with_id = body.clone();
    with_id.entry("id").or_insert_with(|| "new".into());
    with_path(path, read_fields(&with_id, |at| read_tier(at, "")).map(drop))
}

/// Adds the path in the body to a problem of a tier.
pub fn with_path(path: &str, checked: Result<(), Problem>) -> Result<(), Problem> {
    checked.map_err(|problem| if path.is_empty() { problem } else { problem.within(path) })
}
