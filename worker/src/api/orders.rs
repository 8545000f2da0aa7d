//! Orders: create or update, get, list, and the effects of payment and cancellation on the customer's summary.
//! `order_pricing` computes amounts with the engine.

pub mod returns;

use crate::documents::common_fields::{CUSTOMER_OBJECT, KEY, LIMIT, PAGE};
use crate::documents::merge;
use crate::documents::resource::{self, NameLookup, plain_key};
use crate::documents::shapes;
use crate::domain::catalogue::order_overrides;
use crate::domain::customers::{customer, summary};
use crate::domain::decisions::{facts, order_pricing, order_returns};
use crate::domain::metadata::schemas;
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, duplicate, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, get, post, put};
use crate::http::shape::{self, Field, FieldType, Nulls, may};
use crate::jobs::bulk_items;
use crate::store::document::Document;
use crate::store::documents::orders;
use crate::store::facts::DocumentsById;
use crate::store::records::{CustomerRecord, OrderRecord};
use crate::timestamp;
use scrip::decide::OrderCount;
use scrip::decide::summary_delta::{CountedAs, recount};
use scrip::model::order::{LINE_ID, Order};
use scrip::shape::AMOUNT;
use scrip::text::{Text, fold};
use scrip::time::Instant;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::order::read_order;
use scrip::wire::order::{ITEM, STATUS};
use serde_json::{Map, Value as Json, json};

const FIELDS: &[Field] = &[
    may("id", KEY)
        .description("ID of the order. An unknown ID becomes the ID of the new order; absent means a generated ID."),
    may("source_id", KEY).description("Unique name of the order in the merchant's system."),
    may("status", STATUS).description("Status of the order. Default `CREATED`."),
    may("amount", AMOUNT)
        .description("Amount of the items before discounts, in minor units. Absent means the sum of the items."),
    may("initial_amount", AMOUNT).description("Amount before units were added by discounts, in minor units."),
    may("discount_amount", AMOUNT).description("Discount on the whole order that was given elsewhere, in minor units."),
    // The engine reads the lines; they are declared for the description.
    may("items", FieldType::List(&ITEM, 0, 500))
        .description("Items of the order. Absent or `null` leaves the items of a stored order as they are."),
    may("metadata", FieldType::Map),
    may("created_at", FieldType::DateTime)
        .description("Moment at which the order was made, in UTC. Absent means now for a new order."),
    may("referrer_id", KEY)
        .description("ID or `source_id` of the customer who referred the buyer. `null` removes the referrer."),
    may("customer", CUSTOMER_OBJECT).description(
        "Customer who buys. The profile that is sent is stored; `null` removes the customer from the order.",
    ),
    may("referrer", CUSTOMER_OBJECT)
        .description("Customer who referred the buyer. The profile is stored; takes precedence over `referrer_id`."),
];

/// Maximum number of orders in one import (docs/spec/errors-and-auth.md#7).
const IMPORT_MAX: usize = 2_000;

/// Fields of an update: all except the id.
const CHANGES: &[Field] = FIELDS.split_at(1).1;

