//! Decides how JavaScript reaches the engine: one class, `Engine`, that holds prepared rules and answers in text, bytes
//! or plain objects.
//!
//! It must not decide anything about a basket, read a clock or draw randomness: the moment comes in as whole
//! milliseconds (a `BigInt`, never a float) and the seed as hex. All three entries end in the same bytes-to-bytes call.

use crate::Context;
use crate::bundle::Prepared;
use crate::text::unhex;
use crate::time::Instant;
use crate::wire::problem::Problem;
use js_sys::{JSON, Uint8Array};
use wasm_bindgen::prelude::{JsCast, JsError, JsValue, wasm_bindgen};

/// Rules that were read and compiled once, ready to decide many baskets.
#[wasm_bindgen]
pub struct Engine {
    prepared: Prepared,
}

#[wasm_bindgen]
impl Engine {
    /// Reads the rules, JSON as text or as UTF-8 bytes; throws an `Error` that names the field when they are bad, in its
    /// message for people and in its `cause` for an editor of rules.
    #[wasm_bindgen(constructor)]
    pub fn new(rules: JsValue) -> Result<Engine, JsValue> {
        let bytes = match rules.as_string() {
            Some(text) => text.into_bytes(),
            None => match rules.dyn_into::<Uint8Array>() {
                Ok(array) => array.to_vec(),
                Err(_) => return Err(JsError::new("rules must be JSON as a string or as a Uint8Array").into()),
            },
        };
        Prepared::new(&bytes).map(|prepared| Engine { prepared }).map_err(|problem| thrown(&problem))
    }

    /// The content hash of the rules, hex SHA-256 of their bytes; the `ETag` of a bundle is the same text.
    pub fn hash(&self) -> String {
        self.prepared.hash().to_owned()
    }

    /// Decides a request given as JSON text.
    pub fn validate_text(&self, request: &str, now_ms: i64, seed: &str) -> Result<String, JsError> {
        let answer = self.prepared.validate(request.as_bytes(), &context(now_ms, seed)?).body;
        text_of(answer)
    }

    /// Decides a request given as UTF-8 bytes, the form that HTTP carries.
    pub fn validate_bytes(&self, request: &[u8], now_ms: i64, seed: &str) -> Result<Vec<u8>, JsError> {
        Ok(self.prepared.validate(request, &context(now_ms, seed)?).body)
    }

    /// Decides a request given as a plain object.
    ///
    /// What goes in is what `JSON.stringify` would send and what comes out is what `JSON.parse` would read, so dates,
    /// `toJSON` and `undefined` mean what they mean on the wire, and numbers are exactly those of the text. A walk of
    /// the object from Rust was tried and left: 3 kB more after brotli, dates as `{}`, and the last digit of long
    /// fractions lost.
    pub fn validate_object(&self, request: &JsValue, now_ms: i64, seed: &str) -> Result<JsValue, JsError> {
        let not_json = || JsError::new("the request must be an object that can be written as JSON");
        let text =
            JSON::stringify(request).ok().and_then(|text| JsValue::from(text).as_string()).ok_or_else(not_json)?;
        let answer = self.prepared.validate(text.as_bytes(), &context(now_ms, seed)?).body;
        let answer = text_of(answer)?;
        JSON::parse(&answer).map_err(|_| JsError::new("the engine answered with text that is not JSON"))
    }
}

/// Where rules are wrong, and how.
#[derive(serde::Serialize)]
struct Cause<'a> {
    path: &'a str,
    text: &'a str,
}

fn thrown(problem: &Problem) -> JsValue {
    let error = js_sys::Error::new(&format!("rules: {problem}"));
    let cause = Cause { path: &problem.path, text: &problem.text };
    if let Ok(cause) = serde_wasm_bindgen::to_value(&cause) {
        error.set_cause(&cause);
    }
    error.into()
}

/// The engine writes UTF-8 by construction; the check costs less than an argument about it.
fn text_of(answer: Vec<u8>) -> Result<String, JsError> {
    String::from_utf8(answer).map_err(|_| JsError::new("the engine answered with bytes that are not UTF-8"))
}

/// The moment and the seed, as the engine wants them.
fn context(now_ms: i64, seed: &str) -> Result<Context, JsError> {
    let Some(now) = Instant::from_millis(now_ms) else {
        return Err(JsError::new(&format!("now `{now_ms}` must lie within the years 1970 to 9999")));
    };
    match unhex(seed) {
        Some(seed) => Ok(Context { now, seed }),
        None => Err(JsError::new(&format!("seed `{seed}` must be 2 to 64 hex digits, two for a byte"))),
    }
}
