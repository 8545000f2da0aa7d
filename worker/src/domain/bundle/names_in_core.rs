//! Leaves out of a core the product collections and categories that only offers outside of its horizon name.
//!
//! A decision finds these by the ids that offers and rules contain, so an id that occurs in none of their texts is never requested.

use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Lists of documents that a core needs only when they are named.
const NAMED: [&str; 2] = ["categories", "product_collections"];
/// Lists that name.
const NAMING: [&str; 5] = ["campaigns", "vouchers", "promotion_tiers", "promotion_stacks", "validation_rules"];

/// Removes the documents that nothing names, neither directly nor through another named one.
pub fn retain_named(core: &mut Json) {
    let has_none = |list: &&str| core.get(*list).and_then(Json::as_array).is_none_or(Vec::is_empty);
    if NAMED.iter().all(has_none) {
        return;
    }
    let mut names = BTreeSet::new();
    NAMING.iter().filter_map(|list| core.get(*list)).for_each(|list| collect(list, &mut names));
    let mut is_named = BTreeSet::new();
    loop {
        let before = is_named.len();
        for document in NAMED.iter().filter_map(|list| core.get(*list)?.as_array()).flatten() {
            let Some(id) = id_of(document) else { continue };
            if names.contains(id) && is_named.insert(id.to_owned()) {
                collect(document, &mut names);
            }
        }
        if is_named.len() == before {
            break;
        }
    }
    for list in NAMED {
        if let Some(documents) = core.get_mut(list).and_then(Json::as_array_mut) {
            documents.retain(|document| id_of(document).is_none_or(|id| is_named.contains(id)));
        }
    }
}

/// Returns all texts of a value, the words of each, and the names of its members.
pub fn names_in(value: &Json) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    collect(value, &mut names);
    names
}

fn id_of(document: &Json) -> Option<&str> {
    document.get("id")?.as_str()
}

/// Collects all texts of a value, and the words of each: a formula names a collection within its text.
fn collect(value: &Json, names: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            let words = text.split(|sign: char| !sign.is_alphanumeric() && !matches!(sign, '_' | '-'));
            names.extend(words.chain([text.as_str()]).map(str::to_owned));
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Json::Object(members) => members.iter().for_each(|(name, value)| {
            names.insert(name.clone());
            collect(value, names);
        }),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_nothing_names_is_left_out() {
        let mut core = json!({
            "campaigns": [{ "id": "camp_1", "category_id": "cat_1" }],
            "promotion_tiers": [{ "id": "promo_1", "action": { "formula": "PRODUCTS(\"pc_1\") * 2" } }],
            "validation_rules": [{ "id": "val_1", "rules": { "1": { "conditions": { "$is": ["seg_1"] } } } }],
            "stacking_rules": { "exclusive_categories": ["cat_2"] },
            "categories": [{ "id": "cat_1" }, { "id": "cat_2" }],
            "product_collections": [{ "id": "pc_1" }, { "id": "pc_11" }],
        });
        retain_named(&mut core);
        assert_eq!(core["categories"], json!([{ "id": "cat_1" }]));
        assert_eq!(core["product_collections"], json!([{ "id": "pc_1" }]));
    }
}
