//! Reads the bundle as a client does: the head, then the core that it names, and all goods buckets.

use crate::box_keys;
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::bundle::PreparedRules;
use scrip::bundle::goods_tree::root_of_path;
use scrip::text::sha256_hex;
use scrip::time::Instant;
use serde_json::{Value as Json, json};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A head's claims with its core.
pub struct Bundle {
    pub claims: Json,
    /// The rule set, put together where it is in parts.
    pub core: Vec<u8>,
    /// All goods buckets, proven.
    pub buckets: Vec<Vec<u8>>,
    /// Contents of boxes by the codes that were typed; `None` where there is no box.
    opened: RefCell<BTreeMap<String, Option<Vec<u8>>>>,
}

/// Returns the claims of a head, without a check of its signature.
pub fn claims_of(head: &[u8]) -> Result<Json, String> {
    let text = std::str::from_utf8(head).map_err(|error| error.to_string())?;
    let [_, claims, _] = text.split('.').collect::<Vec<_>>()[..] else { return Err(format!("`{text}` is no head")) };
    let bytes = Base64UrlUnpadded::decode_vec(claims).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

impl Bundle {
    /// Reads the core that a head names; `fetch` returns the body of the answer for a path.
    pub fn of(head: &[u8], mut fetch: impl FnMut(&str) -> Vec<u8>) -> Bundle {
        let claims = claims_of(head).unwrap();
        let mut part = |hash: &Json| {
            let path = format!("/client/v1/bundle/{}/{}", claims["iss"].as_str().unwrap(), hash.as_str().unwrap());
            let bytes = fetch(&path);
            assert_eq!(*hash, sha256_hex(&bytes), "{path}");
            bytes
        };
        let document = part(&claims["core"]);
        let index: Json = serde_json::from_slice(&document).unwrap();
        let core = match index["parts"].as_array() {
            None => document,
            Some(parts) => parts.iter().flat_map(part).collect(),
        };
        let goods = &claims["goods"];
        let count = goods["buckets"].as_u64().map_or(0, |count| u32::try_from(count).unwrap());
        let address = |bucket: u32| {
            let [project, root] = [&claims["iss"], &goods["root"]].map(|text| text.as_str().unwrap());
            format!("/client/v1/bundle/{project}/goods/{root}/{bucket}")
        };
        let buckets = (0..count).map(|bucket| prove_bucket(&fetch(&address(bucket)), bucket, goods)).collect();
        Bundle { claims, core, buckets, opened: RefCell::default() }
    }

    /// Returns the products and SKUs of all buckets, each once.
    #[allow(dead_code, reason = "not every program of tests has goods")]
    pub fn goods(&self) -> Json {
        let mut lists = [BTreeMap::new(), BTreeMap::new()];
        for bucket in &self.buckets {
            let bucket: Json = serde_json::from_slice(bucket).unwrap();
            for (list, name) in lists.iter_mut().zip(["products", "skus"]) {
                list.extend(bucket[name].as_array().unwrap().iter().map(|one| (one["id"].to_string(), one.clone())));
            }
        }
        let [products, skus] = lists.map(|list| list.into_values().collect::<Json>());
        json!({ "products": products, "skus": skus })
    }

    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.core).unwrap()
    }

    /// Returns the rules with their horizon.
    pub fn prepare(&self) -> PreparedRules {
        self.prepare_with(&Json::Null)
    }

    /// Returns the rules with further facts.
    pub fn prepare_with(&self, facts: &Json) -> PreparedRules {
        self.prepare_joined(&[facts.to_string().as_bytes()])
    }

    /// Returns the rules for a request, with what the codes in it open and with further facts, if any. `plain` are the rules without them.
    #[allow(dead_code, reason = "not every program of tests types codes")]
    pub fn prepare_for(&self, plain: &PreparedRules, request: &Json, facts: Option<&Json>) -> PreparedRules {
        let typed = plain.typed_codes(request.to_string().as_bytes());
        let mut known = self.opened.borrow_mut();
        let unknown: Vec<&String> = typed.iter().filter(|code| !known.contains_key(*code)).collect();
        if !unknown.is_empty() {
            let core = self.json();
            known.extend(unknown.into_iter().map(|code| (code.clone(), box_keys::open(&core, code))));
        }
        let facts = facts.map(|facts| facts.to_string().into_bytes());
        let opened = typed.iter().filter_map(|code| known[code].as_deref());
        let joined: Vec<&[u8]> = opened.chain(facts.as_deref()).collect();
        self.prepare_joined(&joined)
    }

    fn prepare_joined(&self, documents: &[&[u8]]) -> PreparedRules {
        let more: Vec<&[u8]> = self.buckets.iter().map(Vec::as_slice).chain(documents.iter().copied()).collect();
        let joined = PreparedRules::joined(&self.core, &more);
        self.within(joined.unwrap_or_else(|problem| panic!("{problem}\n{}", self.json())))
    }

    fn within(&self, prepared: PreparedRules) -> PreparedRules {
        let at = |name: &str| Instant::from_millis(self.claims[name].as_i64().unwrap()).unwrap();
        prepared.with_horizon(at("from"), at("to"))
    }
}

/// Returns the bytes of a bucket, whose path leads to the root.
pub fn prove_bucket(answer: &[u8], bucket: u32, goods: &Json) -> Vec<u8> {
    let read: Json = serde_json::from_slice(answer).unwrap();
    let begin = format!("{{\"path\":{},\"goods\":", read["path"]);
    let bytes = answer.strip_prefix(begin.as_bytes()).and_then(|rest| rest.strip_suffix(b"}")).unwrap().to_vec();
    let path: String = read["path"].as_array().unwrap().iter().map(|hash| hash.as_str().unwrap()).collect();
    assert_eq!(root_of_path(&bytes, bucket, &path).as_deref(), goods["root"].as_str(), "{bucket}");
    assert_eq!((&read["goods"]["bucket"], &read["goods"]["buckets"]), (&json!(bucket), &goods["buckets"]));
    bytes
}
