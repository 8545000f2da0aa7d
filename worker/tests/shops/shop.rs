//! A shop: what it made with its calls, as it sent it, with the ids that it was given. The model reads nothing else.

use crate::shops::chance::{Chance, text};
use crate::shops::desk::Desk;
use crate::shops::{goods, offers, rules};
use serde_json::{Value as Json, json};

#[derive(Default)]
pub struct Book {
    pub products: Vec<Json>,
    pub skus: Vec<Json>,
    pub collections: Vec<Json>,
    pub customers: Vec<Json>,
    pub segments: Vec<Json>,
    pub categories: Vec<Json>,
    pub rules: Vec<Json>,
    pub campaigns: Vec<Json>,
    /// With `code`, and `campaign_id` where a campaign has it.
    pub vouchers: Vec<Json>,
    /// With `campaign_id`; the discount under `action`.
    pub tiers: Vec<Json>,
    pub stacks: Vec<Json>,
    /// Rule and what it is assigned to, in the order of the calls.
    pub assigned: Vec<(String, String)>,
    pub stacking: Json,
    /// Codes that were redeemed, by whom, and with how many credits.
    pub redeemed: Vec<(String, String, i64)>,
}

impl Book {
    /// The one of a list whose field has a value.
    pub fn of<'a>(list: &'a [Json], field: &str, value: &str) -> Option<&'a Json> {
        list.iter().find(|one| one[field] == value)
    }
}

pub struct Shop {
    pub desk: Desk,
    pub book: Book,
}

/// A shop of a project.
pub fn open(chance: &mut Chance, project: &'static str) -> Shop {
    let mut desk = Desk::new(project);
    let mut book = Book::default();
    goods::make(chance, &mut desk, &mut book);
    people(chance, &mut desk, &mut book);
    categories(chance, &mut desk, &mut book);
    rules::make(chance, &mut desk, &mut book);
    offers::make(chance, &mut desk, &mut book);
    Shop { desk, book }
}

const TIERS: &[&str] = &["gold", "silver", "new"];

pub fn profile(chance: &mut Chance) -> Json {
    let mut metadata = json!({});
    if !chance.once_in(4) {
        metadata["tier"] = (*chance.pick(TIERS)).into();
    }
    if chance.once_in(2) {
        metadata["age"] = chance.between(10, 60).into();
    }
    metadata
}

fn people(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for name in ["anna", "bert", "carl"] {
        let mut body = json!({ "source_id": name, "name": name, "metadata": profile(chance) });
        let made = desk.make("POST /v1/customers", &body);
        body["id"] = made["id"].clone();
        book.customers.push(body);
    }
    let members = chance.some(&book.customers, 2).iter().map(|customer| text(customer, "id")).collect::<Vec<_>>();
    let filter = if chance.once_in(2) {
        json!({ "junction": "and", "metadata.tier": { "conditions": { "$in": chance.some(TIERS, 2) } } })
    } else {
        json!({ "junction": "or", "metadata.tier": { "conditions": { "$is": [chance.pick(TIERS)] } },
            "metadata.age": { "conditions": { "$more_than": [chance.between(10, 60)] } } })
    };
    let kind = *chance.pick(&["auto-update", "passive"]);
    for mut body in [
        json!({ "name": "Listed", "type": "static", "customers": members }),
        json!({ "name": "Found", "type": kind, "filter": filter }),
    ] {
        let made = desk.make("POST /v1/segments", &body);
        body["id"] = made["id"].clone();
        book.segments.push(body);
    }
}

fn categories(chance: &mut Chance, desk: &mut Desk, book: &mut Book) {
    for number in 0..3 {
        let mut body = json!({ "name": format!("Category {number}"), "hierarchy": chance.between(0, 5) });
        let made = desk.make("POST /v1/categories", &body);
        body["id"] = made["id"].clone();
        book.categories.push(body);
    }
    let stacking = stacking(chance, &book.categories);
    let all = format!("/management/v1/projects/proj_{}/stacking-rules", desk.project);
    let listed = desk.ask(&format!("GET {all}"), &Json::Null).json;
    let path = format!("PUT {all}/{}", text(&listed["data"][0], "id"));
    desk.make(&path, &stacking);
    book.stacking = stacking;
}

fn stacking(chance: &mut Chance, categories: &[Json]) -> Json {
    let ids: Vec<String> = categories.iter().map(|category| text(category, "id")).collect();
    let mut rules = json!({});
    let mut maybe = |chance: &mut Chance, times: u64, field: &str, value: Json| {
        if chance.once_in(times) {
            rules[field] = value;
        }
    };
    let limit = chance.between(1, 4);
    maybe(chance, 3, "applicable_redeemables_limit", limit.into());
    maybe(chance, 4, "applicable_redeemables_per_category_limit", 1.into());
    maybe(chance, 4, "applicable_redeemables_category_limits", json!({ &ids[0]: chance_limit(limit), &ids[1]: 2 }));
    maybe(chance, 2, "redeemables_application_mode", "PARTIAL".into());
    maybe(chance, 3, "discount_calculation_mode", "INITIAL_AMOUNT".into());
    maybe(chance, 4, "initial_amount_mode_categories", json!([ids[2]]));
    maybe(chance, 4, "discounted_amount_mode_categories", json!([ids[1]]));
    maybe(chance, 3, "redeemables_sorting_rule", "CATEGORY_HIERARCHY".into());
    maybe(chance, 4, "redeemables_products_application_mode", "ONCE".into());
    maybe(chance, 3, "redeemables_no_effect_rule", "SKIP".into());
    maybe(chance, 5, "no_effect_skip_categories", json!([ids[0]]));
    maybe(chance, 5, "no_effect_redeem_anyway_categories", json!([ids[1]]));
    if chance.once_in(3) {
        rules["exclusive_categories"] = json!([ids[0]]);
        if chance.once_in(2) {
            rules["joint_categories"] = json!([ids[1]]);
        }
        if chance.once_in(2) {
            rules["applicable_exclusive_redeemables_limit"] = 2.into();
            if chance.once_in(2) {
                rules["applicable_exclusive_redeemables_per_category_limit"] = 1.into();
            }
        }
    }
    rules
}

fn chance_limit(limit: i64) -> i64 {
    limit.min(2)
}
