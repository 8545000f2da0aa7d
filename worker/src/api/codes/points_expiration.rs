//! The points of a loyalty card by when they lapse. It must not know how they come to lapse.

use crate::document::fields::{LIMIT, PAGE};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::shop::point_buckets::buckets;
use crate::shop::vouchers::find_card;
use serde_json::Value as Json;

/// All that is listed is on one card, and in hand.
const BUCKETS: List = List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] };

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v1/loyalties/{campaignId}/members/{memberId}/points-expiration",
    "List the points of a card by when they lapse",
    list,
)
.scope("loyalties")
.query(&[LIMIT, PAGE])
.lists("data", shapes::codes::POINTS_BUCKET, shapes::TOTAL)];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let page = read_int(&call.query, "page", 1, BUCKETS.page_max)?.unwrap_or(1);
    let all = buckets(call, &card)?;
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let place = |number: i64| usize::try_from(number).unwrap_or(0);
    let before = place(page.saturating_sub(1)).saturating_mul(place(limit));
    let shown = all.into_iter().skip(before).take(place(limit)).collect();
    Ok(Answer::json(Json::Object(BUCKETS.envelope(shown, total))))
}
