//! Prices of rewards for the members of a loyalty campaign: assignments between a reward and a campaign, from
//! either side.

use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::resource;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::rewards::assignments::ASSIGNMENT;
use crate::domain::rewards::reward::{REWARD, missing_parameter};
use crate::domain::validation_rules::assignments;
use crate::http::reply::{CallError, duplicate, error, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, delete, get, post, put};
use crate::http::shape::{self, Field, FieldType, INT_MAX, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::loyalty_campaigns;
use crate::store::records::RewardAssignmentRecord;
use crate::timestamp;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Maximum number of assignments in one request.
const ASSIGNMENTS_MAX: usize = 100;

const PRICE: FieldType = FieldType::Object(&[may(
    "loyalty",
    FieldType::Object(&[
        may("points", FieldType::Int(1, INT_MAX)).description(
            "Number of points that the reward costs. Required for all rewards except those of type `COIN`.",
        ),
        may("auto_redeem", FieldType::Bool)
            .description("Flag that is stored and returned as sent. No operation acts on the flag."),
    ]),
)
.description("Price in points.")]);

const RULES: FieldType = FieldType::List(&KEY, 0, 1);

const PARAMETERS: Field = may("parameters", PRICE).description(
    "Price of the reward in the campaign. Refused for rewards of type `COIN`, whose exchange ratio is the price.",
);
const VALIDATION_RULES: Field =
    may("validation_rules", RULES).description("ID of the validation rule to assign. The rule must exist.");
const CREATE: &[Field] =
    &[may("campaign", KEY).description("ID or name of the loyalty campaign. Required."), PARAMETERS, VALIDATION_RULES];
const OF_CAMPAIGN: &[Field] = &[
    may("reward", KEY).description("ID of the reward. Required, and unique within the request."),
    PARAMETERS,
    VALIDATION_RULES,
];
const UPDATE: &[Field] =
    &[may("parameters", PRICE).description("New price of the reward. Parts that are absent keep their values.")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/rewards/{rewardId}/assignments", "List the assignments of a reward", list)
        .describe(
            "listRewardAssignments",
            "Returns the loyalty campaigns to which a reward is assigned, with the price in each. The newest assignment is first. An unknown reward is refused with `not_found`, a malformed page or limit with `invalid_query_params`.",
        )
        .returns("The assignments of this page and the total.")
        .of(&ASSIGNMENT)
        .lists_resource(shapes::TOTAL)
        .scope("rewards")
        .query(&[LIMIT, PAGE]),
    post("/v1/rewards/{rewardId}/assignments", "Assign a reward to a loyalty campaign", create)
        .describe(
            "createRewardAssignment",
            "Assigns a reward to a loyalty campaign at a price in points, so that holders of its cards can exchange points for the reward. The webhook event `campaign.reward.assignment.created` follows. A second assignment to the same campaign is refused with `duplicate_found`, a missing campaign or price with `missing_param`.",
        )
        .returns("The new assignment.")
        .of(&ASSIGNMENT)
        .scope("rewards")
        .body(CREATE),
    get("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Get an assignment of a reward", get_one)
        .describe(
            "getRewardAssignment",
            "Returns one assignment of a reward, with the price in points. An assignment of another reward is refused with `not_found`.",
        )
        .returns("The assignment.")
        .of(&ASSIGNMENT)
        .scope("rewards"),
    put("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Update an assignment of a reward", update)
        .describe(
            "updateRewardAssignment",
            "Changes the price of a reward in one loyalty campaign; parts of the price that are absent stay. Earlier redemptions keep their prices. The webhook event `campaign.reward.assignment.updated` follows. An assignment of another reward is refused with `not_found`, a price for a `COIN` reward with `invalid_payload`.",
        )
        .returns("The assignment after the change.")
        .of(&ASSIGNMENT)
        .scope("rewards")
        .body(UPDATE),
    delete("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Delete an assignment of a reward", remove)
        .describe(
            "deleteRewardAssignment",
            "Removes a reward from a loyalty campaign, with the validation rule of the assignment. Rewards that customers have already received stay. The webhook event `campaign.reward.assignment.deleted` follows. An assignment of another reward is refused with `not_found`.",
        )
        .returns("No content. The assignment is deleted.")
        .of(&ASSIGNMENT)
        .scope("rewards")
        .answers(204, shapes::EMPTY),
    get("/v1/loyalties/{campaignId}/rewards", "List the rewards of a loyalty campaign", list)
        .describe(
            "listLoyaltyCampaignRewards",
            "Returns the reward assignments of a loyalty campaign, with the price of each reward. The newest assignment is first. An unknown campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The assignments of this page and the total.")
        .of(&ASSIGNMENT)
        .lists_resource(shapes::TOTAL)
        .scope("loyalties")
        .query(&[LIMIT, PAGE, may("assignment_id", KEY).description("ID of an assignment. Only this assignment is listed.")]),
    post("/v1/loyalties/{campaignId}/rewards", "Assign rewards to a loyalty campaign", create_many)
        .describe(
            "createLoyaltyCampaignRewards",
            "Assigns 1 to 100 rewards to a loyalty campaign at their prices: all of them or none. The webhook event `campaign.reward.assignment.created` follows for each. A reward that the campaign already has is refused with `duplicate_found`, a missing reward or price with `missing_param`.",
        )
        .returns("The new assignment, or the list of new assignments if several were sent.")
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .many(OF_CAMPAIGN),
    get("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Get a reward of a loyalty campaign", get_one)
        .describe(
            "getLoyaltyCampaignReward",
            "Returns one reward assignment of a loyalty campaign, with the price in points. An assignment of another campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The assignment.")
        .of(&ASSIGNMENT)
        .scope("loyalties"),
    put("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Update a reward of a loyalty campaign", update)
        .describe(
            "updateLoyaltyCampaignReward",
            "Changes the price of a reward in a loyalty campaign; parts of the price that are absent stay. Earlier redemptions keep their prices. The webhook event `campaign.reward.assignment.updated` follows. An assignment of another campaign is refused with `not_found`, a price for a `COIN` reward with `invalid_payload`.",
        )
        .returns("The assignment after the change.")
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .body(UPDATE),
    delete("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Remove a reward from a loyalty campaign", remove)
        .describe(
            "deleteLoyaltyCampaignReward",
            "Removes a reward from a loyalty campaign, with the validation rule of the assignment. Rewards that customers have already received stay. The webhook event `campaign.reward.assignment.deleted` follows. An assignment of another campaign is refused with `not_found`.",
        )
        .returns("No content. The assignment is deleted.")
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .answers(204, shapes::EMPTY),
    get("/v1/loyalties/{campaignId}/reward-assignments", "List the reward assignments of a loyalty campaign", list)
        .describe(
            "listLoyaltyCampaignRewardAssignments",
            "Returns the reward assignments of a loyalty campaign, with the price of each reward. The newest assignment is first. An unknown campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The assignments of this page and the total.")
        .of(&ASSIGNMENT)
        .lists_resource(shapes::TOTAL)
        .scope("loyalties")
        .query(&[LIMIT, PAGE, may("assignmentId", KEY).description("ID of an assignment. Only this assignment is listed.")]),
    get("/v1/loyalties/{campaignId}/reward-assignments/{assignmentId}", "Get a reward assignment of a loyalty campaign", get_one)
        .describe(
            "getLoyaltyCampaignRewardAssignment",
            "Returns one reward assignment of a loyalty campaign, with the price in points. An assignment of another campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The assignment.")
        .of(&ASSIGNMENT)
        .scope("loyalties"),
    get("/v1/loyalties/{campaignId}/reward-assignments/{assignmentId}/reward", "Get the reward of an assignment", get_reward)
        .describe(
            "getLoyaltyCampaignAssignedReward",
            "Returns the reward of one assignment of a loyalty campaign. The price is in the assignment. An assignment of another campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The reward.")
        .of(&REWARD)
        .scope("loyalties"),
];

/// The object of a path that assignments are listed for.
enum AssignmentSide {
    /// The loyalty campaign.
    Campaign(Document),
    /// The reward.
    Reward(Document),
}

/// Finds the side of assignments that a path names.
fn find_side(call: &Call<'_, '_>) -> Result<AssignmentSide, CallError> {
    if call.param(REWARD.parameter).is_empty() {
        return Ok(AssignmentSide::Campaign(find_loyalty_campaign(call, call.param(CAMPAIGN.parameter))?));
    }
    Ok(AssignmentSide::Reward(REWARD.find(call)?))
}

/// Finds a loyalty campaign by id or name.
fn find_loyalty_campaign(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    let campaign = call.store.document_by_name(CAMPAIGN.object, name, name)?;
    let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, name))?;
    let kind = campaign.as_campaign().campaign_type();
    if kind == "LOYALTY_PROGRAM" {
        return Ok(campaign);
    }
    let message = format!("Rewards belong to a LOYALTY_PROGRAM campaign (the type of this campaign is `{kind}`)");
    Err(error(400, "invalid_campaign", "Invalid Campaign", message).into())
}

