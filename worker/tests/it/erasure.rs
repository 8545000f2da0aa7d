//! Tests the erasure of a customer: no table contains their data afterwards, their activity stays, and other customers are unchanged.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use scrip_worker::store::sql::SqlValue;
use serde_json::{Value as Json, json};

const NOW: i64 = 1_772_323_200_000;
const DEV: &str = "proj_dev";

fn call(edge: &Edge, key: &str, method: &str, target: &str, body: &Json) -> Json {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let class = if path.starts_with("/management") { "management" } else { "app" };
    let (id, token) = match class {
        "app" => (("x-app-id", "dev-app"), ("x-app-token", "dev-token")),
        _ => (("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")),
    };
    let mut headers = vec![id, token];
    if !key.is_empty() {
        headers.push(("idempotency-key", key));
    }
    let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let body = if method == "GET" { Vec::new() } else { body.to_string().into_bytes() };
    let request = Request { method: method.into(), path: path.into(), query: query.into(), headers, body };
    let reply = edge.send(request, NOW, None);
    let answer = serde_json::from_slice(&reply.body).unwrap_or(Json::Null);
    assert!(reply.status < 300, "{method} {target}: {} {answer}", reply.status);
    answer
}

/// Returns every row of every table as text; from the index of name parts only if it has some letters that only Anna's name contains.
fn dump(edge: &Edge) -> Vec<String> {
    let tables = edge.run(
        DEV,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'label_part%'",
        &[],
    );
    let parts = edge.run(DEV, "SELECT 'part', COUNT(*) FROM label_part WHERE label_part MATCH '\"owa\"'", &[]);
    let mut rows: Vec<String> = parts.iter().map(|row| format!("label_part: {row:?}")).collect();
    for table in &tables {
        let SqlValue::Text(table) = &table[0] else { panic!("a table has a name") };
        rows.extend(
            edge.run(DEV, &format!("SELECT * FROM {table}"), &[]).iter().map(|row| format!("{table}: {row:?}")),
        );
    }
    rows
}

/// Texts that no table may contain any more.
const PERSONAL: &[&str] = &[
    "anna@shop.example",
    "anna%40shop.example",
    "Anna Nowak",
    "Text(\"part\"), Int(1)",
    "+48 600 100 200",
    "Kwiatowa 7",
    "left-handed",
    "1990-05-17",
    "anna.old@shop.example",
];

fn traces(edge: &Edge, id: &str) -> Vec<String> {
    let all = PERSONAL.iter().copied().chain([id]);
    let all: Vec<&str> = all.collect();
    dump(edge).into_iter().filter(|row| all.iter().any(|text| row.contains(text))).collect()
}

/// Opens a project in which Anna and Joanna have used every function; returns their ids.
fn shop(edge: &Edge) -> (String, String) {
    call(edge, "", "POST", "/v1/vouchers/OPEN", &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } }));
    call(edge, "", "POST", "/v1/vouchers/OPEN2", &json!({ "discount": { "type": "AMOUNT", "amount_off": 100 } }));
    let gift = json!({ "name": "Gifts", "campaign_type": "GIFT_VOUCHERS", "voucher": { "gift": { "amount": 10000 } } });
    call(edge, "", "POST", "/v1/campaigns", &gift);
    let club =
        json!({ "name": "Club", "campaign_type": "LOYALTY_PROGRAM", "voucher": { "loyalty_card": { "points": 100 } } });
    call(edge, "", "POST", "/v1/campaigns", &club);
    let friends = json!({ "name": "Friends", "campaign_type": "REFERRAL_PROGRAM", "voucher": { "discount": { "type": "AMOUNT", "amount_off": 100 } } });
    call(edge, "", "POST", "/v1/campaigns", &friends);
    let schema =
        json!({ "name": "called", "schema": { "properties": { "note": { "type": "string", "optional": true } } } });
    call(edge, "", "POST", &format!("/management/v1/projects/{DEV}/custom-event-schemas"), &schema);
    let mut ids = Vec::new();
    for (source, name, old) in [
        ("anna@shop.example", "Anna Nowak", "anna.old@shop.example"),
        ("joanna@shop.example", "Joanna", "jo@shop.example"),
    ] {
        let id = act(edge, (source, name, old), ids.len());
        ids.push(id);
    }
    (ids[0].clone(), ids[1].clone())
}

