//! Finds the record of an API key: in memory, else in KV, else in the object that owns it. `auth` checks the record.
//!
//! A record contains the end of its validity. So memory and KV together are never older than a minute, even after restarts
//! of the process. Names in memory and KV contain a digest of the setup: a process with a new setup never reads records of the
//! old one. A record that does not fit is requested again ([`request_record`]): a new secret works at once while processes with both
//! setups run. Times saturate, at the end of time.

use super::bindings::{Bindings, ObjectCall, ObjectCallFailure};
use super::log;
use crate::access::auth::Record;
use crate::constant_time::sha256_hex;
use crate::store::sql::Fault;
use crate::timestamp;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen::JsCast;
use worker::{Context, Env};

/// Validity of a record after its owner returned it.
const FRESH_MILLIS: i64 = 60_000;
/// Time for which a record is not requested again, for any secret sent with its key: guesses must not each reach the owner.
const REUSED_MILLIS: i64 = 1_000;
/// Length of the prefix of the setup's hash that the names begin with.
const SETUP_DIGEST_LENGTH: usize = 16;
/// Minimum lifetime of a value in KV, in seconds.
const KV_SECONDS: u64 = 60;
/// Maximum number of records in memory; above it the cache is cleared.
const RECORDS_MAX: usize = 1_000;

/// Record with the end of its validity.
#[derive(Clone)]
pub(super) struct CachedKey {
    until: i64,
    /// Record of the key; `None` if another version of the service wrote it.
    pub record: Option<Rc<Record>>,
}

impl CachedKey {
    /// Returns true if the record is still valid. A time that no clock of the service can have written is not.
    fn is_fresh(&self, now: i64) -> bool {
        self.until > now && self.until <= timestamp::later(now, FRESH_MILLIS)
    }

    /// Returns true if its owner may have changed it by now.
    pub fn may_have_changed(&self, now: i64) -> bool {
        timestamp::later(timestamp::earlier(self.until, FRESH_MILLIS), REUSED_MILLIS) <= now
    }
}

thread_local! {
    /// The digest of the setup; a process has one for all its life.
    static SETUP_DIGEST: RefCell<Option<String>> = const { RefCell::new(None) };
    static MEMORY: RefCell<BTreeMap<String, CachedKey>> = const { RefCell::new(BTreeMap::new()) };
    /// Number of evictions: what was read before one may be an evicted record.
    static EVICTIONS: Cell<u64> = const { Cell::new(0) };
}

/// Location of a record.
pub(super) struct KeyLocation<'a> {
    /// Its name in memory and in KV, of [`name`].
    pub name: &'a str,
    /// The object that owns it: `directory` or `project:{id}`.
    pub object: &'a str,
    /// Path of the record in that object.
    pub path: &'a str,
    /// Header lines of the call for the record.
    pub lines: &'a str,
}

/// Returns the name under which a record of this setup is cached.
pub(super) fn name(kv_key: &str, env: &Env) -> String {
    SETUP_DIGEST.with_borrow_mut(|setup_digest| {
        let setup_digest = setup_digest.get_or_insert_with(|| {
            let setup = env.var("SCRIP_SETUP").map(|setup| setup.to_string()).unwrap_or_default();
            sha256_hex(setup.as_bytes()).chars().take(SETUP_DIGEST_LENGTH).collect()
        });
        format!("{setup_digest}:{kv_key}")
    })
}

/// Finds the record, or returns `None` if its owner does not know it.
pub(super) async fn find(
    place: &KeyLocation<'_>,
    now: i64,
    env: &Env,
    runtime: &Context,
) -> Result<Option<CachedKey>, ObjectCallFailure> {
    if let Some(cached) = find_cached(place.name, now) {
        return Ok(Some(cached));
    }
    let evictions = EVICTIONS.get();
    let text = env.kv("KV")?.get(place.name).text().await?;
    let cached = text.as_deref().and_then(read_cached).filter(|cached| cached.is_fresh(now));
    match cached.filter(|_| EVICTIONS.get() == evictions) {
        Some(cached) => {
            cache(place.name, cached.clone());
            Ok(Some(cached))
        }
        None => request_record(place, now, env, runtime).await,
    }
}

/// Requests the current record from its owner.
pub(super) async fn request_record(
    place: &KeyLocation<'_>,
    now: i64,
    env: &Env,
    runtime: &Context,
) -> Result<Option<CachedKey>, ObjectCallFailure> {
    let kv = env.kv("KV")?;
    let bindings: &Bindings = env.unchecked_ref();
    let call = ObjectCall { method: "GET", target: place.path, lines: place.lines, body: None };
    let evictions = EVICTIONS.get();
    let answer = bindings.call(place.object, call).await?;
    if answer.status == 404 {
        MEMORY.with_borrow_mut(|memory| memory.remove(place.name));
        return Ok(None);
    }
    if answer.status != 200 {
        return Err(Fault::new(format!("`{}` answered {} for a key", place.object, answer.status)).into());
    }
    let record = String::from_utf8(answer.bytes.to_vec()).map_err(|_| Fault::new("a key record is not text"))?;
    let text = write_cached(timestamp::later(now, FRESH_MILLIS), &record);
    let cached = read_cached(&text).ok_or_else(|| Fault::new("a key record cannot be cached"))?;
    // It may be the evicted record.
    if EVICTIONS.get() != evictions {
        return Ok(Some(cached));
    }
    let put = kv.put(place.name, text)?.expiration_ttl(KV_SECONDS);
    // The request does not wait for KV: when the put is lost, the next request calls the owner again.
    runtime.wait_until(async move {
        if let Err(error) = put.execute().await {
            log::write("warning", "key_not_kept", "", &format!("KV: {error:?}"));
        }
    });
    cache(place.name, cached.clone());
    Ok(Some(cached))
}

/// Evicts a changed record from the memory of this instance.
pub(super) fn evict_here(name: &str) {
    // A count of evictions.
    EVICTIONS.set(EVICTIONS.get().wrapping_add(1));
    MEMORY.with_borrow_mut(|memory| memory.remove(name));
}

/// Evicts a changed record from KV.
pub(super) async fn evict_from_kv(name: &str, env: &Env) -> worker::Result<()> {
    Ok(env.kv("KV")?.delete(name).await?)
}

fn find_cached(name: &str, now: i64) -> Option<CachedKey> {
    MEMORY.with_borrow(|memory| memory.get(name).filter(|cached| cached.is_fresh(now)).cloned())
}

fn cache(name: &str, cached: CachedKey) {
    MEMORY.with_borrow_mut(|memory| {
        if memory.len() >= RECORDS_MAX {
            memory.clear();
        }
        memory.insert(name.to_owned(), cached);
    });
}

/// Formats a cached key: `{moment}`, newline, record.
fn write_cached(until: i64, record: &str) -> String {
    format!("{until}\n{record}")
}

fn read_cached(text: &str) -> Option<CachedKey> {
    let (until, record) = text.split_once('\n')?;
    Some(CachedKey { until: until.parse().ok()?, record: serde_json::from_str(record).ok().map(Rc::new) })
}
