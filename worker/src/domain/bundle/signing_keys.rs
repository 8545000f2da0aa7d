//! The keys that sign a project's bundle: Ed25519 pairs, of which exactly one signs at a time.
//!
//! The state of a key follows from the rows and the time, so no job has to switch keys. A rotation publishes the next key a day
//! before it signs, with a statement of the present key that vouches for it. A retired key ends at once with all that it vouched for.

use crate::store::Store;
use crate::store::bundle_keys::{self, StoredKey};
use crate::store::sql::Fault;
use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signer, SigningKey as Pair};
use scrip::Context;
use scrip::text::{decode_hex_array, sha256};
use serde::Serialize;

/// Time between the publication of a key and its first signature, so that clients learn the key before they need it.
pub const OVERLAP_MS: i64 = 24 * 60 * 60 * 1_000;
/// Maximum number of keys that clients get, the newest: a client reads no more.
pub const PUBLISHED_MAX: usize = 32;
/// Type of the statement by which a key vouches for the next one.
const VOUCHING: &str = "scrip-key+jwt";

/// State of a key at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum KeyStatus {
    /// It is published and does not sign yet.
    Next,
    /// It signs.
    Signing,
    /// Another key has replaced it.
    Former,
    /// It was retired, and is not published.
    Retired,
}

/// A key with its state.
#[derive(Debug, Clone)]
pub struct SigningKey {
    /// The row.
    pub stored: StoredKey,
    /// State at the time of the query.
    pub status: KeyStatus,
}

/// Returns the keys that clients get, the newest first: all but retired ones. A client whose pinned key was replaced several times
/// follows the statements from its key to the present one.
pub fn published_keys(keys: &[SigningKey]) -> impl Iterator<Item = &SigningKey> {
    keys.iter().filter(|key| key.status != KeyStatus::Retired).take(PUBLISHED_MAX)
}

/// Lists the keys of the project with their states at `now_ms`, the newest first.
pub fn list(store: &Store<'_>, now_ms: i64) -> Result<Vec<SigningKey>, Fault> {
    Ok(with_states(bundle_keys::list(store)?, now_ms))
}

/// Lists the keys as [`list`]; a project without a key that signs gets one.
pub fn list_with_signing(store: &mut Store<'_>, context: &Context) -> Result<Vec<SigningKey>, Fault> {
    find_or_create_signing(store, context)?;
    list(store, context.now.millis())
}

/// Of the keys that can sign and have not ended, the first one signs: also before its own beginning when the one before was
/// retired, or when the clock was set back.
fn with_states(keys: Vec<StoredKey>, now_ms: i64) -> Vec<SigningKey> {
    let can_sign = |key: &StoredKey| {
        key.retired_at.is_none() && key.private_seed.is_some() && key.signs_until.is_none_or(|until| now_ms < until)
    };
    let first = keys.iter().rev().filter(|key| can_sign(key)).min_by_key(|key| key.signs_from);
    let first = first.map(|key| key.kid.clone());
    let status = |key: &StoredKey| match key {
        _ if key.retired_at.is_some() => KeyStatus::Retired,
        _ if first.as_ref() == Some(&key.kid) => KeyStatus::Signing,
        _ if can_sign(key) => KeyStatus::Next,
        _ => KeyStatus::Former,
    };
    keys.into_iter().map(|stored| SigningKey { status: status(&stored), stored }).collect()
}

/// Signs claims with the key that signs now, as a compact JWS of a type. A project without a key gets its first pair.
pub fn sign(store: &mut Store<'_>, context: &Context, typ: &str, claims: &impl Serialize) -> Result<String, Fault> {
    let key = find_or_create_signing(store, context)?;
    compact_jws(&pair_of(&key)?, &key.kid, typ, claims)
}

/// Returns the id of the key that signs at `now_ms`; `None` when a project has none yet. Statements of another key are to be
/// signed again.
pub fn find_signing_kid(store: &Store<'_>, now_ms: i64) -> Result<Option<String>, Fault> {
    let keys = list(store, now_ms)?;
    Ok(keys.into_iter().find(|key| key.status == KeyStatus::Signing).map(|key| key.stored.kid))
}

/// Returns the time at which a published key will replace the present one; `None` without such a key.
pub fn find_next_start_ms(store: &Store<'_>, now_ms: i64) -> Result<Option<i64>, Fault> {
    let keys = list(store, now_ms)?;
    Ok(keys.iter().filter(|key| key.status == KeyStatus::Next).map(|key| key.stored.signs_from).min())
}

/// Returns the epoch of the project: clients refuse a lower one than they have seen. 0 until a key is retired or an archive restored.
pub fn find_epoch(store: &Store<'_>) -> Result<i64, Fault> {
    bundle_keys::epoch(store)
}

/// A next key that is there already.
#[derive(Debug)]
pub struct PendingRotation(pub SigningKey);

