//! Customer tokens: for a short time they say, signed with a key of the project, who a page's customer is. It must not know where
//! keys are kept, nor what a proven customer may do.
//!
//! A token is a JSON Web Token, so that a shop makes it with any library for them, or by this formula:
//!
//! ```text
//! head  = base64url({"alg":"HS256","kid":<the key's id>,"typ":"JWT"})
//! body  = base64url({"aud":<the project's id>,"exp":<the end>,"iat":<now, in seconds>,"sub":<the customer's source_id or id>})
//! token = head "." body "." base64url(HMAC-SHA256(<the key's secret, the text as it is>, head "." body))
//! ```

use crate::http::reply::{ErrorBody, error};
use crate::store::tracking::Tracker;
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};
use sha2::Sha256;

/// How long a token lasts where nothing is said, in seconds.
pub const SECONDS_DEFAULT: i64 = 900;
/// How long a token lasts at most, from the moment that it says it was made, in seconds.
pub const SECONDS_MAX: i64 = 3_600;
/// By how much the clock of whoever makes tokens may be ahead, in seconds. A token ends when it says so, whatever the clocks.
const AHEAD_MAX: i64 = 60;
/// The letters of a signature: 32 bytes in base64url.
const SEAL_LENGTH: usize = 43;
/// Bytes of a token, at most.
const TOKEN_BYTES_MAX: usize = 8_192;

/// A key that signs tokens.
#[derive(Clone)]
pub struct Key {
    /// The name by which a token says that this key has signed it.
    pub id: String,
    /// The secret. Its text is what signs, as libraries take it.
    pub secret: String,
}

impl Key {
    /// A token that says, to a project, who the customer is for so many seconds from a moment on.
    pub fn sign(&self, project: &str, customer: &str, now: i64, seconds: i64) -> Option<String> {
        let part = |value: Json| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        let head = part(json!({ "alg": "HS256", "typ": "JWT", "kid": self.id }));
        let end = now.checked_add(seconds)?;
        let body = part(json!({ "aud": project, "sub": customer, "iat": now, "exp": end }));
        let seal = self.over(&[head.as_bytes(), b".", body.as_bytes()])?.finalize().into_bytes();
        Some(format!("{head}.{body}.{}", Base64UrlUnpadded::encode_string(&seal)))
    }

    fn over(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut seal = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).ok()?;
        for part in parts {
            seal.update(part);
        }
        Some(seal)
    }
}

/// A token that has been read, and of which nothing is believed yet.
pub struct Sent<'t> {
    /// The key that is said to have signed it.
    pub key: String,
    claims: Map<String, Json>,
    signed: [&'t str; 2],
    seal: Vec<u8>,
}

/// What is wrong with a token. It never says what would have been right.
fn wrong(what: impl Into<String>) -> ErrorBody {
    error(401, "invalid_customer_token", "Invalid customer token", format!("The customer token {}", what.into()))
}

/// Reads a token of a project.
pub fn read<'t>(token: &'t str, project: &str) -> Result<Sent<'t>, ErrorBody> {
    if token.len() > TOKEN_BYTES_MAX {
        let told = format!("must NOT have more than {TOKEN_BYTES_MAX} bytes (actual length is `{}`)", token.len());
        return Err(wrong(told));
    }
    let parts: Vec<&str> = token.split('.').collect();
    let &[head, body, seal] = parts.as_slice() else {
        let told = format!("must have three parts with a point between them (actual count is `{}`)", parts.len());
        return Err(wrong(told));
    };
    let header = object(head, "header")?;
    let algorithm = header.get("alg").unwrap_or(&Json::Null);
    if algorithm != "HS256" {
        return Err(wrong(format!("must be signed with HS256 (actual algorithm is {})", shown(algorithm))));
    }
    if header.contains_key("crit") {
        return Err(wrong("must NOT have a header `crit`: nothing of it is understood"));
    }
    let claims = object(body, "payload")?;
    if !is_for(&claims, project) {
        let told = shown(claims.get("aud").unwrap_or(&Json::Null));
        return Err(wrong(format!("is for another project: `aud` must be `{project}` (actual value is {told})")));
    }
    let Some(Json::String(key)) = header.get("kid") else {
        return Err(wrong("names no key: its header must have a `kid`"));
    };
    if seal.len() < SEAL_LENGTH {
        let told = format!("its signature must have {SEAL_LENGTH} characters (actual count is `{}`)", seal.len());
        return Err(wrong(format!("was cut short: {told}")));
    }
    let Ok(seal) = Base64UrlUnpadded::decode_vec(seal) else {
        return Err(wrong("has a signature that is no base64url"));
    };
    Ok(Sent { key: key.clone(), claims, signed: [head, body], seal })
}

