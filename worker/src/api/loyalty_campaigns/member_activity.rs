//! Activity of a v1 loyalty card, composed from stored records: its publication, its transactions of points,
//! its redemptions and its pending points.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::json_members;
use crate::documents::keyset_list;
use crate::documents::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::documents::shapes::MORE;
use crate::documents::shapes::vouchers::MEMBER_ACTIVITY;
use crate::domain::vouchers::voucher::find_card;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{Field, FieldType, may};
use crate::store::document::Document;
use crate::store::document_list::clause::DocumentAge;
use crate::store::documents::loyalty_campaigns::{self, CardWithHolder};
use crate::store::records::{PENDING_DETAILS, RedemptionRecord, TransactionRecord};
use crate::timestamp;
use serde_json::{Map, Value as Json, json};

const QUERY: &[Field] = &[
    LIMIT,
    may("order", FieldType::OneOf(&["created_at", "-created_at"]))
        .description("Direction of the list: `created_at` for the oldest first, `-created_at` for the newest first. Default `-created_at`."),
    may("starting_after_id", KEY).description("ID of an activity of the card. The list continues after this activity."),
];

const fn listed(route: Route) -> Route {
    route.scope("loyalties").query(QUERY).lists("data", MEMBER_ACTIVITY, MORE)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listed(get("/v1/loyalties/members/{memberId}/activity", "List the activity of a loyalty card", list))
        .describe(
            "listLoyaltyCardActivity",
            "Returns the events of a loyalty card: publication, redemptions, rollbacks, changes of points and of pending points. The newest is first by default. A voucher of another type is refused with `not_found`, an unknown order or start with `invalid_query_params`.",
        )
        .returns("The activities on this page, and the ID after which the next page starts."),
    listed(get(
        "/v1/loyalties/{campaignId}/members/{memberId}/activity",
        "List the activity of a campaign's loyalty card",
        list,
    ))
    .describe(
        "listLoyaltyCampaignMemberActivity",
        "Returns the events of one card of the named campaign: publication, redemptions, rollbacks, changes of points and of pending points. The newest is first by default. A card of another campaign is refused with `not_found`, an unknown order or start with `invalid_query_params`.",
    )
    .returns("The activities on this page, and the ID after which the next page starts."),
];

/// Prefix of the ids of activities, before the id of the record.
const PREFIX: &str = "event_";

