//! Customers: create or update, get by id or source_id, list, and the upsert that publications and redemptions bring.
//! It must not know what a redemption decides.

use crate::api::people::segments;
use crate::document::behind;
use crate::document::clause::Clause;
use crate::document::fields::{ADDRESS, BEFORE_AFTER, BULK_METADATA, CUSTOMER as FIELDS, KEY, LIMIT, PAGE_99};
use crate::document::list::Page;
use crate::document::merge::merge;
use crate::document::resource;
use crate::document::shapes;
use crate::http::reply::{CallError, invalid_payload, invalid_query};
use crate::http::route::{Answer, Call, Outcome, Route, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::shop::customers::{CUSTOMER, ORDERS, check_metadata, upsert};
use crate::shop::membership::{Present, segment_of};
use crate::store::document::Document;
use crate::work::batch;
use serde_json::{Map, Value as Json};

/// What an update may say: everything but the id, which comes first.
const CHANGES: &[Field] = FIELDS.split_at(1).1;

/// What a list of customers may say of each: they are known by their source_id.
const BULK: &[Field] = &[
    must("source_id", KEY),
    may("name", Kind::Text),
    may("description", Kind::Text),
    may("email", Kind::Text),
    may("phone", Kind::Text),
    may("birthday", Kind::Date),
    may("birthdate", Kind::Date),
    may("address", ADDRESS),
    may("metadata", Kind::Map),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/customers", "List customers", list).of(&CUSTOMER).listed(shapes::TOTAL_AND_MORE).scope("customers").query(
        &[
            LIMIT,
            PAGE_99,
            may("order", Kind::OneOf(ORDERS)),
            may("email", Kind::Text),
            may("city", Kind::Text),
            may("name", Kind::Text),
            may("segment_id", KEY),
            may("created_at", BEFORE_AFTER),
            may("updated_at", BEFORE_AFTER),
            behind::MOMENT,
            behind::ID,
        ],
    ),
    post("/v1/customers", "Create or update a customer", create).of(&CUSTOMER).scope("customers").body(FIELDS),
    post("/v1/customers/bulk/async", "Create or update many customers", bulk)
        .of(&CUSTOMER)
        .scope("customers")
        .many(BULK)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/customers/metadata/async", "Update the metadata of many customers", bulk_metadata)
        .of(&CUSTOMER)
        .scope("customers")
        .body(BULK_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/customers/{customerId}", "Get a customer by id or source_id", resource::get)
        .of(&CUSTOMER)
        .scope("customers"),
    put("/v1/customers/{customerId}", "Update a customer", update).of(&CUSTOMER).scope("customers").body(CHANGES),
];

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = Clause::of_kind(CUSTOMER.object);
    behind::narrow(call.store, &call.query, &[CUSTOMER.object], &mut clause)?;
    let page = match call.query.get("segment_id") {
        Some("") => return Err(invalid_query("Property .segment_id must NOT have fewer than 1 characters").into()),
        Some(id) => select_of_segment(call, id, clause)?,
        None => CUSTOMER.list.select(call.store, &call.query, clause)?,
    };
    let number = crate::document::list::read_int(&call.query, "page", 1, 99)?.unwrap_or(1);
    let limit =
        crate::document::list::read_int(&call.query, "limit", 1, 100)?.unwrap_or(crate::document::list::LIMIT_DEFAULT);
    let shown = (CUSTOMER.show)(call, page.documents)?;
    let mut envelope = CUSTOMER.list.envelope(shown, page.total);
    envelope.insert("has_more".into(), (number.saturating_mul(limit) < page.total).into());
    Ok(Answer::json(Json::Object(envelope)))
}

/// A static segment lists its customers; of any other every customer is asked about.
fn select_of_segment(call: &Call<'_, '_>, id: &str, mut clause: Clause) -> Result<Page, CallError> {
    let segment = segments::named(call, id)?;
    if segment.body.contains_key("customers") {
        let condition = "id IN (SELECT value FROM json_each((SELECT body FROM document WHERE kind = 'segment' AND id = {}), '$.customers'))";
        clause.and(condition, segment.id);
        return CUSTOMER.list.select(call.store, &call.query, clause);
    }
    let (present, segment) = (Present::of(call)?, segment_of(call, &segment)?);
    let count = |who: &str, event: &str| call.store.event_count(who, event);
    let is_in = |customer: &Document| match &segment {
        Some(segment) => present.is_in_segment(segment, &customer.body, &count),
        None => Ok(false),
    };
    CUSTOMER.list.select_where(call.store, &call.query, clause, &is_in)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let document = upsert(call, body)?;
    Ok(Answer::json(CUSTOMER.show_one(call, document)?))
}

fn bulk(call: &mut Call<'_, '_>) -> Outcome {
    let items = batch::items(call)?;
    batch::answer(call, "CUSTOMERS.BULK_UPDATE", items)
}

fn bulk_metadata(call: &mut Call<'_, '_>) -> Outcome {
    let items = batch::same_metadata(call)?;
    batch::answer(call, "CUSTOMERS.METADATA_UPDATE", items)
}

/// One customer of a list.
pub fn write_one(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<(), CallError> {
    upsert(call, sent).map(drop)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Kept)?;
    let mut document = CUSTOMER.find(call)?;
    if let Some(sent) = body.remove("source_id").filter(|sent| Some(sent) != document.body.get("source_id")) {
        let told = format!(
            "Property .source_id must NOT be changed after creation (actual value is `{}`)",
            crate::http::shape::shown(&sent).trim_matches('"')
        );
        return Err(invalid_payload(told).into());
    }
    let has_metadata = body.contains_key("metadata");
    merge(&mut document.body, body);
    if has_metadata {
        check_metadata(call, &document.body)?;
    }
    call.touch(&mut document);
    call.store.update(CUSTOMER.object, &document);
    Ok(Answer::json(CUSTOMER.show_one(call, document)?))
}
