//! A page with the bundle answers the bytes of the service, wherever it does not say that something is the server's to know.

use crate::shops::chance::Chance;
use crate::shops::shop::Shop;
use crate::shops::trial::Told;
use scrip::Context;
use scrip::bundle::Prepared;
use scrip::text::unhex;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// The rules as the package has them.
pub struct Page {
    prepared: Prepared,
}

impl Page {
    pub fn open(shop: &mut Shop) -> Page {
        let bundle = shop.desk.ask("GET /client/v1/bundle", &Json::Null);
        assert_eq!(bundle.status, 200, "{}", bundle.json);
        Page { prepared: Prepared::new(&bundle.bytes).unwrap_or_else(|problem| panic!("{problem}\n{}", bundle.json)) }
    }

    pub fn holds(&self, chance: &mut Chance, shop: &mut Shop, request: &Json, told: &mut Told) -> Result<(), String> {
        let request = public(chance, shop, request);
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
        if !read["provisional"].is_null() {
            told.reach("provisional");
            return Ok(());
        }
        told.reach("the same bytes");
        if own.body != answer.bytes {
            return fault(format!("other bytes\n  wanted {}\n  got    {read}", answer.json));
        }
        Ok(())
    }
}

/// What a page knows most of: public codes and promotions, and most often nobody in particular.
fn public(chance: &mut Chance, shop: &Shop, request: &Json) -> Json {
    let mut request = request.clone();
    if chance.once_in(4) {
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
        redeemables.push(json!({ "object": "voucher", "id": chance.pick(&open)["code"] }));
    }
    if !chance.once_in(4) {
        request.as_object_mut().unwrap().remove("customer");
    }
    request
}
