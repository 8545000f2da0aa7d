//! Valid tokens, and every way in which a token is invalid.

use super::*;

/// 2026-03-01T00:00:00Z.
const NOW: i64 = 1_772_323_200;

/// Token that `tests/workerd/customer-token.mjs` makes with [`key`], for `anna@example.com`, now, for 900 seconds.
const BY_NODE: &str = "eyJhbGciOiJIUzI1NiIsImtpZCI6ImN0a18wMTIzNDU2Nzg5YWJjZGVmIiwidHlwIjoiSldUIn0.\
    eyJhdWQiOiJwcm9qX2RldiIsImV4cCI6MTc3MjMyNDEwMCwiaWF0IjoxNzcyMzIzMjAwLCJzdWIiOiJhbm5hQGV4YW1wbGUuY29tIn0.\
    5sJNhs7X-ZknCeQ-_vyGTobxWaJ7sYiMFyPaO0rUk4A";

fn key() -> CustomerTokenKey {
    let secret = "00112233445566778899aabbccddeeff".repeat(2);
    CustomerTokenKey { id: "ctk_0123456789abcdef".into(), secret }
}

/// Signs a token of these two parts without checking them.
fn signed(header: Json, claims: Json, key: &CustomerTokenKey) -> String {
    let part = |value: Json| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
    let (head, body) = (part(header), part(claims));
    let seal = key.divided_by(&[head.as_bytes(), b".", body.as_bytes()]).unwrap().finalize().into_bytes();
    format!("{head}.{body}.{}", Base64UrlUnpadded::encode_string(&seal))
}

fn header() -> Json {
    json!({ "alg": "HS256", "typ": "JWT", "kid": key().id })
}

fn claims(made: i64, end: i64) -> Json {
    json!({ "aud": "proj_dev", "sub": "anna", "iat": made, "exp": end })
}

fn proven_at(token: &str, now: i64) -> Result<String, String> {
    let message = |body: ErrorBody| {
        assert_eq!((body.code, body.key.as_deref()), (401, Some("invalid_customer_token")));
        body.details.clone().unwrap()
    };
    let sent = read(token, "proj_dev").map_err(message)?;
    let known = key();
    let found = Some(&known).filter(|known| known.id == sent.key);
    // Saturates at the end of time.
    sent.customer(found, now.saturating_mul(1_000)).map(str::to_owned).map_err(message)
}

fn refusal(token: &str) -> String {
    let message = proven_at(token, NOW).unwrap_err();
    assert!(!message.contains(&key().secret) && message.len() < 400, "{message}");
    message
}

#[test]
fn tokens_of_node_equal_own_tokens() {
    assert_eq!(key().sign("proj_dev", "anna@example.com", NOW, 900).as_deref(), Some(BY_NODE));
    assert_eq!(proven_at(BY_NODE, NOW).as_deref(), Ok("anna@example.com"));
    assert_eq!(proven_at(BY_NODE, NOW + 899).as_deref(), Ok("anna@example.com"));
    let listed = json!({ "aud": ["elsewhere", "proj_dev"], "sub": "anna", "iat": NOW, "exp": NOW + 1 });
    assert_eq!(proven_at(&signed(header(), listed, &key()), NOW).as_deref(), Ok("anna"));
}

#[test]
fn a_token_has_its_time() {
    let token = |made, end| signed(header(), claims(made, end), &key());
    assert_eq!(proven_at(BY_NODE, NOW + 900), Err("The customer token ended 0 s ago, 900 s after it was made".into()));
    assert_eq!(refusal(&token(NOW - 901, NOW - 1)), "The customer token ended 1 s ago, 900 s after it was made");
    // The issuer's clock is ten minutes behind: a token of fifteen minutes still lasts five.
    assert!(proven_at(&token(NOW - 600, NOW + 300), NOW).is_ok());
    assert_eq!(refusal(&token(NOW - 600, NOW - 300)), "The customer token ended 300 s ago, 300 s after it was made");
    // The issuer's clock is ten minutes ahead.
    assert_eq!(
        refusal(&token(NOW + 600, NOW + 1_500)),
        "The customer token begins in 600 s: at most 60 s are overlooked; the clock of whoever made it is ahead"
    );
    assert!(proven_at(&token(NOW + 60, NOW + 960), NOW).is_ok());
    assert!(proven_at(&token(NOW + 61, NOW + 961), NOW).is_err());
    assert!(proven_at(&token(NOW, NOW + 3_600), NOW).is_ok());
    for (made, end, life) in
        [(NOW, NOW + 3_601, 3_601), (NOW, NOW, 0), (NOW, NOW - 1, -1), (i64::MIN, i64::MAX, i64::MAX)]
    {
        let bound = "`exp` must be 1 to 3600 after `iat`";
        let message =
            format!("The customer token lasts too long or not at all: {bound} (actual difference is `{life}`)");
        assert_eq!(refusal(&token(made, end)), message);
    }
    for (name, value) in
        [("iat", json!(null)), ("exp", json!("1772323200")), ("exp", json!(1772323200.5)), ("iat", json!(true))]
    {
        let mut claims = claims(NOW, NOW + 900);
        claims[name] = value.clone();
        let message = refusal(&signed(header(), claims, &key()));
        let start = format!("The customer token must have `{name}`, whole seconds since 1970 (actual value is `");
        assert!(message.starts_with(&start), "{message}");
    }
}

