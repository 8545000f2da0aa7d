//! Decides about requests of clients by the copies of a bundle, as the entry does: which requests it may answer, the rules that it
//! prepares from core and boxes, and its answers. An answer is final and has the bytes of the project's object; all others are left to that.

use crate::access::edge_part::EdgePart;
use crate::domain::bundle::goods_build::GoodsRoot;
use crate::domain::bundle::sealed_codes::open_box;
use crate::http::caller::{Caller, CredentialClass};
use crate::http::decision_headers::{AnsweredBy, client_headers, context_header};
use crate::http::name_limits;
use crate::http::query::Query;
use crate::http::reply::{self, set_header};
use crate::http::request::{Reply, Request};
use crate::http::request_checks::{check_body_size, check_head, check_head_media, header};
use crate::http::table::MatchedRoute;
use base64ct::{Base64UrlUnpadded, Encoding};
use scrip::Context;
use scrip::bundle::{DECIDES, PreparedRules, WRITES};
use scrip::json::Node;
use scrip::time::Instant;
use scrip::wire::problem::VALUES_MAX;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};

/// Headers with which only the object can answer: a token that it checks, and a key under which it stores the answer.
const OF_OBJECT: [&str; 2] = ["x-customer-token", "idempotency-key"];
/// Members of the settings of clients, of a named redeemable, and of a request.
const CUSTOMERS: &str = "customers";
const OBJECT: &str = "object";
const SESSION: &str = "session";
/// Maximum number of goods buckets in prepared rules; above it, all are forgotten.
const BUCKETS_MAX: usize = 200;

/// Operation that the entry may answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeOperation {
    /// `POST /client/v1/validations`.
    Validation,
    /// `POST /client/v1/qualifications`.
    Qualification,
}

impl EdgeOperation {
    /// Returns the operation of a path; `None` for all that the entry never answers.
    pub fn of_path(path: &str) -> Option<EdgeOperation> {
        match path {
            "/client/v1/validations" => Some(EdgeOperation::Validation),
            "/client/v1/qualifications" => Some(EdgeOperation::Qualification),
            _ => None,
        }
    }

    /// Returns the operation of a call; `None` for all calls that the entry never answers.
    pub fn of(matched: &MatchedRoute, request: &Request, caller: &Caller) -> Option<EdgeOperation> {
        let operation = EdgeOperation::of_path(matched.route.path)?;
        let is_open = caller.settings.client.get(CUSTOMERS).is_some_and(|trust| trust == "open");
        let is_for_object =
            is_open || !request.query.is_empty() || OF_OBJECT.iter().any(|name| header(request, name).is_some());
        (request.method == "POST" && caller.class == CredentialClass::Client && !is_for_object).then_some(operation)
    }
}

/// Returns true unless the object refuses a request by its head, before it decides.
pub fn accepts_head(matched: &MatchedRoute, request: &Request, has_body: bool) -> bool {
    let check = || {
        check_head(request)?;
        check_head_media(request, has_body, matched.route.media_kind(), None)?;
        name_limits::check_names(request, matched, &Query::read(&request.query))
    };
    check().is_ok()
}

/// Request whose answer needs nothing that only the object has, as far as its members show.
#[derive(Debug)]
pub struct EdgeRequest<'b> {
    operation: EdgeOperation,
    body: Node<'b>,
    /// True if it names codes, of which the attempt limiter counts the wrong ones.
    pub names_codes: bool,
}

