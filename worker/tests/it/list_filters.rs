//! Tests the selection, order and totals of lists against a naive reading of the whole list, after documents are created, changed, redeemed
//! and deleted. It uses every filter that an index or a stored count answers.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use serde_json::{Value as Json, json};
use std::cell::Cell;

const NOW: i64 = 1_772_323_200_000;

/// Compares a text of a document with another one.
type Test = fn(&str, &str) -> bool;

struct Shop {
    edge: Edge,
    now: Cell<i64>,
}

impl Shop {
    fn send(&self, method: &str, path: &str, query: &str, body: &Json) -> Reply {
        let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        // Several documents in one second, one document in a second, and hours in between.
        let step = [3, 400, 1_000, 7_300, 61_000, 1_300_000][usize::try_from(self.now.get() % 6).unwrap()];
        self.now.set(self.now.get() + step + 1);
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        self.edge.send(Request { method, path, query, headers, body }, self.now.get(), None)
    }

    fn call(&self, method: &str, path: &str, body: Json) -> Json {
        let reply = self.send(method, path, "", &body);
        assert!(reply.status < 300, "{method} {path}: {}", String::from_utf8_lossy(&reply.body));
        serde_json::from_slice(&reply.body).unwrap_or_default()
    }

    /// Returns a page of a list with its total.
    fn page(&self, path: &str, query: &str) -> (Vec<Json>, i64) {
        let reply = self.send("GET", path, query, &Json::Null);
        let mut answer: Json = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(reply.status, 200, "{path}?{query}: {answer}");
        let data_ref = answer["data_ref"].as_str().unwrap().to_owned();
        let Json::Array(item) = answer[data_ref].take() else { panic!("{path}?{query}: {answer}") };
        (item, answer["total"].as_i64().unwrap())
    }

    /// All pages of a list.
    fn all(&self, path: &str, query: &str) -> (Vec<Json>, i64) {
        let (mut all, mut number) = (Vec::new(), 1);
        loop {
            let (item, total) = self.page(path, &format!("{query}&limit=7&page={number}"));
            let is_last = item.len() < 7;
            all.extend(item);
            if is_last {
                return (all, total);
            }
            number += 1;
        }
    }

    /// Compares the result of a query with the elements of the whole list that pass a test, in an order of the whole list.
    fn check(&self, path: &str, query: &str, test: impl Fn(&Json) -> bool) {
        let (all_items, _) = self.all(path, "");
        let expected: Vec<&Json> = all_items.iter().filter(|item| test(item)).collect();
        let (found, total) = self.all(path, query);
        let ids = |list: &[&Json]| list.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(ids(&found.iter().collect::<Vec<_>>()), ids(&expected), "{path}?{query}");
        assert_eq!(total, i64::try_from(expected.len()).unwrap(), "{path}?{query}");
    }

    /// Compares an order with the whole list sorted by the named field; equal elements are sorted by age.
    fn check_order(&self, path: &str, order: &str, name: &str) {
        let (mut all_items, _) = self.all(path, "order=created_at");
        all_items.sort_by_key(|item| item[name].as_str().map(str::to_owned));
        for falls in [false, true] {
            if falls {
                all_items.reverse();
            }
            let sign = if falls { "-" } else { "" };
            let (found, _) = self.all(path, &format!("order={sign}{order}"));
            let ids = |list: &[Json]| list.iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
            assert_eq!(ids(&found), ids(&all_items), "{path}?order={sign}{order}");
        }
    }
}