#[test]
fn a_token_does_not_count_before_its_nbf() {
    let token = |made: i64, nbf: Json| {
        let mut claims = claims(made, made + 900);
        claims["nbf"] = nbf;
        signed(header(), claims, &key())
    };
    let later = token(NOW, json!(NOW + 600));
    for (now, rest) in [(NOW, 600), (NOW + 540, 60), (NOW + 599, 1)] {
        let message = format!("The customer token does not count yet: by its `nbf` it begins in {rest} s");
        assert_eq!(proven_at(&later, now), Err(message));
    }
    assert_eq!(proven_at(&later, NOW + 600).as_deref(), Ok("anna"));
    assert!(proven_at(&later, NOW + 899).is_ok());
    assert!(proven_at(&later, NOW + 900).is_err());
    assert!(proven_at(&token(NOW, json!(NOW)), NOW).is_ok());
    assert!(proven_at(&token(NOW, json!(NOW - 5)), NOW).is_ok());
    assert!(proven_at(&token(NOW, Json::Null), NOW).is_ok());
    // The issuer's clock is ahead: the tolerance of `iat` applies to `nbf`, and no more.
    assert!(proven_at(&token(NOW + 60, json!(NOW + 60)), NOW).is_ok());
    assert!(proven_at(&token(NOW + 30, json!(NOW + 60)), NOW).is_err());
    assert!(proven_at(&token(NOW, json!(NOW + 900)), NOW + 900).is_err());
    for wrong in [json!("1772323200"), json!(1772323200.5), json!(true)] {
        let message = refusal(&token(NOW, wrong));
        assert!(
            message.starts_with("The customer token must have `nbf`, whole seconds since 1970 (actual value is `"),
            "{message}"
        );
    }
}

#[test]
fn a_token_is_for_one_project_and_of_one_of_its_keys() {
    let good = claims(NOW, NOW + 900);
    let message = |project: Json| {
        let mut claims = good.clone();
        claims["aud"] = project;
        refusal(&signed(header(), claims, &key()))
    };
    let other = "The customer token is for another project: `aud` must be `proj_dev` (actual value is";
    assert_eq!(message(json!("proj_other")), format!("{other} `proj_other`)"));
    assert_eq!(message(json!(["proj_other"])), format!("{other} `[\"proj_other\"]`)"));
    assert_eq!(message(json!(null)), format!("{other} `null`)"));
    let mut unknown = header();
    unknown["kid"] = json!("ctk_unknown");
    let said = "The customer token names the key `ctk_unknown`, which is no key of the project, or is none any more";
    assert_eq!(refusal(&signed(unknown, good.clone(), &key())), said);
    let nameless = json!({ "alg": "HS256", "typ": "JWT" });
    let said = "The customer token names no key: its header must have a `kid`";
    assert_eq!(refusal(&signed(nameless, good.clone(), &key())), said);
    // The id of a key of the project, and another secret.
    let forged = CustomerTokenKey { secret: "f".repeat(64), ..key() };
    assert_eq!(
        refusal(&signed(header(), good, &forged)),
        "The customer token was cut short, changed, or signed with another secret than its key's"
    );
}

#[test]
fn only_one_algorithm_is_accepted() {
    for algorithm in ["none", "None", "RS256", "HS512", "hs256", ""] {
        let header = json!({ "alg": algorithm, "typ": "JWT", "kid": key().id });
        let message = refusal(&signed(header, claims(NOW, NOW + 900), &key()));
        assert_eq!(
            message,
            format!("The customer token must be signed with HS256 (actual algorithm is `{algorithm}`)")
        );
    }
    let unsigned = signed(json!({ "alg": "none" }), claims(NOW, NOW + 900), &key());
    let (parts, _) = unsigned.rsplit_once('.').unwrap();
    assert!(refusal(&format!("{parts}.")).contains("HS256"));
    let critical = json!({ "alg": "HS256", "kid": key().id, "crit": ["b64"], "b64": false });
    assert!(refusal(&signed(critical, claims(NOW, NOW + 900), &key())).contains("`crit`"));
}

#[test]
fn changed_or_incomplete_tokens_are_refused() {
    let good = signed(header(), claims(NOW, NOW + 900), &key());
    assert!(proven_at(&good, NOW).is_ok());
    for length in 0..good.len() {
        assert!(proven_at(good.get(..length).unwrap(), NOW).is_err(), "cut after {length}");
    }
    // Every character: the last of a part has unused bits, which no second spelling may use.
    for place in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        bytes[place] = if bytes[place] == b'A' { b'B' } else { b'A' };
        assert!(proven_at(&String::from_utf8(bytes).unwrap(), NOW).is_err(), "changed at {place}");
    }
    // Another customer in the payload, under the signature of the first.
    let mut bert = claims(NOW, NOW + 900);
    bert["sub"] = json!("bert");
    let parts: Vec<&str> = good.split('.').collect();
    let forged = signed(header(), bert, &CustomerTokenKey { secret: "guessed".into(), ..key() });
    let forged: Vec<&str> = forged.split('.').collect();
    assert!(refusal(&format!("{}.{}.{}", parts[0], forged[1], parts[2])).contains("changed"));
    for odd in ["", ".", "..", "...", "a.b.c", "{}.{}.{}", "e30.e30.", "bnVsbA.bnVsbA.", &format!("{good}.{good}")] {
        refusal(odd);
    }
    let message = "The customer token must NOT have more than 8192 bytes (actual length is `16000`)";
    assert_eq!(refusal(&"x".repeat(16_000)), message);
}

#[test]
fn a_token_must_name_a_customer() {
    let message = |customer: Json| {
        let mut claims = claims(NOW, NOW + 900);
        claims["sub"] = customer;
        refusal(&signed(header(), claims, &key()))
    };
    for sub in [json!(""), json!(null), json!(7), json!(["anna"])] {
        assert!(message(sub).contains("names nobody: `sub` must be"));
    }
    assert!(message(json!("x".repeat(1_001))).contains("more than 1000 characters"));
    assert!(message(json!("track_0011")).contains("tracking id"));
}
