//! Reads the bundle as a client does: the head, then the core that it names.

use crate::box_keys;
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::bundle::PreparedRules;
use scrip::text::sha256_hex;
use scrip::time::Instant;
use serde_json::Value as Json;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A head's claims with its core.
pub struct Bundle {
    pub claims: Json,
    /// The rule set, put together where it is in parts.
    pub core: Vec<u8>,
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
        Bundle { claims, core, opened: RefCell::default() }
    }

    pub fn json(&self) -> Json {
        serde_json::from_slice(&self.core).unwrap()
    }

    /// Returns the rules with their horizon.
    pub fn prepare(&self) -> PreparedRules {
        self.within(PreparedRules::new(&self.core).unwrap_or_else(|problem| panic!("{problem}\n{}", self.json())))
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
        self.within(PreparedRules::joined(&self.core, &joined).unwrap())
    }

    fn within(&self, prepared: PreparedRules) -> PreparedRules {
        let at = |name: &str| Instant::from_millis(self.claims[name].as_i64().unwrap()).unwrap();
        prepared.within(at("from"), at("to"))
    }
}
