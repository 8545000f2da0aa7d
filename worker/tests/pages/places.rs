//! Where a request of a page may name something: every place of its body and query that takes a text, from the tables of the routes; and what
//! stands around it, a request that would be answered well.

use super::world::CODES;
use scrip_worker::http::caller::Class;
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, Kind};
use scrip_worker::table::AREAS;
use serde_json::{Value as Json, json};

/// A request that names somebody else's things.
pub struct Attempt {
    /// What is named where.
    pub told: String,
    pub query: String,
    pub body: Option<Json>,
}

/// The routes that a page's key or a client token opens.
pub fn reachable() -> impl Iterator<Item = &'static Route> {
    let all = AREAS.iter().flat_map(|area| area.iter());
    all.filter(|route| route.classes.contains(&Class::Client) || route.is_client_side())
        .filter(|route| !route.path.starts_with("/rehearsal/"))
}

/// Requests of a route that are answered well where nothing of somebody else's is named.
fn bases(route: &Route) -> Vec<(String, Option<Json>)> {
    let order =
        json!({ "source_id": "mine", "items": [{ "source_id": "shirt", "related_object": "product", "quantity": 2 }] });
    let of_codes = |code: &str| json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": order });
    match route.path {
        "/client/v1/validations" | "/client/v1/redemptions" => {
            CODES.iter().map(|code| (String::new(), Some(of_codes(code)))).collect()
        }
        "/client/v1/qualifications" => {
            ["ALL", "CUSTOMER_WALLET", "AUDIENCE_ONLY", "PRODUCTS_BY_CUSTOMER", "PRODUCTS_DISCOUNT_BY_CUSTOMER"]
                .iter()
                .map(|scenario| {
                    (String::new(), Some(json!({ "scenario": scenario, "order": order, "options": { "limit": 50 } })))
                })
                .collect()
        }
        "/client/v1/redeem" => {
            CODES.iter().map(|code| (format!("code={code}"), Some(json!({ "order": order })))).collect()
        }
        "/client/v1/validate" => CODES.iter().map(|code| (format!("code={code}&amount=5000"), None)).collect(),
        "/client/v1/publish" => vec![
            (String::new(), Some(json!({ "campaign": { "name": "Private" }, "customer": { "source_id": "guest" } }))),
            (
                "join_once=true".into(),
                Some(json!({ "campaign": { "name": "News" }, "customer": { "source_id": "guest" } })),
            ),
        ],
        "/client/v1/events" => {
            vec![(String::new(), Some(json!({ "event": "looked", "customer": { "source_id": "guest" } })))]
        }
        "/client/v1/customers" => {
            let profile = |name: &str| json!({ "source_id": name, "name": "Guest", "metadata": { "size": 4 } });
            vec![(String::new(), Some(profile("guest"))), (String::new(), Some(json!({ "name": "Nobody" })))]
        }
        "/client/v1/customers/{customerId}/consents" => vec![(String::new(), Some(json!({ "consent": true })))],
        "/client/v1/vouchers" => {
            vec![(String::new(), None), ("limit=100&order=code".into(), None), ("customer=guest".into(), None)]
        }
        "/client/v1/promotions/tiers" | "/client/v1/bundle" | "/client/v1/consents" => vec![(String::new(), None)],
        path => panic!("a page reaches {path}: say here how it is asked"),
    }
}

/// A step on the way to a place: a member, or the first of a list.
type Way = Vec<Option<&'static str>>;

/// Every place of some fields that takes a text.
fn places(fields: &'static [Field], way: &Way, into: &mut Vec<Way>) {
    for field in fields {
        let mut here = way.clone();
        here.push(Some(field.name));
        below(&field.kind, here, into);
    }
}

fn below(kind: &'static Kind, mut way: Way, into: &mut Vec<Way>) {
    match kind {
        Kind::Text | Kind::Name(_) => into.push(way),
        Kind::Object(fields) => places(fields, &way, into),
        Kind::List(item, _, _) => {
            way.push(None);
            below(item, way, into);
        }
        // What a caller names freely: a member called as what it holds.
        Kind::Map | Kind::Open(..) | Kind::Any => {
            for member in ["id", "source_id"] {
                let mut way = way.clone();
                way.push(Some(member));
                into.push(way);
            }
        }
        Kind::Int(..) | Kind::Number(..) | Kind::Bool | Kind::Date | Kind::DateTime | Kind::Duration | Kind::Clock => {}
        Kind::Named(shape) => below(&shape.kind, way, into),
        Kind::Either(kinds) => below(&kinds[0], way, into),
        Kind::OneOf(_) | Kind::MapOf(_) => {}
    }
}

