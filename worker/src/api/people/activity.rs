//! What happened to a customer, put together from what was written down of them: redemptions, publications, orders, custom events, and what
//! moved the points and credits of their cards, rewards, and tiers of programs. Nothing is written for it, so that it costs no redemption anything, and whoever erases what
//! is written down of a customer erases this. It must not know why any of it happened.

use crate::document::behind;
use crate::document::fields::{KEY, LIMIT};
use crate::document::filter::read_moment;
use crate::document::list::{LIMIT_DEFAULT, LIMIT_MAX, read_int};
use crate::document::onward;
use crate::document::part;
use crate::document::shapes::customers::ACTIVITY;
use crate::document::shapes::{MORE, TOTAL};
use crate::http::reply::{CallError, ErrorBody, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Field, Kind, may};
use crate::moment;
use crate::shop::customers::CUSTOMER;
use crate::store::document::Document;
use crate::store::sql::{self, Fault, Row, Value};
use serde_json::{Map, Value as Json, json};

const CAMPAIGN_TYPES: &[&str] =
    &["PROMOTION", "GIFT_VOUCHERS", "REFERRAL_PROGRAM", "DISCOUNT_COUPONS", "LOYALTY_PROGRAM"];
const CATEGORIES: &[&str] = &["ACTION", "EFFECT"];

/// What an activity may be of: all that is published, also where nothing here brings it about, and what is told here besides.
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

/// The orders of the older list, and their columns.
const ORDERS: &[(&str, &str)] = &[
    ("created_at", "at"),
    ("updated_at", "at"),
    ("type", "type"),
    ("code", "code"),
    ("campaign", "campaign_name"),
    ("category", "category"),
];

