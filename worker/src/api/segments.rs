//! Segments of customers: create, get, list, delete, and the segments that a customer is in.

use crate::documents::common_fields::{KEY, LIMIT, PAGE};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::balances::kinds;
use crate::domain::clock;
use crate::domain::clock::LocalTime;
use crate::domain::customers::customer;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::segments::is_in_segment;
use crate::domain::segments::{check_filter, read_stored_segment};
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, error, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post};
use crate::http::shape::{Field, FieldType, Nulls, may};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::documents::customers as store_customers;
use crate::store::records::{CustomerRecord, SegmentRecord};
use crate::timestamp;
use serde_json::{Map, Value as Json, json};
use std::collections::HashSet;

/// Maximum number of customers of a static segment (docs/spec/errors-and-auth.md#7).
const CUSTOMERS_MAX: usize = 20_000;
/// Maximum number of segments with a filter in a project.
const FILTERED_MAX: i64 = 100;

const TYPES: &[&str] = &["static", "auto-update", "passive"];

const CREATE: &[Field] = &[
    may("name", KEY).description("Name of the segment."),
    may("type", FieldType::OneOf(TYPES))
        .description("Type of segment. Absent means `static` with `customers`, and `auto-update` with `filter`."),
    may("customers", FieldType::List(&KEY, 0, CUSTOMERS_MAX))
        .description("IDs or `source_id`s of the customers in a static segment. Refused for other types."),
    may("filter", FieldType::Named(&scrip::wire::rules::FILTER))
        .description("Conditions by field that customers in the segment meet. Required for `auto-update` and `passive`, refused for `static`."),
];

/// Segments as a resource.
pub const SEGMENT: Resource = Resource {
    object: "segment",
    shape: shapes::customers::SEGMENT.described(),
    parameter: "segmentId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at")],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("name", member!("name")),
            ("type", member!("type")),
            ("created_at", member!("created_at")),
        ],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/segments", "List segments", list)
        .describe(
            "listSegments",
            "Returns the segments of the project, the newest first by default. An unknown order or filter is refused with `invalid_query_params`.",
        )
        .returns("The segments of this page, without their customers, and the total.")
        .of(&SEGMENT)
        .lists_resource(shapes::TOTAL)
        .scope("segments")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("ids", FieldType::List(&KEY, 0, 100))
                .description("IDs of segments. Only these segments are listed; an empty list selects all."),
            may("filters", FieldType::Map).description("Conditions by field of the segment, joined by `junction`."),
        ]),
    post("/v1/segments", "Create a segment", create)
        .describe(
            "createSegment",
            "Creates a segment: a static list of customers, or all customers that match a filter. Listed customers must exist. A project has at most 100 segments with a filter; one more is refused with `segments_limit_exceeded`. An unknown customer is refused with `not_found`.",
        )
        .returns("The new segment.")
        .of(&SEGMENT)
        .scope("segments")
        .body(CREATE),
    get("/v1/segments/{segmentId}", "Get a segment", resource::get)
        .describe(
            "getSegment",
            "Returns one segment. Its customers are listed by the list of customers with `segment_id`. An unknown ID is refused with `not_found`.",
        )
        .returns("The segment, without its customers.")
        .of(&SEGMENT)
        .scope("segments"),
    delete("/v1/segments/{segmentId}", "Delete a segment", resource::remove)
        .describe("deleteSegment", "Deletes a segment. The customers stay. An unknown ID is refused with `not_found`.")
        .returns("No content. The segment is deleted.")
        .of(&SEGMENT)
        .scope("segments")
        .answers(204, shapes::EMPTY),
    get("/v1/customers/{customerId}/segments", "List the segments of a customer", of_customer)
        .describe(
            "listCustomerSegments",
            "Returns the segments to which a customer belongs now, the newest first. Filters are evaluated on each call. A customer that is not stored is evaluated as an empty profile under this name, so that no ID is refused.",
        )
        .returns("The segments of the customer and their total.")
        .of(&SEGMENT)
        .lists_resource(shapes::TOTAL)
        .scope("customers"),
];

