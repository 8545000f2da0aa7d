//! What is taken out of a document so that it tells nothing of a customer who is to be forgotten: who they were is replaced by a name that
//! tells nothing, and what happened stays. It must not know where documents are kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

/// Somebody who is to be forgotten.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Person {
    /// Their id.
    pub id: String,
    /// What stands in its place from then on.
    pub alias: String,
    /// The caller's name for them.
    pub source_id: Option<String>,
    /// Their tracking id.
    pub tracking_id: Option<String>,
    /// What says who they are wherever it is found: addresses, and longer values of their profile.
    pub values: Vec<String>,
}

/// Members of a profile that are counts, and stay.
const COUNTS: &[&str] = &["object", "summary", "loyalty", "referrals", "created_at", "updated_at"];
/// Members that hold custom data: nobody can know what a shop wrote there.
const CUSTOM: &[&str] = &["metadata", "system_metadata"];
/// Shorter values are in too many words to be looked for.
const VALUE_MIN: usize = 4;

impl Person {
    /// Who a stored customer is. The name that takes the place of theirs is as long, so that rows keep their lengths.
    pub fn of(id: &str, alias: String, body: &Map<String, Json>, tracking_id: Option<String>) -> Person {
        let mut values = Vec::new();
        for name in ["name", "description", "email", "phone", "birthday", "birthdate", "address", "metadata"] {
            leaves(body.get(name), &mut values);
        }
        let source_id = body.get("source_id").and_then(Json::as_str).map(str::to_owned);
        values.extend(source_id.clone().filter(|name| name.contains('@')));
        values.retain(|value| value.len() >= VALUE_MIN);
        values.sort();
        values.dedup();
        Person { id: id.to_owned(), alias, source_id, tracking_id, values }
    }

    /// What of them may stand in a text that names neither their id nor anything else of theirs: addresses alone.
    fn addresses(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(String::as_str).filter(|value| value.contains('@'))
    }

    /// The texts, as JSON has them, of which a stored text has one if it may tell of them.
    pub fn marks(&self) -> Vec<String> {
        let whole = self.source_id.iter().map(|name| Json::from(name.as_str()).to_string());
        let inner = |text: &str| Json::from(text).to_string().trim_matches('"').to_owned();
        let tracked = self.tracking_id.iter().cloned();
        whole.chain([self.id.clone()]).chain(tracked).chain(self.addresses().map(inner)).collect()
    }

    /// The same in a line of a table, whose cells double their quotes.
    pub fn marks_in_lines(&self) -> Vec<String> {
        let whole = self.source_id.iter().chain([&self.id]).chain(self.tracking_id.iter()).map(String::as_str);
        whole.chain(self.addresses()).map(|text| text.replace('"', "\"\"")).collect()
    }

    /// Whether a line of a table names them: of somebody whose address ends like theirs it does not.
    pub fn is_named_in_line(&self, line: &str) -> bool {
        self.marks_in_lines().iter().any(|mark| replaced(line, mark, "") != line)
    }

    /// Takes them out of a document. `whose` is who the document belongs to, where it belongs to somebody: what belongs to somebody else
    /// may say the same of them as well. Gives whether there was anything to take out.
    pub fn erase(&self, body: &mut Json, whose: Option<&str>) -> bool {
        let is_theirs = whose == Some(&self.id) || whose == Some(&self.alias);
        let before = body.clone();
        if !is_theirs && whose.is_some() {
            self.rename(body);
            return *body != before;
        }
        let is_named = self.is_named_in(body);
        if is_theirs || is_named {
            self.forget(body);
            if let Some(body) = body.as_object_mut() {
                self.empty(body);
            }
            self.blank(body, &self.values);
        } else {
            let addresses: Vec<String> = self.addresses().map(str::to_owned).collect();
            self.blank(body, &addresses);
        }
        self.rename(body);
        *body != before
    }

    /// The same of what lists people by whichever name they were sent under.
    pub fn erase_named(&self, body: &mut Json) -> bool {
        let before = body.clone();
        self.texts(body, &|text| {
            if self.source_id.as_deref() == Some(text) { self.alias.clone() } else { text.to_owned() }
        });
        self.erase(body, None);
        *body != before
    }

    /// Takes them out of a list.
    pub fn leave_list(&self, body: &mut Json, name: &str) -> bool {
        let Some(items) = body.get_mut(name).and_then(Json::as_array_mut) else { return false };
        let before = items.len();
        items.retain(|item| {
            let mut without = item.clone();
            !self.is_listed_as(item) && !self.erase(&mut without, None)
        });
        items.len() != before
    }

    fn is_listed_as(&self, item: &Json) -> bool {
        let named = item.get("customer_identification").unwrap_or(item);
        let named = [Some(item), item.get("source_id"), named.get("customer_source_id")];
        self.source_id.is_some() && named.into_iter().flatten().any(|name| name.as_str() == self.source_id.as_deref())
    }

