//! Creates, finds and updates customers, and converts them to JSON.

use crate::documents::common_fields;
use crate::documents::json_members;
use crate::documents::merge::merge;
use crate::documents::resource::plain_key;
use crate::documents::shapes;
use crate::domain::balances::customer_loyalty::CustomerLoyalty;
use crate::domain::balances::kinds;
use crate::domain::customers::{referral_summary, summary};
use crate::domain::metadata::schemas;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Call, RequestBody, Resource};
use crate::http::shape::{self, Nulls};
use crate::store::document::{Document, DocumentBody, StoredDocument};
use crate::store::document_list::column::member;
use crate::store::documents::customers::{CITY_DIGEST, EMAIL_DIGEST};
use crate::store::records::CustomerRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use scrip::model::customer::Customer;
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

/// Orders of customer lists.
pub const ORDERS: &[&str] = &["created_at", "-created_at", "updated_at", "-updated_at", "source_id", "-source_id"];

/// Customers as a resource.
pub const CUSTOMER: Resource = Resource {
    object: "customer",
    shape: shapes::customers::CUSTOMER.described(),
    parameter: "customerId",
    key: plain_key,
    to_json,
    list: List {
        data_ref: "customers",
        page_max: 99,
        orders: &[("created_at", "created_at"), ("updated_at", "updated_at"), ("source_id", member!("source_id"))],
        filters: &[
            ListFilter::Digest("email", EMAIL_DIGEST),
            ListFilter::Digest("city", CITY_DIGEST),
            ListFilter::Part("name"),
            ListFilter::Instant("created_at", "created_at"),
            ListFilter::Instant("updated_at", "updated_at"),
        ],
        conditions: &[],
    },
};

/// Returns customers as the API returns them.
pub fn to_json(call: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    let customers = with_balances(call, documents)?.into_iter().map(|customer| Json::Object(customer.body));
    Ok(customers.collect())
}

/// Completes customers with the balances of their cards.
pub fn with_balances(call: &Call<'_, '_>, mut customers: Vec<Document>) -> Result<Vec<Document>, CallError> {
    let ids: Vec<&str> = customers.iter().map(|customer| customer.id.as_str()).collect();
    let mut balances = kinds::find_balances(call.store, call.context.now, &ids)?;
    for customer in &mut customers {
        balances.remove(&customer.id).unwrap_or_default().complete(&mut customer.body);
    }
    Ok(customers)
}

/// Finds the customer of a request by id, else by source_id, and updates it; otherwise creates it. Returns the document with
/// the queued writes applied.
pub fn upsert(call: &mut Call<'_, '_>, mut sent: RequestBody) -> Result<Document, CallError> {
    let id = sent.remove("id").and_then(|id| id.as_str().map(str::to_owned));
    let source_id = sent.remove("source_id").and_then(|id| id.as_str().map(str::to_owned));
    let found = match (&id, &source_id) {
        (Some(id), _) => Some(call.store.document("customer", id)?.ok_or_else(|| not_found("customer", id))?),
        (None, Some(source_id)) => call.store.document_by_name("customer", source_id, source_id)?,
        (None, None) => None,
    };
    retain_writable_fields(call, &mut sent);
    remove_address_of_another(call, found.as_ref().map(|found| found.id.as_str()), &mut sent)?;
    if let Some(mut document) = found {
        if let (Some(sent), Some(known)) = (&source_id, &document.key)
            && id.is_some()
            && sent != known
        {
            // Two identifiers of two customers are refused; an unused second identifier is ignored, because source_id never changes.
            if call.store.document_by_name("customer", sent, "")?.is_some() {
                return Err(duplicate("customer", "id", sent).into());
            }
        }
        let before = document.body.clone();
        if document.key.is_none() && source_id.is_some() && id.is_some() {
            set_source_id(call, &mut document, source_id.as_deref().unwrap_or_default())?;
        }
        let has_metadata = sent.contains_key("metadata");
        merge_profile(&mut document.body, sent);
        if has_metadata {
            check_metadata(call, &document.body)?;
        }
        if document.body != before {
            call.touch(&mut document);
            call.store.update(CUSTOMER.object, &document);
        }
        return Ok(document);
    }
    let document = new_document(call, source_id, sent);
    check_metadata(call, &document.body)?;
    call.store.insert(CUSTOMER.object, &document);
    Ok(document)
}

