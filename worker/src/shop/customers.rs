//! Customers, as every area that names one makes, finds and shows them. It must not know any route.

use crate::document::fields;
use crate::document::merge::merge;
use crate::document::resource::plain_key;
use crate::document::shapes;
use crate::http::listing::{Filter, List};
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Call, Resource};
use crate::http::shape::{self, Nulls};
use crate::moment;
use crate::shop::{metadata_schemas, purses, referral_counts, summary};
use crate::store::document::Document;
use scrip::model::customer::Customer;
use serde_json::{Map, Value as Json, json};

/// What lists of customers are ordered by.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "source_id", "-source_id"];

/// Customers as a resource.
pub const CUSTOMER: Resource = Resource {
    object: "customer",
    shape: shapes::customers::CUSTOMER.described(),
    parameter: "customerId",
    key: plain_key,
    show,
    list: List {
        data_ref: "customers",
        page_max: 99,
        orders: &[
            ("created_at", "created_at"),
            ("updated_at", "updated_at"),
            ("source_id", "json_extract(body, '$.source_id')"),
        ],
        filters: &[
            Filter::Mark("email", "json_extract(marks, '$.email')"),
            Filter::Mark("city", "json_extract(marks, '$.city')"),
            Filter::Part("name"),
            Filter::Moment("created_at", "created_at"),
            Filter::Moment("updated_at", "updated_at"),
        ],
        conditions: &[],
    },
};

/// Customers as they are told of.
pub fn show(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let shown = with_purses(call, documents)?.into_iter().map(|customer| Json::Object(customer.body));
    Ok(shown.collect())
}

/// Customers with what is left on the cards that they hold.
pub fn with_purses(call: &Call<'_, '_>, mut customers: Vec<Document>) -> Result<Vec<Document>, CallError> {
    let ids: Vec<&str> = customers.iter().map(|customer| customer.id.as_str()).collect();
    let held = purses::held(call, &ids)?;
    for customer in &mut customers {
        let (credits, points) = held.get(&customer.id).copied().unwrap_or_default();
        let mut redemptions = customer.body.get_mut("summary").and_then(|summary| summary.get_mut("redemptions"));
        for (block, name, left) in [("gift", "amount_to_go", credits), ("loyalty_card", "points_to_go", points)] {
            let block = redemptions.as_mut().and_then(|redemptions| redemptions.get_mut(block));
            if let Some(block) = block.and_then(Json::as_object_mut) {
                block.insert(name.into(), left.into());
            }
        }
    }
    Ok(customers)
}

/// The customer that a sent one means: found by id, else by source_id; updated with what was sent, or created. Gives the document
/// as it will be after the commit.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: Map<String, Json>) -> Result<Document, CallError> {
    let id = sent.remove("id").and_then(|id| id.as_str().map(str::to_owned));
    let source_id = sent.remove("source_id").and_then(|id| id.as_str().map(str::to_owned));
    let found = match (&id, &source_id) {
        (Some(id), _) => Some(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?),
        (None, Some(source_id)) => call.store.document_by_name("customer", source_id, source_id)?,
        (None, None) => None,
    };
    if let Some(mut document) = found {
        if let (Some(sent), Some(known)) = (&source_id, &document.key)
            && id.is_some()
            && sent != known
        {
            // Two identifiers that name two customers are refused; one that is free is ignored, as source_id never changes.
            if call.store.document_by_name("customer", sent, "")?.is_some() {
                return Err(duplicate("customer", "id", sent).into());
            }
        }
        let before = document.body.clone();
        if document.key.is_none() && source_id.is_some() && id.is_some() {
            give_source_id(call, &mut document, source_id.as_deref().unwrap_or_default())?;
        }
        let has_metadata = sent.contains_key("metadata");
        merge(&mut document.body, sent);
        if has_metadata {
            check_metadata(call, &document.body)?;
        }
        if document.body != before {
            call.touch(&mut document);
            call.store.update(CUSTOMER.object, &document);
        }
        return Ok(document);
    }
    let document = new(call, source_id, sent);
    check_metadata(call, &document.body)?;
    call.store.insert(CUSTOMER.object, &document);
    Ok(document)
}

/// Holds the metadata of a customer against the project's schema.
pub fn check_metadata(call: &Call<'_, '_>, body: &Map<String, Json>) -> Result<(), CallError> {
    metadata_schemas::check(call.store, &[(CUSTOMER.object, body.get("metadata"))])
}

fn give_source_id(call: &Call<'_, '_>, document: &mut Document, source_id: &str) -> Result<(), CallError> {
    if call.store.document_by_name("customer", source_id, "")?.is_some() {
        return Err(duplicate("customer", "id", source_id).into());
    }
    document.key = Some(source_id.to_owned());
    document.body.insert("source_id".into(), source_id.into());
    Ok(())
}

/// A customer of whom nothing but a name is known, and who is written down with no more.
pub fn introduce(call: &mut Call<'_, '_>, source_id: &str) -> Document {
    let document = new(call, Some(source_id.to_owned()), Map::new());
    call.store.insert(CUSTOMER.object, &document);
    document
}

fn new(call: &mut Call<'_, '_>, source_id: Option<String>, sent: Map<String, Json>) -> Document {
    let id = next_id(call);
    let mut body = template(&id, source_id.as_deref(), call.now_ms());
    merge(&mut body, sent);
    Document { id, key: source_id, parent: None, holder: None, created_at: call.now_ms(), updated_at: None, body }
}

/// The id of a new customer.
pub fn next_id(call: &mut Call<'_, '_>) -> String {
    call.ids.alphanumeric("cust_", 24).to_string()
}

/// The body of a customer of whom nothing is known yet.
pub fn template(id: &str, source_id: Option<&str>, now_ms: i64) -> Map<String, Json> {
    let body = json!({
        "id": id, "source_id": source_id, "name": null, "description": null, "email": null, "phone": null, "birthday": null, "birthdate": null,
        "address": null, "metadata": {}, "system_metadata": {},
        "summary": summary::empty(),
        "loyalty": referral_counts::empty_loyalty(),
        "referrals": referral_counts::empty(),
        "created_at": moment::text(now_ms), "object": "customer",
    });
    body.as_object().cloned().unwrap_or_default()
}

/// The customer as a redemption or publication shows it: no more than its names.
pub fn reduced(body: &Map<String, Json>) -> Json {
    let mut short = Map::new();
    for name in ["id", "source_id", "name", "email", "metadata"] {
        short.insert(name.into(), body.get(name).cloned().unwrap_or(Json::Null));
    }
    short.insert("object".into(), "customer".into());
    Json::Object(short)
}

/// What was sent of a customer, as it is merged into a stored one: everything but the names, in its shape.
pub fn profile(sent: &Customer) -> Result<Map<String, Json>, CallError> {
    let read = shape::read(fields::CUSTOMER, sent.document.to_fields(), Nulls::Kept);
    let mut profile = read.map_err(|problem| problem.within("customer"))?;
    profile.remove("id");
    profile.remove("source_id");
    if !sent.metadata.is_empty() {
        // The engine keeps it apart from the rest of the profile.
        profile.insert("metadata".into(), Json::Object(sent.metadata.to_fields()));
    }
    Ok(profile)
}
