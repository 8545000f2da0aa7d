//! Tests that goods which are added to prepared rules count as those that were joined before.

use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::time::Instant;

const CORE: &[u8] =
    br#"{ "client": true, "named_goods": [], "stacking_rules": {}, "time_zone": "UTC", "promotion_tiers":
  [{ "id": "promo_1", "active": true, "action": { "discount": { "type": "PERCENT", "percent_off": 10 } } }] }"#;
const BUCKETS: [&[u8]; 2] = [
    br#"{ "bucket": 0, "buckets": 2, "products": [{ "id": "prod_1", "source_id": "mug", "price": 700 }], "skus": [] }"#,
    br#"{ "bucket": 1, "buckets": 2, "products": [{ "id": "prod_1", "source_id": "mug", "price": 700 }],
      "skus": [{ "id": "sku_1", "source_id": "mug-red", "product_id": "prod_1", "price": 800 }] }"#,
];

fn answers(rules: &PreparedRules) -> Vec<String> {
    let context = Context { now: Instant::parse("2026-03-01").unwrap(), seed: [7; 32], first_number: None };
    let names = [("mug", "product"), ("mug-red", "sku"), ("unknown", "product"), ("other", "sku")];
    let requests = names.map(|(name, object)| {
        format!(
            r#"{{ "redeemables": [{{ "object": "promotion_tier", "id": "promo_1" }}],
              "order": {{ "items": [{{ "source_id": "{name}", "related_object": "{object}", "quantity": 2, "price": 5 }}] }} }}"#
        )
    });
    requests.iter().map(|text| String::from_utf8(rules.validate(text.as_bytes(), &context).body).unwrap()).collect()
}

#[test]
fn added_goods_count_as_joined_ones_until_they_are_forgotten() {
    let bare = PreparedRules::new(CORE).unwrap();
    let joined = answers(&PreparedRules::joined(CORE, &BUCKETS).unwrap());
    assert_ne!(joined, answers(&bare));
    assert!(joined[0].contains(r#""initial_amount":1400"#) || joined[0].contains(r#""amount":1400"#), "{}", joined[0]);
    let mut rules = bare.clone();
    for _ in 0..2 {
        for bucket in BUCKETS {
            rules.add_goods(&[bucket]).unwrap();
        }
        assert_eq!(answers(&rules), joined);
        rules.forget_goods();
        assert_eq!(answers(&rules), answers(&bare));
    }
    assert!(rules.add_goods(&[b"no JSON"]).is_err());
}