/// Shows segments without their customers, which are a separate list: customers, narrowed by `segment_id`.
fn to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let segments_json = documents.into_iter().map(|mut document| {
        document.body.remove("customers");
        Json::Object(document.body)
    });
    Ok(segments_json.collect())
}

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = clock::at_call(call, Clause::of_kind(SEGMENT.object))?;
    let ids = call.query.values("ids");
    if !ids.is_empty() {
        clause.with_ids(&ids);
    }
    let page = SEGMENT.list.select(call.store, &call.query, clause)?;
    let segments_json = to_json(call, page.documents)?;
    Ok(Response::json(Json::Object(SEGMENT.list.envelope(segments_json, page.total))))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    let kind = read_type(&body)?;
    let id = call.ids.alphanumeric("seg_", 24).to_string();
    let mut members = Map::new();
    members.insert("id".into(), id.clone().into());
    members.insert("name".into(), body.remove("name").unwrap_or_default());
    members.insert("type".into(), kind.clone().into());
    if kind == "static" {
        let sent = body.remove("customers").unwrap_or_default();
        members.insert("filter".into(), Json::Null);
        members.insert("customers".into(), read_customers(call, &sent)?);
    } else {
        let filter = body.remove("filter").and_then(|filter| filter.as_object().cloned()).unwrap_or_default();
        check_filter(&filter, "filter")?;
        check_count(call)?;
        members.insert("filter".into(), Json::Object(filter));
    }
    // Membership is computed from the filter at each read, so a segment has no initial synchronisation.
    members.insert("initial_sync_status".into(), "DONE".into());
    members.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    members.insert("updated_at".into(), Json::Null);
    members.insert("object".into(), SEGMENT.object.into());
    let segment = Document::new(id, None, call.now_ms(), members);
    call.store.insert(SEGMENT.object, &segment);
    Ok(Response::json(SEGMENT.one_to_json(call, segment)?))
}

/// Returns the sent type, or the type that follows from the other members.
fn read_type(body: &Map<String, Json>) -> Result<String, ErrorBody> {
    let (lists, filters) = (body.contains_key("customers"), body.contains_key("filter"));
    let kind = match SegmentRecord::of(body).segment_type() {
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

/// Returns the ids of the customers that are sent by id or source_id; they must exist.
fn read_customers(call: &Call<'_, '_>, sent: &Json) -> Result<Json, CallError> {
    let names: Vec<&str> = sent.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
    let known = call.store.ids_named(CUSTOMER.object, &names)?;
    let mut unique = HashSet::new();
    let mut settled = Vec::new();
    for name in names {
        let id = known.get(name).ok_or_else(|| not_found(CUSTOMER.object, name))?;
        if unique.insert(id) {
            settled.push(id.as_str());
        }
    }
    Ok(Json::from(settled))
}

fn check_count(call: &Call<'_, '_>) -> Result<(), CallError> {
    let count = store_customers::count_filtered_segments(call.store)?;
    if count < FILTERED_MAX {
        return Ok(());
    }
    let message = format!(
        "A project must NOT have more than {FILTERED_MAX} segments of the types auto-update and passive (actual number is `{count}`)"
    );
    Err(error(400, "segments_limit_exceeded", "Segments limit exceeded", message).into())
}

/// Lists the segments of a customer. An unknown one has those of the profile that would be stored under the path's name.
fn of_customer(call: &mut Call<'_, '_>) -> HandlerResult {
    let name = call.param("customerId").to_owned();
    let customer = match call.store.document_by_name("customer", &name, &name)? {
        Some(customer) => customer.body,
        None => {
            let mut new = customer::empty_body("", Some(&name), call.now_ms());
            new.remove("id");
            new
        }
    };
    let id = CustomerRecord::of(&customer).id().unwrap_or_default();
    let found = store_customers::list_segments_of(call.store, id)?;
    let present = LocalTime::of(call)?;
    let mut segments_json = Vec::new();
    for document in found {
        // The statement has found those that list the customer.
        let lists = !document.as_segment().has_filter();
        let is_in = match read_stored_segment(call, &document)?.filter(|_| !lists) {
            Some(segment) => {
                let count = |customer_id: &str, event: &str| call.store.event_count(customer_id, event);
                is_in_segment(&present, &segment, &customer, &count, &|| kinds::find_current_balances(call, id))?
            }
            None => lists,
        };
        if is_in {
            segments_json.push(Json::Object(document.body));
        }
    }
    Ok(Response::json(
        json!({ "object": "list", "data_ref": "data", "total": segments_json.len(), "data": segments_json }),
    ))
}

/// Finds the segment by which a list of customers is filtered.
pub fn find_by_name(call: &Call<'_, '_>, id: &str) -> Result<Document, CallError> {
    Ok(call.store.document(SEGMENT.object, id)?.ok_or_else(|| not_found(SEGMENT.object, id))?)
}
