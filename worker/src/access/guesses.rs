//! Decides how often a page may name codes that are wrong: freely at first, then after waits that grow, then not for a while.
//! It must not know codes, routes' answers or the runtime; the clock is handed in, and nothing of it is ever stored.
//!
//! What counts is a wrong name. A page that only ever sends right ones is never slowed, and what it is told while it is
//! limited does not depend on what it names. Counts fade with time, as a leaking bucket does: the level of one is the time
//! until it is empty. Because answers come after the question, a request counts as open from when it is let in until it is
//! settled; beyond so many at a time open ones count as wrong ones do, so that nothing is gained by asking all at once.

use crate::http::caller::{Caller, Class};
use crate::http::route::Route;
use std::collections::BTreeMap;

/// The header in which an object tells the entry how many names were wrong. No caller sees it.
pub const GUESSES: &str = "scrip-guesses";

/// The first wait; each further wrong name doubles it.
const WAIT_MS: u64 = 100;
/// The longest wait.
const WAIT_MAX_MS: u64 = 5_000;
/// How many waits there are before the caller is sent away: 100 ms doubled six times is beyond the longest.
const WAITS: u64 = 7;
/// What an answer about wrong names is held back to, counted from the arrival of the request: a multiple of this. Looking up
/// an unknown code and checking an expired one differ by less than one millisecond.
const ANSWER_MS: u64 = 50;
/// How far clocks go back when they are set right.
const CLOCK_MS: i64 = 60_000;
/// Addresses that one project is told apart by. The oldest are forgotten: whoever owns more than these has more guesses anyway.
const ADDRESSES: usize = 10_000;

/// How much is allowed to whom.
struct Limits {
    /// Wrong names without a wait.
    free: u64,
    /// Wrong names for each step of waiting.
    step: u64,
    /// How long it takes until one wrong name is forgotten.
    fade_ms: u64,
    /// Open requests that nobody minds.
    parallel: u64,
    /// How long it takes until an open request is forgotten that never came back: its caller went away.
    open_ms: u64,
    /// How long a caller may be sent away at most.
    away_ms: u64,
}

/// An address: a shopper, a household, sometimes the customers of a whole phone network. Ten mistakes are more than anybody
/// makes with a code in hand, and two a minute go on for ever. 17 at once, then 2,880 a day, of codes of which there are
/// billions. Whoever asks for 16 x 30 codes at once before the first answer is there is sent away for an hour.
const ADDRESS: Limits = Limits { free: 10, step: 1, fade_ms: 30_000, parallel: 16, open_ms: 1_000, away_ms: 3_600_000 };

/// An address while the key as a whole has had too many wrong names: somebody tries from many addresses.
const ADDRESS_UNDER_ATTACK: Limits = Limits { free: 3, ..ADDRESS };

/// All callers of a key whose addresses nobody knows. It is the bound of all of them together, and so much looser that those who
/// mistype do not reach it; whoever does not want one caller to use up what is everybody's names the header with the address.
const KEY: Limits = Limits { free: 100, step: 10, fade_ms: 1_000, parallel: 100, open_ms: 20, away_ms: 60_000 };

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on after so many milliseconds.
    After(u64),
    /// It may be asked again in so many seconds.
    Later(u64),
}

/// Who asks: a page's key, and where the page is as far as that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asker {
    /// The project, which has a gate of its own.
    pub project: String,
    /// The public id of the key.
    pub key: String,
    /// Where the request came from.
    pub address: Option<String>,
}

/// Who is to be counted, where a page calls a route that takes names of codes.
pub fn asker(route: &Route, caller: &Caller) -> Option<Asker> {
    let is_page = route.is_client_side() && caller.class != Class::Server;
    (is_page && route.names_codes).then(|| Asker {
        project: caller.project.clone(),
        key: caller.key_id.clone(),
        address: caller.address.clone(),
    })
}

/// How long an answer about wrong names is still held back.
pub fn hold_back(elapsed_ms: u64) -> u64 {
    let begun = elapsed_ms.checked_rem(ANSWER_MS).unwrap_or(0);
    ANSWER_MS.saturating_sub(begun)
}

/// What is counted of one caller, each as the time until it is forgotten.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    wrong_ms: u64,
    open_ms: u64,
    at_ms: i64,
}

