//! Activity of a customer, composed from stored records: redemptions, publications, orders, custom events, transactions of points and
//! credits of their cards, rewards, and tiers of programs. It has no rows of its own, so it costs redemptions nothing, and the erasure
//! of a customer's records erases it.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::filter::read_instant;
use crate::documents::json_members;
use crate::documents::keyset_list;
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::documents::shapes::customers::ACTIVITY;
use crate::documents::shapes::{MORE, TOTAL};
use crate::documents::starting_after;
use crate::domain::customers::customer::CUSTOMER;
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::Document;
use crate::store::documents::customer_activity::{self, Activity, ActivityFilter, ActivityOrder};
use crate::store::records::{PENDING_DETAILS, RedemptionRecord, TransactionRecord};
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Map, Value as Json, json};

const CAMPAIGN_TYPES: &[&str] =
    &["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"];
const CATEGORIES: &[&str] = &["ACTION", "EFFECT"];

/// Types of activities: all published ones, including those that never occur here, and additional ones.
const TYPES: &[&str] = &[
    "customer.confirmed",
    "customer.created",
    "customer.updated",
    "customer.deleted",
    "customer.referred",
    "customer.custom_event",
    "customer.segment.entered",
    "customer.segment.left",
    "customer.sms.sent",
    "customer.sms.recovered",
    "customer.sms.failed",
    "customer.email.sent",
    "customer.email.recovered",
    "customer.email.failed",
    "customer.activecampaign.sent",
    "customer.activecampaign.recovered",
    "customer.activecampaign.failed",
    "customer.braze.sent",
    "customer.braze.recovered",
    "customer.braze.failed",
    "customer.mailchimp.sent",
    "customer.mailchimp.recovered",
    "customer.mailchimp.failed",
    "customer.intercom.sent",
    "customer.intercom.recovered",
    "customer.intercom.failed",
    "customer.shopify.sent",
    "customer.shopify.recovered",
    "customer.shopify.failed",
    "customer.klaviyo.sent",
    "customer.klaviyo.recovered",
    "customer.klaviyo.failed",
    "customer.batch.sent",
    "customer.batch.recovered",
    "customer.batch.failed",
    "customer.rewarded",
    "customer.rewarded.loyalty_points",
    "customer.voucher.gift.balance_added",
    "customer.voucher.loyalty_card.points_added",
    "customer.voucher.loyalty_card.points_transferred",
    "customer.voucher.loyalty_card.points_expired",
    "customer.voucher.deleted",
    "customer.publication.succeeded",
    "customer.publication.failed",
    "customer.validation.succeeded",
    "customer.validation.failed",
    "customer.redemption.failed",
    "customer.redemption.succeeded",
    "customer.redemption.rollback.failed",
    "customer.redemption.rollback.succeeded",
    "customer.order.canceled",
    "customer.order.created",
    "customer.order.fulfilled",
    "customer.order.paid",
    "customer.order.processing",
    "customer.order.updated",
    "customer.reward_redemptions.created",
    "customer.reward_redemptions.pending",
    "customer.reward_redemptions.completed",
    "customer.reward_redemptions.rolledback",
    "customer.loyalty.updated",
    "customer.loyalty.tier.upgraded",
    "customer.loyalty.tier.downgraded",
    "customer.loyalty.tier.prolonged",
    "customer.loyalty.tier.expiration.changed",
    "customer.loyalty.tier.joined",
    "customer.loyalty.tier.left",
    "customer.holder.assignment.created",
    "customer.voucher.loyalty_card.pending_points.activated",
    "customer.voucher.loyalty_card.pending_points.added",
    "customer.voucher.loyalty_card.pending_points.canceled",
    "customer.voucher.loyalty_card.pending_points.updated",
];

/// Orders of the legacy list, with their columns.
const ORDERS: &[(&str, ActivityOrder)] = &[
    ("created_at", ActivityOrder::Time),
    ("updated_at", ActivityOrder::Time),
    ("type", ActivityOrder::Type),
    ("code", ActivityOrder::Code),
    ("campaign", ActivityOrder::Campaign),
    ("category", ActivityOrder::Category),
];

