//! Tiers of loyalty campaigns: create several at once, get and list them with their mappings, and list
//! the tiers of a member.

use crate::documents::common_fields::{LIMIT, PAGE};
use crate::documents::list::page_of;
use crate::documents::merge;
use crate::documents::shapes::TOTAL;
use crate::documents::shapes::campaign_earning_rules::CAMPAIGN_RULE as RULE_SHAPE;
use crate::documents::shapes::campaign_tiers::{CREATE, TIER, TIER_REWARD};
use crate::domain::campaigns::campaign::find_loyalty_campaign;
use crate::domain::loyalty_campaigns::earning_rules::CAMPAIGN_RULE;
use crate::domain::loyalty_campaigns::tiers::{
    CAMPAIGN_TIER, check_qualification, find_tier_of_card, list_of_campaign,
};
use crate::domain::metadata::schemas;
use crate::domain::rewards::assignments::{ASSIGNMENT, list_assignments};
use crate::domain::rewards::reward::{REWARD, to_json as rewards_to_json};
use crate::domain::vouchers::voucher::find_card;
use crate::http::list_options::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{self, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::records::CampaignTierRecord;
use crate::timestamp;
use scrip::points::campaign_tiers::CampaignTier;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::loyalty_campaign_tier::read_campaign_tier;
use serde_json::{Map, Value as Json, json};

/// Maximum number of tiers of a campaign.
const TIERS_MAX: usize = 100;

const ALL: &str = "/v1/loyalties/{campaignId}/tiers";

/// Value of `object` of the documents.
const OBJECT: &str = "loyalty_tier";

const TIERS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
    filters: &[],
    conditions: &[],
};

/// All mappings of a tier are loaded.
const PARTS: List = List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] };

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List the tiers of a loyalty campaign", list)
        .describe(
            "listLoyaltyCampaignTiers",
            "Returns the tiers of a loyalty campaign, the newest first by default; the only page has at most 100 tiers. A campaign of another type is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The tiers and the total.")
        .scope("loyalties")
        .query(&[
            LIMIT,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ])
        .lists("data", TIER, TOTAL),
    post(ALL, "Create tiers of a loyalty campaign", create)
        .describe(
            "createLoyaltyCampaignTiers",
            "Creates tiers of a loyalty campaign: all of them or none, and at most 100 per campaign. Holders of cards are in the new tiers at once, according to their points. The webhook event `campaign.loyalty_tier.created` follows for each. Overlapping ranges of points, and unknown earning rules or rewards, are refused with `invalid_payload`, a campaign of another type with `not_found`.",
        )
        .returns("The new tiers, in the order of the request.")
        .scope("loyalties")
        .many(CREATE)
        .answers(200, FieldType::List(&TIER, 0, TIERS_MAX)),
    get("/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}", "Get a tier of a loyalty campaign", get_one)
        .describe(
            "getLoyaltyCampaignTier",
            "Returns one tier of a loyalty campaign, with its changes to earned points and to prices. A tier of another campaign is refused with `not_found`.",
        )
        .returns("The tier.")
        .scope("loyalties")
        .answers(200, TIER),
    get(
        "/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}/earning-rules",
        "List the earning rules of a tier of a loyalty campaign",
        earning_rules,
    )
    .describe(
        "listLoyaltyCampaignTierEarningRules",
        "Returns the earning rules whose points a tier changes. A tier of another campaign is refused with `not_found`, a malformed page or limit with `invalid_query_params`.",
    )
    .returns("The earning rules of this page and the total.")
    .scope("loyalties")
    .query(&[LIMIT, PAGE])
    .lists("data", RULE_SHAPE, TOTAL),
    get(
        "/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}/rewards",
        "List the rewards of a tier of a loyalty campaign",
        rewards,
    )
    .describe(
        "listLoyaltyCampaignTierRewards",
        "Returns all rewards whose price a tier changes, the last assigned first. Each comes with its assignment, which has the price outside the tier. A tier of another campaign is refused with `not_found`.",
    )
    .returns("The rewards with their assignments, and the total.")
    .scope("loyalties")
    .lists("data", TIER_REWARD, TOTAL),
    get("/v1/loyalties/members/{memberId}/tiers", "List the tiers of a loyalty card", list_of_member)
        .describe(
            "listLoyaltyCardTiers",
            "Returns the tier that the card is in now, as its points determine the tier; the list is empty outside all tiers. A voucher of another type is refused with `not_found`.",
        )
        .returns("The tier of the card, if any, and the total.")
        .scope("loyalties")
        .lists("data", TIER, TOTAL),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let mut clause = Clause::of_kind(CAMPAIGN_TIER);
    clause.within(&loyalty_campaign.id);
    let page = TIERS.select(call.store, &call.query, clause)?;
    let json = page.documents.into_iter().map(|tier| Json::Object(tier.body)).collect();
    Ok(Response::json(Json::Object(TIERS.envelope(json, page.total))))
}

