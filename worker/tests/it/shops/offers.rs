//! Generates the redeemables of a shop: single codes, campaigns with codes, public codes, gift cards, promotion tiers and stacks.

use crate::shops::random::{Random, text};
use crate::shops::service_calls::ServiceCalls;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub fn make(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for number in 0..random.between(3, 5) {
        voucher(random, desk, book, number);
    }
    for number in 0..random.between(1, 2) {
        campaign(random, desk, book, number);
    }
    for number in 0..random.between(2, 4) {
        public(random, desk, book, number);
    }
    promotion(random, desk, book);
    used(random, desk, book);
}

/// Generates earlier redemptions: some codes are used, and gift cards have spent credits.
fn used(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for at in 0..book.vouchers.len() {
        if !random.once_in(4) {
            continue;
        }
        let code = text(&book.vouchers[at], "code");
        let customer = text(random.pick(&book.customers), "source_id");
        let mut redeemable = json!({ "object": "voucher", "id": code });
        let mut spent = 0;
        if let Some(amount) = book.vouchers[at]["gift"]["amount"].as_i64() {
            spent = random.between(1, amount);
            redeemable["gift"] = json!({ "credits": spent });
        }
        let order = json!({ "amount": 100_000, "items": [{ "product_id": book.products[0]["id"], "price": 100_000, "quantity": 1 }] });
        let body = json!({ "redeemables": [redeemable], "customer": { "source_id": customer }, "order": order });
        let answer = desk.ask("POST /v1/redemptions", &body);
        let one = &answer.json["redemptions"][0];
        // A refusal by the rules of the code is no use of it; the carts check the model for that.
        if answer.status == 200 && one["status"] == "SUCCEEDED" {
            desk.log.push(format!("POST /v1/redemptions {body}"));
            book.redeemed.push((code, customer, one["amount"].as_i64().unwrap_or(0).min(spent)));
        }
    }
}

/// Three of four have a category.
fn category(random: &mut Random, book: &Book, body: &mut Json) {
    if !random.once_in(3) {
        body["category_id"] = random.pick(&book.categories)["id"].clone();
    }
}

/// Returns one of the first rules, which concern goods, or one of all.
fn rule(random: &mut Random, book: &Book) -> Option<String> {
    match random.below(4) {
        0 => None,
        1 => Some(text(&book.rules[random.index(2)], "id")),
        _ => Some(text(random.pick(&book.rules), "id")),
    }
}

/// Some are expired or not yet valid.
fn window(random: &mut Random, body: &mut Json) {
    match random.below(20) {
        0 => body["start_date"] = "2026-04-01T00:00:00Z".into(),
        1 => body["expiration_date"] = "2026-02-01T00:00:00Z".into(),
        2 => body["expiration_date"] = "2026-12-01T00:00:00Z".into(),
        _ => {}
    }
}

/// Returns a rule without discounted goods, so that it can be combined with another.
fn condition(random: &mut Random, book: &Book) -> Option<String> {
    let bare: Vec<Json> = book.rules.iter().filter(|rule| rule["applicable_to"].is_null()).cloned().collect();
    (!bare.is_empty()).then(|| text(random.pick(&bare), "id"))
}

fn gift(random: &mut Random) -> Json {
    let mut gift = json!({ "amount": random.between(1, 8) * 700 });
    match random.below(3) {
        0 => {}
        1 => gift["effect"] = "APPLY_TO_ORDER".into(),
        _ => gift["effect"] = "APPLY_TO_ITEMS".into(),
    }
    gift
}

fn benefit(random: &mut Random, book: &Book) -> Json {
    if random.once_in(5) {
        json!({ "type": "GIFT_VOUCHER", "gift": gift(random) })
    } else {
        json!({ "type": "DISCOUNT_VOUCHER", "discount": discount(random, book) })
    }
}

/// A code that has no campaign.
fn voucher(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book, number: i64) {
    let code = format!("CODE{number}");
    let mut body = benefit(random, book);
    category(random, book, &mut body);
    if random.once_in(4) {
        body["redemption"] = json!({ "quantity": random.between(1, 3) });
    }
    if random.once_in(8) {
        body["active"] = false.into();
    }
    window(random, &mut body);
    let made = desk.make(&format!("POST /v1/vouchers/{code}"), &body);
    body["id"] = made["id"].clone();
    body["redemption"] = json!({ "quantity": made["redemption"]["quantity"] });
    body["code"] = code.clone().into();
    if let Some(rule) = rule(random, book) {
        let to = json!({ "related_object_type": "voucher", "related_object_id": code });
        desk.make(&format!("POST /v1/validation-rules/{rule}/assignments"), &to);
        book.assigned.push((rule, text(&body, "id")));
    }
    book.vouchers.push(body);
}

/// A campaign with two codes; the rule is the campaign's.
fn campaign(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book, number: i64) {
    let name = format!("Campaign {number}");
    let mut body = json!({ "name": name, "voucher": benefit(random, book) });
    category(random, book, &mut body);
    let rule = rule(random, book);
    if let Some(rule) = &rule {
        body["validation_rules"] = json!([rule]);
    }
    let made = desk.make("POST /v1/campaigns", &body);
    body["id"] = made["id"].clone();
    let id = text(&body, "id");
    if let Some(rule) = rule {
        book.assigned.push((rule, id.clone()));
    }
    for number in 0..2 {
        let code = format!("{}-{number}", name.replace(' ', "").to_uppercase());
        let made = desk.make(&format!("POST /v1/campaigns/{id}/vouchers/{code}"), &json!({}));
        let mut voucher = body["voucher"].clone();
        voucher["id"] = made["id"].clone();
        voucher["redemption"] = json!({ "quantity": made["redemption"]["quantity"] });
        voucher["code"] = code.into();
        voucher["campaign_id"] = id.clone().into();
        if let Some(rule) = condition(random, book).filter(|_| number == 1 && random.once_in(4)) {
            let to = json!({ "related_object_type": "voucher", "related_object_id": voucher["code"] });
            desk.make(&format!("POST /v1/validation-rules/{rule}/assignments"), &to);
            book.assigned.push((rule, text(&voucher, "id")));
        }
        book.vouchers.push(voucher);
    }
    book.campaigns.push(body);
}

