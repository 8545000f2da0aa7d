//! What a customer holds: vouchers that were published to them, and referral codes that they pass on or were given. It must not know what
//! any of it grants.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT};
use crate::document::onward::{self, Onward};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::http::shape::{Kind, may};
use crate::moment;
use crate::shop::customers::CUSTOMER;
use crate::shop::vouchers::VOUCHER;
use crate::shop::zone;
use crate::store::document::Document;
use crate::store::sql;
use serde_json::{Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/v1/customers/{customerId}/redeemables", "List what a customer holds", list)
    .scope("customers")
    .query(&[
        LIMIT,
        may("order", Kind::OneOf(&["id", "-id"])),
        may("starting_after_id", KEY),
        may("filters", Kind::Map),
    ])
    .lists("data", shapes::customers::HELD, shapes::TOTAL_MORE_AND_NEXT)];

/// The id under which something is listed as held: a voucher's own one, and those of its holders.
macro_rules! held_id {
    () => {
        "CASE kind WHEN 'voucher' THEN 'rh_' || lower(hex(substr(id, -9))) ELSE id END"
    };
}

/// Since when: when a voucher was published last.
macro_rules! held_since {
    () => {
        "CASE kind WHEN 'voucher' THEN COALESCE(
           (SELECT MAX(json_extract(given.body, '$.created_at')) FROM document AS given WHERE given.kind = 'publication'
              AND given.holder = document.holder AND EXISTS
                (SELECT 1 FROM json_each(given.body, '$.vouchers_id') AS named WHERE named.value = document.id)),
           json_extract(body, '$.created_at')) ELSE json_extract(body, '$.created_at') END"
    };
}

const CAMPAIGN_TYPE: &str = "CASE kind WHEN 'voucher' THEN
    (SELECT json_extract(campaign.body, '$.campaign_type') FROM document AS campaign WHERE campaign.kind = 'campaign' AND campaign.id = document.parent)
    ELSE json_extract(body, '$.campaign_type') END";

const HELD: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[
        ("id", held_id!()),
        ("created_at", held_since!()),
        ("redeemable_id", "CASE kind WHEN 'voucher' THEN id ELSE parent END"),
        ("redeemable_object", "'voucher'"),
        ("holder_role", "COALESCE(json_extract(body, '$.holder_role'), 'OWNER')"),
        ("campaign_id", "CASE kind WHEN 'voucher' THEN parent ELSE json_extract(body, '$.campaign_id') END"),
        ("campaign_type", CAMPAIGN_TYPE),
        ("voucher_type", "COALESCE(json_extract(body, '$.voucher_type'), json_extract(body, '$.type'))"),
    ],
};

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let customer = CUSTOMER.find(call)?;
    let asked = zone::asked(call, Clause::of_kinds(&["voucher", "redeemable_holder"]))?;
    let held = || {
        let mut clause = asked.clone();
        // A code that is passed on has rows of its own for whoever has it; what it grants is nobody's.
        clause.and(
            "holder = {} AND NOT (kind = 'voucher' AND json_extract(body, '$.referrer_id') IS NOT NULL)",
            customer.id.as_str(),
        );
        clause
    };
    let place = |id: &str| {
        call.store.row(
            concat!(
                "SELECT seq FROM document WHERE kind IN ('voucher', 'redeemable_holder') AND holder = +?1 AND +?2 = ",
                held_id!()
            ),
            &[customer.id.as_str().into(), id.into()],
        )
    };
    let Onward { documents, has_more } =
        onward::select(&HELD, call.store, &call.query, held(), ("something that the customer holds", &place))?;
    let total = HELD.count(call.store, &call.query, held())?;
    let shown = show(call, documents, &customer.id)?;
    let mut envelope = onward::envelope(shown, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Answer::json(Json::Object(envelope)))
}

fn show(call: &mut Call<'_, '_>, held: Vec<Document>, customer_id: &str) -> Result<Vec<Json>, CallError> {
    let named = |row: &Document| match row.key.is_some() && row.body.contains_key("code") {
        true => row.id.clone(),
        false => row.parent.clone().unwrap_or_default(),
    };
    let ids: Vec<String> = held.iter().map(named).collect();
    let listed: Vec<&str> = ids.iter().map(String::as_str).collect();
    let codes = call.store.documents_by_names(VOUCHER.object, &[], &listed)?;
    let vouchers = (VOUCHER.show)(call, codes)?;
    let mut shown = Vec::new();
    for (row, id) in held.into_iter().zip(ids) {
        let voucher = vouchers.iter().find(|voucher| voucher.get("id").and_then(Json::as_str) == Some(&id));
        let voucher = voucher.cloned().unwrap_or(Json::Null);
        let told = call.store.row(
            concat!("SELECT ", held_id!(), ", ", held_since!(), ", ", "COALESCE(json_extract(body, '$.holder_role'), 'OWNER') FROM document WHERE kind IN ('voucher', 'redeemable_holder') AND id = +?1"),
            &[row.id.as_str().into()],
        )?;
        let told = told.unwrap_or_default();
        let campaign_id = voucher.get("campaign_id").and_then(Json::as_str);
        let campaign = campaign_id.map(|id| call.store.document("campaign", id)).transpose()?.flatten();
        shown.push(json!({
            "id": sql::text(&told, 0)?, "created_at": sql::text(&told, 1)?, "redeemable_id": id, "redeemable_object": "voucher",
            "customer_id": customer_id, "holder_role": sql::text(&told, 2)?, "campaign_id": campaign_id,
            "campaign_type": campaign.and_then(|mut campaign| campaign.body.remove("campaign_type")), "voucher_type": voucher.get("type"),
            "redeemable": { "type": "voucher", "status": status(&voucher, call.now_ms()), "voucher": voucher },
        }));
    }
    Ok(shown)
}

/// How a voucher stands, in one word: what forbids its redemption first.
fn status(voucher: &Json, now_ms: i64) -> &'static str {
    let number = |path: &str| voucher.pointer(path).and_then(Json::as_i64);
    let date = |name: &str| voucher.get(name).and_then(Json::as_str).and_then(moment::parse);
    let is_used = number("/redemption/quantity")
        .is_some_and(|quantity| number("/redemption/redeemed_quantity").unwrap_or(0) >= quantity);
    let is_empty =
        ["/gift/balance", "/loyalty_card/balance"].into_iter().filter_map(number).any(|balance| balance <= 0);
    match () {
        () if voucher.get("active") == Some(&Json::Bool(false)) => "DISABLED",
        () if date("expiration_date").is_some_and(|end| end <= now_ms) => "EXPIRED",
        () if date("start_date").is_some_and(|start| start > now_ms) => "NOT_ACTIVE_YET",
        () if is_used => "USED",
        () if is_empty => "NO_BALANCE",
        () => "ACTIVE",
    }
}
