//! Tracking ids: a customer's source_id, encrypted with the project's key. The same source_id gives the same text, which only
//! the holder of the key can read.
//!
//! They use AES-SIV (RFC 5297): equal texts encrypt equally, and a changed text does not decrypt.

use crate::store::Store;
use crate::store::access::credentials::find_tracking_key;
use crate::store::sql::Fault;
use aes_siv::siv::Aes128Siv;
use hmac::{Hmac, KeyInit, Mac};
use scrip::id::{TRACKING_PREFIX, is_tracking_id};
use scrip::text::{decode_hex_array, hex};
use sha2::Sha256;
use std::cell::RefCell;

mod old;

use old::{SEALED_MAX, TAG};

/// Purpose of the encryption.
const PURPOSE: &str = "tracking ids";
/// No additional data is authenticated.
const NO_ASSOCIATED_DATA: [&[u8]; 0] = [];

/// Encrypts with the project's key.
#[derive(Debug, Clone)]
pub struct Tracker {
    key: [u8; 32],
}

/// Encrypts texts for one purpose. To derive its key takes as long as to encrypt a text.
pub struct Sealer(RefCell<Aes128Siv>);

impl Sealer {
    /// Encrypts a text.
    pub fn encrypt(&self, text: &str) -> Result<Vec<u8>, Fault> {
        let sealed = self.0.borrow_mut().encrypt(NO_ASSOCIATED_DATA, text.as_bytes());
        sealed.map_err(|error| Fault::new(format!("a text cannot be sealed: {error}")))
    }
}

impl Tracker {
    /// Creates a tracker with a key.
    pub fn new(key: [u8; 32]) -> Tracker {
        Tracker { key }
    }

    /// Loads the tracker of a project, whose key was written when the project was created.
    pub fn load(store: &Store<'_>) -> Result<Tracker, Fault> {
        let key = find_tracking_key(store)?.as_deref().and_then(decode_hex_array::<32>);
        key.map(Tracker::new).ok_or_else(|| Fault::new("the project has no tracking key"))
    }

    /// Tests if a text has the prefix of a tracking id.
    pub fn may_open(text: &str) -> bool {
        text.starts_with(TRACKING_PREFIX)
    }

    /// Returns a keyed digest: HMAC with SHA-256.
    fn digest(&self, parts: &[&[u8]]) -> Result<[u8; 32], Fault> {
        let mut digest = Hmac::<Sha256>::new_from_slice(&self.key).map_err(|error| Fault::new(error.to_string()))?;
        parts.iter().for_each(|part| digest.update(part));
        Ok(digest.finalize().into_bytes().into())
    }

    /// Returns the cipher for a purpose. Its key is derived, so that other digests disclose nothing of it.
    fn cipher(&self, purpose: &str) -> Result<Aes128Siv, Fault> {
        Ok(Aes128Siv::new(&self.digest(&[purpose.as_bytes()])?.into()))
    }

    /// Returns the sealer of a purpose, for many texts.
    pub fn sealer(&self, purpose: &str) -> Result<Sealer, Fault> {
        Ok(Sealer(RefCell::new(self.cipher(purpose)?)))
    }

    /// Encrypts a text for a purpose; it decrypts for the same purpose only.
    pub fn encrypt(&self, purpose: &str, text: &str) -> Result<Vec<u8>, Fault> {
        self.sealer(purpose)?.encrypt(text)
    }

    /// Decrypts a text that was encrypted for a purpose; `None` for other bytes.
    pub fn decrypt(&self, purpose: &str, sealed: &[u8]) -> Result<Option<String>, Fault> {
        let opened = self.cipher(purpose)?.decrypt(NO_ASSOCIATED_DATA, sealed).ok();
        Ok(opened.and_then(|opened| String::from_utf8(opened).ok()))
    }

    /// Returns a pseudonym for counting: it cannot be decrypted, nor linked to that of another purpose.
    pub fn pseudonym(&self, purpose: &str, name: &str) -> Result<String, Fault> {
        Ok(hex(&self.digest(&[purpose.as_bytes(), &[0], name.as_bytes()])?))
    }

    /// Returns the tracking id of a source_id.
    pub fn tracking_id(&self, source_id: &str) -> Result<String, Fault> {
        let mut sealed = self.encrypt(PURPOSE, source_id)?;
        if source_id.len() > SEALED_MAX {
            sealed.truncate(TAG);
        }
        Ok(format!("{TRACKING_PREFIX}{}", hex(&sealed)))
    }

