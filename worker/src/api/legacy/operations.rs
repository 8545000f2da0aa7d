//! The legacy operations on one voucher or one promotion tier: their translation to validations and redemptions, and their flat
//! responses.

use crate::api::legacy::query;
use crate::api::legacy::requests::{read_single, redeem_single, validate_each, validate_single};
use crate::api::qualifications;
use crate::api::redemptions::redemptions::{ASSIGNED_REWARD, GIFT, OPTIONS, ORDER, RECORD, REDEMPTION, SESSION};
use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY};
use crate::documents::list::{LIMIT_MAX, read_int};
use crate::documents::shapes;
use crate::domain::promotions::tiers::TIER;
use crate::domain::vouchers::voucher;
use crate::domain::vouchers::voucher::{VOUCHER, find_card};
use crate::http::caller::CredentialClass;
use crate::http::list_options::List;
use crate::http::reply::{CallError, error, invalid_query, not_found};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{Field, FieldType, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::keys_member;
use crate::store::documents::redemptions;
use crate::store::records::PromotionTierRecord;
use crate::store::tracking::Tracker;
use scrip::Context;
use scrip::decide::ValidationDecision;
use scrip::shape::COUNT;
use scrip::wire::decision::legacy_single::{SingleVoucherAnswer, flat as flat_of, write_promotions, write_tried};
use serde_json::{Map, Value as Json, json};

/// Tiers that one request tries, newest first (errors-and-auth, section 7).
const TIERS_MAX: i64 = 150;

/// Maximum size of the request in bytes times the number of tiers: 150 tiers with sixty lines, or twenty with five hundred.
const TRIED_BYTES_MAX: usize = 500_000;

/// Members of the list of a voucher's redemptions in addition to the redemptions.
const ENTRIES: &[Field] = &[
    must("total", COUNT).description("Number of redemptions and rollbacks of the voucher."),
    must("quantity", COUNT)
        .or_null()
        .description("Number of redemptions of the voucher that are possible in total. `null` means no limit."),
    must("redeemed_quantity", COUNT).description("Number of redemptions of the voucher that count."),
    may("redeemed_amount", COUNT).description("Gift credits that were used, in minor units. Present for a gift card."),
    may("redeemed_points", COUNT).description("Number of points that were spent. Present for a loyalty card."),
    must("url", FieldType::Text).description("Path of the redemptions of the voucher."),
];

const VOUCHER_REQUEST: &[Field] = &[
    may("order", ORDER).description("Order to which the voucher is applied."),
    may("customer", CUSTOMER_OBJECT)
        .description("Customer who uses the voucher. A redemption stores the profile that is sent."),
    may("session", SESSION).description("Lock to set, or to use by its key. Absent means no lock."),
    may("tracking_id", FieldType::Text)
        .description("Tracking ID of the customer, as an earlier answer returned it, or a `source_id`."),
    may("gift", GIFT).description("Gift credits to use from a gift card. Absent means the highest possible number."),
    may("reward", ASSIGNED_REWARD)
        .description("Reward that the points of a loyalty card buy. Required for a loyalty card."),
    may("metadata", FieldType::Map).description("Metadata of the redemption, which validation rules can test."),
    may("options", OPTIONS).description("Names of further data to include in the answer."),
];

const TIER_REQUEST: &[Field] = &[
    may("order", ORDER).description("Order to which the promotion tier is applied."),
    may("customer", CUSTOMER_OBJECT)
        .description("Customer who uses the promotion tier. A redemption stores the profile that is sent."),
    may("metadata", FieldType::Map).description("Metadata of the redemption, which validation rules can test."),
    may("options", OPTIONS).description("Names of further data to include in the answer."),
];

const POINTS: &[Field] = &[
    may("reward", ASSIGNED_REWARD).description("Reward that the points buy. Required."),
    may("order", ORDER)
        .description("Order that points pay for, in part or in full. Required for a reward of type `COIN`."),
    may("metadata", FieldType::Map).description("Metadata of the redemption, which validation rules can test."),
];

const TRACKED: &[Field] = &[may("tracking_id", FieldType::Text)
    .description("Tracking ID of the customer. Takes precedence over a tracking ID in the body.")];

/// Declares a redemption of one voucher, on a route with its code.
const fn redeems(route: Route) -> Route {
    route
        .returns("The redemption, with voucher and order after the change.")
        .scope("vouchers")
        .keeps_input()
        .query(TRACKED)
        .body(VOUCHER_REQUEST)
        .answers(200, scrip::wire::redemptions::redemption::REDEMPTION)
}

/// Declares a list of the redemptions of one voucher, on a route with its code.
const fn lists_redemptions(route: Route) -> Route {
    route
        .returns("The redemptions and rollbacks, the newest first, and the counts of the voucher.")
        .scope("vouchers")
        .query(&[crate::documents::common_fields::LIMIT])
        .lists("redemption_entries", RECORD, ENTRIES)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/{code}/validate", "Validate a voucher", validate)
        .describe(
            "validateVoucher",
            "Legacy form of a validation, for one voucher. Returns a verdict without redeeming; with a session of type `LOCK` the voucher is reserved. An inapplicable voucher gives `valid` `false` with a reason, not an error. An unknown code is refused with `not_found`, a malformed body with `invalid_payload`.",
        )
        .returns("The verdict, and the discount with the order if the voucher applies.")
        .scope("vouchers")
        .body(VOUCHER_REQUEST)
        .answers(200, shapes::legacy::VOUCHER_VALIDATION),
    get("/client/v1/validate", "Validate a voucher from a client", validate_query)
        .describe(
            "clientValidateVoucher",
            "Legacy form of a validation, for one voucher. All input is in the query, and with `session_type` `LOCK` the voucher is reserved. A code that the client may not use gives `valid` `false`, like an unknown code. A query without a code is refused with `invalid_query_params`, too many open sessions with `too_many_sessions`.",
        )
        .returns("The verdict, reduced to fields that a client may see. A visitor gets a new `tracking_id`.")
        .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
        .names_codes()
        .writes_on_get()
        .scope("validate")
        .query(&[
            must("code", KEY).description("Code of the voucher."),
            may("tracking_id", FieldType::Text)
                .description("Tracking ID of the customer, as an earlier answer returned it, or a `source_id`."),
            may("amount", FieldType::Text).description("Amount of the order, in minor units."),
            may("session_type", FieldType::Text)
                .description("Type of session. `LOCK` reserves the voucher; absent means no lock."),
            may("session_key", FieldType::Text).description("Key of the session. Absent means a generated key."),
            may("session_ttl", FieldType::Text).description(
                "Lifetime of the lock, in units of `session_ttl_unit`. Absent means the longest that the project allows clients.",
            ),
            may("session_ttl_unit", FieldType::Text)
                .description("Unit of `session_ttl`, from `DAYS` to `NANOSECONDS`. Default `DAYS`."),
            may("metadata", FieldType::Map)
                .description("Metadata of the redemption, written as `metadata[name]=value`."),
            may("item", FieldType::Map).description("Items of the order, written as `item[0][name]=value`."),
            may("customer", FieldType::Map).description(
                "`source_id` of the customer, or fields of the profile written as `customer[name]=value`.",
            ),
            may("order", FieldType::Map)
                .description("Metadata of the order, written as `order[metadata][name]=value`."),
        ])
        .answers(200, shapes::legacy::VOUCHER_VALIDATION),
    redeems(post("/v1/vouchers/{code}/redemption", "Redeem a voucher", redeem)
        .describe(
            "redeemVoucher",
            "Legacy form of a redemption, for one voucher. Applies the voucher to an order and records one redemption, or a failed one. Send an `Idempotency-Key` so that a retry is not counted twice. The webhook event `redemption.succeeded` or `redemption.failed` follows. An expired voucher is refused with `voucher_expired`, a used-up voucher with `quantity_exceeded`.",
        )),
    lists_redemptions(get("/v1/vouchers/{code}/redemption", "List the redemptions of a voucher", entries)
        .describe(
            "listVoucherRedemptions",
            "Returns the newest redemptions and rollbacks of a voucher, at most 100 and all of these by default. An unknown code is refused with `not_found`, a malformed limit with `invalid_query_params`.",
        )),
    redeems(post("/v1/vouchers/{code}/redemptions", "Redeem a voucher at its redemption URL", redeem)
        .describe(
            "redeemVoucherAtUrl",
            "Legacy form of a redemption, for one voucher. Applies the voucher to an order and records one redemption, or a failed one. Send an `Idempotency-Key` so that a retry is not counted twice. The webhook event `redemption.succeeded` or `redemption.failed` follows. The path is that of `redemption.url` in a voucher. An expired voucher is refused with `voucher_expired`, a used-up voucher with `quantity_exceeded`.",
        )),
    lists_redemptions(get("/v1/vouchers/{code}/redemptions", "List the redemptions at the redemption URL of a voucher", entries)
        .describe(
            "listVoucherRedemptionsAtUrl",
            "Returns the newest redemptions and rollbacks of a voucher, at most 100 and all of these by default. The path is that of `redemption.url` in a voucher. An unknown code is refused with `not_found`, a malformed limit with `invalid_query_params`.",
        )),
    post("/v1/promotions/validation", "Find applicable promotion tiers", validate_tiers)
        .describe(
            "validatePromotionTiers",
            "Legacy form of a qualification. Tests the 150 newest active promotion tiers on an order, each separately, and redeems none. A project with many tiers and a large order is refused with `request_too_complex`, a malformed body with `invalid_payload`.",
        )
        .returns("The promotion tiers that apply, sorted by hierarchy, each with discount and order.")
        .scope("promotions")
        .query(&[
            may("audienceRulesOnly", FieldType::Bool).description(
                "`true` to test only rules about the customer; the answer then contains no discounts. Default `false`.",
            ),
            may("filters", FieldType::Map)
                .description("Conditions on `promotion_id` and metadata of the promotion tiers, joined by `junction`."),
        ])
        .body(TIER_REQUEST)
        .answers(200, shapes::legacy::PROMOTIONS_VALIDATION),
    post("/v1/promotions/tiers/{tierId}/validation", "Validate a promotion tier", validate_tier)
        .describe(
            "validatePromotionTier",
            "Legacy form of a validation, for one promotion tier. Returns a verdict without redeeming; a session in the body is ignored. An unknown tier is refused with `not_found`, a malformed body with `invalid_payload`.",
        )
        .returns("The promotion tier with the verdict, and the discount with the order if the tier applies.")
        .scope("promotions")
        .body(TIER_REQUEST)
        .answers(200, shapes::legacy::TIER_VALIDATION),
    post("/v1/promotions/tiers/{promotionTierId}/redemption", "Redeem a promotion tier", redeem_tier)
        .describe(
            "redeemPromotionTier",
            "Legacy form of a redemption, for one promotion tier. Applies the tier to an order and records one redemption, or a failed one. The webhook event `redemption.succeeded` or `redemption.failed` follows. An unknown tier is refused with `not_found`, an order against a validation rule with `order_rules_violated`.",
        )
        .returns("The redemption, with promotion tier and order after the change.")
        .scope("promotions")
        .keeps_input()
        .body(TIER_REQUEST)
        .answers(200, scrip::wire::redemptions::redemption::REDEMPTION),
    post("/v1/loyalties/members/{memberId}/redemption", "Redeem a loyalty card for a reward", redeem_points)
        .describe(
            "redeemLoyaltyCard",
            "Redeems a loyalty card for a reward, for the holder of the card. The points are spent and the reward is granted in one transaction. The webhook event `redemption.succeeded` or `redemption.failed` follows. A call without a reward is refused with `missing_reward`, too few points with `loyalty_card_points_exceeded`.",
        )
        .returns("The redemption, with the reward, the card and the points spent.")
        .scope("loyalties")
        .keeps_input()
        .body(POINTS)
        .answers(200, scrip::wire::redemptions::redemption::REDEMPTION),
    post(
        "/v1/loyalties/{campaignId}/members/{memberId}/redemption",
        "Redeem a loyalty card of a campaign for a reward",
        redeem_points,
    )
    .describe(
        "redeemLoyaltyCampaignCard",
        "Redeems a loyalty card of the campaign for a reward, for the holder of the card. The points are spent and the reward is granted in one transaction. The webhook event `redemption.succeeded` or `redemption.failed` follows. A call without a reward is refused with `missing_reward`, too few points with `loyalty_card_points_exceeded`.",
    )
    .returns("The redemption, with the reward, the card and the points spent.")
    .scope("loyalties")
    .keeps_input()
    .body(POINTS)
    .answers(200, scrip::wire::redemptions::redemption::REDEMPTION),
];

fn validate(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.source()?;
    let voucher = voucher::find(call)?;
    let code = call.param("code").to_owned();
    validate_flat(call, Some(voucher), &code, body)
}

/// Validates for a client, which sends all in its query. An unknown code is reported as not valid. A request without a customer
/// gets an id that no customer has, by which the client may name the visitor later (docs/spec/objects.md#15).
fn validate_query(call: &mut Call<'_, '_>) -> HandlerResult {
    let code = call.query.parameter("code").filter(|code| !code.is_empty());
    let code = code.ok_or_else(|| invalid_query("Query should have required property 'code'"))?.to_owned();
    let body = query::read(&call.query)?;
    let voucher = match voucher::find_by_name(call, &code) {
        Ok(voucher) => Some(voucher),
        Err(CallError::Refused(_)) => None,
        Err(fault) => return Err(fault),
    };
    let is_verified = call.client.as_ref().is_some_and(|client| client.proven.is_some());
    let is_anonymous = !is_verified && !body.contains_key("customer") && !body.contains_key("tracking_id");
    let mut result = validate_single(call, "voucher", &code, body, flat_of).map_err(query::legacy_error)?;
    if is_anonymous {
        let visitor = call.ids.alphanumeric("", 32);
        result.track(&Tracker::load(call.store)?.tracking_id(&visitor)?);
    }
    respond_flat(call, voucher, &code, &result)
}

/// Copies the existing members with these names.
fn copy(from: &Json, names: &[&str], into: &mut Map<String, Json>) {
    for name in names {
        if let Some(value) = from.get(name) {
            into.insert((*name).to_owned(), value.clone());
        }
    }
}

/// Validates one voucher in the legacy, flat form (docs/spec/objects.md#14).
fn validate_flat(
    call: &mut Call<'_, '_>,
    voucher: Option<Document>,
    code: &str,
    body: Map<String, Json>,
) -> HandlerResult {
    let result = validate_single(call, "voucher", code, body, flat_of)?;
    respond_flat(call, voucher, code, &result)
}

fn respond_flat(
    call: &mut Call<'_, '_>,
    voucher: Option<Document>,
    code: &str,
    result: &SingleVoucherAnswer,
) -> HandlerResult {
    // A client learns nothing of an unusable code, not even its spelling: it reads like an unknown one.
    let visible_voucher = voucher.filter(|_| result.valid || call.client.is_none());
    let voucher_json = visible_voucher.map(|voucher| VOUCHER.one_to_json(call, voucher)).transpose()?;
    Ok(Response::bytes(result.print(code, voucher_json.as_ref().and_then(Json::as_object))))
}

fn redeem(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.source()?;
    if let Some(tracking_id) = call.query.parameter("tracking_id") {
        body.insert("tracking_id".into(), tracking_id.into());
    }
    let code = call.param("code").to_owned();
    redeem_single(call, "voucher", &code, body)
}

/// Lists the newest redemptions and rollbacks of a voucher, up to the limit of a list.
fn entries(call: &mut Call<'_, '_>) -> HandlerResult {
    let voucher = voucher::find(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_MAX);
    let found = redemptions::list_last_of_voucher(call.store, &voucher.id, limit)?;
    let total = redemptions::count_of_voucher(call.store, &voucher.id)?;
    let entries = (REDEMPTION.to_json)(call, found)?;
    let voucher_json = VOUCHER.one_to_json(call, voucher)?;
    let redemption = voucher_json.get("redemption").cloned().unwrap_or(Json::Null);
    let mut answer = Map::new();
    copy(&redemption, &["quantity", "redeemed_quantity", "url"], &mut answer);
    answer.insert("object".into(), "list".into());
    answer.insert("data_ref".into(), "redemption_entries".into());
    answer.insert("redemption_entries".into(), entries.into());
    answer.insert("total".into(), total.into());
    Ok(Response::json(Json::Object(answer)))
}

fn tier_body(call: &Call<'_, '_>) -> Result<Map<String, Json>, CallError> {
    let mut body = call.source()?;
    body.remove("session");
    Ok(body)
}

/// List options of a validation of all tiers.
const TIERS: List = List {
    data_ref: "promotions",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[("promotion_id", "parent"), ("metadata", keys_member!("metadata"))],
};

/// Validates every tier separately and returns the applicable ones by rank. On request it tests only the rules about the customer.
fn validate_tiers(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = tier_body(call)?;
    // An unreadable request is refused even without a tier to try.
    read_single(call, TIER.object, "any", body.clone())?;
    let mut clause = Clause::of_kind(TIER.object);
    clause.active();
    let tiers = TIERS.select_filtered(call.store, &call.query, clause)?.list_newest(call.store, TIERS_MAX)?;
    if call.query.is_true("audienceRulesOnly") {
        let applicable = qualifications::list_tiers_by_audience(call)?;
        let tiers = tiers.into_iter().filter(|tier| applicable.contains(&tier.id)).collect();
        let tiers_json =
            (TIER.to_json)(call, tiers)?.into_iter().map(|tier| tier.as_object().cloned().unwrap_or_default());
        let valid = tiers_json.map(|mut tier| {
            tier.insert("valid".into(), true.into());
            (rank(&tier), Json::Object(tier).to_string())
        });
        return Ok(promotions_response(valid.collect(), None));
    }
    // Saturates: beyond every size.
    let size = call.request.body.len().saturating_mul(tiers.len());
    if size > TRIED_BYTES_MAX {
        let message = format!(
            "Property .order of `{}` bytes is tried with {} promotion tiers, and must NOT come to more than {TRIED_BYTES_MAX} bytes in \
             all: send fewer items, or narrow the tiers (filters)",
            call.request.body.len(),
            tiers.len()
        );
        return Err(error(400, "request_too_complex", "Request takes too much work", message).into());
    }
    let ids: Vec<String> = tiers.iter().map(|tier| tier.id.clone()).collect();
    let tiers_json = (TIER.to_json)(call, tiers)?.into_iter().map(|tier| tier.as_object().cloned().unwrap_or_default());
    let tiers: Vec<(String, Map<String, Json>)> = ids.into_iter().zip(tiers_json).collect();
    let results = validate_each(call, &tiers, body)?;
    let tracking_id = results.iter().rev().find_map(|result| result.tracking_id.as_deref());
    let applicable = tiers.iter().zip(&results).filter(|(_, result)| result.valid);
    Ok(promotions_response(
        applicable.map(|((_, tier), result)| (rank(tier), result.text.clone())).collect(),
        tracking_id,
    ))
}

fn rank(tier: &Map<String, Json>) -> i64 {
    PromotionTierRecord::of(tier).hierarchy().unwrap_or(0)
}

/// Returns the applicable tiers by rank.
fn promotions_response(mut found: Vec<(i64, String)>, tracking_id: Option<&str>) -> Response {
    found.sort_by_key(|(rank, _)| *rank);
    let texts: Vec<String> = found.into_iter().map(|(_, text)| text).collect();
    Response::bytes(write_promotions(&texts, tracking_id))
}

fn validate_tier(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = tier_body(call)?;
    let id = call.param("tierId").to_owned();
    let tier = call.store.document(TIER.object, &id)?.ok_or_else(|| not_found(TIER.object, &id))?;
    let tier_json = TIER.one_to_json(call, tier)?;
    let tier_json = tier_json.as_object().cloned().unwrap_or_default();
    let write = |validated: &ValidationDecision<'_>, context: &Context| write_tried(validated, context, &tier_json);
    let result = validate_single(call, TIER.object, &id, body, write)?;
    Ok(Response::bytes(result.text.into_bytes()))
}

fn redeem_tier(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = tier_body(call)?;
    let tier = TIER.find(call)?;
    redeem_single(call, TIER.object, &tier.id, body)
}

/// Redeems points of a card for its holder.
fn redeem_points(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.source()?;
    let card = find_card(call)?;
    if let Some(holder) = &card.holder {
        body.insert("customer".into(), json!({ "id": holder }));
    }
    redeem_single(call, VOUCHER.object, &card.id, body)
}
