//! Creates a project with vouchers, campaigns of all types, tiers, rules and limits through the routes.

use crate::in_process::Edge;
use scrip_worker::http::request::Request;
use serde_json::{Value as Json, json};

/// The instant of every call: a Sunday, noon.
pub const NOW: i64 = 1_772_366_400_000;

pub struct Shop {
    edge: Edge,
    /// Redeemables: object and code or id.
    pub redeemables: Vec<(String, String)>,
    /// The id of a product.
    pub product: String,
}

impl Shop {
    pub fn new() -> Shop {
        let mut shop = Shop { edge: Edge::new(), redeemables: Vec::new(), product: String::new() };
        shop.fill();
        shop
    }

    fn send(&self, method: &str, path: &str, body: &Json) -> (u16, Json) {
        let headers = [("x-app-id", "dev-app"), ("x-app-token", "dev-token")];
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = Request {
            method: method.into(),
            path: path.into(),
            query: query.into(),
            headers: headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            body: if body.is_null() { Vec::new() } else { body.to_string().into_bytes() },
        };
        let reply = self.edge.send(request, NOW, None);
        (reply.status, serde_json::from_slice(&reply.body).unwrap_or_default())
    }

    pub fn get(&self, path: &str) -> Json {
        let (status, answer) = self.send("GET", path, &Json::Null);
        assert_eq!(status, 200, "GET {path}: {answer}");
        answer
    }

    pub fn post(&self, path: &str, body: &Json) -> Json {
        let (status, answer) = self.send("POST", path, body);
        assert!(status < 300, "POST {path} {body}: {status} {answer}");
        answer
    }

    fn voucher(&mut self, code: &str, body: Json) -> Json {
        self.redeemables.push(("voucher".into(), code.into()));
        self.post(&format!("/v1/vouchers/{code}"), &body)
    }