/// Creates campaigns with codes, single codes, customers and redemptions; some of each are changed and deleted.
fn shop() -> Shop {
    let shop = Shop { edge: Edge::new(), now: Cell::new(NOW) };
    let voucher = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } });
    let friends =
        json!({ "name": "friends", "campaign_type": "REFERRAL_PROGRAM", "vouchers_count": 3, "voucher": voucher });
    shop.call("POST", "/v1/campaigns", friends);
    for name in ["spring", "autumn", "short"] {
        let voucher = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } });
        let body =
            json!({ "name": name, "campaign_type": "DISCOUNT_COUPONS", "vouchers_count": 9, "voucher": voucher });
        shop.call("POST", "/v1/campaigns", body);
    }
    for name in ["new", "old's", "Üb\"er", "late"] {
        shop.call("POST", "/v1/categories", json!({ "name": name, "hierarchy": 0 }));
    }
    for at in 0..24 {
        let kind = match at % 3 {
            0 => json!({ "type": "GIFT_VOUCHER", "gift": { "amount": 1_000 } }),
            _ => json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } }),
        };
        let mut body = kind;
        if at % 4 != 0 {
            body["category"] = ["new", "old's", "Üb\"er"][at % 3].into();
        }
        if at % 5 == 0 {
            body["active"] = false.into();
        }
        if at % 3 != 2 {
            body["start_date"] = format!("2026-0{}-01T00:00:00Z", 1 + at % 4).into();
            body["expiration_date"] = format!("2027-0{}-01T00:00:00Z", 1 + at % 5).into();
        }
        shop.call("POST", &format!("/v1/vouchers/Code{at}"), body);
    }
    for at in 0..17 {
        let (city, name) = (["Köln", "Aachen", "köln"][at % 3], ["Anna Lang", "Bert", "Hannah"][at % 3]);
        let customer = json!({
            "source_id": format!("c{at}"), "name": name, "email": format!("p{}@example.com", at % 5), "address": { "city": city },
        });
        shop.call("POST", "/v1/customers", customer);
    }
    for at in 0..20 {
        let code = ["Code1", "Code2", "Code3", "other's"][at % 4];
        let body = json!({
            "redeemables": [{ "object": "voucher", "id": code, "gift": { "credits": 1 } }],
            "order": { "amount": 1_000 }, "customer": { "source_id": format!("c{}", at % 3) },
        });
        shop.send("POST", "/v1/redemptions", "", &body);
    }
    let (codes, _) = shop.page("/v1/vouchers", "campaign=spring&limit=3");
    let (free, _) = shop.page("/v1/vouchers", "campaign=autumn&limit=2");
    for (at, code) in codes.iter().enumerate() {
        let body = json!({
            "redeemables": [{ "object": "voucher", "id": code["code"] }], "order": { "amount": 1_000 },
            "customer": { "source_id": format!("c{at}") },
        });
        shop.call("POST", "/v1/redemptions", body);
    }
    for (code, force) in [("Code4", "true"), ("Code5", "false")] {
        assert_eq!(
            shop.send("DELETE", &format!("/v1/vouchers/{code}"), &format!("force={force}"), &Json::Null).status,
            204
        );
    }
    for code in &free {
        shop.call("PUT", &format!("/v1/vouchers/{}", code["code"].as_str().unwrap()), json!({ "category": "new" }));
    }
    shop.call("PUT", "/v1/vouchers/Code7", json!({ "category": "late" }));
    shop.call("PUT", "/v1/customers/c3", json!({ "address": { "city": "Bonn" }, "email": "other@example.com" }));
    assert_eq!(shop.send("DELETE", "/v1/customers/c9", "", &Json::Null).status, 204);
    let published = json!({ "customer": { "source_id": "c1" }, "campaign": { "name": "autumn", "count": 1 } });
    shop.call("POST", "/v1/publications", published);
    assert_eq!(shop.send("DELETE", "/v1/campaigns/short", "force=true", &Json::Null).status, 202);
    while shop.edge.alarm("proj_dev", shop.now.get() + 60_000) {}
    shop
}

fn text<'j>(item: &'j Json, path: &str) -> &'j str {
    item.pointer(path).and_then(Json::as_str).unwrap_or_default()
}

