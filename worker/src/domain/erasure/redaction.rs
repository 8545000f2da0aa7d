//! Removes the personal data of an erased customer from a document: names and ids are replaced by an alias, facts about
//! the events stay.

use crate::store::document::Document;
use crate::store::records::{NamingRecord, ObjectReference};
use scrip::text::fold;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// A customer to be erased.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CustomerIdentity {
    /// Id of the customer.
    pub id: String,
    /// Alias that replaces the id.
    pub alias: String,
    /// The `source_id`, if there is one.
    pub source_id: Option<String>,
    /// E-mail address in lower case, by which a request may name the customer.
    #[serde(default)]
    pub email: Option<String>,
    /// Tracking id.
    pub tracking_id: Option<String>,
    /// Texts that identify the customer in any document: addresses, and longer values of the profile.
    pub values: Vec<String>,
}

/// Members of a profile that are counts and stay.
const COUNTS: &[&str] = &["object", "summary", "loyalty", "referrals", "created_at", "updated_at"];
/// Members with custom data, which may contain anything.
const CUSTOM: &[&str] = &["metadata", "system_metadata"];
/// Shorter values are part of too many words to be searched.
const VALUE_MIN: usize = 4;

impl CustomerIdentity {
    /// Reads the identifying data of a stored customer. The alias is as long as the id, so that rows keep their lengths.
    pub fn of(document: &Document, alias: String, tracking_id: Option<String>) -> CustomerIdentity {
        let customer = document.as_customer();
        let mut values = Vec::new();
        customer.identifying_members().for_each(|member| leaves(member, &mut values));
        let source_id = customer.source_id().map(str::to_owned);
        values.extend(source_id.clone().filter(|name| name.contains('@')));
        values.retain(|value| value.len() >= VALUE_MIN);
        values.sort();
        values.dedup();
        let email = customer.email().map(|email| fold(email).into_owned());
        CustomerIdentity { id: document.id.clone(), alias, source_id, email, tracking_id, values }
    }

