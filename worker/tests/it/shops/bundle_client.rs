//! Tests that a client with the bundle answers the bytes of the service, except for the fields that it says it omits, and where it reports
//! facts that it is missing.

use crate::bundle::{Bundle, claims_of};
use crate::shops::checks::TrialReport;
use crate::shops::random::{Random, text};
use crate::shops::shop::Shop;
use crate::supplement_carts::SCENARIOS;
use scrip::Context;
use scrip::bundle::PreparedRules;
use scrip::text::decode_hex_array;
use scrip::time::Instant;
use serde_json::{Value as Json, json};

/// The rules as the package has them.
pub struct Page {
    bundle: Bundle,
    prepared: PreparedRules,
    /// The names of customers, stored and new, with a token of each.
    tokens: Vec<(String, String)>,
}

/// A call of a client and the customer whose token it has.
struct ClientCall<'a> {
    kind: &'static str,
    path: &'static str,
    request: Json,
    proven: Option<&'a (String, String)>,
    /// `true` if the client fetches what its customer adds to the bundle.
    has_supplement: bool,
}

impl ClientCall<'_> {
    /// Returns the same caller's request for the offers of the cart.
    fn qualification(&self, scenario: &str) -> Self {
        let mut request = json!({ "scenario": scenario, "options": { "limit": 50 } });
        for name in ["customer", "order", "tracking_id", "metadata"] {
            if let Some(value) = self.request.get(name) {
                request[name] = value.clone();
            }
        }
        ClientCall { path: "qualifications", request, ..*self }
    }
}

impl Page {
    pub fn open(shop: &mut Shop) -> Page {
        shop.desk.ask("GET /client/v1/bundle", &Json::Null);
        shop.desk.derive_box_keys();
        let head = shop.desk.ask("GET /client/v1/bundle", &Json::Null);
        assert_eq!(head.status, 200, "{}", head.json);
        let bundle = Bundle::of(&head.bytes, |path| shop.desk.ask(&format!("GET {path}"), &Json::Null).bytes);
        let names = shop.book.customers.iter().map(|customer| text(customer, "source_id")).chain(["nora".to_owned()]);
        let tokens = names.collect::<Vec<_>>().into_iter().map(|name| {
            let wanted = json!({ "customer": { "source_id": name }, "ttl": 3600 });
            let token = text(&shop.desk.ask("POST /v1/customer-tokens", &wanted).json, "token");
            (name, token)
        });
        let tokens = tokens.collect();
        Page { prepared: bundle.prepare(), bundle, tokens }
    }

    pub fn holds(
        &self,
        random: &mut Random,
        shop: &mut Shop,
        request: &Json,
        report: &mut TrialReport,
    ) -> Result<(), String> {
        let as_sent = public(random, shop, request);
        // Of its own, so that the carts do not depend on the calls of the client.
        let mut random = Random::new(report.carts);
        let calls = self.calls(&mut random, shop, as_sent);
        for call in &calls {
            self.agrees(shop, call, report)?;
        }
        // One of them, because the tests shall not take much longer.
        let scenario = *random.pick(&SCENARIOS);
        self.agrees(shop, &random.pick(&calls).qualification(scenario), report)
    }

