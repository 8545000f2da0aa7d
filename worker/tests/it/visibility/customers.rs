//! Tests that planted words reach no client with the token of a customer either: those of offers that are not visible, those of the customer's
//! own voucher, and metadata that the project has not made public.

use super::{Shop, check_planted, plant_hidden, plant_sealed, read_all};
use serde_json::{Value as Json, json};

/// Creates a customer with a voucher whose rule, segment, filter and metadata have planted words; returns a token and the code.
fn plant_customer(shop: &mut Shop) -> (String, String) {
    let [level, segment, rule, message, note, voucher_note] =
        ["level", "segment", "rule", "unused", "metadata", "vouchermetadata"].map(|subject| shop.plant(subject));
    let profile = json!({ "source_id": "anna", "metadata": { "level": level, "note": note } });
    shop.make("/v1/customers", &profile);
    let filter = json!({ "junction": "and", "metadata.level": { "conditions": { "$is": [level] } } });
    let segment = shop.make("/v1/segments", &json!({ "type": "auto-update", "name": segment, "filter": filter }));
    let tests = json!({
        "1": { "name": "customer.segment", "conditions": { "$is": [segment["id"]] } },
        "2": { "name": "customer.metadata", "property": "note", "conditions": { "$is": [note] } },
        "3": { "name": "customer.metadata", "property": message, "conditions": { "$is": [message] } },
        "logic": "1 and (2 or 3)",
    });
    let rule = shop.make("/v1/validation-rules", &json!({ "name": rule, "rules": tests }));
    let discount = json!({ "discount": { "type": "AMOUNT", "amount_off": 50 } });
    let own = json!({ "name": "Own", "type": "AUTO_UPDATE", "campaign_type": "DISCOUNT_COUPONS", "metadata": { "note": voucher_note },
        "voucher": discount, "validation_rules": [rule["id"]] });
    shop.make("/v1/campaigns", &own);
    let publication = json!({ "campaign": { "name": "Own", "count": 1 }, "customer": { "source_id": "anna" }, "metadata": { "note": voucher_note } });
    let published = shop.make("/v1/publications", &publication);
    let code = published["voucher"]["code"].as_str().unwrap().to_owned();
    let wanted = json!({ "customer": { "source_id": "anna" }, "ttl": 3_600 });
    // A token of the day on which the shop was made would be over.
    let keys = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
    let reply = shop.send(super::NOON, "POST /v1/customer-tokens", &keys, &wanted);
    let token: Json = serde_json::from_slice(&reply.body).unwrap();
    (token["token"].as_str().unwrap().to_owned(), code)
}

/// Creates visible offers with planted words in metadata that the project has not made public.
fn plant_metadata(shop: &mut Shop) {
    let mut note = |subject: &str| json!({ "note": shop.plant(subject) });
    let [of_tier, of_campaign, of_code, of_open, of_alone] =
        ["tiernote", "campaignnote", "codenote", "opennote", "alonenote"].map(&mut note);
    let discount = json!({ "type": "AMOUNT", "amount_off": 1 });
    let tier = json!({ "name": "Seentier", "action": { "discount": discount }, "metadata": of_tier });
    shop.make(
        "/v1/campaigns",
        &json!({ "name": "Seen", "campaign_type": "PROMOTION", "metadata": of_campaign, "promotion": { "tiers": [tier] } }),
    );
    let voucher = json!({ "discount": discount, "code_config": { "pattern": "SEENCODE" }, "metadata": of_code });
    shop.make(
        "/v1/campaigns",
        &json!({ "name": "Seenopen", "type": "STANDALONE", "visibility": "public", "metadata": of_open, "voucher": voucher }),
    );
    shop.make("/v1/vouchers/SEENALONE", &json!({ "discount": discount, "visibility": "public", "metadata": of_alone }));
}

#[test]
fn planted_words_reach_no_customer_with_a_token() {
    let mut shop = Shop::new();
    plant_metadata(&mut shop);
    plant_hidden(&mut shop);
    plant_sealed(&mut shop);
    let (token, code) = plant_customer(&mut shop);
    for token in [None, Some(&*token)] {
        let texts = read_all(&shop, token);
        check_planted(&shop, &texts);
        let shows = |place: &str, word: &str| texts.iter().any(|(name, text)| name == place && text.contains(word));
        // The lists are not empty for another reason.
        let list = "GET /client/v1/vouchers?limit=100";
        assert!(shows("the core", "Seentier") && shows("the core", "SEENCODE") && shows("the core", "SEENALONE"));
        assert!(shows("ALL", "Seentier") && shows(list, "SEENCODE") && shows(list, "SEENALONE"));
        for place in ["ALL", "CUSTOMER_WALLET", list] {
            assert_eq!(shows(place, &code), token.is_some(), "{place}");
        }
        assert!(token.is_none() || shows("the supplement", &code));
    }
}
