//! Runs every story once more with a webhook for every event. Each event is sent in its published form with all members, and the answers of
//! the story stay the same.

use crate::in_process::Edge;
use scrip_worker::domain::webhooks::subscriptions::{NAMES, current_name};
use scrip_worker::store::sql::{text, text_or_null};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Members of each event in its published form.
const EVENT_MEMBERS: &[(&str, &str)] = &[
    (
        "redemption.succeeded",
        "customer order campaign voucher holder promotion_tier promotion_stack redemption created_at",
    ),
    (
        "redemption.failed",
        "customer order campaign voucher holder promotion_tier promotion_stack redemption created_at",
    ),
    (
        "redemption.rollback.succeeded",
        "customer order campaign voucher holder promotion_tier promotion_stack redemption redemption_rollback",
    ),
    (
        "redemption.rollback.failed",
        "customer order campaign voucher holder promotion_tier promotion_stack redemption redemption_rollback",
    ),
    ("publication.succeeded", "customer campaign publication voucher user"),
    ("customer.created", "customer"),
    ("customer.updated", "customer"),
    ("customer.deleted", "customer"),
    (
        "customer.rewarded",
        "customer holder voucher campaign redemption reward referral_tier balance custom_event customer_event",
    ),
    (
        "customer.rewarded.loyalty_points",
        "customer holder voucher campaign loyalty_tier earning_rule balance order event publication",
    ),
    ("voucher.created", "voucher campaign"),
    ("voucher.updated", "voucher campaign"),
    ("voucher.enabled", "voucher campaign"),
    ("voucher.disabled", "voucher campaign"),
    ("voucher.deleted", "voucher campaign"),
    ("voucher.published", "customer campaign publication voucher created_at"),
    ("order.updated", "order customer return"),
    ("voucher.gift.balance_added", "voucher balance campaign transaction"),
    ("voucher.gift.transaction.created", "transaction voucher campaign holder balance order redemption rollback"),
    (
        "voucher.loyalty_card.transaction.created",
        "transaction voucher campaign holder holder_loyalty_tier balance order event earning_rule segment loyalty_tier redemption \
         rollback reward custom_event source_voucher destination_voucher",
    ),
    ("voucher.loyalty_card.points_added", "voucher balance campaign customer transaction"),
    ("voucher.loyalty_card.points_expired", "voucher points campaign customer buckets transaction"),
    (
        "voucher.loyalty_card.pending_points.activated",
        "customer campaign voucher balance order transaction pending_points",
    ),
    (
        "voucher.loyalty_card.pending_points.added",
        "customer campaign voucher voucher_pending_points_balance order pending_points",
    ),
    (
        "voucher.loyalty_card.pending_points.canceled",
        "customer campaign voucher voucher_pending_points_balance order pending_points",
    ),
    (
        "voucher.loyalty_card.pending_points.updated",
        "customer campaign voucher voucher_pending_points_balance order pending_points",
    ),
    ("campaign.created", "campaign created_at"),
    ("campaign.updated", "campaign"),
    ("campaign.enabled", "campaign"),
    ("campaign.disabled", "campaign"),
    ("campaign.deleted", "campaign deleted_at"),
    ("campaign.vouchers.added", "campaign voucher count"),
    ("campaign.vouchers.generation.started", "campaign count started_at"),
    ("campaign.vouchers.generation.completed", "campaign count completed_at"),
    ("campaign.vouchers.generation.failed", "campaign count failed_at"),
    ("campaign.promotion_tier.created", "campaign promotion_tier"),
    ("campaign.promotion_tier.updated", "campaign promotion_tier"),
    ("campaign.promotion_tier.enabled", "campaign promotion_tier"),
    ("campaign.promotion_tier.disabled", "campaign promotion_tier"),
    ("campaign.promotion_tier.deleted", "campaign promotion_tier"),
    ("campaign.promotion_stack.created", "campaign promotion_stack"),
    ("campaign.promotion_stack.updated", "campaign promotion_stack"),
    ("campaign.loyalty_tier.created", "campaign loyalty_tier"),
    ("campaign.earning_rule.assigned", "campaign earning_rule"),
    ("campaign.earning_rule.updated", "campaign earning_rule"),
    ("campaign.earning_rule.enabled", "campaign earning_rule"),
    ("campaign.earning_rule.disabled", "campaign earning_rule"),
    ("campaign.earning_rule.deleted", "campaign earning_rule"),
    ("campaign.reward.assignment.created", "campaign reward reward_assignment"),
    ("campaign.reward.assignment.updated", "campaign reward reward_assignment"),
    ("campaign.reward.assignment.deleted", "campaign reward reward_assignment"),
    ("business_validation_rule.created", "rule created_at"),
    ("business_validation_rule.updated", "rule updated_at"),
    ("business_validation_rule.deleted", "rule deleted_at"),
    ("business_validation_rule.assignment.created", "rule assignment"),
    ("business_validation_rule.assignment.deleted", "rule assignment"),
];

