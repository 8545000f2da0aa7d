//! How often somebody may call: spans that begin and end, rates side by side, and memory that stays small.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects, reason = "a test may fail loudly")]

#[path = "support/caller.rs"]
mod caller;

use scrip_worker::access::rates::{Counts, Verdict};
use scrip_worker::http::caller::{Caller, Class};
use scrip_worker::http::rates::{Bounds, Rate, RateLimits, Rates};
use scrip_worker::http::request::Request;
use scrip_worker::table::TABLE;

const NOW: i64 = 1_772_323_200_000;

fn of(calls: u32, seconds: u32) -> Option<Rate> {
    Some(Rate { calls, seconds })
}

fn somebody(rates: Rates, address: Option<&str>) -> Caller {
    let caller: Caller = serde_json::from_str(&caller::server().1).unwrap();
    Caller { rates, address: address.map(str::to_owned), ..caller }
}

/// Asks; gives the limit, what remains and when to come back, or for how long to stay away.
fn ask(
    counts: &mut Counts,
    caller: &Caller,
    path: &str,
    now_ms: i64,
) -> Result<Option<[String; 3]>, (u64, &'static str)> {
    let method = if path.ends_with("async") { "POST" } else { "GET" };
    let request = Request { method: method.into(), path: path.into(), ..Request::default() };
    match counts.ask(&TABLE, &request, caller, now_ms) {
        Verdict::Unlimited => Ok(None),
        Verdict::Within(share) => Ok(Some(share.headers().map(|(_, value)| value))),
        Verdict::Beyond { seconds, of, .. } => Err((seconds, of)),
    }
}

const READ: &str = "/v1/vouchers";
const BULK: &str = "/v1/customers/bulk/async";

#[test]
fn a_span_begins_with_the_first_call_and_ends() {
    let key = Bounds { key: of(2, 10), ..Bounds::default() };
    let caller = somebody(Rates { api_calls: key, ..Rates::default() }, None);
    let mut counts = Counts::default();
    let second = NOW / 1_000;
    let told = |remaining: &str, retry: i64| Ok(Some(["2".to_owned(), remaining.to_owned(), retry.to_string()]));
    assert_eq!(ask(&mut counts, &caller, READ, NOW), told("1", second));
    assert_eq!(ask(&mut counts, &caller, READ, NOW + 4_000), told("0", second + 10));
    assert_eq!(ask(&mut counts, &caller, READ, NOW + 4_001), Err((6, "api_calls")));
    assert_eq!(ask(&mut counts, &caller, READ, NOW + 9_999), Err((1, "api_calls")));
    assert_eq!(ask(&mut counts, &caller, READ, NOW + 10_000), told("1", second + 10));
    assert_eq!(ask(&mut counts, &caller, READ, NOW - 1), told("1", second), "a clock set back begins anew");
}

#[test]
fn bulk_calls_have_a_bucket_of_their_own() {
    let rates = Rates {
        api_calls: Bounds { key: of(1, 60), ..Bounds::default() },
        bulk_api_calls: Bounds { key: of(1, 60), ..Bounds::default() },
    };
    let caller = somebody(rates, None);
    let mut counts = Counts::default();
    assert!(ask(&mut counts, &caller, READ, NOW).is_ok());
    assert!(ask(&mut counts, &caller, BULK, NOW).is_ok());
    assert_eq!(ask(&mut counts, &caller, READ, NOW), Err((60, "api_calls")));
    assert_eq!(ask(&mut counts, &caller, BULK, NOW), Err((60, "bulk_api_calls")));
}

#[test]
fn project_key_and_address_are_counted_beside_each_other() {
    let bounds = Bounds { project: of(4, 60), key: of(3, 60), address: of(2, 60) };
    let rates = Rates { api_calls: bounds, ..Rates::default() };
    let one = somebody(rates, Some("192.0.2.1"));
    let other = somebody(rates, Some("192.0.2.2"));
    let second_key = Caller { key_id: "second".into(), ..one.clone() };
    let elsewhere = Caller { project: "proj_other".into(), ..one.clone() };
    let mut counts = Counts::default();
    assert!(ask(&mut counts, &one, READ, NOW).is_ok());
    assert!(ask(&mut counts, &one, READ, NOW).is_ok());
    assert!(ask(&mut counts, &one, READ, NOW).is_err(), "an address");
    assert!(ask(&mut counts, &other, READ, NOW).is_ok(), "what was refused took nothing from the key");
    assert!(ask(&mut counts, &other, READ, NOW).is_err(), "a key");
    assert!(ask(&mut counts, &second_key, READ, NOW).is_ok());
    assert!(ask(&mut counts, &second_key, READ, NOW).is_err(), "a project");
    assert!(ask(&mut counts, &elsewhere, READ, NOW).is_ok(), "another project is another matter");
    let desk = Caller { class: Class::Management, ..one };
    assert!(ask(&mut counts, &desk, READ, NOW).is_ok(), "and so is another class");
}

#[test]
fn nobody_counts_where_nothing_is_said_but_for_pages() {
    let limits = RateLimits::default();
    let mut counts = Counts::default();
    for rates in [limits.server, limits.management] {
        assert_eq!(ask(&mut counts, &somebody(rates, Some("192.0.2.1")), READ, NOW), Ok(None));
    }
    let page = Caller { class: Class::Client, ..somebody(limits.client, Some("192.0.2.1")) };
    let refused = (0..61).filter(|_| ask(&mut counts, &page, READ, NOW).is_err()).count();
    assert_eq!(refused, 1, "an address has sixty calls a minute");
    let image = Caller { class: Class::Image, ..somebody(limits.images, Some("192.0.2.1")) };
    let refused = (0..601).filter(|_| ask(&mut counts, &image, READ, NOW).is_err()).count();
    assert_eq!(refused, 1, "an address has six hundred images a minute");
    let unknown = Caller { class: Class::Client, ..somebody(limits.client, None) };
    assert_eq!(
        ask(&mut counts, &unknown, READ, NOW),
        Ok(None),
        "whose address nobody knows shares no count with the others"
    );
}

#[test]
fn many_addresses_take_no_more_memory_and_end_nobodys_count_of_a_key() {
    let bounds = Bounds { key: of(50_000, 60), address: of(10, 60), project: None };
    let rates = Rates { api_calls: bounds, ..Rates::default() };
    let mut counts = Counts::default();
    for number in 0..50_000_u32 {
        let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
        assert!(ask(&mut counts, &somebody(rates, Some(&address)), READ, NOW).is_ok());
    }
    assert!(
        ask(&mut counts, &somebody(rates, Some("192.0.2.9")), READ, NOW).is_err(),
        "the key's count is still there"
    );
}
