//! Segments of customers: create, get, list, delete, and the segments that a customer is in.
//! It must not know what a filter means; `membership` says who belongs to a segment.

use crate::document::clause::Clause;
use crate::document::fields::{KEY, LIMIT, PAGE};
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post};
use crate::http::shape::{Field, Kind, Nulls, may};
use crate::moment;
use crate::shop::customers::CUSTOMER;
use crate::shop::membership::{Present, check_filter, segment_of};
use crate::shop::zone;
use crate::store::document::Document;
use crate::store::sql;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// Customers that a static segment lists (errors-and-auth.md section 7).
const CUSTOMERS_MAX: usize = 20_000;
/// Segments with a filter that a project has.
const FILTERED_MAX: i64 = 100;

const TYPES: &[&str] = &["static", "auto-update", "passive"];

const CREATE: &[Field] = &[
    may("name", KEY),
    may("type", Kind::OneOf(TYPES)),
    may("customers", Kind::List(&KEY, 0, CUSTOMERS_MAX)),
    may("filter", Kind::Named(&scrip::wire::rules::FILTER)),
];

/// Segments as a resource.
pub const SEGMENT: Resource = Resource {
    object: "segment",
    shape: shapes::customers::SEGMENT.described(),
    parameter: "segmentId",
    key: plain_key,
    show,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at")],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("name", "json_extract(body, '$.name')"),
            ("type", "json_extract(body, '$.type')"),
            ("created_at", "json_extract(body, '$.created_at')"),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/segments", "List segments", list).of(&SEGMENT).listed(shapes::TOTAL).scope("segments").query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at"])),
        may("ids", Kind::List(&KEY, 0, 100)),
        may("filters", Kind::Map),
    ]),
    post("/v1/segments", "Create a segment of customers", create).of(&SEGMENT).scope("segments").body(CREATE),
    get("/v1/segments/{segmentId}", "Get a segment", resource::get).of(&SEGMENT).scope("segments"),
    delete("/v1/segments/{segmentId}", "Delete a segment", resource::remove)
        .of(&SEGMENT)
        .scope("segments")
        .answers(204, shapes::EMPTY),
    get("/v1/customers/{customerId}/segments", "List the segments that a customer is in", of_customer)
        .of(&SEGMENT)
        .listed(shapes::TOTAL)
        .scope("customers"),
];

/// The customers of a segment are a list of their own: customers, narrowed by `segment_id`.
fn show(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let shown = documents.into_iter().map(|mut document| {
        document.body.remove("customers");
        Json::Object(document.body)
    });
    Ok(shown.collect())
}

fn list(call: &mut Call<'_, '_>) -> Outcome {
    let mut clause = zone::asked(call, Clause::of_kind(SEGMENT.object))?;
    let ids = call.query.listed("ids");
    if !ids.is_empty() {
        clause.and("id IN (SELECT value FROM json_each({}))", Json::from(ids).to_string());
    }
    let page = SEGMENT.list.select(call.store, &call.query, clause)?;
    let shown = show(call, page.documents)?;
    Ok(Answer::json(Json::Object(SEGMENT.list.envelope(shown, page.total))))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let kind = settle_type(&body)?;
    let id = call.ids.alphanumeric("seg_", 24).to_string();
    let mut whole = Map::new();
    whole.insert("id".into(), id.clone().into());
    whole.insert("name".into(), body.remove("name").unwrap_or_default());
    whole.insert("type".into(), kind.clone().into());
    if kind == "static" {
        let sent = body.remove("customers").unwrap_or_default();
        whole.insert("filter".into(), Json::Null);
        whole.insert("customers".into(), settle_customers(call, &sent)?);
    } else {
        let filter = body.remove("filter").and_then(|filter| filter.as_object().cloned()).unwrap_or_default();
        check_filter(&filter, "filter")?;
        check_count(call)?;
        whole.insert("filter".into(), Json::Object(filter));
    }
    // Who is in a segment follows from its filter whenever it is asked, so that there is nothing to wait for.
    whole.insert("initial_sync_status".into(), "DONE".into());
    whole.insert("created_at".into(), moment::text(call.now_ms()).into());
    whole.insert("updated_at".into(), Json::Null);
    whole.insert("object".into(), SEGMENT.object.into());
    let segment = Document::new(id, None, call.now_ms(), whole);
    call.store.insert(SEGMENT.object, &segment);
    Ok(Answer::json(SEGMENT.show_one(call, segment)?))
}