/// Uses every function as one customer; returns their id.
fn act(edge: &Edge, (source, name, old): (&str, &str, &str), number: usize) -> String {
    let who = json!({ "source_id": source, "name": name, "email": old, "phone": "+48 600 100 200", "birthdate": "1990-05-17",
        "address": { "line_1": "Kwiatowa 7" }, "metadata": { "note": "left-handed" } });
    let made = call(edge, &format!("make {source}"), "POST", "/v1/customers", &who);
    let id = made["id"].as_str().unwrap().to_owned();
    let named = json!({ "source_id": source });
    let order = |amount: i64| json!({ "amount": amount, "metadata": { "ring": format!("at {name}'s") } });
    let redeemed = call(
        edge,
        &format!("redeem {number}"),
        "POST",
        "/v1/redemptions",
        &json!({ "customer": named, "order": order(1000),
        "redeemables": [{ "object": "voucher", "id": "OPEN" }], "metadata": { "till": name } }),
    );
    let second = call(
        edge,
        "",
        "POST",
        "/v1/redemptions",
        &json!({ "customer": named, "order": order(2000),
        "redeemables": [{ "object": "voucher", "id": "OPEN2" }] }),
    );
    call(
        edge,
        "",
        "POST",
        &format!("/v1/redemptions/{}/rollback", second["redemptions"][0]["id"].as_str().unwrap()),
        &json!({ "customer": named, "reason": source }),
    );
    call(edge, "", "PUT", &format!("/v1/customers/{}", source.replace('@', "%40")), &json!({ "email": source }));
    for campaign in ["Gifts", "Club", "Friends"] {
        let published = call(
            edge,
            &format!("{campaign} {number}"),
            "POST",
            "/v1/publications",
            &json!({ "campaign": { "name": campaign }, "customer": named, "metadata": { "to": source } }),
        );
        assert!(published["voucher"]["code"].is_string(), "{published}");
    }
    call(
        edge,
        "",
        "POST",
        "/v1/orders",
        &json!({ "source_id": format!("o {name}"), "customer": named, "amount": 500, "status": "PAID" }),
    );
    call(
        edge,
        "",
        "POST",
        "/v1/events",
        &json!({ "event": "called", "customer": named, "metadata": { "note": "left-handed" } }),
    );
    call(
        edge,
        "",
        "POST",
        "/v1/segments",
        &json!({ "name": format!("with {number}"), "type": "static", "customers": [id] }),
    );
    call(
        edge,
        "",
        "POST",
        "/v1/validations",
        &json!({ "customer": named, "order": order(100), "redeemables": [{ "object": "voucher", "id": "OPEN" }],
        "session": { "type": "LOCK", "key": format!("cart of {number}") } }),
    );
    call(
        edge,
        "",
        "POST",
        "/v1/customers/bulk/async",
        &json!([{ "source_id": source, "name": name }, { "source_id": format!("c{number}") }]),
    );
    assert!(!redeemed["order"]["id"].is_null());
    id
}

fn counts_of(edge: &Edge) -> Json {
    let sums = edge.run(
        DEV,
        "SELECT json_array((SELECT COUNT(*) FROM transfer), (SELECT SUM(amount) FROM transfer), (SELECT COUNT(*) FROM account), (SELECT SUM(balance) FROM account),
           (SELECT COUNT(*) FROM document WHERE kind IN ('publication', 'voucher', 'redeemable_holder')),
           (SELECT COUNT(*) FROM redemption), (SELECT COUNT(*) FROM orders))",
        &[],
    );
    let SqlValue::Text(text) = &sums[0][0] else { panic!("sums") };
    let open = call(edge, "", "GET", "/v1/vouchers/OPEN", &Json::Null);
    json!([serde_json::from_str::<Json>(text).unwrap(), open["redemption"]["redeemed_quantity"]])
}

#[test]
fn no_table_contains_an_erased_customer() {
    let edge = Edge::new();
    let (anna, joanna) = shop(&edge);
    assert!(traces(&edge, &anna).len() > 25, "the shop says too little of her to prove anything");
    assert!(traces(&edge, &anna).iter().any(|row| row.starts_with("label_part")), "her name is found by its parts");
    let (before, of_joanna) = (counts_of(&edge), dump(&edge).into_iter().filter(|row| row.contains(&joanna)).count());
    let answer = call(&edge, "", "POST", &format!("/v1/customers/{anna}/permanent-deletion"), &json!({}));
    assert_eq!((&answer["status"], &answer["object"]), (&json!("DONE"), &json!("pernament_deletion")));
    assert_eq!(
        answer["data_json"],
        json!({ "events": 1, "customer_events": 0, "daily_events": 0, "segments": 1, "orders": 3, "order_events": 0, "customer": 1 })
    );
    check_erased(&edge, &anna);
    assert_eq!(counts_of(&edge), before, "counts and money are as they were");
    assert_eq!(
        dump(&edge).into_iter().filter(|row| row.contains(&joanna)).count(),
        of_joanna,
        "other customers are unchanged"
    );
    while edge.alarm(DEV, NOW) {}
    check_erased(&edge, &anna);
    assert_eq!(
        edge.count(DEV, "SELECT COUNT(*) FROM document WHERE kind = 'customer' AND body LIKE '%Anna Nowak%'"),
        0
    );
    check_used(&edge);
}

