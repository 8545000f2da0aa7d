//! Finds the places where a client's request may name an object: every text field of body and query, from the tables of the routes. The
//! rest of the request would succeed.

use super::fixtures::CODES;
use scrip_worker::http::caller::CredentialClass;
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::routes::AREAS;
use serde_json::{Value as Json, json};

/// A request that names objects of another customer.
pub struct Attempt {
    /// The names and their places.
    pub description: String,
    pub query: String,
    pub body: Option<Json>,
}

/// The routes that a page's key or a client token opens.
pub fn reachable() -> impl Iterator<Item = &'static Route> {
    let all = AREAS.iter().flat_map(|area| area.iter());
    // The address of a part of a bundle is the same for every caller.
    all.filter(|route| !route.classes.contains(&CredentialClass::Bundle))
        .filter(|route| route.classes.contains(&CredentialClass::Client) || route.is_client_side())
        .filter(|route| !route.path.starts_with("/test-hooks/"))
}

/// Returns requests of a route that succeed without names of the other customer's objects.
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
            vec![(String::new(), Some(profile("guest"))), (String::new(), Some(json!({ "name": "Unnamed" })))]
        }
        "/client/v1/customers/{customerId}/consents" => vec![(String::new(), Some(json!({ "consent": true })))],
        "/client/v1/vouchers" => {
            vec![(String::new(), None), ("limit=100&order=code".into(), None), ("customer=guest".into(), None)]
        }
        "/client/v1/promotions/tiers"
        | "/client/v1/bundle"
        | "/client/v1/bundle/feed"
        | "/client/v1/bundle/me"
        | "/client/v1/jwks"
        | "/client/v1/consents" => vec![(String::new(), None)],
        path => panic!("a page reaches {path}: say here how it is asked"),
    }
}

/// A path to a field: a member, or the first element of a list.
type FieldPath = Vec<Option<&'static str>>;

/// Collects every text field of some fields.
fn places(fields: &'static [Field], way: &FieldPath, into: &mut Vec<FieldPath>) {
    for field in fields {
        let mut here = way.clone();
        here.push(Some(field.name));
        below(&field.kind, here, into);
    }
}

fn below(kind: &'static FieldType, mut way: FieldPath, into: &mut Vec<FieldPath>) {
    match kind {
        FieldType::Text | FieldType::Name(_) => into.push(way),
        FieldType::Object(fields) => places(fields, &way, into),
        FieldType::List(item, _, _) => {
            way.push(None);
            below(item, way, into);
        }
        // Free names of the caller: a member with the name of its content.
        FieldType::Map | FieldType::Open(..) | FieldType::Any => {
            for member in ["id", "source_id"] {
                let mut way = way.clone();
                way.push(Some(member));
                into.push(way);
            }
        }
        FieldType::Int(..)
        | FieldType::Number(..)
        | FieldType::Bool
        | FieldType::Date
        | FieldType::DateTime
        | FieldType::Duration
        | FieldType::Clock
        | FieldType::HttpsUrl => {}
        FieldType::Named(shape) => below(&shape.kind, way, into),
        FieldType::Either(kinds) => below(&kinds[0], way, into),
        FieldType::OneOf(_) | FieldType::MapOf(_) => {}
    }
}

/// Returns the object with a text at a path, which is created where it is missing.
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

/// Returns true if a path names the customer, the order or the lock.
fn is_name(way: &FieldPath) -> bool {
    let last = way.last().copied().flatten().unwrap_or_default();
    way.len() <= 3 && matches!(last, "id" | "source_id" | "key" | "tracking_id" | "customer_id" | "referrer_id")
}

fn shown(way: &FieldPath) -> String {
    way.iter().map(|step| step.map_or("[0]".to_owned(), |name| format!(".{name}"))).collect()
}

/// Names that are bearer secrets: a validation or redemption accepts them from every caller (docs/spec/calculation.md#19, D25).
const BEARER: [&str; 2] = ["code", "gift card"];

