//! Digests by which customers are found. Indexes contain no personal data, because SQLite keeps removed values in the gaps of
//! index pages, where erasure could not remove them.

use crate::store::sql::Fault;
use scrip::text::fold;
use serde_json::{Map, Value as Json};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// Kind of the documents with digests.
pub(in crate::store) const KIND: &str = "customer";

/// Digested members: name of the digest and path in the document.
const DIGESTED: &[(&str, &[&str])] = &[(EMAIL, &["email"]), ("city", &["address", "city"])];

/// Name of the digest of e-mail addresses.
const EMAIL: &str = "email";

/// Name of the customer key: plain in the document, and as a digest in the key column.
const KEY: &str = "source_id";

/// Number of characters of a digest.
const DIGEST_LENGTH: usize = 32;

/// Returns the digest of a value: 128 bits in hexadecimal. E-mail addresses are digested without case.
pub fn digest(name: &str, value: &str) -> String {
    let value = if name == EMAIL { fold(value) } else { Cow::Borrowed(value) };
    let digest = Sha256::new_with_prefix(name).chain_update([0]).chain_update(value.as_bytes()).finalize();
    digest.iter().take(DIGEST_LENGTH / 2).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the key of a document as its column stores it.
pub fn key<'k>(kind: &str, key: &'k str) -> Cow<'k, str> {
    if kind == KIND { digest(KEY, key).into() } else { key.into() }
}

/// Returns the key column of a customer whose document is serialized. Fails when the text does not parse.
pub fn key_of_text(text: &str) -> Result<Option<String>, Fault> {
    Ok(parse(text)?.get(KEY).and_then(Json::as_str).map(|name| digest(KEY, name)))
}

fn parse(text: &str) -> Result<Map<String, Json>, Fault> {
    serde_json::from_str(text).map_err(|error| Fault(format!("a stored customer does not parse: {error}")))
}

/// Returns the plain key of a document, from the value of its key column.
pub fn plain_key(body: &Map<String, Json>, column: Option<String>) -> Option<String> {
    let name = body.get(KEY).and_then(Json::as_str);
    column.map(|column| match name {
        Some(name) if column.len() == DIGEST_LENGTH && digest(KEY, name) == column => name.to_owned(),
        _ => column,
    })
}

/// Returns a name, or a part of one, for searches without case. A null character would end the text in the trigram index.
pub fn fold_name(name: &str) -> String {
    fold(name).replace('\0', " ")
}

/// Returns the digests of a serialized customer as JSON, and the name without case. Fails when the text does not parse.
pub fn of_text(text: &str) -> Result<(Option<String>, Option<String>), Fault> {
    Ok(of(KIND, &parse(text)?))
}

/// Returns the digests of a document as JSON, and its name without case; none for other kinds.
pub fn of(kind: &str, body: &Map<String, Json>) -> (Option<String>, Option<String>) {
    if kind != KIND {
        return (None, None);
    }
    let found = DIGESTED.iter().filter_map(|(name, path)| {
        let value = path.iter().skip(1).try_fold(body.get(*path.first()?)?, |value, member| value.get(member))?;
        Some(((*name).to_owned(), digest(name, value.as_str()?).into()))
    });
    let digests: Map<String, Json> = found.collect();
    let folded_name = body.get("name").and_then(Json::as_str).map(fold_name);
    ((!digests.is_empty()).then(|| Json::Object(digests).to_string()), folded_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_customer_that_does_not_parse_has_no_digests_by_mistake() {
        let whole = r#"{"source_id":"ann","name":"Ann","email":"ann@example.com","address":{"city":"Ulm"}}"#;
        assert_eq!(key_of_text(whole).unwrap(), Some(digest(KEY, "ann")));
        let (digests, name) = of_text(whole).unwrap();
        assert_eq!(name.as_deref(), Some("ann"));
        assert!(digests.unwrap().contains(&digest("city", "Ulm")));
        for text in ["", "{", "[]", "null"] {
            assert!(key_of_text(text).is_err() && of_text(text).is_err(), "{text}");
        }
        assert_eq!((key_of_text("{}").unwrap(), of_text("{}").unwrap()), (None, (None, None)));
    }
}
