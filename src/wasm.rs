//! Decides how JavaScript reaches the engine: one class, `Engine`, that holds prepared rules and answers bytes with bytes.
//!
//! It must not decide anything about a basket, read a clock or draw randomness: the moment comes in as whole
//! milliseconds (a `BigInt`, never a float) and the seed as hex. Text and objects are the affair of the JavaScript around
//! it, which has its own encoder and its own JSON; a second one of each in here would be bytes for nothing.

use crate::Context;
use crate::bundle::Prepared;
use crate::bundle::prepared::Answer;
use crate::text::{digits, unhex};
use crate::time::Instant;
use crate::wire::out::Out;
use crate::wire::problem::Problem;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Rules that were read and compiled once, ready to decide many baskets.
#[wasm_bindgen]
pub struct Engine {
    prepared: Prepared,
}

#[wasm_bindgen]
impl Engine {
    /// Reads the rules, JSON as UTF-8; throws the problem as JSON with `path`, `text` and `message` when they are bad.
    #[wasm_bindgen(constructor)]
    pub fn new(rules: &[u8]) -> Result<Engine, JsValue> {
        Prepared::new(rules).map(|prepared| Engine { prepared }).map_err(|problem| thrown(&problem))
    }

    /// The content hash of the rules, hex SHA-256 of their bytes; the `ETag` of a bundle is the same text.
    pub fn hash(&self) -> String {
        self.prepared.hash().to_owned()
    }

    /// Decides a request given as JSON in UTF-8, the form that HTTP carries; throws what is wrong with moment or seed.
    pub fn validate(&self, request: &[u8], now_ms: i64, seed: &[u8]) -> Result<Vec<u8>, JsValue> {
        self.decide(request, now_ms, seed, Prepared::validate)
    }

    /// Finds what of the rules would work, in the same way.
    pub fn qualify(&self, request: &[u8], now_ms: i64, seed: &[u8]) -> Result<Vec<u8>, JsValue> {
        self.decide(request, now_ms, seed, Prepared::qualify)
    }
}

/// What a set of rules is asked.
type Verb = fn(&Prepared, &[u8], &Context) -> Answer;

impl Engine {
    fn decide(&self, request: &[u8], now_ms: i64, seed: &[u8], verb: Verb) -> Result<Vec<u8>, JsValue> {
        let Some(now) = Instant::from_millis(now_ms) else {
            return Err(wrong(
                "now",
                &[if now_ms < 0 { "-" } else { "" }, &digits(now_ms.unsigned_abs())].concat(),
                "lie within the years 1970 to 9999",
            ));
        };
        let seed = str::from_utf8(seed).unwrap_or_default();
        let Some(seed) = unhex(seed) else {
            return Err(wrong("seed", seed, "be 2 to 64 hex digits, two for a byte"));
        };
        Ok(verb(&self.prepared, request, &Context { now, seed }).body)
    }
}

/// Where rules are wrong, and how.
#[cold]
fn thrown(problem: &Problem) -> JsValue {
    let json = Out::object_of(|out| {
        out.member("path").text(&problem.path);
        out.member("text").text(&problem.text);
        out.member("message").text(&problem.sentence());
    });
    JsValue::from_str(str::from_utf8(&json).unwrap_or_default())
}

#[cold]
fn wrong(name: &str, value: &str, bound: &str) -> JsValue {
    JsValue::from_str(&[name, " `", value, "` must ", bound].concat())
}

/// The allocator: constant time, and a third of the size of the usual one.
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
