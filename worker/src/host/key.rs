//! Decides where the record of an API key is found: in memory, else in KV, else with the object that owns it.
//! It must not know what a record says; whether it admits the request is decided in `auth`.
//!
//! A record carries the moment until which it may be believed, so that memory and KV together are never older than a minute,
//! however often the process is started again. Names in memory and KV hold a mark of the setup: a process with a new setup never
//! meets what was kept under the old one. Where processes with the old and the new one run beside each other, a record that does
//! not fit is asked for again ([`ask`]), so that a new secret works at once.

use super::bindings::{Bindings, Call, Failure};
use super::log;
use crate::digest::sha256_hex;
use crate::store::sql::Fault;
use std::cell::RefCell;
use std::collections::BTreeMap;
use wasm_bindgen::JsCast;
use worker::{Context, Env};

/// How long a record may be believed after its owner gave it.
const FRESH_MILLIS: i64 = 60_000;
/// How long a record is not asked for again, whatever is sent with its key: guesses must not reach the owner one by one.
const SETTLED_MILLIS: i64 = 1_000;
/// How much of the setup's hash marks the names.
const MARK_LENGTH: usize = 16;
/// The shortest life that KV offers.
const KV_SECONDS: u64 = 60;
/// Records kept in memory; beyond it the memory starts anew.
const KEPT: usize = 1_000;

/// A record and the moment until which it may be believed.
#[derive(Clone)]
pub(super) struct Kept {
    until: i64,
    /// What its owner said.
    pub record: String,
}

impl Kept {
    /// A moment that no clock of ours can have written is not believed either.
    fn is_fresh(&self, now: i64) -> bool {
        self.until > now && self.until <= now.saturating_add(FRESH_MILLIS)
    }

    /// Whether its owner may say something else by now.
    pub fn may_have_changed(&self, now: i64) -> bool {
        self.until.saturating_sub(FRESH_MILLIS).saturating_add(SETTLED_MILLIS) <= now
    }
}

thread_local! {
    /// The mark of the setup; a process has one for all its life.
    static MARK: RefCell<Option<String>> = const { RefCell::new(None) };
    static MEMORY: RefCell<BTreeMap<String, Kept>> = const { RefCell::new(BTreeMap::new()) };
}

/// Where a record is looked for.
pub(super) struct Place<'a> {
    /// Its name in memory and in KV, of [`name`].
    pub name: &'a str,
    /// The object that owns it: `directory` or `project:{id}`.
    pub object: &'a str,
    /// What to ask that object for.
    pub path: &'a str,
    /// The header lines of that question.
    pub lines: &'a str,
}

/// The name under which a record is kept, as far as it was given by this setup.
pub(super) fn name(kv_key: &str, env: &Env) -> String {
    MARK.with_borrow_mut(|mark| {
        let mark = mark.get_or_insert_with(|| {
            let setup = env.var("SCRIP_SETUP").map(|setup| setup.to_string()).unwrap_or_default();
            sha256_hex(setup.as_bytes()).chars().take(MARK_LENGTH).collect()
        });
        format!("{mark}:{kv_key}")
    })
}

/// The record, or nothing when its owner does not know it.
pub(super) async fn find(place: &Place<'_>, now: i64, env: &Env, runtime: &Context) -> Result<Option<Kept>, Failure> {
    if let Some(kept) = recall(place.name, now) {
        return Ok(Some(kept));
    }
    let text = env.kv("KV")?.get(place.name).text().await?;
    match text.as_deref().and_then(read_kept).filter(|kept| kept.is_fresh(now)) {
        Some(kept) => {
            remember(place.name, kept.clone());
            Ok(Some(kept))
        }
        None => ask(place, now, env, runtime).await,
    }
}

/// The record as its owner has it now.
pub(super) async fn ask(place: &Place<'_>, now: i64, env: &Env, runtime: &Context) -> Result<Option<Kept>, Failure> {
    let kv = env.kv("KV")?;
    let bindings: &Bindings = env.unchecked_ref();
    let call = Call { method: "GET", target: place.path, lines: place.lines, body: None };
    let answer = bindings.ask(place.object, call).await?;
    if answer.status == 404 {
        MEMORY.with_borrow_mut(|memory| memory.remove(place.name));
        return Ok(None);
    }
    if answer.status != 200 {
        return Err(Fault::new(format!("`{}` answered {} for a key", place.object, answer.status)).into());
    }
    let record = String::from_utf8(answer.bytes.to_vec()).map_err(|_| Fault::new("a key record is not text"))?;
    let kept = Kept { until: now.saturating_add(FRESH_MILLIS), record };
    let put = kv.put(place.name, write_kept(&kept))?.expiration_ttl(KV_SECONDS);
    // The request does not wait for KV: when the put is lost, the next request asks the owner again.
    runtime.wait_until(async move {
        if let Err(error) = put.execute().await {
            log::write("warning", "key_not_kept", "", &format!("KV: {error:?}"));
        }
    });
    remember(place.name, kept.clone());
    Ok(Some(kept))
}

/// Forgets a record here and in KV, because it has changed.
pub(super) async fn forget(name: &str, env: &Env) -> Result<(), Failure> {
    MEMORY.with_borrow_mut(|memory| memory.remove(name));
    Ok(env.kv("KV")?.delete(name).await?)
}

fn recall(name: &str, now: i64) -> Option<Kept> {
    MEMORY.with_borrow(|memory| memory.get(name).filter(|kept| kept.is_fresh(now)).cloned())
}

fn remember(name: &str, kept: Kept) {
    MEMORY.with_borrow_mut(|memory| {
        if memory.len() >= KEPT {
            memory.clear();
        }
        memory.insert(name.to_owned(), kept);
    });
}

/// `{moment}`, newline, record.
fn write_kept(kept: &Kept) -> String {
    format!("{}\n{}", kept.until, kept.record)
}

fn read_kept(text: &str) -> Option<Kept> {
    let (until, record) = text.split_once('\n')?;
    Some(Kept { until: until.parse().ok()?, record: record.to_owned() })
}
