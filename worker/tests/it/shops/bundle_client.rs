//! Tests that a client with the bundle answers the bytes of the service, except where it reports facts that only the server knows.

use crate::shops::checks::TrialReport;
use crate::shops::random::Random;
use crate::shops::shop::Shop;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::text::unhex;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// The rules as the package has them.
pub struct Page {
    prepared: PreparedRules,
}

impl Page {
    pub fn open(shop: &mut Shop) -> Page {
        let bundle = shop.desk.ask("GET /client/v1/bundle", &Json::Null);
        assert_eq!(bundle.status, 200, "{}", bundle.json);
        Page {
            prepared: PreparedRules::new(&bundle.bytes).unwrap_or_else(|problem| panic!("{problem}\n{}", bundle.json)),
        }
    }

    pub fn holds(
        &self,
        random: &mut Random,
        shop: &mut Shop,
        request: &Json,
        report: &mut TrialReport,
    ) -> Result<(), String> {
        let request = public(random, shop, request);
        let answer = shop.desk.ask("POST /client/v1/validations", &request);
        let fault = |text: String| Err(format!("page: {text}\n  POST /client/v1/validations {request}"));
        if answer.status != 200 {
            return fault(format!("status {}: {}", answer.status, answer.json));
        }
        let context: Json = serde_json::from_str(answer.header("scrip-context").unwrap()).unwrap();
        let now = Instant::parse(context["now"].as_str().unwrap()).unwrap();
        let seed = unhex(context["seed"].as_str().unwrap()).unwrap();
        let own = self.prepared.validate(request.to_string().as_bytes(), &Context { now, seed });
        let read: Json = serde_json::from_slice(&own.body).unwrap();
        if !read["missing"].is_null() {
            report.reach("provisional");
            return Ok(());
        }
        report.reach("the same bytes");
        if own.body != answer.bytes {
            return fault(format!("other bytes\n  wanted {}\n  got    {read}", answer.json));
        }
        Ok(())
    }
}

/// Returns a request that a client can decide: public codes and promotions, and mostly no named customer.
fn public(random: &mut Random, shop: &Shop, request: &Json) -> Json {
    let mut request = request.clone();
    if random.once_in(4) {
        return request;
    }
    let secret = |one: &Json| {
        let code = one["id"].as_str().unwrap();
        one["object"] == "voucher" && !code.starts_with("OPEN")
    };
    let redeemables = request["redeemables"].as_array_mut().unwrap();
    redeemables.retain(|one| !secret(one));
    if redeemables.is_empty() {
        let open: Vec<&Json> =
            shop.book.vouchers.iter().filter(|voucher| voucher["code"].as_str().unwrap().starts_with("OPEN")).collect();
        redeemables.push(json!({ "object": "voucher", "id": random.pick(&open)["code"] }));
    }
    if !random.once_in(4) {
        request.as_object_mut().unwrap().remove("customer");
    }
    request
}
