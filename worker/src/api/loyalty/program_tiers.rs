//! Tiers of loyalty campaigns: created several at once, read and listed, with what each maps, and the tiers of a member. It must not know how
//! points lead to one.

use crate::document::clause::Clause;
use crate::document::fields::{LIMIT, PAGE};
use crate::document::list::paged;
use crate::document::merge;
use crate::document::shapes::TOTAL;
use crate::document::shapes::program_rules::PROGRAM_RULE as RULE_SHAPE;
use crate::document::shapes::program_tiers::{CREATE, TIER, TIER_REWARD};
use crate::http::listing::List;
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{self, Kind, Nulls, may};
use crate::moment;
use crate::shop::campaigns::find_program;
use crate::shop::metadata_schemas;
use crate::shop::program_rules::PROGRAM_RULE;
use crate::shop::program_tiers::{PROGRAM_TIER, check_counted, of_campaign, of_held};
use crate::shop::reward_assignments::{ASSIGNMENT, of_program};
use crate::shop::rewards::{REWARD, show as show_rewards};
use crate::shop::vouchers::find_card;
use crate::store::document::Document;
use scrip::points::tiered::CampaignTier;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::loyalty::program_tier::read_campaign_tier;
use serde_json::{Map, Value as Json, json};

/// Tiers of a campaign.
const TIERS_MAX: usize = 100;

const ALL: &str = "/v1/loyalties/{campaignId}/tiers";

/// What the documents are called on the wire.
const OBJECT: &str = "loyalty_tier";

const TIERS: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
    filters: &[],
    conditions: &[],
};

/// All that is listed of a tier is in hand.
const PARTS: List = List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] };

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get(ALL, "List the tiers of a loyalty campaign", list)
        .scope("loyalties")
        .query(&[LIMIT, may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))])
        .lists("data", TIER, TOTAL),
    post(ALL, "Create tiers of a loyalty campaign", create)
        .scope("loyalties")
        .many(CREATE)
        .answers(200, Kind::List(&TIER, 0, TIERS_MAX)),
    get("/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}", "Get a tier of a loyalty campaign", get_one)
        .scope("loyalties")
        .answers(200, TIER),
    get(
        "/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}/earning-rules",
        "List the earning rules that a tier changes",
        earning_rules,
    )
    .scope("loyalties")
    .query(&[LIMIT, PAGE])
    .lists("data", RULE_SHAPE, TOTAL),
    get(
        "/v1/loyalties/{campaignId}/tiers/{loyaltyTierId}/rewards",
        "List the rewards whose price a tier changes",
        rewards,
    )
    .scope("loyalties")
    .lists("data", TIER_REWARD, TOTAL),
    get("/v1/loyalties/members/{memberId}/tiers", "List the tiers that a member is in", of_member)
        .scope("loyalties")
        .lists("data", TIER, TOTAL),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    let mut clause = Clause::of_kind(PROGRAM_TIER);
    clause.and("parent = {}", program.id);
    let page = TIERS.select(call.store, &call.query, clause)?;
    let shown = page.documents.into_iter().map(|tier| Json::Object(tier.body)).collect();
    Ok(Answer::json(Json::Object(TIERS.envelope(shown, page.total))))
}

/// All the tiers of a body, or none.
fn create(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    check_counted(&program.body)?;
    let mut known: Vec<CampaignTier> =
        of_campaign(call.store, &program.id)?.into_iter().map(|(_, tier)| tier).collect();
    let sent = call.sources()?;
    let most = TIERS_MAX.saturating_sub(known.len());
    if sent.is_empty() || sent.len() > most {
        let told = format!("must have 1 to {most} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", told).into());
    }
    let mut made = Vec::new();
    for (place, one) in sent.into_iter().enumerate() {
        let place = format!("[{place}]");
        let body = shape::read(CREATE, one, Nulls::Dropped).map_err(|problem| problem.within(&place))?;
        check_mapped(call, &program, &body, &place)?;
        let tier = draft(call, &program, body)?;
        let read = read_fields(&tier.body, read_campaign_tier).map_err(|problem| problem.within(&place))?;
        if let Some(other) = known.iter().find(|other| overlap(other, &read)) {
            let told = format!("must NOT overlap with those of the tier `{}`", other.name);
            return Err(Problem::at(format!("{place}.points"), told).into());
        }
        known.push(read);
        call.store.insert(PROGRAM_TIER, &tier);
        made.push(Json::Object(tier.body));
    }
    Ok(Answer::json(Json::Array(made)))
}

