//! Promotion stacks: tiers of one promotion that are redeemed together, by one name.
//! It must not know what a tier says.

use crate::api::promotions::tiers::find_promotion;
use crate::document::fields::{BEFORE_AFTER, KEY, LIMIT, PAGE};
use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::{Filter, List};
use crate::http::reply::{CallError, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource, Route, delete, get, post, put};
use crate::http::shape::{Field, Kind, Nulls, may, must};
use crate::moment;
use crate::shop::tiers::TIER;
use crate::shop::{categories, voucher_grant};
use crate::store::document::Document;
use scrip::wire::Problem;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_stack;
use serde_json::{Map, Value as Json, json};

/// Tiers of one stack, at most.
const TIERS_MAX: usize = 100;

const TIERS: Kind =
    Kind::Object(&[must("ids", Kind::List(&KEY, 1, TIERS_MAX)), may("hierarchy_mode", Kind::OneOf(&["MANUAL"]))]);

const CREATE: &[Field] = &[must("name", KEY), must("tiers", TIERS), may("category", KEY), may("category_id", KEY)];

const UPDATE: &[Field] = &[may("name", KEY), may("tiers", TIERS), may("category", KEY), may("category_id", KEY)];

/// Stacks as a resource.
pub const STACK: Resource = Resource {
    object: "promotion_stack",
    shape: shapes::promotions::STACK.described(),
    parameter: "stackId",
    key: plain_key,
    show,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("name", "json_extract(body, '$.name')")],
        filters: &[Filter::Moment("created_at", "created_at"), Filter::Moment("updated_at", "updated_at")],
        conditions: &[],
    },
};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/promotions/stacks", "List promotion stacks", resource::list)
        .of(&STACK)
        .listed(shapes::TOTAL)
        .scope("promotions")
        .query(&[
            LIMIT,
            PAGE,
            may("order", Kind::OneOf(&["created_at", "-created_at", "updated_at", "-updated_at", "name", "-name"])),
            may("created_at", BEFORE_AFTER),
            may("updated_at", BEFORE_AFTER),
        ]),
    get("/v1/promotions/{campaignId}/stacks", "List the stacks of a promotion", list_campaign)
        .of(&STACK)
        .listed(shapes::TOTAL)
        .scope("promotions"),
    post("/v1/promotions/{campaignId}/stacks", "Create a stack of tiers", create)
        .of(&STACK)
        .scope("promotions")
        .body(CREATE),
    get("/v1/promotions/{campaignId}/stacks/{stackId}", "Get a promotion stack", get_one)
        .of(&STACK)
        .scope("promotions"),
    put("/v1/promotions/{campaignId}/stacks/{stackId}", "Update a promotion stack", update)
        .of(&STACK)
        .scope("promotions")
        .body(UPDATE),
    delete("/v1/promotions/{campaignId}/stacks/{stackId}", "Delete a promotion stack", remove)
        .of(&STACK)
        .scope("promotions")
        .answers(204, shapes::EMPTY),
];

fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let categories = categories::Shown::of(call, &documents)?;
    let shown = documents.into_iter().map(|document| {
        let listed = categories.list(&document);
        let mut body = document.body;
        body.remove("category");
        body.insert("categories".into(), listed);
        Json::Object(body)
    });
    Ok(shown.collect())
}

fn list_campaign(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = find_promotion(call)?;
    let found = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'promotion_stack' AND parent = +?1 ORDER BY created_at DESC, seq DESC",
        &[campaign.id.into()],
    )?;
    let total = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let shown = show(call, found)?;
    Ok(Answer::json(Json::Object(STACK.list.envelope(shown, total))))
}

/// The stack that a path names, within the promotion that it names.
fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let campaign = find_promotion(call)?;
    let stack = STACK.find(call)?;
    if stack.parent.as_ref() != Some(&campaign.id) {
        return Err(not_found(STACK.object, &stack.id).into());
    }
    Ok(stack)
}

fn get_one(call: &mut Call<'_, '_>) -> Outcome {
    let stack = find(call)?;
    Ok(Answer::json(STACK.show_one(call, stack)?))
}

fn create(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Dropped)?;
    let campaign = find_promotion(call)?;
    settle_tiers(call, &campaign.id, &mut sent)?;
    voucher_grant::settle_category(call, &mut sent)?;
    let id = call.ids.alphanumeric("stack_", 24).to_string();
    let defaults = json!({
        "id": id, "campaign_id": campaign.id, "category_id": null, "created_at": moment::text(call.now_ms()),
        "updated_at": null, "object": STACK.object,
    });
    let mut body = defaults.as_object().cloned().unwrap_or_default();
    body.extend(sent);
    let (parent, created_at) = (Some(campaign.id), call.now_ms());
    let stack = Document { id, key: None, parent, holder: None, created_at, updated_at: None, body };
    check(&stack)?;
    call.store.insert(STACK.object, &stack);
    Ok(Answer::json(STACK.show_one(call, stack)?))
}

fn update(call: &mut Call<'_, '_>) -> Outcome {
    let mut sent = call.body(Nulls::Kept)?;
    let mut stack = find(call)?;
    sent.retain(|name, value| !value.is_null() || name.starts_with("category"));
    settle_tiers(call, &stack.parent.clone().unwrap_or_default(), &mut sent)?;
    voucher_grant::settle_category(call, &mut sent)?;
    stack.body.extend(sent);
    call.touch(&mut stack);
    check(&stack)?;
    call.store.update(STACK.object, &stack);
    Ok(Answer::json(STACK.show_one(call, stack)?))
}

fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let stack = find(call)?;
    call.store.remove(STACK.object, &stack.id);
    Ok(Answer::empty(204))
}

/// A stack names tiers of its own promotion, each once.
fn settle_tiers(call: &Call<'_, '_>, campaign_id: &str, sent: &mut Map<String, Json>) -> Result<(), CallError> {
    let Some(tiers) = sent.get_mut("tiers").and_then(Json::as_object_mut) else { return Ok(()) };
    tiers.entry("hierarchy_mode").or_insert_with(|| "MANUAL".into());
    let ids: Vec<&str> =
        tiers.get("ids").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let known = call.store.documents_by_names(TIER.object, &[], &ids)?;
    for (place, id) in ids.iter().enumerate() {
        if !known.iter().any(|tier| tier.id == *id && tier.parent.as_deref() == Some(campaign_id)) {
            return Err(not_found(TIER.object, id).into());
        }
        if ids.iter().take(place).any(|earlier| earlier == id) {
            let told = format!("must NOT be there twice (actual value is `{id}`)");
            return Err(Problem::at(format!("tiers.ids[{place}]"), told).into());
        }
    }
    Ok(())
}

/// A stack that the engine would not read must not be stored.
fn check(stack: &Document) -> Result<(), Problem> {
    read_fields(&stack.body, read_stack).map(drop)
}
