//! The part of a bundle that only the entry reads: the keys of its sealed boxes, and the state of the rules that it was made of.
//!
//! KV has it encrypted (AES-256-GCM), under a key for each project that follows from a secret of the Worker (HKDF). The nonce follows
//! from key and content, so that the same content has the same bytes.

use crate::store::sql::Fault;
use aes_gcm::aead::{Aead, KeyInit as _, Payload};
use aes_gcm::{Aes256Gcm, Nonce};
use base64ct::{Base64UrlUnpadded, Encoding};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::collections::BTreeMap;

/// Minimum length of the secret in bytes; a shorter one counts as none.
pub const SECRET_BYTES_MIN: usize = 16;
/// Length of a nonce of AES-GCM.
const NONCE_BYTES: usize = 12;
/// Length of a key, and of a key of a nonce.
const KEY_BYTES: usize = 32;
/// Purpose of the derived keys. Another form of the part has another one.
const PURPOSE: &[u8] = b"scrip edge part 2";

/// Part of a bundle for the entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EdgePart {
    /// The head that it belongs to. With any other head it counts as absent.
    pub head: String,
    /// Revision of the rules, as the object reports it (`store::bundle_heads`).
    pub revision: String,
    /// True if this was the present revision when the object signed the head: it still was when the part was made.
    pub is_present: bool,
    /// Keys of the sealed boxes by the normal forms of their codes, in hexadecimal digits.
    pub keys: BTreeMap<String, String>,
}

/// Key that opens the part of one project.
pub struct EdgeKey {
    cipher: Aes256Gcm,
    nonce_key: [u8; KEY_BYTES],
    project: String,
}

/// Returns the name of the part of a project in KV.
pub fn copy_name(project: &str) -> String {
    format!("bundle-edge:{project}")
}

impl EdgeKey {
    /// Derives the key of a project; `None` if the secret is too short to protect anything.
    pub fn derive(secret: &str, project: &str) -> Option<EdgeKey> {
        if secret.len() < SECRET_BYTES_MIN {
            return None;
        }
        let derivation = Hkdf::<Sha256>::new(Some(PURPOSE), secret.as_bytes());
        let (mut key, mut nonce_key) = ([0; KEY_BYTES], [0; KEY_BYTES]);
        derivation.expand_multi_info(&[b"key ", project.as_bytes()], &mut key).ok()?;
        derivation.expand_multi_info(&[b"nonce ", project.as_bytes()], &mut nonce_key).ok()?;
        let cipher = Aes256Gcm::new_from_slice(&key).ok()?;
        Some(EdgeKey { cipher, nonce_key, project: project.to_owned() })
    }

    /// Encrypts a part as a value of KV.
    pub fn seal(&self, part: &EdgePart) -> Result<String, Fault> {
        let content = serde_json::to_vec(part).map_err(|error| Fault(error.to_string()))?;
        let nonce = self.nonce_of(&content)?;
        let payload = Payload { msg: &content, aad: self.project.as_bytes() };
        let closed = self.cipher.encrypt(&Nonce::from(nonce), payload);
        let closed = closed.map_err(|_| Fault::new("the part of the entry cannot be encrypted"))?;
        Ok(Base64UrlUnpadded::encode_string(&[nonce.as_slice(), &closed].concat()))
    }

    /// Decrypts a value of KV; `None` if it was encrypted by another secret or for another project, was damaged, or has another form.
    pub fn open(&self, value: &str) -> Option<EdgePart> {
        let bytes = Base64UrlUnpadded::decode_vec(value).ok()?;
        let (nonce, closed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: closed, aad: self.project.as_bytes() };
        let content = self.cipher.decrypt(&Nonce::from(*nonce), payload).ok()?;
        serde_json::from_slice(&content).ok()
    }

    fn nonce_of(&self, content: &[u8]) -> Result<[u8; NONCE_BYTES], Fault> {
        let mut digest =
            Hmac::<Sha256>::new_from_slice(&self.nonce_key).map_err(|error| Fault::new(error.to_string()))?;
        digest.update(content);
        let digest = digest.finalize().into_bytes();
        digest.first_chunk().copied().ok_or_else(|| Fault::new("a digest is shorter than a nonce"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "a secret of the Worker";

    fn part() -> EdgePart {
        let keys = BTreeMap::from([("TEN".to_owned(), "00".repeat(32))]);
        EdgePart { head: "a.b.c".into(), revision: "1f".into(), is_present: true, keys }
    }

    #[test]
    fn only_the_secret_and_the_project_open_a_part() {
        let key = EdgeKey::derive(SECRET, "proj_1").unwrap();
        let value = key.seal(&part()).unwrap();
        assert_eq!(key.open(&value), Some(part()));
        assert_eq!(EdgeKey::derive(SECRET, "proj_1").unwrap().seal(&part()).unwrap(), value);
        assert_eq!(EdgeKey::derive("another secret of it", "proj_1").unwrap().open(&value), None);
        assert_eq!(EdgeKey::derive(SECRET, "proj_2").unwrap().open(&value), None);
    }

    #[test]
    fn a_damaged_value_is_absent() {
        let key = EdgeKey::derive(SECRET, "proj_1").unwrap();
        let value = key.seal(&part()).unwrap();
        assert!(!value.contains("TEN"));
        for at in [0, 20, value.len() - 1] {
            let mut damaged = value.clone().into_bytes();
            damaged[at] = if damaged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(key.open(std::str::from_utf8(&damaged).unwrap()), None, "{at}");
        }
        for wrong in ["", "AAAA", "no base64!", value.get(..40).unwrap()] {
            assert_eq!(key.open(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_short_secret_is_none() {
        assert!(EdgeKey::derive(&"x".repeat(SECRET_BYTES_MIN - 1), "proj_1").is_none());
        assert!(EdgeKey::derive(&"x".repeat(SECRET_BYTES_MIN), "proj_1").is_some());
    }
}
