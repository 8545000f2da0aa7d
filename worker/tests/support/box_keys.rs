//! Derives the keys of sealed boxes and opens these, natively: as the shell and a client do with WebCrypto.

use aes_gcm::aead::{Aead, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce};
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::text::{decode_hex, hex};
use scrip::wire::box_text;
use scrip_worker::domain::bundle::box_keys::{DerivationReport, DerivationStep, DerivedKey};
use serde_json::Value as Json;
use sha2::Sha256;

pub fn derive(code: &str, salt: &[u8], rounds: u32) -> [u8; 32] {
    pbkdf2::pbkdf2_hmac_array::<Sha256, 32>(code.as_bytes(), salt, rounds)
}

/// Does what a step says.
#[allow(dead_code, reason = "not every program of tests has an object")]
pub fn carry_out(step: &DerivationStep) -> DerivationReport {
    let salt = decode_hex(&step.salt).unwrap();
    let keys =
        step.codes.iter().map(|code| DerivedKey { code: code.clone(), key: hex(&derive(code, &salt, step.rounds)) });
    DerivationReport { keys: keys.collect() }
}

/// Opens the box of a code in its normal form; `None` if a core has no such box.
pub fn open(core: &Json, code: &str) -> Option<Vec<u8>> {
    let bytes = |text: &Json| Base64UrlUnpadded::decode_vec(text.as_str().unwrap()).unwrap();
    let sealed = &core["sealed_codes"];
    let key = derive(code, &bytes(&sealed["salt"]), u32::try_from(sealed["rounds"].as_u64().unwrap()).unwrap());
    let closed = bytes(sealed["boxes"].get(Base64UrlUnpadded::encode_string(&key[..16]))?);
    let nonce: [u8; 12] = closed[..12].try_into().unwrap();
    Some(Aes128Gcm::new_from_slice(&key[16..]).unwrap().decrypt(&Nonce::from(nonce), &closed[12..]).unwrap())
}

/// Returns the JSON of an opened box.
#[allow(dead_code, reason = "not every program of tests reads boxes")]
pub fn restore(text: &[u8]) -> String {
    String::from_utf8(box_text::restore(text).into_owned()).unwrap()
}
