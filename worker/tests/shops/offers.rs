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
    let made = desk.make(&format!("POST /v1/vouchers/{code}"), &body);
    body["id"] = made["id"].clone();
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
        voucher["code"] = code.into();
        voucher["campaign_id"] = id.clone().into();
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
        let rule = rule(chance, book);
        if let Some(rule) = &rule {
            tier["validation_rules"] = json!([rule]);
        }
        let made = desk.make(&format!("POST /v1/promotions/{id}/tiers"), &tier);
        tier["id"] = made["id"].clone();
        tier["campaign_id"] = id.clone().into();
        if let Some(rule) = rule {
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
