//! What a shop gives away: codes of its own, campaigns with codes, public codes, gift cards, promotion tiers and stacks.

use crate::shops::chance::{Chance, text};
use crate::shops::desk::Desk;
use crate::shops::shop::Book;
use serde_json::{Value as Json, json};

pub fn make(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for number in 0..chance.between(3, 5) {
        voucher(chance, desk, book, number);
    }
    for number in 0..chance.between(1, 2) {
        campaign(chance, desk, book, number);
    }
    for number in 0..chance.between(2, 4) {
        public(chance, desk, book, number);
    }
    promotion(chance, desk, book);
    used(chance, desk, book);
}

/// What happened before: some codes were redeemed by somebody, and gift cards lost credits.
fn used(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for at in 0..book.vouchers.len() {
        if !chance.once_in(4) {
            continue;
        }
        let code = text(&book.vouchers[at], "code");
        let customer = text(chance.pick(&book.customers), "source_id");
        let mut redeemable = json!({ "object": "voucher", "id": code });
        let mut spent = 0;
        if let Some(amount) = book.vouchers[at]["gift"]["amount"].as_i64() {
            spent = chance.between(1, amount);
            redeemable["gift"] = json!({ "credits": spent });
        }
        let order = json!({ "amount": 100_000, "items": [{ "product_id": book.products[0]["id"], "price": 100_000, "quantity": 1 }] });
        let body = json!({ "redeemables": [redeemable], "customer": { "source_id": customer }, "order": order });
        let answer = desk.ask("POST /v1/redemptions", &body);
        let one = &answer.json["redemptions"][0];
        // What the rules of the code refuse is no use of it; the model is held to that by the carts.
        if answer.status == 200 && one["status"] == "SUCCEEDED" {
            desk.log.push(format!("POST /v1/redemptions {body}"));
            book.redeemed.push((code, customer, one["amount"].as_i64().unwrap_or(0).min(spent)));
        }
    }
}

/// Three of four have a category.
fn category(chance: &mut Chance, book: &Book, body: &mut Json) {
    if !chance.once_in(3) {
        body["category_id"] = chance.pick(&book.categories)["id"].clone();
    }
}

/// A rule among the first that say something of goods, or one of all.
fn rule(chance: &mut Chance, book: &Book) -> Option<String> {
    match chance.below(4) {
        0 => None,
        1 => Some(text(&book.rules[chance.index(2)], "id")),
        _ => Some(text(chance.pick(&book.rules), "id")),
    }
}

/// Now and then something is over, or is not yet.
fn window(chance: &mut Chance, body: &mut Json) {
    match chance.below(20) {
        0 => body["start_date"] = "2026-04-01T00:00:00Z".into(),
        1 => body["expiration_date"] = "2026-02-01T00:00:00Z".into(),
        2 => body["expiration_date"] = "2026-12-01T00:00:00Z".into(),
        _ => {}
    }
}

/// A rule that says nothing of what is discounted, so that it may stand beside another.
fn condition(chance: &mut Chance, book: &Book) -> Option<String> {
    let bare: Vec<Json> = book.rules.iter().filter(|rule| rule["applicable_to"].is_null()).cloned().collect();
    (!bare.is_empty()).then(|| text(chance.pick(&bare), "id"))
}

fn gift(chance: &mut Chance) -> Json {
    let mut gift = json!({ "amount": chance.between(1, 8) * 700 });
    match chance.below(3) {
        0 => {}
        1 => gift["effect"] = "APPLY_TO_ORDER".into(),
        _ => gift["effect"] = "APPLY_TO_ITEMS".into(),
    }
    gift
}

fn benefit(chance: &mut Chance, book: &Book) -> Json {
    if chance.once_in(5) {
        json!({ "type": "GIFT_VOUCHER", "gift": gift(chance) })
    } else {
        json!({ "type": "DISCOUNT_VOUCHER", "discount": discount(chance, book) })
    }
}

/// A code that has no campaign.
fn voucher(chance: &mut Chance, desk: &mut Desk, book: &mut Book, number: i64) {
    let code = format!("CODE{number}");
    let mut body = benefit(chance, book);
    category(chance, book, &mut body);
    if chance.once_in(4) {
        body["redemption"] = json!({ "quantity": chance.between(1, 3) });
    }
    if chance.once_in(8) {
        body["active"] = false.into();
    }
    window(chance, &mut body);
    let made = desk.make(&format!("POST /v1/vouchers/{code}"), &body);
    body["id"] = made["id"].clone();
    body["redemption"] = json!({ "quantity": made["redemption"]["quantity"] });
    body["code"] = code.clone().into();
    if let Some(rule) = rule(chance, book) {
        let to = json!({ "related_object_type": "voucher", "related_object_id": code });
        desk.make(&format!("POST /v1/validation-rules/{rule}/assignments"), &to);
        book.assigned.push((rule, text(&body, "id")));
    }
    book.vouchers.push(body);
}