impl Bucket {
    /// The same as it is now. A clock that goes back a little forgets nothing; one that was set anew, everything.
    fn faded(self, now_ms: i64) -> Bucket {
        if now_ms < self.at_ms.saturating_sub(CLOCK_MS) {
            return Bucket { at_ms: now_ms, ..Bucket::default() };
        }
        let elapsed = u64::try_from(now_ms.saturating_sub(self.at_ms)).unwrap_or(0);
        let faded = |ms: u64| ms.saturating_sub(elapsed);
        Bucket { wrong_ms: faded(self.wrong_ms), open_ms: faded(self.open_ms), at_ms: now_ms }
    }

    fn is_empty(&self) -> bool {
        self.wrong_ms == 0 && self.open_ms == 0
    }

    fn wrong(&self, limits: &Limits) -> u64 {
        self.wrong_ms.div_ceil(limits.fade_ms)
    }

    /// Lets one in, after a while or not at all.
    fn ask(&mut self, limits: &Limits) -> Verdict {
        let wrong = self.wrong(limits);
        let unminded = if wrong < limits.free { limits.parallel } else { 0 };
        let open = self.open_ms.div_ceil(limits.open_ms).saturating_sub(unminded);
        let Some(over) = wrong.saturating_add(open).checked_sub(limits.free) else { return self.admit(limits, 0) };
        let turn = over.checked_div(limits.step).unwrap_or(u64::MAX);
        if turn < WAITS {
            let wait = WAIT_MS.checked_shl(u32::try_from(turn).unwrap_or(u32::MAX)).unwrap_or(WAIT_MAX_MS);
            return self.admit(limits, wait.min(WAIT_MAX_MS));
        }
        let excess = self.wrong_ms.saturating_sub(limits.most_ms());
        Verdict::Later(excess.div_ceil(1_000).max(1))
    }

    fn admit(&mut self, limits: &Limits, wait_ms: u64) -> Verdict {
        self.open_ms = self.open_ms.saturating_add(limits.open_ms);
        Verdict::After(wait_ms)
    }

    /// One that was let in has been answered.
    fn settle(&mut self, limits: &Limits, wrong: u64) {
        self.open_ms = self.open_ms.saturating_sub(limits.open_ms);
        self.add(limits, wrong);
    }

    fn add(&mut self, limits: &Limits, wrong: u64) {
        let most = limits.most_ms().saturating_add(limits.away_ms);
        self.wrong_ms = self.wrong_ms.saturating_add(wrong.saturating_mul(limits.fade_ms)).min(most);
    }
}

impl Limits {
    /// The level up to which one more is let in.
    const fn most_ms(&self) -> u64 {
        let most = self.free.saturating_add(WAITS.saturating_mul(self.step)).saturating_sub(1);
        most.saturating_mul(self.fade_ms)
    }
}

/// The counts of one project.
#[derive(Debug, Default)]
pub struct Guesses {
    keys: BTreeMap<String, Bucket>,
    addresses: Recent,
}

impl Guesses {
    /// Whether a request that names codes goes on.
    pub fn ask(&mut self, asker: &Asker, now_ms: i64) -> Verdict {
        let key = self.keys.entry(asker.key.clone()).or_default();
        *key = key.faded(now_ms);
        let Some(address) = &asker.address else { return key.ask(&KEY) };
        let limits = if key.wrong(&KEY) < KEY.free { &ADDRESS } else { &ADDRESS_UNDER_ATTACK };
        self.addresses.with(named(&asker.key, address), now_ms, |bucket| bucket.ask(limits))
    }

    /// How many names were wrong in a request that went on.
    pub fn settle(&mut self, asker: &Asker, wrong: u64, now_ms: i64) {
        let key = self.keys.entry(asker.key.clone()).or_default();
        *key = key.faded(now_ms);
        match &asker.address {
            Some(address) => {
                key.add(&KEY, wrong);
                self.addresses.with(named(&asker.key, address), now_ms, |bucket| bucket.settle(&ADDRESS, wrong));
            }
            None => key.settle(&KEY, wrong),
        }
    }

    /// Of how many addresses something is known.
    pub fn addresses(&self) -> usize {
        self.addresses.young.len().saturating_add(self.addresses.old.len())
    }
}

/// Neither an address nor the id of a key has a space.
fn named(key: &str, address: &str) -> String {
    format!("{address} {key}")
}

/// What is known by name, as long as it is not among the oldest: two halves, of which the older one goes as a whole.
#[derive(Debug, Default)]
struct Recent {
    young: BTreeMap<String, Bucket>,
    old: BTreeMap<String, Bucket>,
}

impl Recent {
    fn with<T>(&mut self, name: String, now_ms: i64, act: impl FnOnce(&mut Bucket) -> T) -> T {
        let known = self.young.remove(&name).or_else(|| self.old.remove(&name));
        let mut bucket = known.unwrap_or_default().faded(now_ms);
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
