//! Categories, as vouchers, campaigns and promotion tiers contain them.

use crate::documents::resource::{self, plain_key};
use crate::http::list_options::List;
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::records::CategoryRecord;
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Categories as a resource.
pub const CATEGORY: Resource = Resource {
    object: "category",
    shape: scrip::wire::voucher::CATEGORY.described(),
    parameter: "categoryId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List { data_ref: "data", page_max: 100, orders: &[], filters: &[], conditions: &[] },
};

/// Hierarchy of a category without a declared one (docs/spec/objects.md#13).
pub const HIERARCHY_DEFAULT: i64 = 1;

/// Finds a category by its name or id, including those that the current call creates.
pub fn find(call: &Call<'_, '_>, name: &str) -> Result<Option<Document>, Fault> {
    let stored = call.store.document_by_name(CATEGORY.object, name, name)?;
    let created = || list_created(call).find(|category| category.key.as_deref() == Some(name) || category.id == name);
    Ok(stored.or_else(created))
}

/// Finds a category by its name, or queues its creation.
pub fn find_or_create(call: &mut Call<'_, '_>, name: &str) -> Result<Document, Fault> {
    match find(call, name)? {
        Some(category) => Ok(category),
        None => Ok(create(call, name, HIERARCHY_DEFAULT)),
    }
}

/// Queues the creation of a category.
pub fn create(call: &mut Call<'_, '_>, name: &str, hierarchy: i64) -> Document {
    let id = call.ids.hex18("cat_").to_string();
    let body = json!({
        "id": id, "name": name, "hierarchy": hierarchy, "created_at": timestamp::text(call.now_ms()), "updated_at": null,
        "object": CATEGORY.object,
    });
    let body = body.as_object().cloned().unwrap_or_default();
    let category = Document::new(id, Some(name.to_owned()), call.now_ms(), body);
    call.store.insert(CATEGORY.object, &category);
    category
}

/// Lists the categories that the current call writes.
fn list_created(call: &Call<'_, '_>) -> impl Iterator<Item = Document> {
    let written = call.store.queued_documents().filter(|written| written.kind == CATEGORY.object);
    written.filter_map(|written| {
        let category = Document::read_queued(&written, call.now_ms()).ok()?;
        let key = CategoryRecord::of(&category.body).name().map(str::to_owned);
        Some(Document { key, ..category })
    })
}

/// Categories by id, and category ids of campaigns by campaign id: each loaded once for a response.
pub struct CategoryLookup {
    categories: BTreeMap<String, Json>,
    inherited: BTreeMap<String, String>,
}

impl CategoryLookup {
    /// Loads the categories of documents, or of their campaigns when they have none. A campaign that is not stored yet
    /// must be among the documents.
    pub fn of(call: &Call<'_, '_>, documents: &[Document]) -> Result<CategoryLookup, Fault> {
        let heirs = documents.iter().filter(|document| category_id(document).is_none());
        let parents: Vec<&str> = heirs.filter_map(|document| document.parent.as_deref()).collect();
        let listed =
            documents.iter().filter_map(|document| Some((document.id.clone(), category_id(document)?.to_owned())));
        let mut inherited: BTreeMap<String, String> = listed.collect();
        if !parents.is_empty() {
            inherited.extend(call.store.find_campaign_categories(&parents)?);
        }
        let ids: BTreeSet<&str> =
            documents.iter().filter_map(category_id).chain(inherited.values().map(String::as_str)).collect();
        let mut categories = BTreeMap::new();
        if !ids.is_empty() {
            let ids: Vec<&str> = ids.into_iter().collect();
            let found = call.store.documents_by_names(CATEGORY.object, &[], &ids)?;
            let known =
                found.into_iter().chain(list_created(call).filter(|category| ids.contains(&category.id.as_str())));
            categories.extend(known.map(|category| (category.id, Json::Object(category.body))));
        }
        Ok(CategoryLookup { categories, inherited })
    }

    /// Returns the category list that a document contains.
    pub fn list(&self, document: &Document) -> Json {
        let inherited = || self.inherited.get(document.parent.as_deref()?).map(String::as_str);
        let category = category_id(document).or_else(inherited).and_then(|id| self.categories.get(id));
        Json::Array(category.into_iter().cloned().collect())
    }
}

/// Returns the id of the category that a document has itself.
pub fn category_id(document: &Document) -> Option<&str> {
    document.as_voucher().category_id()
}
