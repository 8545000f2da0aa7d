//! Tests rate limits: windows that begin and end, several rates at once, and memory that stays small.

use scrip_worker::access::rates::{Counts, RateDecision};
use scrip_worker::http::caller::{Caller, CredentialClass};
use scrip_worker::http::rate_limits::{Rate, RateBounds, RateLimits, Rates};
use scrip_worker::routes::TABLE;

const NOW: i64 = 1_772_323_200_000;

fn of(calls: u32, seconds: u32) -> Option<Rate> {
    Some(Rate { calls, seconds })
}

fn caller_with(rates: Rates, address: Option<&str>) -> Caller {
    let caller: Caller = serde_json::from_str(&crate::caller::server().1).unwrap();
    Caller { rates, address: address.map(str::to_owned), ..caller }
}

/// Makes a call; returns the limit, the remaining calls and the reset time, or the time of the block.
fn count_call(
    counts: &mut Counts,
    caller: &Caller,
    path: &str,
    now_ms: i64,
) -> Result<Option<[String; 3]>, (u64, &'static str)> {
    let method = if path.ends_with("async") { "POST" } else { "GET" };
    let route = TABLE.find(method, path).ok().unwrap().route;
    match counts.count_call(route, caller, now_ms) {
        RateDecision::Unlimited => Ok(None),
        RateDecision::Within(share) => Ok(Some(share.headers().map(|(_, value)| value))),
        RateDecision::Beyond { seconds, of, .. } => Err((seconds, of)),
    }
}

const READ: &str = "/v1/vouchers";
const BULK: &str = "/v1/customers/bulk/async";

#[test]
fn a_window_starts_with_the_first_call_and_ends() {
    let key = RateBounds { key: of(2, 10), ..RateBounds::default() };
    let caller = caller_with(Rates { api_calls: key, ..Rates::default() }, None);
    let mut counts = Counts::default();
    let second = NOW / 1_000;
    let within = |remaining: &str, retry: i64| Ok(Some(["2".to_owned(), remaining.to_owned(), retry.to_string()]));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW), within("1", second));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW + 4_000), within("0", second + 10));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW + 4_001), Err((6, "api_calls")));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW + 9_999), Err((1, "api_calls")));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW + 10_000), within("1", second + 10));
    assert_eq!(count_call(&mut counts, &caller, READ, NOW - 1), within("1", second), "a clock set back begins anew");
}

#[test]
fn bulk_calls_have_a_bucket_of_their_own() {
    let rates = Rates {
        api_calls: RateBounds { key: of(1, 60), ..RateBounds::default() },
        bulk_api_calls: RateBounds { key: of(1, 60), ..RateBounds::default() },
    };
    let caller = caller_with(rates, None);
    let mut counts = Counts::default();
    assert!(count_call(&mut counts, &caller, READ, NOW).is_ok());
    assert!(count_call(&mut counts, &caller, BULK, NOW).is_ok());
    assert_eq!(count_call(&mut counts, &caller, READ, NOW), Err((60, "api_calls")));
    assert_eq!(count_call(&mut counts, &caller, BULK, NOW), Err((60, "bulk_api_calls")));
}

#[test]
fn project_key_and_address_are_counted_independently() {
    let bounds = RateBounds { project: of(4, 60), key: of(3, 60), address: of(2, 60) };
    let rates = Rates { api_calls: bounds, ..Rates::default() };
    let one = caller_with(rates, Some("192.0.2.1"));
    let other = caller_with(rates, Some("192.0.2.2"));
    let second_key = Caller { key_id: "second".into(), ..one.clone() };
    let elsewhere = Caller { project: "proj_other".into(), ..one.clone() };
    let mut counts = Counts::default();
    assert!(count_call(&mut counts, &one, READ, NOW).is_ok());
    assert!(count_call(&mut counts, &one, READ, NOW).is_ok());
    assert!(count_call(&mut counts, &one, READ, NOW).is_err(), "an address");
    assert!(count_call(&mut counts, &other, READ, NOW).is_ok(), "what was refused took nothing from the key");
    assert!(count_call(&mut counts, &other, READ, NOW).is_err(), "a key");
    assert!(count_call(&mut counts, &second_key, READ, NOW).is_ok());
    assert!(count_call(&mut counts, &second_key, READ, NOW).is_err(), "a project");
    assert!(count_call(&mut counts, &elsewhere, READ, NOW).is_ok(), "another project is another matter");
    let desk = Caller { class: CredentialClass::Management, ..one };
    assert!(count_call(&mut counts, &desk, READ, NOW).is_ok(), "and so is another class");
}

#[test]
fn only_clients_and_images_have_default_rates() {
    let limits = RateLimits::default();
    let mut counts = Counts::default();
    for rates in [limits.server, limits.management] {
        assert_eq!(count_call(&mut counts, &caller_with(rates, Some("192.0.2.1")), READ, NOW), Ok(None));
    }
    let page = Caller { class: CredentialClass::Client, ..caller_with(limits.client, Some("192.0.2.1")) };
    let refused = (0..61).filter(|_| count_call(&mut counts, &page, READ, NOW).is_err()).count();
    assert_eq!(refused, 1, "an address has sixty calls a minute");
    let image = Caller { class: CredentialClass::Image, ..caller_with(limits.images, Some("192.0.2.1")) };
    let refused = (0..601).filter(|_| count_call(&mut counts, &image, READ, NOW).is_err()).count();
    assert_eq!(refused, 1, "an address has six hundred images a minute");
    let unknown = Caller { class: CredentialClass::Client, ..caller_with(limits.client, None) };
    assert_eq!(
        count_call(&mut counts, &unknown, READ, NOW),
        Ok(None),
        "a caller without an address shares no count with the others"
    );
}

#[test]
fn many_addresses_use_bounded_memory_and_keep_key_counts() {
    let bounds = RateBounds { key: of(50_000, 60), address: of(10, 60), project: None };
    let rates = Rates { api_calls: bounds, ..Rates::default() };
    let mut counts = Counts::default();
    for number in 0..50_000_u32 {
        let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
        assert!(count_call(&mut counts, &caller_with(rates, Some(&address)), READ, NOW).is_ok());
    }
    assert!(
        count_call(&mut counts, &caller_with(rates, Some("192.0.2.9")), READ, NOW).is_err(),
        "the key's count is still there"
    );
}