/// Checks that no data of Anna is left, and that Joanna, with the same telephone and address, still has hers.
fn check_erased(edge: &Edge, anna: &str) {
    for row in traces(edge, anna) {
        // Joanna sent these texts herself.
        let shared = ["+48 600 100 200", "Kwiatowa 7", "left-handed", "1990-05-17"];
        let hers = row.contains("Joanna") || row.contains("joanna");
        let left = PERSONAL
            .iter()
            .filter(|text| !hers || !shared.contains(text))
            .find(|text| row.replace("joanna@shop.example", "").replace("joanna%40shop.example", "").contains(**text));
        assert!(left.is_none() && !row.contains(anna), "{left:?} is left in {row}");
    }
}

/// Checks that the service works with the remaining data, and that a retry is not counted again.
fn check_used(edge: &Edge) {
    let listed = call(edge, "", "GET", "/v1/redemptions?limit=100", &Json::Null);
    let redemptions = listed["redemptions"].as_array().unwrap();
    let theirs: Vec<&Json> = redemptions
        .iter()
        .filter(|one| one["customer"]["id"].is_string() && one["customer"]["source_id"].is_null())
        .collect();
    assert_eq!(theirs.len(), 3, "{listed}");
    let alias = theirs[0]["customer_id"].as_str().unwrap();
    assert!(theirs.iter().all(|one| one["customer_id"] == alias && one["tracking_id"].is_null()));
    let undone = theirs.iter().find(|one| one["object"] == "redemption" && one["voucher"]["code"] == "OPEN").unwrap();
    call(edge, "", "POST", &format!("/v1/redemptions/{}/rollback", undone["id"].as_str().unwrap()), &json!({}));
    let again = json!({ "customer": { "source_id": "anna@shop.example" }, "order": { "amount": 1000, "metadata": { "ring": "at Anna Nowak's" } },
        "redeemables": [{ "object": "voucher", "id": "OPEN" }], "metadata": { "till": "Anna Nowak" } });
    let replayed = call(edge, "redeem 0", "POST", "/v1/redemptions", &again);
    assert_eq!(replayed["redemptions"][0]["id"], undone["id"]);
    assert_eq!(replayed["redemptions"][0]["customer_id"], alias);
    for path in [
        "/v1/orders?limit=100",
        "/v1/vouchers?limit=100",
        "/v1/customers?limit=99",
        "/v1/segments",
        "/v1/async-actions",
        "/v1/campaigns",
    ] {
        call(edge, "", "GET", path, &Json::Null);
    }
}

#[test]
fn a_customer_with_many_rows_is_erased_in_slices() {
    let edge = Edge::new();
    let (anna, _) = shop(&edge);
    let fill = "WITH RECURSIVE turn(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM turn WHERE n < 20000)
        INSERT INTO event (is_named, id, created_at, body) SELECT 1, 'evnt_' || n, 5, '{}' FROM turn";
    edge.run(DEV, fill, &[]);
    let late = json!({ "id": "evnt_last", "customer": { "source_id": "anna@shop.example", "object": "customer" } })
        .to_string();
    edge.run(DEV, "INSERT INTO event (is_named, id, created_at, body) VALUES (1, 'evnt_last', 5, ?1)", &[late.into()]);
    let answer = call(&edge, "", "POST", "/v1/customers/anna@shop.example/permanent-deletion", &json!({}));
    assert_eq!(answer["status"], "IN_PROGRESS");
    let mut pieces: i64 = 0;
    // Between two steps of overwriting free pages time passes.
    while edge.alarm_of(DEV, NOW + pieces * 1_000, 500) {
        // Pending work contains no data of hers itself.
        let waits = edge.run(DEV, "SELECT cursor FROM due", &[]);
        assert!(!format!("{waits:?}").contains("anna@"), "{waits:?}");
        pieces += 1;
    }
    assert!(pieces > 20, "{pieces}");
    check_erased(&edge, &anna);
    assert_eq!(edge.count(DEV, "SELECT COUNT(*) FROM scratch"), 0);
}

