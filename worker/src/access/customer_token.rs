//! Customer tokens: short-lived statements, signed with a key of the project, that prove which customer
//! a client acts for.
//!
//! A token is a JSON Web Token, so that a merchant makes it with any library for them, or by this formula:
//!
//! ```text
//! head  = base64url({"alg":"HS256","kid":<the key's id>,"typ":"JWT"})
//! body  = base64url({"aud":<the project's id>,"exp":<the end>,"iat":<now, in seconds>,"sub":<the customer's source_id or id>})
//! token = head "." body "." base64url(HMAC-SHA256(<the key's secret, the text as it is>, head "." body))
//! ```
//!
//! Times saturate: a token whose times are out of bounds is refused as too long, or as expired.

use crate::http::reply::{ErrorBody, error};
use crate::store::tracking::Tracker;
use crate::timestamp;
use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use scrip::text::{LONGEST_NAME, is_longer};
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json, json};
use sha2::Sha256;

/// Default lifetime of a token, in seconds.
pub const SECONDS_DEFAULT: i64 = 900;
/// Maximum lifetime of a token from its `iat`, in seconds.
pub const SECONDS_MAX: i64 = 3_600;
/// Maximum lead of the issuer's clock, in seconds. A token always ends at its `exp`.
const AHEAD_MAX: i64 = 60;
/// Number of characters of a signature: 32 bytes in base64url.
const SEAL_LENGTH: usize = 43;
/// Maximum size of a token in bytes.
const TOKEN_BYTES_MAX: usize = 8_192;

/// A key that signs tokens.
#[derive(Clone)]
pub struct CustomerTokenKey {
    /// Name by which a token identifies this key as its signer.
    pub id: String,
    /// Secret as text; its bytes are the HMAC key, as in JWT libraries.
    pub secret: String,
}

impl CustomerTokenKey {
    /// Signs a token that proves a customer to a project, for `seconds` from `now`.
    pub fn sign(&self, project: &str, customer: &str, now: i64, seconds: i64) -> Option<String> {
        let part = |value: Json| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        let head = part(json!({ "alg": "HS256", "typ": "JWT", "kid": self.id }));
        let end = now.checked_add(seconds)?;
        let body = part(json!({ "aud": project, "sub": customer, "iat": now, "exp": end }));
        let seal = self.divided_by(&[head.as_bytes(), b".", body.as_bytes()])?.finalize().into_bytes();
        Some(format!("{head}.{body}.{}", Base64UrlUnpadded::encode_string(&seal)))
    }

    fn divided_by(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut seal = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()).ok()?;
        for part in parts {
            seal.update(part);
        }
        Some(seal)
    }
}

/// Parsed token whose signature is not verified yet.
pub struct UnverifiedToken<'t> {
    /// The key that the token names as its signer.
    pub key: String,
    claims: Map<String, Json>,
    signed: [&'t str; 2],
    seal: Vec<u8>,
}

/// Returns the refusal of a call that a token must accompany.
pub fn missing() -> ErrorBody {
    wrong("is missing: the header `X-Customer-Token` must have it")
}

/// Returns the refusal of a token. It never contains the correct value.
fn wrong(problem: impl Into<String>) -> ErrorBody {
    error(401, "invalid_customer_token", "Invalid customer token", format!("The customer token {}", problem.into()))
}