/// Kinds of transactions in the activity, with their types; a redemption is a separate activity.
const TRANSACTION_EVENTS: &[(&str, &str)] = &[
    ("POINTS_ACCRUAL", "customer.rewarded.loyalty_points"),
    ("POINTS_ADDITION", "customer.voucher.loyalty_card.points_added"),
    ("POINTS_REMOVAL", "customer.voucher.loyalty_card.points_added"),
    ("POINTS_TRANSFER_IN", "customer.voucher.loyalty_card.points_transferred"),
    ("POINTS_TRANSFER_OUT", "customer.voucher.loyalty_card.points_transferred"),
    ("POINTS_EXPIRATION", "customer.voucher.loyalty_card.points_expired"),
    ("PENDING_POINTS_ACTIVATION", "customer.voucher.loyalty_card.pending_points.activated"),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let card = find_card(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let is_descending = match call.query.parameter("order") {
        None | Some("-created_at") => true,
        Some("created_at") => false,
        Some(text) => {
            let details = format!("Property .order must be one of created_at, -created_at (actual value is `{text}`)");
            return Err(invalid_query(details).into());
        }
    };
    let held_card = CardWithHolder { card_id: &card.id, holder_id: card.holder.as_deref().unwrap_or_default() };
    let after = call.query.parameter("starting_after_id").map(|id| find_age(call, held_card, id)).transpose()?;
    let (records, has_more) = loyalty_campaigns::list_card_records(call.store, held_card, after, is_descending, limit)?;
    let subject = ActivitySubject::of(call, &card)?;
    let json = records.into_iter().map(|record| subject.to_json(&record.kind, record.document)).collect();
    Ok(Response::json(Json::Object(keyset_list::envelope(json, has_more))))
}

/// Returns the age of an activity of a card.
fn find_age(call: &Call<'_, '_>, card: CardWithHolder<'_>, id: &str) -> Result<DocumentAge, CallError> {
    let unknown = || invalid_query(format!("Property .starting_after_id must be an activity (actual value is `{id}`)"));
    let record_id = id.strip_prefix(PREFIX).ok_or_else(unknown)?;
    Ok(loyalty_campaigns::find_card_record_age(call.store, card, record_id)?.ok_or_else(unknown)?)
}

/// Subject of all activities of a card: its holder, its campaign and the card itself.
struct ActivitySubject {
    customer: Json,
    campaign: Json,
    voucher: Json,
}

impl ActivitySubject {
    fn of(call: &Call<'_, '_>, card: &Document) -> Result<ActivitySubject, CallError> {
        let members_of = |document: Option<Document>, names: &[&str]| {
            document.map_or(Json::Null, |document| Json::Object(json_members::pick_or_null(&document.body, names)))
        };
        let find = |kind: &'static str, id: &Option<String>| match id {
            Some(id) => call.store.document(kind, id),
            None => Ok(None),
        };
        Ok(ActivitySubject {
            customer: members_of(
                find("customer", &card.holder)?,
                &["id", "source_id", "name", "email", "metadata", "object"],
            ),
            campaign: members_of(find("campaign", &card.parent)?, &["id", "name", "campaign_type", "type", "object"]),
            voucher: members_of(
                Some(card.clone()),
                &["id", "code", "campaign", "campaign_id", "type", "holder_id", "object"],
            ),
        })
    }

    /// Converts a record to an activity.
    fn to_json(&self, kind: &str, document: Document) -> Json {
        let (event, members, channel) = match kind {
            "redemption" => redemption_activity(&document.body),
            "voucher_transaction" => transaction_activity(document.body),
            "pending_points_change" => pending_points_activity(document.body),
            _ => {
                let publication =
                    pick(&document.body, &["id", "created_at", "customer_id", "source_id", "result", "object"]);
                ("customer.publication.succeeded", json!({ "publication": publication }), "API")
            }
        };
        let mut data = Map::new();
        data.insert("customer".into(), self.customer.clone());
        data.insert("campaign".into(), self.campaign.clone());
        data.insert("voucher".into(), self.voucher.clone());
        data.extend(members.as_object().cloned().unwrap_or_default());
        json!({
            "id": format!("{PREFIX}{}", document.id), "type": event, "created_at": timestamp::text(document.created_at),
            "data": { "data": data, "event_source": { "channel": channel } },
        })
    }
}

fn pick(body: &Map<String, Json>, names: &[&str]) -> Json {
    Json::Object(json_members::pick(body, names))
}

fn redemption_activity(body: &Map<String, Json>) -> (&'static str, Json, &'static str) {
    let record = RedemptionRecord::of(body);
    let event = match (record.is_rollback(), record.is_failed()) {
        (false, false) => "customer.redemption.succeeded",
        (false, true) => "customer.redemption.failed",
        (true, false) => "customer.redemption.rollback.succeeded",
        (true, true) => "customer.redemption.rollback.failed",
    };
    let names = ["id", "date", "customer_id", "amount", "result", "status", "redemption", "reason", "object"];
    let order = record.order().map(|order| pick(order, &["id", "source_id"]));
    (event, json!({ "redemption": pick(body, &names), "order": order }), "API")
}

fn transaction_activity(body: Map<String, Json>) -> (&'static str, Json, &'static str) {
    let transaction = TransactionRecord::of(&body);
    let kind = transaction.transaction_type();
    let event =
        TRANSACTION_EVENTS.iter().find(|(known, _)| *known == kind).map_or("customer.rewarded", |(_, event)| *event);
    let channel = if transaction.has_source() { "API" } else { "INTERNAL" };
    let details = transaction.details().map().cloned().unwrap_or_default();
    let mut members = pick(
        &details,
        &["balance", "order", "earning_rule", "pending_points", "source_voucher", "destination_voucher"],
    );
    if let Some(members) = members.as_object_mut() {
        members.insert("transaction".into(), Json::Object(body));
    }
    (event, members, channel)
}

fn pending_points_activity(mut body: Map<String, Json>) -> (&'static str, Json, &'static str) {
    let event = match TransactionRecord::of(&body).change() {
        Some("added") => "customer.voucher.loyalty_card.pending_points.added",
        Some("canceled") => "customer.voucher.loyalty_card.pending_points.canceled",
        _ => "customer.voucher.loyalty_card.pending_points.updated",
    };
    let details = body.remove(PENDING_DETAILS).unwrap_or_default();
    let order = TransactionRecord::of_value(&details).details().order().cloned();
    let balance = body.remove("balance").unwrap_or_default();
    (event, json!({ "pending_points": details, "order": order, "voucher_pending_points_balance": balance }), "API")
}