/// Orders as a resource.
pub const ORDER: Resource = Resource {
    object: "order",
    shape: scrip::wire::order::view::STORED.described(),
    parameter: "orderId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "orders",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at")],
        filters: &[],
        conditions: &[],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/orders", "List orders", resource::list)
        .describe(
            "listOrders",
            "Returns the orders of the project, the newest first by default. An unknown order of the list is refused with `invalid_query_params`.",
        )
        .returns("The orders of this page and the total.")
        .of(&ORDER)
        .lists_resource(shapes::TOTAL)
        .scope("orders")
        .query(&[
            LIMIT,
            PAGE,
            may("order", FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"]))
                .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
        ]),
    post("/v1/orders", "Create or update an order", create)
        .describe(
            "createOrder",
            "Updates the order with the `id`, else the `source_id`, that is sent; otherwise creates an order. Customer and referrer are created or updated as well. Status `PAID` counts the order for the customer and grants points of earning rules; `CANCELED` revokes them. The webhook event `order.updated` follows a change, but no creation. An `id` and a `source_id` of two orders are refused with `duplicate_found`, an invalid item with `invalid_payload`.",
        )
        .returns("The order after the change, with all amounts computed.")
        .of(&ORDER)
        .scope("orders")
        .body(FIELDS),
    post("/v1/orders/import", "Import orders", import)
        .describe(
            "importOrders",
            "Starts an async action that creates or updates at most 2,000 orders, in the order of the list. The fields are checked before the action starts, the items when each order is written; each order succeeds or fails independently. A longer or malformed list is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action, which reports the result of each order.")
        .of(&ORDER)
        .scope("orders")
        .many(FIELDS)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/orders/{orderId}", "Get an order by ID or source_id", resource::get)
        .describe(
            "getOrder",
            "Returns one order with its redemptions and returns. An unknown ID is refused with `not_found`.",
        )
        .returns("The order.")
        .of(&ORDER)
        .scope("orders"),
    put("/v1/orders/{orderId}", "Update an order", update)
        .describe(
            "updateOrder",
            "Changes the fields that are sent; items are replaced as a whole, and metadata is merged key by key. Units that new items leave out are settled like a return. Status `PAID` grants points of earning rules, `CANCELED` revokes them. The webhook event `order.updated` follows. An unknown ID is refused with `not_found`, a `source_id` of another order with `duplicate_found`.",
        )
        .returns("The order after the change, with all amounts computed.")
        .of(&ORDER)
        .scope("orders")
        .body(CHANGES),
];

/// Shows orders with their customers; a redemption stores these only by id.
fn to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let orders = documents.into_iter().map(|mut order| {
        write_parties(&mut order.body);
        Json::Object(order.body)
    });
    Ok(orders.collect())
}

fn write_parties(body: &mut Map<String, Json>) {
    for (role, id) in [("customer", "customer_id"), ("referrer", "referrer_id")] {
        match body.get(id).and_then(Json::as_str) {
            Some(id) => drop(body.insert(role.into(), json!({ "id": id, "object": "customer" }))),
            None => drop(body.remove(role)),
        }
    }
}

/// A sent order: the lines as they were received, and the other members by their fields.
struct OrderRequest {
    items: Option<Json>,
    rest: Map<String, Json>,
}

fn read(call: &Call<'_, '_>, mut source: Map<String, Json>) -> Result<OrderRequest, Problem> {
    let items = source.remove("items").filter(|items| !items.is_null());
    Ok(OrderRequest { items, rest: shape::read(call.route.body, source, Nulls::Kept)? })
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let source = call.source()?;
    let sent = read(call, source)?;
    Ok(Response::bytes(upsert(call, sent)?.into_bytes()))
}

/// Imports orders. The lines of an order are read when it is written; all other members are read at once.
fn import(call: &mut Call<'_, '_>) -> HandlerResult {
    let orders = call.sources()?;
    if orders.len() > IMPORT_MAX {
        let message =
            format!("Payload must NOT have more than {IMPORT_MAX} items (actual number is `{}`)", orders.len());
        return Err(invalid_payload(message).into());
    }
    for (position, order) in orders.iter().enumerate() {
        read(call, order.clone()).map_err(|problem| problem.within(&format!("[{position}]")))?;
    }
    bulk_items::answer(call, "ORDERS.IMPORT", orders)
}

/// Writes one order of a list.
pub fn write_one(call: &mut Call<'_, '_>, source: Map<String, Json>) -> Result<(), CallError> {
    let sent = read(call, source)?;
    upsert(call, sent).map(drop)
}

/// Updates the order found by id, else by source_id, or creates a new one. Returns its text as it will be after the commit.
fn upsert(call: &mut Call<'_, '_>, mut sent: OrderRequest) -> Result<String, CallError> {
    let names = NameLookup::take(&mut sent.rest);
    if let Some(order) = names.find(call, &ORDER)? {
        return change(call, order, sent);
    }
    let id = names.id.unwrap_or_else(|| call.ids.record("ord_").to_string());
    let body = json!({ "id": id, "source_id": names.source_id, "status": "CREATED", "created_at": timestamp::text(call.now_ms()), "updated_at": null });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut order = Document::new(id, names.source_id, call.now_ms(), body);
    let (text, counts) = write(call, &mut order, sent, true)?;
    call.store.insert_text(ORDER.object, &order, text.clone());
    summary::find_last_orders(call.store, &counts, call.context.now.millis());
    Ok(text)
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let source = call.source()?;
    let mut sent = read(call, source)?;
    let mut order = ORDER.find(call)?;
    if let Some(source_id) = sent.rest.remove("source_id") {
        rename(call, &mut order, source_id)?;
    }
    Ok(Response::bytes(change(call, order, sent)?.into_bytes()))
}