fn overlap(one: &CampaignTier, other: &CampaignTier) -> bool {
    let ends_before = |one: &CampaignTier, other: &CampaignTier| one.to.is_some_and(|to| to < other.from);
    !ends_before(one, other) && !ends_before(other, one)
}

fn draft(call: &mut Call<'_, '_>, program: &Document, mut body: Map<String, Json>) -> Result<Document, CallError> {
    let id = call.ids.alphanumeric("ltr_", 24).to_string();
    let range = body.get("points").cloned().unwrap_or_default();
    let defaults = json!({
        "id": id, "campaign_id": program.id, "config": { "points": range }, "metadata": {}, "earning_rules": {}, "rewards": {},
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": OBJECT,
    });
    merge::fill_top(&mut body, &defaults);
    metadata_schemas::check(call.store, &[(OBJECT, body.get("metadata"))])?;
    let mut document = Document::new(id, None, call.now_ms(), body);
    document.parent = Some(program.id.clone());
    Ok(document)
}

/// What a tier maps is of its campaign.
fn check_mapped(
    call: &Call<'_, '_>,
    program: &Document,
    body: &Map<String, Json>,
    place: &str,
) -> Result<(), CallError> {
    for id in names(body.get("earning_rules")) {
        let rule = call.store.document(PROGRAM_RULE.object, id)?;
        if rule.is_none_or(|rule| rule.parent.as_ref() != Some(&program.id)) {
            return Err(unknown(&format!("{place}.earning_rules"), "an earning rule", id).into());
        }
    }
    let assigned = of_program(call, &program.id)?;
    for id in names(body.get("rewards")) {
        if !assigned.iter().any(|assignment| assignment.id == id || assignment.parent.as_deref() == Some(id)) {
            return Err(unknown(&format!("{place}.rewards"), "a reward", id).into());
        }
    }
    Ok(())
}

fn names(mapped: Option<&Json>) -> impl Iterator<Item = &str> {
    mapped.and_then(Json::as_object).into_iter().flatten().map(|(name, _)| name.as_str())
}

fn unknown(path: &str, what: &str, id: &str) -> Problem {
    Problem::bound(path, &format!("must name {what} of the campaign"), id)
}

fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let program = find_program(call)?;
    let id = call.param("loyaltyTierId");
    let tier = call.store.document(PROGRAM_TIER, id)?.filter(|tier| tier.parent.as_ref() == Some(&program.id));
    Ok(tier.ok_or_else(|| not_found(OBJECT, id))?)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let tier = find(call)?;
    Ok(Answer::json(Json::Object(tier.body)))
}

fn earning_rules(call: &mut Call<'_, '_>) -> Outcome {
    let tier = find(call)?;
    let named: Vec<String> = names(tier.body.get("earning_rules")).map(str::to_owned).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let found = call.store.documents_by_names(PROGRAM_RULE.object, &[], &named)?;
    let shown = (PROGRAM_RULE.show)(call, found)?;
    Ok(Answer::json(Json::Object(paged(&PARTS, &call.query, shown)?)))
}

fn rewards(call: &mut Call<'_, '_>) -> Outcome {
    let tier = find(call)?;
    let mapped: Vec<&str> = names(tier.body.get("rewards")).collect();
    let is_mapped = |assignment: &Document| {
        mapped.contains(&assignment.id.as_str()) || assignment.parent.as_deref().is_some_and(|id| mapped.contains(&id))
    };
    let assignments: Vec<Document> =
        of_program(call, tier.parent.as_deref().unwrap_or_default())?.into_iter().filter(is_mapped).collect();
    let mut shown = Vec::new();
    for assignment in assignments {
        let Some(reward) = call.store.document(REWARD.object, assignment.parent.as_deref().unwrap_or_default())? else {
            continue;
        };
        let reward = show_rewards(call, vec![reward])?.pop();
        let assignment = ASSIGNMENT.show_one(call, assignment)?;
        shown.push(json!({ "reward": reward, "assignment": assignment, "object": "loyalty_tier_reward" }));
    }
    let total = i64::try_from(shown.len()).unwrap_or(i64::MAX);
    Ok(Answer::json(Json::Object(PARTS.envelope(shown, total))))
}

/// The tier that a card is in, if it is in one.
fn of_member(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    let mut shown = Vec::new();
    if let Some(tier) = of_held(call, &card)?
        && let Some(tier) = call.store.document(PROGRAM_TIER, &tier.id)?
    {
        shown.push(Json::Object(tier.body));
    }
    let total = i64::try_from(shown.len()).unwrap_or(i64::MAX);
    Ok(Answer::json(Json::Object(PARTS.envelope(shown, total))))
}