    /// Whether a text says who they are.
    pub fn is_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| replaced(text, value, "") != text)
    }

    /// Whether an object is them, as a customer is shown.
    fn is(&self, object: &Map<String, Json>) -> bool {
        let text = |name: &str| object.get(name).and_then(Json::as_str);
        let by_source = self.source_id.is_some() && text("source_id") == self.source_id.as_deref();
        let is_customer = matches!(text("object"), Some("customer") | None);
        text("id") == Some(&self.id) || text("customer_id") == Some(&self.id) || by_source && is_customer
    }

    fn is_named_in(&self, value: &Json) -> bool {
        match value {
            Json::Object(members) => self.is(members) || members.values().any(|value| self.is_named_in(value)),
            Json::Array(items) => items.iter().any(|value| self.is_named_in(value)),
            Json::String(text) => self.tracking_id.as_ref() == Some(text),
            _ => false,
        }
    }

    /// Leaves of them as a customer the name that tells nothing and their counts; other names of theirs go.
    fn forget(&self, value: &mut Json) {
        match value {
            Json::Object(members) => {
                let text = |name: &str| members.get(name).and_then(Json::as_str);
                let by_source = self.source_id.is_some() && text("source_id") == self.source_id.as_deref();
                let is_customer =
                    text("id") == Some(&self.id) || by_source && matches!(text("object"), Some("customer") | None);
                for (name, member) in members.iter_mut() {
                    let is_name = ["source_id", "customer_source_id", "tracking_id"].contains(&name.as_str());
                    let names_them = member
                        .as_str()
                        .is_some_and(|said| self.source_id.as_deref() == Some(said) || said.starts_with("track_"));
                    if is_customer && CUSTOM.contains(&name.as_str()) {
                        *member = json!({});
                    } else if is_customer && name != "id" && !COUNTS.contains(&name.as_str()) || is_name && names_them {
                        *member = Json::Null;
                    } else {
                        self.forget(member);
                    }
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|value| self.forget(value)),
            _ => {}
        }
    }

    /// Empties the custom data of what they did. A voucher's, which rules ask for, stays but for what says who they are.
    fn empty(&self, body: &mut Map<String, Json>) {
        let is_goods = matches!(body.get("object").and_then(Json::as_str), Some("voucher" | "campaign" | "segment"));
        if let Some(metadata) = body.get_mut("metadata").filter(|metadata| metadata.is_object() && !is_goods) {
            *metadata = json!({});
        }
    }

    /// Puts the name that tells nothing in the place of each of these values, where it stands as words of its own.
    fn blank(&self, value: &mut Json, values: &[String]) {
        self.texts(value, &|text| {
            let mut text = text.to_owned();
            for value in values {
                text = replaced(&text, value, &self.alias);
            }
            text
        });
    }

    /// Puts the name that tells nothing in the place of their id.
    fn rename(&self, value: &mut Json) {
        self.texts(value, &|text| text.replace(&self.id, &self.alias));
    }

    /// Changes every text and every name of a member.
    fn texts(&self, value: &mut Json, change: &dyn Fn(&str) -> String) {
        match value {
            Json::String(text) => *text = change(text),
            Json::Array(items) => items.iter_mut().for_each(|item| self.texts(item, change)),
            Json::Object(members) => {
                for (name, mut value) in std::mem::take(members) {
                    self.texts(&mut value, change);
                    members.insert(change(&name), value);
                }
            }
            _ => {}
        }
    }
}

/// The texts in a value.
fn leaves(value: Option<&Json>, found: &mut Vec<String>) {
    match value {
        Some(Json::String(text)) => found.push(text.clone()),
        Some(Json::Array(items)) => items.iter().for_each(|item| leaves(Some(item), found)),
        Some(Json::Object(members)) => members.values().for_each(|member| leaves(Some(member), found)),
        _ => {}
    }
}

/// A text with another in the place of one that stands in it as words of its own: of `ann@shop.example` nothing is in `joann@shop.example`.
fn replaced(text: &str, sought: &str, by: &str) -> String {
    let is_part =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || "._%+-".contains(letter));
    let mut done = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once(sought) {
        let last = before.chars().next_back().or_else(|| done.chars().next_back());
        // A sentence may end behind an address.
        let next = behind.trim_start_matches('.').chars().next();
        done.push_str(before);
        done.push_str(if is_part(last) || is_part(next) { sought } else { by });
        rest = behind;
    }
    done.push_str(rest);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    fn anna() -> Person {
        let body = json!({ "id": "cust_1", "source_id": "anna@a.example", "name": "Anna Nowak", "email": "anna@a.example",
            "phone": "+48 123", "metadata": { "note": "knits", "age": 30 } });
        let body = body.as_object().cloned().unwrap_or_default();
        Person::of("cust_1", "gone_1".into(), &body, Some("track_aa".into()))
    }

    fn check(mut body: Json, whose: Option<&str>, wanted: Json) {
        anna().erase(&mut body, whose);
        assert_eq!(body, wanted);
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
