//! Describes a shop: the objects as they were sent, with the ids that the service gave them. The model reads nothing else.

use crate::shops::random::{Random, text};
use crate::shops::service_calls::ServiceCalls;
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
    /// Rule and target, in the order of the calls.
    pub assigned: Vec<(String, String)>,
    pub stacking: Json,
    /// Redeemed codes with the customer and the credits.
    pub redeemed: Vec<(String, String, i64)>,
}

impl Book {
    /// Returns the element of a list whose field has a value.
    pub fn of<'a>(list: &'a [Json], field: &str, value: &str) -> Option<&'a Json> {
        list.iter().find(|one| one[field] == value)
    }
}

pub struct Shop {
    pub desk: ServiceCalls,
    pub book: Book,
}

/// Opens a shop in a project.
pub fn open(random: &mut Random, project: &'static str) -> Shop {
    let mut desk = ServiceCalls::new(project);
    let mut book = Book::default();
    goods::make(random, &mut desk, &mut book);
    people(random, &mut desk, &mut book);
    categories(random, &mut desk, &mut book);
    rules::make(random, &mut desk, &mut book);
    offers::make(random, &mut desk, &mut book);
    Shop { desk, book }
}

const TIERS: &[&str] = &["gold", "silver", "new"];

pub fn profile(random: &mut Random) -> Json {
    let mut metadata = json!({});
    if !random.once_in(4) {
        metadata["tier"] = (*random.pick(TIERS)).into();
    }
    if random.once_in(2) {
        metadata["age"] = random.between(10, 60).into();
    }
    metadata
}

fn people(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for name in ["anna", "bert", "carl"] {
        let mut body = json!({ "source_id": name, "name": name, "metadata": profile(random) });
        let made = desk.make("POST /v1/customers", &body);
        body["id"] = made["id"].clone();
        book.customers.push(body);
    }
    let members = random.some(&book.customers, 2).iter().map(|customer| text(customer, "id")).collect::<Vec<_>>();
    let filter = if random.once_in(2) {
        json!({ "junction": "and", "metadata.tier": { "conditions": { "$in": random.some(TIERS, 2) } } })
    } else {
        json!({ "junction": "or", "metadata.tier": { "conditions": { "$is": [random.pick(TIERS)] } },
            "metadata.age": { "conditions": { "$more_than": [random.between(10, 60)] } } })
    };
    let kind = *random.pick(&["auto-update", "passive"]);
    for mut body in [
        json!({ "name": "Listed", "type": "static", "customers": members }),
        json!({ "name": "Found", "type": kind, "filter": filter }),
    ] {
        let made = desk.make("POST /v1/segments", &body);
        body["id"] = made["id"].clone();
        book.segments.push(body);
    }
}

fn categories(random: &mut Random, desk: &mut ServiceCalls, book: &mut Book) {
    for number in 0..3 {
        let mut body = json!({ "name": format!("Category {number}"), "hierarchy": random.between(0, 5) });
        let made = desk.make("POST /v1/categories", &body);
        body["id"] = made["id"].clone();
        book.categories.push(body);
    }
    let stacking = stacking(random, &book.categories);
    let all = format!("/management/v1/projects/proj_{}/stacking-rules", desk.project);
    let listed = desk.ask(&format!("GET {all}"), &Json::Null).json;
    let path = format!("PUT {all}/{}", text(&listed["data"][0], "id"));
    desk.make(&path, &stacking);
    book.stacking = stacking;
}

fn stacking(random: &mut Random, categories: &[Json]) -> Json {
    let ids: Vec<String> = categories.iter().map(|category| text(category, "id")).collect();
    let mut rules = json!({});
    let mut maybe = |random: &mut Random, times: u64, field: &str, value: Json| {
        if random.once_in(times) {
            rules[field] = value;
        }
    };
    let limit = random.between(1, 4);
    maybe(random, 3, "applicable_redeemables_limit", limit.into());
    maybe(random, 4, "applicable_redeemables_per_category_limit", 1.into());
    maybe(random, 4, "applicable_redeemables_category_limits", json!({ &ids[0]: chance_limit(limit), &ids[1]: 2 }));
    maybe(random, 2, "redeemables_application_mode", "PARTIAL".into());
    maybe(random, 3, "discount_calculation_mode", "INITIAL_AMOUNT".into());
    maybe(random, 4, "initial_amount_mode_categories", json!([ids[2]]));
    maybe(random, 4, "discounted_amount_mode_categories", json!([ids[1]]));
    maybe(random, 3, "redeemables_sorting_rule", "CATEGORY_HIERARCHY".into());
    maybe(random, 4, "redeemables_products_application_mode", "ONCE".into());
    maybe(random, 3, "redeemables_no_effect_rule", "SKIP".into());
    maybe(random, 5, "no_effect_skip_categories", json!([ids[0]]));
    maybe(random, 5, "no_effect_redeem_anyway_categories", json!([ids[1]]));
    if random.once_in(3) {
        rules["exclusive_categories"] = json!([ids[0]]);
        if random.once_in(2) {
            rules["joint_categories"] = json!([ids[1]]);
        }
        if random.once_in(2) {
            rules["applicable_exclusive_redeemables_limit"] = 2.into();
            if random.once_in(2) {
                rules["applicable_exclusive_redeemables_per_category_limit"] = 1.into();
            }
        }
    }
    rules
}

fn chance_limit(limit: i64) -> i64 {
    limit.min(2)
}
