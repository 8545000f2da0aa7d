//! Operations for tests only: replace a project's facts by a set of rules, and run the work that is due now.
//! Exists only under the feature `test-hooks`, never in a released build.

use crate::commit;
use crate::documents::json_members;
use crate::documents::shapes;
use crate::domain::bundle::box_keys;
use crate::domain::bundle::build_job::{self, BundleDemand};
use crate::domain::bundle::head::{self, HeadState};
use crate::domain::bundle::project::BundleProject;
use crate::domain::clock;
use crate::domain::stacking_rules;
use crate::domain::stacking_rules::STACKING_RULES;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, get, post};
use crate::http::shape::{FieldType, Nulls, may, must};
use crate::jobs::outbox;
use crate::store::bundle_heads::{CopyState, find_copy_state};
use crate::store::document::Document;
use crate::store::sql::Fault;
use crate::store::test_hooks::{self, NumberedDocuments};
use crate::store::transfer_rows::TransferRow;
use crate::store::webhooks::outbox::{WebhookDelivery, list_webhooks};
use scrip::facts::{
    credits_account, points_account, points_spent_account, redeemed_account, redemptions_account, spent_account,
};
use scrip::wire::rule_set::RuleSet;
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/test-hooks/given", "Replace the facts of the project", insert_given)
        .scope("test-hooks")
        .body(&[may("complete", FieldType::Bool)])
        .answers(200, shapes::EMPTY),
    post("/test-hooks/fill", "Add many documents that differ by their number alone", insert_many)
        .scope("test-hooks")
        .body(&[
            must("kind", FieldType::Text),
            must("count", FieldType::Int(1, 2_000_000)),
            may("parent", FieldType::Text),
            must("body", FieldType::Map),
        ])
        .answers(200, shapes::EMPTY),
    post("/test-hooks/copies", "Add many customers who have all that one has, under names of their own", copy_customer)
        .scope("test-hooks")
        .body(&[
            must("customer_id", FieldType::Text),
            must("first", FieldType::Int(1, COPIES_MAX)),
            must("count", FieldType::Int(1, COPIES_MAX)),
        ])
        .answers(200, shapes::EMPTY),
    get("/test-hooks/rows", "Count the rows of the project's tables", count_rows)
        .scope("test-hooks")
        .answers(200, shapes::EMPTY),
    post("/test-hooks/deliveries", "Queue deliveries to every webhook", deliveries)
        .scope("test-hooks")
        .body(&[must("count", FieldType::Int(1, 10_000)), must("entities", FieldType::Int(1, 10_000))])
        .answers(200, shapes::EMPTY),
    post("/test-hooks/hasten", "Make deliveries due now that wait for their next attempt", make_deliveries_due)
        .scope("test-hooks")
        .answers(200, shapes::project::RESENT),
    post("/test-hooks/alarm", "Run the work that is due", alarm).scope("test-hooks").answers(200, shapes::EMPTY),
    post(BUNDLE_PATH, "Build the bundle for the time of the test, and have it copied", build_bundle)
        .scope("test-hooks")
        .answers(200, shapes::EMPTY),
];

/// Path of the call that builds the bundle. The alarm that copies it is set for now by the real clock.
pub const BUNDLE_PATH: &str = "/test-hooks/bundle";

/// Maximum number of copies: six digits distinguish their names.
const COPIES_MAX: i64 = 0xff_ffff;

/// Creates a number of deliveries to each webhook, about a number of subjects in turn.
fn deliveries(call: &mut Call<'_, '_>) -> HandlerResult {
    let body = call.body(Nulls::Dropped)?;
    let number = |name: &str| body.get(name).and_then(Json::as_i64).unwrap_or(1);
    let mut queued_deliveries = Vec::new();
    for webhook in list_webhooks(call.store)? {
        for place in 0..number("count") {
            let id = call.ids.hex18("whs_").to_string();
            let entity = format!("thing_{}", place.checked_rem(number("entities")).unwrap_or(0));
            let body = json!({ "id": id, "entity": entity, "place": place }).to_string();
            let webhook = webhook.id.clone();
            queued_deliveries.push(WebhookDelivery { id, webhook, entity, event: "test", customer: None, body });
        }
    }
    outbox::enqueue(call.store, call.now_ms(), "", queued_deliveries);
    Ok(Response::json(json!({})))
}

