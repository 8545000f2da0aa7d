//! Exports the engine to JavaScript: a class with prepared rules, whose methods take and return bytes, or plain objects that
//! `serde-wasm-bindgen` reads.
//!
//! Nothing is decided here, and no clock is read. The time is a parameter in whole milliseconds (a `BigInt`, never a float).
//! The seed is a parameter in hex, or is generated from the randomness of the page. The JavaScript around this module
//! converts texts, and checks that an object is plain.

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsError, JsValue};

use js_sys::Uint8Array;

use ed25519_dalek::{Signature, VerifyingKey};
use scrip::Context;
use scrip::bundle::goods_tree::root_of_path;
use scrip::bundle::prepared::PreparedAnswer;
use scrip::bundle::{DECIDES, PreparedRules, WRITES};
use scrip::decide::case::ENGINE;
use scrip::text::{decode_hex_array, sha256_hex};
use scrip::time::Instant;
use scrip::wire::problem::Problem;
use scrip::wire::writer::Writer;

/// Rules that are read and compiled once, for many decisions.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Rules(PreparedRules);

#[wasm_bindgen]
impl Rules {
    /// Reads rules, JSON in UTF-8, for the customer that a token proves, if there is one. Rules of a bundle have a horizon.
    /// `other_engine` is true if the service decides by another version of the engine. `joined` has goods buckets, and the documents of
    /// opened codes and of the customer. Invalid rules throw the problem as JSON with `path`, `text` and `message`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        rules: &[u8],
        customer: Option<String>,
        from_ms: Option<i64>,
        to_ms: Option<i64>,
        other_engine: bool,
        joined: Vec<Uint8Array>,
    ) -> Result<Rules, String> {
        let joined: Vec<Vec<u8>> = joined.iter().map(Uint8Array::to_vec).collect();
        let joined: Vec<&[u8]> = joined.iter().map(Vec::as_slice).collect();
        let read = PreparedRules::joined(rules, &joined);
        let mut prepared = read.map_err(|problem| describe_problem(&problem))?;
        if let Some(customer) = customer {
            prepared = prepared.with_customer(&customer);
        }
        if let Some((from, to)) = from_ms.zip(to_ms) {
            prepared = prepared.with_horizon(horizon_end(from)?, horizon_end(to)?);
        }
        if other_engine {
            prepared = prepared.with_missing(ENGINE);
        }
        Ok(Rules(prepared))
    }

    /// Returns the content hash of the rules: the SHA-256 of their bytes in hex.
    #[wasm_bindgen(getter)]
    pub fn hash(&self) -> String {
        self.0.hash().to_owned()
    }

    /// Returns the numbers of the goods buckets that a request needs and that were not joined. `buckets` is the number of all.
    #[wasm_bindgen(js_name = missingBuckets)]
    pub fn missing_buckets(&self, request: &[u8], buckets: u32) -> Vec<u32> {
        self.0.missing_buckets(request, buckets)
    }

    /// Returns the numbers of the goods buckets that a request needs, also those that were joined.
    #[wasm_bindgen(js_name = neededBuckets)]
    pub fn needed_buckets(&self, request: &[u8], buckets: u32) -> Vec<u32> {
        self.0.needed_buckets(request, buckets)
    }

    /// Returns the codes of a request, JSON in UTF-8, that the rules do not have, in their normal form.
    #[wasm_bindgen(js_name = typedCodes)]
    pub fn typed_codes(&self, request: &[u8]) -> Vec<String> {
        self.0.typed_codes(request)
    }

    /// Validates a request, JSON in UTF-8 as in HTTP. Throws if the time or the seed is invalid.
    pub fn validate(&self, request: &[u8], now_ms: i64, seed: Option<String>) -> Result<Vec<u8>, JsError> {
        self.decide(request, now_ms, seed, PreparedRules::validate)
    }

    /// Validates a request as a plain object of JSON values, and returns a plain object.
    #[wasm_bindgen(js_name = validateObject)]
    pub fn validate_object(&self, request: JsValue, now_ms: i64, seed: Option<String>) -> Result<JsValue, JsError> {
        self.decide_object(request, now_ms, seed, PreparedRules::validate_object)
    }

    /// Qualifies a request, JSON in UTF-8: returns the redeemables that would apply.
    pub fn qualify(&self, request: &[u8], now_ms: i64, seed: Option<String>) -> Result<Vec<u8>, JsError> {
        self.decide(request, now_ms, seed, PreparedRules::qualify)
    }

    /// Finds the prices of products and SKUs, each alone, for a request in JSON in UTF-8.
    pub fn prices(&self, request: &[u8], now_ms: i64, seed: Option<String>) -> Result<Vec<u8>, JsError> {
        self.decide(request, now_ms, seed, PreparedRules::prices)
    }

    /// Lets the decisions that follow be those of a past time, by the offers that are in force at another one. Throws if a time is invalid.
    #[wasm_bindgen(js_name = decidePast)]
    pub fn decide_past(&mut self, now_ms: i64, in_force_ms: i64) -> Result<(), JsError> {
        self.0.decide_past(instant(now_ms)?, instant(in_force_ms)?);
        Ok(())
    }

    /// Counts a redemption of a request, JSON in UTF-8, for the decisions that follow. Returns true if it was counted.
    pub fn count(&mut self, request: &[u8], now_ms: i64, seed: Option<String>) -> Result<bool, JsError> {
        Ok(self.0.count(request, &context(now_ms, seed)?))
    }

    /// Qualifies a request as a plain object, and returns a plain object.
    #[wasm_bindgen(js_name = qualifyObject)]
    pub fn qualify_object(&self, request: JsValue, now_ms: i64, seed: Option<String>) -> Result<JsValue, JsError> {
        self.decide_object(request, now_ms, seed, PreparedRules::qualify_object)
    }
}

