//! The points of a loyalty card by when they lapse. It must not know how they come to lapse.

use crate::document::fields::{LIMIT, PAGE};
use crate::document::list::paged;
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
    let all = buckets(call, &card)?;
    Ok(Answer::json(Json::Object(paged(&BUCKETS, &call.query, all)?)))
}
