//! The bundle: what a page needs to decide for itself, named by its content hash. Campaigns, stacking rules, validation rules,
//! and public codes as hashes; never a private code, a count, or anything about a customer. Which members of these are told
//! `page/shown` says.

use crate::access::page::shown;
use crate::document::shapes;
use crate::http::caller::Class;
use crate::http::intake::header;
use crate::http::reply::CallError;
use crate::http::route::{Answer, Call, Outcome, Route, get};
use crate::shop::{stacking_rules, zone};
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::text::sha256_hex;
use scrip::time::Instant;
use scrip::wire::legible;
use serde_json::{Value as Json, json};

/// Documents of a kind in a bundle, at most: a page is no place for more. Of a larger catalogue nothing is told, and a
/// page's verdict on its products is provisional.
const MOST: usize = 1_000;

/// The routes of the area.
pub const ROUTES: &[Route] = &[get("/client/v1/bundle", "What a page needs to decide for itself", bundle)
    .for_classes(&[Class::Client, Class::OAuth])
    .scope("bundle")
    .answers(200, shapes::bundle::BUNDLE)
    .or_answers(304, shapes::EMPTY)];

fn bundle(call: &mut Call<'_, '_>) -> Outcome {
    let mut whole = write(call)?;
    if let Some(page) = &call.page {
        // Before it is named by its hash, which is of what is told.
        shown::keep_of(call.route, page, &mut whole);
    }
    let body = serde_json::to_vec(&whole).map_err(|error| Fault(error.to_string()))?;
    let tag = format!("\"{}\"", sha256_hex(&body));
    let known = header(call.request, "if-none-match").unwrap_or_default();
    let is_known = known.split(',').any(|known| known.trim() == tag || known.trim() == "*");
    let mut answer = if is_known { Answer::empty(304) } else { Answer::bytes(body) };
    answer.headers.push(("etag", tag));
    answer.headers.push(("cache-control", "private, no-cache".to_owned()));
    Ok(answer)
}

fn write(call: &Call<'_, '_>) -> Result<Json, CallError> {
    let mut unreadable = Unreadable::default();
    let mut campaigns = newest(call, "campaign")?;
    campaigns.truncate(MOST);
    // What belongs to a campaign that cannot be read is not told either.
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
    let named: Vec<&Json> = assignments.iter().filter_map(|document| document.body.get("rule_id")).collect();
    let rules = call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'validation_rules' AND id IN (SELECT value FROM json_each(?1)) ORDER BY seq",
        &[json!(named).to_string().into()],
    )?;
    let rules = unreadable.leave_out(call, "validation_rules", rules);
    let (products, skus) = (newest(call, "product")?, newest(call, "sku")?);
    let whole_catalogue = products.len() <= MOST && skus.len() <= MOST;
    let products = unreadable.leave_out(call, "product", products);
    let skus = unreadable.leave_out(call, "sku", skus);
    let goods = |documents| if whole_catalogue { bodies(documents) } else { Vec::new() };
    // Who is in a static segment is about customers, and is not told.
    let mut segments = newest(call, "segment")?;
    segments.retain(|segment| segment.body.get("type").and_then(Json::as_str) != Some("static"));
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
        "stacking_rules": stacking,
        "campaigns": bodies(campaigns),
        "vouchers": vouchers.into_iter().map(hashed).collect::<Vec<Json>>(),
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

/// What is stored and does not read, as a page is told of it: by its names, so that whatever needs it is refused there too.
#[derive(Default)]
struct Unreadable(Vec<Json>);

impl Unreadable {
    /// Those documents of a kind that read; the others are noted.
    fn leave_out(&mut self, call: &Call<'_, '_>, kind: &str, mut documents: Vec<Document>) -> Vec<Document> {
        documents.retain(|document| match legible::check_fields(kind, &document.body) {
            Ok(()) => true,
            Err(problem) => {
                call.store.note(format!("the stored {kind} `{}` does not read: {problem}", document.id));
                self.0.push(named(kind, document));
                false
            }
        });
        documents
    }
}

/// The names of a document that a page may know.
fn named(kind: &str, document: &Document) -> Json {
    match kind {
        "voucher" => {
            let code = document.body.get("code").and_then(Json::as_str).unwrap_or_default();
            json!({ "object": kind, "id": document.id, "code_hash": sha256_hex(code.as_bytes()) })
        }
        "product" | "sku" => json!({ "object": kind, "id": document.id, "source_id": document.key }),
        ASSIGNMENT => json!({ "object": kind, "id": document.id, "related_object_id": document.parent }),
        _ => json!({ "object": kind, "id": document.id }),
    }
}

fn is_public(campaign: &Document) -> bool {
    campaign.body.get("type").and_then(Json::as_str) == Some("STANDALONE")
}

/// The documents of a kind, newest first, one more than a bundle may hold.
fn newest(call: &Call<'_, '_>, kind: &str) -> Result<Vec<Document>, CallError> {
    let most = i64::try_from(MOST).unwrap_or(i64::MAX).saturating_add(1);
    let statement = "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = +?1 ORDER BY seq DESC LIMIT +?2";
    Ok(call.store.documents(statement, &[kind.into(), most.into()])?)
}

/// The documents of a kind that belong to one of these, in the order of creation.
fn of_parents(call: &Call<'_, '_>, kind: &str, parents: &[&str]) -> Result<Vec<Document>, CallError> {
    let statement = "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = +?1 AND parent IN (SELECT value FROM json_each(?2)) ORDER BY seq";
    Ok(call.store.documents(statement, &[kind.into(), Json::from(parents).to_string().into()])?)
}

fn bodies(documents: Vec<Document>) -> Vec<Json> {
    documents.into_iter().map(|document| Json::Object(document.body)).collect()
}

/// A public voucher by the hash of its code.
fn hashed(document: Document) -> Json {
    let mut body = document.body;
    let code = body.get("code").and_then(Json::as_str).unwrap_or_default();
    body.insert("code_hash".into(), sha256_hex(code.as_bytes()).into());
    // Also of a voucher that says nothing of it a page is told that there is no bound.
    body.entry("redemption")
        .or_insert_with(|| json!({}))
        .as_object_mut()
        .map(|told| told.entry("quantity").or_insert(Json::Null));
    Json::Object(body)
}

/// The terms in the form in which their members can be told one by one: where nothing is said, none of them.
fn terms(settings: &Json) -> Json {
    if settings.is_object() { settings.clone() } else { json!({}) }
}

/// The zone with its transitions, so that a page has those of the service, whatever its own table of zones says.
fn zone(call: &Call<'_, '_>) -> Result<Json, Fault> {
    let settings = &call.caller.settings.time_zone;
    if settings.is_object() {
        return Ok(settings.clone());
    }
    let zone = zone::of(call)?;
    let name = if zone.name.is_empty() { "UTC" } else { zone.name.as_str() };
    let transition = |(at, offset): &(Instant, i32)| json!({ "at": at.text(), "offset": offset });
    let transitions: Vec<Json> = zone.transitions.iter().map(transition).collect();
    Ok(json!({ "name": name, "offset": zone.offset, "transitions": transitions }))
}
