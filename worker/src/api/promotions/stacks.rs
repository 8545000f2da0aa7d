//! Promotion stacks: tiers of one promotion that are redeemed together, by one name.

use crate::api::promotions::tiers::find_promotion;
use crate::documents::common_fields::{BEFORE_AFTER, KEY, LIMIT, PAGE};
use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::domain::categories;
use crate::domain::promotions::tiers::TIER;
use crate::domain::vouchers::definition;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response, Route, delete, get, post, put};
use crate::http::shape::{Field, FieldType, Nulls, may, must};
use crate::store::document::Document;
use crate::store::document_list::column::member;
use crate::store::documents::campaigns;
use crate::timestamp;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_stack;
use serde_json::{Map, Value as Json, json};

/// Maximum number of tiers of one stack.
const TIERS_MAX: usize = 100;

const TIERS: FieldType = FieldType::Object(&[
    must("ids", FieldType::List(&KEY, 1, TIERS_MAX))
        .description("IDs of the tiers, in the order in which they are applied. All must belong to the promotion, each at most once."),
    may("hierarchy_mode", FieldType::OneOf(&["MANUAL"]))
        .description("Order of the tiers. Always `MANUAL`, the order of `ids`."),
]);

const CREATE: &[Field] = &[
    must("name", KEY).description("Name of the stack."),
    must("tiers", TIERS).description("Tiers of the stack and their order."),
    may("category", KEY).description("Name of the category of the stack. A category that does not exist is created."),
    may("category_id", KEY).description("ID of the category of the stack. The category must exist."),
];

const UPDATE: &[Field] = &[
    may("name", KEY).description("Name of the stack. `null` leaves the name as is."),
    may("tiers", TIERS)
        .description("Tiers of the stack and their order. Replaces the present tiers; `null` leaves them as they are."),
    may("category", KEY)
        .description("Name of the category of the stack. A category that does not exist is created; `null` removes the stack from its category."),
    may("category_id", KEY)
        .description("ID of the category of the stack. The category must exist; `null` removes the stack from its category."),
];

/// Stacks as a resource.
pub const STACK: Resource = Resource {
    object: "promotion_stack",
    shape: shapes::promotions::STACK.described(),
    parameter: "stackId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("name", member!("name"))],
        filters: &[ListFilter::Instant("created_at", "created_at"), ListFilter::Instant("updated_at", "updated_at")],
        conditions: &[],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/promotions/stacks", "List promotion stacks", resource::list)
        .describe(
            "listPromotionStacks",
            "Returns the promotion stacks of all promotions, the newest first by default. An unknown order or a malformed date is refused with `invalid_query_params`.",
        )
        .returns("The stacks of this page and the total.")
        .of(&STACK)
        .lists_resource(shapes::TOTAL)
        .scope("promotions")
        .query(&[
            LIMIT,
            PAGE,
            may(
                "order",
                FieldType::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"]),
            )
            .description("Field to sort by, descending with a minus sign. Default `-created_at`."),
            may("created_at", BEFORE_AFTER).description("Bounds on the moment of creation, in UTC."),
            may("updated_at", BEFORE_AFTER).description("Bounds on the moment of the last change, in UTC."),
        ]),
    get("/v1/promotions/{campaignId}/stacks", "List the stacks of a promotion", list_campaign)
        .describe(
            "listCampaignPromotionStacks",
            "Returns all stacks of one promotion, the newest first, without pages. An unknown campaign is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("All stacks of the promotion and their number.")
        .of(&STACK)
        .lists_resource(shapes::TOTAL)
        .scope("promotions"),
    post("/v1/promotions/{campaignId}/stacks", "Create a promotion stack", create)
        .describe(
            "createPromotionStack",
            "Creates a stack of up to 100 tiers of one promotion, which are redeemed together in the given order. The webhook event `campaign.promotion_stack.created` follows. A tier of another promotion is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The new stack.")
        .of(&STACK)
        .scope("promotions")
        .body(CREATE),
    get("/v1/promotions/{campaignId}/stacks/{stackId}", "Get a promotion stack", get_one)
        .describe(
            "getPromotionStack",
            "Returns one stack of the promotion. A stack of another promotion is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("The stack.")
        .of(&STACK)
        .scope("promotions"),
    put("/v1/promotions/{campaignId}/stacks/{stackId}", "Update a promotion stack", update)
        .describe(
            "updatePromotionStack",
            "Changes the fields that are sent; `null` removes the category and leaves other fields as they are. The webhook event `campaign.promotion_stack.updated` follows. An unknown stack, or a tier of another promotion, is refused with `not_found`, a repeated tier with `invalid_payload`.",
        )
        .returns("The stack after the change.")
        .of(&STACK)
        .scope("promotions")
        .body(UPDATE),
    delete("/v1/promotions/{campaignId}/stacks/{stackId}", "Delete a promotion stack", remove)
        .describe(
            "deletePromotionStack",
            "Deletes the stack; its tiers and earlier redemptions stay. A stack of another promotion is refused with `not_found`, a campaign of another type with `invalid_campaign`.",
        )
        .returns("No content. The stack is deleted.")
        .of(&STACK)
        .scope("promotions")
        .answers(204, shapes::EMPTY),
];

fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let categories = categories::CategoryLookup::of(call, &documents)?;
    let json = documents.into_iter().map(|document| {
        let categories_json = categories.list(&document);
        let mut body = document.body;
        body.remove("category");
        body.insert("categories".into(), categories_json);
        Json::Object(body)
    });
    Ok(json.collect())
}

fn list_campaign(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = find_promotion(call)?;
    let found = campaigns::list_stacks_of(call.store, &campaign.id)?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let json = to_json(call, found)?;
    Ok(Response::json(Json::Object(STACK.list.envelope(json, total))))
}

/// Finds the stack that a path names, within the promotion that it names.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = find_promotion(call)?;
    let stack = STACK.find(call)?;
    if stack.parent.as_ref() != Some(&campaign.id) {
        return Err(not_found(STACK.object, &stack.id).into());
    }
    Ok(stack)
}