/// The type as said, or as follows from what is sent.
fn settle_type(body: &Map<String, Json>) -> Result<String, ErrorBody> {
    let (lists, filters) = (body.contains_key("customers"), body.contains_key("filter"));
    let kind = match body.get("type").and_then(Json::as_str) {
        Some(kind) => kind,
        None if filters && !lists => "auto-update",
        None if lists && !filters => "static",
        None => return Err(invalid_payload("Payload must have required property 'type'")),
    };
    let (needed, other, is_there) =
        if kind == "static" { ("customers", "filter", lists) } else { ("filter", "customers", filters) };
    if body.contains_key(other) {
        return Err(invalid_payload(format!("Property .{other} must NOT be present on a segment of type {kind}")));
    }
    if !is_there && kind != "static" {
        return Err(invalid_payload(format!("Payload must have required property '{needed}'")));
    }
    Ok(kind.to_owned())
}

/// The ids of the customers that are sent by id or source_id; they must exist.
fn settle_customers(call: &Call<'_, '_>, sent: &Json) -> Result<Json, CallError> {
    let names: Vec<&str> = sent.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let known = call.store.ids_named(CUSTOMER.object, &names)?;
    let mut seen = HashSet::new();
    let mut settled = Vec::new();
    for name in names {
        let id = known.get(name).ok_or_else(|| not_found(CUSTOMER.object, name))?;
        if seen.insert(id) {
            settled.push(id.as_str());
        }
    }
    Ok(Json::from(settled))
}

fn check_count(call: &Call<'_, '_>) -> Result<(), CallError> {
    let row = call.store.row(
        "SELECT COUNT(*) FROM document WHERE kind = 'segment' AND json_extract(body, '$.type') <> 'static'",
        &[],
    )?;
    let count = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
    if count < FILTERED_MAX {
        return Ok(());
    }
    let told = format!(
        "A project must NOT have more than {FILTERED_MAX} segments of the types auto-update and passive (actual number is `{count}`)"
    );
    Err(error(400, "segments_limit_exceeded", "Segments limit exceeded", told).into())
}

/// A customer who is not stored is in the segments that the path's name alone would match.
fn of_customer(call: &mut Call<'_, '_>) -> Outcome {
    let name = call.param("customerId").to_owned();
    let customer = match call.store.document_by_name("customer", &name, &name)? {
        Some(customer) => customer.body,
        None => json!({ "source_id": name, "metadata": {} }).as_object().cloned().unwrap_or_default(),
    };
    let id = customer.get("id").and_then(Json::as_str).unwrap_or_default();
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, json_remove(body, '$.customers') FROM document
         WHERE kind = 'segment' AND (json_extract(body, '$.type') <> 'static' OR EXISTS (
           SELECT 1 FROM json_each(body, '$.customers') WHERE value = +?1)) ORDER BY created_at DESC, seq DESC",
        &[id.into()],
    )?;
    let present = Present::of(call)?;
    let mut shown = Vec::new();
    for document in found {
        // The statement has found those that list the customer.
        let lists = document.body.get("filter").is_none_or(Json::is_null);
        let is_in = match segment_of(call, &document)?.filter(|_| !lists) {
            Some(segment) => {
                present.is_in_segment(&segment, &customer, &|who, event| call.store.event_count(who, event))?
            }
            None => lists,
        };
        if is_in {
            shown.push(Json::Object(document.body));
        }
    }
    Ok(Answer::json(json!({ "object": "list", "data_ref": "data", "total": shown.len(), "data": shown })))
}

/// The segment that a list of customers is narrowed by.
pub fn named(call: &Call<'_, '_>, id: &str) -> Result<Document, CallError> {
    Ok(call.store.document(SEGMENT.object, id)?.ok_or_else(|| not_found(SEGMENT.object, id))?)
}
