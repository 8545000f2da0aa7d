//! Tests of the keys of bundles, with the vectors of RFC 8037.

use super::*;
use crate::store::sqlite::Sqlite;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use scrip::time::Instant;
use serde_json::{Value as Json, json};

const HOUR: i64 = 60 * 60 * 1_000;
const START: i64 = 1_772_323_200_000;

/// The pair of RFC 8037, appendix A.1.
const RFC_SEED: &str = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A";
const RFC_X: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

fn at(ms: i64) -> Context {
    Context { now: Instant::from_millis(ms).unwrap(), seed: [7; 32], first_number: None }
}

fn decoded(text: &str) -> Vec<u8> {
    Base64UrlUnpadded::decode_vec(text).unwrap()
}

fn rfc_pair() -> Pair {
    pair(&scrip::text::hex(&decoded(RFC_SEED))).unwrap()
}

/// Checks a compact JWS with a public key, and returns its header and claims.
fn verified(jws: &str, public_x: &str) -> (Json, Json) {
    let [header, claims, signature] = jws.split('.').collect::<Vec<_>>().try_into().unwrap();
    let key = VerifyingKey::from_bytes(&decoded(public_x).try_into().unwrap()).unwrap();
    let signature = Signature::from_bytes(&decoded(signature).try_into().unwrap());
    key.verify(format!("{header}.{claims}").as_bytes(), &signature).unwrap();
    let json = |part: &str| serde_json::from_slice(&decoded(part)).unwrap();
    (json(header), json(claims))
}

fn states(store: &Store<'_>, ms: i64) -> Vec<(String, KeyStatus)> {
    list(store, ms).unwrap().into_iter().map(|key| (key.stored.kid, key.status)).collect()
}

fn key(store: &Store<'_>, kid: &str, ms: i64) -> SigningKey {
    list(store, ms).unwrap().into_iter().find(|key| key.stored.kid == kid).unwrap()
}

