//! What a list says of documents that are switched on and within their dates is what the engine says of each.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "shops/chance.rs"]
#[allow(dead_code, reason = "the shops take more chances")]
mod chance;
#[path = "support/edge.rs"]
#[allow(dead_code, reason = "other tests send in other ways")]
mod edge;

use chance::Chance;
use edge::Edge;
use scrip::model::incentive::Validity;
use scrip::time::Instant;
use scrip::wire::cursor::read;
use scrip::wire::document::read_fields;
use scrip::wire::voucher::read_validity;
use scrip_worker::http::request::Request;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeSet;

const HOUR: i64 = 3_600_000;
const NOW: i64 = 1_772_323_200_000;
const DOCUMENTS: usize = 90;

fn send(edge: &Edge, method: &str, path: &str, query: &str, body: &Json, now: i64) -> Json {
    let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let reply = edge.send(Request { method, path: path.clone(), query: query.clone(), headers, body }, now, None);
    let told: Json = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(reply.status, 200, "{path}?{query}: {told}");
    told
}

/// A moment as shops write it: in UTC or ahead of it, with and without milliseconds, or the day alone.
fn written(chance: &mut Chance, at: i64) -> String {
    let text = |at: i64| Instant::from_millis(at).unwrap().to_string();
    let cut = |at: i64, length: usize| text(at).chars().take(length).collect::<String>();
    match chance.below(6) {
        0 => text(at),
        1 => cut(at, 19) + "Z",
        2 => cut(at, 19),
        3 => cut(at + 2 * HOUR, 23) + "+02:00",
        4 => cut(at - 11 * HOUR, 19) + "-1100",
        _ => cut(at, 10),
    }
}

/// Dates around now and in other years and centuries, so that each digit of their text decides somewhere.
fn moment(chance: &mut Chance) -> i64 {
    const YEAR: i64 = 365 * 24 * HOUR;
    let near = NOW + chance.between(-3, 3) * 24 * HOUR + chance.between(-HOUR, HOUR);
    match chance.below(6) {
        0 => chance.between(0, 60 * YEAR),
        1 => chance.between(60 * YEAR, 8_000 * YEAR),
        2 => NOW,
        _ => near,
    }
}

fn dated(chance: &mut Chance) -> Map<String, Json> {
    let (one, other) = (moment(chance), moment(chance));
    let mut dates = Map::new();
    if chance.below(3) > 0 {
        dates.insert("start_date".into(), written(chance, one.min(other)).into());
    }
    if chance.below(3) > 0 {
        // A day later than the later of the two, so that the beginning is earlier however either is written.
        dates.insert("expiration_date".into(), written(chance, one.max(other) + 25 * HOUR).into());
    }
    if chance.once_in(3) {
        // When it recurs is no question of these lists.
        dates.insert("validity_day_of_week".into(), json!([chance.below(7)]));
    }
    dates
}

/// Makes documents of both kinds that have such lists; some are switched off, some get their dates later.
fn make(edge: &Edge, chance: &mut Chance) {
    for number in 0..DOCUMENTS {
        let path = if number % 2 == 0 { "/v1/campaigns" } else { "/v1/vouchers" };
        let grant = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } });
        let mut body = match number % 2 {
            0 => json!({ "name": format!("c{number}"), "campaign_type": "DISCOUNT_COUPONS", "voucher": grant }),
            _ => grant,
        };
        let (dates, is_later) = (dated(chance), chance.once_in(3));
        if !is_later {
            body.as_object_mut().unwrap().extend(dates.clone());
        }
        let made = send(edge, "POST", path, "", &body, NOW);
        let own = format!("{path}/{}", made["id"].as_str().unwrap());
        if is_later && !dates.is_empty() {
            send(edge, "PUT", &own, "", &Json::Object(dates), NOW);
        }
        if chance.once_in(4) {
            send(edge, "POST", &format!("{own}/disable"), "", &Json::Null, NOW);
        }
    }
}

/// All of a list, page by page, of which no page but the last is short, and the total that it tells.
fn listed(edge: &Edge, path: &str, data: &str, filter: &str, now: i64) -> Vec<Json> {
    let mut found = Vec::new();
    for page in 1.. {
        let told = send(edge, "GET", path, &format!("limit=40&page={page}&{filter}"), &Json::Null, now);
        let total = usize::try_from(told["total"].as_u64().unwrap()).unwrap();
        let documents = told[data].as_array().unwrap();
        assert_eq!(documents.len(), 40.min(total - found.len()), "{path} {filter} page {page}");
        found.extend(documents.iter().cloned());
        if found.len() == total {
            break;
        }
    }
    found
}

/// What the engine says of a document.
fn holds(state: &str, document: &Map<String, Json>, now: Instant) -> bool {
    let validity: Validity = read_fields(document, read_validity).unwrap();
    let active = read_fields(document, |at| at.option("active", read::flag)).unwrap().unwrap_or(true);
    match state {
        "$enabled" => active,
        "$disabled" => !active,
        "$active" => active && validity.has_begun(now) && !validity.has_ended(now),
        "$expired" => validity.has_ended(now),
        _ => !validity.has_begun(now),
    }
}

#[test]
fn lists_say_of_dates_what_the_engine_says() {
    let mut chance = Chance::new(7);
    let edge = Edge::new();
    make(&edge, &mut chance);
    let names = |documents: &[Json]| -> BTreeSet<String> {
        documents.iter().map(|document| document["id"].as_str().unwrap().to_owned()).collect()
    };
    let mut counts: [usize; 2] = [0, 0];
    for (path, data, field) in [("/v1/campaigns", "campaigns", "status"), ("/v1/vouchers", "vouchers", "active")] {
        let all = listed(&edge, path, data, "", NOW);
        assert!(all.len() >= DOCUMENTS / 2);
        let ends =
            all.iter().flat_map(|document| ["start_date", "expiration_date"].map(|name| document[name].as_str()));
        let ends = ends.flatten().map(|text| Instant::parse(text).unwrap().millis());
        let moments: BTreeSet<i64> =
            ends.flat_map(|at| [at - 1, at, at + 1]).chain([NOW]).filter(|at| *at >= 0).collect();
        for now in moments {
            for state in ["$enabled", "$disabled", "$active", "$expired", "before_start"] {
                let at = Instant::from_millis(now).unwrap();
                let (within, without): (Vec<Json>, Vec<Json>) =
                    all.iter().cloned().partition(|document| holds(state, document.as_object().unwrap(), at));
                let told = listed(&edge, path, data, &format!("filters[{field}][conditions][{state}]=true"), now);
                assert_eq!(names(&told), names(&within), "{path} {state} at {at}");
                counts = [counts[0] + within.len(), counts[1] + without.len()];
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 2_000), "{counts:?}");
}