#[test]
fn voucher_filters_equal_a_naive_reading() {
    let shop = shop();
    const PATH: &str = "/v1/vouchers";
    let (all_items, _) = shop.all(PATH, "");
    assert!(all_items.len() > 30, "{}", all_items.len());
    shop.check(PATH, "", |_| true);
    for name in ["spring", "autumn", "short", "none"] {
        shop.check(PATH, &format!("campaign={name}"), |code| text(code, "/campaign") == name);
        let id = all_items
            .iter()
            .find(|code| text(code, "/campaign") == name)
            .map_or("x", |code| text(code, "/campaign_id"));
        shop.check(PATH, &format!("campaign_id={id}"), |code| text(code, "/campaign_id") == id);
        shop.check(PATH, &format!("campaign_id={id}&category=new"), |code| {
            text(code, "/campaign_id") == id && text(code, "/category") == "new"
        });
        shop.check(
            PATH,
            &format!("filters[campaign_ids][conditions][$in][0]={id}&filters[campaign_ids][conditions][$in][1]=y"),
            |code| text(code, "/campaign_id") == id,
        );
    }
    for category in ["new", "old's", "Üb\"er", "late", "none"] {
        shop.check(PATH, &format!("category={category}"), |code| text(code, "/category") == category);
        shop.check(
            PATH,
            &format!("filters[categories][conditions][$is]={category}&filters[type][conditions][$is]=GIFT_VOUCHER"),
            |code| text(code, "/category") == category && text(code, "/type") == "GIFT_VOUCHER",
        );
        shop.check(PATH, &format!("filters[junction]=or&filters[categories][conditions][$is]={category}&filters[code][conditions][$is]=Code1"), |code| {
            text(code, "/category") == category || text(code, "/code") == "Code1"
        });
        shop.check(
            PATH,
            &format!("filters[categories][conditions][$in][0]={category}&filters[categories][conditions][$in][1]=new"),
            |code| [category, "new"].contains(&text(code, "/category")),
        );
    }
    for kind in ["GIFT_VOUCHER", "DISCOUNT_VOUCHER", "LOYALTY_CARD"] {
        shop.check(PATH, &format!("filters[voucher_type][conditions][$is]={kind}"), |code| text(code, "/type") == kind);
        shop.check(PATH, &format!("filters[voucher_type][conditions][$is_not]={kind}"), |code| {
            text(code, "/type") != kind
        });
    }
    shop.check(PATH, "filters[code]=Code8", |code| text(code, "/code") == "Code8");
    for (order, name) in [("code", "code"), ("updated_at", "updated_at"), ("created_at", "created_at")] {
        shop.check_order(PATH, order, name);
    }
}

#[test]
fn deep_voucher_filters_equal_an_index() {
    const PATH: &str = "/v1/vouchers";
    let shop = shop();
    let (all_items, _) = shop.all(PATH, "");
    for name in ["spring", "autumn", "none"] {
        shop.check(PATH, &format!("filters[campaign_name][conditions][$is]={name}"), |code| {
            text(code, "/campaign") == name
        });
        shop.check(
            PATH,
            &format!("filters[campaigns][conditions][$in][0]={name}&filters[campaigns][conditions][$in][1]=spring"),
            |code| [name, "spring"].contains(&text(code, "/campaign")),
        );
        shop.check(PATH, &format!("filters[campaign_name][conditions][$is_not]={name}"), |code| {
            text(code, "/campaign") != name
        });
        shop.check(
            PATH,
            &format!("filters[junction]=or&filters[campaign_name][conditions][$is]={name}&filters[code]=Code1"),
            |code| text(code, "/campaign") == name || text(code, "/code") == "Code1",
        );
    }
    for category in all_items.iter().filter_map(|code| code["category_id"].as_str()).chain(["none"]) {
        shop.check(PATH, &format!("filters[category_ids][conditions][$is]={category}"), |code| {
            text(code, "/category_id") == category
        });
    }
    shop.check(PATH, "filters[active][conditions][$disabled]=true", |code| code["active"] == false);
    shop.check(PATH, "filters[active][conditions][$enabled]=true", |code| code["active"] == true);
    shop.check(PATH, "filters[active][conditions][$disabled]=true&category=new", |code| {
        code["active"] == false && text(code, "/category") == "new"
    });
    shop.check(PATH, "filters[is_referral_code][conditions][$is]=true", |code| code["is_referral_code"] == true);
    shop.check(PATH, "filters[is_referral_code][conditions][$is]=false", |code| code["is_referral_code"] != true);
    for (name, at) in [("start_date", "2026-02-01T00:00:00.000Z"), ("expiration_date", "2027-03-01T00:00:00.000Z")] {
        let path = format!("/{name}");
        shop.check(PATH, &format!("filters[{name}][conditions][$before]={at}"), |code| {
            code[name].is_string() && text(code, &path) < at
        });
        shop.check(PATH, &format!("filters[{name}][conditions][$more_than_equal]={at}"), |code| {
            text(code, &path) >= at
        });
        shop.check(PATH, &format!("filters[{name}][conditions][$after]={at}&filters[type]=GIFT_VOUCHER"), |code| {
            text(code, &path) > at && text(code, "/type") == "GIFT_VOUCHER"
        });
        shop.check(PATH, &format!("filters[{name}][conditions][$is_unknown]=true"), |code| code[name].is_null());
    }
    for begin in ["Code1", "Code", "code", "C", ""] {
        shop.check(PATH, &format!("filters[code][conditions][$starts_with]={begin}"), |code| {
            text(code, "/code").starts_with(begin)
        });
    }
}