/// Publishes a next key, for which the present one vouches and which replaces it after the overlap. Only one next key can exist.
pub fn rotate(
    store: &mut Store<'_>,
    context: &Context,
    project: &str,
) -> Result<Result<StoredKey, PendingRotation>, Fault> {
    let now_ms = context.now.millis();
    let present = find_or_create_signing(store, context)?;
    if let Some(next) = list(store, now_ms)?.into_iter().find(|key| key.status == KeyStatus::Next) {
        return Ok(Err(PendingRotation(next)));
    }
    // Saturates at the end of time.
    let from_ms = now_ms.saturating_add(OVERLAP_MS);
    let mut next = generate_pair(store, now_ms, from_ms)?;
    let statement = VouchingClaims { iss: project, iat: now_ms.div_euclid(1_000), jwk: PublicKey::of(&next.public_x) };
    next.vouched_by = Some(compact_jws(&pair_of(&present)?, &present.kid, VOUCHING, &statement)?);
    next.vouching_kid = Some(present.kid.clone());
    bundle_keys::insert(store, &next)?;
    bundle_keys::update_end(store, &present.kid, Some(from_ms))?;
    Ok(Ok(next))
}

/// Deletes the private halves of keys that were replaced a day ago. A clock that is set back by less finds them.
pub fn delete_former_private_halves(store: &Store<'_>, now_ms: i64) -> Result<(), Fault> {
    // Saturates at the start of time.
    bundle_keys::delete_former_private_halves(store, now_ms.saturating_sub(OVERLAP_MS))
}

/// Retires a key that is not retired yet. If it signs, the next key signs at once, or a new pair is made. The epoch rises, so that
/// clients refuse what was signed before.
pub fn retire(store: &mut Store<'_>, context: &Context, key: &SigningKey) -> Result<(), Fault> {
    let now_ms = context.now.millis();
    bundle_keys::retire(store, &key.stored.kid, now_ms)?;
    bundle_keys::raise_epoch(store, now_ms)?;
    let present = find_or_create_signing(store, context)?;
    match key.status {
        KeyStatus::Next => bundle_keys::update_end(store, &present.kid, None),
        _ if present.signs_from > now_ms => bundle_keys::update_start(store, &present.kid, now_ms),
        _ => Ok(()),
    }
}

/// Returns the key that signs now, and makes a pair for a project without one.
fn find_or_create_signing(store: &mut Store<'_>, context: &Context) -> Result<StoredKey, Fault> {
    let now_ms = context.now.millis();
    if let Some(key) = list(store, now_ms)?.into_iter().find(|key| key.status == KeyStatus::Signing) {
        return Ok(key.stored);
    }
    let key = generate_pair(store, now_ms, now_ms)?;
    bundle_keys::insert(store, &key)?;
    Ok(key)
}

/// Generates a pair without storing it.
fn generate_pair(store: &Store<'_>, now_ms: i64, from_ms: i64) -> Result<StoredKey, Fault> {
    let private_seed = bundle_keys::generate_private_seed(store)?;
    let public_x = public_half(&pair(&private_seed)?);
    Ok(StoredKey {
        kid: thumbprint(&public_x)?,
        public_x,
        private_seed: Some(private_seed),
        created_at: now_ms,
        signs_from: from_ms,
        signs_until: None,
        retired_at: None,
        vouching_kid: None,
        vouched_by: None,
    })
}

/// A public key as RFC 7638 writes it: the required members, in the order of their names.
#[derive(Debug, Serialize)]
struct PublicKey<'k> {
    crv: &'static str,
    kty: &'static str,
    x: &'k str,
}

impl PublicKey<'_> {
    fn of(x: &str) -> PublicKey<'_> {
        PublicKey { crv: "Ed25519", kty: "OKP", x }
    }
}

/// Claims by which a key vouches for another one.
#[derive(Debug, Serialize)]
struct VouchingClaims<'k> {
    iss: &'k str,
    iat: i64,
    jwk: PublicKey<'k>,
}

/// Header of a signed statement.
#[derive(Debug, Serialize)]
struct JwsHeader<'k> {
    alg: &'static str,
    kid: &'k str,
    typ: &'k str,
}

fn pair_of(key: &StoredKey) -> Result<Pair, Fault> {
    let seed = key.private_seed.as_deref();
    pair(seed.ok_or_else(|| Fault(format!("the key `{}` has no private half", key.kid)))?)
}

fn pair(private_seed: &str) -> Result<Pair, Fault> {
    let seed = decode_hex_array::<32>(private_seed).ok_or_else(|| Fault::new("a private half cannot be read"))?;
    Ok(Pair::from_bytes(&seed))
}

fn public_half(pair: &Pair) -> String {
    Base64UrlUnpadded::encode_string(pair.verifying_key().as_bytes())
}

fn thumbprint(public_x: &str) -> Result<String, Fault> {
    Ok(Base64UrlUnpadded::encode_string(&sha256(&[&to_bytes(&PublicKey::of(public_x))?])))
}

fn compact_jws(pair: &Pair, kid: &str, typ: &str, claims: &impl Serialize) -> Result<String, Fault> {
    let part = |bytes: &[u8]| Base64UrlUnpadded::encode_string(bytes);
    let header = part(&to_bytes(&JwsHeader { alg: "EdDSA", kid, typ })?);
    let message = format!("{header}.{}", part(&to_bytes(claims)?));
    let signature = part(&pair.sign(message.as_bytes()).to_bytes());
    Ok(format!("{message}.{signature}"))
}

fn to_bytes(value: &impl Serialize) -> Result<Vec<u8>, Fault> {
    serde_json::to_vec(value).map_err(|error| Fault(error.to_string()))
}

#[cfg(test)]
mod tests;