impl<'b> EdgeRequest<'b> {
    /// Reads the body of a request whose head is accepted; `None` if the object is to answer it.
    pub fn read(operation: EdgeOperation, body: &'b [u8]) -> Option<EdgeRequest<'b>> {
        check_body_size(body, false).ok()?;
        let body = if body.iter().all(u8::is_ascii_whitespace) { b"{}" } else { body };
        let body = Node::read_within(body, VALUES_MAX).ok()?;
        let find = |path: &[&str]| path.iter().try_fold(&body, |value, name| value.get(name));
        let has = |path: &[&str]| find(path).is_some_and(|value| !value.is_null());
        // A lock is stored, and the copies lack what further members of the answer contain.
        if has(&[SESSION]) || has(&["options", "expand"]) || has(&["options", "optimise"]) {
            return None;
        }
        let is_code = |one: &Node<'_>| one.get(OBJECT).and_then(Node::as_str) == Some("voucher");
        let names_codes = matches!(find(&["redeemables"]), Some(Node::List(named)) if named.iter().any(is_code));
        // A rule that would need the profile of a named customer is a failed attempt, which only the object sees.
        let names_customer = [&["customer"][..], &["tracking_id"], &["order", "customer"], &["order", "customer_id"]];
        if names_codes && names_customer.into_iter().any(has) {
            return None;
        }
        Some(EdgeRequest { operation, body, names_codes })
    }
}

/// Returns true if no answer to a request stores anything, so that it may be repeated: it has no session.
pub fn stores_nothing(body: &[u8]) -> bool {
    Node::read_within(body, VALUES_MAX).is_ok_and(|body| body.get(SESSION).is_none_or(Node::is_null))
}

/// Claims of a head that the rules follow from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EdgeClaims {
    decides: u32,
    writes: u32,
    /// Hash of the core.
    pub core: String,
    /// The tree of the goods, where they are complete.
    #[serde(default)]
    pub goods: Option<GoodsRoot>,
    from: i64,
    to: i64,
    iat: i64,
}

impl EdgeClaims {
    /// Reads the claims of a head; `None` if another version of the engine made it. Its signature is for clients: the part of the entry
    /// authenticates it.
    pub fn read(head: &str) -> Option<EdgeClaims> {
        let claims = Base64UrlUnpadded::decode_vec(head.split('.').nth(1)?).ok()?;
        let claims: EdgeClaims = serde_json::from_slice(&claims).ok()?;
        ((claims.decides, claims.writes) == (DECIDES, WRITES)).then_some(claims)
    }
}

/// Returns the hashes of the parts of a core; `None` for a core that is not in parts.
pub fn part_hashes(core: &[u8]) -> Option<Vec<String>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct PartIndex {
        parts: Vec<String>,
    }
    // Rules begin with another member.
    let index = core.starts_with(b"{\"parts\":").then(|| serde_json::from_slice(core).ok()).flatten();
    index.map(|PartIndex { parts }| parts)
}

/// Sealed boxes of a core by name.
#[derive(Debug, Default, Deserialize)]
struct CoreBoxes {
    #[serde(default)]
    sealed_codes: SealedBoxes,
}

#[derive(Debug, Default, Deserialize)]
struct SealedBoxes {
    #[serde(default)]
    boxes: BTreeMap<String, String>,
}

/// Decision by the rules.
#[derive(Debug)]
pub enum EdgeDecision {
    /// The final answer.
    Answered(Reply),
    /// The rules lack goods buckets with these numbers.
    Lacks(Vec<u32>),
    /// The object is to answer.
    Object,
}

/// Rules of one head with the contents of all its boxes.
#[derive(Debug)]
pub struct EdgeRules {
    prepared: PreparedRules,
    /// The head that they follow from.
    pub head: String,
    /// Their revision.
    pub revision: String,
    /// Time at which the object signed the head, if their revision was the present one then.
    pub present_ms: Option<i64>,
    /// The tree of their goods.
    pub goods: Option<GoodsRoot>,
    /// Numbers of the goods buckets in them.
    joined: BTreeSet<u32>,
}

