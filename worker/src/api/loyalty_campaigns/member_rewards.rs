//! The rewards that a member of a loyalty campaign can buy with points.

use crate::documents::shapes;
use crate::domain::balances::adjustments::find_free_points;
use crate::domain::loyalty_campaigns::tiers;
use crate::domain::rewards::assignments::{ASSIGNMENT, list_assignments};
use crate::domain::rewards::reward::{REWARD, to_json};
use crate::domain::vouchers::voucher::find_card;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{FieldType, may};
use scrip::points::campaign_tiers::CampaignTier;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

/// The routes of the area.
pub const ROUTES: &[Route] =
    &[get("/v1/loyalties/members/{memberId}/rewards", "List the rewards for a loyalty card", list)
        .describe(
            "listLoyaltyCardRewards",
            "Returns all rewards of the campaign of a loyalty card, the last assigned first. Prices are those of the tier that the card is in. Stock and validation rules are not checked. A voucher of another type is refused with `not_found`.",
        )
        .returns("The rewards with their prices, and the total.")
        .scope("loyalties")
        .query(&[may("affordable_only", FieldType::Bool).description("`true` to list only rewards that the unlocked points of the card can pay for. Default `false`.")])
        .lists("data", shapes::loyalty::LOYALTY_REWARD, shapes::TOTAL)];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    let points_max = match call.query.is_true("affordable_only") {
        true => find_free_points(call, &card)?,
        false => i64::MAX,
    };
    let mut rewards = list_rewards(call, card.parent.as_deref().unwrap_or_default())?;
    if let Some(tier) = tiers::find_tier_of_card(call, &card)? {
        rewards.iter_mut().for_each(|(_, assignment)| apply_tier_price(assignment, &tier));
    }
    let affordable = rewards.into_iter().filter(|(reward, assignment)| lowest_price(reward, assignment) <= points_max);
    let json: Vec<Json> = affordable
        .map(|(reward, assignment)| json!({ "reward": reward, "assignment": assignment, "object": "loyalty_reward" }))
        .collect();
    let total = i64::try_from(json.len()).unwrap_or(i64::MAX);
    Ok(Response::json(Json::Object(ASSIGNMENT.list.envelope(json, total))))
}

/// Lists the rewards of a loyalty campaign with their assignments, the last assigned first.
fn list_rewards(call: &mut Call<'_, '_>, campaign_id: &str) -> Result<Vec<(Json, Json)>, CallError> {
    let assignments = list_assignments(call, campaign_id)?;
    let reward_ids: Vec<&str> = assignments.iter().filter_map(|assignment| assignment.parent.as_deref()).collect();
    let found = call.store.documents_by_names(REWARD.object, &[], &reward_ids)?;
    let ids: Vec<String> = found.iter().map(|reward| reward.id.clone()).collect();
    let json: HashMap<String, Json> = ids.into_iter().zip(to_json(call, found)?).collect();
    let pairs = assignments.into_iter().filter_map(|assignment| {
        let reward = json.get(assignment.parent.as_deref()?)?.clone();
        Some((reward, Json::Object(assignment.body)))
    });
    Ok(pairs.collect())
}

/// Sets the price of a tier in an assignment.
fn apply_tier_price(assignment: &mut Json, tier: &CampaignTier) {
    let name = |name: &str| assignment.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let (id, reward) = (name("id"), name("reward_id"));
    if let Some(price) = assignment.pointer_mut("/parameters/loyalty/points")
        && let Some(points) = price.as_u64()
    {
        *price = tier.price(&id, &reward, points).into();
    }
}

/// Returns the lowest price of a reward: its price, or one block of points of a coin reward.
fn lowest_price(reward: &Json, assignment: &Json) -> i64 {
    let price = assignment.pointer("/parameters/loyalty/points");
    let price = price.or_else(|| reward.pointer("/parameters/coin/points_ratio"));
    price.and_then(Json::as_i64).unwrap_or(1)
}