/// Finds the assignment that a path names, on the side that it names.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let side = find_side(call)?;
    let assignment = ASSIGNMENT.find(call)?;
    let is_of_side = match &side {
        AssignmentSide::Campaign(campaign) => assignment.holder.as_ref() == Some(&campaign.id),
        AssignmentSide::Reward(reward) => assignment.parent.as_ref() == Some(&reward.id),
    };
    if !is_of_side {
        return Err(not_found(ASSIGNMENT.object, &assignment.id).into());
    }
    Ok(assignment)
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(ASSIGNMENT.object);
    match find_side(call)? {
        AssignmentSide::Campaign(campaign) => clause.held_by(&campaign.id),
        AssignmentSide::Reward(reward) => clause.within(&reward.id),
    }
    let page = ASSIGNMENT.list.select(call.store, &call.query, clause)?;
    let json = resource::bodies_to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(ASSIGNMENT.list.envelope(json, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    Ok(Response::json(Json::Object(find(call)?.body)))
}

fn get_reward(call: &mut Call<'_, '_>) -> HandlerResult {
    let assignment = find(call)?;
    let id = assignment.parent.unwrap_or_default();
    let reward = call.store.document(REWARD.object, &id)?.ok_or_else(|| not_found(REWARD.object, &id))?;
    Ok(Response::json(REWARD.one_to_json(call, reward)?))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let reward = REWARD.find(call)?;
    let name = RewardAssignmentRecord::of(&sent).campaign().ok_or_else(|| missing_parameter("campaign"))?;
    let campaign = find_loyalty_campaign(call, name)?;
    let assignment = assign(call, &reward, &campaign, sent)?;
    Ok(Response::json(assignment))
}

/// Creates all the assignments of a body, or none; a single one is returned as an object.
fn create_many(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = read_many(call)?;
    let campaign = find_loyalty_campaign(call, call.param(CAMPAIGN.parameter))?;
    let mut created: Vec<Json> = Vec::new();
    for (index, item) in sent.into_iter().enumerate() {
        let name = RewardAssignmentRecord::of(&item).reward();
        let name = name.ok_or_else(|| missing_parameter(&format!("[{index}].reward")))?;
        let reward = call.store.document(REWARD.object, name)?.ok_or_else(|| not_found(REWARD.object, name))?;
        if created.iter().any(|other| RewardAssignmentRecord::of_value(other).reward_id() == Some(&reward.id)) {
            let message = format!("must NOT be there twice (actual value is `{}`)", reward.id);
            return Err(Problem::at(format!("[{index}].reward"), message).into());
        }
        created.push(assign(call, &reward, &campaign, item)?);
    }
    Ok(Response::json(if created.len() == 1 { created.pop().unwrap_or(Json::Null) } else { Json::Array(created) }))
}

/// Reads the assignments of a body, at least one.
fn read_many(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > ASSIGNMENTS_MAX {
        let message = format!("must have 1 to {ASSIGNMENTS_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", message).into());
    }
    let read = sent.into_iter().enumerate().map(|(index, item)| {
        shape::read(OF_CAMPAIGN, item, Nulls::Dropped).map_err(|problem| problem.within(&format!("[{index}]")))
    });
    Ok(read.collect::<Result<_, Problem>>()?)
}