/// Makes failed deliveries due now, and returns how many there are.
fn make_deliveries_due(call: &mut Call<'_, '_>) -> HandlerResult {
    let now_ms = call.now_ms();
    let waiting = test_hooks::count_waiting_deliveries(call.store, now_ms)?;
    test_hooks::update_deliveries_due(call.store, now_ms);
    Ok(Response::json(json!({ "count": waiting })))
}

fn insert_given(call: &mut Call<'_, '_>) -> HandlerResult {
    // The engine reads all of it first, so that a test gets the engine's messages for its own errors.
    RuleSet::read(&call.request.body)?;
    let body = call.source()?;
    test_hooks::delete_all(call.store);
    test_hooks::keep_all_counts(call.store);
    replace_stacking_rules(call, body.get("stacking_rules"))?;
    if let Some(zone) = body.get("time_zone") {
        let said = json_members::object_of("time_zone", zone.clone());
        insert_document(call, "given", said, "time_zone", None, None);
    }
    let list = |name: &str| body.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let campaigns: Vec<String> = list("campaigns")
        .iter()
        .map(|campaign| text(campaign, "id").or_else(|| text(campaign, "name")).unwrap_or_default())
        .collect();
    if clock::is_set_by_test(call) {
        insert_document(call, "given", Map::new(), "own_clock", None, None);
    }
    for (name, kind, second) in KINDS {
        for document in list(name) {
            insert_one(call, kind, second, &document, &campaigns);
        }
    }
    for hold in list("holds") {
        insert_hold(call, &hold, &list("vouchers"));
    }
    insert_transfers(call, &list("transfers"));
    commit::run_test_documents(call.store)?;
    Ok(Response::json(json!({})))
}

/// Posts the previous transfers.
fn insert_transfers(call: &mut Call<'_, '_>, transfers: &[Json]) {
    let post = |transfer: &Json| TransferRow {
        id: text(transfer, "id").unwrap_or_default(),
        chain: text(transfer, "chain").unwrap_or_else(|| "given".into()),
        debit: text(transfer, "debit").unwrap_or_default(),
        credit: text(transfer, "credit").unwrap_or_default(),
        amount: transfer.get("amount").and_then(Json::as_i64).unwrap_or(1),
        reverses: text(transfer, "reverses"),
        part_of: text(transfer, "part_of"),
        at: text(transfer, "at").and_then(|at| crate::timestamp::parse(&at)).unwrap_or(0),
    };
    let posts: Vec<TransferRow> = transfers.iter().map(post).collect();
    call.store.post(posts);
}

/// The lists of a set of rules, the kind of their documents, and the field that is their second name.
const KINDS: [(&str, &str, &str); 16] = [
    ("campaigns", "campaign", "name"),
    ("vouchers", "voucher", "code"),
    ("promotion_tiers", "promotion_tier", ""),
    ("promotion_stacks", "promotion_stack", ""),
    ("rewards", "reward", ""),
    ("reward_assignments", "reward_assignment", ""),
    ("customers", "customer", "source_id"),
    ("orders", "order", "source_id"),
    ("products", "product", "source_id"),
    ("skus", "sku", "source_id"),
    ("categories", "category", "name"),
    ("validation_rules", "validation_rules", ""),
    ("validation_rules_assignments", "validation_rules_assignment", ""),
    ("redemptions", "redemption", ""),
    ("segments", "segment", ""),
    ("product_collections", "products_collection", ""),
];

fn text(document: &Json, name: &str) -> Option<String> {
    document.get(name).and_then(Json::as_str).map(str::to_owned)
}

