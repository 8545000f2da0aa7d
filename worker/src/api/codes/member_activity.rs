//! What happened to a loyalty card of the older interface, put together from what was written down: who got it, what moved its points, what was
//! redeemed and what waits. It must not know why any of it happened.

use crate::document::fields::{KEY, LIMIT};
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::onward;
use crate::document::part;
use crate::document::shapes::MORE;
use crate::document::shapes::codes::MEMBER_ACTIVITY;
use crate::http::reply::{CallError, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Field, Kind, may};
use crate::moment;
use crate::shop::vouchers::find_card;
use crate::store::document::{self, COLUMNS, Document};
use crate::store::sql;
use serde_json::{Map, Value as Json, json};

const QUERY: &[Field] =
    &[LIMIT, may("order", Kind::OneOf(&["created_at", "-created_at"])), may("starting_after_id", KEY)];

const fn listed(route: Route) -> Route {
    route.scope("loyalties").query(QUERY).lists("data", MEMBER_ACTIVITY, MORE)
}

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    listed(get("/v1/loyalties/members/{memberId}/activity", "List what happened to a card", list)),
    listed(get(
        "/v1/loyalties/{campaignId}/members/{memberId}/activity",
        "List what happened to a card of a program",
        list,
    )),
];

/// What the ids of activities begin with, before the id of what was written down.
const PREFIX: &str = "event_";

/// What is written down of a card, the first parameter, and of its publication to its holder, the second.
const OF_CARD: &str = "(kind IN ('redemption', 'voucher_transaction', 'pending_points_change') AND parent = +?1
    OR kind = 'publication' AND holder = +?2 AND EXISTS (SELECT 1 FROM json_each(body, '$.vouchers_id') WHERE value = ?1))";

/// The kinds of transactions that are told, with their words; a redemption is told by itself.
const MOVED: &[(&str, &str)] = &[
    ("POINTS_ACCRUAL", "customer.rewarded.loyalty_points"),
    ("POINTS_ADDITION", "customer.voucher.loyalty_card.points_added"),
    ("POINTS_REMOVAL", "customer.voucher.loyalty_card.points_added"),
    ("POINTS_TRANSFER_IN", "customer.voucher.loyalty_card.points_transferred"),
    ("POINTS_TRANSFER_OUT", "customer.voucher.loyalty_card.points_transferred"),
    ("POINTS_EXPIRATION", "customer.voucher.loyalty_card.points_expired"),
    ("PENDING_POINTS_ACTIVATION", "customer.voucher.loyalty_card.pending_points.activated"),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let card = find_card(call)?;
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let (sign, direction) = match call.query.get("order") {
        None | Some("-created_at") => ("<", "DESC"),
        Some("created_at") => (">", "ASC"),
        Some(text) => {
            let told = format!("Property .order must be one of created_at, -created_at (actual value is `{text}`)");
            return Err(invalid_query(told).into());
        }
    };
    let holder = card.holder.as_deref().unwrap_or_default();
    let mut params = vec![card.id.as_str().into(), holder.into(), limit.saturating_add(1).into()];
    let after = match call.query.get("starting_after_id") {
        None => String::new(),
        Some(id) => {
            let (at, seq) = place(call, (&card.id, holder), id)?;
            params.extend([at.into(), seq.into()]);
            format!("AND (created_at, seq) {sign} (?4, ?5)")
        }
    };
    let statement = format!(
        "SELECT {COLUMNS}, kind FROM document WHERE {OF_CARD} {after}
         ORDER BY created_at {direction}, seq {direction} LIMIT +?3"
    );
    let rows = call.store.rows(&statement, &params)?;
    let most = usize::try_from(limit).unwrap_or(0);
    let about = About::of(call, &card)?;
    let mut shown = Vec::new();
    for row in rows.iter().take(most) {
        let kind = sql::text(row, document::WIDTH)?;
        shown.push(about.show(kind, document::read(row)?));
    }
    Ok(Answer::json(Json::Object(onward::envelope(shown, rows.len() > most))))
}

/// Where an activity stands among all of a card.
fn place(call: &Call<'_, '_>, (card_id, holder): (&str, &str), id: &str) -> Result<(i64, i64), CallError> {
    let unknown = || invalid_query(format!("Property .starting_after_id must be an activity (actual value is `{id}`)"));
    let own = id.strip_prefix(PREFIX).ok_or_else(unknown)?;
    let statement = format!("SELECT created_at, seq FROM document WHERE id = +?3 AND {OF_CARD} LIMIT 1");
    let row = call.store.row(&statement, &[card_id.into(), holder.into(), own.into()])?.ok_or_else(unknown)?;
    Ok((sql::int(&row, 0)?, sql::int(&row, 1)?))
}