#[test]
fn date_filters_are_exact_to_the_millisecond() {
    let shop = shop();
    for (path, made) in
        [("/v1/vouchers", "/created_at"), ("/v1/customers", "/created_at"), ("/v1/redemptions", "/date")]
    {
        let (all_items, _) = shop.all(path, "");
        let instants: Vec<String> = all_items.iter().map(|item| text(item, made).to_owned()).collect();
        for at in instants.iter().step_by(3) {
            shop.check(path, &format!("created_at[after]={at}"), |item| text(item, made) > at.as_str());
            shop.check(path, &format!("created_at[before]={at}"), |item| text(item, made) < at.as_str());
            let until = instants.first().unwrap();
            shop.check(path, &format!("created_at[after]={at}&created_at[before]={until}"), |item| {
                text(item, made) > at.as_str() && text(item, made) < until.as_str()
            });
        }
        for at in ["1970-01-01T00:00:00Z", "2026-03-01T12:00:00Z", "2026-03-01T00:10:20.500Z", "9999-01-01T00:00:00Z"] {
            shop.check(path, &format!("created_at[after]={at}"), |item| text(item, made) > at);
        }
    }
    let path = "/v1/vouchers";
    let (all_items, _) = shop.all(path, "");
    for item in all_items.iter().step_by(5) {
        let (made, changed) = (text(item, "/created_at"), text(item, "/updated_at"));
        let pairs: [(&str, Test); 4] = [
            ("$before", |own, at| own < at),
            ("$after", |own, at| own > at),
            ("$more_than_equal", |own, at| own >= at),
            ("$less_than_equal", |own, at| own <= at),
        ];
        for (operator, test) in pairs {
            let query = format!("filters[created_at][conditions][{operator}]={made}");
            shop.check(path, &query, |item| test(text(item, "/created_at"), made));
            let query = format!("filters[updated_at][conditions][{operator}]={changed}");
            if !changed.is_empty() {
                shop.check(path, &query, |item| {
                    item["updated_at"].is_string() && test(text(item, "/updated_at"), changed)
                });
                shop.check(path, &format!("{query}&category=new"), |item| {
                    item["updated_at"].is_string()
                        && test(text(item, "/updated_at"), changed)
                        && text(item, "/category") == "new"
                });
            }
        }
        shop.check(path, &format!("filters[created_at][conditions][$is]={made}"), |item| {
            text(item, "/created_at") == made
        });
    }
}