fn get_one(call: &mut Call<'_, '_>) -> HandlerResult {
    let stack = find(call)?;
    Ok(Response::json(STACK.one_to_json(call, stack)?))
}

fn create(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::Dropped)?;
    let campaign = find_promotion(call)?;
    normalise_tiers(call, &campaign.id, &mut sent)?;
    definition::normalise_category(call, &mut sent)?;
    let id = call.ids.alphanumeric("stack_", 24).to_string();
    let defaults = json!({
        "id": id, "campaign_id": campaign.id, "category_id": null, "created_at": timestamp::text(call.now_ms()),
        "updated_at": null, "object": STACK.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let (parent, created_at) = (Some(campaign.id), call.now_ms());
    let stack = Document { id, key: None, parent, holder: None, created_at, updated_at: None, body };
    check_readable(&stack)?;
    call.store.insert(STACK.object, &stack);
    Ok(Response::json(STACK.one_to_json(call, stack)?))
}

fn update(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut sent = call.body(Nulls::KeptOnTop)?;
    let mut stack = find(call)?;
    sent.retain(|name, value| !value.is_null() || name.starts_with("category"));
    normalise_tiers(call, &stack.parent.clone().unwrap_or_default(), &mut sent)?;
    definition::normalise_category(call, &mut sent)?;
    stack.body.extend(sent);
    call.touch(&mut stack);
    check_readable(&stack)?;
    call.store.update(STACK.object, &stack);
    Ok(Response::json(STACK.one_to_json(call, stack)?))
}

fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let stack = find(call)?;
    call.store.delete(STACK.object, &stack.id);
    Ok(Response::empty(204))
}

/// Checks that a stack names tiers of its own promotion, each once.
fn normalise_tiers(call: &Call<'_, '_>, campaign_id: &str, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(tiers) = sent.get_mut("tiers").and_then(Json::as_object_mut) else { return Ok(()) };
    tiers.entry("hierarchy_mode").or_insert_with(|| "MANUAL".into());
    let ids: Vec<&str> =
        tiers.get("ids").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let known = call.store.documents_by_names(TIER.object, &[], &ids)?;
    for (index, id) in ids.iter().enumerate() {
        if !known.iter().any(|tier| tier.id == *id && tier.parent.as_deref() == Some(campaign_id)) {
            return Err(not_found(TIER.object, id).into());
        }
        if ids.iter().take(index).any(|earlier| earlier == id) {
            let message = format!("must NOT be there twice (actual value is `{id}`)");
            return Err(Problem::at(format!("tiers.ids[{index}]"), message).into());
        }
    }
    Ok(())
}

/// Refuses a stack that the engine cannot read.
fn check_readable(stack: &Document) -> Result<(), Problem> {
    read_fields(&stack.body, read_stack).map(drop)
}
