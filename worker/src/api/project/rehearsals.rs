//! What only the tests may do: replace a project's facts by a set of rules, and run the work that is due now.
//! Exists under the feature `rehearsal` alone, never in a released build.

use crate::document::part;
use crate::document::shapes;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, get, post};
use crate::http::shape::{Kind, Nulls, may, must};
use crate::store::document::Document;
use crate::store::post::Post;
use crate::store::sql::Fault;
use crate::work::outbox;
use scrip::facts::{
    credits_account, points_account, points_spent_account, redeemed_account, redemptions_account, spent_account,
};
use scrip::wire::rule_set::RuleSet;
use serde_json::{Map, Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/rehearsal/given", "Replace the facts of the project", given)
        .scope("rehearsal")
        .body(&[may("complete", Kind::Bool)])
        .answers(200, shapes::EMPTY),
    post("/rehearsal/fill", "Add many documents that differ by their number alone", fill)
        .scope("rehearsal")
        .body(&[
            must("kind", Kind::Text),
            must("count", Kind::Int(1, 2_000_000)),
            may("parent", Kind::Text),
            must("body", Kind::Map),
        ])
        .answers(200, shapes::EMPTY),
    post("/rehearsal/copies", "Add many customers who have all that one has, under names of their own", copies)
        .scope("rehearsal")
        .body(&[
            must("customer_id", Kind::Text),
            must("first", Kind::Int(1, COPIES_MAX)),
            must("count", Kind::Int(1, COPIES_MAX)),
        ])
        .answers(200, shapes::EMPTY),
    get("/rehearsal/rows", "Count the rows of the project's tables", rows)
        .scope("rehearsal")
        .answers(200, shapes::EMPTY),
    post("/rehearsal/letters", "Note letters to every webhook", letters)
        .scope("rehearsal")
        .body(&[must("count", Kind::Int(1, 10_000)), must("entities", Kind::Int(1, 10_000))])
        .answers(200, shapes::EMPTY),
    post("/rehearsal/hasten", "Let be due now what is tried again later", hasten)
        .scope("rehearsal")
        .answers(200, shapes::EMPTY),
    post("/rehearsal/alarm", "Run the work that is due", alarm).scope("rehearsal").answers(200, shapes::EMPTY),
];

/// As many names as six digits can tell apart.
const COPIES_MAX: i64 = 0xff_ffff;

/// Kinds of what a customer may have that is copied.
const COPIED: &str = "('customer', 'member', 'loyalty_card', 'card_points_bucket', 'card_transaction')";

/// Everything that a project has, but for what it began with.
const EMPTIED: &[&str] = &[
    "DELETE FROM document WHERE kind NOT IN ('secret', 'stacking_rules')",
    "DELETE FROM export_line",
    "DELETE FROM earning_occasion",
    "DELETE FROM earning_firing",
    "DELETE FROM statistic",
    "DELETE FROM statistic_quarter",
    "DELETE FROM account",
    "DELETE FROM transfer",
    "DELETE FROM hold",
    "DELETE FROM answer WHERE status <> 0",
    "DELETE FROM answer_slice",
    "DELETE FROM allowance",
    "DELETE FROM generator",
    "DELETE FROM due",
    "DELETE FROM outbox",
];

/// So many letters to each webhook, about so many things in turn.
fn letters(call: &mut Call<'_, '_>) -> Outcome {
    let body = call.body(Nulls::Dropped)?;
    let number = |name: &str| body.get(name).and_then(Json::as_i64).unwrap_or(1);
    let mut letters = Vec::new();
    for webhook in outbox::webhooks(call.store)? {
        for place in 0..number("count") {
            let id = call.ids.hex18("whs_").to_string();
            let entity = format!("thing_{}", place.checked_rem(number("entities")).unwrap_or(0));
            let body = json!({ "id": id, "entity": entity, "place": place }).to_string();
            let webhook = webhook.id.clone();
            letters.push(outbox::Letter { id, webhook, entity, event: "rehearsal", customer: None, body });
        }
    }
    outbox::post(call.store, call.now_ms(), letters);
    Ok(Answer::json(json!({})))
}

/// What webhooks could not be told is tried now.
fn hasten(call: &mut Call<'_, '_>) -> Outcome {
    let now_ms = call.now_ms();
    call.store.write("UPDATE outbox SET at = ?1 WHERE at > ?1", vec![now_ms.into()]);
    call.store.carry_at(now_ms);
    Ok(Answer::json(json!({})))
}