/// Creates all the tiers of a body, or none.
fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    check_qualification(loyalty_campaign.as_campaign())?;
    let mut known: Vec<CampaignTier> =
        list_of_campaign(call.store, &loyalty_campaign.id)?.into_iter().map(|(_, tier)| tier).collect();
    let sent = call.sources()?;
    // More tiers than the limit leave no room.
    let most = TIERS_MAX.saturating_sub(known.len());
    if sent.is_empty() || sent.len() > most {
        let message = format!("must have 1 to {most} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", message).into());
    }
    let mut tiers = Vec::new();
    for (index, item) in sent.into_iter().enumerate() {
        let path = format!("[{index}]");
        let body = shape::read(CREATE, item, Nulls::Dropped).map_err(|problem| problem.within(&path))?;
        check_mappings(call, &loyalty_campaign, &body, &path)?;
        let tier = new_tier(call, &loyalty_campaign, body)?;
        let read = read_fields(&tier.body, read_campaign_tier).map_err(|problem| problem.within(&path))?;
        if let Some(other) = known.iter().find(|other| overlap(other, &read)) {
            let message = format!("must NOT overlap with those of the tier `{}`", other.name);
            return Err(Problem::at(format!("{path}.points"), message).into());
        }
        known.push(read);
        call.store.insert(CAMPAIGN_TIER, &tier);
        tiers.push(Json::Object(tier.body));
    }
    Ok(Response::json(Json::Array(tiers)))
}

fn overlap(one: &CampaignTier, other: &CampaignTier) -> bool {
    let ends_before = |one: &CampaignTier, other: &CampaignTier| one.to.is_some_and(|to| to < other.from);
    !ends_before(one, other) && !ends_before(other, one)
}

fn new_tier(
    call: &mut Call<'_, '_>,
    loyalty_campaign: &Document,
    mut body: Map<String, Json>,
) -> Result<Document, CallError> {
    let id = call.ids.alphanumeric("ltr_", 24).to_string();
    let range = CampaignTierRecord::of(&body).points();
    let defaults = json!({
        "id": id, "campaign_id": loyalty_campaign.id, "config": { "points": range }, "metadata": {}, "earning_rules": {}, "rewards": {},
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": OBJECT,
    });
    merge::fill_top(&mut body, &defaults);
    schemas::check_body(call.store, OBJECT, &body)?;
    let mut document = Document::new(id, None, call.now_ms(), body);
    document.parent = Some(loyalty_campaign.id.clone());
    Ok(document)
}

/// Checks that the objects that a tier maps belong to its campaign.
fn check_mappings(
    call: &Call<'_, '_>,
    loyalty_campaign: &Document,
    body: &Map<String, Json>,
    path: &str,
) -> Result<(), CallError> {
    for id in CampaignTierRecord::of(body).earning_rule_ids() {
        let rule = call.store.document(CAMPAIGN_RULE.object, id)?;
        if rule.is_none_or(|rule| rule.parent.as_ref() != Some(&loyalty_campaign.id)) {
            return Err(unknown_reference(&format!("{path}.earning_rules"), "an earning rule", id).into());
        }
    }
    let assigned = list_assignments(call, &loyalty_campaign.id)?;
    for id in CampaignTierRecord::of(body).reward_ids() {
        if !assigned.iter().any(|assignment| assignment.id == id || assignment.parent.as_deref() == Some(id)) {
            return Err(unknown_reference(&format!("{path}.rewards"), "a reward", id).into());
        }
    }
    Ok(())
}

fn unknown_reference(path: &str, kind: &str, id: &str) -> Problem {
    Problem::bound(path, &format!("must name {kind} of the campaign"), id)
}

fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let loyalty_campaign = find_loyalty_campaign(call)?;
    let id = call.param("loyaltyTierId");
    let tier =
        call.store.document(CAMPAIGN_TIER, id)?.filter(|tier| tier.parent.as_ref() == Some(&loyalty_campaign.id));
    Ok(tier.ok_or_else(|| not_found(OBJECT, id))?)
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = find(call)?;
    Ok(Response::json(Json::Object(tier.body)))
}

fn earning_rules(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = find(call)?;
    let ids: Vec<String> = tier.as_campaign_tier().earning_rule_ids().map(str::to_owned).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let found = call.store.documents_by_names(CAMPAIGN_RULE.object, &[], &ids)?;
    let json = (CAMPAIGN_RULE.to_json)(call, found)?;
    Ok(Response::json(Json::Object(page_of(&PARTS, &call.query, json)?)))
}

fn rewards(call: &mut Call<'_, '_>) -> HandlerResult {
    let tier = find(call)?;
    let mapped: Vec<&str> = tier.as_campaign_tier().reward_ids().collect();
    let is_mapped = |assignment: &Document| {
        mapped.contains(&assignment.id.as_str()) || assignment.parent.as_deref().is_some_and(|id| mapped.contains(&id))
    };
    let assignments: Vec<Document> =
        list_assignments(call, tier.parent.as_deref().unwrap_or_default())?.into_iter().filter(is_mapped).collect();
    let mut json = Vec::new();
    for assignment in assignments {
        let Some(reward) = call.store.document(REWARD.object, assignment.parent.as_deref().unwrap_or_default())? else {
            continue;
        };
        let reward = rewards_to_json(call, vec![reward])?.pop();
        let assignment = ASSIGNMENT.one_to_json(call, assignment)?;
        json.push(json!({ "reward": reward, "assignment": assignment, "object": "loyalty_tier_reward" }));
    }
    let total = i64::try_from(json.len()).unwrap_or(i64::MAX);
    Ok(Response::json(Json::Object(PARTS.envelope(json, total))))
}

/// Returns the tier that a card is in, if it is in one.
fn list_of_member(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    let mut json = Vec::new();
    if let Some(tier) = find_tier_of_card(call, &card)?
        && let Some(tier) = call.store.document(CAMPAIGN_TIER, &tier.id)?
    {
        json.push(Json::Object(tier.body));
    }
    let total = i64::try_from(json.len()).unwrap_or(i64::MAX);
    Ok(Response::json(Json::Object(PARTS.envelope(json, total))))
}
