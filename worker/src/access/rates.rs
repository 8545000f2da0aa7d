//! Decides whether somebody who was let in calls too often, and what is told of that: so many calls in a span that begins with the
//! first. It must not know routes' answers or the runtime; the clock is handed in, and nothing of it is ever stored.
//!
//! A process counts by itself, in memory: a call costs no way to any object because it is counted. Where several instances serve a
//! project, as on Cloudflare, each has a count of its own, so that a rate is a bound for whoever floods one, and no quota to be sold.

use crate::http::caller::{Caller, Class};
use crate::http::rates::{Bounds, Rate};
use crate::http::reply::{self, set_header};
use crate::http::request::{Reply, Request};
use crate::http::table::Table;
use std::collections::BTreeMap;

/// Counts that are kept of addresses, and of keys and projects; beyond it those that are over go, and then all.
const KEPT: usize = 20_000;

/// What is left of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    limit: u32,
    remaining: u32,
    /// When the next call is allowed, in seconds since 1970.
    retry: i64,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nobody counts.
    Unlimited,
    /// It goes on, and this is left.
    Within(Share),
    /// It may be asked again in so many seconds.
    Beyond {
        /// Nothing is left.
        share: Share,
        /// When something is again.
        seconds: u64,
        /// Of what there was too much.
        of: &'static str,
    },
}

/// The calls of a span.
#[derive(Debug, Clone, Copy)]
struct Span {
    begun_ms: i64,
    used: u32,
}

impl Span {
    /// The same as it is now. A clock that was set anew begins anew.
    fn at(known: Option<&Span>, rate: Rate, now_ms: i64) -> Span {
        let is_on = |span: &&Span| span.begun_ms <= now_ms && now_ms < span.end_ms(rate);
        known.filter(is_on).copied().unwrap_or(Span { begun_ms: now_ms, used: 0 })
    }

    fn end_ms(&self, rate: Rate) -> i64 {
        self.begun_ms.saturating_add(i64::from(rate.seconds).saturating_mul(1_000))
    }
}

/// What one process has counted.
#[derive(Debug, Default)]
pub struct Counts {
    spans: BTreeMap<String, Span>,
    addresses: BTreeMap<String, Span>,
}

impl Counts {
    /// Counts a call of somebody who was let in, unless it is one too many for any of the rates that hold for it.
    pub fn ask(&mut self, table: &Table, request: &Request, caller: &Caller, now_ms: i64) -> Verdict {
        let is_bulk = table.find(&request.method, &request.path).is_ok_and(|matched| matched.route.is_bulk());
        let (of, bounds) = match is_bulk {
            true => ("bulk_api_calls", caller.rates.bulk_api_calls),
            false => ("api_calls", caller.rates.api_calls),
        };
        if bounds == Bounds::default() {
            return Verdict::Unlimited;
        }
        let class = match caller.class {
            Class::Server | Class::OAuth | Class::Link => "server",
            Class::Client => "client",
            Class::Management => "management",
            Class::Image => "images",
        };
        // Neither ids of projects nor words of ours have a space.
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
        let mut least: Option<Share> = None;
        for (rate, is_address, name) in &held {
            let span = Span::at(self.part(*is_address).get(name), *rate, now_ms);
            let Some(remaining) = rate.calls.saturating_sub(span.used).checked_sub(1) else {
                return beyond(*rate, &span, now_ms, of);
            };
            if least.is_none_or(|least| remaining < least.remaining) {
                let retry_ms = if remaining == 0 { span.end_ms(*rate) } else { now_ms };
                least = Some(Share { limit: rate.calls, remaining, retry: up_to_seconds(retry_ms) });
            }
        }
        for (rate, is_address, name) in held {
            let mut span = Span::at(self.part(is_address).get(&name), rate, now_ms);
            span.used = span.used.saturating_add(1);
            make_room(self.part(is_address), now_ms);
            self.part(is_address).insert(name, span);
        }
        least.map_or(Verdict::Unlimited, Verdict::Within)
    }

    fn part(&mut self, is_address: bool) -> &mut BTreeMap<String, Span> {
        if is_address { &mut self.addresses } else { &mut self.spans }
    }
}

fn beyond(rate: Rate, span: &Span, now_ms: i64, of: &'static str) -> Verdict {
    let end_ms = span.end_ms(rate);
    let seconds = up_to_seconds(end_ms.saturating_sub(now_ms)).max(1);
    let share = Share { limit: rate.calls, remaining: 0, retry: up_to_seconds(end_ms) };
    Verdict::Beyond { share, seconds: u64::try_from(seconds).unwrap_or(1), of }
}

/// Whole seconds, the begun one included.
fn up_to_seconds(ms: i64) -> i64 {
    ms.saturating_add(999).div_euclid(1_000)
}

/// What began more than a day ago is over, whatever its rate.
fn make_room(spans: &mut BTreeMap<String, Span>, now_ms: i64) {
    const DAY_MS: i64 = 86_400_000;
    if spans.len() >= KEPT {
        spans.retain(|_, span| now_ms.saturating_sub(span.begun_ms) < DAY_MS);
    }
    if spans.len() >= KEPT {
        spans.clear();
    }
}

impl Share {
    /// The headers of every answer to somebody who is counted.
    pub fn headers(&self) -> [(&'static str, String); 3] {
        [
            ("x-rate-limit-limit", self.limit.to_string()),
            ("x-rate-limit-remaining", self.remaining.to_string()),
            ("x-rate-limit-retry", self.retry.to_string()),
        ]
    }

    /// Tells a reply.
    pub fn tell(&self, reply: &mut Reply) {
        self.headers().iter().for_each(|(name, value)| set_header(reply, name, value));
    }
}

/// The answer to a call that is one too many.
pub fn refused(request_id: &str, share: &Share, seconds: u64, of: &str) -> Reply {
    let mut reply = reply::too_many(request_id, seconds);
    set_header(&mut reply, "x-rate-limit-type", of);
    share.tell(&mut reply);
    reply
}
