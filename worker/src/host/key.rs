//! Decides where the record of an API key is found: in memory, else in KV, else with the object that owns it.
//! It must not know what a record says; whether it admits the request is decided in `auth`.
//!
//! A record carries the moment until which it may be believed, so that memory and KV together are never older than a minute.

use std::cell::RefCell;
use std::collections::BTreeMap;

use worker::{Context, Env};

use super::entry::{Bindings, Failure};
use super::{chance, durable};
use crate::store::sql::Fault;

/// How long a record may be believed after its owner gave it.
const FRESH_MILLIS: i64 = 60_000;
/// The shortest life that KV offers.
const KV_SECONDS: u64 = 60;
/// Records kept in memory; beyond it the memory starts anew.
const KEPT: usize = 1_000;

/// A record and the moment until which it may be believed.
#[derive(Clone)]
struct Kept {
    until: i64,
    record: String,
}

thread_local! {
    static MEMORY: RefCell<BTreeMap<String, Kept>> = const { RefCell::new(BTreeMap::new()) };
}

/// Where a record is looked for.
pub(super) struct Place<'a> {
    /// Its name in memory and in KV.
    pub kv_key: &'a str,
    /// The object that owns it: `directory` or `project:{id}`.
    pub object: &'a str,
    /// What to ask that object for.
    pub path: &'a str,
}

/// The record, or nothing when its owner does not know it.
pub(super) async fn find(
    place: &Place<'_>,
    env: &Env,
    bindings: &Bindings,
    context: &Context,
    request_id: &str,
) -> Result<Option<String>, Failure> {
    let now = chance::now()?.millis();
    if let Some(record) = recall(place.kv_key, now) {
        return Ok(Some(record));
    }
    let kv = env.kv("KV")?;
    if let Some(kept) =
        kv.get(place.kv_key).text().await?.as_deref().and_then(read_kept).filter(|kept| kept.until > now)
    {
        remember(place.kv_key, kept.clone());
        return Ok(Some(kept.record));
    }
    let lines = format!("scrip-request-id\n{request_id}\n");
    let answer = bindings.ask(place.object, "GET", place.path, &lines, None).await?;
    if answer.status == 404 {
        return Ok(None);
    }
    if answer.status != 200 {
        return Err(Fault::new(format!("`{}` answered {} for a key", place.object, answer.status)).into());
    }
    let record = String::from_utf8(answer.bytes.to_vec()).map_err(|_| Fault::new("a key record is not text"))?;
    let kept = Kept { until: now.saturating_add(FRESH_MILLIS), record };
    let put = kv.put(place.kv_key, write_kept(&kept))?.expiration_ttl(KV_SECONDS);
    // The request does not wait for KV: when the put is lost, the next request asks the owner again.
    context.wait_until(async move {
        if let Err(error) = put.execute().await {
            worker::console_error!("a key was not kept in KV: {error:?}");
        }
    });
    remember(place.kv_key, kept.clone());
    Ok(Some(kept.record))
}

fn recall(kv_key: &str, now: i64) -> Option<String> {
    MEMORY.with_borrow(|memory| memory.get(kv_key).filter(|kept| kept.until > now).map(|kept| kept.record.clone()))
}

fn remember(kv_key: &str, kept: Kept) {
    MEMORY.with_borrow_mut(|memory| {
        if memory.len() >= KEPT {
            memory.clear();
        }
        memory.insert(kv_key.to_owned(), kept);
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

impl From<worker::KvError> for Failure {
    fn from(error: worker::KvError) -> Failure {
        Failure::from(Fault::new(format!("KV: {error:?}")))
    }
}

impl From<worker::Error> for Failure {
    fn from(error: worker::Error) -> Failure {
        Failure::from(Fault::new(format!("binding: {error}")))
    }
}

impl From<wasm_bindgen::JsValue> for Failure {
    fn from(error: wasm_bindgen::JsValue) -> Failure {
        Failure::from(Fault::new(durable::describe(&error)))
    }
}