    /// Returns the tracking id that answers contain for a name. A name in the form of a tracking id is returned as it is, so that a
    /// client, which has no key, contains the same.
    pub fn tracking_id_of_name(&self, name: &str) -> Result<String, Fault> {
        if is_tracking_id(name) { Ok(name.to_owned()) } else { self.tracking_id(name) }
    }

    /// Returns the source_id of a tracking id; `None` for any other text.
    pub fn source_id(&self, text: &str) -> Result<Option<String>, Fault> {
        let Some(digits) = text.strip_prefix(TRACKING_PREFIX) else { return Ok(None) };
        let length = digits.len() / 2;
        let bytes = decode_hex_array::<{ TAG + SEALED_MAX }>(digits);
        // A tag without text only proves equality.
        let Some(sealed) = bytes.as_ref().and_then(|bytes| bytes.get(..length)).filter(|sealed| sealed.len() > TAG)
        else {
            return Ok(None);
        };
        Ok(self.decrypt(PURPOSE, sealed)?.or_else(|| old::source_id(&self.key, sealed)))
    }

    /// Tests if a tracking id belongs to a source_id.
    pub fn is_of(&self, text: &str, source_id: &str) -> Result<bool, Fault> {
        let is_old = || text.strip_prefix(TRACKING_PREFIX) == Some(&hex(&old::tracking_id(&self.key, source_id)));
        Ok(self.tracking_id(source_id)? == text || is_old())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    #[test]
    fn sealed_texts_open_with_their_own_key_only() {
        let tracker = Tracker::new([3; 32]);
        for source_id in ["a", "anna@example.com", &"x".repeat(SEALED_MAX)] {
            let sealed = tracker.tracking_id(source_id).unwrap();
            assert_eq!(sealed, tracker.tracking_id(source_id).unwrap());
            // A sealer is used again.
            let sealer = tracker.sealer(PURPOSE).unwrap();
            let twice = [(); 2].map(|()| sealer.encrypt(source_id).unwrap());
            assert_eq!(twice, [(); 2].map(|()| tracker.encrypt(PURPOSE, source_id).unwrap()));
            assert_eq!(tracker.source_id(&sealed).unwrap().as_deref(), Some(source_id));
            assert_eq!(Tracker::new([4; 32]).source_id(&sealed).unwrap(), None);
            assert!(tracker.is_of(&sealed, source_id).unwrap() && !tracker.is_of(&sealed, "b").unwrap());
            let mut changed = sealed.clone();
            changed.pop();
            changed.push(if sealed.ends_with('0') { '1' } else { '0' });
            assert_eq!(tracker.source_id(&changed).unwrap(), None);
        }
        let long = "x".repeat(SEALED_MAX + 1);
        let digested = tracker.tracking_id(&long).unwrap();
        assert_eq!(digested.len(), TRACKING_PREFIX.len() + 2 * TAG);
        assert_eq!(tracker.source_id(&digested).unwrap(), None);
        assert!(tracker.is_of(&digested, &long).unwrap());
        for none in ["anna", "track_", "track_zz", &format!("track_{}", "00".repeat(TAG + SEALED_MAX + 1))] {
            assert_eq!(tracker.source_id(none).unwrap(), None);
        }
    }

    /// Tracking ids of the first construction, under the key of 32 threes.
    #[test]
    fn earlier_ids_are_recognised() {
        let tracker = Tracker::new([3; 32]);
        for (source_id, text) in OLD {
            assert_eq!(tracker.source_id(text).unwrap().as_deref(), Some(*source_id));
            assert!(tracker.is_of(text, source_id).unwrap() && !tracker.is_of(text, "b").unwrap());
            assert_eq!(Tracker::new([4; 32]).source_id(text).unwrap(), None);
        }
        assert!(tracker.is_of(OLD_LONG, &"x".repeat(SEALED_MAX + 1)).unwrap());
    }

    const OLD: &[(&str, &str)] = &[
        ("a", "track_97de008df94909a0293cddf66089f52067"),
        ("anna@example.com", "track_5fb2359f601634d065ea0261172d4079a026e6e7f2b40b17b57141d1b0b1e1aa"),
        (
            "Käthe, who has a name of more than thirty-two bytes",
            "track_bf117670000f4f03e6dc19e0f04c11fb0f52c9887498910881f45dfab5d973078ff5dfd67f603cd5e47f21775c7a07ea6ba9b003eaef90cfb4289980480c267e6d714607",
        ),
    ];
    const OLD_LONG: &str = "track_2d766af08f1049a24bcfcc52e81b91d6";
}
