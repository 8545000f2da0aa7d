//! Decides how JavaScript reaches the engine: a class with rules that were read once, whose methods take and give bytes.
//!
//! It must not decide anything about a basket, read a clock or draw randomness: the moment comes in as whole
//! milliseconds (a `BigInt`, never a float) and the seed as hex. Text and objects are the affair of the JavaScript around
//! it, which has its own encoder and its own JSON.

use wasm_bindgen::JsError;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Context;
use crate::bundle::Prepared;
use crate::bundle::prepared::Answer;
use crate::text::unhex;
use crate::time::Instant;
use crate::wire::out::Out;
use crate::wire::problem::Problem;

/// Rules that were read and compiled once.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Rules(Prepared);

#[wasm_bindgen]
impl Rules {
    /// Reads rules, JSON in UTF-8. Those that are bad throw the problem as JSON with `path`, `text` and `message`.
    #[wasm_bindgen(constructor)]
    pub fn new(rules: &[u8]) -> Result<Rules, String> {
        Prepared::new(rules).map(Rules).map_err(|problem| told(&problem))
    }

    /// The content hash of the rules, hex SHA-256 of their bytes; the `ETag` of a bundle is the same text.
    #[wasm_bindgen(getter)]
    pub fn hash(&self) -> String {
        self.0.hash().to_owned()
    }

    /// Decides a request, JSON in UTF-8 as HTTP carries it; throws when moment or seed are wrong.
    pub fn validate(&self, request: &[u8], now_ms: i64, seed: &str) -> Result<Vec<u8>, JsError> {
        self.decide(request, now_ms, seed, Prepared::validate)
    }

    /// Finds what of the rules would work, in the same way.
    pub fn qualify(&self, request: &[u8], now_ms: i64, seed: &str) -> Result<Vec<u8>, JsError> {
        self.decide(request, now_ms, seed, Prepared::qualify)
    }
}

impl Rules {
    fn decide(&self, request: &[u8], now_ms: i64, seed: &str, verb: Verb) -> Result<Vec<u8>, JsError> {
        let now = Instant::from_millis(now_ms)
            .ok_or_else(|| JsError::new(&format!("now `{now_ms}` must lie within the years 1970 to 9999")))?;
        let seed = unhex(seed)
            .ok_or_else(|| JsError::new(&format!("seed `{seed}` must be 2 to 64 hex digits, two for a byte")))?;
        Ok(verb(&self.0, request, &Context { now, seed }).body)
    }
}

/// What a set of rules is asked.
type Verb = fn(&Prepared, &[u8], &Context) -> Answer;

/// Where rules are wrong, and how.
fn told(problem: &Problem) -> String {
    let told = Out::object_of(|out| {
        out.put_text("path", &problem.path);
        out.put_text("text", &problem.text);
        out.put_text("message", &problem.sentence());
    });
    String::from_utf8(told).unwrap_or_default()
}
