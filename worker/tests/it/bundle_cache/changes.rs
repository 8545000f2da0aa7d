//! Random changes of a project's documents through the routes.

use super::{Shop, campaign};
use serde_json::{Value as Json, json};

/// Generates numbers, the same for the same seed.
pub struct Numbers(pub u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A call that changes data: its method, its path and its body.
struct Change(&'static str, String, Json);

/// Generates random changes; some are refused, and many refer to missing objects.
pub struct Changes<'s> {
    pub shop: &'s Shop,
    pub numbers: Numbers,
}

impl Changes<'_> {
    /// Makes one change; returns its description and its status.
    pub fn make(&mut self) -> (String, u16) {
        let Change(method, path, body) = match self.numbers.below(4) {
            0 => self.of_campaigns(),
            1 => self.of_vouchers(),
            2 => self.of_goods(),
            _ => self.of_rules(),
        };
        let (status, _) = self.shop.call(method, &path, &body);
        (format!("{method} {path} {body}"), status)
    }

    /// A member of one of the first documents of a list.
    fn listed(&mut self, path: &str, list: &str, member: &str) -> String {
        let place = usize::try_from(self.numbers.below(4)).unwrap();
        let (_, found) = self.shop.call("GET", path, &Json::Null);
        let document = found[list].as_array().and_then(|all| all.get(place));
        document.and_then(|document| document[member].as_str()).unwrap_or("none").to_owned()
    }

    fn campaign(&mut self) -> String {
        self.listed("/v1/campaigns", "campaigns", "id")
    }

    fn code(&mut self) -> String {
        self.listed("/v1/vouchers", "vouchers", "code")
    }

    fn switch(&mut self) -> &'static str {
        if self.numbers.below(2) == 0 { "enable" } else { "disable" }
    }

    fn visibility(&mut self) -> Option<&'static str> {
        [Some("public"), Some("sealed"), Some("server"), None][usize::try_from(self.numbers.below(4)).unwrap()]
    }

    fn of_campaigns(&mut self) -> Change {
        let (one, two) = (self.numbers.below(4), self.numbers.below(4));
        let of_one = |campaign: String, rest: &str| format!("/v1/campaigns/{campaign}{rest}");
        match self.numbers.below(10) {
            0 => Change("POST", "/v1/campaigns".into(), campaign(&format!("S{one}{two}"), "STANDALONE")),
            1 => Change("POST", "/v1/campaigns".into(), campaign(&format!("A{one}{two}"), "AUTO_UPDATE")),
            2 => Change("PUT", of_one(self.campaign(), ""), json!({ "description": format!("{two}") })),
            3 => Change(
                "PUT",
                of_one(self.campaign(), ""),
                json!({ "type": if two > 1 { "STATIC" } else { "AUTO_UPDATE" } }),
            ),
            4 => Change("DELETE", of_one(self.campaign(), ""), Json::Null),
            8 => Change("PUT", of_one(self.campaign(), ""), json!({ "visibility": self.visibility() })),
            5 => Change("POST", of_one(self.campaign(), &format!("/{}", self.switch())), Json::Null),
            6 => Change("POST", of_one(self.campaign(), "/vouchers"), json!({ "vouchers_count": two + 1 })),
            7 => Change("POST", of_one(self.campaign(), "/import"), json!([{ "code": format!("IN{one}{two}") }])),
            _ => {
                let action = json!({ "discount": { "type": "AMOUNT", "amount_off": 100 + two } });
                let tier = json!({ "name": format!("t{two}"), "action": action });
                Change("POST", format!("/v1/promotions/{}/tiers", self.campaign()), tier)
            }
        }
    }

    fn of_vouchers(&mut self) -> Change {
        let (one, two) = (self.numbers.below(4), self.numbers.below(4));
        let discount = json!({ "type": "AMOUNT", "amount_off": 100 + two });
        match self.numbers.below(7) {
            0 => {
                let (code, visibility) = (format!("V{one}{two}"), self.visibility());
                let voucher =
                    json!({ "code": code, "type": "DISCOUNT_VOUCHER", "discount": discount, "visibility": visibility });
                Change("POST", "/v1/vouchers/import".into(), json!([voucher]))
            }
            1 => Change("PUT", format!("/v1/vouchers/{}", self.code()), json!({ "discount": discount })),
            2 => Change("POST", format!("/v1/vouchers/{}/{}", self.code(), self.switch()), Json::Null),
            3 => Change("DELETE", format!("/v1/vouchers/{}", self.code()), Json::Null),
            5 => Change("PUT", format!("/v1/vouchers/{}", self.code()), json!({ "visibility": self.visibility() })),
            4 => {
                let redeemables = json!([{ "object": "voucher", "id": self.code() }]);
                Change(
                    "POST",
                    "/v1/redemptions".into(),
                    json!({ "redeemables": redeemables, "order": { "amount": 1000 } }),
                )
            }
            _ => {
                let changed = json!([{ "code": self.code(), "metadata": { "n": two } }]);
                Change("POST", "/v1/vouchers/bulk/async".into(), changed)
            }
        }
    }

    fn of_goods(&mut self) -> Change {
        let (one, two) = (self.numbers.below(4), self.numbers.below(4));
        let product = self.listed("/v1/products", "products", "id");
        match self.numbers.below(4) {
            0 => {
                let products =
                    json!([{ "source_id": format!("p{one}"), "name": "P", "price": two }, { "source_id": "q" }]);
                Change("POST", "/v1/products/bulk/async".into(), products)
            }
            1 => Change("DELETE", format!("/v1/products/{product}"), Json::Null),
            2 => {
                let sku = json!({ "sku": format!("s{two}"), "source_id": format!("sku{two}") });
                Change("POST", format!("/v1/products/{product}/skus"), sku)
            }
            _ => {
                let metadata = json!({ "source_ids": [format!("p{one}")], "metadata": { "n": two } });
                Change("POST", "/v1/products/metadata/async".into(), metadata)
            }
        }
    }

    fn of_rules(&mut self) -> Change {
        let (one, two) = (self.numbers.below(4), self.numbers.below(4));
        let rule = self.listed("/v1/validation-rules", "data", "id");
        let more = json!({ "1": { "name": "order.amount", "conditions": { "$more_than": [two] } } });
        match self.numbers.below(8) {
            0 => Change("POST", "/v1/categories".into(), json!({ "name": format!("c{one}"), "hierarchy": two })),
            1 => {
                Change("DELETE", format!("/v1/categories/{}", self.listed("/v1/categories", "data", "id")), Json::Null)
            }
            2 => Change("POST", "/v1/validation-rules".into(), json!({ "name": format!("r{one}"), "rules": more })),
            3 => {
                let body = json!({ "related_object_type": "campaign", "related_object_id": self.campaign() });
                Change("POST", format!("/v1/validation-rules/{rule}/assignments"), body)
            }
            4 => Change("DELETE", format!("/v1/validation-rules/{rule}"), Json::Null),
            5 => {
                let filter = json!({ "junction": "and", "name": { "conditions": { "$is": [format!("{two}")] } } });
                let segment = json!({ "name": format!("s{one}"), "type": "auto-update", "filter": filter });
                Change("POST", "/v1/segments".into(), segment)
            }
            6 => Change("DELETE", format!("/v1/segments/{}", self.listed("/v1/segments", "data", "id")), Json::Null),
            _ => Change(
                "POST",
                "/v1/customers".into(),
                json!({ "source_id": format!("k{one}"), "name": format!("{two}") }),
            ),
        }
    }
}