/// Updates or creates the customer of a request like [`upsert`]. A customer that is named by an e-mail address only is the
/// stored customer with that address, if there is one.
pub fn upsert_named(call: &mut Call<'_, '_>, mut sent: RequestBody) -> Result<Document, CallError> {
    if let Some(known) = find_by_email(call, CustomerRecord::of(&sent))? {
        sent.insert("id".into(), known.id.into());
    }
    upsert(call, sent)
}

/// Returns the stored customer that a request names by an e-mail address only.
pub fn find_by_email(call: &Call<'_, '_>, sent: CustomerRecord<'_>) -> Result<Option<Document>, Fault> {
    let Some(email) = email_only(sent) else { return Ok(None) };
    call.store.stored_by_email(email)?.map(StoredDocument::document).transpose()
}

/// Returns the e-mail address of a sent customer without another name.
pub fn email_only(sent: CustomerRecord<'_>) -> Option<&str> {
    let is_empty = |name: Option<&str>| name.is_none_or(str::is_empty);
    sent.email().filter(|email| !email.is_empty() && is_empty(sent.id()) && is_empty(sent.source_id()))
}

/// Removes the fields of the own profile that the client policy does not accept from a customer with a token.
pub fn retain_writable_fields(call: &Call<'_, '_>, sent: &mut RequestBody) {
    let policy = call.client.as_ref().filter(|client| client.proven.is_some());
    let Some(fields) = policy.and_then(|client| client.policy.own_fields.as_ref()) else { return };
    let is_own = |name: &str| fields.iter().any(|field| field == name);
    sent.retain(|name, value| match (name.as_str(), value) {
        ("id" | "source_id", _) => true,
        ("metadata", Json::Object(keys)) if !is_own("metadata") => {
            keys.retain(|key, _| is_own(&format!("metadata.{key}")));
            !keys.is_empty()
        }
        (name, _) => is_own(name),
    });
}

/// Removes the e-mail address of another customer from the profile that a client sends with a token. An address names its customer, so
/// the token's customer would be treated as the other one. The answer does not reveal whether an address is known.
pub fn remove_address_of_another(call: &Call<'_, '_>, own: Option<&str>, sent: &mut RequestBody) -> Result<(), Fault> {
    let is_proven = call.client.as_ref().is_some_and(|client| client.proven.is_some());
    let Some(email) = CustomerRecord::of(sent).email().filter(|_| is_proven) else { return Ok(()) };
    if call.store.stored_by_email(email)?.is_some_and(|known| own != Some(known.id.as_str())) {
        sent.remove("email");
    }
    Ok(())
}

/// Merges a sent profile into a stored customer. `metadata: null` removes the member.
pub fn merge_profile(body: &mut DocumentBody, mut sent: RequestBody) {
    if CustomerRecord::of(&sent).metadata().is_some_and(Json::is_null) {
        sent.remove("metadata");
        body.remove("metadata");
    }
    merge(body, sent);
}

/// Checks the metadata of a customer against the project's schema.
pub fn check_metadata(call: &Call<'_, '_>, body: &DocumentBody) -> Result<(), CallError> {
    schemas::check_body(call.store, CUSTOMER.object, body)
}

fn set_source_id(call: &Call<'_, '_>, document: &mut Document, source_id: &str) -> Result<(), CallError> {
    if call.store.document_by_name("customer", source_id, "")?.is_some() {
        return Err(duplicate("customer", "id", source_id).into());
    }
    document.key = Some(source_id.to_owned());
    document.body.insert("source_id".into(), source_id.into());
    Ok(())
}