/// Whom and what all that happened to a card is about.
struct About {
    customer: Json,
    campaign: Json,
    voucher: Json,
}

impl About {
    fn of(call: &Call<'_, '_>, card: &Document) -> Result<About, CallError> {
        let named = |document: Option<Document>, names: &[&str]| {
            document.map_or(Json::Null, |document| Json::Object(part::every(&document.body, names)))
        };
        let find = |kind: &'static str, id: &Option<String>| match id {
            Some(id) => call.store.document(kind, id),
            None => Ok(None),
        };
        Ok(About {
            customer: named(
                find("customer", &card.holder)?,
                &["id", "source_id", "name", "email", "metadata", "object"],
            ),
            campaign: named(find("campaign", &card.parent)?, &["id", "name", "campaign_type", "type", "object"]),
            voucher: named(
                Some(card.clone()),
                &["id", "code", "campaign", "campaign_id", "type", "holder_id", "object"],
            ),
        })
    }

    /// What was written down as it is told.
    fn show(&self, kind: &str, document: Document) -> Json {
        let (word, more, channel) = match kind {
            "redemption" => redeemed(&document.body),
            "voucher_transaction" => moved(document.body),
            "pending_points_change" => waits(document.body),
            _ => {
                let publication =
                    brief(&document.body, &["id", "created_at", "customer_id", "source_id", "result", "object"]);
                ("customer.publication.succeeded", json!({ "publication": publication }), "API")
            }
        };
        let mut data = Map::new();
        data.insert("customer".into(), self.customer.clone());
        data.insert("campaign".into(), self.campaign.clone());
        data.insert("voucher".into(), self.voucher.clone());
        data.extend(more.as_object().cloned().unwrap_or_default());
        json!({
            "id": format!("{PREFIX}{}", document.id), "type": word, "created_at": moment::text(document.created_at),
            "data": { "data": data, "event_source": { "channel": channel } },
        })
    }
}

fn brief(body: &Map<String, Json>, names: &[&str]) -> Json {
    Json::Object(part::known(body, names))
}

fn redeemed(body: &Map<String, Json>) -> (&'static str, Json, &'static str) {
    let text = |name: &str| body.get(name).and_then(Json::as_str);
    let word = match (text("object") == Some("redemption_rollback"), text("result") == Some("FAILURE")) {
        (false, false) => "customer.redemption.succeeded",
        (false, true) => "customer.redemption.failed",
        (true, false) => "customer.redemption.rollback.succeeded",
        (true, true) => "customer.redemption.rollback.failed",
    };
    let names = ["id", "date", "customer_id", "amount", "result", "status", "redemption", "reason", "object"];
    let order = body.get("order").and_then(Json::as_object).map(|order| brief(order, &["id", "source_id"]));
    (word, json!({ "redemption": brief(body, &names), "order": order }), "API")
}

fn moved(body: Map<String, Json>) -> (&'static str, Json, &'static str) {
    let kind = body.get("type").and_then(Json::as_str).unwrap_or_default();
    let word = MOVED.iter().find(|(known, _)| *known == kind).map_or("customer.rewarded", |(_, word)| *word);
    let channel = if body.get("source").is_some_and(Json::is_string) { "API" } else { "INTERNAL" };
    let details = body.get("details").and_then(Json::as_object).cloned().unwrap_or_default();
    let mut more = brief(
        &details,
        &["balance", "order", "earning_rule", "pending_points", "source_voucher", "destination_voucher"],
    );
    if let Some(more) = more.as_object_mut() {
        more.insert("transaction".into(), Json::Object(body));
    }
    (word, more, channel)
}

fn waits(mut body: Map<String, Json>) -> (&'static str, Json, &'static str) {
    let word = match body.get("change").and_then(Json::as_str) {
        Some("added") => "customer.voucher.loyalty_card.pending_points.added",
        Some("canceled") => "customer.voucher.loyalty_card.pending_points.canceled",
        _ => "customer.voucher.loyalty_card.pending_points.updated",
    };
    let told = body.remove("told").unwrap_or_default();
    let order = told.get("details").and_then(|details| details.get("order")).cloned();
    let balance = body.remove("balance").unwrap_or_default();
    (word, json!({ "pending_points": told, "order": order, "voucher_pending_points_balance": balance }), "API")
}
