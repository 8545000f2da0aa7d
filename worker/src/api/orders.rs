//! Orders: create or update, get, list, and what being paid or canceled does to the customer's summary.
//! It must not know what an order costs; `orders_pricing` asks the engine.

use crate::document::fields::{BUYER, KEY, LIMIT, PAGE};
use crate::document::merge;
use crate::document::resource::{self, Names, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, duplicate, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, get, post, put};
use crate::http::shape::{self, Field, Kind, Nulls, may};
use crate::moment;
use crate::shop::{customers, decision, metadata_schemas, orders_pricing, overrides, summary};
use crate::store::document::{Document, Stored};
use crate::store::facts::ById;
use crate::work::batch;
use scrip::decide::OrderCount;
use scrip::decide::tally::{Counted, recounted};
use scrip::model::order::{LINE_ID, Order};
use scrip::shape::AMOUNT;
use scrip::text::Text;
use scrip::time::Instant;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::order::read_order;
use scrip::wire::order::{ITEM, STATUS};
use serde_json::{Map, Value as Json, json};

const FIELDS: &[Field] = &[
    may("id", KEY),
    may("source_id", KEY),
    may("status", STATUS),
    may("amount", AMOUNT),
    may("initial_amount", AMOUNT),
    may("discount_amount", AMOUNT),
    // The engine reads the lines; they are here for the description.
    may("items", Kind::List(&ITEM, 0, 500)),
    may("metadata", Kind::Map),
    may("created_at", Kind::DateTime),
    may("referrer_id", KEY),
    may("customer", BUYER),
    may("referrer", BUYER),
];

/// Orders of one import (errors-and-auth.md section 7).
const IMPORT_MAX: usize = 2_000;

/// What an update may say: everything but the id.
const CHANGES: &[Field] = FIELDS.split_at(1).1;

/// Orders as a resource.
pub const ORDER: Resource = Resource {
    object: "order",
    shape: scrip::wire::order_view::KEPT.described(),
    parameter: "orderId",
    key: plain_key,
    show,
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
    get("/v1/orders", "List orders", resource::list).of(&ORDER).listed(shapes::TOTAL).scope("orders").query(&[
        LIMIT,
        PAGE,
        may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at"])),
    ]),
    post("/v1/orders", "Create or update an order", create).of(&ORDER).scope("orders").body(FIELDS),
    post("/v1/orders/import", "Import orders", import)
        .of(&ORDER)
        .scope("orders")
        .many(FIELDS)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
    get("/v1/orders/{orderId}", "Get an order by id or source_id", resource::get).of(&ORDER).scope("orders"),
    put("/v1/orders/{orderId}", "Update an order or its status", update).of(&ORDER).scope("orders").body(CHANGES),
];

/// A redemption keeps whom an order belongs to by their ids alone.
fn show(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let shown = documents.into_iter().map(|mut order| {
        show_people(&mut order.body);
        Json::Object(order.body)
    });
    Ok(shown.collect())
}

fn show_people(body: &mut Map<String, Json>) {
    for (role, id) in [("customer", "customer_id"), ("referrer", "referrer_id")] {
        match body.get(id).and_then(Json::as_str) {
            Some(id) => drop(body.insert(role.into(), json!({ "id": id, "object": "customer" }))),
            None => drop(body.remove(role)),
        }
    }
}

/// What was sent: the lines as they came, and the rest by its fields.
struct Sent {
    items: Option<Json>,
    rest: Map<String, Json>,
}

fn read(call: &Call<'_, '_>, mut source: Map<String, Json>) -> Result<Sent, Problem> {
    let items = source.remove("items").filter(|items| !items.is_null());
    Ok(Sent { items, rest: shape::read(call.route.body, source, Nulls::Kept)? })
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let source = call.source()?;
    let sent = read(call, source)?;
    Ok(Answer::bytes(upsert(call, sent)?.into_bytes()))
}

/// The lines are read when an order's turn comes; all else is read at once.
fn import(call: &mut Call<'_, '_>) -> Outcome {
    let orders = call.sources()?;
    if orders.len() > IMPORT_MAX {
        let told = format!("Payload must NOT have more than {IMPORT_MAX} items (actual number is `{}`)", orders.len());
        return Err(invalid_payload(told).into());
    }
    for (place, order) in orders.iter().enumerate() {
        read(call, order.clone()).map_err(|problem| problem.within(&format!("[{place}]")))?;
    }
    batch::answer(call, "ORDERS.IMPORT", orders)
}