    /// Returns the request by each kind of customer.
    fn calls(&self, random: &mut Random, shop: &mut Shop, as_sent: Json) -> Vec<ClientCall<'_>> {
        let mut anonymous = as_sent.clone();
        anonymous.as_object_mut().unwrap().remove("customer");
        let with = |name: &str, value: Json| {
            let mut request = anonymous.clone();
            request[name] = value;
            request
        };
        let (name, _) = random.pick(&self.tokens);
        // The service seals a name, and the client may send either.
        let sealed = shop.desk.ask("POST /client/v1/validations", &with("tracking_id", name.as_str().into()));
        let sealed = sealed.json["tracking_id"].clone();
        let tracking_ids = [sealed.clone(), sealed.clone(), name.as_str().into(), foreign(&sealed)];
        let tracked = random.pick(&tracking_ids).clone();
        let mut both = with("customer", json!({ "source_id": random.pick(&self.tokens).0 }));
        both["tracking_id"] = sealed;
        let guest = json!({ "email": format!("{name}@example.com") });
        let call =
            |kind, request| ClientCall { kind, path: "validations", request, proven: None, has_supplement: false };
        let proven = random.pick(&self.tokens);
        let by_token = ClientCall { proven: Some(proven), ..call("proven", anonymous.clone()) };
        let supplemented =
            ClientCall { proven: Some(proven), has_supplement: true, ..call("supplemented", anonymous.clone()) };
        vec![
            call("as sent", as_sent),
            call("tracked", with("tracking_id", tracked)),
            call("tracked and named", both),
            call("guest", with("customer", guest)),
            by_token,
            supplemented,
            call("anonymous", anonymous),
        ]
    }

    /// Returns what the customer of a token adds to the rules.
    fn supplement(&self, shop: &mut Shop, token: &str) -> Json {
        let supplement = shop.desk.ask_as("GET /client/v1/bundle/me", &Json::Null, Some(token));
        assert_eq!(supplement.status, 200, "{}", supplement.json);
        let claims = claims_of(&supplement.bytes).unwrap();
        assert_eq!(claims["core"], self.bundle.claims["core"], "{claims}");
        claims["facts"].clone()
    }

    fn agrees(&self, shop: &mut Shop, call: &ClientCall<'_>, report: &mut TrialReport) -> Result<(), String> {
        let ClientCall { kind, path, request, proven, has_supplement } = call;
        let token = proven.map(|(_, token)| token.as_str());
        let answer = shop.desk.ask_as(&format!("POST /client/v1/{path}"), request, token);
        let customer = proven.map(|(name, _)| name);
        let fault = |text: String| Err(format!("page: {text}\n  {kind} {customer:?} POST /client/v1/{path} {request}"));
        // The service refuses the tracking id of one customer beside the name of another; a client cannot know.
        let is_ambiguous = answer.json["key"] == "ambiguous_tracking_id";
        if answer.status != 200 && !is_ambiguous {
            return fault(format!("status {}: {}", answer.status, answer.json));
        }
        // A refusal and a qualification have none, and no qualification depends on the seed.
        let context = answer
            .header("scrip-context")
            .map_or(Context { now: shop.desk.now(), seed: [7; 32], first_number: None }, context);
        let facts = proven.filter(|_| *has_supplement).map(|(_, token)| self.supplement(shop, token));
        let rules = self.bundle.prepare_for(&self.prepared, request, facts.as_ref());
        let rules = match customer {
            Some(name) => rules.with_customer(name),
            None => rules,
        };
        let text = request.to_string();
        let is_qualification = *path == "qualifications";
        let own = if is_qualification {
            rules.qualify(text.as_bytes(), &context)
        } else {
            rules.validate(text.as_bytes(), &context)
        };
        let read: Json = serde_json::from_slice(&own.body).unwrap();
        let kind = if is_qualification { "qualification" } else { kind };
        if !read["missing"].is_null() {
            report.reach("provisional");
            report.reach(&format!("page, {kind}, provisional"));
            return Ok(());
        }
        if is_ambiguous {
            return fault(format!("final, and the service refuses the request: {read}"));
        }
        report.reach("the same bytes");
        let tracking_id = match (read["omitted"].is_null(), read["tracking_id"].is_null()) {
            (false, _) => "omits the tracking id",
            (true, false) => "shows the tracking id",
            (true, true) => "has no tracking id",
        };
        report.reach(&format!("page, {kind}, final, {tracking_id}"));
        let (own, service) = without_omitted(&read, &own.body, &answer.bytes);
        if own != service {
            return fault(format!("other bytes\n  wanted {service}\n  got    {own}"));
        }
        Ok(())
    }
}

/// Reads the instant and the seed at which the service decided.
pub fn context(header: &str) -> Context {
    let said: Json = serde_json::from_str(header).unwrap();
    let now = Instant::parse(said["now"].as_str().unwrap()).unwrap();
    Context { now, seed: decode_hex_array(said["seed"].as_str().unwrap()).unwrap(), first_number: None }
}

/// Returns a tracking id of another project: in the same form, and sealed by another key.
fn foreign(sealed: &Json) -> Json {
    let turned = |digit: char| if digit == '0' { '1' } else { '0' };
    let Some((rest, last)) = sealed.as_str().and_then(|sealed| sealed.split_at_checked(sealed.len() - 1)) else {
        return Json::Null;
    };
    format!("{rest}{}", turned(last.chars().next().unwrap())).into()
}

/// Returns the texts of both answers without the fields that the client omits.
pub fn without_omitted(read: &Json, own: &[u8], service: &[u8]) -> (String, String) {
    let [own, mut service] = [own, service].map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
    let Some(omitted) = read["omitted"].as_array() else { return (own, service) };
    for name in omitted {
        assert!(read[name.as_str().unwrap()].is_null(), "{read}");
        // The names of omitted fields occur once, and their values are texts without escapes.
        let member = format!("\"{}\":\"", name.as_str().unwrap());
        if let Some((before, rest)) = service.split_once(&member) {
            service = format!("{before}{}", rest.split_once("\",").unwrap().1);
        }
    }
    (own.replace(&format!(",\"omitted\":{}", read["omitted"]), ""), service)
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
