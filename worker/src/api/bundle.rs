//! The bundle: the rules that a client needs to decide offline, named by its content hash. Campaigns, stacking rules, validation
//! rules, and public codes as hashes; never private codes, counts, or customer data. `access/client/response_filter/bundle`
//! declares the members of these that a client receives. A bundle is cached until one of them changes.

use crate::access::client::response_filter;
use crate::documents::shapes;
use crate::domain::{clock, stacking_rules};
use crate::http::caller::CredentialClass;
use crate::http::reply::CallError;
use crate::http::request::Request;
use crate::http::request_checks::header;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::index::code_key::code_key;
use crate::store::loyalty::program_revision::{Edition, MOST_BYTES, RevisionCache};
use crate::store::sql::Fault;
use scrip::text::sha256_hex;
use scrip::wire::readability;
use serde_json::{Value as Json, json};
use std::sync::Arc;

/// Maximum number of documents of a kind in a bundle, because a client has limited space. A larger catalogue is omitted, and a
/// client's verdict on its products is provisional.
const MOST: usize = 1_000;

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/client/v1/bundle", "Get the offline bundle", bundle)
    .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
    .scope("bundle")
    .answers(200, shapes::bundle::BUNDLE)
    .or_answers(304, shapes::EMPTY)
    .describe(
        "getBundle",
        "Returns the snapshot of campaigns, promotions, rules and public vouchers with which a client decides validations and qualifications without the server. Public vouchers are those of `STANDALONE` campaigns, named by hashes of their codes; counts, balances and customers are not included. A catalogue of more than 1,000 products or SKUs is left out. The header `ETag` names the content: a call with `If-None-Match` is answered with 304 while nothing has changed. An untrusted origin is refused with `forbidden`, wrong credentials with `unauthorized`.",
    )
    .returns("The bundle, named by the header `ETag`.")];

/// Built bundle.
struct StoredBundle {
    /// Its name: the hash of its bytes, in quotes.
    tag: String,
    /// Its bytes; `None` when they are too many for the cache.
    bytes: Option<Vec<u8>>,
}

/// Cache of bundles, by the revision of the documents and by the settings of the project. No bundle depends on the time,
/// or on the customer.
static BUILT: RevisionCache<StoredBundle> = RevisionCache::empty();

fn bundle(call: &mut Call<'_, '_>) -> HandlerResult {
    let (revision, settings) = (Edition::of_bundle(call.store)?, hash_settings(call)?);
    let kept = BUILT.get(&revision, &settings).flatten();
    if let Some(tag) = kept.as_ref().map(|built| &built.tag).filter(|tag| is_known(call.request, tag)) {
        return Ok(named(Response::empty(304), tag));
    }
    if let Some(StoredBundle { tag, bytes: Some(bytes) }) = kept.as_deref() {
        return Ok(named(Response::bytes(bytes.clone()), tag));
    }
    let bytes = build(call)?;
    let tag = format!("\"{}\"", sha256_hex(&bytes));
    let is_small = bytes.len() <= MOST_BYTES;
    let built = StoredBundle { tag: tag.clone(), bytes: is_small.then(|| bytes.clone()) };
    let weight = tag.len().saturating_add(built.bytes.as_ref().map_or(0, Vec::len));
    BUILT.put(&revision, &settings, Some(Arc::new(built)), weight);
    let answer = if is_known(call.request, &tag) { Response::empty(304) } else { Response::bytes(bytes) };
    Ok(named(answer, &tag))
}

/// Adds the tag of the bundle to a response.
fn named(mut answer: Response, tag: &str) -> Response {
    answer.headers.push(("etag", tag.to_owned()));
    answer.headers.push(("cache-control", "private, no-cache".to_owned()));
    answer
}

