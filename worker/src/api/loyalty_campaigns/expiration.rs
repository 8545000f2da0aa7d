//! The points of a loyalty card by their expiration.

use crate::documents::common_fields::{LIMIT, PAGE};
use crate::documents::list::page_of;
use crate::documents::shapes;
use crate::domain::balances::expiring::list_buckets;
use crate::domain::vouchers::voucher::find_card;
use crate::http::list_options::List;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use serde_json::Value as Json;

/// All buckets are on one loaded card.
const BUCKETS: List = List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] };

/// The routes of the area.
pub const ROUTES: &[Route] = &[get(
    "/v1/loyalties/{campaignId}/members/{memberId}/points-expiration",
    "List the points of a loyalty card by expiration",
    list,
)
.describe(
    "listLoyaltyCampaignMemberPointsExpirations",
    "Returns the spendable points of one card of the named campaign, grouped by the day on which they expire. The next to expire are first, points without expiration last. A card of another campaign is refused with `not_found`, a malformed page or limit with `invalid_query_params`.",
)
.returns("The groups of points on this page and the total.")
.scope("loyalties")
.query(&[LIMIT, PAGE])
.lists("data", shapes::vouchers::POINTS_BUCKET, shapes::TOTAL)];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    let buckets = list_buckets(call, &card)?;
    Ok(Response::json(Json::Object(page_of(&BUCKETS, &call.query, buckets)?)))
}
