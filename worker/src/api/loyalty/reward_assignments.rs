//! What rewards cost the members of a loyalty program: assignments between a reward and a campaign, from either side.
//! It must not know what a reward gives.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, error, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{self, Field, INT_MAX, Kind, Nulls, may};
use crate::moment;
use crate::shop::assignments;
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::reward_assignments::ASSIGNMENT;
use crate::shop::rewards::{REWARD, missing};
use crate::store::document::Document;
use scrip::wire::Problem;
use serde_json::{Map, Value as Json, json};

/// Assignments that one request may make.
const ASSIGNMENTS_MAX: usize = 100;

const PRICE: Kind = Kind::Object(&[may(
    "loyalty",
    Kind::Object(&[may("points", Kind::Int(1, INT_MAX)), may("auto_redeem", Kind::Bool)]),
)]);

const RULES: Kind = Kind::List(&KEY, 0, 1);

const CREATE: &[Field] = &[may("campaign", KEY), may("parameters", PRICE), may("validation_rules", RULES)];
const OF_CAMPAIGN: &[Field] = &[may("reward", KEY), may("parameters", PRICE), may("validation_rules", RULES)];
const UPDATE: &[Field] = &[may("parameters", PRICE)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/rewards/{rewardId}/assignments", "List what a reward is assigned to", list)
        .of(&ASSIGNMENT)
        .listed(shapes::TOTAL)
        .scope("rewards")
        .query(&[LIMIT, PAGE]),
    post("/v1/rewards/{rewardId}/assignments", "Assign a reward to a loyalty program", create)
        .of(&ASSIGNMENT)
        .scope("rewards")
        .body(CREATE),
    get("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Get an assignment of a reward", get_one)
        .of(&ASSIGNMENT)
        .scope("rewards"),
    put("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Change what a reward costs", update)
        .of(&ASSIGNMENT)
        .scope("rewards")
        .body(UPDATE),
    delete("/v1/rewards/{rewardId}/assignments/{assignmentId}", "Take a reward from a loyalty program", remove)
        .of(&ASSIGNMENT)
        .scope("rewards")
        .answers(204, shapes::EMPTY),
    get("/v1/loyalties/{campaignId}/rewards", "List the rewards of a loyalty program", list)
        .of(&ASSIGNMENT)
        .listed(shapes::TOTAL)
        .scope("loyalties")
        .query(&[LIMIT, PAGE, may("assignment_id", KEY)]),
    post("/v1/loyalties/{campaignId}/rewards", "Assign rewards to a loyalty program", create_many)
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .many(OF_CAMPAIGN),
    get("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Get an assignment of a program", get_one)
        .of(&ASSIGNMENT)
        .scope("loyalties"),
    put("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Change what a reward costs in a program", update)
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .body(UPDATE),
    delete("/v1/loyalties/{campaignId}/rewards/{assignmentId}", "Take a reward from a program", remove)
        .of(&ASSIGNMENT)
        .scope("loyalties")
        .answers(204, shapes::EMPTY),
    get("/v1/loyalties/{campaignId}/reward-assignments", "List the reward assignments of a program", list)
        .of(&ASSIGNMENT)
        .listed(shapes::TOTAL)
        .scope("loyalties")
        .query(&[LIMIT, PAGE, may("assignmentId", KEY)]),
    get("/v1/loyalties/{campaignId}/reward-assignments/{assignmentId}", "Get a reward assignment", get_one)
        .of(&ASSIGNMENT)
        .scope("loyalties"),
    get("/v1/loyalties/{campaignId}/reward-assignments/{assignmentId}/reward", "Get the reward assigned", get_reward)
        .of(&REWARD)
        .scope("loyalties"),
];

/// The side that a path names, the reward or the program: the column, and its document.
fn side(call: &Call<'_, '_>) -> Result<(&'static str, Document), CallError> {
    if call.param(REWARD.parameter).is_empty() {
        return Ok(("holder", find_program(call, call.param(CAMPAIGN.parameter))?));
    }
    Ok(("parent", REWARD.find(call)?))
}

/// A loyalty program by id or name.
fn find_program(call: &Call<'_, '_>, name: &str) -> Result<Document, CallError> {
    let campaign = call.store.document_by_name(CAMPAIGN.object, name, name)?;
    let campaign = campaign.ok_or_else(|| not_found(CAMPAIGN.object, name))?;
    let kind = campaign.body.get("campaign_type").and_then(Json::as_str).unwrap_or_default();
    if kind == "LOYALTY_PROGRAM" {
        return Ok(campaign);
    }
    let told = format!("Rewards belong to a LOYALTY_PROGRAM campaign (the type of this campaign is `{kind}`)");
    Err(error(400, "invalid_campaign", "Invalid Campaign", told).into())
}

/// The assignment that a path names, on the side that it names.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let (column, side) = side(call)?;
    let assignment = ASSIGNMENT.find(call)?;
    let named = if column == "holder" { &assignment.holder } else { &assignment.parent };
    if named.as_ref() != Some(&side.id) {
        return Err(not_found(ASSIGNMENT.object, &assignment.id).into());
    }
    Ok(assignment)
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let (column, side) = side(call)?;
    let mut clause = Clause::of_kind(ASSIGNMENT.object);
    clause.and(&format!("{column} = {{}}"), side.id);
    let page = ASSIGNMENT.list.select(call.store, &call.query, clause)?;
    let shown = resource::show_body(call, page.documents)?;
    Ok(Answer::json(Json::Object(ASSIGNMENT.list.envelope(shown, page.total))))
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    Ok(Answer::json(Json::Object(find(call)?.body)))
}