/// The routes that validate and redeem.
const DECIDED: [&str; 4] =
    ["/client/v1/validations", "/client/v1/redemptions", "/client/v1/redeem", "/client/v1/validate"];

/// Returns all attempts for a route; without `thorough` only in the fields that name the customer, the order or the lock.
pub fn attempts(route: &'static Route, names: &[(&'static str, String)], thorough: bool) -> Vec<Attempt> {
    let is_decided = DECIDED.contains(&route.path);
    let names: Vec<_> = names.iter().filter(|(member, _)| !(is_decided && BEARER.contains(member))).cloned().collect();
    let names = names.as_slice();
    let mut all = Vec::new();
    for (number, (query, body)) in bases(route).into_iter().enumerate() {
        if let Some(body) = &body {
            let mut ways = Vec::new();
            places(route.body, &Vec::new(), &mut ways);
            // Results of the first caller need no repetition, except for other customers, redeemables and locks.
            ways.retain(|way| (thorough && number == 0) || is_name(way));
            for way in &ways {
                for (member, name) in names {
                    let mut body = body.clone();
                    put(&mut body, way, &name.as_str().into());
                    all.push(Attempt {
                        description: format!("{} of the {member}, {body}", shown(way)),
                        query: query.clone(),
                        body: Some(body),
                    });
                }
            }
        }
        for field in route.query {
            let keys = match field.kind {
                FieldType::Map => {
                    vec![format!("{}[source_id]", field.name), format!("{}[id]", field.name), field.name.to_owned()]
                }
                _ => vec![field.name.to_owned()],
            };
            for key in keys {
                for (member, name) in names {
                    let kept: Vec<&str> = query
                        .split('&')
                        .filter(|pair| !pair.is_empty() && !pair.starts_with(&format!("{key}=")))
                        .collect();
                    let query =
                        kept.into_iter().chain([format!("{key}={name}").as_str()]).collect::<Vec<_>>().join("&");
                    all.push(Attempt { description: format!("?{query} of the {member}"), query, body: body.clone() });
                }
            }
        }
        if let (Some(body), true) = (&body, all.len() > 1) {
            all.extend(together(&query, body, names));
        }
        if route.body.is_empty() && route.query.is_empty() {
            all.push(Attempt { description: "as it is".into(), query, body });
        }
    }
    all
}

/// Returns attempts with several names at once: a code with its holder, an order with its customer and a new status, a card with a reward,
/// a lock with its key.
fn together(query: &str, body: &Json, names: &[(&'static str, String)]) -> Vec<Attempt> {
    let find = |member: &str| names.iter().find(|(label, _)| *label == member).map(|(_, name)| name.clone());
    let name = |member: &str| find(member).unwrap();
    let customers = [
        json!({ "source_id": name("customer's source_id") }),
        json!({ "id": name("customer's id") }),
        json!({ "source_id": name("customer's source_id"), "email": "mine@now.example", "name": "Mine", "metadata": { "vip": true, "spent": 5000 } }),
    ];
    let mut changes: Vec<Json> = Vec::new();
    for customer in &customers {
        changes.push(json!({ "customer": customer }));
        changes.push(json!({ "order": { "source_id": "mine", "amount": 5000, "customer": customer } }));
        for code in ["code", "gift card", "loyalty card"].into_iter().filter_map(find) {
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": code }] }));
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": code, "gift": { "credits": 100 } }] }));
            changes.push(json!({ "customer": customer, "redeemables": [{ "object": "voucher", "id": code, "reward": { "id": name("reward"), "points": 50 } }] }));
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
        if let Some(code) = find("code") {
            changes.push(json!({ "customer": customer, "voucher": code, "campaign": null }));
        }
    }
    changes
        .into_iter()
        .map(|change| {
            let mut body = body.clone();
            for (field, value) in change.as_object().unwrap() {
                body[field] = value.clone();
            }
            Attempt { description: format!("{change} in {body}"), query: query.to_owned(), body: Some(body) }
        })
        .collect()
}