/// A public code: a STANDALONE campaign.
fn public(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book, number: i64) {
    let code = format!("OPEN{number}");
    let mut body = json!({ "name": format!("Open {number}"), "type": "STANDALONE",
        "voucher": { "type": "DISCOUNT_VOUCHER", "discount": discount(random, book), "code_config": { "pattern": code } } });
    category(random, book, &mut body);
    let rule = rule(random, book);
    if let Some(rule) = &rule {
        body["validation_rules"] = json!([rule]);
    }
    let made = desk.make("POST /v1/campaigns", &body);
    body["id"] = made["id"].clone();
    if let Some(rule) = rule {
        book.assigned.push((rule, text(&body, "id")));
    }
    let mut voucher = body["voucher"].clone();
    let made = desk.ask(&format!("GET /v1/vouchers/{code}"), &Json::Null).json;
    voucher["redemption"] = json!({ "quantity": made["redemption"]["quantity"] });
    voucher["code"] = code.into();
    voucher["campaign_id"] = body["id"].clone();
    book.vouchers.push(voucher);
    book.campaigns.push(body);
}

/// A promotion with tiers, and a stack of some of them.
fn promotion(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    let mut body = json!({ "name": "Promotion", "campaign_type": "PROMOTION" });
    category(random, book, &mut body);
    let made = desk.make("POST /v1/campaigns", &body);
    body["id"] = made["id"].clone();
    let id = text(&body, "id");
    book.campaigns.push(body);
    for number in 0..random.between(2, 3) {
        let mut tier = json!({ "name": format!("Tier {number}"), "action": { "discount": discount(random, book) } });
        category(random, book, &mut tier);
        if random.once_in(10) {
            tier["active"] = false.into();
        }
        window(random, &mut tier);
        let rule = rule(random, book);
        let mut named: Vec<&String> = rule.iter().collect();
        let more = condition(random, book).filter(|more| Some(more) != rule.as_ref() && random.once_in(4));
        named.extend(&more);
        if !named.is_empty() {
            tier["validation_rules"] = json!(named);
        }
        let made = desk.make(&format!("POST /v1/promotions/{id}/tiers"), &tier);
        tier["id"] = made["id"].clone();
        tier["campaign_id"] = id.clone().into();
        for rule in rule.into_iter().chain(more) {
            book.assigned.push((rule, text(&tier, "id")));
        }
        book.tiers.push(tier);
    }
    let tiers: Vec<String> = random.some(&book.tiers, 2).iter().map(|tier| text(tier, "id")).collect();
    let mut stack = json!({ "name": "Stack", "tiers": { "ids": tiers } });
    let made = desk.make(&format!("POST /v1/promotions/{id}/stacks"), &stack);
    stack["id"] = made["id"].clone();
    book.stacks.push(stack);
}

fn discount(random: &mut Random, book: &Book) -> Json {
    match random.below(10) {
        0..=2 => percent(random),
        3..=6 => amount(random),
        7 => {
            let mut discount = json!({ "type": "FIXED", "fixed_amount": random.between(0, 3_000) });
            effect(random, &mut discount, &["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS"]);
            discount
        }
        _ => units(random, book),
    }
}

fn effect(random: &mut Random, discount: &mut Json, effects: &[&str]) {
    if !random.once_in(6) {
        discount["effect"] = (*random.pick(effects)).into();
    }
}

fn percent(random: &mut Random) -> Json {
    let off = random.pick(&[json!(3), json!(10), json!(12.5), json!(33.33), json!(50), json!(100)]).clone();
    let mut discount = json!({ "type": "PERCENT", "percent_off": off });
    effect(random, &mut discount, &["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS"]);
    if random.once_in(4) {
        discount["amount_limit"] = random.between(100, 3_000).into();
    }
    if random.once_in(5) {
        discount["aggregated_amount_limit"] = random.between(100, 4_000).into();
    }
    discount
}

fn amount(random: &mut Random) -> Json {
    let mut discount =
        json!({ "type": "AMOUNT", "amount_off": random.between(1, 40) * random.pick(&[1_i64, 50, 100]) });
    let effects = [
        "APPLY_TO_ORDER",
        "APPLY_TO_ITEMS",
        "APPLY_TO_ITEMS_BY_QUANTITY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
    ];
    effect(random, &mut discount, &effects);
    if random.once_in(5) {
        discount["aggregated_amount_limit"] = random.between(100, 4_000).into();
    }
    discount
}

/// Returns a product or a SKU that may become free.
fn given(random: &mut Random, book: &Book) -> Json {
    if !book.skus.is_empty() && random.once_in(3) {
        random.pick(&book.skus)["id"].clone()
    } else {
        random.pick(&book.products)["id"].clone()
    }
}

fn units(random: &mut Random, book: &Book) -> Json {
    if random.once_in(3) {
        let units: Vec<Json> = (0..random.between(1, 2))
            .map(|_| {
                json!({ "unit_off": random.between(1, 3), "unit_type": given(random, book),
                    "effect": random.pick(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]) })
            })
            .collect();
        return json!({ "type": "UNIT", "effect": "ADD_MANY_ITEMS", "units": units });
    }
    json!({ "type": "UNIT", "unit_off": random.between(1, 3), "unit_type": given(random, book),
        "effect": random.pick(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]) })
}