fn given(call: &mut Call<'_, '_>) -> Outcome {
    // The engine reads the whole first, so that a test is told of its own mistakes in its words.
    RuleSet::read(&call.request.body)?;
    let body = call.source()?;
    for statement in EMPTIED {
        call.store.write(*statement, Vec::new());
    }
    give_stacking_rules(call, body.get("stacking_rules"))?;
    if let Some(zone) = body.get("time_zone") {
        let said = part::one("time_zone", zone.clone());
        give(call, "given", said, ("time_zone", None, None));
    }
    let list = |name: &str| body.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let campaigns: Vec<String> = list("campaigns")
        .iter()
        .map(|campaign| text(campaign, "id").or_else(|| text(campaign, "name")).unwrap_or_default())
        .collect();
    for (name, kind, second) in KINDS {
        for document in list(name) {
            give_one(call, (kind, second), &document, &campaigns);
        }
    }
    for hold in list("holds") {
        give_hold(call, &hold, &list("vouchers"));
    }
    give_transfers(call, &list("transfers"));
    // Given documents are stored as they are: an older version may have written what does not read any more.
    call.store.commit()?;
    Ok(Answer::json(json!({})))
}

/// What has moved before.
fn give_transfers(call: &mut Call<'_, '_>, transfers: &[Json]) {
    let post = |transfer: &Json| Post {
        id: text(transfer, "id").unwrap_or_default(),
        chain: text(transfer, "chain").unwrap_or_else(|| "given".into()),
        debit: text(transfer, "debit").unwrap_or_default(),
        credit: text(transfer, "credit").unwrap_or_default(),
        amount: transfer.get("amount").and_then(Json::as_i64).unwrap_or(1),
        reverses: text(transfer, "reverses"),
        at: text(transfer, "at").and_then(|at| crate::moment::parse(&at)).unwrap_or(0),
    };
    let posts: Vec<Post> = transfers.iter().map(post).collect();
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

fn give(
    call: &mut Call<'_, '_>,
    kind: &str,
    body: Map<String, Json>,
    (id, key, parent): (&str, Option<String>, Option<String>),
) {
    let held = ["holder_id", "customer_id", "rule_id"].into_iter().find_map(|name| body.get(name));
    let holder = held.and_then(Json::as_str).map(str::to_owned);
    let document =
        Document { id: id.to_owned(), key, parent, holder, created_at: call.now_ms(), updated_at: None, body };
    call.store.insert(kind, &document);
}

/// Bodies are stored as they are given, so that answers show them as they are given.
fn give_one(call: &mut Call<'_, '_>, (kind, second): (&str, &str), document: &Json, campaigns: &[String]) {
    let key = text(document, second);
    let id = text(document, "id").or_else(|| key.clone()).unwrap_or_else(|| call.ids.hex18("given_").to_string());
    let parent = match kind {
        // A voucher whose campaign is not given has none here: a campaign that is gone would take it along.
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
    give(call, kind, body, (&id, key, parent));
}

/// What a voucher says has been used becomes transfers.
fn count(call: &mut Call<'_, '_>, id: &str, document: &Json) {
    let number = |path: &str| document.pointer(path).and_then(Json::as_i64);
    let campaign = text(document, "campaign_id");
    let amount = number("/gift/amount").unwrap_or(0).saturating_sub(number("/gift/subtracted_amount").unwrap_or(0));
    let spent = number("/redemption/redeemed_amount")
        .or_else(|| number("/gift/balance").map(|balance| amount.saturating_sub(balance)));
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
    let posts: Vec<Post> = moves
        .into_iter()
        .filter(|(_, _, amount)| *amount > 0)
        .map(|(debit, credit, amount)| Post {
            id: format!("given/{debit}"),
            chain: "given".into(),
            debit: debit.to_string(),
            credit: credit.to_string(),
            amount,
            reverses: None,
            at: 0,
        })
        .collect();
    call.store.post(posts);
}

fn give_hold(call: &mut Call<'_, '_>, hold: &Json, vouchers: &[Json]) {
    let code = text(hold, "voucher").unwrap_or_default();
    let voucher = vouchers.iter().find(|voucher| text(voucher, "code").as_deref() == Some(&code));
    let id = voucher.and_then(|voucher| text(voucher, "id")).unwrap_or(code);
    let key = text(hold, "key").unwrap_or_default();
    let expires_at = text(hold, "expires_at").and_then(|at| crate::moment::parse(&at)).unwrap_or(0);
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

/// The rules that are given lie over the defaults; without any, the defaults hold.
fn give_stacking_rules(call: &mut Call<'_, '_>, given: Option<&Json>) -> Result<(), CallError> {
    let mut body = crate::shop::stacking_rules::default_rules();
    body.extend(given.and_then(Json::as_object).cloned().unwrap_or_default());
    let stored = crate::shop::stacking_rules::stored(call.store)?;
    let id = stored.map_or_else(|| call.ids.hex18("stk_").to_string(), |stored| stored.id);
    body.insert("id".into(), id.clone().into());
    let document =
        Document { id, key: None, parent: None, holder: None, created_at: call.now_ms(), updated_at: None, body };
    call.store.put("stacking_rules", &document);
    Ok(())
}

/// Documents `fill0`, `fill1` and so on: what a large shop has, without the time that it takes to make it.
fn fill(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let said = |name: &str| sent.get(name).and_then(Json::as_str).map(str::to_owned);
    let params = vec![
        sent.get("count").and_then(Json::as_i64).into(),
        said("kind").into(),
        said("parent").into(),
        call.now_ms().into(),
        sent.get("body").map(Json::to_string).into(),
    ];
    call.store.write(
        "WITH RECURSIVE turn(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < ?1)
         INSERT INTO document (kind, id, key, parent, created_at, body)
         SELECT ?2, 'fill' || n, 'fill' || n, ?3, ?4 + n, json_set(?5, '$.id', 'fill' || n, '$.code', 'fill' || n) FROM turn",
        params,
    );
    Ok(Answer::json(json!({})))
}

/// Copies of a customer and of all that the customer holds, with its transfers, balances and what is due on it: as calls would have
/// written them, but for the names, which are as scattered as drawn ones.
fn copies(call: &mut Call<'_, '_>) -> Outcome {
    let sent = call.body(Nulls::Dropped)?;
    let number = |name: &str| sent.get(name).and_then(Json::as_i64).unwrap_or(0);
    let customer = sent.get("customer_id").and_then(Json::as_str).unwrap_or_default();
    let held = |column: &str, of: &str| format!("SELECT {column} FROM document WHERE kind IN {COPIED} AND {of} = ?1");
    let named = ["id", "key"].map(|column| format!("{} UNION ALL {}", held(column, "id"), held(column, "holder")));
    let held = format!("SELECT id FROM ({}) WHERE id IS NOT NULL", named.join(" UNION ALL "));
    let rows = call.store.rows(&held, &[customer.into()])?;
    let names = rows.iter().map(|row| Ok(crate::store::sql::text(row, 0)?.to_owned()));
    let names = names.collect::<Result<Vec<String>, Fault>>()?;
    // Ids come first, so that a key which is made of ids has been replaced when it comes itself.
    let mut params = vec![number("first").into(), number("count").into(), Json::from(names.clone()).to_string().into()];
    params.extend(names.iter().map(|name| name.as_str().into()));
    let renamed = |column: &str| {
        (4..params.len().saturating_add(1)).fold(column.to_owned(), |text, place| {
            let (head, tail) = (format!("instr(?{place}, '_')"), format!("instr(?{place}, '_') + 7"));
            format!("replace({text}, ?{place}, substr(?{place}, 1, {head}) || digits || substr(?{place}, {tail}))")
        })
    };
    let of_copied = format!("kind IN {COPIED} AND id IN names");
    for (table, named, others, whose) in [
        ("document", "id key parent holder body", "kind, created_at, updated_at", of_copied.as_str()),
        (
            "account",
            "id",
            "balance",
            "id IN (SELECT debit FROM transfer WHERE chain IN names UNION SELECT credit FROM transfer WHERE chain IN names)",
        ),
        ("transfer", "id chain debit credit", "amount, at", "chain IN names"),
        ("due", "id", "at, kind, cursor, attempts", "id IN names"),
    ] {
        let columns = named.replace(' ', ", ");
        let renamed = named.split(' ').map(renamed).collect::<Vec<_>>().join(", ");
        call.store.write_now(
            &format!(
                "WITH RECURSIVE turn(n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM turn WHERE n + 1 < ?1 + ?2),
                   scattered AS (SELECT printf('%06x', n * 10368889 % 16777216) AS digits FROM turn),
                   names AS (SELECT value AS name FROM json_each(?3)),
                   own AS MATERIALIZED (SELECT * FROM {table} WHERE {whose})
                 INSERT INTO {table} ({columns}, {others})
                 SELECT {renamed}, {others} FROM scattered, own"
            ),
            &params,
        )?;
    }
    Ok(Answer::json(json!({})))
}

fn alarm(call: &mut Call<'_, '_>) -> Outcome {
    /// No story has more in one piece of its work.
    const ROWS: u64 = 2_000;
    (call.run_due)(call.store, call.context, ROWS)?;
    Ok(Answer::json(json!({ "next": call.store.alarm().map(crate::moment::text) })))
}

/// What a refused request must not change; answers that are kept under an Idempotency-Key do not count.
fn rows(call: &mut Call<'_, '_>) -> Outcome {
    let mut counts = Map::new();
    for table in ["document", "transfer", "hold", "due", "generator", "account"] {
        let row = call.store.row(&format!("SELECT COUNT(*) FROM {table}"), &[])?;
        counts.insert(table.into(), row.map_or(Ok(0), |row| crate::store::sql::int(&row, 0))?.into());
    }
    Ok(Answer::json(Json::Object(counts)))
}