/// The same object with a text at a place, made where it is not.
fn put(whole: &mut Json, way: &[Option<&'static str>], text: &Json) {
    let Some((step, rest)) = way.split_first() else {
        *whole = text.clone();
        return;
    };
    match step {
        Some(name) => {
            if !whole.is_object() {
                *whole = json!({});
            }
            let inner = whole.as_object_mut().unwrap().entry(*name).or_insert(Json::Null);
            put(inner, rest, text);
        }
        None => {
            if whole.as_array().is_none_or(|list| list.is_empty()) {
                *whole = json!([null]);
            }
            put(&mut whole[0], rest, text);
        }
    }
}

/// Whether a place names the customer, the order or the lock.
fn is_name(way: &Way) -> bool {
    let last = way.last().copied().flatten().unwrap_or_default();
    way.len() <= 3 && matches!(last, "id" | "source_id" | "key" | "tracking_id" | "customer_id" | "referrer_id")
}

fn shown(way: &Way) -> String {
    way.iter().map(|step| step.map_or("[0]".to_owned(), |name| format!(".{name}"))).collect()
}

/// Everything that can be tried with a route; not `thorough`, only in the places that name the customer, the order or the lock.
pub fn attempts(route: &'static Route, names: &[(&'static str, String)], thorough: bool) -> Vec<Attempt> {
    let mut all = Vec::new();
    for (number, (query, body)) in bases(route).into_iter().enumerate() {
        if let Some(body) = &body {
            let mut ways = Vec::new();
            places(route.body, &Vec::new(), &mut ways);
            // What the first finds out about a place no other need find out again, but for who asks, for what and under which lock.
            ways.retain(|way| (thorough && number == 0) || is_name(way));
            for way in &ways {
                for (what, name) in names {
                    let mut body = body.clone();
                    put(&mut body, way, &name.as_str().into());
                    all.push(Attempt {
                        told: format!("{} of the {what}, {body}", shown(way)),
                        query: query.clone(),
                        body: Some(body),
                    });
                }
            }
        }
        for field in route.query {
            let keys = match field.kind {
                Kind::Map => {
                    vec![format!("{}[source_id]", field.name), format!("{}[id]", field.name), field.name.to_owned()]
                }
                _ => vec![field.name.to_owned()],
            };
            for key in keys {
                for (what, name) in names {
                    let kept: Vec<&str> = query
                        .split('&')
                        .filter(|pair| !pair.is_empty() && !pair.starts_with(&format!("{key}=")))
                        .collect();
                    let query =
                        kept.into_iter().chain([format!("{key}={name}").as_str()]).collect::<Vec<_>>().join("&");
                    all.push(Attempt { told: format!("?{query} of the {what}"), query, body: body.clone() });
                }
            }
        }
        if let (Some(body), true) = (&body, all.len() > 1) {
            all.extend(together(&query, body, names));
        }
        if route.body.is_empty() && route.query.is_empty() {
            all.push(Attempt { told: "as it is".into(), query, body });
        }
    }
    all
}

/// What only several names at once could open: a code with its holder, an order with its buyer and a new status, a card with a reward, a lock
/// with its key.
fn together(query: &str, body: &Json, names: &[(&'static str, String)]) -> Vec<Attempt> {
    let name = |what: &str| names.iter().find(|(label, _)| *label == what).unwrap().1.clone();
    let customers = [
        json!({ "source_id": name("customer's source_id") }),
        json!({ "id": name("customer's id") }),
        json!({ "source_id": name("customer's source_id"), "email": "mine@now.example", "name": "Mine", "metadata": { "vip": true, "spent": 5000 } }),
    ];
    let mut changes: Vec<Json> = Vec::new();
    for customer in &customers {
        changes.push(json!({ "customer": customer }));
        changes.push(json!({ "order": { "source_id": "mine", "amount": 5000, "customer": customer } }));
        for code in ["code", "gift card", "loyalty card"] {
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": name(code) }] }));
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": name(code), "gift": { "credits": 100 } }] }));
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": name(code), "reward": { "id": name("reward"), "points": 50 } }] }));
        }
        for status in ["CREATED", "PAID", "CANCELED", "FULFILLED"] {
            for order in [
                json!({ "source_id": name("order's source_id"), "status": status }),
                json!({ "id": name("order's id"), "status": status }),
            ] {
                changes.push(json!({ "customer": customer, "order": order }));
            }
        }
        for kind in ["source_id", "id"] {
            let order = name(if kind == "id" { "order's id" } else { "order's source_id" });
            changes.push(json!({ "customer": customer, "order": { kind: order } }));
            changes.push(json!({ "customer": customer, "order": { kind: order, "amount": 5000 } }));
            changes.push(json!({ "customer": customer, "order": { kind: order, "items": [{ "product_id": "shirt", "quantity": 1 }] } }));
        }
        changes.push(json!({ "customer": customer, "session": { "type": "LOCK", "key": name("session") } }));
        changes.push(json!({ "customer": customer, "session": { "key": name("session") } }));
        changes.push(json!({ "customer": customer, "campaign": { "name": "News" } }));
        changes.push(json!({ "customer": customer, "voucher": name("code"), "campaign": null }));
    }
    changes
        .into_iter()
        .map(|change| {
            let mut body = body.clone();
            for (field, value) in change.as_object().unwrap() {
                body[field] = value.clone();
            }
            Attempt { told: format!("{change} in {body}"), query: query.to_owned(), body: Some(body) }
        })
        .collect()
}
