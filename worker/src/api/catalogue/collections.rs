//! Product collections: create, get, list, change, delete, and the list of the products in one.

use crate::documents::common_fields::{CATALOGUE_ORDER, KEY, LIMIT, PAGE};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::documents::starting_after;
use crate::domain::catalogue::collections::{is_in_collection, read_stored_collection};
use crate::domain::catalogue::products::{CATALOGUE_ORDERS, PRODUCT};
use crate::domain::catalogue::skus;
use crate::domain::catalogue::skus::SKU;
use crate::domain::clock::LocalTime;
use crate::domain::segments::check_filter;
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, error, in_use, invalid_payload, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::clause::Clause;
use crate::store::documents::any_kind::CountedIds;
use crate::store::documents::products as store_products;
use crate::store::documents::validation_rules;
use crate::store::records::{CollectionRecord, ObjectReference};
use crate::timestamp;
use serde_json::{Map, Value as Json, json};

/// The built-in collection of everything, ad-hoc goods included (docs/spec/validation-rules.md#12).
pub const ALL_PRODUCTS: &str = "pc_a11pr0dUc75";

/// Maximum number of items of a static collection.
const LISTED_MAX: usize = 1_000;
/// Maximum number of users of a collection that a refusal names.
const NAMED_MAX: i64 = 100;

const LISTED: FieldType = FieldType::Object(&[
    must("id", KEY),
    may("product_id", KEY)
        .description("ID of the product that contains the SKU. Ignored in requests, and taken from the SKU."),
    must("object", FieldType::OneOf(&["product", "sku"])),
]);

const CREATE: &[Field] = &[
    must("type", FieldType::OneOf(&["STATIC", "AUTO_UPDATE"]))
        .description("Type of collection: `STATIC` lists its members, `AUTO_UPDATE` selects members by filter."),
    must("name", KEY).description("Name of the collection."),
    may("products", FieldType::List(&LISTED, 0, LISTED_MAX))
        .description("Products and SKUs of a static collection, by ID or `source_id`. Ignored for `AUTO_UPDATE`."),
    may("filter", FieldType::Named(&scrip::wire::rules::FILTER)).description(
        "Conditions by field that members meet. Required with a `junction` for `AUTO_UPDATE`, ignored for `STATIC`.",
    ),
];
const CHANGES: &[Field] = &[
    may("name", KEY).description("Name of the collection."),
    may("filter", FieldType::Named(&scrip::wire::rules::FILTER))
        .description("Conditions by field that replace the filter. Ignored for a static collection."),
];

/// Product collections as a resource.
pub const COLLECTION: Resource = Resource {
    object: "products_collection",
    shape: shapes::catalogue::COLLECTION.described(),
    parameter: "productCollectionId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "data", page_max: 100, orders: CATALOGUE_ORDERS, filters: &[], conditions: &[] },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/product-collections", "List product collections", resource::list)
        .describe(
            "listProductCollections",
            "Returns the product collections of the project, the newest first by default. The built-in collection of all products is not listed. An unknown order is refused with `invalid_query_params`.",
        )
        .returns("The product collections of this page and the total.")
        .of(&COLLECTION)
        .lists_resource(shapes::TOTAL)
        .scope("product-collections")
        .query(&[LIMIT, PAGE, CATALOGUE_ORDER]),
    post("/v1/product-collections", "Create a product collection", create)
        .describe(
            "createProductCollection",
            "Creates a collection of products and SKUs: a static list, or all that match a filter. Listed products and SKUs must exist. An unknown product is refused with `not_found`, a collection of type `AUTO_UPDATE` without a filter with `invalid_payload`.",
        )
        .returns("The new product collection.")
        .of(&COLLECTION)
        .scope("product-collections")
        .body(CREATE),
    get("/v1/product-collections/{productCollectionId}", "Get a product collection", get_one)
        .describe(
            "getProductCollection",
            "Returns one product collection, or the built-in collection of all products by its ID. An unknown ID is refused with `not_found`.",
        )
        .returns("The product collection.")
        .of(&COLLECTION)
        .scope("product-collections"),
    put("/v1/product-collections/{productCollectionId}", "Update a product collection", update)
        .describe(
            "updateProductCollection",
            "Changes the name of a collection, and the filter of a collection of type `AUTO_UPDATE`. A static collection keeps its list, and a filter sent for it is ignored. An unknown ID is refused with `not_found`, the built-in collection with `resource_protected`.",
        )
        .returns("The product collection after the change.")
        .of(&COLLECTION)
        .scope("product-collections")
        .body(CHANGES),
    delete("/v1/product-collections/{productCollectionId}", "Delete a product collection", remove)
        .describe(
            "deleteProductCollection",
            "Deletes a collection that no validation rule uses. Its products and SKUs stay. A collection in use is refused with `resource_in_use`, which lists up to 100 rules, the built-in collection with `resource_protected`.",
        )
        .returns("No content. The product collection is deleted.")
        .of(&COLLECTION)
        .scope("product-collections")
        .answers(204, shapes::EMPTY),
    get("/v1/product-collections/{productCollectionId}/products", "List the products of a collection", products)
        .describe(
            "listProductCollectionProducts",
            "Returns the products and SKUs that belong to a collection now. Membership by filter is computed on each call. An unknown ID is refused with `not_found`, an unknown order with `invalid_query_params`.",
        )
        .returns("The products and SKUs of this page, SKUs with their product, and the total.")
        .of(&COLLECTION)
        .lists("data", FieldType::Either(&[shapes::catalogue::PRODUCT, shapes::catalogue::SKU]), shapes::TOTAL)
        .scope("product-collections")
        .query(&[LIMIT, PAGE, CATALOGUE_ORDER, starting_after::TIME, starting_after::ID]),
];

