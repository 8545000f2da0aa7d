//! Customers: create or update, get by id or source_id, list, and the upsert that publications and redemptions bring.
//! It must not know what a redemption decides.

use crate::api::people::segments;
use crate::api::project::metadata_schemas;
use crate::document::fields::{ADDRESS, BEFORE_AFTER, BULK_METADATA, CUSTOMER as FIELDS, KEY, LIMIT, PAGE_99};
use crate::document::list::{Clause, Filter, List, Page, read_moment};
use crate::document::resource::{self, Resource, plain_key};
use crate::document::shapes;
use crate::http::reply::{CallError, duplicate, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Route, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::decision;
use crate::shop::membership::{Present, segment_of};
use crate::store::document::Document;
use crate::work::batch;
use scrip::decide::case::stored::customer_key;
use scrip::facts::Facts;
use scrip::model::request::Redeemables;
use serde_json::{Map, Value as Json, json};

const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "source_id", "-source_id"];

/// Customers as a resource.
pub const CUSTOMER: Resource = Resource {
    object: "customer",
    shape: shapes::customers::CUSTOMER,
    parameter: "customerId",
    key: plain_key,
    show: resource::show_body,
    list: List {
        data_ref: "customers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("source_id", "key")],
        filters: &[
            Filter::Is("email", "json_extract(body, '$.email')"),
            Filter::Is("city", "json_extract(body, '$.address.city')"),
            Filter::Contains("name", "json_extract(body, '$.name')"),
            Filter::Moment("created_at", "created_at"),
            Filter::Moment("updated_at", "updated_at"),
        ],
        conditions: &[],
    },
};

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
            may("starting_after", Kind::DateTime),
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
    if let Some(at) = read_moment(&call.query, &["starting_after"])? {
        clause.and("created_at < {}", at);
    }
    let page = match call.query.get("segment_id") {
        Some(id) => select_of_segment(call, id, clause)?,
        None => CUSTOMER.list.select(call.store, &call.query, clause)?,
    };
    let number = crate::document::list::read_int(&call.query, "page", 1, 99)?.unwrap_or(1);
    let limit =
        crate::document::list::read_int(&call.query, "limit", 1, 100)?.unwrap_or(crate::document::list::LIMIT_DEFAULT);
    let shown = resource::show_body(call, page.documents)?;
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
    let is_in =
        |customer: &Document| segment.as_ref().is_some_and(|segment| present.is_in_segment(segment, &customer.body));
    CUSTOMER.list.select_where(call.store, &call.query, clause, &is_in)
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Kept)?;
    let document = upsert(call, body)?;
    Ok(Answer::json(Json::Object(document.body)))
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
    Ok(Answer::json(Json::Object(document.body)))
}

/// The customer that a sent one means: found by id, else by source_id; updated with what was sent, or created. Gives the document
/// as it will be after the commit.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let id = sent.remove("id").and_then(|id| id.as_str().map(str::to_owned));
    let source_id = sent.remove("source_id").and_then(|id| id.as_str().map(str::to_owned));
    let found = match (&id, &source_id) {
        (Some(id), _) => Some(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?),
        (None, Some(source_id)) => call.store.document_by_name("customer", source_id, source_id)?,
        (None, None) => None,
    };
    if let Some(mut document) = found {
        if let (Some(sent), Some(known)) = (&source_id, &document.key)
            && id.is_some()
            && sent != known
        {
            // Two identifiers that name two customers are refused; one that is free is ignored, as source_id never changes.
            if call.store.document_by_name("customer", sent, "")?.is_some() {
                return Err(duplicate("customer", "id", sent).into());
            }
        }
        let before = document.body.clone();
        if document.key.is_none() && source_id.is_some() && id.is_some() {
            give_source_id(call, &mut document, source_id.as_deref().unwrap_or_default())?;
        }
        let has_metadata = sent.contains_key("metadata");
        merge(&mut document.body, sent);
        if has_metadata {
            check_metadata(call, &document.body)?;
        }
        if document.body != before {
            call.touch(&mut document);
            call.store.update(CUSTOMER.object, &document);
        }
        return Ok(document);
    }
    let document = new(call, source_id, sent);
    check_metadata(call, &document.body)?;
    call.store.insert(CUSTOMER.object, &document);
    Ok(document)
}