/// One order of a list.
pub fn write_one(call: &mut Call<'_, '_>, source: Map<String, Json>) -> Result<(), CallError> {
    let sent = read(call, source)?;
    upsert(call, sent).map(drop)
}

/// The order that a sent one means, found by id, else by source_id, and changed; or a new one. Gives its text as it will be after the commit.
fn upsert(call: &mut Call<'_, '_>, mut sent: Sent) -> Result<String, CallError> {
    let names = Names::take(&mut sent.rest);
    if let Some(order) = names.find(call, &ORDER)? {
        return change(call, order, sent);
    }
    let id = names.id.unwrap_or_else(|| call.ids.hex18("ord_").to_string());
    let body = json!({ "id": id, "source_id": names.source_id, "status": "CREATED", "created_at": moment::text(call.now_ms()), "updated_at": null });
    let body = body.as_object().cloned().unwrap_or_default();
    let mut order = Document::new(id, names.source_id, call.now_ms(), body);
    let (text, counts) = write(call, &mut order, sent, true)?;
    call.store.insert_stored(ORDER.object, Stored::printed(&order, text.clone()));
    summary::find_last_orders(call.store, &counts, call.context.now.millis());
    Ok(text)
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let source = call.source()?;
    let mut sent = read(call, source)?;
    let mut order = ORDER.find(call)?;
    if let Some(source_id) = sent.rest.remove("source_id") {
        rename(call, &mut order, source_id)?;
    }
    Ok(Answer::bytes(change(call, order, sent)?.into_bytes()))
}

/// An order, unlike a customer, may be given another source_id; it must be free.
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

fn change(call: &mut Call<'_, '_>, mut order: Document, sent: Sent) -> Result<String, CallError> {
    let created_at = order.created_at;
    call.touch(&mut order);
    let (text, counts) = write(call, &mut order, sent, false)?;
    call.store.update_stored(ORDER.object, Stored::printed(&order, text.clone()));
    if order.created_at != created_at {
        let params = vec![order.id.as_str().into(), order.created_at.into()];
        call.store.write("UPDATE document SET created_at = ?2 WHERE kind = 'order' AND id = +?1", params);
    }
    summary::find_last_orders(call.store, &counts, call.context.now.millis());
    Ok(text)
}

/// Puts what was sent into an order, prices it anew, and brings customer and summary along at the commit; gives its text and what it counted.
fn write(
    call: &mut Call<'_, '_>,
    document: &mut Document,
    mut sent: Sent,
    is_new: bool,
) -> Result<(String, Vec<OrderCount>), CallError> {
    let (has_items, has_metadata) = (sent.items.is_some(), is_new || sent.rest.contains_key("metadata"));
    let before = document.body.clone();
    let people = People::settle(call, &before, &mut sent.rest)?;
    if let Some(at) = sent.rest.remove("created_at").and_then(|at| at.as_str().and_then(moment::parse)) {
        document.created_at = at;
        document.body.insert("created_at".into(), moment::text(at).into());
    }
    let mut order = draft(call, &mut document.body, sent)?;
    check_metadata(call, &order, has_metadata, has_items)?;
    order.customer_id = people.customer_id.as_deref().map(Text::from);
    order.referrer_id = people.referrer_id.as_deref().map(Text::from);
    document.holder = people.customer_id.clone();
    let updated_at = document.updated_at.and_then(Instant::from_millis);
    let (text, total) = orders_pricing::priced(call, &order, updated_at)?;
    // A new order was never paid, whatever it begins as.
    let stored = Some(before).filter(|_| !is_new);
    let stored = stored.and_then(|before| read_fields(&before, read_order).ok());
    let orders = recounted(stored.as_ref().and_then(Counted::stored), Counted::of(&order, total));
    decision::count_orders(call, &people.upserted, None, &orders)?;
    Ok((text, orders))
}