#[test]
fn a_named_day_filters_as_a_naive_reading() {
    let shop = shop();
    let path = "/v1/vouchers";
    let (all_items, _) = shop.all(path, "");
    let mut days: Vec<String> =
        all_items.iter().map(|code| text(code, "/updated_at").get(..10).unwrap_or_default().to_owned()).collect();
    days.extend(all_items.iter().map(|code| text(code, "/created_at").get(..10).unwrap_or_default().to_owned()));
    days.sort();
    days.dedup();
    assert!(days.len() > 1, "{days:?}");
    for name in ["created_at", "updated_at"] {
        let on = |code: &Json, day: &str| !day.is_empty() && text(code, &format!("/{name}")).starts_with(day);
        for day in days.iter().filter(|day| !day.is_empty()) {
            shop.check(path, &format!("filters[{name}][conditions][$is]={day}"), |code| on(code, day));
            shop.check(path, &format!("filters[{name}]={day}&filters[type]=GIFT_VOUCHER"), |code| {
                on(code, day) && text(code, "/type") == "GIFT_VOUCHER"
            });
            let list =
                format!("filters[{name}][conditions][$in][0]={day}&filters[{name}][conditions][$in][1]=2026-03-01");
            shop.check(path, &list, |code| on(code, day) || on(code, "2026-03-01"));
            shop.check(path, &format!("filters[{name}][conditions][$is_not]={day}"), |code| !on(code, day));
            let none = list.replace("$in", "$not_in");
            shop.check(path, &none, |code| !on(code, day) && !on(code, "2026-03-01"));
            let either = format!("filters[junction]=OR&filters[{name}][conditions][$is_not]={day}&filters[code]=Code1");
            shop.check(path, &either, |code| !on(code, day) || text(code, "/code") == "Code1");
            let either = format!("filters[junction]=OR&filters[{name}][conditions][$is]={day}&filters[code]=Code1");
            shop.check(path, &either, |code| on(code, day) || text(code, "/code") == "Code1");
        }
    }
    // Above the scan limit of a list, the index skips everything that was created and changed on other days.
    shop.edge.run(
        "proj_dev",
        "WITH RECURSIVE number (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM number WHERE at < 40001)
         INSERT INTO document (kind, id, created_at, updated_at, body) SELECT 'voucher', 'v_' || at, 1000 * at, 1000 * at, json_object(
           'id', 'v_' || at, 'code', 'v_' || at, 'type', 'DISCOUNT_VOUCHER', 'created_at', '1970-01-01T00:00:00.000Z', 'updated_at', '1970-01-01T00:00:00.000Z') FROM number",
        &[],
    );
    for (name, more) in
        [("created_at", ""), ("updated_at", ""), ("created_at", "&filters[code][conditions][$contains]=Code")]
    {
        for values in [
            "[$is]=2026-03-01".to_owned(),
            format!("[$in][0]=2026-03-01&filters[{name}][conditions][$in][1]=2026-03-02"),
        ] {
            let query = format!("filters[{name}][conditions]{values}{more}");
            let reply = shop.send("GET", path, &query, &Json::Null);
            assert_eq!(reply.status, 200, "{query}: {}", String::from_utf8_lossy(&reply.body));
        }
    }
}

#[test]
fn customer_and_redemption_filters_equal_a_naive_reading() {
    let shop = shop();
    let path = "/v1/customers";
    for at in 0..6 {
        let address = format!("p{at}@example.com");
        shop.check(path, &format!("email={address}"), |item| text(item, "/email") == address);
        shop.check(path, &format!("email={address}&city=Aachen"), |item| {
            text(item, "/email") == address && text(item, "/address/city") == "Aachen"
        });
        shop.check(path, &format!("email={address}&name=ann"), |item| {
            text(item, "/email") == address && text(item, "/name").to_lowercase().contains("ann")
        });
    }
    for city in ["Köln", "köln", "Bonn", "Aachen", "none"] {
        shop.check(path, &format!("city={city}"), |item| text(item, "/address/city") == city);
    }
    for name in ["ann", "BERT", "an", "zz"] {
        shop.check(path, &format!("name={name}"), |item| {
            text(item, "/name").to_lowercase().contains(&name.to_lowercase())
        });
    }
    shop.check_order(path, "source_id", "source_id");
    shop.check_order(path, "updated_at", "updated_at");
    let path = "/v1/redemptions";
    for result in ["SUCCESS", "FAILURE", "none"] {
        shop.check(path, &format!("result={result}"), |item| text(item, "/result") == result);
        shop.check(path, &format!("filters[result][conditions][$is]={result}"), |item| text(item, "/result") == result);
    }
    for code in ["Code1", "other's", "none"] {
        shop.check(path, &format!("filters[voucher_code][conditions][$is]={code}"), |item| {
            text(item, "/voucher/code") == code
        });
        shop.check(path, &format!("filters[voucher_code][conditions][$is]={code}&result=SUCCESS"), |item| {
            text(item, "/voucher/code") == code && text(item, "/result") == "SUCCESS"
        });
    }
    shop.check(path, "campaign=spring", |item| text(item, "/voucher/campaign") == "spring");
    for at in 0..4 {
        let (customers, _) = shop.all("/v1/customers", "");
        let source_id = format!("c{at}");
        let id =
            customers.iter().find(|item| text(item, "/source_id") == source_id).map_or("x", |item| text(item, "/id"));
        shop.check(path, &format!("customer={source_id}"), |item| text(item, "/customer/id") == id);
        shop.check("/v1/vouchers", &format!("customer={source_id}"), |item| text(item, "/holder_id") == id);
    }
    shop.check("/v1/publications", "campaign=autumn", |item| text(item, "/voucher/campaign") == "autumn");
    shop.check("/v1/publications", "", |_| true);
    shop.check_order("/v1/orders", "updated_at", "updated_at");
}
