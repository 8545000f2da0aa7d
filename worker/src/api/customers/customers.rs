//! Customers: create or update, get by id or source_id, list, and the upsert that publications and redemptions bring.

use crate::api::segments;
use crate::documents::common_fields::{ADDRESS, BEFORE_AFTER, BULK_METADATA, CUSTOMER as FIELDS, KEY, LIMIT, PAGE_99};
use crate::documents::list::ListPage;
use crate::documents::resource;
use crate::documents::shapes;
use crate::documents::starting_after;
use crate::domain::balances::kinds;
use crate::domain::clock::LocalTime;
use crate::domain::customers::customer::{CUSTOMER, ORDERS, check_metadata, merge_profile, upsert};
use crate::domain::segments::is_in_segment;
use crate::domain::segments::read_stored_segment;
use crate::http::reply::{CallError, invalid_payload, invalid_query};
use crate::http::route::{Call, HandlerResult, Response, Route, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::jobs::bulk_items;
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::customers as store_customers;
use serde_json::{Map, Value as Json};

/// Fields of an update: all except the id, which comes first.
const CHANGES: &[Field] = FIELDS.split_at(1).1;

/// Fields of each customer in a list: they are identified by their source_id.
const BULK: &[Field] = &[
    must("source_id", KEY)
        .description("Unique name of the customer in the merchant's system. An unknown name creates a customer."),
    may("name", FieldType::Text).description("Full name of the customer."),
    may("description", FieldType::Text).description("Note of the merchant on the customer."),
    may("email", FieldType::Text).description("Email address of the customer."),
    may("phone", FieldType::Text).description("Phone number of the customer."),
    may("birthday", FieldType::Date).description("Date of birth. Older form of `birthdate`; both are stored as sent."),
    may("birthdate", FieldType::Date).description("Date of birth, which birthday rules use."),
    may("address", ADDRESS).description("Postal address of the customer. `null` removes the address."),
    may("metadata", FieldType::Map),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/customers", "List customers", list)
        .describe(
            "listCustomers",
            "Returns the customers of the project, the newest first by default. All conditions of the query must be met. An unknown order and a page above 99 are refused with `invalid_query_params`, an unknown segment with `not_found`.",
        )
        .returns("The customers of this page, the total, and `true` in `has_more` if a further page exists.")
        .of(&CUSTOMER)
        .lists_resource(shapes::TOTAL_AND_MORE)
        .scope("customers")
        .query(&[
            LIMIT,
            PAGE_99,
            may("order", FieldType::OneOf(ORDERS))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("email", FieldType::Text).description("Email address. Only customers with this address are listed."),
            may("city", FieldType::Text).description("City of the address. Only customers in this city are listed."),
            may("name", FieldType::Text)
                .description("Part of a name. Only customers whose name contains this text are listed."),
            may("segment_id", KEY).description("ID of a segment. Only customers in this segment are listed."),
            may("created_at", BEFORE_AFTER).description("Bounds on the moment of creation, in UTC."),
            may("updated_at", BEFORE_AFTER).description("Bounds on the moment of the last change, in UTC."),
            starting_after::TIME,
            starting_after::ID,
        ]),
    post("/v1/customers", "Create or update a customer", create)
        .describe(
            "createCustomer",
            "Updates the customer with the `id`, else the `source_id`, that is sent; a new `source_id` or a body with neither creates a customer. Fields that are absent stay as they are, and metadata is merged key by key. The webhook event `customer.created` or `customer.updated` follows. An unknown `id` is refused with `not_found`, an `id` and a `source_id` of two customers with `duplicate_found`.",
        )
        .returns("The customer after the change, with the balances of all cards.")
        .of(&CUSTOMER)
        .scope("customers")
        .body(FIELDS),
    post("/v1/customers/bulk/async", "Create or update many customers", bulk)
        .describe(
            "createOrUpdateCustomers",
            "Starts an async action that creates or updates each listed customer by `source_id`. The list is checked as a whole before the action starts; afterwards each customer succeeds or fails independently. A malformed list is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each customer.")
        .of(&CUSTOMER)
        .scope("customers")
        .many(BULK)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/customers/metadata/async", "Update the metadata of many customers", bulk_metadata)
        .describe(
            "updateCustomersMetadata",
            "Starts an async action that merges the same metadata into each listed customer. A `source_id` without a customer creates one. Each customer succeeds or fails independently. A malformed body is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each customer.")
        .of(&CUSTOMER)
        .scope("customers")
        .body(BULK_METADATA)
        .bodiless()
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/customers/{customerId}", "Get a customer by ID or source_id", resource::get)
        .describe(
            "getCustomer",
            "Returns one customer with profile, metadata, counts of redemptions and orders, and the balances of all cards. An unknown ID is refused with `not_found`.",
        )
        .returns("The customer.")
        .of(&CUSTOMER)
        .scope("customers"),
    put("/v1/customers/{customerId}", "Update a customer", update)
        .describe(
            "updateCustomer",
            "Changes the fields that are sent; metadata is merged key by key, and `null` removes a value. The `source_id` of a customer never changes. The webhook event `customer.updated` follows. An unknown ID is refused with `not_found`, another `source_id` with `invalid_payload`.",
        )
        .returns("The customer after the change.")
        .of(&CUSTOMER)
        .scope("customers")
        .body(CHANGES),
];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(CUSTOMER.object);
    starting_after::narrow(call.store, &call.query, &[CUSTOMER.object], &mut clause)?;
    let page = match call.query.parameter("segment_id") {
        Some("") => return Err(invalid_query("Property .segment_id must NOT have fewer than 1 characters").into()),
        Some(id) => select_of_segment(call, id, clause)?,
        None => CUSTOMER.list.select(call.store, &call.query, clause)?,
    };
    let number = crate::documents::list::read_int(&call.query, "page", 1, 99)?.unwrap_or(1);
    let limit = crate::documents::list::read_int(&call.query, "limit", 1, 100)?
        .unwrap_or(crate::documents::list::LIMIT_DEFAULT);
    let customers = (CUSTOMER.to_json)(call, page.documents)?;
    let mut envelope = CUSTOMER.list.envelope(customers, page.total);
    // Saturates: no page comes after the end of the type.
    envelope.insert("has_more".into(), (number.saturating_mul(limit) < page.total).into());
    Ok(Response::json(Json::Object(envelope)))
}