/// The order as the engine reads it: what was stored, what was sent over it, and what it brings to the catalogue.
fn draft(call: &mut Call<'_, '_>, body: &mut Map<String, Json>, sent: Sent) -> Result<Order, CallError> {
    let Sent { items, mut rest } = sent;
    rest.retain(|name, value| name != "status" || !value.is_null());
    let has_items = items.is_some();
    if let Some(items) = items {
        body.insert("items".into(), items);
        // New lines come to a new amount, unless one is sent with them.
        for name in ["amount", "initial_amount"] {
            body.remove(name);
        }
    }
    merge::merge(body, rest);
    let mut order = read_fields(body, read_order)?;
    if has_items {
        check_quantities(&order)?;
        if overrides::any(&order) {
            overrides::persist(call, &mut order, "")?;
        }
    }
    for item in order.items.iter_mut().filter(|item| item.id.is_none()) {
        item.id = Some(call.ids.hex18(LINE_ID));
    }
    Ok(order)
}

/// Holds the metadata of an order and of its lines against the project's schemas, as far as it was sent.
fn check_metadata(call: &Call<'_, '_>, order: &Order, of_order: bool, of_items: bool) -> Result<(), CallError> {
    let own = of_order.then(|| ("order", Json::Object(order.metadata.to_fields())));
    let items = order.items.iter().filter(|_| of_items);
    let items = items.map(|item| ("order_item", Json::Object(item.metadata.to_fields())));
    let written: Vec<(&str, Json)> = own.into_iter().chain(items).collect();
    if written.is_empty() {
        return Ok(());
    }
    let written: Vec<(&str, Option<&Json>)> = written.iter().map(|(name, value)| (*name, Some(value))).collect();
    metadata_schemas::check(call.store, &written)
}

fn check_quantities(order: &Order) -> Result<(), ErrorBody> {
    match order.items.iter().position(|item| item.initial_quantity == Some(0)) {
        Some(place) => {
            Err(invalid_payload(format!("Property .items[{place}].initial_quantity cannot be lower than 1")))
        }
        None => Ok(()),
    }
}

/// Who buys, and who sent them.
struct People {
    customer_id: Option<String>,
    referrer_id: Option<String>,
    /// Those that this request brings up to date.
    upserted: ById,
}

impl People {
    /// Takes them out of what was sent and brings them up to date at the commit; what is not sent stays as it was.
    fn settle(
        call: &mut Call<'_, '_>,
        before: &Map<String, Json>,
        sent: &mut Map<String, Json>,
    ) -> Result<People, CallError> {
        let stored = |name: &str| before.get(name).and_then(Json::as_str).map(str::to_owned);
        let mut people = People {
            customer_id: stored("customer_id"),
            referrer_id: stored("referrer_id"),
            upserted: ById::default(),
        };
        match sent.remove("customer") {
            Some(Json::Object(customer)) => people.customer_id = Some(people.upsert(call, customer)?),
            Some(_) => people.customer_id = None,
            None => {}
        }
        match (sent.remove("referrer"), sent.remove("referrer_id")) {
            (Some(Json::Object(referrer)), _) => people.referrer_id = Some(people.upsert(call, referrer)?),
            (_, Some(Json::String(id))) => {
                let known = call.store.document_by_name("customer", &id, &id)?;
                people.referrer_id = Some(known.ok_or_else(|| not_found("customer", &id))?.id);
            }
            (Some(_), _) | (_, Some(_)) => people.referrer_id = None,
            (None, None) => {}
        }
        if people.referrer_id.is_some() && people.referrer_id == people.customer_id {
            return Err(own_referrer(people.referrer_id.as_deref().unwrap_or_default()).into());
        }
        Ok(people)
    }

    fn upsert(&mut self, call: &mut Call<'_, '_>, sent: Map<String, Json>) -> Result<String, CallError> {
        let named = |name: &str| sent.get(name).and_then(Json::as_str);
        let is_there = |known: &&Document| {
            named("id") == Some(&known.id) || named("source_id").is_some() && named("source_id") == known.key.as_deref()
        };
        if let Some(known) = self.upserted.values().find(is_there) {
            return Err(own_referrer(&known.id).into());
        }
        let document = customers::upsert(call, sent)?;
        let id = document.id.clone();
        self.upserted.insert(id.clone(), document);
        Ok(id)
    }
}

fn own_referrer(id: &str) -> ErrorBody {
    invalid_payload(format!("Property .referrer must NOT be the customer of the order (actual value is `{id}`)"))
}
