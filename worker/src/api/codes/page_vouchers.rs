//! The codes that a page lists: those of the customer whom a token proves, and those that a campaign has for everybody, while they
//! can be used. It must not know how a code is shown.
//!
//! Whoever opens the shop has a page's key, so that codes which are nobody's and of no campaign, or one of many, are never told.

use crate::access::page;
use crate::document::clause::Clause;
use crate::document::fields::{BEFORE_AFTER, KEY, LIMIT, PAGE_99};
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::listing::{Filter, List};
use crate::http::reply::CallError;
use crate::http::route::Answer;
use crate::http::route::{Call, Outcome, Route, Switch, get};
use crate::http::shape::may;
use crate::moment;
use crate::shop::vouchers::VOUCHER;
use crate::store::sql;
use serde_json::Value as Json;

/// What the list of pages can be narrowed by. Whose the codes are is decided before.
const LISTED: List = List {
    orders: &[],
    filters: &[
        Filter::Name("campaign", "parent", "campaign"),
        Filter::Is("category", "json_extract(body, '$.category')"),
        Filter::Moment("created_at", "created_at"),
        Filter::Moment("updated_at", "updated_at"),
    ],
    conditions: &[],
    ..VOUCHER.list
};

/// The routes of the area. Nothing published describes it any more; existing clients call it.
pub const ROUTES: &[Route] = &[get("/client/v1/vouchers", "List vouchers from a page", list)
    .of(&VOUCHER)
    .listed(shapes::TOTAL)
    .for_classes(&[Class::Client, Class::OAuth])
    .scope("vouchers")
    .switched(Switch::Vouchers)
    .query(&[
        LIMIT,
        PAGE_99,
        may("campaign", KEY),
        may("category", KEY),
        may("customer", KEY),
        may("created_at", BEFORE_AFTER),
        may("updated_at", BEFORE_AFTER),
    ])];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(VOUCHER.object).at(call.now_ms()).named();
    clause.and("id IN (SELECT value FROM json_each({}))", Json::from(told(call)?).to_string());
    let page = LISTED.select(call.store, &call.query, clause)?;
    let shown = (VOUCHER.show)(call, page.documents)?;
    Ok(Answer::json(Json::Object(LISTED.envelope(shown, page.total))))
}

/// The ids of the codes that may be told. Whoever names a customer asks for that customer's alone; nobody is told of one whom
/// nothing proves.
fn told(call: &Call<'_, '_>) -> Result<Vec<String>, CallError> {
    let named = call.query.get("customer");
    let customer = page::asked_about(call, named)?;
    let mut rows = Vec::new();
    if let Some(customer) = &customer {
        rows.extend(
            call.store.rows(
                "SELECT id FROM document WHERE kind = 'voucher' AND holder = +?1",
                &[customer.id.as_str().into()],
            )?,
        );
    }
    if named.is_none() {
        rows.extend(call.store.rows(PUBLIC, &[moment::text(call.now_ms()).into()])?);
    }
    let mut ids = Vec::with_capacity(rows.len());
    for row in &rows {
        ids.push(sql::text(row, 0)?.to_owned());
    }
    Ok(ids)
}

/// The codes of campaigns with one code for everybody, where both can be used now: one that waits for its day is a secret still.
const PUBLIC: &str = "SELECT voucher.id FROM document AS campaign CROSS JOIN document AS voucher
    WHERE campaign.kind = 'campaign' AND json_extract(campaign.body, '$.type') = 'STANDALONE'
      AND COALESCE(json_extract(campaign.body, '$.active'), 1) = 1
      AND COALESCE(json_extract(campaign.body, '$.start_date'), '') <= +?1
      AND COALESCE(json_extract(campaign.body, '$.expiration_date'), '9999') > +?1
      AND voucher.kind = 'voucher' AND voucher.parent = campaign.id AND voucher.holder IS NULL
      AND COALESCE(json_extract(voucher.body, '$.active'), 1) = 1
      AND COALESCE(json_extract(voucher.body, '$.start_date'), '') <= +?1
      AND COALESCE(json_extract(voucher.body, '$.expiration_date'), '9999') > +?1";