    /// Returns the values that identify the customer in a text without any other name: addresses only.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str).filter(|value| value.contains('@'))
    }

    /// Returns the JSON texts to search for: a stored text without any of them does not name the customer.
    pub fn texts_in_json(&self) -> Vec<String> {
        let whole = self.source_id.iter().map(|name| Json::from(name.as_str()).to_string());
        let inner = |text: &str| Json::from(text).to_string().trim_matches('"').to_owned();
        let tracked = self.tracking_id.iter().cloned();
        whole.chain([self.id.clone()]).chain(tracked).chain(self.addresses().map(inner)).collect()
    }

    /// Returns the texts to search for in CSV lines, whose cells double their quotes.
    pub fn texts_in_lines(&self) -> Vec<String> {
        let whole = self.source_id.iter().chain([&self.id]).chain(self.tracking_id.iter()).map(String::as_str);
        whole.chain(self.addresses()).map(|text| text.replace('"', "\"\"")).collect()
    }

    /// Returns the texts to search for in the JSON text of CSV lines.
    pub fn texts_in_files(&self) -> Vec<String> {
        let inner = |text: String| Json::from(text).to_string().trim_matches('"').to_owned();
        self.texts_in_lines().into_iter().map(inner).collect()
    }

    /// Tests if a CSV line names the customer. An address that only ends with this one does not match.
    pub fn is_named_in_line(&self, line: &str) -> bool {
        self.texts_in_lines().iter().any(|mark| replaced(line, mark, "") != line)
    }

    /// Removes the customer from a document; returns true when it changed. `whose` is the id of the document's own customer, if
    /// any: in a document of another customer only the id is replaced.
    pub fn erase(&self, body: &mut Json, whose: Option<&str>) -> bool {
        let is_theirs = whose == Some(&self.id) || whose == Some(&self.alias);
        let before = body.clone();
        if !is_theirs && whose.is_some() {
            self.replace_id(body);
            return *body != before;
        }
        let is_named = self.is_named_in(body);
        if is_theirs || is_named {
            self.reduce_objects(body);
            self.clear_metadata(body);
            self.replace_values(body, &self.values);
        } else {
            self.erase_addresses(body);
        }
        self.replace_id(body);
        *body != before
    }

    /// Removes the customer's addresses from a document without a customer.
    pub fn erase_addresses(&self, body: &mut Json) -> bool {
        let before = body.clone();
        let addresses: Vec<String> = self.addresses().map(str::to_owned).collect();
        self.replace_values(body, &addresses);
        *body != before
    }

    /// Removes the customer from a document that also lists customers by their `source_id`.
    pub fn erase_named(&self, body: &mut Json) -> bool {
        let before = body.clone();
        self.change_texts(body, &|text| {
            if self.source_id.as_deref() == Some(text) { self.alias.clone() } else { text.to_owned() }
        });
        self.erase(body, None);
        *body != before
    }

    /// Removes the customer from a list.
    pub fn remove_from_list(&self, body: &mut Json, name: &str) -> bool {
        let Some(items) = body.get_mut(name).and_then(Json::as_array_mut) else { return false };
        let before = items.len();
        items.retain(|item| !self.is_item(item));
        items.len() != before
    }

    /// Tests if an item of a list is of the customer, or contains their data.
    pub fn is_item(&self, item: &Json) -> bool {
        let mut without = item.clone();
        self.is_named_as(item) || self.erase(&mut without, None)
    }

    fn is_named_as(&self, item: &Json) -> bool {
        let named = item.get("customer_identification").unwrap_or(item);
        let named = [Some(item), item.get("source_id"), named.get("customer_source_id")];
        self.source_id.is_some() && named.into_iter().flatten().any(|name| name.as_str() == self.source_id.as_deref())
    }

    /// Tests if a text contains an identifying value.
    pub fn is_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| replaced(text, value, "") != text)
    }

    /// Tests if an object is this customer, as the API returns customers.
    fn is(&self, object: NamingRecord<'_>) -> bool {
        self.is_profile(object) || object.customer_id() == Some(&self.id)
    }

    /// Tests if an object is this customer by its own names.
    fn is_profile(&self, object: NamingRecord<'_>) -> bool {
        let by_source = self.source_id.is_some() && object.source_id() == self.source_id.as_deref();
        object.id() == Some(&self.id) || by_source && matches!(object.object(), Some("customer") | None)
    }

    fn is_named_in(&self, value: &Json) -> bool {
        match value {
            Json::Object(members) => {
                self.is(NamingRecord::of(members)) || members.values().any(|value| self.is_named_in(value))
            }
            Json::Array(items) => items.iter().any(|value| self.is_named_in(value)),
            Json::String(text) => self.tracking_id.as_ref() == Some(text),
            _ => false,
        }
    }

    /// Reduces the customer's objects to the alias and their counts; other names are removed.
    fn reduce_objects(&self, value: &mut Json) {
        match value {
            Json::Object(members) => {
                let is_customer = self.is_profile(NamingRecord::of(members));
                for (name, member) in members.iter_mut() {
                    let is_name = ["source_id", "customer_source_id", "tracking_id"].contains(&name.as_str());
                    let names_them = member
                        .as_str()
                        .is_some_and(|name| self.source_id.as_deref() == Some(name) || name.starts_with("track_"));
                    if is_customer && CUSTOM.contains(&name.as_str()) {
                        *member = json!({});
                    } else if is_customer && name != "id" && !COUNTS.contains(&name.as_str()) || is_name && names_them {
                        *member = Json::Null;
                    } else {
                        self.reduce_objects(member);
                    }
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|value| self.reduce_objects(value)),
            _ => {}
        }
    }

    /// Empties the custom data of the customer's documents. Metadata of vouchers, campaigns and segments stays, because
    /// rules read it, without identifying values.
    fn clear_metadata(&self, body: &mut Json) {
        let is_goods = matches!(ObjectReference::of_value(body).object(), Some("voucher" | "campaign" | "segment"));
        if let Some(metadata) = body.get_mut("metadata").filter(|metadata| metadata.is_object() && !is_goods) {
            *metadata = json!({});
        }
    }

    /// Replaces identifying values by the alias where they are separate words.
    fn replace_values(&self, value: &mut Json, values: &[String]) {
        self.change_texts(value, &|text| {
            let mut text = text.to_owned();
            for value in values {
                text = replaced(&text, value, &self.alias);
            }
            text
        });
    }

    /// Replaces the id by the alias.
    fn replace_id(&self, value: &mut Json) {
        self.change_texts(value, &|text| text.replace(&self.id, &self.alias));
    }

    /// Changes every text and every member name.
    fn change_texts(&self, value: &mut Json, change: &dyn Fn(&str) -> String) {
        match value {
            Json::String(text) => *text = change(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.change_texts(item, change)),
            Json::Object(members) => {
                for (name, mut value) in std::mem::take(members) {
                    self.change_texts(&mut value, change);
                    members.insert(change(&name), value);
                }
            }
            _ => {}
        }
    }
}

