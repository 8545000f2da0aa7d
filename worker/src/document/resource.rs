//! The patterns that nine in ten operations follow: get, list. A resource says how its documents are found and shown.
//! It must not know any particular resource.

use crate::document::clause::Clause;
use crate::http::reply::{CallError, duplicate, not_found};
use crate::http::route::{Answer, Call, Outcome, Resource};
use crate::http::time_zone;
use crate::store::document::Document;
use serde_json::{Map, Value as Json};

/// The key is what the path says.
pub fn plain_key(_: &Call<'_, '_>, name: &str) -> String {
    name.to_owned()
}

/// What is shown is what is stored.
pub fn show_body(_: &mut Call<'_, '_>, documents: Vec<Document>) -> Result<Vec<Json>, CallError> {
    Ok(documents.into_iter().map(|document| Json::Object(document.body)).collect())
}

impl Resource {
    /// The document that the path names by id or by key, or 404.
    pub fn find(&self, call: &Call<'_, '_>) -> Result<Document, CallError> {
        let name = call.param(self.parameter).to_owned();
        let key = (self.key)(call, &name);
        let found = call.store.document_by_name(self.object, &key, &name)?;
        found.ok_or_else(|| not_found(self.object, &name).into())
    }

    /// What is shown of one document.
    pub fn show_one(&self, call: &mut Call<'_, '_>, document: Document) -> Result<Json, CallError> {
        let shown = (self.show)(call, vec![document])?;
        Ok(shown.into_iter().next().unwrap_or(Json::Null))
    }
}

/// The verb of a route that reads one document.
pub fn get(call: &mut Call<'_, '_>) -> Outcome {
    let resource = call.resource()?;
    let document = resource.find(call)?;
    Ok(Answer::json(resource.show_one(call, document)?))
}

/// The verb of a route that lists documents.
pub fn list(call: &mut Call<'_, '_>) -> Outcome {
    let resource = call.resource()?;
    let zone = time_zone::of_setup(&call.caller.settings.time_zone)?;
    let clause = Clause::of_kind(resource.object).at(call.now_ms()).in_zone(zone);
    let page = resource.list.select(call.store, &call.query, clause)?;
    let shown = (resource.show)(call, page.documents)?;
    Ok(Answer::json(Json::Object(resource.list.envelope(shown, page.total))))
}

/// The verb of a route that removes one document, and answers nothing.
pub fn remove(call: &mut Call<'_, '_>) -> Outcome {
    let resource = call.resource()?;
    let document = resource.find(call)?;
    call.store.remove(resource.object, &document.id);
    Ok(Answer::empty(204))
}

/// Sets `active` of a document at the commit, and gives the document as it will be.
pub fn set_active(call: &mut Call<'_, '_>, active: bool) -> Result<Document, CallError> {
    let resource = call.resource()?;
    let mut document = resource.find(call)?;
    document.body.insert("active".into(), active.into());
    call.touch(&mut document);
    call.store.update(resource.object, &document);
    Ok(document)
}

/// The two names that a document is sent under.
pub struct Names {
    /// The service's own, or the caller's choice for it.
    pub id: Option<String>,
    /// The caller's.
    pub source_id: Option<String>,
}

impl Names {
    /// Takes the names out of a body.
    pub fn take(sent: &mut Map<String, Json>) -> Names {
        let mut text = |name: &str| sent.remove(name).and_then(|value| value.as_str().map(str::to_owned));
        Names { id: text("id"), source_id: text("source_id") }
    }

    /// What is stored under the id, else under the source_id. One that had no source_id is given the sent one; a source_id never
    /// changes, and two names that mean two documents are refused.
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
