//! Answers goods buckets from the copies of their parts in KV, without the project's object.

use super::bindings::{Bindings, ObjectResponse};
use super::bundle::{KV_MS, immutable};
use crate::access::bundle_parts;
use crate::domain::bundle::goods_tree::{BucketSearch, NoBucket};
use crate::http::caller::Caller;
use crate::http::query::Query;
use crate::http::request::Request;
use crate::http::table::MatchedRoute;
use js_sys::Uint8Array;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Maximum number of pages and buckets in memory, of some 10 kB each; above it the cache is cleared.
const PARTS_MAX: usize = 500;

thread_local! {
    static PARTS: RefCell<BTreeMap<String, Vec<u8>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Returns the answer with a bucket and its path; `None` where KV does not have all parts, and for a wrong address, which the object answers.
pub(super) async fn find_bucket(
    bindings: &Bindings,
    matched: &MatchedRoute,
    request: &Request,
    caller: &Caller,
    request_id: &str,
) -> Option<ObjectResponse> {
    let (_, root) = bundle_parts::address_of(&matched.params).ok()?;
    let bucket = bundle_parts::bucket_of(&matched.params)?;
    let query = Query::read(&request.query);
    let have = query.parameter(bundle_parts::HAVE);
    if have.is_some_and(|have| !bundle_parts::is_hash(have)) {
        return None;
    }
    let mut search = BucketSearch::new(root, bucket);
    // The search bounds its steps.
    loop {
        let known = have.and_then(|have| search.answer_known(have));
        let found = match known {
            Some(known) => Some(known),
            None => {
                let part = find_part(bindings, &bundle_parts::copy_name(&caller.project, search.hash())).await?;
                search.read(&part).map_err(|NoBucket| ()).ok()?
            }
        };
        if let Some(found) = found {
            return Some(immutable(Uint8Array::from(found.as_slice()), caller, request_id));
        }
    }
}

/// Returns the bytes of a bucket; `None` where KV does not have all parts, or has others in their place.
pub(super) async fn find_bytes(bindings: &Bindings, project: &str, root: &str, bucket: u32) -> Option<Vec<u8>> {
    let mut search = BucketSearch::new(root, bucket);
    loop {
        let part = find_part(bindings, &bundle_parts::copy_name(project, search.hash())).await?;
        match search.is_bucket(&part) {
            Ok(false) => {}
            // A client proves what it fetches; here it is used as it is.
            Ok(true) if search.proves(&part, root, bucket) => return Some(part),
            _ => break,
        }
    }
    // KV may have the right parts meanwhile.
    PARTS.with_borrow_mut(BTreeMap::clear);
    None
}

async fn find_part(bindings: &Bindings, name: &str) -> Option<Vec<u8>> {
    if let Some(part) = PARTS.with_borrow(|parts| parts.get(name).cloned()) {
        return Some(part);
    }
    let part = bindings.kv_bytes(name, KV_MS).await.ok().flatten()?.to_vec();
    PARTS.with_borrow_mut(|parts| {
        if parts.len() >= PARTS_MAX {
            parts.clear();
        }
        parts.insert(name.to_owned(), part.clone());
    });
    Some(part)
}
