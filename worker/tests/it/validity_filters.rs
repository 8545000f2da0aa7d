//! Tests that a list filter for active documents within their dates equals the engine's decision for each.

use crate::in_process::Edge;
use crate::shops::random::Random;
use scrip::model::redeemable::Validity;
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
    let answer: Json = serde_json::from_slice(&reply.body).unwrap();
    assert_eq!(reply.status, 200, "{path}?{query}: {answer}");
    answer
}

/// Writes a timestamp as merchants do: in UTC or with an offset, with and without milliseconds, or the day only.
fn format_date(random: &mut Random, at: i64) -> String {
    let text = |at: i64| Instant::from_millis(at).unwrap().to_string();
    let cut = |at: i64, length: usize| text(at).chars().take(length).collect::<String>();
    match random.below(6) {
        0 => text(at),
        1 => cut(at, 19) + "Z",
        2 => cut(at, 19),
        3 => cut(at + 2 * HOUR, 23) + "+02:00",
        4 => cut(at - 11 * HOUR, 19) + "-1100",
        _ => cut(at, 10),
    }
}

/// Generates dates around now and in other years and centuries, so that each digit of their text is decisive somewhere.
fn random_time(random: &mut Random) -> i64 {
    const YEAR: i64 = 365 * 24 * HOUR;
    let near = NOW + random.between(-3, 3) * 24 * HOUR + random.between(-HOUR, HOUR);
    match random.below(6) {
        0 => random.between(0, 60 * YEAR),
        1 => random.between(60 * YEAR, 8_000 * YEAR),
        2 => NOW,
        _ => near,
    }
}

fn random_validity(random: &mut Random) -> Map<String, Json> {
    let (one, other) = (random_time(random), random_time(random));
    let mut dates = Map::new();
    if random.below(3) > 0 {
        dates.insert("start_date".into(), format_date(random, one.min(other)).into());
    }
    if random.below(3) > 0 {
        // A day later than the later of the two, so that the start is earlier in both forms.
        dates.insert("expiration_date".into(), format_date(random, one.max(other) + 25 * HOUR).into());
    }
    if random.once_in(3) {
        // These lists ignore recurrence.
        dates.insert("validity_day_of_week".into(), json!([random.below(7)]));
    }
    dates
}

/// Creates documents of both kinds; some are inactive, some get their dates later.
fn make(edge: &Edge, random: &mut Random) {
    for number in 0..DOCUMENTS {
        let path = if number % 2 == 0 { "/v1/campaigns" } else { "/v1/vouchers" };
        let grant = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 100 } });
        let mut body = match number % 2 {
            0 => json!({ "name": format!("c{number}"), "campaign_type": "DISCOUNT_COUPONS", "voucher": grant }),
            _ => grant,
        };
        let (dates, is_later) = (random_validity(random), random.once_in(3));
        if !is_later {
            body.as_object_mut().unwrap().extend(dates.clone());
        }
        let made = send(edge, "POST", path, "", &body, NOW);
        let own = format!("{path}/{}", made["id"].as_str().unwrap());
        if is_later && !dates.is_empty() {
            send(edge, "PUT", &own, "", &Json::Object(dates), NOW);
        }
        if random.once_in(4) {
            send(edge, "POST", &format!("{own}/disable"), "", &Json::Null, NOW);
        }
    }
}

/// Returns all elements of a list and its total, page by page; only the last page may be short.
fn list(edge: &Edge, path: &str, data: &str, filter: &str, now: i64) -> Vec<Json> {
    let mut found = Vec::new();
    for page in 1.. {
        let answer = send(edge, "GET", path, &format!("limit=40&page={page}&{filter}"), &Json::Null, now);
        let total = usize::try_from(answer["total"].as_u64().unwrap()).unwrap();
        let documents = answer[data].as_array().unwrap();
        assert_eq!(documents.len(), 40.min(total - found.len()), "{path} {filter} page {page}");
        found.extend(documents.iter().cloned());
        if found.len() == total {
            break;
        }
    }
    found
}

/// Returns the engine's decision on a document.
fn is_in_state(state: &str, document: &Map<String, Json>, now: Instant) -> bool {
    let validity: Validity = read_fields(document, read_validity).unwrap();
    let active = read_fields(document, |at| at.option("active", read::flag)).unwrap().unwrap_or(true);
    match state {
        "$enabled" => active,
        "$disabled" => !active,
        "$active" => active && validity.has_started(now) && !validity.has_ended(now),
        "$expired" => validity.has_ended(now),
        _ => !validity.has_started(now),
    }
}

#[test]
fn list_filters_of_dates_equal_the_engine() {
    let mut random = Random::new(7);
    let edge = Edge::new();
    make(&edge, &mut random);
    let names = |documents: &[Json]| -> BTreeSet<String> {
        documents.iter().map(|document| document["id"].as_str().unwrap().to_owned()).collect()
    };
    let mut counts: [usize; 2] = [0, 0];
    for (path, data, field) in [("/v1/campaigns", "campaigns", "status"), ("/v1/vouchers", "vouchers", "active")] {
        let all = list(&edge, path, data, "", NOW);
        assert!(all.len() >= DOCUMENTS / 2);
        let ends =
            all.iter().flat_map(|document| ["start_date", "expiration_date"].map(|name| document[name].as_str()));
        let ends = ends.flatten().map(|text| Instant::parse(text).unwrap().millis());
        let instants: BTreeSet<i64> =
            ends.flat_map(|at| [at - 1, at, at + 1]).chain([NOW]).filter(|at| *at >= 0).collect();
        for now in instants {
            for state in ["$enabled", "$disabled", "$active", "$expired", "before_start"] {
                let at = Instant::from_millis(now).unwrap();
                let (within, without): (Vec<Json>, Vec<Json>) =
                    all.iter().cloned().partition(|document| is_in_state(state, document.as_object().unwrap(), at));
                let answer = list(&edge, path, data, &format!("filters[{field}][conditions][{state}]=true"), now);
                assert_eq!(names(&answer), names(&within), "{path} {state} at {at}");
                counts = [counts[0] + within.len(), counts[1] + without.len()];
            }
        }
    }
    assert!(counts.iter().all(|count| *count > 2_000), "{counts:?}");
}