/// Creates a customer with a name only: the `source_id`, else the e-mail address.
pub fn create_named(call: &mut Call<'_, '_>, sent: &RequestBody) -> Document {
    let sent = CustomerRecord::of(sent);
    let source_id = sent.source_id().map(str::to_owned);
    let address = sent.email_value().filter(|_| source_id.is_none());
    let profile = address.map(|email| json_members::object_of("email", email.clone())).unwrap_or_default();
    let document = new_document(call, source_id, profile);
    call.store.insert(CUSTOMER.object, &document);
    document
}

fn new_document(call: &mut Call<'_, '_>, source_id: Option<String>, sent: RequestBody) -> Document {
    let id = generate_id(call);
    let mut body = empty_body(&id, source_id.as_deref(), call.now_ms());
    merge_profile(&mut body, sent);
    Document { id, key: source_id, parent: None, holder: None, created_at: call.now_ms(), updated_at: None, body }
}

/// Returns the id of a new customer.
pub fn generate_id(call: &mut Call<'_, '_>) -> String {
    call.ids.alphanumeric("cust_", 24).to_string()
}

/// Returns the body of a customer without a profile.
pub fn empty_body(id: &str, source_id: Option<&str>, now_ms: i64) -> DocumentBody {
    let body = json!({
        "id": id, "source_id": source_id, "name": null, "description": null, "email": null, "phone": null, "birthday": null, "birthdate": null,
        "address": null, "system_metadata": {},
        "summary": summary::empty(),
        "loyalty": CustomerLoyalty::empty(),
        "referrals": referral_summary::empty(),
        "created_at": timestamp::text(now_ms), "object": "customer",
    });
    body.as_object().cloned().unwrap_or_default()
}

/// Returns a customer as earning rules see it: a customer that is created with the order has no earlier orders.
pub fn without_orders(customer: &Document, is_new: bool) -> Cow<'_, Document> {
    if !is_new {
        return Cow::Borrowed(customer);
    }
    let mut before = customer.clone();
    before.body.insert("summary".into(), summary::empty());
    Cow::Owned(before)
}

/// Returns the customer as redemptions and publications contain it: names, and metadata if present.
pub fn summary_json(customer: CustomerRecord<'_>) -> Json {
    let mut summary = Map::new();
    summary.insert("id".into(), customer.id().into());
    summary.insert("source_id".into(), customer.source_id().into());
    summary.insert("name".into(), customer.name().cloned().unwrap_or_default());
    summary.insert("email".into(), customer.email_value().cloned().unwrap_or_default());
    if let Some(metadata) = customer.metadata() {
        summary.insert("metadata".into(), metadata.clone());
    }
    summary.insert("object".into(), "customer".into());
    Json::Object(summary)
}

/// Returns the sent profile of a customer in its shape, without the names.
pub fn read_profile(sent: &Customer) -> Result<RequestBody, CallError> {
    let read = shape::read(common_fields::CUSTOMER, sent.document.to_fields(), Nulls::Kept);
    let mut profile = read.map_err(|problem| problem.within("customer"))?;
    profile.remove("id");
    profile.remove("source_id");
    if !sent.metadata.is_empty() {
        // The engine separates metadata from the rest of the profile.
        profile.insert("metadata".into(), Json::Object(sent.metadata.to_fields()));
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::empty_body;
    use scrip::model::customer::Customer;
    use scrip::time::Instant;
    use scrip::wire::customer::read_customer;
    use scrip::wire::document::read_fields;

    #[test]
    #[allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    fn a_customer_is_stored_with_the_profile_that_decisions_see_before() {
        let now = Instant::from_millis(1_772_323_200_000).unwrap();
        let mut stored = empty_body("cust_1", Some("ann"), now.millis());
        stored.retain(|name, value| name != "id" && !value.is_null());
        let stored = read_fields(&stored, read_customer).unwrap();
        let sent = r#"{ "source_id": "ann" }"#;
        let sent =
            read_fields(serde_json::from_str::<serde_json::Value>(sent).unwrap().as_object().unwrap(), read_customer);
        let new = sent.unwrap().new_profile();
        assert_eq!(Customer { document: new.stored_document(now), ..new }, stored);
    }
}