impl EdgeRules {
    /// Prepares the rules of a core; `None` if they cannot be read.
    pub fn prepare(core: &[u8], part: EdgePart, claims: EdgeClaims) -> Option<EdgeRules> {
        let CoreBoxes { sealed_codes } = serde_json::from_slice(core).ok()?;
        let opened = merge_contents(part.keys.values().filter_map(|key| open_box(key, &sealed_codes.boxes)))?;
        let (from, to) = (Instant::from_millis(claims.from)?, Instant::from_millis(claims.to)?);
        let prepared = PreparedRules::joined(core, &[opened.as_bytes()]).ok()?.with_horizon(from, to);
        prepared.prepare_candidates();
        let EdgePart { head, revision, is_present, .. } = part;
        // The time of a head is in whole seconds, rounded down.
        let present_ms = is_present.then_some(claims.iat.saturating_mul(1_000));
        Some(EdgeRules { prepared, head, revision, present_ms, goods: claims.goods, joined: BTreeSet::new() })
    }

    /// Decides about a request. The numbers of goods buckets that it needs and the rules do not have are found only where the rules that are
    /// here give no answer, because most requests need none.
    pub fn decide(&self, request: &EdgeRequest<'_>, context: &Context) -> EdgeDecision {
        if let Some(reply) = self.answer(request, context) {
            return EdgeDecision::Answered(reply);
        }
        let missing = self.missing_buckets(request);
        if missing.is_empty() { EdgeDecision::Object } else { EdgeDecision::Lacks(missing) }
    }

    /// Returns the numbers of the goods buckets that a request needs and the rules do not have. A SKU in them may name a product of a
    /// further one.
    fn missing_buckets(&self, request: &EdgeRequest<'_>) -> Vec<u32> {
        self.goods
            .as_ref()
            .map_or_else(Vec::new, |goods| self.prepared.missing_buckets_of(&request.body, goods.buckets))
    }

    /// Adds goods buckets by their numbers; `None` if one cannot be read.
    pub fn add_buckets(&mut self, buckets: &BTreeMap<u32, Vec<u8>>) -> Option<()> {
        let new = buckets.iter().filter(|(number, _)| !self.joined.contains(number));
        let (numbers, bytes): (Vec<u32>, Vec<&[u8]>) = new.map(|(number, bytes)| (*number, bytes.as_slice())).unzip();
        self.prepared.add_goods(&bytes).ok()?;
        self.joined.extend(numbers);
        Some(())
    }

    /// Forgets the goods if there are too many buckets. It is called after an answer, whose request may have needed all.
    pub fn forget_surplus(&mut self) {
        if self.joined.len() > BUCKETS_MAX {
            self.prepared.forget_goods();
            self.joined.clear();
        }
    }

    /// Returns the answer to a request; `None` if the object is to answer it, because a fact is missing, or it is refused, or names a wrong
    /// code.
    fn answer(&self, request: &EdgeRequest<'_>, context: &Context) -> Option<Reply> {
        #[cfg(feature = "test-hooks")]
        crate::store::fault_injection::trap_if_marked(&request.body);
        let decided = match request.operation {
            EdgeOperation::Validation => self.prepared.validate_node(&request.body, context),
            EdgeOperation::Qualification => self.prepared.qualify_node(&request.body, context),
        };
        if decided.status != 200 || !decided.is_final || decided.failed_attempts > 0 {
            return None;
        }
        let mut reply = reply::bytes_reply(200, decided.body);
        reply::check_answer(&reply).ok()?;
        let headers = client_headers(AnsweredBy::Edge, &self.revision);
        for (name, value) in [context_header(context)].iter().chain(&headers) {
            set_header(&mut reply, name, value);
        }
        set_header(&mut reply, "x-request-id", context.request_id().as_str());
        Some(reply)
    }
}

