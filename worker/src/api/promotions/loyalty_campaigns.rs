//! Loyalty programs of the older interface: campaigns of one type, under a path of their own. It must not know what a campaign of
//! any other type has.

use crate::api::promotions::campaign_changes::change;
use crate::api::promotions::campaign_creation::{VOUCHERS_MAX, create_program};
use crate::api::promotions::campaigns::{EXPANDED, list_within, take_away};
use crate::document::clause::Clause;
use crate::document::fields::{
    CODE_CONFIG, KEY, LIMIT, LOYALTY_CARD, PAGE, REDEMPTION, VALIDITY_DAY_OF_WEEK, VALIDITY_HOURS, VALIDITY_TIMEFRAME,
};
use crate::document::shapes;
use crate::http::route::{Answer, Call, Outcome, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, may, must};
use crate::shop::campaigns::{CAMPAIGN, PROGRAM, find_program};

const VOUCHER: &[Field] = &[
    may("type", Kind::OneOf(&["LOYALTY_CARD"])),
    must("loyalty_card", LOYALTY_CARD),
    may("code_config", CODE_CONFIG),
    may("redemption", REDEMPTION),
];

/// What a program says at its beginning (endpoints.md section 1, shape S9).
const CREATE: &[Field] = &[
    must("name", KEY),
    may("description", Kind::Text),
    may("campaign_type", Kind::OneOf(&[PROGRAM])),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC"])),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("use_voucher_metadata_schema", Kind::Bool),
    may("vouchers_count", Kind::Int(0, VOUCHERS_MAX)),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("activity_duration_after_publishing", Kind::Duration),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    must("voucher", Kind::Object(VOUCHER)),
    may("loyalty_tiers_expiration", shapes::program_tiers::QUALIFICATION),
];

const UPDATE: &[Field] = &[
    may("description", Kind::Text),
    may("type", Kind::OneOf(&["AUTO_UPDATE", "STATIC"])),
    may("join_once", Kind::Bool),
    may("auto_join", Kind::Bool),
    may("start_date", Kind::DateTime),
    may("expiration_date", Kind::DateTime),
    may("validity_timeframe", VALIDITY_TIMEFRAME),
    may("validity_day_of_week", VALIDITY_DAY_OF_WEEK),
    may("validity_hours", VALIDITY_HOURS),
    may("activity_duration_after_publishing", Kind::Duration),
    may("category", KEY),
    may("category_id", KEY),
    may("metadata", Kind::Map),
    may("unset_metadata_fields", Kind::List(&KEY, 0, 100)),
    may("loyalty_tiers_expiration", shapes::program_tiers::QUALIFICATION),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/loyalties", "List loyalty programs", list).of(&CAMPAIGN).listed(shapes::TOTAL).scope("loyalties").query(
        &[
            LIMIT,
            PAGE,
            may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
            may("expand", Kind::OneOf(EXPANDED)),
        ],
    ),
    post("/v1/loyalties", "Create a loyalty program", create_program).of(&CAMPAIGN).scope("loyalties").body(CREATE),
    get("/v1/loyalties/{campaignId}", "Get a loyalty program by id or name", get_one).of(&CAMPAIGN).scope("loyalties"),
    put("/v1/loyalties/{campaignId}", "Update a loyalty program and its free cards", update)
        .of(&CAMPAIGN)
        .scope("loyalties")
        .body(UPDATE),
    delete("/v1/loyalties/{campaignId}", "Delete a loyalty program and its cards", remove)
        .of(&CAMPAIGN)
        .scope("loyalties")
        .query(&[may("force", Kind::Bool)])
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(CAMPAIGN.object).at(call.now_ms());
    clause.and("json_extract(body, '$.campaign_type') = {}", PROGRAM);
    list_within(call, clause)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    Ok(Answer::json(CAMPAIGN.show_one(call, program)?))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    change(call, program)
}

/// Whether it is forced or not, it is gone; unless it is, its name is taken until the bin is purged of it.
fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let program = find_program(call)?;
    Ok(Answer::json(take_away(call, &program)?))
}