/// A campaign with two codes; the rule is the campaign's.
fn campaign(chance: &mut Chance, desk: &mut Desk, book: &mut Book, number: i64) {
    let name = format!("Campaign {number}");
    let mut body = json!({ "name": name, "voucher": benefit(chance, book) });
    category(chance, book, &mut body);
    let rule = rule(chance, book);
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
        if let Some(rule) = condition(chance, book).filter(|_| number == 1 && chance.once_in(4)) {
            let to = json!({ "related_object_type": "voucher", "related_object_id": voucher["code"] });
            desk.make(&format!("POST /v1/validation-rules/{rule}/assignments"), &to);
            book.assigned.push((rule, text(&voucher, "id")));
        }
        book.vouchers.push(voucher);
    }
    book.campaigns.push(body);
}

/// A public code: a STANDALONE campaign.
fn public(chance: &mut Chance, desk: &mut Desk, book: &mut Book, number: i64) {
    let code = format!("OPEN{number}");
    let mut body = json!({ "name": format!("Open {number}"), "type": "STANDALONE",
        "voucher": { "type": "DISCOUNT_VOUCHER", "discount": discount(chance, book), "code_config": { "pattern": code } } });
    category(chance, book, &mut body);
    let rule = rule(chance, book);
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
fn promotion(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    let mut body = json!({ "name": "Promotion", "campaign_type": "PROMOTION" });
    category(chance, book, &mut body);
    let made = desk.make("POST /v1/campaigns", &body);
    body["id"] = made["id"].clone();
    let id = text(&body, "id");
    book.campaigns.push(body);
    for number in 0..chance.between(2, 3) {
        let mut tier = json!({ "name": format!("Tier {number}"), "action": { "discount": discount(chance, book) } });
        category(chance, book, &mut tier);
        if chance.once_in(10) {
            tier["active"] = false.into();
        }
        window(chance, &mut tier);
        let rule = rule(chance, book);
        let mut named: Vec<&String> = rule.iter().collect();
        let more = condition(chance, book).filter(|more| Some(more) != rule.as_ref() && chance.once_in(4));
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
    let tiers: Vec<String> = chance.some(&book.tiers, 2).iter().map(|tier| text(tier, "id")).collect();
    let mut stack = json!({ "name": "Stack", "tiers": { "ids": tiers } });
    let made = desk.make(&format!("POST /v1/promotions/{id}/stacks"), &stack);
    stack["id"] = made["id"].clone();
    book.stacks.push(stack);
}

fn discount(chance: &mut Chance, book: &Book) -> Json {
    match chance.below(10) {
        0..=2 => percent(chance),
        3..=6 => amount(chance),
        7 => {
            let mut discount = json!({ "type": "FIXED", "fixed_amount": chance.between(0, 3_000) });
            effect(chance, &mut discount, &["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS"]);
            discount
        }
        _ => units(chance, book),
    }
}

fn effect(chance: &mut Chance, discount: &mut Json, effects: &[&str]) {
    if !chance.once_in(6) {
        discount["effect"] = (*chance.pick(effects)).into();
    }
}

fn percent(chance: &mut Chance) -> Json {
    let off = chance.pick(&[json!(3), json!(10), json!(12.5), json!(33.33), json!(50), json!(100)]).clone();
    let mut discount = json!({ "type": "PERCENT", "percent_off": off });
    effect(chance, &mut discount, &["APPLY_TO_ORDER", "APPLY_TO_ITEMS", "APPLY_TO_ITEMS"]);
    if chance.once_in(4) {
        discount["amount_limit"] = chance.between(100, 3_000).into();
    }
    if chance.once_in(5) {
        discount["aggregated_amount_limit"] = chance.between(100, 4_000).into();
    }
    discount
}

fn amount(chance: &mut Chance) -> Json {
    let mut discount =
        json!({ "type": "AMOUNT", "amount_off": chance.between(1, 40) * chance.pick(&[1_i64, 50, 100]) });
    let effects = [
        "APPLY_TO_ORDER",
        "APPLY_TO_ITEMS",
        "APPLY_TO_ITEMS_BY_QUANTITY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY",
        "APPLY_TO_ITEMS_PROPORTIONALLY_BY_QUANTITY",
    ];
    effect(chance, &mut discount, &effects);
    if chance.once_in(5) {
        discount["aggregated_amount_limit"] = chance.between(100, 4_000).into();
    }
    discount
}

/// A product or a SKU that may come for nothing.
fn given(chance: &mut Chance, book: &Book) -> Json {
    if !book.skus.is_empty() && chance.once_in(3) {
        chance.pick(&book.skus)["id"].clone()
    } else {
        chance.pick(&book.products)["id"].clone()
    }
}

fn units(chance: &mut Chance, book: &Book) -> Json {
    if chance.once_in(3) {
        let units: Vec<Json> = (0..chance.between(1, 2))
            .map(|_| {
                json!({ "unit_off": chance.between(1, 3), "unit_type": given(chance, book),
                    "effect": chance.pick(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]) })
            })
            .collect();
        return json!({ "type": "UNIT", "effect": "ADD_MANY_ITEMS", "units": units });
    }
    json!({ "type": "UNIT", "unit_off": chance.between(1, 3), "unit_type": given(chance, book),
        "effect": chance.pick(&["ADD_NEW_ITEMS", "ADD_MISSING_ITEMS"]) })
}
