//! Limits how often a client may name wrong codes: freely at first, then after growing waits, then not for a while.
//! The clock is a parameter, and no count is ever stored.
//!
//! Only wrong names count. A client that sends only right ones is never slowed, and the answers while it is limited do not depend
//! on the names. Counts decay like a leaking bucket: the level is the time until it is empty. A request counts as open from admission
//! until it is settled. Beyond a limit, open requests count as wrong ones, so that parallel calls gain nothing. Levels and times
//! saturate: beyond the type is beyond every limit.

use crate::http::caller::{Caller, CredentialClass};
use crate::http::route::Route;
use crate::timestamp;
use scrip::count::Countable;
use std::collections::BTreeMap;

/// Header in which an object reports the number of wrong names to the entry. No caller sees it.
pub const WRONG_CODES: &str = "scrip-wrong-codes";

/// The first wait; each further wrong name doubles it.
const WAIT_MS: u64 = 100;
/// The longest wait.
const WAIT_MAX_MS: u64 = 5_000;
/// Number of waits before the caller is refused: 100 ms doubled six times exceeds the longest.
const WAITS: u64 = 7;
/// Step to which the delay of an answer about wrong names is rounded up, counted from the arrival of the request. Looking up
/// an unknown code and checking an expired one differ by less than one millisecond.
const ANSWER_MS: u64 = 50;
/// Largest backward step of a clock that is corrected.
const CLOCK_MS: i64 = 60_000;
/// Maximum number of addresses counted per project. The oldest are dropped: an owner of more addresses has more attempts anyway.
const ADDRESSES: usize = 10_000;

/// Limits of one kind of caller.
struct Limits {
    /// Wrong names without a wait.
    free: u64,
    /// Wrong names for each step of waiting.
    step: u64,
    /// Time until one wrong name has decayed.
    decay_ms: u64,
    /// Number of open requests that do not count.
    parallel: u64,
    /// Time until an open request that was never settled is dropped: its caller disconnected.
    open_ms: u64,
    /// Maximum time for which a caller is refused.
    block_ms: u64,
}

/// Limits of an address: a shopper, a household, sometimes the customers of a whole phone network. Ten mistakes exceed those of
/// a customer with a code, and two a minute are always free. That is 17 at once, then 2,880 a day, of billions of codes.
/// A caller that sends 16 x 30 codes at once before the first answer is refused for an hour.
const ADDRESS: Limits =
    Limits { free: 10, step: 1, decay_ms: 30_000, parallel: 16, open_ms: 1_000, block_ms: 3_600_000 };

/// Limits of an address while the key as a whole has had too many wrong names: an attack from many addresses.
const ADDRESS_UNDER_ATTACK: Limits = Limits { free: 3, ..ADDRESS };

/// Limits of all callers of a key without known addresses. They share it, so it is loose enough for their typing mistakes.
/// For separate limits, an operator names the header with the address.
const KEY: Limits = Limits { free: 100, step: 10, decay_ms: 1_000, parallel: 100, open_ms: 20, block_ms: 60_000 };

/// Decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptDecision {
    /// The request continues after this number of milliseconds.
    After(u64),
    /// The request is refused, and may be repeated after this number of seconds.
    Later(u64),
}

/// A client: its key, and its address if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientKey {
    /// Id of the project, which has its own limiter object.
    pub project: String,
    /// The public id of the key.
    pub key: String,
    /// Address that the request came from.
    pub address: Option<String>,
}

/// Returns the client to count, if a client calls a route that accepts codes.
pub fn client_key(route: &Route, caller: &Caller) -> Option<ClientKey> {
    let is_client = route.is_client_side() && caller.class != CredentialClass::Server;
    (is_client && route.names_codes).then(|| ClientKey {
        project: caller.project.clone(),
        key: caller.key_id.clone(),
        address: caller.address.clone(),
    })
}

/// Returns the remaining delay of an answer about wrong names.
pub fn remaining_delay(elapsed_ms: u64) -> u64 {
    let begun = elapsed_ms.checked_rem(ANSWER_MS).unwrap_or(0);
    ANSWER_MS.remaining_after(begun)
}

/// Counts of one caller, each as the time until it has decayed.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    wrong_ms: u64,
    open_ms: u64,
    at_ms: i64,
}

impl Bucket {
    /// Returns the counts at `now_ms`. A small backward step of the clock drops nothing; a larger one, all.
    fn decayed(self, now_ms: i64) -> Bucket {
        if now_ms < timestamp::earlier(self.at_ms, CLOCK_MS) {
            return Bucket { at_ms: now_ms, ..Bucket::default() };
        }
        let elapsed = timestamp::elapsed(self.at_ms, now_ms).max(0).unsigned_abs();
        let decayed = |ms: u64| ms.remaining_after(elapsed);
        Bucket { wrong_ms: decayed(self.wrong_ms), open_ms: decayed(self.open_ms), at_ms: now_ms }
    }