/// Reads a token of a project.
pub fn read<'t>(token: &'t str, project: &str) -> Result<UnverifiedToken<'t>, ErrorBody> {
    if token.len() > TOKEN_BYTES_MAX {
        let message = format!("must NOT have more than {TOKEN_BYTES_MAX} bytes (actual length is `{}`)", token.len());
        return Err(wrong(message));
    }
    let parts: Vec<&str> = token.split('.').collect();
    let &[head, body, seal] = parts.as_slice() else {
        let message = format!("must have three parts with a point between them (actual count is `{}`)", parts.len());
        return Err(wrong(message));
    };
    let header = object(head, "header")?;
    let algorithm = header.get("alg").unwrap_or(&Json::Null);
    if algorithm != "HS256" {
        return Err(wrong(format!("must be signed with HS256 (actual algorithm is {})", json_text(algorithm))));
    }
    if header.contains_key("crit") {
        return Err(wrong("must NOT have a header `crit`: nothing of it is understood"));
    }
    let claims = object(body, "payload")?;
    if !is_for(&claims, project) {
        let message = json_text(claims.get("aud").unwrap_or(&Json::Null));
        return Err(wrong(format!("is for another project: `aud` must be `{project}` (actual value is {message})")));
    }
    let Some(Json::String(key)) = header.get("kid") else {
        return Err(wrong("names no key: its header must have a `kid`"));
    };
    if seal.len() < SEAL_LENGTH {
        let message = format!("its signature must have {SEAL_LENGTH} characters (actual count is `{}`)", seal.len());
        return Err(wrong(format!("was cut short: {message}")));
    }
    let Ok(seal) = Base64UrlUnpadded::decode_vec(seal) else {
        return Err(wrong("has a signature that is no base64url"));
    };
    Ok(UnverifiedToken { key: key.clone(), claims, signed: [head, body], seal })
}

/// Returns true if the audience is the project, or a list that contains it.
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

fn json_text(value: &Json) -> String {
    format!("`{}`", shortened(value.as_str().unwrap_or(&value.to_string())))
}

impl UnverifiedToken<'_> {
    /// Returns the customer that the token proves, by id or `source_id`, if it was signed with this key and is valid now.
    /// Refuses a token without a known key.
    pub fn customer(&self, key: Option<&CustomerTokenKey>, now_ms: i64) -> Result<&str, ErrorBody> {
        let Some(key) = key else {
            let message = "which is no key of the project, or is none any more";
            return Err(wrong(format!("names the key `{}`, {message}", shortened(&self.key))));
        };
        let [head, body] = self.signed;
        let seal = key.divided_by(&[head.as_bytes(), b".", body.as_bytes()]);
        // Compares in constant time.
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
            // Clients know tracking ids: a caller that may choose a name could choose another customer's.
            _ if Tracker::may_open(customer) => Err(wrong("has a tracking id in `sub`, which proves nobody")),
            _ => Ok(customer),
        }
    }

    /// Returns the end of the token, in seconds since 1970.
    pub fn end(&self) -> Result<i64, ErrorBody> {
        self.seconds("exp")
    }

    fn check_time(&self, now_ms: i64) -> Result<(), ErrorBody> {
        let (made, end) = (self.seconds("iat")?, self.seconds("exp")?);
        let now = now_ms.div_euclid(1_000);
        let life = timestamp::elapsed(made, end);
        if !(1..=SECONDS_MAX).contains(&life) {
            let message = format!("`exp` must be 1 to {SECONDS_MAX} after `iat` (actual difference is `{life}`)");
            return Err(wrong(format!("lasts too long or not at all: {message}")));
        }
        let ahead = timestamp::elapsed(now, made);
        if ahead > AHEAD_MAX {
            let message = format!("at most {AHEAD_MAX} s are overlooked; the clock of whoever made it is ahead");
            return Err(wrong(format!("begins in {ahead} s: {message}")));
        }
        // An issuer with a fast clock writes one time into both: the tolerance of `iat` applies to `nbf` too.
        if self.claims.get("nbf").is_some_and(|claim| !claim.is_null()) {
            let rest = timestamp::elapsed(now.max(made), self.seconds("nbf")?);
            if rest > 0 {
                return Err(wrong(format!("does not count yet: by its `nbf` it begins in {rest} s")));
            }
        }
        match timestamp::elapsed(end, now) {
            since if since >= 0 => Err(wrong(format!("ended {since} s ago, {life} s after it was made"))),
            _ => Ok(()),
        }
    }

    fn seconds(&self, name: &str) -> Result<i64, ErrorBody> {
        let claim = self.claims.get(name).unwrap_or(&Json::Null);
        let message =
            || wrong(format!("must have `{name}`, whole seconds since 1970 (actual value is {})", json_text(claim)));
        claim.as_i64().ok_or_else(message)
    }
}

#[cfg(test)]
#[path = "customer_token/tests.rs"]
mod tests;