/// Finds the collection that a path names. The built-in one of all products is not stored: it is returned by its id, and not listed.
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

/// Finds the collection that a path names, for a change; the built-in one cannot be changed.
fn find_own(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let collection = find(call)?;
    if collection.id == ALL_PRODUCTS {
        let message =
            format!("Resource {} with id {ALL_PRODUCTS} is protected and cannot be modified", COLLECTION.object);
        return Err(error(400, "resource_protected", "Resource is protected", message)
            .about(COLLECTION.object, ALL_PRODUCTS)
            .into());
    }
    Ok(collection)
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    Ok(Response::json(Json::Object(find(call)?.body)))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut body = call.body(Nulls::Dropped)?;
    let id = call.ids.alphanumeric("pc_", 24).to_string();
    let mut members = Map::new();
    members.insert("id".into(), id.clone().into());
    for name in ["name", "type"] {
        members.insert(name.into(), body.remove(name).unwrap_or_default());
    }
    if CollectionRecord::of(&members).is_automatic() {
        members.insert("filter".into(), Json::Object(own_filter(body.remove("filter"))?));
    } else {
        members.insert("products".into(), read_listed(call, body.remove("products"))?);
    }
    members.insert("created_at".into(), timestamp::text(call.now_ms()).into());
    members.insert("updated_at".into(), Json::Null);
    members.insert("object".into(), COLLECTION.object.into());
    let collection = Document::new(id, None, call.now_ms(), members);
    call.store.insert(COLLECTION.object, &collection);
    Ok(Response::json(Json::Object(collection.body)))
}

/// Returns the filter that an automatic collection must have.
fn own_filter(sent: Option<Json>) -> Result<Map<String, Json>, ErrorBody> {
    let filter = sent.and_then(|filter| filter.as_object().cloned()).filter(|filter| filter.contains_key("junction"));
    let message = "'AUTO_UPDATE' collection must contain valid filter with 'junction' property";
    let filter = filter.ok_or_else(|| invalid_payload(message))?;
    check_filter(&filter, "filter")?;
    Ok(filter)
}

/// Returns the items of a static collection by id. Each must exist, and may be named by source_id.
fn read_listed(call: &Call<'_, '_>, sent: Option<Json>) -> Result<Json, CallError> {
    let sent = sent.unwrap_or_default();
    let named = |kind: &str| {
        let named = sent.as_array().into_iter().flatten();
        named
            .filter(|listed| ObjectReference::of_value(listed).object() == Some(kind))
            .filter_map(|listed| ObjectReference::of_value(listed).id().map(str::to_owned))
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

/// Updates a collection. A static one keeps its items; only its name changes.
fn update(call: &mut Call<'_, '_>) -> HandlerResult {
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
    Ok(Response::json(Json::Object(collection.body)))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let collection = find_own(call)?;
    let CountedIds { ids, total } =
        validation_rules::list_rules_with_collection(call.store, &collection.id, NAMED_MAX)?;
    if total > 0 {
        return Err(in_use(COLLECTION.object, &collection.id, "validation_rules", ids, total).into());
    }
    call.store.delete(COLLECTION.object, &collection.id);
    Ok(Response::empty(204))
}

fn products(call: &mut Call<'_, '_>) -> HandlerResult {
    let collection = find(call)?;
    let mut clause = Clause::of_kinds(&[PRODUCT.object, SKU.object]);
    starting_after::narrow(call.store, &call.query, &[PRODUCT.object, SKU.object], &mut clause)?;
    let by_filter = collection.id != ALL_PRODUCTS && collection.body.contains_key("filter");
    let page = if by_filter {
        let (present, collection) = (LocalTime::of(call)?, read_stored_collection(call, &collection)?);
        let is_in =
            |goods: &Document| Ok(collection.as_ref().is_some_and(|all| is_in_collection(&present, all, goods)));
        COLLECTION.list.select_where(call.store, &call.query, clause, &is_in)?
    } else {
        if let Some(listed) = collection.as_collection().products() {
            store_products::narrow_to_listed(&mut clause, listed);
        }
        COLLECTION.list.select(call.store, &call.query, clause)?
    };
    let goods = skus::to_json_with_products(call, page.documents)?;
    Ok(Response::json(Json::Object(COLLECTION.list.envelope(goods, page.total))))
}