fn with_store<T>(run: impl FnOnce(&mut Store<'_>) -> T) -> T {
    let sql = Sqlite::memory().unwrap();
    run(&mut Store::open(&sql, START).unwrap())
}

#[test]
fn the_pair_of_rfc_8037_has_its_public_half_thumbprint_and_signature() {
    let pair = rfc_pair();
    assert_eq!(public_half(&pair), RFC_X);
    assert_eq!(thumbprint(RFC_X).unwrap(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    let message = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
    assert_eq!(
        Base64UrlUnpadded::encode_string(&pair.sign(message.as_bytes()).to_bytes()),
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    );
}

#[test]
fn a_signature_has_exactly_these_header_and_claims() {
    let jws = compact_jws(&rfc_pair(), "one", "scrip-bundle+jwt", &json!({ "iss": "proj" })).unwrap();
    let header = r#"{"alg":"EdDSA","kid":"one","typ":"scrip-bundle+jwt"}"#;
    assert_eq!(decoded(jws.split('.').next().unwrap()), header.as_bytes());
    assert_eq!(verified(&jws, RFC_X).1, json!({ "iss": "proj" }));
}

#[test]
fn the_first_signature_makes_the_only_pair() {
    with_store(|store| {
        assert_eq!(find_signing_kid(store, START).unwrap(), None);
        let jws = sign(store, &at(START), "scrip-bundle+jwt", &json!({ "rev": 1 })).unwrap();
        sign(store, &at(START + HOUR), "scrip-bundle+jwt", &json!({ "rev": 2 })).unwrap();
        // A clock that is set back finds the same key.
        sign(store, &at(START - HOUR), "scrip-bundle+jwt", &json!({ "rev": 3 })).unwrap();
        let [only] = list(store, START).unwrap().try_into().unwrap();
        let (header, claims) = verified(&jws, &only.stored.public_x);
        assert_eq!(header["kid"], only.stored.kid.as_str());
        assert_eq!(claims, json!({ "rev": 1 }));
        assert_eq!(find_signing_kid(store, START).unwrap(), Some(only.stored.kid));
    });
}

#[test]
fn the_seed_of_a_call_tells_nothing_of_the_pair() {
    let x = || with_store(|store| find_or_create_signing(store, &at(START)).unwrap().public_x);
    assert_ne!(x(), x(), "the same seed");
}

#[test]
fn a_rotated_key_signs_after_a_day_and_the_present_one_vouches_for_it() {
    with_store(|store| {
        let old = find_or_create_signing(store, &at(START)).unwrap();
        let new = rotate(store, &at(START + HOUR), "proj").unwrap().unwrap();
        let (header, claims) = verified(new.vouched_by.as_deref().unwrap(), &old.public_x);
        assert_eq!(header, json!({ "alg": "EdDSA", "kid": old.kid, "typ": "scrip-key+jwt" }));
        let jwk = json!({ "crv": "Ed25519", "kty": "OKP", "x": new.public_x });
        assert_eq!(claims, json!({ "iss": "proj", "iat": (START + HOUR) / 1_000, "jwk": jwk }));
        let switch = START + HOUR + OVERLAP_MS;
        let pair = |new_is, old_is| vec![(new.kid.clone(), new_is), (old.kid.clone(), old_is)];
        assert_eq!(states(store, switch - 1), pair(KeyStatus::Next, KeyStatus::Signing));
        assert_eq!(states(store, switch), pair(KeyStatus::Signing, KeyStatus::Former));
        let kids: Vec<String> =
            published_keys(&list(store, switch).unwrap()).map(|key| key.stored.kid.clone()).collect();
        assert_eq!(kids, [new.kid.clone(), old.kid.clone()], "the statement of a former key leads to the present one");
        let PendingRotation(next) = rotate(store, &at(switch - 1), "proj").unwrap().unwrap_err();
        assert_eq!(next.stored.kid, new.kid);
        assert_eq!(find_epoch(store).unwrap(), 0, "a rotation invalidates nothing");
        delete_former_private_halves(store, switch + OVERLAP_MS - 1).unwrap();
        assert!(key(store, &old.kid, switch).stored.private_seed.is_some(), "the clock may be set back");
        delete_former_private_halves(store, switch + OVERLAP_MS).unwrap();
        assert_eq!(key(store, &old.kid, switch).stored.private_seed, None);
        assert_eq!(states(store, switch + OVERLAP_MS), pair(KeyStatus::Signing, KeyStatus::Former));
    });
}

#[test]
fn a_retired_key_ends_at_once_with_what_it_vouched_for() {
    with_store(|store| {
        let old = find_or_create_signing(store, &at(START)).unwrap();
        let new = rotate(store, &at(START), "proj").unwrap().unwrap();
        let now = START + HOUR;
        let leaked = key(store, &old.kid, now);
        retire(store, &at(now), &leaked).unwrap();
        let retired = key(store, &old.kid, now);
        assert_eq!((retired.status, retired.stored.private_seed), (KeyStatus::Retired, None));
        let present = key(store, &new.kid, now);
        assert_eq!((present.status, present.stored.signs_from), (KeyStatus::Signing, now));
        assert_eq!((present.stored.vouched_by, present.stored.vouching_kid), (None, None));
        assert_eq!(find_epoch(store).unwrap(), now);
        // The last key: another pair is made at once, and the epoch rises though the clock does not advance.
        let last = key(store, &new.kid, now);
        retire(store, &at(now), &last).unwrap();
        assert_eq!(find_epoch(store).unwrap(), now + 1);
        let kid = find_signing_kid(store, now).unwrap().unwrap();
        assert!(kid != old.kid && kid != new.kid);
        assert_eq!(key(store, &kid, now).stored.vouched_by, None);
    });
}

#[test]
fn after_a_retired_next_key_the_present_one_signs_on() {
    with_store(|store| {
        let old = find_or_create_signing(store, &at(START)).unwrap();
        let new = rotate(store, &at(START), "proj").unwrap().unwrap();
        let next = key(store, &new.kid, START);
        retire(store, &at(START), &next).unwrap();
        let later = START + 10 * OVERLAP_MS;
        assert_eq!(states(store, later), [(new.kid, KeyStatus::Retired), (old.kid, KeyStatus::Signing)]);
        rotate(store, &at(later), "proj").unwrap().unwrap();
    });
}

#[test]
fn a_hundred_keys_are_kept_and_the_one_that_signs_is_among_them() {
    with_store(|store| {
        for _ in 0..120 {
            let kid = find_or_create_signing(store, &at(START)).unwrap().kid;
            let present = key(store, &kid, START);
            retire(store, &at(START), &present).unwrap();
        }
        let kept = list(store, START).unwrap();
        assert_eq!(kept.len(), 100);
        assert_eq!(kept.first().unwrap().status, KeyStatus::Signing);
    });
}