const NARROWS: &[Field] = &[
    LIMIT,
    may("order", Kind::OneOf(&["created_at", "-created_at"])),
    may("starting_after_id", KEY),
    may("start_date", Kind::DateTime),
    may("end_date", Kind::DateTime),
    may("campaign_id", KEY),
    may("campaign_type", Kind::OneOf(CAMPAIGN_TYPES)),
    may("category", Kind::OneOf(CATEGORIES)),
    may("type", Kind::OneOf(TYPES)),
];
const OLDER: &[Field] = &[
    LIMIT,
    may(
        "order",
        Kind::OneOf(&[
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
    ),
    behind::MOMENT,
    may("starting_after_id", KEY),
    may("campaign_type", Kind::OneOf(CAMPAIGN_TYPES)),
    may("campaign_id", KEY),
    may("product_id", KEY),
    may("start_date", Kind::DateTime),
    may("end_date", Kind::DateTime),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/customers/{customerId}/activity", "List what happened to a customer", list)
        .scope("customers")
        .query(NARROWS)
        .lists("data", ACTIVITY, MORE),
    get("/v1/customers/{customerId}/activities", "List what happened to a customer, counted", list_older)
        .scope("customers")
        .query(OLDER)
        .lists("data", ACTIVITY, TOTAL),
];

/// All that is written down of the customer ?1, each with the moment, the word for it and the campaign that it is about. A document that
/// tells of two moments has two rows.
const TOLD: &str = "WITH seen (kind, id, parent, holder, at, seq, body) AS (
      SELECT kind, id, parent, holder, created_at, seq, body FROM document
      WHERE kind IN ('redemption', 'publication', 'event', 'order', 'redeemable_holder', 'tier_transaction') AND holder = +?1
      UNION ALL SELECT column1, id, CASE kind WHEN 'redemption' THEN parent END, holder, created_at, seq, body
      FROM document CROSS JOIN (VALUES ('reward.created'), ('reward.completed'))
      WHERE kind IN ('redemption', 'reward_transaction') AND holder = +?1 AND CASE kind
        WHEN 'redemption' THEN body ->> '$.reward.id' IS NOT NULL AND body ->> '$.object' = 'redemption' AND body ->> '$.result' = 'SUCCESS'
        ELSE body ->> '$.type' = 'PURCHASE' AND body ->> '$.status' = 'APPROVED' END
      UNION ALL SELECT moved.kind, moved.id, moved.parent, moved.holder, moved.created_at, moved.seq, moved.body
      FROM document AS card CROSS JOIN document AS moved
        ON moved.kind IN ('voucher_transaction', 'pending_points_change') AND moved.parent = card.id
      WHERE card.kind = 'voucher' AND card.holder = +?1
      UNION ALL SELECT 'order.turned', id, parent, holder, COALESCE(updated_at, created_at), seq, body FROM document
      WHERE kind = 'order' AND holder = +?1 AND body ->> '$.status' IN ('PAID', 'CANCELED', 'FULFILLED')
      UNION ALL SELECT column1, id, NULL, NULL, CASE column1 WHEN 'customer' THEN created_at ELSE updated_at END, seq, '{}'
      FROM document CROSS JOIN (VALUES ('customer'), ('customer.updated'))
      WHERE kind = 'customer' AND id = +?1 AND (column1 = 'customer' OR updated_at > created_at)
    ), placed AS (
      SELECT *, CASE kind
          WHEN 'customer.updated' THEN 'event_updated_' || id WHEN 'order.turned' THEN 'event_turned_' || id
          WHEN 'reward.created' THEN 'event_created_' || id WHEN 'reward.completed' THEN 'event_completed_' || id
          ELSE 'event_' || id END AS name,
        CASE kind
          WHEN 'customer' THEN 'customer.created' WHEN 'customer.updated' THEN 'customer.updated' WHEN 'event' THEN 'customer.custom_event'
          WHEN 'order' THEN 'customer.order.created' WHEN 'order.turned' THEN 'customer.order.' || lower(body ->> '$.status')
          WHEN 'reward.created' THEN 'customer.reward_redemptions.created' WHEN 'reward.completed' THEN 'customer.reward_redemptions.completed'
          WHEN 'tier_transaction' THEN 'customer.loyalty.tier.' || lower(body ->> '$.type')
          WHEN 'redeemable_holder' THEN 'customer.holder.assignment.created'
          WHEN 'publication' THEN CASE body ->> '$.result' WHEN 'FAILURE' THEN 'customer.publication.failed' ELSE 'customer.publication.succeeded' END
          WHEN 'redemption' THEN CASE body ->> '$.object' WHEN 'redemption_rollback' THEN 'customer.redemption.rollback.' ELSE 'customer.redemption.' END
            || CASE body ->> '$.result' WHEN 'FAILURE' THEN 'failed' ELSE 'succeeded' END
          WHEN 'pending_points_change' THEN 'customer.voucher.loyalty_card.pending_points.' || (body ->> '$.change')
          ELSE CASE body ->> '$.type'
            WHEN 'POINTS_ACCRUAL' THEN 'customer.rewarded.loyalty_points' WHEN 'POINTS_ADDITION' THEN 'customer.voucher.loyalty_card.points_added'
            WHEN 'POINTS_REMOVAL' THEN 'customer.voucher.loyalty_card.points_added'
            WHEN 'POINTS_EXPIRATION' THEN 'customer.voucher.loyalty_card.points_expired'
            WHEN 'PENDING_POINTS_ACTIVATION' THEN 'customer.voucher.loyalty_card.pending_points.activated'
            WHEN 'CREDITS_ADDITION' THEN 'customer.voucher.gift.balance_added' WHEN 'CREDITS_REMOVAL' THEN 'customer.voucher.gift.balance_added'
            ELSE 'customer.voucher.loyalty_card.points_transferred' END
        END AS type,
        CASE kind WHEN 'redemption' THEN parent WHEN 'reward.created' THEN parent WHEN 'reward.completed' THEN parent
          WHEN 'voucher_transaction' THEN parent WHEN 'pending_points_change' THEN parent
          WHEN 'redeemable_holder' THEN parent WHEN 'publication' THEN body ->> '$.vouchers_id[0]' END AS voucher
      FROM seen
    ), told AS (
      SELECT placed.*, card.body ->> '$.code' AS code, campaign.id AS campaign_id, campaign.body ->> '$.name' AS campaign_name,
        campaign.body ->> '$.campaign_type' AS campaign_type,
        CASE WHEN type GLOB 'customer.voucher.*' OR type GLOB 'customer.rewarded*' OR type GLOB 'customer.holder.*'
          OR type GLOB 'customer.loyalty.*' THEN 'EFFECT' ELSE 'ACTION' END
          AS category
      FROM placed
      LEFT JOIN document AS card ON card.kind = 'voucher' AND card.id = placed.voucher
      LEFT JOIN document AS tier ON tier.kind = 'promotion_tier' AND tier.id = placed.voucher
      LEFT JOIN document AS stack ON stack.kind = 'promotion_stack' AND stack.id = placed.voucher
      LEFT JOIN document AS campaign ON campaign.kind = 'campaign' AND campaign.id = COALESCE(card.parent, tier.parent, stack.parent)
    )";

/// What narrows a list: conditions and what they ask with, of which the first is the customer.
struct Narrow {
    text: String,
    params: Vec<Value>,
}

impl Narrow {
    fn and(&mut self, condition: &str, value: impl Into<Value>) {
        self.params.push(value.into());
        self.text.push_str(" AND ");
        self.text.push_str(&condition.replace("{}", &format!("?{}", self.params.len())));
    }

    fn read(call: &Call<'_, '_>, customer: &Document) -> Result<Narrow, CallError> {
        let mut narrow = Narrow { text: "TRUE".into(), params: vec![customer.id.as_str().into()] };
        if let Some(from) = read_moment(&call.query, &["start_date"])? {
            narrow.and("at >= +{}", from);
        }
        if let Some(to) = read_moment(&call.query, &["end_date"])? {
            narrow.and("at <= +{}", to);
        }
        if let Some(id) = call.query.get("campaign_id") {
            narrow.and("campaign_id = +{}", id);
        }
        for (name, words) in [("type", TYPES), ("campaign_type", CAMPAIGN_TYPES), ("category", CATEGORIES)] {
            let Some(text) = call.query.get(name) else { continue };
            if !words.contains(&text) {
                return Err(wrong(name, &format!("one of {}", words.join(", ")), text).into());
            }
            narrow.and(&format!("{name} = +{{}}"), text);
        }
        Ok(narrow)
    }
}

fn wrong(name: &str, wanted: &str, text: &str) -> ErrorBody {
    invalid_query(format!("Property .{name} must be {wanted} (actual value is `{text}`)"))
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let customer = CUSTOMER.find(call)?;
    let narrow = Narrow::read(call, &customer)?;
    let descends = match call.query.get("order") {
        None | Some("-created_at") => true,
        Some("created_at") => false,
        Some(text) => return Err(wrong("order", "one of created_at, -created_at", text).into()),
    };
    let (shown, has_more) = page(call, &customer, narrow, ("at", descends))?;
    Ok(Answer::json(Json::Object(onward::envelope(shown, has_more))))
}

/// The older list counts what it selects, before any place to go on from.
fn list_older(call: &mut Call<'_, '_>) -> Outcome {
    let customer = CUSTOMER.find(call)?;
    let mut narrow = Narrow::read(call, &customer)?;
    if let Some(at) = read_moment(&call.query, &["starting_after"])? {
        let falls = behind::is_falling(&call.query, &["created_at", "updated_at"])?;
        // An id says more than the moment: what happened in the same one as that stands behind it as well.
        if call.query.get("starting_after_id").is_none() {
            narrow.and(if falls { "at < +{}" } else { "at > +{}" }, at);
        }
    }
    if let Some(product) = call.query.get("product_id") {
        let bought =
            "EXISTS (SELECT 1 FROM json_each(COALESCE(body -> '$.order.items', body -> '$.items', '[]')) AS item
            WHERE COALESCE(item.value ->> '$.product_id', item.value ->> '$.product.id') = +{})";
        narrow.and(bought, product);
    }
    let text = call.query.get("order").unwrap_or("-created_at");
    let (name, descends) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
    let Some((_, column)) = ORDERS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<String> = ORDERS.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
        return Err(wrong("order", &format!("one of {}", known.join(", ")), text).into());
    };
    let total = call.store.row(&format!("{TOLD} SELECT COUNT(*) FROM told WHERE {}", narrow.text), &narrow.params)?;
    let total = total.map_or(Ok(0), |row| sql::int(&row, 0))?;
    let (shown, _) = page(call, &customer, narrow, (column, descends))?;
    Ok(Answer::json(json!({ "object": "list", "data_ref": "data", "data": shown, "total": total })))
}