    /// Returns a discount voucher with these members.
    fn discount(&mut self, code: &str, members: Json) -> Json {
        let mut body = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 300 } });
        for (name, value) in members.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.voucher(code, body)
    }

    fn rule(&self, name: &str, rules: Json, more: Json) -> String {
        let mut body = json!({ "name": name, "rules": rules });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.post("/v1/validation-rules", &body)["id"].as_str().unwrap().to_owned()
    }

    /// A rule of one test.
    fn test(&self, test: &str, conditions: Json) -> String {
        self.rule(test, json!({ "1": { "name": test, "conditions": conditions } }), json!({}))
    }

    fn campaign(&mut self, name: &str, body: Json) -> String {
        let mut body = body;
        body["name"] = name.into();
        let campaign = self.post("/v1/campaigns", &body);
        campaign["id"].as_str().unwrap().to_owned()
    }

    fn redeem(&self, code: &str, customer: &str) {
        let body = json!({ "redeemables": [{ "object": "voucher", "id": code }], "order": { "amount": 10_000 },
                           "customer": { "source_id": customer } });
        self.post("/v1/redemptions", &body);
    }

    fn fill(&mut self) {
        let catalogue = self.fill_catalogue();
        self.fill_vouchers(&catalogue);
        self.fill_campaigns(&catalogue);
        self.fill_promotions(&catalogue);
        self.use_up();
    }

    fn fill_catalogue(&mut self) -> Catalogue {
        for customer in ["anna", "bert"] {
            self.post("/v1/customers", &json!({ "source_id": customer, "metadata": { "level": customer } }));
        }
        let shirt = json!({ "source_id": "shirt", "name": "Shirt", "price": 2_500, "metadata": { "kind": "cotton" } });
        self.product = self.post("/v1/products", &shirt)["id"].as_str().unwrap().to_owned();
        self.post("/v1/products", &json!({ "source_id": "mug", "name": "Mug", "price": 800 }));
        let id = |answer: Json| answer["id"].as_str().unwrap().to_owned();
        let listed = json!([{ "id": self.product, "object": "product" }]);
        Catalogue {
            category: id(self.post("/v1/categories", &json!({ "name": "First", "hierarchy": 1 }))),
            collection: id(self
                .post("/v1/product-collections", &json!({ "name": "Shirts", "type": "STATIC", "products": listed }))),
            buyers: id(self.post(
                "/v1/segments",
                &json!({ "name": "Annas", "type": "auto-update",
                         "filter": { "junction": "and", "metadata.level": { "conditions": { "$is": ["anna"] } } } }),
            )),
            members: id(self.post(
                "/v1/segments",
                &json!({ "name": "Berts", "type": "static", "customers": [self.customer("bert")] }),
            )),
        }
    }

    fn customer(&self, name: &str) -> String {
        self.get(&format!("/v1/customers/{name}"))["id"].as_str().unwrap().to_owned()
    }

    fn fill_vouchers(&mut self, catalogue: &Catalogue) {
        let gift = |amount: u64| json!({ "type": "GIFT_VOUCHER", "gift": { "amount": amount } });
        self.discount("PLAIN", json!({}));
        self.discount("PERCENT", json!({ "discount": { "type": "PERCENT", "percent_off": 10 } }));
        self.discount("FIXED", json!({ "discount": { "type": "FIXED", "fixed_amount": 400 } }));
        self.discount("WITH-CATEGORY", json!({ "category_id": catalogue.category }));
        self.discount("WITH-METADATA", json!({ "metadata": { "season": "spring" } }));
        self.discount("OFF", json!({ "active": false }));
        self.discount("ENDED", json!({ "expiration_date": "2026-01-01T00:00:00Z" }));
        self.discount("LATER", json!({ "start_date": "2027-01-01T00:00:00Z" }));
        self.discount("MONDAYS", json!({ "validity_day_of_week": [1] }));
        self.discount("SUNDAYS", json!({ "validity_day_of_week": [0] }));
        let mornings =
            json!({ "daily": [{ "start_time": "06:00", "expiration_time": "08:00", "days_of_week": [0, 1] }] });
        self.discount("MORNINGS", json!({ "validity_hours": mornings }));
        self.discount("ONCE", json!({ "redemption": { "quantity": 1 } }));
        self.discount("TWICE", json!({ "redemption": { "quantity": 2 } }));
        self.voucher("GIFT", gift(5_000));
        self.voucher("SPENT-GIFT", gift(200));
        let unit = json!({ "type": "UNIT", "unit_off": 1, "unit_type": self.product, "effect": "ADD_MISSING_ITEMS" });
        self.discount("FREE-SHIRT", json!({ "discount": unit }));
        for (place, rule) in self.rules(catalogue).into_iter().enumerate() {
            self.discount(&format!("RULE-{place}"), json!({ "validation_rules": [rule] }));
        }
        // Assigned afterwards, and by the code.
        let rule = self.test("order.amount", json!({ "$more_than_or_equal": [1_000_000] }));
        self.discount("ASSIGNED", json!({}));
        self.post(&format!("/v1/validation-rules/{rule}/assignments"), &json!({ "voucher": "ASSIGNED" }));
    }

    /// Creates rules of all kinds, most of which do not pass for every request.
    fn rules(&self, catalogue: &Catalogue) -> Vec<String> {
        let shirts = json!([{ "object": "product", "id": self.product }]);
        let shirts_only =
            json!({ "included": [{ "object": "product", "id": self.product, "effect": "APPLY_TO_EVERY" }] });
        let collection_only = json!({ "included": [{ "object": "products_collection", "id": catalogue.collection, "effect": "APPLY_TO_EVERY" }] });
        let capped = json!({ "included": [{ "object": "product", "id": self.product, "effect": "APPLY_TO_EVERY",
                                            "product_campaign_quantity_limit": 1 }] });
        let mut rules = vec![
            self.test("order.amount", json!({ "$more_than": [50_000] })),
            self.test("order.amount", json!({ "$more_than": [1_000] })),
            self.test("customer.segment", json!({ "$is": [catalogue.buyers] })),
            self.test("customer.segment", json!({ "$is_not": [catalogue.buyers] })),
            self.test("customer.segment", json!({ "$is": [catalogue.members] })),
            self.test("customer.segment", json!({ "$is_not": [catalogue.members] })),
            self.test("order.items.any", json!({ "$is": shirts })),
            self.test("order.items.none", json!({ "$is": shirts })),
            self.test("redemption.count.daily", json!({ "$less_than_or_equal": [1] })),
            self.test("redemption.count.monthly", json!({ "$less_than_or_equal": [1] })),
            self.test("redemption.count.per_customer", json!({ "$less_than_or_equal": [1] })),
            self.test("redemption.count.per_customer.daily", json!({ "$less_than_or_equal": [1] })),
            self.test("redemption.api_key", json!({ "$is": ["another"] })),
            self.test("redemption.api_key", json!({ "$is_not": ["dev-app"] })),
            self.test("customer.loyalty.tier", json!({ "$is_not": ["ltr_none"] })),
        ];
        let of_collection = json!([{ "object": "products_collection", "id": catalogue.collection }]);
        rules.push(self.test("order.items.none", json!({ "$is": of_collection })));
        let by_metadata =
            json!({ "1": { "name": "customer.metadata", "property": "level", "conditions": { "$is_not": ["anna"] } } });
        rules.push(self.rule("metadata", by_metadata, json!({})));
        let of_goods =
            json!({ "1": { "name": "product.metadata", "property": "kind", "conditions": { "$is": ["cotton"] } } });
        rules.push(self.rule("goods", of_goods, json!({})));
        for scope in [shirts_only, collection_only, capped] {
            rules.push(self.rule("scope", json!({}), json!({ "applicable_to": scope })));
        }
        rules
    }

    fn fill_campaigns(&mut self, catalogue: &Catalogue) {
        let discount = json!({ "type": "DISCOUNT_VOUCHER", "discount": { "type": "AMOUNT", "amount_off": 200 } });
        let coupons = json!({ "campaign_type": "DISCOUNT_COUPONS", "voucher": discount });
        let with = |members: Json| {
            let mut body = coupons.clone();
            for (name, value) in members.as_object().unwrap() {
                body[name] = value.clone();
            }
            body
        };
        let big = self.test("order.amount", json!({ "$more_than": [50_000] }));
        let budget = self.test("campaign.orders.amount_discounted", json!({ "$less_than_or_equal": [250] }));
        let daily = self.test("campaign.redemptions.count.daily", json!({ "$less_than_or_equal": [1] }));
        let each = self.test("campaign.redemptions.customers_count", json!({ "$less_than_or_equal": [1] }));
        let campaigns = [
            ("Open", coupons.clone()),
            ("Closed", coupons.clone()),
            ("Ended", with(json!({ "start_date": "2025-01-01T00:00:00Z", "expiration_date": "2026-01-01T00:00:00Z" }))),
            ("Mondays", with(json!({ "validity_day_of_week": [1] }))),
            ("Big", with(json!({ "validation_rules": [big] }))),
            ("Budget", with(json!({ "validation_rules": [budget] }))),
            ("Daily", with(json!({ "validation_rules": [daily] }))),
            ("Each", with(json!({ "validation_rules": [each] }))),
            ("Categorized", with(json!({ "category_id": catalogue.category }))),
            ("Standing", with(json!({ "type": "STANDALONE", "validation_rules": [big] }))),
            (
                "Gifts",
                json!({ "campaign_type": "GIFT_VOUCHERS", "voucher": { "type": "GIFT_VOUCHER", "gift": { "amount": 700 } } }),
            ),
            ("Referral", json!({ "campaign_type": "REFERRAL_PROGRAM", "voucher": discount })),
            (
                "Loyalty",
                json!({ "campaign_type": "LOYALTY_PROGRAM",
                                "voucher": { "type": "LOYALTY_CARD", "loyalty_card": { "points": 50 } } }),
            ),
        ];
        for (name, body) in campaigns {
            let id = self.campaign(name, body);
            let code = format!("C-{}", name.to_uppercase());
            if name != "Standing" {
                self.post(&format!("/v1/campaigns/{id}/vouchers/{code}"), &Json::Null);
                self.redeemables.push(("voucher".into(), code));
            }
            if name == "Closed" {
                self.post(&format!("/v1/campaigns/{id}/disable"), &Json::Null);
            }
        }
    }

    fn fill_promotions(&mut self, catalogue: &Catalogue) {
        let big = self.test("order.amount", json!({ "$more_than": [50_000] }));
        let often = self.test("redemption.count.daily", json!({ "$less_than_or_equal": [1] }));
        let tier = |name: &str, members: Json| {
            let mut body = json!({ "name": name, "action": { "discount": { "type": "AMOUNT", "amount_off": 150 } } });
            for (name, value) in members.as_object().unwrap() {
                body[name] = value.clone();
            }
            body
        };
        let tiers = vec![
            tier("one", json!({})),
            tier("off", json!({ "active": false })),
            tier("ended", json!({ "start_date": "2025-01-01T00:00:00Z", "expiration_date": "2026-01-01T00:00:00Z" })),
            tier("big", json!({ "validation_rules": [big] })),
            tier("often", json!({ "validation_rules": [often] })),
            tier("category", json!({ "category_id": catalogue.category })),
        ];
        let open = self.campaign("Promotion", json!({ "campaign_type": "PROMOTION", "promotion": { "tiers": tiers } }));
        let closed = json!({ "campaign_type": "PROMOTION", "validation_rules": [big], "promotion": { "tiers": [tier("two", json!({}))] } });
        let guarded = self.campaign("Guarded", closed);
        let closed = json!({ "campaign_type": "PROMOTION", "promotion": { "tiers": [tier("three", json!({}))] } });
        let closed = self.campaign("Shut", closed);
        self.post(&format!("/v1/campaigns/{closed}/disable"), &Json::Null);
        for campaign in [open, guarded, closed] {
            for tier in self.get(&format!("/v1/promotions/{campaign}/tiers"))["tiers"].as_array().unwrap() {
                self.redeemables.push(("promotion_tier".into(), tier["id"].as_str().unwrap().into()));
            }
        }
    }

    /// Redeems codes with limits, so that the limits are reached.
    fn use_up(&self) {
        for code in ["ONCE", "TWICE", "RULE-8", "RULE-9", "RULE-10", "RULE-11", "C-BUDGET", "C-DAILY", "C-EACH"] {
            self.redeem(code, "anna");
        }
        self.redeem("SPENT-GIFT", "bert");
        let tiers = self.get("/v1/promotions/tiers?limit=100");
        let often = tiers["tiers"].as_array().unwrap().iter().find(|tier| tier["name"] == "often").unwrap();
        let body = json!({ "redeemables": [{ "object": "promotion_tier", "id": often["id"] }], "order": { "amount": 10_000 } });
        self.post("/v1/redemptions", &body);
    }
}

/// Catalogue objects that others refer to.
struct Catalogue {
    category: String,
    collection: String,
    buyers: String,
    members: String,
}