    fn is_empty(&self) -> bool {
        self.wrong_ms == 0 && self.open_ms == 0
    }

    fn wrong(&self, limits: &Limits) -> u64 {
        self.wrong_ms.div_ceil(limits.decay_ms)
    }

    /// Admits a request, after a delay or not at all.
    fn check(&mut self, limits: &Limits) -> AttemptDecision {
        let wrong = self.wrong(limits);
        let uncounted = if wrong < limits.free { limits.parallel } else { 0 };
        let open = self.open_ms.div_ceil(limits.open_ms).remaining_after(uncounted);
        // Beyond the type is beyond every limit.
        let Some(over) = wrong.saturating_add(open).checked_sub(limits.free) else { return self.admit(limits, 0) };
        let wait_index = over.checked_div(limits.step).unwrap_or(u64::MAX);
        if wait_index < WAITS {
            let wait = WAIT_MS.checked_shl(u32::try_from(wait_index).unwrap_or(u32::MAX)).unwrap_or(WAIT_MAX_MS);
            return self.admit(limits, wait.min(WAIT_MAX_MS));
        }
        let excess = self.wrong_ms.remaining_after(limits.most_ms());
        AttemptDecision::Later(excess.div_ceil(1_000).max(1))
    }

    fn admit(&mut self, limits: &Limits, wait_ms: u64) -> AttemptDecision {
        // Beyond the type is beyond every limit.
        self.open_ms = self.open_ms.saturating_add(limits.open_ms);
        AttemptDecision::After(wait_ms)
    }

    /// Settles an admitted request that has been answered.
    fn record_result(&mut self, limits: &Limits, wrong: u64) {
        self.open_ms = self.open_ms.remaining_after(limits.open_ms);
        self.add(limits, wrong);
    }

    fn add(&mut self, limits: &Limits, wrong: u64) {
        // Beyond the type is beyond every limit.
        let most = limits.most_ms().saturating_add(limits.block_ms);
        // The limit follows.
        self.wrong_ms = self.wrong_ms.saturating_add(wrong.saturating_mul(limits.decay_ms)).min(most);
    }
}

impl Limits {
    /// Returns the level up to which one more request is admitted.
    const fn most_ms(&self) -> u64 {
        // Constants, all of them small.
        let most = self.free.saturating_add(WAITS.saturating_mul(self.step)).saturating_sub(1);
        // Constants, all of them small.
        most.saturating_mul(self.decay_ms)
    }
}

/// The counts of one project.
#[derive(Debug, Default)]
pub struct FailedAttempts {
    keys: BTreeMap<String, Bucket>,
    addresses: RecentBuckets,
}

impl FailedAttempts {
    /// Decides if a request that names codes may continue.
    pub fn check(&mut self, client_key: &ClientKey, now_ms: i64) -> AttemptDecision {
        let key = self.keys.entry(client_key.key.clone()).or_default();
        *key = key.decayed(now_ms);
        let Some(address) = &client_key.address else { return key.check(&KEY) };
        let limits = if key.wrong(&KEY) < KEY.free { &ADDRESS } else { &ADDRESS_UNDER_ATTACK };
        self.addresses.with(named(&client_key.key, address), now_ms, |bucket| bucket.check(limits))
    }

    /// Settles an admitted request with its number of wrong names.
    pub fn record_result(&mut self, client_key: &ClientKey, wrong: u64, now_ms: i64) {
        let key = self.keys.entry(client_key.key.clone()).or_default();
        *key = key.decayed(now_ms);
        match &client_key.address {
            Some(address) => {
                key.add(&KEY, wrong);
                self.addresses
                    .with(named(&client_key.key, address), now_ms, |bucket| bucket.record_result(&ADDRESS, wrong));
            }
            None => key.record_result(&KEY, wrong),
        }
    }

    /// Returns the number of counted addresses.
    pub fn addresses(&self) -> usize {
        [&self.addresses.young, &self.addresses.old].map(BTreeMap::len).iter().sum()
    }
}

/// Joins an address and the id of a key, neither of which contains a space.
fn named(key: &str, address: &str) -> String {
    format!("{address} {key}")
}

/// Bounded map by name in two halves; the older half is dropped as a whole.
#[derive(Debug, Default)]
struct RecentBuckets {
    young: BTreeMap<String, Bucket>,
    old: BTreeMap<String, Bucket>,
}

impl RecentBuckets {
    fn with<T>(&mut self, name: String, now_ms: i64, act: impl FnOnce(&mut Bucket) -> T) -> T {
        let known = self.young.remove(&name).or_else(|| self.old.remove(&name));
        let mut bucket = known.unwrap_or_default().decayed(now_ms);
        let outcome = act(&mut bucket);
        if !bucket.is_empty() {
            if self.young.len() >= ADDRESSES / 2 {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(name, bucket);
        }
        outcome
    }
}