const NARROWS: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["created_at", "-created_at"]))
        .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
    may("starting_after_id", KEY)
        .description("ID of an activity of this customer. The page continues after this activity."),
    may("start_date", FieldType::DateTime).description("Moment from which activities are listed, in UTC."),
    may("end_date", FieldType::DateTime).description("Moment until which activities are listed, in UTC."),
    may("campaign_id", KEY).description("ID of a campaign. Only activities that concern this campaign are listed."),
    may("campaign_type", FieldType::OneOf(CAMPAIGN_TYPES))
        .description("Type of campaign. Only activities that concern campaigns of this type are listed."),
    may("category", FieldType::OneOf(CATEGORIES))
        .description("Category of activity: `ACTION` of the customer, or `EFFECT` on cards, holders and tiers."),
    may("type", FieldType::OneOf(TYPES))
        .description("Type of activity. Only activities of this type are listed; some types never occur."),
];
const OLDER: &[Field] = &[
    LIMIT,
    may(
        "order",
        FieldType::OneOf(&[
            "created_at",
            "-created_at",
            "updated_at",
            "-updated_at",
            "type",
            "-type",
            "code",
            "-code",
            "campaign",
            "-campaign",
            "category",
            "-category",
        ]),
    )
    .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
    starting_after::TIME,
    may("starting_after_id", KEY)
        .description("ID of an activity of this customer. The page continues after this activity."),
    may("campaign_type", FieldType::OneOf(CAMPAIGN_TYPES))
        .description("Type of campaign. Only activities that concern campaigns of this type are listed."),
    may("campaign_id", KEY).description("ID of a campaign. Only activities that concern this campaign are listed."),
    may("product_id", KEY)
        .description("ID of a product. Only activities with an order that contains this product are listed."),
    may("start_date", FieldType::DateTime).description("Moment from which activities are listed, in UTC."),
    may("end_date", FieldType::DateTime).description("Moment until which activities are listed, in UTC."),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/customers/{customerId}/activity", "List the activity of a customer", list)
        .describe(
            "listCustomerActivity",
            "Returns redemptions, rollbacks, publications, orders, custom events, and movements of points and credits of a customer, the newest first by default. The list is computed from stored records. An unknown customer is refused with `not_found`, an unknown activity type with `invalid_query_params`.",
        )
        .returns("The activities of this page, and the ID to continue after.")
        .scope("customers")
        .query(NARROWS)
        .lists("data", ACTIVITY, MORE),
    get("/v1/customers/{customerId}/activities", "List the activity of a customer with a total", list_legacy)
        .describe(
            "listCustomerActivities",
            "Returns the same activities as the newer list, together with the total and in further orders. An unknown customer is refused with `not_found`, an unknown activity type with `invalid_query_params`.",
        )
        .returns("The activities of this page, and the total before `starting_after` and `starting_after_id`.")
        .scope("customers")
        .query(OLDER)
        .lists("data", ACTIVITY, TOTAL),
];

/// Reads the filter of a query.
fn read_filter(call: &Call<'_, '_>, customer: &Document) -> Result<ActivityFilter, CallError> {
    let mut filter = ActivityFilter::of_customer(&customer.id);
    if let Some(from) = read_instant(&call.query, &["start_date"])? {
        filter.from(from);
    }
    if let Some(to) = read_instant(&call.query, &["end_date"])? {
        filter.until(to);
    }
    if let Some(id) = call.query.parameter("campaign_id") {
        filter.of_campaign(id);
    }
    let one_of = |name: &str, words: &[&str]| match call.query.parameter(name) {
        Some(text) if !words.contains(&text) => {
            Err(invalid_parameter(name, &format!("one of {}", words.join(", ")), text))
        }
        other => Ok(other),
    };
    if let Some(text) = one_of("type", TYPES)? {
        filter.of_type(text);
    }
    if let Some(text) = one_of("campaign_type", CAMPAIGN_TYPES)? {
        filter.of_campaign_type(text);
    }
    if let Some(text) = one_of("category", CATEGORIES)? {
        filter.of_category(text);
    }
    Ok(filter)
}

fn invalid_parameter(name: &str, bound: &str, text: &str) -> ErrorBody {
    invalid_query(format!("Property .{name} must be {bound} (actual value is `{text}`)"))
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let customer = CUSTOMER.find(call)?;
    let filter = read_filter(call, &customer)?;
    let is_descending = match call.query.parameter("order") {
        None | Some("-created_at") => true,
        Some("created_at") => false,
        Some(text) => return Err(invalid_parameter("order", "one of created_at, -created_at", text).into()),
    };
    let (activities, has_more) = page(call, &customer, filter, ActivityOrder::Time, is_descending)?;
    Ok(Response::json(Json::Object(keyset_list::envelope(activities, has_more))))
}

/// Lists activities for the legacy route, with the total before any position to continue from.
fn list_legacy(call: &mut Call<'_, '_>) -> HandlerResult {
    let customer = CUSTOMER.find(call)?;
    let mut filter = read_filter(call, &customer)?;
    if let Some(at) = read_instant(&call.query, &["starting_after"])? {
        let falls = starting_after::is_falling(&call.query, &["created_at", "updated_at"])?;
        // An id is more precise than the time: other activities of the same time may follow it.
        if call.query.parameter("starting_after_id").is_none() {
            filter.bound_time(at, falls);
        }
    }
    if let Some(product) = call.query.parameter("product_id") {
        filter.with_product(product);
    }
    let text = call.query.parameter("order").unwrap_or("-created_at");
    let (name, is_descending) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
    let Some((_, order)) = ORDERS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<String> = ORDERS.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
        return Err(invalid_parameter("order", &format!("one of {}", known.join(", ")), text).into());
    };
    let total = customer_activity::count(call.store, &filter)?;
    let (activities, _) = page(call, &customer, filter, *order, is_descending)?;
    Ok(Response::json(json!({ "object": "list", "data_ref": "data", "data": activities, "total": total })))
}