/// The part of the list that is asked for, and whether there is more.
fn page(
    call: &Call<'_, '_>,
    customer: &Document,
    mut narrow: Narrow,
    (column, descends): (&str, bool),
) -> Result<(Vec<Json>, bool), CallError> {
    let limit = read_int(&call.query, "limit", 1, LIMIT_MAX)?.unwrap_or(LIMIT_DEFAULT);
    let (sign, direction) = if descends { ("<", "DESC") } else { (">", "ASC") };
    if let Some(id) = call.query.get("starting_after_id") {
        let row = call.store.row(
            &format!("{TOLD} SELECT COALESCE({column}, ''), seq, name FROM told WHERE name = +?2"),
            &[customer.id.as_str().into(), id.into()],
        )?;
        let mut row = row.ok_or_else(|| wrong("starting_after_id", "an activity of the customer", id))?.into_iter();
        let mut place = || row.next().unwrap_or(Value::Null);
        narrow.params.extend([place(), place(), place()]);
        let last = narrow.params.len();
        let [first, second] = [last.saturating_sub(2), last.saturating_sub(1)];
        narrow.text.push_str(&format!(
            " AND (COALESCE({column}, ''), seq, name) {sign} (CAST(?{first} AS {}), CAST(?{second} AS INTEGER), ?{last})",
            if column == "at" { "INTEGER" } else { "TEXT" }
        ));
    }
    let statement = format!(
        "{TOLD} SELECT name, type, at, kind, body, voucher, campaign_id FROM told WHERE {}
         ORDER BY COALESCE({column}, '') {direction}, seq {direction}, name {direction} LIMIT {}",
        narrow.text,
        limit.saturating_add(1)
    );
    let rows = call.store.rows(&statement, &narrow.params)?;
    let most = usize::try_from(limit).unwrap_or(0);
    let shown = rows.iter().take(most).map(|row| show(call, customer, row)).collect::<Result<Vec<Json>, Fault>>()?;
    Ok((shown, rows.len() > most))
}