/// One project, or a list in which it is.
fn is_for(claims: &Map<String, Json>, project: &str) -> bool {
    match claims.get("aud") {
        Some(Json::String(named)) => named == project,
        Some(Json::Array(named)) => named.iter().any(|named| named == project),
        _ => false,
    }
}

fn object(part: &str, name: &str) -> Result<Map<String, Json>, ErrorBody> {
    let bytes = Base64UrlUnpadded::decode_vec(part).map_err(|_| wrong(format!("has a {name} that is no base64url")))?;
    serde_json::from_slice(&bytes).map_err(|_| wrong(format!("has a {name} that is no JSON object")))
}

fn shown(value: &Json) -> String {
    format!("`{}`", shortened(value.as_str().unwrap_or(&value.to_string())))
}

impl Sent<'_> {
    /// The customer whom the token proves, by id or `source_id`, if it was signed with this key and its time is now. `None` is
    /// no key at all.
    pub fn customer(&self, key: Option<&Key>, now_ms: i64) -> Result<&str, ErrorBody> {
        let Some(key) = key else {
            let told = "which is no key of the project, or is none any more";
            return Err(wrong(format!("names the key `{}`, {told}", shortened(&self.key))));
        };
        let [head, body] = self.signed;
        let seal = key.over(&[head.as_bytes(), b".", body.as_bytes()]);
        // In a time that does not tell how far the two agree.
        if seal.is_none_or(|seal| seal.verify_slice(&self.seal).is_err()) {
            return Err(wrong("was cut short, changed, or signed with another secret than its key's"));
        }
        self.check_time(now_ms)?;
        let customer = self.claims.get("sub").and_then(Json::as_str).unwrap_or_default();
        match customer {
            "" => Err(wrong("names nobody: `sub` must be the customer's id or source_id")),
            _ if is_longer(customer, LONGEST_NAME) => {
                Err(wrong(format!("has a `sub` of more than {LONGEST_NAME} characters")))
            }
            // Pages are told it: whoever may choose a name could choose another customer's.
            _ if Tracker::may_open(customer) => Err(wrong("has a tracking id in `sub`, which proves nobody")),
            _ => Ok(customer),
        }
    }

    fn check_time(&self, now_ms: i64) -> Result<(), ErrorBody> {
        let (made, end) = (self.seconds("iat")?, self.seconds("exp")?);
        let now = now_ms.div_euclid(1_000);
        let life = end.saturating_sub(made);
        if !(1..=SECONDS_MAX).contains(&life) {
            let told = format!("`exp` must be 1 to {SECONDS_MAX} after `iat` (actual difference is `{life}`)");
            return Err(wrong(format!("lasts too long or not at all: {told}")));
        }
        let ahead = made.saturating_sub(now);
        if ahead > AHEAD_MAX {
            let told = format!("at most {AHEAD_MAX} s are overlooked; the clock of whoever made it is ahead");
            return Err(wrong(format!("begins in {ahead} s: {told}")));
        }
        match now.saturating_sub(end) {
            since if since >= 0 => Err(wrong(format!("ended {since} s ago, {life} s after it was made"))),
            _ => Ok(()),
        }
    }

    fn seconds(&self, name: &str) -> Result<i64, ErrorBody> {
        let claim = self.claims.get(name).unwrap_or(&Json::Null);
        let told = || wrong(format!("must have `{name}`, whole seconds since 1970 (actual value is {})", shown(claim)));
        claim.as_i64().ok_or_else(told)
    }
}

#[cfg(test)]
#[path = "customer_token/tests.rs"]
mod tests;