/// Pending webhook deliveries and lines of exports are copies too. The webhook for her deletion contains only her id.
#[test]
fn deliveries_and_exports_contain_no_erased_customer() {
    let edge = Edge::new();
    let webhook = json!({ "target_url": "https://hooks.shop.example/in",
        "events": ["customer.created", "customer.updated", "customer.deleted", "redemption.succeeded", "publication.succeeded", "voucher.published"] });
    call(&edge, "", "POST", &format!("/management/v1/projects/{DEV}/webhooks"), &webhook);
    let (anna, joanna) = shop(&edge);
    // An event of Joanna's under a name that identifies Anna.
    let redemption = json!({ "customer": { "source_id": "joanna@shop.example" }, "order": { "amount": 700 },
        "redeemables": [{ "object": "voucher", "id": "OPEN" }], "metadata": { "for": "anna@shop.example" } });
    call(&edge, "", "POST", "/v1/redemptions", &redemption);
    for exported in [
        json!({ "exported_object": "customer", "parameters": { "fields": ["name", "email", "source_id"] } }),
        json!({ "exported_object": "redemption", "parameters": { "fields": ["id", "customer_id", "customer_source_id", "metadata"] } }),
    ] {
        call(&edge, "", "POST", "/v1/exports", &exported);
    }
    while edge.alarm(DEV, NOW) {}
    let of = |table: &str, name: &str| {
        dump(&edge).into_iter().filter(|row| row.starts_with(table) && row.contains(name)).count()
    };
    // The one line of hers that names Anna is removed with Anna; her others stay.
    let own = |row: &String| row.contains("joanna@") && !row.replace("joanna@", "").contains("anna@");
    let lines_of_joanna = || dump(&edge).into_iter().filter(|row| row.starts_with("export_line:") && own(row)).count();
    let joanna_before = (of("outbox:", "joanna@shop.example"), lines_of_joanna());
    assert_eq!(joanna_before.1 + 1, of("export_line:", "joanna@shop.example"), "one line names both");
    assert!(of("outbox:", "\"anna@shop.example") > 3 && of("outbox:", &anna) > 3, "letters say too little of her");
    assert!(
        of("export_line:", &anna) > 1 && of("export_line:", ",anna@shop.example") > 0,
        "exports say too little of her"
    );
    let answer = call(&edge, "", "POST", &format!("/v1/customers/{anna}/permanent-deletion"), &json!({}));
    assert_eq!(answer["object"], "pernament_deletion");
    while edge.alarm(DEV, NOW) {}
    let rows = |table: &str| dump(&edge).into_iter().filter(|row| row.starts_with(table)).collect::<Vec<_>>();
    for row in [rows("outbox:"), rows("export_line:")].concat() {
        let others = row.replace("joanna@shop.example", "").replace(",Joanna,", "");
        for text in ["anna@shop.example", "anna.old@shop.example", "Anna Nowak"] {
            assert!(!others.contains(text), "{text} is left in {row}");
        }
        assert!(!row.contains(&anna) || row.contains("customer.deleted"), "her id is left in {row}");
    }
    let deleted: Vec<String> = rows("outbox:").into_iter().filter(|row| row.contains("customer.deleted")).collect();
    assert!(
        deleted.len() == 1 && deleted[0].contains(&anna),
        "the webhook of customers gets the event once: {deleted:?}"
    );
    assert_eq!((of("outbox:", "joanna@shop.example"), lines_of_joanna()), joanna_before);
    assert_eq!(of("export_line:", "joanna@shop.example"), joanna_before.1, "the line that named both is gone");
    assert!(of("outbox:", &joanna) > 3, "other customers are unchanged");
    let stuck = "SELECT COUNT(*) FROM outbox WHERE at IS NULL AND dead_at IS NULL AND seq IN (SELECT MIN(seq) FROM outbox GROUP BY entity)";
    assert_eq!(edge.count(DEV, stuck), 0, "what waited behind a letter that is gone is tried");
}