/// Events that can be selected and have no cause here.
const CAUSELESS: &[&str] = &[
    "campaign.loyalty_tier.deleted",
    "campaign.loyalty_tier.updated",
    "campaign.referral_tier.created",
    "campaign.referral_tier.deleted",
    "campaign.referral_tier.updated",
    "customer.confirmed",
];

/// Related objects in the event of an assignment of rules.
const RELATED: &[&str] = &["voucher", "campaign", "promotion_tier", "earning_rule", "distribution"];

#[test]
fn every_event_is_delivered() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (name, mut story) in crate::story::read_all("") {
        // A story that sets up the whole project leaves no webhook in it; that of webhooks counts them.
        if name.contains("webhooks") || story.to_string().contains("/test-hooks/") {
            continue;
        }
        let project = listened(&mut story);
        let edge = Edge::new();
        if let Err(problem) = crate::story::run_on(&edge, &story, &mut |_, _, _| Ok(())) {
            wrong.push(format!("{name} goes another way: {problem}"));
        }
        let rows =
            edge.run(&project, "SELECT type, body, entity, customer, at IS NOT NULL, id FROM outbox ORDER BY seq", &[]);
        let mut heads = BTreeSet::new();
        for row in &rows {
            let (event, body) = (text(row, 0).unwrap(), serde_json::from_str::<Json>(text(row, 1).unwrap()).unwrap());
            *seen.entry(event.to_owned()).or_default() += 1;
            if let Err(problem) = check(event, &body, &project) {
                wrong.push(format!("{name}: {event}: {problem}"));
            }
            let is_first = heads.insert(text(row, 2).unwrap().to_owned());
            assert_eq!(
                scrip_worker::store::sql::int(row, 4).unwrap() == 1,
                is_first,
                "the first of an entity alone is due"
            );
            let of = body["data"]["customer"]["id"].as_str().or(body["data"]["holder"]["id"].as_str());
            assert_eq!(text_or_null(row, 3).unwrap(), of, "{event} is found by its customer");
        }
    }
    let known: BTreeSet<&str> = EVENT_MEMBERS.iter().map(|(event, _)| *event).collect();
    let chosen: BTreeSet<&str> =
        NAMES.iter().map(|name| current_name(name)).filter(|name| !CAUSELESS.contains(name)).collect();
    assert_eq!(known, chosen, "each event that can be chosen has members");
    let missing: Vec<&&str> = known.iter().filter(|event| !seen.contains_key(**event)).collect();
    assert!(wrong.is_empty() && missing.is_empty(), "no story causes {missing:?}\n{}", wrong.join("\n"));
}

/// Starts a story with a webhook for every event, and names its project.
fn listened(story: &mut Json) -> String {
    let project = format!("proj_{}", story["project"].as_str().unwrap_or("dev"));
    let step = json!({
        "at": "2026-03-01T00:00:00Z", "as": "management",
        "call": format!("POST /management/v1/projects/{project}/webhooks"),
        "send": { "target_url": "https://hooks.shop.example/in", "events": NAMES }, "expect": { "status": 200 },
    });
    story["steps"].as_array_mut().unwrap().insert(0, step);
    project
}

/// The event of a customer contains the remaining points, as the API returns the customer.
#[test]
fn a_customer_event_has_the_remaining_points() {
    let mut story = json!({ "name": "points", "steps": [
        { "call": "POST /v1/loyalties", "send": { "name": "Club", "voucher": { "loyalty_card": { "points": 100 } } }, "expect": { "status": 200, "body": { "id": "$club" } } },
        { "call": "POST /v1/loyalties/$club/members", "send": { "customer": { "source_id": "ann" } }, "expect": { "status": 200, "body": { "code": "$card" } } },
        { "call": "POST /v1/loyalties/members/$card/balance", "send": { "points": -30 }, "expect": { "status": 200 } },
        { "call": "PUT /v1/customers/ann", "send": { "name": "Ann" }, "expect": { "status": 200, "body": { "loyalty": { "points": 70 } } } },
    ] });
    let project = listened(&mut story);
    let edge = Edge::new();
    crate::story::run_on(&edge, &story, &mut |_, _, _| Ok(())).unwrap();
    for event in ["customer.updated", "voucher.loyalty_card.transaction.created"] {
        let rows =
            edge.run(&project, "SELECT body FROM outbox WHERE type = ?1 ORDER BY seq DESC LIMIT 1", &[event.into()]);
        let body: Json = serde_json::from_str(text(&rows[0], 0).unwrap()).unwrap();
        let customer = [&body["data"]["customer"], &body["data"]["holder"]].into_iter().find(|one| one.is_object());
        let customer = customer.unwrap();
        assert_eq!(customer["loyalty"]["points"], 70, "{body}");
        assert_eq!(customer["loyalty"]["campaigns"]["Club"]["points"], 70, "{body}");
        assert_eq!(customer["summary"]["redemptions"]["loyalty_card"]["points_to_go"], 70, "{body}");
    }
}