/// Sets another source_id, which must be free. Customers, unlike orders, never change theirs.
fn rename(call: &Call<'_, '_>, order: &mut Document, source_id: Json) -> Result<(), CallError> {
    let name = source_id.as_str().map(str::to_owned);
    if let Some(name) = name.as_deref().filter(|name| Some(*name) != order.key.as_deref())
        && call.store.document_by_name(ORDER.object, name, "")?.is_some()
    {
        return Err(duplicate(ORDER.object, "id", name).into());
    }
    order.key = name;
    order.body.insert("source_id".into(), source_id);
    Ok(())
}

fn change(call: &mut Call<'_, '_>, mut order: Document, sent: OrderRequest) -> Result<String, CallError> {
    let created_at = order.created_at;
    call.touch(&mut order);
    let (text, counts) = write(call, &mut order, sent, false)?;
    call.store.update_text(ORDER.object, &order, text.clone());
    if order.created_at != created_at {
        orders::update_creation(call.store, &order.id, order.created_at);
    }
    summary::find_last_orders(call.store, &counts, call.context.now.millis());
    Ok(text)
}

/// Writes sent members into an order, prices it again, and updates customer and summary when the call commits. Returns text and counts.
fn write(
    call: &mut Call<'_, '_>,
    document: &mut Document,
    mut sent: OrderRequest,
    is_new: bool,
) -> Result<(String, Vec<OrderCount>), CallError> {
    let (has_items, has_metadata) = (sent.items.is_some(), is_new || sent.rest.contains_key("metadata"));
    let [has_amount, has_discount] = ["amount", "discount_amount"].map(|name| sent.rest.contains_key(name));
    let before = document.body.clone();
    let parties = OrderParties::settle(call, &before, &mut sent.rest)?;
    if let Some(at) = sent.rest.remove("created_at").and_then(|at| at.as_str().and_then(timestamp::parse)) {
        document.created_at = at;
        document.body.insert("created_at".into(), timestamp::text(at).into());
    }
    let mut order = merge_order(call, &mut document.body, sent)?;
    check_metadata(call, &order, has_metadata, has_items)?;
    order.customer_id = parties.customer_id.as_deref().map(Text::from);
    order.referrer_id = parties.referrer_id.as_deref().map(Text::from);
    document.holder = parties.customer_id.clone();
    // A new order was never paid, with any initial status.
    let stored = Some(before).filter(|_| !is_new);
    let stored = stored.and_then(|before| read_fields(&before, read_order).ok());
    if let Some(stored) = stored.as_ref().filter(|_| has_items || has_amount || has_discount) {
        order = order_returns::write_change(call, stored, order, has_discount, &parties.upserted)?;
    }
    let updated_at = document.updated_at.and_then(Instant::from_millis);
    let (text, total) = order_pricing::price_order(call, &order, updated_at)?;
    let orders = recount(stored.as_ref().and_then(CountedAs::stored), CountedAs::of(&order, total));
    facts::count_orders(call, &parties.upserted, None, &orders)?;
    Ok((text, orders))
}

/// Returns the order as the engine reads it: stored members, sent members over them, and new goods for the catalogue.
fn merge_order(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, sent: OrderRequest) -> Result<Order, CallError> {
    let OrderRequest { items, mut rest } = sent;
    rest.retain(|name, value| name != "status" || !value.is_null());
    let has_items = items.is_some();
    if let Some(items) = items {
        body.insert("items".into(), items);
        // New lines have a new amount, unless one is sent with them.
        for name in ["amount", "initial_amount"] {
            body.remove(name);
        }
    }
    merge::merge(body, rest);
    let mut order = read_fields(body, read_order)?;
    if has_items {
        check_quantities(&order)?;
        if order_overrides::has_overrides(&order) {
            order_overrides::write(call, &mut order, "")?;
        }
    }
    for item in order.items.iter_mut().filter(|item| item.id.is_none()) {
        item.id = Some(call.ids.hex18(LINE_ID));
    }
    Ok(order)
}

