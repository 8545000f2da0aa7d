//! Derives the keys of sealed boxes: which codes await theirs, and the storing of derived ones. The shell derives between the commits,
//! because its WebCrypto takes a third of the time that this module would, and a build must not wait.

use crate::store::Store;
use crate::store::bundle_heads as stored;
use crate::store::sql::Fault;
use scrip::text::decode_hex_array;
use serde::{Deserialize, Serialize};

/// Rounds of PBKDF2-HMAC-SHA-256; the runtime's WebCrypto takes no more.
pub const ROUNDS: u32 = 100_000;
/// Length of a derived key: the name of a box and its key.
pub const BOX_KEY_BYTES: usize = 32;
/// Maximum number of codes in a step. A process that ends before it stores their keys derives them again.
const STEP_MAX: i64 = 8;

/// Codes whose keys are to be derived next.
#[derive(Debug, Serialize)]
pub struct DerivationStep {
    /// Salt of the project, in hexadecimal digits.
    pub salt: String,
    /// Rounds of PBKDF2-HMAC-SHA-256.
    pub rounds: u32,
    /// Normal forms of the codes.
    pub codes: Vec<String>,
}

/// Keys that were derived since the last step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct DerivationReport {
    /// Keys with their codes.
    #[serde(default)]
    pub keys: Vec<DerivedKey>,
}

/// Key of a code.
#[derive(Debug, Serialize, Deserialize)]
pub struct DerivedKey {
    /// Normal form of the code.
    pub code: String,
    /// Its key, in hexadecimal digits.
    pub key: String,
}

/// Returns true if a code awaits its key.
pub fn is_waiting(store: &Store<'_>) -> Result<bool, Fault> {
    Ok(!stored::list_awaited_codes(store, 1)?.is_empty())
}

/// Stores derived keys, at the flush. They change the revision of the bundle, so that the next build seals with them.
pub fn record(store: &mut Store<'_>, report: &DerivationReport) -> Result<(), Fault> {
    for DerivedKey { code, key } in &report.keys {
        // Two digits for a byte.
        if decode_hex_array::<BOX_KEY_BYTES>(key).is_none() || key.len() != BOX_KEY_BYTES.saturating_mul(2) {
            return Err(Fault(format!(
                "the derived key of a code must have {BOX_KEY_BYTES} bytes in hexadecimal digits"
            )));
        }
        stored::update_box_key(store, code, key);
    }
    Ok(())
}

/// Returns the next step; `None` when no code awaits its key.
pub fn next(store: &Store<'_>) -> Result<Option<DerivationStep>, Fault> {
    let codes = stored::list_awaited_codes(store, STEP_MAX)?;
    if codes.is_empty() {
        return Ok(None);
    }
    Ok(Some(DerivationStep { salt: stored::find_box_salt(store)?, rounds: ROUNDS, codes }))
}