fn insert_document(
    call: &mut Call<'_, '_>,
    kind: &str,
    body: Map<String, Json>,
    id: &str,
    key: Option<String>,
    parent: Option<String>,
) {
    let held = ["holder_id", "customer_id", "rule_id"].into_iter().find_map(|name| body.get(name));
    let holder = held.and_then(Json::as_str).map(str::to_owned);
    let document = Document { parent, holder, ..Document::new(id.to_owned(), key, call.now_ms(), body) };
    call.store.insert(kind, &document);
}

/// Bodies are stored as given, so that responses contain them as given.
fn insert_one(call: &mut Call<'_, '_>, kind: &str, second: &str, document: &Json, campaigns: &[String]) {
    let key = text(document, second);
    let id = text(document, "id").or_else(|| key.clone()).unwrap_or_else(|| call.ids.hex18("given_").to_string());
    let parent = match kind {
        // A voucher without its campaign in the set has none here: a deleted campaign would delete it too.
        "voucher" => text(document, "campaign_id").filter(|campaign| campaigns.contains(campaign)),
        "promotion_tier" => text(document, "campaign_id").filter(|campaign| campaigns.contains(campaign)),
        "reward_assignment" => text(document, "reward_id"),
        "validation_rules_assignment" => text(document, "related_object_id"),
        "redemption" => text(document, "related_object_id"),
        _ => None,
    };
    if kind == "voucher" {
        count(call, &id, document);
    }
    let body = document.as_object().cloned().unwrap_or_default();
    insert_document(call, kind, body, &id, key, parent);
}

/// Posts the used quantities of a voucher as transfers.
fn count(call: &mut Call<'_, '_>, id: &str, document: &Json) {
    let number = |path: &str| document.pointer(path).and_then(Json::as_i64);
    let campaign = text(document, "campaign_id");
    let number_or_zero = |path: &str| number(path).unwrap_or(0);
    // Amounts of vectors are at most 2^53: no difference saturates.
    let less = |amount: i64, taken: i64| amount.saturating_sub(taken);
    let amount = less(number_or_zero("/gift/amount"), number_or_zero("/gift/subtracted_amount"));
    let spent =
        number("/redemption/redeemed_amount").or_else(|| number("/gift/balance").map(|balance| less(amount, balance)));
    let moves = [
        (
            redemptions_account(id),
            redeemed_account(campaign.as_deref()),
            number("/redemption/redeemed_quantity").unwrap_or(0),
        ),
        (
            credits_account(id),
            spent_account(campaign.as_deref()),
            spent.filter(|_| document.get("gift").is_some_and(Json::is_object)).unwrap_or(0),
        ),
        (
            points_account(id),
            points_spent_account(campaign.as_deref()),
            number("/redemption/redeemed_points").unwrap_or(0),
        ),
    ];
    let posts: Vec<TransferRow> = moves
        .into_iter()
        .filter(|(_, _, amount)| *amount > 0)
        .map(|(debit, credit, amount)| TransferRow {
            id: format!("given/{debit}"),
            chain: "given".into(),
            debit: debit.to_string(),
            credit: credit.to_string(),
            amount,
            reverses: None,
            part_of: None,
            at: 0,
        })
        .collect();
    call.store.post(posts);
}

fn insert_hold(call: &mut Call<'_, '_>, hold: &Json, vouchers: &[Json]) {
    let code = text(hold, "voucher").unwrap_or_default();
    let voucher = vouchers.iter().find(|voucher| text(voucher, "code").as_deref() == Some(&code));
    let id = voucher.and_then(|voucher| text(voucher, "id")).unwrap_or(code);
    let key = text(hold, "key").unwrap_or_default();
    let expires_at = text(hold, "expires_at").and_then(|at| crate::timestamp::parse(&at)).unwrap_or(0);
    let owner = text(hold, "owner").unwrap_or_default();
    let given = |name: &str| hold.get(name).and_then(Json::as_i64);
    let held = [
        (redemptions_account(&id), given("quantity").or(Some(1))),
        (credits_account(&id), given("credits")),
        (points_account(&id), given("points")),
    ];
    let held = held
        .into_iter()
        .filter_map(|(account, amount)| Some(json!([key, owner, account.as_str(), amount?, expires_at])));
    let (held, now_ms) = (held.collect(), call.now_ms());
    call.store.hold(&held, None, now_ms);
}