/// Customers who are erased together share the work that overwrites free pages: the file grows as for one.
#[test]
fn erasing_many_customers_grows_the_file_like_one() {
    const CUSTOMERS: usize = 50;
    let edge = Edge::new();
    for number in 0..CUSTOMERS {
        call(&edge, "", "POST", "/v1/customers", &json!({ "source_id": format!("c{number}"), "name": "Name" }));
    }
    let bytes = || edge.count(DEV, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    let before = bytes();
    for number in 0..CUSTOMERS {
        call(&edge, "", "POST", &format!("/v1/customers/c{number}/permanent-deletion"), &json!({}));
    }
    let (mut now, mut pieces) = (NOW, 0);
    while edge.count(DEV, "SELECT COUNT(*) FROM due WHERE kind IN ('CUSTOMERS.PERMANENT_DELETION', 'FREE_PAGES')") > 0 {
        // Many slices run in the time between two steps of the filling.
        now += 20;
        pieces += usize::from(edge.alarm(DEV, now));
        assert!(now < NOW + 3_600_000, "the work does not end");
    }
    let grown = bytes() - before;
    assert!(grown < 13_000_000, "the file grew by {grown} bytes");
    assert!(pieces < CUSTOMERS * 6 + 20, "{pieces} pieces");
    let left = edge.count(DEV, "SELECT COUNT(*) FROM scratch");
    assert_eq!(left, 0);
}

/// Imports of files and of lists go on without the rows of a customer who is erased meanwhile, and with all others.
#[test]
fn queued_imports_do_not_bring_an_erased_customer_back() {
    for with_email in [false, true] {
        for is_file in [false, true] {
            let edge = Edge::new();
            let email = if with_email { json!("who@mail.example") } else { Json::Null };
            call(&edge, "", "POST", "/v1/customers", &json!({ "source_id": "who", "email": email }));
            let names: Vec<String> = (0..120)
                .map(|number| if number % 50 == 7 { "who".to_owned() } else { format!("other-{number}") })
                .collect();
            let action = match is_file {
                true => {
                    let rows = names.iter().map(|name| {
                        format!("{name},{},who\n", email.as_str().filter(|_| name == "who").unwrap_or_default())
                    });
                    send_file(
                        &edge,
                        "/v1/customers/importCSV",
                        &format!("source_id,email,Metadata.note\n{}", rows.collect::<String>()),
                    )
                }
                false => {
                    let items: Vec<Json> = names.iter().map(|name| json!({ "source_id": name })).collect();
                    call(&edge, "", "POST", "/v1/customers/bulk/async", &json!(items))
                }
            };
            // Ten rows are written, one of them the customer's.
            edge.alarm_of(DEV, NOW, 100);
            call(&edge, "", "POST", "/v1/customers/who/permanent-deletion", &json!({}));
            for turn in 1..500 {
                if !edge.alarm_of(DEV, NOW + turn * 1_000, 100) {
                    break;
                }
            }
            let id = action["async_action_id"].as_str().unwrap();
            let done = call(&edge, "", "GET", &format!("/v1/async-actions/{id}"), &Json::Null);
            assert_eq!((&done["status"], &done["result"]["failed_count"]), (&json!("DONE"), &json!(0)), "{done}");
            let found = "SELECT COUNT(*) FROM document WHERE kind = 'customer'";
            assert_eq!(edge.count(DEV, found), 117, "all others, file: {is_file}");
            assert_eq!(
                edge.count(DEV, &format!("{found} AND key = 'who'")),
                0,
                "file: {is_file}, e-mail: {with_email}"
            );
        }
    }
}

/// Lists and files of products name no customers, even with equal ids: they are written, without the customer's addresses.
#[test]
fn an_erasure_leaves_queued_goods() {
    let edge = Edge::new();
    call(&edge, "", "POST", "/v1/customers", &json!({ "source_id": "1001", "email": "who@mail.example" }));
    send_file(&edge, "/v1/products/importCSV", "source_id,name,Maker\n1001,Cup,by who@mail.example\n1002,Mug,\n");
    for source_id in ["1001", "1003"] {
        call(&edge, "", "POST", "/v1/products", &json!({ "source_id": source_id, "name": "Cup" }));
    }
    let items = json!([
        { "source_id": "1001", "price": 100, "metadata": { "by": "who@mail.example" } },
        { "source_id": "1003", "price": 300 }
    ]);
    call(&edge, "", "POST", "/v1/products/bulk/async", &items);
    call(&edge, "", "POST", "/v1/customers/1001/permanent-deletion", &json!({}));
    while edge.alarm(DEV, NOW) {}
    let products = "SELECT COUNT(*) FROM document WHERE kind = 'product'";
    assert_eq!(edge.count(DEV, products), 3);
    assert_eq!(edge.count(DEV, &format!("{products} AND json_extract(body, '$.price') > 0")), 2);
    assert_eq!(edge.count(DEV, &format!("{products} AND body LIKE '%who@mail%'")), 0);
}

fn send_file(edge: &Edge, path: &str, file: &str) -> Json {
    let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token"), ("content-type", "text/csv")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let request =
        Request { method: "POST".into(), path: path.into(), query: String::new(), headers, body: file.into() };
    let reply = edge.send(request, NOW, None);
    assert!(reply.status < 300, "{}", String::from_utf8_lossy(&reply.body));
    serde_json::from_slice(&reply.body).unwrap()
}