/// Returns true if the caller has the bundle of this tag. A tag that a proxy made weak is equal.
fn is_known(request: &Request, tag: &str) -> bool {
    let known = header(request, "if-none-match").unwrap_or_default();
    known.split(',').map(str::trim).any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Returns the hash of the settings that a bundle shows in addition to documents.
fn hash_settings(call: &Call<'_, '_>) -> Result<String, CallError> {
    let caller = call.caller;
    let shown = json!([caller.project, caller.settings, clock::zone_setting(call)?, call.page.is_some()]);
    Ok(sha256_hex(shown.to_string().as_bytes()))
}

/// Builds the bytes of the bundle, named by their content: hidden members are removed before.
fn build(call: &Call<'_, '_>) -> Result<Vec<u8>, CallError> {
    let mut whole = write(call)?;
    if let Some(page) = &call.page {
        response_filter::keep_of(call.route, page, &mut whole);
    }
    Ok(serde_json::to_vec(&whole).map_err(|error| Fault(error.to_string()))?)
}

fn write(call: &Call<'_, '_>) -> Result<Json, CallError> {
    let case_sensitive = call.caller.settings.case_sensitive_codes;
    let mut unreadable = UnreadableNames::default();
    let mut campaigns = newest(call, "campaign")?;
    campaigns.truncate(MOST);
    // Documents of a campaign that cannot be read are omitted as well.
    let campaigns = unreadable.leave_out(call, "campaign", campaigns);
    let public: Vec<&str> =
        campaigns.iter().filter(|campaign| is_public(campaign)).map(|campaign| campaign.id.as_str()).collect();
    let vouchers = unreadable.leave_out(call, "voucher", of_parents(call, "voucher", &public)?);
    let all: Vec<&str> = campaigns.iter().map(|campaign| campaign.id.as_str()).collect();
    let tiers = unreadable.leave_out(call, "promotion_tier", of_parents(call, "promotion_tier", &all)?);
    let stacks = unreadable.leave_out(call, "promotion_stack", of_parents(call, "promotion_stack", &all)?);
    let shown: Vec<&str> =
        campaigns.iter().chain(&vouchers).chain(&tiers).map(|document| document.id.as_str()).collect();
    let assignments = of_parents(call, ASSIGNMENT, &shown)?;
    let assignments = unreadable.leave_out(call, ASSIGNMENT, assignments);
    let named: Vec<&str> =
        assignments.iter().filter_map(|document| document.as_assignment().rule_id().and_then(Json::as_str)).collect();
    let rules = any_kind::list_with_ids(call.store, "validation_rules", &named)?;
    let rules = unreadable.leave_out(call, "validation_rules", rules);
    let (products, skus) = (newest(call, "product")?, newest(call, "sku")?);
    let whole_catalogue = products.len() <= MOST && skus.len() <= MOST;
    let products = unreadable.leave_out(call, "product", products);
    let skus = unreadable.leave_out(call, "sku", skus);
    let goods = |documents| if whole_catalogue { bodies(documents) } else { Vec::new() };
    // The members of a static segment are customer data, and are omitted.
    let mut segments = newest(call, "segment")?;
    segments.retain(|segment| !segment.as_segment().is_static());
    let segments = unreadable.leave_out(call, "segment", segments);
    let collections = unreadable.leave_out(call, COLLECTION, newest(call, COLLECTION)?);
    let categories = unreadable.leave_out(call, "category", newest(call, "category")?);
    let stacking =
        stacking_rules::stored(call.store)?.map_or_else(stacking_rules::default_rules, |document| document.body);
    let mut whole = json!({
        "complete": false,
        "counted": false,
        "client": terms(&call.caller.settings.client),
        "whole_catalogue": whole_catalogue,
        "project": { "id": call.caller.project },
        "time_zone": zone(call)?,
        "case_sensitive_codes": case_sensitive,
        "stacking_rules": stacking,
        "campaigns": bodies(campaigns),
        "vouchers": vouchers.into_iter().map(|voucher| hashed(voucher, case_sensitive)).collect::<Vec<Json>>(),
        "promotion_tiers": bodies(tiers),
        "promotion_stacks": bodies(stacks),
        "categories": bodies(categories),
        "products": goods(products),
        "skus": goods(skus),
        "product_collections": bodies(collections),
        "segments": bodies(segments),
        "validation_rules": bodies(rules),
        "validation_rules_assignments": bodies(assignments),
    });
    if let (Some(whole), false) = (whole.as_object_mut(), unreadable.0.is_empty()) {
        whole.insert("unreadable".into(), unreadable.0.into());
    }
    Ok(whole)
}

const ASSIGNMENT: &str = "validation_rules_assignment";
const COLLECTION: &str = "products_collection";

/// Names of stored documents that cannot be read. A client receives the names, so that its engine refuses their uses too.
#[derive(Default)]
struct UnreadableNames(Vec<Json>);

impl UnreadableNames {
    /// Returns the readable documents of a kind, and records the names of the others.
    fn leave_out(&mut self, call: &Call<'_, '_>, kind: &str, mut documents: Vec<Document>) -> Vec<Document> {
        documents.retain(|document| match readability::check_fields(kind, &document.body) {
            Ok(()) => true,
            Err(problem) => {
                call.store.note(format!("the stored {kind} `{}` does not read: {problem}", document.id));
                self.0.push(names_of(kind, document, call.caller.settings.case_sensitive_codes));
                false
            }
        });
        documents
    }
}

/// Returns the names of a document that a client may know.
fn names_of(kind: &str, document: &Document, case_sensitive: bool) -> Json {
    match kind {
        "voucher" => {
            let code = document.as_voucher().code().unwrap_or_default();
            json!({ "object": kind, "id": document.id, "code_hash": code_hash(code, case_sensitive) })
        }
        "product" | "sku" => json!({ "object": kind, "id": document.id, "source_id": document.key }),
        ASSIGNMENT => json!({ "object": kind, "id": document.id, "related_object_id": document.parent }),
        _ => json!({ "object": kind, "id": document.id }),
    }
}

fn is_public(campaign: &Document) -> bool {
    campaign.as_campaign().is_standalone()
}

/// Lists the documents of a kind, newest first, one more than a bundle may contain.
fn newest(call: &Call<'_, '_>, kind: &str) -> Result<Vec<Document>, CallError> {
    let most = i64::try_from(MOST).unwrap_or(i64::MAX).saturating_add(1);
    Ok(any_kind::list_last(call.store, kind, most)?)
}

/// Lists the documents of a kind that belong to one of these parents, in the order of creation.
fn of_parents(call: &Call<'_, '_>, kind: &str, parents: &[&str]) -> Result<Vec<Document>, CallError> {
    Ok(any_kind::list_within_any(call.store, kind, parents)?)
}

fn bodies(documents: Vec<Document>) -> Vec<Json> {
    documents.into_iter().map(|document| Json::Object(document.body)).collect()
}

/// Returns the hash by which a client finds a code, computed from its compared form.
fn code_hash(code: &str, case_sensitive: bool) -> String {
    sha256_hex(code_key(code, case_sensitive).as_bytes())
}

/// Returns a public voucher with the hash of its code.
fn hashed(document: Document, case_sensitive: bool) -> Json {
    let hash = code_hash(document.as_voucher().code().unwrap_or_default(), case_sensitive);
    let mut body = document.body;
    body.insert("code_hash".into(), hash.into());
    // A voucher without a bound also shows to a client that it has none.
    body.entry("redemption")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .map(|details| details.entry("quantity").or_insert(Json::Null));
    Json::Object(body)
}

/// Returns the client policy as an object with single members; without settings it has none.
fn terms(settings: &Json) -> Json {
    if settings.is_object() { settings.clone() } else { json!({}) }
}

/// Returns the zone with its transitions, so that a client uses those of the service and not its own table of zones.
fn zone(call: &Call<'_, '_>) -> Result<Json, Fault> {
    let settings = &call.caller.settings.time_zone;
    if settings.is_object() {
        return Ok(settings.clone());
    }
    let zone = clock::zone(call)?;
    let name = if zone.name.is_empty() { "UTC" } else { zone.name.as_str() };
    let transitions = zone.transitions.iter().map(|(at, offset)| json!({ "at": at.text(), "offset": offset }));
    let transitions: Vec<Json> = transitions.collect();
    Ok(json!({ "name": name, "offset": zone.offset, "transitions": transitions }))
}