fn show(call: &Call<'_, '_>, customer: &Document, row: &Row) -> Result<Json, Fault> {
    let (kind, word) = (sql::text(row, 3)?, sql::text(row, 1)?);
    let body: Map<String, Json> = serde_json::from_str(sql::text(row, 4)?)
        .map_err(|error| Fault(format!("a stored body does not parse: {error}")))?;
    let of = |kind: &str, column: usize, names: &[&str]| -> Result<Json, Fault> {
        let Some(id) = sql::text_or_null(row, column)? else { return Ok(Json::Null) };
        Ok(call.store.document(kind, id)?.map_or(Json::Null, |document| brief(&document.body, names)))
    };
    let names = ["id", "source_id", "name", "email", "metadata", "object"];
    let mut data = part::one("customer", brief(&customer.body, &names));
    if kind.starts_with("order") {
        data.insert("order".into(), Json::Object(body));
    } else if kind == "event" {
        data.insert("event".into(), Json::Object(body));
    } else if !kind.starts_with("customer") {
        let names = ["id", "code", "campaign", "campaign_id", "type", "holder_id", "object"];
        data.insert("voucher".into(), of("voucher", 5, &names)?);
        data.insert("campaign".into(), of("campaign", 6, &["id", "name", "campaign_type", "type", "object"])?);
        data.extend(about(kind, body));
    }
    let channel = if word.ends_with(".points_expired") || word.ends_with(".activated") { "INTERNAL" } else { "API" };
    Ok(json!({
        "id": sql::text(row, 0)?, "type": word, "created_at": moment::text(sql::int(row, 2)?),
        "data": { "data": data, "event_source": { "channel": channel } },
    }))
}

/// What is told of a code beside itself.
fn about(kind: &str, mut body: Map<String, Json>) -> Map<String, Json> {
    let mut more = Map::new();
    let of_program = [
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
        "tier_transaction" => drop(more.insert("transaction".into(), brief(&body, &of_program))),
        _ if kind.starts_with("reward.") && body.contains_key("reward_id") => {
            more.insert("reward".into(), json!({ "id": body.get("reward_id"), "object": "reward" }));
            more.insert("transaction".into(), brief(&body, &of_program));
        }
        "redemption" | "reward.created" | "reward.completed" => {
            let names = ["id", "date", "customer_id", "amount", "result", "status", "redemption", "reason", "object"];
            if kind != "redemption" {
                more.insert("reward".into(), body.get("reward").cloned().unwrap_or_default());
            }
            let order = body.get("order").and_then(Json::as_object).map(|order| brief(order, &["id", "source_id"]));
            more.insert("order".into(), order.unwrap_or_default());
            more.insert("redemption".into(), brief(&body, &names));
        }
        "publication" => {
            let names = ["id", "created_at", "customer_id", "source_id", "result", "object"];
            more.insert("publication".into(), brief(&body, &names));
        }
        "pending_points_change" => {
            more.insert("pending_points".into(), body.remove("told").unwrap_or_default());
            more.insert("voucher_pending_points_balance".into(), body.remove("balance").unwrap_or_default());
        }
        "redeemable_holder" => drop(more.insert("holder".into(), Json::Object(body))),
        _ => {
            let balance = body.get("details").and_then(|details| details.get("balance")).cloned();
            more.insert("balance".into(), balance.unwrap_or_default());
            more.insert("transaction".into(), Json::Object(body));
        }
    }
    more
}

fn brief(body: &Map<String, Json>, names: &[&str]) -> Json {
    Json::Object(part::known(body, names))
}