/// Queues the assignment of a reward to a campaign, at most once; every reward except a coin reward has a price.
fn assign(
    call: &mut Call<'_, '_>,
    reward: &Document,
    campaign: &Document,
    mut sent: Map<String, Json>,
) -> Result<Json, CallError> {
    if let Some(known) = loyalty_campaigns::find_assignment_id(call.store, &reward.id, &campaign.id)? {
        return Err(duplicate(ASSIGNMENT.object, "id", &known).into());
    }
    let rules = assignments::find_rules(call, sent.remove("validation_rules").as_ref())?;
    check_price(reward, &sent)?;
    let id = call.ids.alphanumeric("rewa_", 24).to_string();
    let mut body = json!({
        "id": id, "reward_id": reward.id, "related_object_id": campaign.id, "related_object_type": "campaign",
        "created_at": timestamp::text(call.now_ms()), "updated_at": null, "object": ASSIGNMENT.object,
    });
    if let (Some(body), Some(parameters)) = (body.as_object_mut(), sent.remove("parameters")) {
        body.insert("parameters".into(), parameters);
    }
    let assignment = Document {
        id,
        key: None,
        parent: Some(reward.id.clone()),
        holder: Some(campaign.id.clone()),
        created_at: call.now_ms(),
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert(ASSIGNMENT.object, &assignment);
    assignments::assign(call, rules, &assignment.id, ASSIGNMENT.object);
    Ok(body)
}

/// Checks the price: a reward costs points; a coin reward has an exchange ratio, and its assignment no price.
fn check_price(reward: &Document, sent: &Map<String, Json>) -> Result<(), CallError> {
    let sent = RewardAssignmentRecord::of(sent);
    let is_coin = reward.as_reward().is_coin();
    if is_coin && sent.has_parameters() {
        return Err(Problem::at("parameters", "must NOT be present on an assignment of a COIN reward").into());
    }
    if !is_coin && sent.price().is_none_or(|price| !price.contains_key("points")) {
        return Err(missing_parameter("parameters.loyalty.points").into());
    }
    Ok(())
}

/// Updates a price. Absent members are not changed; a null removes an optional member.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Kept)?;
    let mut assignment = find(call)?;
    if let Some(reward) = call.store.document(REWARD.object, assignment.parent.as_deref().unwrap_or_default())?
        && reward.as_reward().is_coin()
    {
        check_price(&reward, &sent)?;
    }
    let price = RewardAssignmentRecord::of(&sent).price();
    if let Some(price) = price {
        let parameters = assignment.body.entry("parameters").or_insert_with(|| json!({}));
        let known =
            parameters.as_object_mut().map(|parameters| parameters.entry("loyalty").or_insert_with(|| json!({})));
        if let Some(known) = known.and_then(Json::as_object_mut) {
            let changes = price.iter().filter(|(name, value)| name.as_str() != "points" || !value.is_null());
            known.extend(changes.map(|(name, value)| (name.clone(), value.clone())));
            known.retain(|_, value| !value.is_null());
        }
    }
    call.touch(&mut assignment);
    call.store.update(ASSIGNMENT.object, &assignment);
    Ok(Response::json(Json::Object(assignment.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let assignment = find(call)?;
    assignments::delete_all(call, &assignment.id);
    call.store.delete(ASSIGNMENT.object, &assignment.id);
    Ok(Response::empty(204))
}
