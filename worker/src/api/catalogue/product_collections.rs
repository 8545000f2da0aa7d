//! Product collections: create, get, list, change, delete, and the list of what is in one.
//! It must not know what a filter means; `membership` says what belongs to a collection.

use crate::document::behind;
use crate::document::clause::Clause;
use crate::document::fields::{CATALOGUE_ORDER, KEY, LIMIT, PAGE};
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, error, in_use, invalid_payload, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::membership::{Present, check_filter, collection_of};
use crate::shop::products::{CATALOGUE_ORDERS, PRODUCT};
use crate::shop::skus::{self, SKU};
use crate::store::document::Document;
use crate::store::sql;
use serde_json::{Map, Value as Json, json};

/// The built-in collection of everything, ad-hoc goods included (validation-rules.md section 12).
pub const ALL_PRODUCTS: &str = "pc_a11pr0dUc75";

/// How much a static collection may list.
const LISTED_MAX: usize = 1_000;
/// How many of those that use a collection a refusal names.
const NAMED_MAX: i64 = 100;

const LISTED: Kind =
    Kind::Object(&[must("id", KEY), may("product_id", KEY), must("object", Kind::OneOf(&["product", "sku"]))]);

const CREATE: &[Field] = &[
    must("type", Kind::OneOf(&["STATIC", "AUTO_UPDATE"])),
    must("name", KEY),
    may("products", Kind::List(&LISTED, 0, LISTED_MAX)),
    may("filter", Kind::Named(&scrip::wire::rules::FILTER)),
];
const CHANGES: &[Field] = &[may("name", KEY), may("filter", Kind::Named(&scrip::wire::rules::FILTER))];

/// Product collections as a resource.
pub const COLLECTION: Resource = Resource {
    object: "products_collection",
    shape: shapes::catalogue::COLLECTION.described(),
    parameter: "productCollectionId",
    key: plain_key,
    show: resource::show_body,
    list: List { data_ref: "data", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/product-collections", "List product collections", resource::list)
        .of(&COLLECTION)
        .listed(shapes::TOTAL)
        .scope("product-collections")
        .query(&[LIMIT, PAGE, CATALOGUE_ORDER]),
    post("/v1/product-collections", "Create a static or an automatic product collection", create)
        .of(&COLLECTION)
        .scope("product-collections")
        .body(CREATE),
    get("/v1/product-collections/{productCollectionId}", "Get a product collection", get_one)
        .of(&COLLECTION)
        .scope("product-collections"),
    put("/v1/product-collections/{productCollectionId}", "Update a product collection", update)
        .of(&COLLECTION)
        .scope("product-collections")
        .body(CHANGES),
    delete("/v1/product-collections/{productCollectionId}", "Delete a product collection that nothing uses", remove)
        .of(&COLLECTION)
        .scope("product-collections")
        .answers(204, shapes::EMPTY),
    get("/v1/product-collections/{productCollectionId}/products", "List what is in a product collection", products)
        .of(&COLLECTION)
        .lists("data", Kind::Either(&[shapes::catalogue::PRODUCT, shapes::catalogue::SKU]), shapes::TOTAL)
        .scope("product-collections")
        .query(&[LIMIT, PAGE, CATALOGUE_ORDER, behind::MOMENT, behind::ID]),
];

/// The collection that a path names. That of all products is not stored: it is shown when asked for by its id, and not listed.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    if call.param(COLLECTION.parameter) != ALL_PRODUCTS {
        return COLLECTION.find(call);
    }
    let body = json!({
        "id": ALL_PRODUCTS, "name": "All products", "type": "AUTO_UPDATE", "filter": { "junction": "and" }, "created_at": null,
        "updated_at": null, "object": COLLECTION.object,
    });
    Ok(Document::new(ALL_PRODUCTS.into(), None, 0, body.as_object().cloned().unwrap_or_default()))
}

/// The collection that a path names, to be changed: the built-in one never is.
fn find_own(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let collection = find(call)?;
    if collection.id == ALL_PRODUCTS {
        let told = format!("Resource {} with id {ALL_PRODUCTS} is protected and cannot be modified", COLLECTION.object);
        return Err(error(400, "resource_protected", "Resource is protected", told)
            .about(COLLECTION.object, ALL_PRODUCTS)
            .into());
    }
    Ok(collection)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    Ok(Answer::json(Json::Object(find(call)?.body)))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let id = call.ids.alphanumeric("pc_", 24).to_string();
    let mut whole = Map::new();
    whole.insert("id".into(), id.clone().into());
    for name in ["name", "type"] {
        whole.insert(name.into(), body.remove(name).unwrap_or_default());
    }
    if whole.get("type").and_then(Json::as_str) == Some("AUTO_UPDATE") {
        whole.insert("filter".into(), Json::Object(own_filter(body.remove("filter"))?));
    } else {
        whole.insert("products".into(), settle_listed(call, body.remove("products"))?);
    }
    whole.insert("created_at".into(), moment::text(call.now_ms()).into());
    whole.insert("updated_at".into(), Json::Null);
    whole.insert("object".into(), COLLECTION.object.into());
    let collection = Document::new(id, None, call.now_ms(), whole);
    call.store.insert(COLLECTION.object, &collection);
    Ok(Answer::json(Json::Object(collection.body)))
}