/// Merges the contents of boxes to one set of rules, in which each document is once.
fn merge_contents(contents: impl Iterator<Item = Vec<u8>>) -> Option<String> {
    let mut lists: BTreeMap<String, Vec<Box<RawValue>>> = BTreeMap::new();
    let mut known: BTreeSet<(String, String)> = BTreeSet::new();
    for content in contents {
        let content: BTreeMap<String, Vec<Box<RawValue>>> = serde_json::from_slice(&content).ok()?;
        for (list, documents) in content {
            // A document of several boxes has the same text in each.
            let new = documents.into_iter().filter(|document| known.insert((list.clone(), document.get().to_owned())));
            lists.entry(list.clone()).or_default().extend(new);
        }
    }
    serde_json::to_string(&lists).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routes::TABLE;
    use serde_json::{Value as Json, json};

    fn head(change: Json) -> String {
        let mut claims = json!({ "decides": DECIDES, "writes": WRITES, "core": "c0", "from": 0, "to": 1, "iat": 2 });
        claims.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        format!("e30.{}.c2ln", Base64UrlUnpadded::encode_string(claims.to_string().as_bytes()))
    }

    #[test]
    fn a_head_of_another_engine_is_not_read() {
        assert_eq!(EdgeClaims::read(&head(json!({}))).unwrap().core, "c0");
        for other in [json!({ "decides": DECIDES + 1 }), json!({ "writes": WRITES - 1 }), json!({ "core": 7 })] {
            assert_eq!(EdgeClaims::read(&head(other.clone())), None, "{other}");
        }
        assert_eq!(EdgeClaims::read("no head"), None);
    }

    fn request(body: &str, headers: &[(&str, &str)]) -> Request {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let path = "/client/v1/validations".to_owned();
        Request { method: "POST".into(), path, headers, body: body.into(), ..Request::default() }
    }

    #[test]
    fn requests_that_only_the_object_can_answer_are_left_to_it() {
        let matched = TABLE.find("POST", "/client/v1/validations").unwrap();
        for path in ["/client/v1/validations", "/client/v1/qualifications"] {
            let route = TABLE.find("POST", path).unwrap().route;
            assert!(EdgeOperation::of_path(route.path).is_some() && !route.many && !route.form, "{path}");
        }
        let reads = |body: &str, headers: &[(&str, &str)]| {
            let request = request(body, headers);
            let is_accepted = accepts_head(&matched, &request, !body.is_empty());
            let read = EdgeRequest::read(EdgeOperation::Validation, &request.body).filter(|_| is_accepted);
            read.map(|read| read.names_codes)
        };
        let tier = r#""redeemables":[{"object":"promotion_tier","id":"promo_1"}]"#;
        let code = r#""redeemables":[{"object":"voucher","id":"TEN"}]"#;
        assert_eq!(reads(&format!("{{{tier}}}"), &[]), Some(false));
        assert_eq!(reads(&format!(r#"{{{tier},"customer":{{"source_id":"anna"}},"session":null}}"#), &[]), Some(false));
        assert_eq!(reads(&format!(r#"{{{code},"customer":null}}"#), &[]), Some(true));
        for member in [
            r#""session":{"type":"LOCK"}"#,
            r#""options":{"expand":["order"]}"#,
            r#""options":{"optimise":true}"#,
            r#""customer":{"source_id":"anna"}"#,
            r#""tracking_id":"anna""#,
            r#""order":{"customer_id":"anna"}"#,
            r#""order":{"customer":{"source_id":"anna"}}"#,
        ] {
            assert_eq!(reads(&format!("{{{code},{member}}}"), &[]), None, "{member}");
        }
        assert_eq!(reads("{", &[]), None);
        assert_eq!(reads(&format!("{{{tier},\"metadata\":{}{}}}", "[".repeat(64), "]".repeat(64)), &[]), None);
        assert_eq!(reads("", &[("content-type", "text/plain")]), Some(false));
        assert_eq!(reads(&format!("{{{tier}}}"), &[("accept", "text/html")]), None);
        assert_eq!(reads(&format!("{{{tier}}}"), &[("content-type", "text/plain")]), None);
        assert!(stores_nothing(format!("{{{tier}}}").as_bytes()));
        assert!(!stores_nothing(br#"{"session":{"key":"one"}}"#) && !stores_nothing(b"no JSON"));
    }
}