/// Stores the given stacking rules over the defaults; without any, a project keeps its initial set.
fn replace_stacking_rules(call: &mut Call<'_, '_>, given: Option<&Json>) -> Result<(), CallError> {
    if let Some(stored) = stacking_rules::load(call.store)? {
        call.store.delete(STACKING_RULES.object, &stored.id);
    }
    match given.and_then(Json::as_object) {
        Some(given) => {
            let document = stacking_rules::new_document(&mut call.ids, call.context, given.clone());
            call.store.insert(STACKING_RULES.object, &document);
        }
        None => stacking_rules::insert_defaults(call.store, call.context, &mut call.ids),
    }
    Ok(())
}

/// Creates documents `fill0`, `fill1` and so on: the data of a large merchant, without the time to create it by calls.
fn insert_many(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let said = |name: &str| sent.get(name).and_then(Json::as_str).map(str::to_owned);
    let numbered = NumberedDocuments {
        count: sent.get("count").and_then(Json::as_i64).unwrap_or(0),
        kind: said("kind").unwrap_or_default(),
        parent: said("parent"),
        body: sent.get("body").map(Json::to_string).unwrap_or_default(),
        created_at: call.now_ms(),
    };
    test_hooks::insert_numbered(call.store, numbered);
    Ok(Response::json(json!({})))
}

/// Copies a customer with all owned documents, transfers, balances and jobs, as calls would have written them. The ids of the
/// copies are as scattered as generated ones.
fn copy_customer(call: &mut Call<'_, '_>) -> HandlerResult {
    let sent = call.body(Nulls::Dropped)?;
    let number = |name: &str| sent.get(name).and_then(Json::as_i64).unwrap_or(0);
    let customer = sent.get("customer_id").and_then(Json::as_str).unwrap_or_default();
    test_hooks::insert_copies(call.store, customer, number("first"), number("count"))?;
    Ok(Response::json(json!({})))
}

fn alarm(call: &mut Call<'_, '_>) -> HandlerResult {
    /// Maximum number of rows in one slice of a story's job.
    const ROWS: u64 = 2_000;
    let run_due = call.run_due.ok_or_else(|| Fault::new("a job runs no jobs"))?;
    run_due(call.store, call.context, ROWS)?;
    Ok(Response::json(json!({ "next": call.store.alarm().map(crate::timestamp::text) })))
}

/// Builds the bundle unless it is current. The answer states if KV has it, with all keys of its boxes.
fn build_bundle(call: &mut Call<'_, '_>) -> HandlerResult {
    let time_zone = clock::zone_setting(call)?;
    let project = BundleProject { id: &call.caller.project, settings: &call.caller.settings, time_zone };
    let is_current = matches!(head::check_current(call.store, call.context, &project)?, HeadState::Current(_));
    let all = CopyState { has_head: true, has_parts: true, has_removed: false };
    let is_copied = find_copy_state(call.store)? == Some(all) && !box_keys::is_waiting(call.store)?;
    build_job::demand(call.store, call.context, call.caller, BundleDemand::default())?;
    head::load_or_build(call.store, call.context, &project)?;
    Ok(Response::json(json!({ "done": is_current && is_copied })))
}

/// Counts the rows that a refused request must not change, without responses that are stored under an Idempotency-Key.
fn count_rows(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut counts = Map::new();
    for (table, count) in test_hooks::count_rows(call.store)? {
        counts.insert(table.into(), count.into());
    }
    Ok(Response::json(Json::Object(counts)))
}
