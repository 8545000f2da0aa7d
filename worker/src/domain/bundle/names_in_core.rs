//! Finds which product collections and categories the documents of a core name: those alone are in it.
//!
//! A decision finds these by the ids that offers and rules contain, so an id that occurs in none of their texts is never requested.

use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Adds those of some ids that a value names: as a text, as a word of one, because a formula names a collection within its text, or as the
/// name of a member.
pub fn collect_names(value: &Json, ids: &BTreeSet<String>, found: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            let words = text.split(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '_' | '-'));
            for name in words.chain([text.as_str()]).filter(|name| ids.contains(*name)) {
                found.insert(name.to_owned());
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect_names(item, ids, found)),
        Json::Object(members) => members.iter().for_each(|(name, value)| {
            if ids.contains(name) {
                found.insert(name.clone());
            }
            collect_names(value, ids, found);
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_texts_words_and_members() {
        let ids = ["cat_1", "cat_2", "pc_1", "pc_11", "pc_2"].map(str::to_owned).into();
        let mut found = BTreeSet::new();
        let documents = [
            json!({ "id": "camp_1", "category_id": "cat_1" }),
            json!({ "id": "promo_1", "action": { "formula": "PRODUCTS(\"pc_11\") * 2" } }),
            json!({ "id": "val_1", "rules": { "1": { "conditions": { "$is": ["seg_1", { "pc_2": 1 }] } } } }),
        ];
        documents.iter().for_each(|document| collect_names(document, &ids, &mut found));
        assert_eq!(found, ["cat_1", "pc_11", "pc_2"].map(str::to_owned).into());
    }
}