impl Rules {
    fn decide(
        &self,
        request: &[u8],
        now_ms: i64,
        seed: Option<String>,
        operation: Operation,
    ) -> Result<Vec<u8>, JsError> {
        Ok(operation(&self.0, request, &context(now_ms, seed)?).body)
    }

    fn decide_object(
        &self,
        request: JsValue,
        now_ms: i64,
        seed: Option<String>,
        operation: ObjectOperation,
    ) -> Result<JsValue, JsError> {
        let answer = operation(&self.0, serde_wasm_bindgen::Deserializer::from(request), &context(now_ms, seed)?);
        parse_answer(answer.body)
    }
}

/// Returns one end of a horizon.
fn horizon_end(ms: i64) -> Result<Instant, String> {
    Instant::from_millis(ms).ok_or_else(|| {
        let text = format!("`{ms}` must lie within the years 1970 to 9999");
        describe_problem(&Problem::at("horizon", text))
    })
}

/// Returns true if an Ed25519 signature (64 bytes) of a message is by a public key (32 bytes). Keys and signatures that would
/// match several messages are refused.
#[wasm_bindgen(js_name = verifySignature)]
pub fn verify_signature(key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let key = key.try_into().ok().and_then(|key| VerifyingKey::from_bytes(key).ok());
    let signature = Signature::from_slice(signature).ok();
    key.zip(signature).is_some_and(|(key, signature)| key.verify_strict(message, &signature).is_ok())
}

/// Returns the SHA-256 of bytes in hex.
#[wasm_bindgen]
pub fn sha256(bytes: &[u8]) -> String {
    sha256_hex(bytes)
}

/// Returns the root to which the path of a goods bucket leads, both in hex; undefined without such a path.
#[wasm_bindgen(js_name = goodsRoot)]
pub fn goods_root(bucket: &[u8], place: u32, path: &str) -> Option<String> {
    root_of_path(bucket, place, path)
}

/// Returns the version of this engine's verdicts.
#[wasm_bindgen]
pub fn decides() -> u32 {
    DECIDES
}

/// Returns the version of this engine's bytes.
#[wasm_bindgen]
pub fn writes() -> u32 {
    WRITES
}

/// Returns the context with the time and the seed of the page. Without a seed it has 32 random bytes.
fn context(now_ms: i64, seed: Option<String>) -> Result<Context, JsError> {
    let now = instant(now_ms)?;
    let seed = match seed {
        Some(seed) => decode_hex_array(&seed)
            .ok_or_else(|| JsError::new(&format!("seed `{seed}` must be 2 to 64 hex digits, two for a byte")))?,
        None => {
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(|error| JsError::new(&format!("no randomness: {error}")))?;
            seed
        }
    };
    Ok(Context { now, seed, first_number: None })
}

/// Returns the instant of a time in milliseconds.
fn instant(ms: i64) -> Result<Instant, JsError> {
    Instant::from_millis(ms).ok_or_else(|| JsError::new(&format!("now `{ms}` must lie within the years 1970 to 9999")))
}

/// Parses an answer to a plain object with the page's own JSON parser.
fn parse_answer(answer: Vec<u8>) -> Result<JsValue, JsError> {
    js_sys::JSON::parse(&text(answer)).map_err(|_| JsError::new("the answer is no JSON"))
}

/// Converts JSON in UTF-8 to a text of JavaScript.
fn text(answer: Vec<u8>) -> String {
    String::from_utf8(answer).unwrap_or_default()
}

/// Operation of the rules on a request as bytes.
type Operation = fn(&PreparedRules, &[u8], &Context) -> PreparedAnswer;

/// Operation of the rules on a request as an object.
type ObjectOperation = fn(&PreparedRules, serde_wasm_bindgen::Deserializer, &Context) -> PreparedAnswer;

/// Writes the path and the text of a problem of the rules as JSON.
fn describe_problem(problem: &Problem) -> String {
    text(Writer::object_of(|out| {
        out.write_text("path", &problem.path);
        out.write_text("text", &problem.text);
        out.write_text("message", &problem.sentence());
    }))
}
