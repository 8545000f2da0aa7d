//! The common operations on resources: get and list. A resource declares how its documents are found and converted to JSON.

use crate::documents::clause::Clause;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Call, HandlerResult, Resource, Response};
use crate::http::time_zone;
use crate::store::document::Document;
use serde_json::{Map, Value as Json};

/// Returns the key as it is in the path.
pub fn plain_key(_: &Call<'_, '_>, name: &str) -> String {
    name.to_owned()
}

/// Returns the bodies of documents as they are stored.
pub fn bodies_to_json(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| Json::Object(document.body)).collect())
}

impl Resource {
    /// Finds the document that the path names by id or by key, or refuses with 404.
    pub fn find(&self, call: &Call<'_, '_>) -> Result<Document, CallError> {
        let name = call.param(self.parameter).to_owned();
        let key = (self.key)(call, &name);
        let found = call.store.document_by_name(self.object, &key, &name)?;
        found.ok_or_else(|| not_found(self.object, &name).into())
    }

    /// Returns the JSON of one document.
    pub fn one_to_json(&self, call: &mut Call<'_, '_>, document: Document) -> Result<Json, CallError> {
        let items = (self.to_json)(call, vec![document])?;
        Ok(items.into_iter().next().unwrap_or(Json::Null))
    }
}

/// Handles a route that reads one document.
pub fn get(call: &mut Call<'_, '_>) -> HandlerResult {
    let resource = call.resource()?;
    let document = resource.find(call)?;
    Ok(Response::json(resource.one_to_json(call, document)?))
}

/// Handles a route that lists documents.
pub fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let resource = call.resource()?;
    let zone = time_zone::of_setup(&call.caller.settings.time_zone)?;
    let clause = Clause::of_kind(resource.object).at(call.now_ms()).in_zone(zone);
    let clause = clause.ignoring_case(!call.caller.settings.case_sensitive_codes);
    let page = resource.list.select(call.store, &call.query, clause)?;
    let items = (resource.to_json)(call, page.documents)?;
    Ok(Response::json(Json::Object(resource.list.envelope(items, page.total))))
}

/// Handles a route that removes one document, and returns no body.
pub fn remove(call: &mut Call<'_, '_>) -> HandlerResult {
    let resource = call.resource()?;
    let document = resource.find(call)?;
    call.store.delete(resource.object, &document.id);
    Ok(Response::empty(204))
}

/// Queues the change of `active` of a document, and returns the changed document.
pub fn set_active(call: &mut Call<'_, '_>, active: bool) -> Result<Document, CallError> {
    let resource = call.resource()?;
    let mut document = resource.find(call)?;
    document.body.insert("active".into(), active.into());
    call.touch(&mut document);
    call.store.update(resource.object, &document);
    Ok(document)
}

/// Both names of a sent document.
pub struct NameLookup {
    /// Id in this service, generated or chosen by the caller.
    pub id: Option<String>,
    /// `source_id` of the caller.
    pub source_id: Option<String>,
}

impl NameLookup {
    /// Removes the names from a body.
    pub fn take(sent: &mut Map<String, Json>) -> NameLookup {
        let mut text = |name: &str| sent.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        NameLookup { id: text("id"), source_id: text("source_id") }
    }

    /// Finds the document stored under the id, else under the source_id. A document without a source_id gets the sent one. A source_id
    /// never changes, and two names of two documents are refused.
    pub fn find(&self, call: &Call<'_, '_>, resource: &Resource) -> Result<Option<Document>, CallError> {
        let by_source = match &self.source_id {
            Some(source_id) => call.store.document_by_name(resource.object, source_id, "")?,
            None => None,
        };
        let Some(id) = &self.id else { return Ok(by_source) };
        let Some(mut found) = call.store.document(resource.object, id)? else { return Ok(by_source) };
        if let Some(other) = by_source.filter(|other| other.id != found.id) {
            return Err(duplicate(resource.object, "id", other.key.as_deref().unwrap_or_default()).into());
        }
        if let (None, Some(source_id)) = (&found.key, &self.source_id) {
            found.key = Some(source_id.clone());
            found.body.insert("source_id".into(), source_id.as_str().into());
        }
        Ok(Some(found))
    }
}