fn get_reward(call: &mut Call<'_, '_>) -> Outcome {
    let assignment = find(call)?;
    let id = assignment.parent.unwrap_or_default();
    let reward = call.store.document(REWARD.object, &id)?.ok_or_else(|| not_found(REWARD.object, &id))?;
    Ok(Answer::json(REWARD.show_one(call, reward)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let reward = REWARD.find(call)?;
    let name = sent.get("campaign").and_then(Json::as_str).ok_or_else(|| missing("campaign"))?;
    let campaign = find_program(call, name)?;
    let assignment = assign(call, &reward, &campaign, sent)?;
    Ok(Answer::json(assignment))
}

/// All the assignments of a body, or none; a single one is answered as itself.
fn create_many(call: &mut Call<'_, '_>) -> Outcome {
    let sent = read_many(call)?;
    let campaign = find_program(call, call.param(CAMPAIGN.parameter))?;
    let mut made: Vec<Json> = Vec::new();
    for (place, one) in sent.into_iter().enumerate() {
        let name = one.get("reward").and_then(Json::as_str).ok_or_else(|| missing(&format!("[{place}].reward")))?;
        let reward = call.store.document(REWARD.object, name)?.ok_or_else(|| not_found(REWARD.object, name))?;
        if made.iter().any(|other| other.get("reward_id").and_then(Json::as_str) == Some(&reward.id)) {
            let told = format!("must NOT be there twice (actual value is `{}`)", reward.id);
            return Err(Problem::at(format!("[{place}].reward"), told).into());
        }
        made.push(assign(call, &reward, &campaign, one)?);
    }
    Ok(Answer::json(if made.len() == 1 { made.pop().unwrap_or(Json::Null) } else { Json::Array(made) }))
}

/// The assignments of a body, at least one.
fn read_many(call: &Call<'_, '_>) -> Result<Vec<Map<String, Json>>, CallError> {
    let sent = call.sources()?;
    if sent.is_empty() || sent.len() > ASSIGNMENTS_MAX {
        let told = format!("must have 1 to {ASSIGNMENTS_MAX} items (actual number is `{}`)", sent.len());
        return Err(Problem::at("", told).into());
    }
    let read = sent.into_iter().enumerate().map(|(place, one)| {
        shape::read(OF_CAMPAIGN, one, Nulls::Dropped).map_err(|problem| problem.within(&format!("[{place}]")))
    });
    Ok(read.collect::<Result<_, Problem>>()?)
}

/// Assigns a reward to a program at the commit, once; a reward that is not money off has a price.
fn assign(
    call: &mut Call<'_, '_>,
    reward: &Document,
    campaign: &Document,
    mut sent: Map<String, Json>,
) -> Result<Json, CallError> {
    let known = call.store.row(
        "SELECT id FROM document WHERE kind = 'reward_assignment' AND parent = +?1 AND holder = +?2",
        &[reward.id.as_str().into(), campaign.id.as_str().into()],
    )?;
    if let Some(row) = known {
        return Err(duplicate(ASSIGNMENT.object, "id", crate::store::sql::text(&row, 0)?).into());
    }
    let rules = assignments::take_rules(call, &mut sent)?;
    check_price(reward, &sent)?;
    let id = call.ids.alphanumeric("rewa_", 24).to_string();
    let mut body = json!({
        "id": id, "reward_id": reward.id, "related_object_id": campaign.id, "related_object_type": "campaign",
        "created_at": moment::text(call.now_ms()), "updated_at": null, "object": ASSIGNMENT.object,
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

/// A reward costs points; money off costs what its exchange ratio says, and its assignment names no price.
fn check_price(reward: &Document, sent: &Map<String, Json>) -> Result<(), CallError> {
    let parameters = sent.get("parameters");
    let is_coin = reward.body.get("type").and_then(Json::as_str) == Some("COIN");
    if is_coin && parameters.is_some() {
        return Err(Problem::at("parameters", "must NOT be present on an assignment of a COIN reward").into());
    }
    if !is_coin && parameters.is_none_or(|parameters| parameters.pointer("/loyalty/points").is_none()) {
        return Err(missing("parameters.loyalty.points").into());
    }
    Ok(())
}

/// What is not sent of a price stays as it is; a null takes it away where it may be left out.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Kept)?;
    let mut assignment = find(call)?;
    if let Some(reward) = call.store.document(REWARD.object, assignment.parent.as_deref().unwrap_or_default())?
        && reward.body.get("type").and_then(Json::as_str) == Some("COIN")
    {
        check_price(&reward, &sent)?;
    }
    let price = sent.get("parameters").and_then(|parameters| parameters.get("loyalty")).and_then(Json::as_object);
    if let Some(price) = price {
        let parameters = assignment.body.entry("parameters").or_insert_with(|| json!({}));
        let known =
            parameters.as_object_mut().map(|parameters| parameters.entry("loyalty").or_insert_with(|| json!({})));
        if let Some(known) = known.and_then(Json::as_object_mut) {
            let changes = price.iter().filter(|(name, value)| name.as_str() != "points" || !value.is_null());
            known.extend(changes.map(|(name, value)| (name.clone(), value.clone())));
        }
    }
    call.touch(&mut assignment);
    call.store.update(ASSIGNMENT.object, &assignment);
    Ok(Answer::json(Json::Object(assignment.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let assignment = find(call)?;
    assignments::detach(call, &assignment.id);
    call.store.remove(ASSIGNMENT.object, &assignment.id);
    Ok(Answer::empty(204))
}