/// The records of a stack's tiers, of the whole, of each rollback and of each failure all have events with the stack.
#[test]
fn every_record_of_a_stack_names_the_stack() {
    let (_, mut story) = crate::story::read_all("24-promotions/stack-redeemed").remove(0);
    let project = listened(&mut story);
    let edge = Edge::new();
    crate::story::run_on(&edge, &story, &mut |_, _, _| Ok(())).unwrap();
    let rows = edge.run(&project, "SELECT body FROM outbox WHERE type GLOB 'redemption.*' ORDER BY seq", &[]);
    let mut sent: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in &rows {
        let body: Json = serde_json::from_str(text(row, 0).unwrap()).unwrap();
        let data = &body["data"];
        assert_eq!(data["promotion_stack"]["name"], "Both", "{body}");
        assert_eq!(data["campaign"]["name"], "Summer", "{body}");
        sent.entry(body["type"].to_string()).or_default().push(data["promotion_tier"]["name"].to_string());
    }
    let undone = [r#""B""#, r#""A""#, "null"].map(str::to_owned).to_vec();
    let expected = [
        (r#""redemption.failed""#.to_owned(), vec![r#""B""#.to_owned()]),
        (r#""redemption.rollback.succeeded""#.to_owned(), undone.clone()),
        (r#""redemption.succeeded""#.to_owned(), undone),
    ];
    assert_eq!(sent, BTreeMap::from(expected));
}

fn check(event: &str, body: &Json, project: &str) -> Result<(), String> {
    let names = |value: &Json| {
        value.as_object().map(|value| value.keys().cloned().collect::<BTreeSet<_>>()).unwrap_or_default()
    };
    let listed = |text: &str| text.split_whitespace().map(str::to_owned).collect::<BTreeSet<String>>();
    let (_, members) = EVENT_MEMBERS.iter().find(|(known, _)| *known == event).ok_or("is not known")?;
    let mut data = names(&body["data"]);
    if event.starts_with("business_validation_rule.assignment.") {
        data.retain(|name| !RELATED.contains(&name.as_str()));
    }
    if data != listed(members) {
        return Err(format!("has {data:?}"));
    }
    if event == "customer.rewarded" {
        let data = &body["data"];
        let caused = [&data["redemption"], &data["custom_event"]].map(|cause| cause["id"].is_string());
        let balance: Vec<String> = names(&data["balance"]).into_iter().collect();
        let word = if data["campaign"]["campaign_type"] == "GIFT_VOUCHERS" { "amount" } else { "points" };
        if caused[0] == caused[1] || balance != [word] || !data["voucher"].is_object() {
            return Err(format!("is not whole: {data}"));
        }
    }
    if names(body) != listed("id project_id created_at type data source event") {
        return Err(format!("has {:?}", names(body)));
    }
    let is = |value: &Json, prefix: &str, length: usize| {
        let rest = value.as_str().and_then(|text| text.strip_prefix(prefix));
        rest.is_some_and(|rest| rest.len() == length && rest.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    let sent = &body["event"];
    let prefix = sent["id"]
        .as_str()
        .and_then(|id| id.split_once('_'))
        .map(|(prefix, _)| format!("{prefix}_"))
        .unwrap_or_default();
    let holds = [
        is(&body["id"], "whs_", 18),
        body["project_id"] == project,
        body["type"] == event,
        is(&body["source"]["id"], "wh_", 24),
        body["source"]["object"] == "webhook",
        body["source"]["target_url"] == "https://hooks.shop.example/in",
        prefix.starts_with("ev") && is(&sent["id"], &prefix, 18),
        sent["type"] == event,
        sent["created_at"] == body["created_at"],
        sent["entity_id"].as_str().is_some_and(|id| !id.is_empty()),
        sent["group_id"].as_str().is_some_and(|id| id.starts_with("v-")),
        matches!(sent["event_source"]["channel"].as_str(), Some("API" | "CLIENT_API" | "INTERNAL")),
    ];
    match holds.iter().position(|holds| !holds) {
        None => Ok(()),
        Some(place) => Err(format!("check {} fails: {body}", place + 1)),
    }
}