/// Selects the customers of a segment. A static one lists them; for any other, every customer is tested.
fn select_of_segment(call: &Call<'_, '_>, id: &str, mut clause: Clause) -> Result<ListPage, CallError> {
    let segment = segments::find_by_name(call, id)?;
    if segment.body.contains_key("customers") {
        store_customers::narrow_to_segment(&mut clause, &segment.id);
        return CUSTOMER.list.select(call.store, &call.query, clause);
    }
    let (present, segment) = (LocalTime::of(call)?, read_stored_segment(call, &segment)?);
    let count = |customer_id: &str, event: &str| call.store.event_count(customer_id, event);
    let is_in = |customer: &Document| match &segment {
        Some(segment) => is_in_segment(&present, segment, &customer.body, &count, &|| {
            kinds::find_current_balances(call, &customer.id)
        }),
        None => Ok(false),
    };
    CUSTOMER.list.select_where(call.store, &call.query, clause, &is_in)
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Kept)?;
    let document = upsert(call, body)?;
    Ok(Response::json(CUSTOMER.one_to_json(call, document)?))
}

fn bulk(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = bulk_items::items(call)?;
    bulk_items::answer(call, "CUSTOMERS.BULK_UPDATE", items)
}

fn bulk_metadata(call: &mut Call<'_, '_>) -> HandlerResult {
    let items = bulk_items::same_metadata(call)?;
    bulk_items::answer(call, "CUSTOMERS.METADATA_UPDATE", items)
}

/// Writes one customer of a list.
pub fn write_one(call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<(), CallError> {
    upsert(call, sent).map(drop)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Kept)?;
    let mut document = CUSTOMER.find(call)?;
    if let Some(sent) = body.remove("source_id").filter(|sent| Some(sent) != document.body.get("source_id")) {
        let message = format!(
            "Property .source_id must NOT be changed after creation (actual value is `{}`)",
            crate::http::shape::value_text(&sent).trim_matches('"')
        );
        return Err(invalid_payload(message).into());
    }
    let has_metadata = body.contains_key("metadata");
    merge_profile(&mut document.body, body);
    if has_metadata {
        check_metadata(call, &document.body)?;
    }
    call.touch(&mut document);
    call.store.update(CUSTOMER.object, &document);
    Ok(Response::json(CUSTOMER.one_to_json(call, document)?))
}