/// The filter that an automatic collection must have.
fn own_filter(sent: Option<Json>) -> Result<Map<String, Json>, ErrorBody> {
    let filter = sent.and_then(|filter| filter.as_object().cloned()).filter(|filter| filter.contains_key("junction"));
    let told = "'AUTO_UPDATE' collection must contain valid filter with 'junction' property";
    let filter = filter.ok_or_else(|| invalid_payload(told))?;
    check_filter(&filter, "filter")?;
    Ok(filter)
}

/// What a static collection lists, by id: it must exist, and may be named by source_id.
fn settle_listed(call: &Call<'_, '_>, sent: Option<Json>) -> Result<Json, CallError> {
    let sent = sent.unwrap_or_default();
    let named = |kind: &str| {
        let named = sent.as_array().into_iter().flatten();
        named
            .filter(|listed| listed.get("object").and_then(Json::as_str) == Some(kind))
            .filter_map(|listed| listed.get("id").and_then(Json::as_str).map(str::to_owned))
            .collect::<Vec<String>>()
    };
    let mut settled = Vec::new();
    for kind in [PRODUCT.object, SKU.object] {
        let names = named(kind);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let found = call.store.documents_by_names(kind, &names, &names)?;
        for name in names {
            let known = found.iter().find(|document| document.id == name || document.key.as_deref() == Some(name));
            let known = known.ok_or_else(|| not_found(kind, name))?;
            let mut listed = json!({ "id": known.id, "object": kind });
            if let (Some(parent), Some(listed)) = (&known.parent, listed.as_object_mut()) {
                listed.insert("product_id".into(), parent.as_str().into());
            }
            if !settled.contains(&listed) {
                settled.push(listed);
            }
        }
    }
    Ok(Json::Array(settled))
}

/// A static collection keeps what it lists; only its name changes.
fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut body = call.body(Nulls::Dropped)?;
    let mut collection = find_own(call)?;
    if let Some(name) = body.remove("name") {
        collection.body.insert("name".into(), name);
    }
    if let Some(filter) = body.remove("filter").filter(|_| collection.body.contains_key("filter")) {
        collection.body.insert("filter".into(), Json::Object(own_filter(Some(filter))?));
    }
    call.touch(&mut collection);
    call.store.update(COLLECTION.object, &collection);
    Ok(Answer::json(Json::Object(collection.body)))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let collection = find_own(call)?;
    // An id stands in the text of what uses it, between quotes.
    let users = call.store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'validation_rules' AND instr(body, '\"' || ?1 || '\"') > 0 ORDER BY seq LIMIT +?2",
        &[collection.id.as_str().into(), NAMED_MAX.into()],
    )?;
    if let Some(first) = users.first() {
        let total = sql::int(first, 1)?;
        let ids: Result<Vec<String>, _> = users.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect();
        return Err(in_use((COLLECTION.object, &collection.id), "validation_rules", ids?, total).into());
    }
    call.store.remove(COLLECTION.object, &collection.id);
    Ok(Answer::empty(204))
}

fn products(call: &mut Call<'_, '_>) -> Outcome {
    let collection = find(call)?;
    let mut clause = Clause::of_kinds(&[PRODUCT.object, SKU.object]);
    behind::narrow(call.store, &call.query, &[PRODUCT.object, SKU.object], &mut clause)?;
    let by_filter = collection.id != ALL_PRODUCTS && collection.body.contains_key("filter");
    let page = if by_filter {
        let (present, collection) = (Present::of(call)?, collection_of(call, &collection)?);
        let is_in = |goods: &Document| Ok(collection.as_ref().is_some_and(|all| present.is_in_collection(all, goods)));
        COLLECTION.list.select_where(call.store, &call.query, clause, &is_in)?
    } else {
        if let Some(listed) = collection.body.get("products") {
            let condition = "kind || '/' || id IN (SELECT json_extract(value, '$.object') || '/' || json_extract(value, '$.id') FROM json_each({}))";
            clause.and(condition, listed.to_string());
        }
        COLLECTION.list.select(call.store, &call.query, clause)?
    };
    let shown = skus::with_products(call, page.documents)?;
    Ok(Answer::json(Json::Object(COLLECTION.list.envelope(shown, page.total))))
}