/// Collects the texts in a value.
fn leaves(value: &Json, found: &mut Vec<String>) {
    match value {
        Json::String(text) => found.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Json::Object(members) => members.values().for_each(|member| leaves(member, found)),
        _ => {}
    }
}

/// Replaces a text where it is a separate word: `ann@shop.example` does not match in `joann@shop.example`.
fn replaced(text: &str, needle: &str, replacement: &str) -> String {
    let is_part = |character: Option<char>| {
        character.is_some_and(|character| character.is_alphanumeric() || "._%+-".contains(character))
    };
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(needle) {
        let last = before.chars().next_back().or_else(|| result.chars().next_back());
        // A sentence may end after an address.
        let next = behind.trim_start_matches('.').chars().next();
        result.push_str(before);
        result.push_str(if is_part(last) || is_part(next) { needle } else { replacement });
        rest = behind;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anna() -> CustomerIdentity {
        let body = json!({ "id": "cust_1", "source_id": "anna@a.example", "name": "Anna Nowak", "email": "anna@a.example",
            "phone": "+48 123", "metadata": { "note": "knits", "age": 30 } });
        let body = body.as_object().cloned().unwrap_or_default();
        let document = Document::new("cust_1".into(), None, 0, body);
        CustomerIdentity::of(&document, "gone_1".into(), Some("track_aa".into()))
    }

    fn check(mut body: Json, whose: Option<&str>, expected: Json) {
        anna().erase(&mut body, whose);
        assert_eq!(body, expected);
    }

    #[test]
    fn what_they_did_stays_without_them() {
        check(
            json!({ "object": "redemption", "customer_id": "cust_1", "tracking_id": "track_aa", "amount": 7, "metadata": { "to": "x" },
                "customer": { "id": "cust_1", "object": "customer", "name": "Old Name", "email": "old@a.example", "source_id": "anna@a.example",
                  "metadata": { "a": "b" }, "summary": { "orders": 1 } } }),
            None,
            json!({ "object": "redemption", "customer_id": "gone_1", "tracking_id": null, "amount": 7, "metadata": {},
                "customer": { "id": "gone_1", "object": "customer", "name": null, "email": null, "source_id": null,
                  "metadata": {}, "summary": { "orders": 1 } } }),
        );
        check(
            json!({ "object": "voucher", "code": "A", "holder_id": "cust_1", "metadata": { "for": "Anna Nowak, anna@a.example.", "pages": 3 } }),
            Some("cust_1"),
            json!({ "object": "voucher", "code": "A", "holder_id": "gone_1", "metadata": { "for": "gone_1, gone_1.", "pages": 3 } }),
        );
    }

    #[test]
    fn what_is_of_others_stays_theirs() {
        let others = json!({ "id": "cust_2", "object": "customer", "name": "Anna Nowak", "email": "anna@a.example" });
        check(others.clone(), Some("cust_2"), others);
        check(
            json!({ "referrals": [{ "referrer_id": "cust_1" }] }),
            Some("cust_2"),
            json!({ "referrals": [{ "referrer_id": "gone_1" }] }),
        );
        let longer = json!({ "to": "joanna@a.example", "or": "anna@a.example.org" });
        check(longer.clone(), None, longer);
        check(json!({ "text": "knits" }), None, json!({ "text": "knits" }));
        check(json!({ "text": "<anna@a.example>" }), None, json!({ "text": "<gone_1>" }));
    }
}