/// Returns the requested page of the list, and true if more follow.
fn page(
    call: &Call<'_, '_>,
    customer: &Document,
    mut filter: ActivityFilter,
    order: ActivityOrder,
    is_descending: bool,
) -> Result<(Vec<Json>, bool), CallError> {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    if let Some(id) = call.query.parameter("starting_after_id") {
        let position = customer_activity::find_position(call.store, &customer.id, id, order)?;
        let position =
            position.ok_or_else(|| invalid_parameter("starting_after_id", "an activity of the customer", id))?;
        filter.continue_after(position, order, is_descending);
    }
    let (found, has_more) = customer_activity::list(call.store, &filter, order, is_descending, limit)?;
    let activities =
        found.into_iter().map(|activity| to_json(call, customer, activity)).collect::<Result<Vec<Json>, Fault>>()?;
    Ok((activities, has_more))
}

fn to_json(call: &Call<'_, '_>, customer: &Document, activity: Activity) -> Result<Json, Fault> {
    let Activity { id, activity_type, at, kind, body, voucher_id, campaign_id } = activity;
    let of = |kind: &str, id: Option<&str>, names: &[&str]| -> Result<Json, Fault> {
        let Some(id) = id else { return Ok(Json::Null) };
        Ok(call.store.document(kind, id)?.map_or(Json::Null, |document| pick(&document.body, names)))
    };
    let names = ["id", "source_id", "name", "email", "metadata", "object"];
    let mut data = json_members::object_of("customer", pick(&customer.body, &names));
    if kind.starts_with("order") {
        data.insert("order".into(), Json::Object(body));
    } else if kind == "event" {
        data.insert("event".into(), Json::Object(body));
    } else if !kind.starts_with("customer") {
        let names = ["id", "code", "campaign", "campaign_id", "type", "holder_id", "object"];
        data.insert("voucher".into(), of("voucher", voucher_id.as_deref(), &names)?);
        let names = ["id", "name", "campaign_type", "type", "object"];
        data.insert("campaign".into(), of("campaign", campaign_id.as_deref(), &names)?);
        data.extend(record_members(&kind, body));
    }
    let is_internal = activity_type.ends_with(".points_expired") || activity_type.ends_with(".activated");
    let channel = if is_internal { "INTERNAL" } else { "API" };
    Ok(json!({
        "id": id, "type": activity_type, "created_at": timestamp::text(at),
        "data": { "data": data, "event_source": { "channel": channel } },
    }))
}

/// Returns the members of an activity that describe its record.
fn record_members(kind: &str, mut body: Map<String, Json>) -> Map<String, Json> {
    let mut members = Map::new();
    let program_names = [
        "id",
        "card_id",
        "program_id",
        "member_id",
        "tier_structure_id",
        "tier_id",
        "reward_id",
        "type",
        "status",
        "object",
    ];
    match kind {
        "tier_transaction" => drop(members.insert("transaction".into(), pick(&body, &program_names))),
        _ if kind.starts_with("reward.") && body.contains_key("reward_id") => {
            members.insert("reward".into(), json!({ "id": body.get("reward_id"), "object": "reward" }));
            members.insert("transaction".into(), pick(&body, &program_names));
        }
        "redemption" | "reward.created" | "reward.completed" => {
            let names = ["id", "date", "customer_id", "amount", "result", "status", "redemption", "reason", "object"];
            if kind != "redemption" {
                members.insert("reward".into(), TransactionRecord::of(&body).reward().cloned().unwrap_or_default());
            }
            let order = RedemptionRecord::of(&body).order().map(|order| pick(order, &["id", "source_id"]));
            members.insert("order".into(), order.unwrap_or_default());
            members.insert("redemption".into(), pick(&body, &names));
        }
        "publication" => {
            let names = ["id", "created_at", "customer_id", "source_id", "result", "object"];
            members.insert("publication".into(), pick(&body, &names));
        }
        "pending_points_change" => {
            members.insert("pending_points".into(), body.remove(PENDING_DETAILS).unwrap_or_default());
            members.insert("voucher_pending_points_balance".into(), body.remove("balance").unwrap_or_default());
        }
        "redeemable_holder" => drop(members.insert("holder".into(), Json::Object(body))),
        _ => {
            let balance = TransactionRecord::of(&body).details().balance().cloned();
            members.insert("balance".into(), balance.unwrap_or_default());
            members.insert("transaction".into(), Json::Object(body));
        }
    }
    members
}

fn pick(body: &Map<String, Json>, names: &[&str]) -> Json {
    Json::Object(json_members::pick(body, names))
}