/// Checks the sent metadata of an order and of its lines against the project's schemas.
fn check_metadata(call: &Call<'_, '_>, order: &Order, of_order: bool, of_items: bool) -> Result<(), CallError> {
    let own = of_order.then(|| ("order", Json::Object(order.metadata.to_fields())));
    let items = order.items.iter().filter(|_| of_items);
    let items = items.map(|item| ("order_item", Json::Object(item.metadata.to_fields())));
    let written: Vec<(&str, Json)> = own.into_iter().chain(items).collect();
    if written.is_empty() {
        return Ok(());
    }
    let written: Vec<(&str, Option<&Json>)> = written.iter().map(|(name, value)| (*name, Some(value))).collect();
    schemas::check(call.store, &written)
}

fn check_quantities(order: &Order) -> Result<(), ErrorBody> {
    match order.items.iter().position(|item| item.initial_quantity == Some(0)) {
        Some(position) => {
            Err(invalid_payload(format!("Property .items[{position}].initial_quantity cannot be lower than 1")))
        }
        None => Ok(()),
    }
}

/// Buyer and referrer of an order.
struct OrderParties {
    customer_id: Option<String>,
    referrer_id: Option<String>,
    /// Customers that this request updates.
    upserted: DocumentsById,
}

impl OrderParties {
    /// Removes the customers from the sent order, and updates them when the call commits; absent members stay unchanged.
    fn settle(
        call: &mut Call<'_, '_>,
        before: &Map<String, Json>,
        sent: &mut Map<String, Json>,
    ) -> Result<OrderParties, CallError> {
        let stored = OrderRecord::of(before);
        let mut parties = OrderParties {
            customer_id: stored.customer_id().map(str::to_owned),
            referrer_id: stored.referrer_id().map(str::to_owned),
            upserted: DocumentsById::default(),
        };
        match sent.remove("customer") {
            Some(Json::Object(customer)) => parties.customer_id = Some(parties.upsert(call, customer)?),
            Some(_) => parties.customer_id = None,
            None => {}
        }
        match (sent.remove("referrer"), sent.remove("referrer_id")) {
            (Some(Json::Object(referrer)), _) => parties.referrer_id = Some(parties.upsert(call, referrer)?),
            (_, Some(Json::String(id))) => {
                let known = call.store.document_by_name("customer", &id, &id)?;
                parties.referrer_id = Some(known.ok_or_else(|| not_found("customer", &id))?.id);
            }
            (Some(_), _) | (_, Some(_)) => parties.referrer_id = None,
            (None, None) => {}
        }
        if parties.referrer_id.is_some() && parties.referrer_id == parties.customer_id {
            return Err(own_referrer(parties.referrer_id.as_deref().unwrap_or_default()).into());
        }
        Ok(parties)
    }

    fn upsert(&mut self, call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<String, CallError> {
        let text = |name: &str| sent.get(name).and_then(Json::as_str);
        let email = customer::email_only(CustomerRecord::of(&sent)).map(fold);
        let has_email = |known: &Document| {
            let stored = known.as_customer().email().map(fold);
            email.is_some() && stored == email
        };
        let is_same = |known: &&Document| {
            text("id") == Some(&known.id)
                || text("source_id").is_some() && text("source_id") == known.key.as_deref()
                || has_email(known)
        };
        if let Some(known) = self.upserted.values().find(is_same) {
            return Err(own_referrer(&known.id).into());
        }
        let document = customer::upsert_named(call, sent)?;
        let id = document.id.clone();
        self.upserted.insert(id.clone(), document);
        Ok(id)
    }
}

fn own_referrer(id: &str) -> ErrorBody {
    invalid_payload(format!("Property .referrer must NOT be the customer of the order (actual value is `{id}`)"))
}