/// The stored customer that a request names, as a decision about it finds it.
pub fn named(call: &Call<'_, '_>, request: &Redeemables) -> Result<Option<Document>, CallError> {
    let Some(key) = customer_key(request) else { return Ok(None) };
    let facts = decision::facts(call)?;
    // What was found is noted by the facts, as a document.
    let _ = facts.customer(key);
    let (found, _) = facts.finish()?;
    Ok(found.into_values().next())
}

/// Holds the metadata of a customer against the project's schema.
pub fn check_metadata(call: &Call<'_, '_>, body: &Map<String, Json>) -> Result<(), CallError> {
    metadata_schemas::check(call.store, &[(CUSTOMER.object, body.get("metadata"))])
}

fn give_source_id(call: &Call<'_, '_>, document: &mut Document, source_id: &str) -> Result<(), CallError> {
    if call.store.document_by_name("customer", source_id, "")?.is_some() {
        return Err(duplicate("customer", "id", source_id).into());
    }
    document.key = Some(source_id.to_owned());
    document.body.insert("source_id".into(), source_id.into());
    Ok(())
}

/// A customer of whom nothing but a name is known, and who is written down with no more.
pub fn introduce(call: &mut Call<'_, '_>, source_id: &str) -> Document {
    let document = new(call, Some(source_id.to_owned()), Map::new());
    call.store.insert(CUSTOMER.object, &document);
    document
}

fn new(call: &mut Call<'_, '_>, source_id: Option<String>, sent: Map<String, Json>) -> Document {
    let id = next_id(call);
    let mut body = template(&id, source_id.as_deref(), call.now_ms());
    merge(&mut body, sent);
    Document { id, key: source_id, parent: None, holder: None, created_at: call.now_ms(), updated_at: None, body }
}

/// The id of a new customer.
pub fn next_id(call: &mut Call<'_, '_>) -> String {
    call.ids.alphanumeric("cust_", 24).to_string()
}

/// The body of a customer of whom nothing is known yet.
pub fn template(id: &str, source_id: Option<&str>, now_ms: i64) -> Map<String, Json> {
    let body = json!({
        "id": id, "source_id": source_id, "name": null, "description": null, "email": null, "phone": null, "birthday": null, "birthdate": null,
        "address": null, "metadata": {}, "system_metadata": {},
        "summary": {
            "redemptions": {
                "total_redeemed": 0, "total_failed": 0, "total_succeeded": 0, "total_rolled_back": 0, "total_rollback_failed": 0,
                "total_rollback_succeeded": 0, "gift": { "redeemed_amount": 0, "amount_to_go": 0 },
                "loyalty_card": { "redeemed_points": 0, "points_to_go": 0 },
            },
            "orders": { "total_amount": 0, "total_count": 0, "average_amount": 0, "last_order_amount": 0, "last_order_date": null },
        },
        "loyalty": { "points": 0, "referred_customers": 0, "campaigns": {} },
        "referrals": { "total": 0, "campaigns": [] },
        "created_at": moment::text(now_ms), "object": "customer",
    });
    body.as_object().cloned().unwrap_or_default()
}

/// Puts what was sent into a body: a null clears a field, metadata and address are merged key by key.
pub fn merge(body: &mut Map<String, Json>, sent: Map<String, Json>) {
    for (name, value) in sent {
        let nested = name == "metadata" || name == "address";
        match (body.get_mut(&name), value) {
            (Some(Json::Object(known)), Json::Object(new)) if nested => {
                for (key, value) in new {
                    if value.is_null() {
                        known.remove(&key);
                    } else {
                        known.insert(key, value);
                    }
                }
            }
            (_, Json::Object(mut new)) if nested => {
                new.retain(|_, value| !value.is_null());
                body.insert(name, Json::Object(new));
            }
            (_, Json::Null) if name == "metadata" => drop(body.insert(name, json!({}))),
            (_, value) => drop(body.insert(name, value)),
        }
    }
}

/// The customer as a redemption or publication shows it: no more than its names.
pub fn reduced(body: &Map<String, Json>) -> Json {
    let mut short = Map::new();
    for name in ["id", "source_id", "name", "email", "metadata"] {
        short.insert(name.into(), body.get(name).cloned().unwrap_or(Json::Null));
    }
    short.insert("object".into(), "customer".into());
    Json::Object(short)
}
