//! Tests that every published order of a list works, and that an unpublished one is refused with the supported ones.

use crate::in_process::Edge;
use scrip_worker::http::request::{Reply, Request};
use scrip_worker::http::route::Route;
use scrip_worker::http::shape::{Field, FieldType};
use scrip_worker::routes::AREAS;
use serde_json::Value as Json;
use std::collections::BTreeSet;

const NOW: i64 = 1_772_323_200_000;

const MEMBER: &str = "/v2/loyalties/programs/{programId}/members/{memberId}";
const CARD: &str = "/v2/loyalties/programs/{programId}/members/{memberId}/cards/{cardId}";

/// Names of path parameters of lists, and the calls that create the objects.
const SHOP: &[(&str, &str, &str)] = &[
    ("/v1/vouchers/{code}", "/v1/vouchers/thing", r#"{"type":"GIFT_VOUCHER","gift":{"amount":1}}"#),
    ("/v1/products/{productId}", "/v1/products", r#"{"id":"thing"}"#),
    ("/v1/customers/{customerId}", "/v1/customers", r#"{"source_id":"thing"}"#),
    ("/v1/validation-rules/{validationRuleId}", "/v1/validation-rules", r#"{"name":"thing"}"#),
    (
        "/v1/campaigns/{campaignId}",
        "/v1/campaigns",
        r#"{"name":"gifts","campaign_type":"GIFT_VOUCHERS","voucher":{"type":"GIFT_VOUCHER","gift":{"amount":1}}}"#,
    ),
    (
        "/v1/loyalties/{campaignId}",
        "/v1/campaigns",
        r#"{"name":"cards","campaign_type":"LOYALTY_PROGRAM","voucher":{"type":"LOYALTY_CARD","loyalty_card":{"points":1}}}"#,
    ),
    (
        "/v1/referrals/{campaignId}",
        "/v1/campaigns",
        r#"{"name":"friends","campaign_type":"REFERRAL_PROGRAM","voucher":{"discount":{"type":"AMOUNT","amount_off":1}}}"#,
    ),
    ("/v1/referrals/members/{memberId}", "/v1/campaigns/friends/vouchers/code", "{}"),
    ("/members/{memberId}", "/v1/campaigns/cards/vouchers/card", "{}"),
    (
        "/v2/loyalties/card-definitions/{cardDefinitionId}",
        "/v2/loyalties/card-definitions",
        r#"{"name":"thing","type":"INDIVIDUAL","status":"ACTIVE"}"#,
    ),
    (
        "/v2/loyalties/earning-rules/{earningRuleId}",
        "/v2/loyalties/earning-rules",
        r#"{"name":"thing","status":"ACTIVE","trigger":{"event":"customer.order.paid"},"earnings":[{"effects":[{"points":{"value":1,"card_definition_id":"{cardDefinitionId}"}}]}]}"#,
    ),
    (
        "/v2/loyalties/programs/{programId}",
        "/v2/loyalties/programs",
        r#"{"name":"thing","status":"ACTIVE","card_definitions":[{"id":"{cardDefinitionId}"}],"earning_rules":[{"id":"{earningRuleId}"}]}"#,
    ),
    ("/v1/customers/{customerId}", "/v1/customers", r#"{"source_id":"thing"}"#),
    (MEMBER, "/v2/loyalties/programs/{programId}/members", r#"{"customer_id":"{customerId}"}"#),
    (
        "/v2/loyalties/incentives/{incentiveId}",
        "/v2/loyalties/incentives",
        r#"{"name":"thing","type":"MATERIAL","stock":1,"material":{"product":{"id":"thing"}}}"#,
    ),
    (
        "/v2/loyalties/benefits/{benefitId}",
        "/v2/loyalties/benefits",
        r#"{"name":"other","type":"MATERIAL","material":{"product":{"id":"thing"}}}"#,
    ),
    (
        "/v2/loyalties/tier-structures/{tierStructureId}",
        "/v2/loyalties/tier-structures",
        r#"{"name":"thing","type":"POINT_BALANCE","card_definition_id":"{cardDefinitionId}"}"#,
    ),
    (
        "/v2/loyalties/rewards/{rewardId}",
        "/v2/loyalties/rewards",
        r#"{"name":"thing","type":"MATERIAL","material":{"product":{"id":"thing"}},"costs":[{"spending":[{"points":1,"card_definition_id":"{cardDefinitionId}"}]}]}"#,
    ),
    (
        "/v1/product-collections/{productCollectionId}",
        "/v1/product-collections",
        r#"{"type":"STATIC","name":"thing","products":[{"id":"thing","object":"product"}]}"#,
    ),
];

fn send(edge: &Edge, method: &str, path: &str, query: &str, body: &str) -> Reply {
    let client = path.starts_with("/client/");
    let pairs: &[(&str, &str)] = if client {
        &[
            ("x-client-application-id", "dev-client"),
            ("x-client-token", "dev-client-token"),
            ("origin", "http://localhost:1"),
        ]
    } else if path.starts_with("/management/") {
        &[("x-management-id", "dev-management"), ("x-management-token", "dev-management-token")]
    } else {
        &[("x-app-id", "dev-app"), ("x-app-token", "dev-token")]
    };
    let headers = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
    edge.send(Request { method, path, query, headers, body: body.as_bytes().to_vec() }, NOW, None)
}

fn words_of(route: &Route) -> Option<&'static [&'static str]> {
    let is_order = |field: &&Field| field.name == "order";
    route.query.iter().find(is_order).and_then(|field| match field.kind {
        FieldType::OneOf(values) => Some(values),
        FieldType::List(FieldType::OneOf(values), ..) => Some(*values),
        _ => None,
    })
}

/// Returns a path with the created ids in place of its parameters.
fn written(path: &str, named: &[(&str, String)]) -> String {
    named.iter().fold(path.to_owned(), |path, (place, with)| path.replace(place, with))
}

/// Returns a body with the created ids in place of their names.
fn mentioning(body: &str, named: &[(&str, String)]) -> String {
    named.iter().fold(body.to_owned(), |body, (place, with)| {
        let (_, parameter) = place.rsplit_once('/').unwrap();
        let (_, id) = with.rsplit_once('/').unwrap();
        body.replace(parameter, id)
    })
}

#[test]
fn only_published_orders_are_accepted() {
    let edge = Edge::new();
    // A code of a program is no card.
    let of_program = "/v1/referrals/{campaignId}/members/{memberId}";
    let of_project = "/management/v1/projects/{projectId}";
    let mut named: Vec<(&str, String)> = vec![
        (of_program, "/v1/referrals/friends/members/code".into()),
        (of_project, "/management/v1/projects/proj_dev".into()),
    ];
    for (place, path, body) in SHOP {
        let reply = send(&edge, "POST", &written(path, &named), "", &mentioning(body, &named));
        let made: Json = serde_json::from_slice(&reply.body).unwrap();
        assert_eq!(reply.status, 200, "{path}: {made}");
        let (before, _) = place.rsplit_once('{').unwrap();
        named.push((place, format!("{}{}", written(before, &named), made["id"].as_str().unwrap())));
        // The longer path is more exact.
        named.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
        if let Some(card) = made.pointer("/cards/0/card/id").and_then(Json::as_str) {
            named.insert(0, (CARD, format!("{}/cards/{card}", written(MEMBER, &named))));
        }
    }
    let mut lists = 0;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        let Some(values) = words_of(route) else { continue };
        lists += 1;
        let path = written(route.path, &named);
        let call = format!("{} {path}", route.method);
        let refused = send(&edge, route.method, &path, "order=x", "{}");
        let error: Json = serde_json::from_slice(&refused.body).unwrap();
        let details = error["details"].as_str().unwrap_or_default();
        let known = details
            .strip_prefix("Property .order must be one of ")
            .and_then(|rest| rest.strip_suffix(" (actual value is `x`)"));
        let known: BTreeSet<&str> = known.unwrap_or_default().split(", ").collect();
        assert!(refused.status == 400 && values.iter().all(|value| known.contains(value)), "{call}: {error}");
        for value in values {
            let reply = send(&edge, route.method, &path, &format!("order={value}"), "{}");
            assert_eq!(reply.status, 200, "{call}?order={value}: {}", String::from_utf8_lossy(&reply.body));
        }
    }
    assert!(lists >= 15, "only {lists} lists publish an order");
}

#[test]
fn no_text_condition_uses_a_numeric_column() {
    let mut conditions = 0;
    for route in AREAS.iter().flat_map(|area| area.iter()) {
        for (name, column) in route.resource.iter().flat_map(|resource| resource.list.conditions) {
            conditions += 1;
            assert!(
                !matches!(*column, "created_at" | "updated_at"),
                "{}: `{name}` is held against a number",
                route.path
            );
        }
    }
    assert!(conditions >= 100, "only {conditions} conditions");
}
