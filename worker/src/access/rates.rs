//! Rate limits of authenticated callers and their headers: a number of calls in a span that begins with the first.
//! The clock is a parameter, and no count is ever stored.
//!
//! A process counts in its own memory, so that counting needs no call to an object. Where several instances serve a project, as on
//! Cloudflare, each has its own count. A rate therefore bounds floods of one instance and cannot be sold as a quota. Times and counts of
//! calls saturate: beyond the type is beyond every rate.

use crate::http::caller::{Caller, CredentialClass};
use crate::http::rate_limits::{Rate, RateBounds};
use crate::http::reply::{self, set_header};
use crate::http::request::Reply;
use crate::http::route::Route;
use crate::timestamp;
use std::collections::BTreeMap;

/// Maximum number of counts for addresses, and for keys and projects. Beyond it expired counts are dropped, then all.
const COUNTS_MAX: usize = 20_000;

/// Remaining calls of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateRemaining {
    limit: u32,
    remaining: u32,
    /// Time at which the next call is allowed, in seconds since 1970.
    retry: i64,
}

/// Decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RateDecision {
    /// The call is not counted.
    Unlimited,
    /// The call continues, with these remaining calls.
    Within(RateRemaining),
    /// The call is refused, and may be repeated after this number of seconds.
    Beyond {
        /// Remaining calls: none.
        share: RateRemaining,
        /// Seconds until the next call is allowed.
        seconds: u64,
        /// Name of the exceeded rate.
        of: &'static str,
    },
}

/// Calls of a time window.
#[derive(Debug, Clone, Copy)]
struct RateWindow {
    begun_ms: i64,
    used: u32,
}

impl RateWindow {
    /// Returns the window at `now_ms`. A clock that was reset begins a new one.
    fn at(known: Option<&RateWindow>, rate: Rate, now_ms: i64) -> RateWindow {
        let is_on = |window: &&RateWindow| window.begun_ms <= now_ms && now_ms < window.end_ms(rate);
        known.filter(is_on).copied().unwrap_or(RateWindow { begun_ms: now_ms, used: 0 })
    }

    fn end_ms(&self, rate: Rate) -> i64 {
        // Seconds of 32 bits are milliseconds of 64 bits.
        timestamp::later(self.begun_ms, i64::from(rate.seconds).saturating_mul(1_000))
    }
}

/// Counts of one process.
#[derive(Debug, Default)]
pub struct Counts {
    windows: BTreeMap<String, RateWindow>,
    addresses: BTreeMap<String, RateWindow>,
}

impl Counts {
    /// Counts a call of an authenticated caller, unless it exceeds one of the rates that apply to it.
    pub fn count_call(&mut self, route: &Route, caller: &Caller, now_ms: i64) -> RateDecision {
        let (of, bounds) = match route.is_bulk() {
            true => ("bulk_api_calls", caller.rates.bulk_api_calls),
            false => ("api_calls", caller.rates.api_calls),
        };
        if bounds == RateBounds::default() {
            return RateDecision::Unlimited;
        }
        let class = match caller.class {
            CredentialClass::Server | CredentialClass::OAuth | CredentialClass::Link => "server",
            CredentialClass::Client => "client",
            CredentialClass::Management => "management",
            CredentialClass::Image => "images",
            CredentialClass::Bundle => "bundles",
        };
        // Ids of projects and the words of this service contain no space.
        let place = format!("{of} {class} {}", caller.project);
        let named = [
            (bounds.project, false, Some(place.clone())),
            (bounds.key, false, Some(format!("{place} {}", caller.key_id))),
            (
                bounds.address,
                true,
                caller.address.as_ref().map(|address| format!("{place} {address} {}", caller.key_id)),
            ),
        ];
        let held = named.into_iter().filter_map(|(rate, is_address, name)| Some((rate?, is_address, name?)));
        let held: Vec<(Rate, bool, String)> = held.collect();
        let mut least: Option<RateRemaining> = None;
        for (rate, is_address, name) in &held {
            let window = RateWindow::at(self.part(*is_address).get(name), *rate, now_ms);
            let Some(remaining) = rate.calls.checked_sub(window.used).and_then(|left| left.checked_sub(1)) else {
                return refuse_call(*rate, &window, now_ms, of);
            };
            if least.is_none_or(|least| remaining < least.remaining) {
                let retry_ms = if remaining == 0 { window.end_ms(*rate) } else { now_ms };
                least = Some(RateRemaining { limit: rate.calls, remaining, retry: up_to_seconds(retry_ms) });
            }
        }
        for (rate, is_address, name) in held {
            let mut window = RateWindow::at(self.part(is_address).get(&name), rate, now_ms);
            // Beyond the type is beyond every rate.
            window.used = window.used.saturating_add(1);
            make_room(self.part(is_address), now_ms);
            self.part(is_address).insert(name, window);
        }
        least.map_or(RateDecision::Unlimited, RateDecision::Within)
    }

    fn part(&mut self, is_address: bool) -> &mut BTreeMap<String, RateWindow> {
        if is_address { &mut self.addresses } else { &mut self.windows }
    }
}

fn refuse_call(rate: Rate, window: &RateWindow, now_ms: i64, of: &'static str) -> RateDecision {
    let end_ms = window.end_ms(rate);
    let seconds = up_to_seconds(timestamp::elapsed(now_ms, end_ms)).max(1);
    let share = RateRemaining { limit: rate.calls, remaining: 0, retry: up_to_seconds(end_ms) };
    RateDecision::Beyond { share, seconds: u64::try_from(seconds).unwrap_or(1), of }
}

/// Returns whole seconds, rounded up.
fn up_to_seconds(ms: i64) -> i64 {
    timestamp::later(ms, 999).div_euclid(1_000)
}

/// Removes windows that began more than a day ago, which have ended for every rate.
fn make_room(windows: &mut BTreeMap<String, RateWindow>, now_ms: i64) {
    const DAY_MS: i64 = 86_400_000;
    if windows.len() >= COUNTS_MAX {
        windows.retain(|_, window| timestamp::elapsed(window.begun_ms, now_ms) < DAY_MS);
    }
    if windows.len() >= COUNTS_MAX {
        windows.clear();
    }
}

impl RateRemaining {
    /// Returns the headers of every reply to a counted caller.
    pub fn headers(&self) -> [(&'static str, String); 3] {
        [
            ("x-rate-limit-limit", self.limit.to_string()),
            ("x-rate-limit-remaining", self.remaining.to_string()),
            ("x-rate-limit-retry", self.retry.to_string()),
        ]
    }

    /// Writes the headers into a reply.
    pub fn write_headers(&self, reply: &mut Reply) {
        self.headers().iter().for_each(|(name, value)| set_header(reply, name, value));
    }
}

/// Returns the reply to a call above the limit.
pub fn refusal(request_id: &str, share: &RateRemaining, seconds: u64, of: &str) -> Reply {
    let mut reply = reply::too_many(request_id, seconds);
    set_header(&mut reply, "x-rate-limit-type", of);
    share.write_headers(&mut reply);
    reply
}
